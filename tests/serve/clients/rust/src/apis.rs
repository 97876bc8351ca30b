//! Crates that speak several APIs (genai, llm, rig), and ollama-rs.
use crate::*;
use ::genai::adapter::AdapterKind;
use ::genai::chat::{ChatMessage, ChatOptions, ChatRequest, ChatStreamEvent, JsonSpec, Tool, ToolResponse};
use ::genai::resolver::{AuthData, Endpoint, ServiceTargetResolver};
use ::genai::{Client, ModelIden, ServiceTarget};
use ::llm::builder::{FunctionBuilder, LLMBackend, LLMBuilder, ParamBuilder};
use ::llm::chat as llms;
use futures::StreamExt;
use ollama_rs::Ollama;
use ollama_rs::generation::chat::{self as ollamas, request::ChatMessageRequest};

fn asked(model: &str, text: &str) -> ChatMessageRequest {
    ChatMessageRequest::new(model.into(), vec![ollamas::ChatMessage::user(text.into())])
}

pub async fn ollama() {
    let client = Ollama::try_new(url()).unwrap();
    let made = client.send_chat_messages(asked("mine", "Hi there").think(true)).await;
    say(
        "ollama-rs chat",
        made.map_or_else(told, |made| {
            json!([made.message.content, made.message.thinking, made.final_data.is_some()])
        }),
    );
    for (step, text) in [("stream", "Hi there"), ("dies", "Die midway"), ("fails", "Fail midway")] {
        let (mut shown, mut thought, mut last) = (String::new(), String::new(), Value::Null);
        let mut stream = client.send_chat_messages_stream(asked("mine", text).think(true)).await.unwrap();
        while let Some(part) = stream.next().await {
            match part {
                Ok(part) => {
                    shown += &part.message.content;
                    thought += part.message.thinking.as_deref().unwrap_or("");
                    last = json!(part.done);
                }
                Err(error) => last = json!(format!("{error:?}")),
            }
        }
        say(&format!("ollama-rs {step}"), json!([shown, thought, last]));
    }
    let tools = serde_json::from_value(
        json!([{"type": "function", "function": {"name": "look", "description": "Looks.", "parameters": parameters()}}]),
    )
    .unwrap();
    let mut request = asked("mine", "Use the tide tool").tools(tools);
    match client.send_chat_messages(request.clone()).await {
        Err(error) => say("ollama-rs tools", told(error)),
        Ok(first) => {
            let mut seen = vec![];
            request.messages.push(first.message.clone());
            for call in &first.message.tool_calls {
                seen.push(json!([call.function.name, call.function.arguments]));
                request.messages.push(ollamas::ChatMessage::tool(result(&call.function.arguments)));
            }
            let second = client.send_chat_messages(request).await;
            say(
                "ollama-rs tools",
                second.map_or_else(told, |made| json!([made.message.content, seen])),
            );
        }
    }
    for (what, model, text) in [
        ("long", "mine", long()),
        ("unknown", "unknown", "Hi".into()),
        ("gone", "gone", "Hi".into()),
    ] {
        let made = client.send_chat_messages(asked(model, &text)).await;
        say(
            &format!("ollama-rs {what}"),
            made.map_or_else(told, |made| json!(made.message.content)),
        );
    }
    let list = client
        .list_local_models()
        .await
        .map_or_else(told, |list| json!(list.iter().map(|one| &one.name).collect::<Vec<_>>()));
    say(
        "ollama-rs models",
        json!([
            list,
            client
                .show_model_info("mine".into())
                .await
                .map_or_else(told, |one| json!(one.capabilities))
        ]),
    );
}

fn genai_client(kind: AdapterKind, at: &'static str) -> Client {
    let resolver =
        ServiceTargetResolver::from_resolver_fn(move |target: ServiceTarget| -> Result<ServiceTarget, ::genai::resolver::Error> {
            let model = ModelIden::new(kind, target.model.model_name);
            Ok(ServiceTarget {
                endpoint: Endpoint::from_owned(url() + at),
                auth: AuthData::from_single("none"),
                model,
            })
        });
    Client::builder().with_service_target_resolver(resolver).build().expect("a client")
}

