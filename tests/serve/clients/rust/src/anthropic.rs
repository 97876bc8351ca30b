//! anthropic-ai-sdk.
use crate::*;
use anthropic_ai_sdk::client::AnthropicClient;
use anthropic_ai_sdk::types::message::*;
use anthropic_ai_sdk::types::model::{ModelClient, ModelError};
use futures::StreamExt;

fn asked(model: &str, messages: Vec<Message>) -> CreateMessageParams {
    let made = CreateMessageParams::new(RequiredMessageParams {
        model: model.into(),
        messages,
        max_tokens: 4000,
    });
    made.with_thinking(Thinking {
        budget_tokens: 1024,
        type_: ThinkingType::Enabled,
    })
}

fn shown(blocks: &[ContentBlock]) -> Value {
    json!(
        blocks
            .iter()
            .map(|block| match block {
                ContentBlock::Text { text } => json!(text),
                ContentBlock::Thinking { thinking, signature } => json!(["thinking", thinking, !signature.is_empty()]),
                ContentBlock::ToolUse { name, input, .. } => json!([name, input]),
                _ => json!("another block"),
            })
            .collect::<Vec<_>>()
    )
}

pub async fn messages() {
    let client = AnthropicClient::builder("none", "2023-06-01")
        .with_api_base_url(url() + "/v1")
        .build::<MessageError>()
        .unwrap();
    let user = |text: &str| vec![Message::new_text(Role::User, text)];
    let made = client.create_message(Some(&asked("mine", user("Hi there")))).await;
    say(
        "anthropic-ai-sdk chat",
        made.map_or_else(told, |made| json!([shown(&made.content), made.usage.output_tokens > 9])),
    );
    for (step, text) in [("stream", "Hi there"), ("dies", "Die midway"), ("fails", "Fail midway")] {
        let (mut seen, mut thought, mut last, mut kinds) = (String::new(), String::new(), Value::Null, 0);
        match client.create_message_streaming(&asked("mine", user(text)).with_stream(true)).await {
            Err(error) => last = told(error),
            Ok(mut stream) => {
                while let Some(event) = stream.next().await {
                    kinds += 1;
                    match event {
                        Ok(StreamEvent::ContentBlockDelta {
                            delta: ContentBlockDelta::TextDelta { text },
                            ..
                        }) => seen += &text,
                        Ok(StreamEvent::ContentBlockDelta {
                            delta: ContentBlockDelta::ThinkingDelta { thinking },
                            ..
                        }) => thought += &thinking,
                        Ok(StreamEvent::MessageDelta { delta, .. }) => last = json!(delta.stop_reason),
                        Ok(StreamEvent::Error { error }) => last = json!(error.message),
                        Ok(_) => {}
                        Err(error) => last = told(error),
                    }
                }
            }
        }
        say(&format!("anthropic-ai-sdk {step}"), json!([seen, thought, last, kinds > 6]));
    }
    let tools = || {
        vec![Tool {
            name: "look".into(),
            description: None,
            input_schema: parameters(),
        }]
    };
    match client
        .create_message(Some(&asked("mine", user("Use the tide tool")).with_tools(tools())))
        .await
    {
        Err(error) => say("anthropic-ai-sdk tools", told(error)),
        Ok(first) => {
            let results = first
                .content
                .iter()
                .filter_map(|block| match block {
                    ContentBlock::ToolUse { id, input, .. } => Some(ContentBlock::ToolResult {
                        tool_use_id: id.clone(),
                        content: result(input),
                    }),
                    _ => None,
                })
                .collect();
            let seen = shown(&first.content);
            let mut all = user("Use the tide tool");
            all.extend([
                Message::new_blocks(Role::Assistant, first.content),
                Message::new_blocks(Role::User, results),
            ]);
            let second = client.create_message(Some(&asked("mine", all).with_tools(tools()))).await;
            say(
                "anthropic-ai-sdk tools",
                second.map_or_else(told, |made| json!([shown(&made.content), seen])),
            );
        }
    }
    for (what, model, text) in [
        ("long", "mine", long()),
        ("unknown", "unknown", "Hi".into()),
        ("gone", "gone", "Hi".into()),
    ] {
        let made = client.create_message(Some(&asked(model, user(&text)))).await;
        say(
            &format!("anthropic-ai-sdk {what}"),
            made.map_or_else(told, |made| shown(&made.content)),
        );
    }
    let client = AnthropicClient::builder("none", "2023-06-01")
        .with_api_base_url(url() + "/v1")
        .build::<ModelError>()
        .unwrap();
    let list = client
        .list_models(None)
        .await
        .map_or_else(told, |list| json!(list.data.iter().map(|one| &one.id).collect::<Vec<_>>()));
    say(
        "anthropic-ai-sdk models",
        json!([list, client.get_model("mine").await.map_or_else(told, |one| json!(one.id))]),
    );
}