pub async fn genai() {
    let kinds = [
        ("openai", AdapterKind::OpenAI, "/v1/"),
        ("responses", AdapterKind::OpenAIResp, "/v1/"),
        ("anthropic", AdapterKind::Anthropic, "/v1/"),
        ("ollama", AdapterKind::Ollama, "/"),
    ];
    for (name, kind, at) in kinds {
        let client = genai_client(kind, at);
        let say = |step: &str, value: Value| say(&format!("genai {name} {step}"), value);
        let ask = |text: &str| ChatRequest::new(vec![ChatMessage::user(text)]);
        let options = ChatOptions::default()
            .with_capture_usage(true)
            .with_capture_content(true)
            .with_capture_reasoning_content(true)
            .with_capture_tool_calls(true);
        let made = client.exec_chat("mine", ask("Hi there"), Some(&options)).await;
        say(
            "chat",
            made.map_or_else(told, |made| {
                json!([made.first_text(), made.reasoning_content, made.usage.prompt_tokens.unwrap_or(0) > 9])
            }),
        );
        let look = Tool::new("look").with_description("Looks.").with_schema(parameters());
        for (step, text) in [
            ("stream", "Hi there"),
            ("dies", "Die midway"),
            ("fails", "Fail midway"),
            ("tools", "Use the tide tool"),
        ] {
            let mut request = ask(text);
            if step == "tools" {
                request = request.with_tools(vec![look.clone()]);
            }
            let (mut shown, mut thought, mut last, mut calls) = (String::new(), String::new(), Value::Null, vec![]);
            match client.exec_chat_stream("mine", request.clone(), Some(&options)).await {
                Err(error) => last = told(error),
                Ok(mut made) => {
                    while let Some(event) = made.stream.next().await {
                        match event {
                            Ok(ChatStreamEvent::Chunk(chunk)) => shown += &chunk.content,
                            Ok(ChatStreamEvent::ReasoningChunk(chunk)) => thought += &chunk.content,
                            Ok(ChatStreamEvent::End(end)) => {
                                last = json!(end.captured_usage.as_ref().and_then(|usage| usage.prompt_tokens).unwrap_or(0) > 9);
                                calls = end.captured_into_tool_calls().unwrap_or_default();
                            }
                            Ok(_) => {}
                            Err(error) => last = told(error),
                        }
                    }
                }
            }
            if step != "tools" {
                say(step, json!([shown, thought, last]));
                continue;
            }
            let seen = json!(
                calls
                    .iter()
                    .map(|call| json!([call.fn_name, call.fn_arguments]))
                    .collect::<Vec<_>>()
            );
            let mut second = request.append_message(calls.clone());
            for call in calls {
                second = second.append_message(ToolResponse::new(call.call_id.clone(), result(&call.fn_arguments)));
            }
            let made = client.exec_chat("mine", second, Some(&options)).await;
            say(step, made.map_or_else(told, |made| json!([made.first_text(), seen])));
        }
        let form = options.clone().with_response_format(JsonSpec::new("tide", schema()));
        let made = client.exec_chat("mine", ask("Say it as JSON"), Some(&form)).await;
        say("form", made.map_or_else(told, |made| parsed(made.first_text().unwrap_or(""))));
        for (what, model, text) in [
            ("long", "mine", long()),
            ("unknown", "unknown", "Hi".into()),
            ("gone", "gone", "Hi".into()),
        ] {
            let made = client.exec_chat(model, ask(&text), Some(&options)).await;
            say(what, made.map_or_else(told, |made| json!(made.first_text())));
        }
    }
}

pub async fn llm() {
    for (name, kind, at) in [("openai", LLMBackend::OpenAI, "/v1/"), ("ollama", LLMBackend::Ollama, "")] {
        // Anthropic's has a fixed address
        let make = |model: &str, kind: &LLMBackend| {
            let look = FunctionBuilder::new("look")
                .description("Looks.")
                .param(ParamBuilder::new("at").type_of("string").description("where"))
                .required(vec!["at".into()]);
            LLMBuilder::new()
                .backend(kind.clone())
                .api_key("none")
                .base_url(url() + at)
                .model(model)
                .max_tokens(900)
                .function(look)
                .build()
                .unwrap()
        };
        let client = make("mine", &kind);
        let say = |step: &str, value: Value| say(&format!("llm {name} {step}"), value);
        let ask = |text: &str| vec![llms::ChatMessage::user().content(text).build()];
        let made = client.chat(&ask("Hi there")).await;
        say(
            "chat",
            made.map_or_else(told, |made| json!([made.text(), made.thinking(), made.usage().is_some()])),
        );
        for (step, text) in [("stream", "Hi there"), ("dies", "Die midway")] {
            let (mut shown, mut last) = (String::new(), Value::Null);
            match client.chat_stream(&ask(text)).await {
                Err(error) => last = told(error),
                Ok(mut stream) => {
                    while let Some(piece) = stream.next().await {
                        match piece {
                            Ok(piece) => shown += &piece,
                            Err(error) => last = told(error),
                        }
                    }
                }
            }
            say(step, json!([shown, last]));
        }
        match client.chat_with_tools(&ask("Use the tide tool"), client.tools()).await {
            Err(error) => say("tools", told(error)),
            Ok(first) => {
                let calls = first.tool_calls().unwrap_or_default();
                let seen = json!(
                    calls
                        .iter()
                        .map(|call| json!([call.function.name, parsed(&call.function.arguments)]))
                        .collect::<Vec<_>>()
                );
                let results = calls
                    .iter()
                    .cloned()
                    .map(|mut call| {
                        call.function.arguments = json!(result(&parsed(&call.function.arguments))).to_string();
                        call
                    })
                    .collect();
                let mut all = ask("Use the tide tool");
                all.extend([
                    llms::ChatMessage::assistant().tool_use(calls).build(),
                    llms::ChatMessage::user().tool_result(results).build(),
                ]);
                let second = client.chat_with_tools(&all, client.tools()).await;
                say("tools", second.map_or_else(told, |made| json!([made.text(), seen])));
            }
        }
        for (what, model, text) in [("long", "mine", long()), ("unknown", "unknown", "Hi".into())] {
            let made = make(model, &kind).chat(&ask(&text)).await;
            say(what, made.map_or_else(told, |made| json!(made.text())));
        }
    }
}

pub async fn rig() {
    use rig_core::completion::CompletionRequest;
    use rig_core::providers::{anthropic::Anthropic, ollama::Ollama, openai::OpenAI};
    // SAFETY: nothing else runs that reads them.
    unsafe {
        for (name, value) in [
            ("OPENAI_BASE_URL", url() + "/v1"),
            ("ANTHROPIC_BASE_URL", url()),
            ("OLLAMA_API_BASE_URL", url()),
        ] {
            std::env::set_var(name, value);
        }
        std::env::set_var("OPENAI_API_KEY", "none");
        std::env::set_var("ANTHROPIC_API_KEY", "none");
    }
    macro_rules! all {
        ($name:expr, $client:expr) => {
            for (what, model, text) in [
                ("chat", "mine", "Hi there".to_owned()),
                ("long", "mine", long()),
                ("unknown", "unknown", "Hi".into()),
                ("gone", "gone", "Hi".into()),
            ] {
                let made = $client
                    .unwrap()
                    .completion(model)
                    .call(CompletionRequest::new(text.as_str()).max_tokens(4000))
                    .await;
                say(
                    &format!("rig {} {what}", $name),
                    made.map_or_else(told, |made| json!([made.text(), made.reasoning()])),
                );
            }
        };
    }
    all!("openai", OpenAI::from_env());
    all!("anthropic", Anthropic::from_env());
    all!("ollama", Ollama::from_env());
}
