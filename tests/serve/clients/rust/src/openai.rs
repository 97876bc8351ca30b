//! async-openai: chat completions, streams, Responses, models.
use crate::*;
use async_openai::types::chat::{CreateChatCompletionRequest, CreateChatCompletionResponse};
use async_openai::types::responses::{CreateResponse, OutputItem, ResponseStreamEvent};
use async_openai::{Client, config::OpenAIConfig};
use futures::StreamExt;

fn client() -> Client<OpenAIConfig> {
    Client::with_config(OpenAIConfig::new().with_api_base(url() + "/v1").with_api_key("none"))
}

fn asked(model: &str, messages: Value, more: Value) -> CreateChatCompletionRequest {
    let mut body = json!({"model": model, "messages": messages});
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    serde_json::from_value(body).unwrap()
}

fn user(text: &str) -> Value {
    json!([{"role": "user", "content": text}])
}

fn shown(made: &CreateChatCompletionResponse) -> Value {
    let usage = made.usage.as_ref().is_some_and(|usage| usage.prompt_tokens > 9);
    json!([made.choices[0].message.content, made.choices[0].finish_reason, usage])
}

async fn streamed(request: CreateChatCompletionRequest) -> Result<(Value, Value), String> {
    let mut stream = client().chat().create_stream(request).await.map_err(|error| error.to_string())?;
    let (mut text, mut usage, mut finish, mut calls) = (String::new(), false, Value::Null, Vec::<Value>::new());
    while let Some(chunk) = stream.next().await {
        let chunk = chunk.map_err(|error| error.to_string())?;
        usage |= chunk.usage.is_some_and(|usage| usage.prompt_tokens > 9);
        for choice in chunk.choices {
            text += choice.delta.content.as_deref().unwrap_or("");
            finish = choice.finish_reason.map_or(finish, |reason| json!(reason));
            for call in choice.delta.tool_calls.unwrap_or_default() {
                let function = call.function.unwrap();
                if call.index as usize == calls.len() {
                    calls.push(json!({"id": call.id, "type": "function", "function": {"name": function.name, "arguments": ""}}));
                }
                let arguments = &mut calls[call.index as usize]["function"]["arguments"];
                *arguments = json!(arguments.as_str().unwrap().to_owned() + function.arguments.as_deref().unwrap_or(""));
            }
        }
    }
    Ok((json!([text, finish, usage]), json!(calls)))
}

pub async fn chat() {
    match client().chat().create(asked("mine", user("Hi there"), json!({}))).await {
        Ok(made) => say("async-openai chat", shown(&made)),
        Err(error) => say("async-openai chat", told(error)),
    }
    let usage = json!({"stream": true, "stream_options": {"include_usage": true}});
    say(
        "async-openai stream",
        streamed(asked("mine", user("Hi there"), usage))
            .await
            .map_or_else(told, |made| made.0),
    );
    let tools = json!([{"type": "function", "function": {"name": "look", "parameters": parameters(), "strict": true}}]);
    match streamed(asked("mine", user("Use the tide tool"), json!({"tools": tools, "stream": true}))).await {
        Err(error) => say("async-openai tools", told(error)),
        Ok((_, calls)) => {
            let mut messages = vec![
                user("Use the tide tool")[0].clone(),
                json!({"role": "assistant", "tool_calls": calls}),
            ];
            let mut seen = vec![];
            for call in calls.as_array().unwrap() {
                let arguments = parsed(call["function"]["arguments"].as_str().unwrap());
                messages.push(json!({"role": "tool", "tool_call_id": call["id"], "content": result(&arguments)}));
                seen.push(json!([call["function"]["name"], arguments]));
            }
            let second = client()
                .chat()
                .create(asked("mine", json!(messages), json!({"tools": tools})))
                .await;
            say(
                "async-openai tools",
                second.map_or_else(told, |made| json!([made.choices[0].message.content, seen])),
            );
        }
    }
    let format = json!({"type": "json_schema", "json_schema": {"name": "tide", "schema": schema(), "strict": true}});
    let made = client()
        .chat()
        .create(asked("mine", user("Say it as JSON"), json!({"response_format": format})))
        .await;
    say(
        "async-openai form",
        made.map_or_else(told, |made| parsed(made.choices[0].message.content.as_deref().unwrap_or(""))),
    );
    for (what, model, text) in [("long", "mine", long()), ("unknown", "unknown", "Hi".into())] {
        let made = client().chat().create(asked(model, user(&text), json!({}))).await;
        say(&format!("async-openai {what}"), made.map_or_else(told, |made| shown(&made)));
    }
    for (what, text) in [("dies", "Die midway"), ("fails", "Fail midway")] {
        let made = streamed(asked("mine", user(text), json!({"stream": true}))).await;
        say(&format!("async-openai {what}"), made.map_or_else(told, |made| made.0));
    }
    let list = client()
        .models()
        .list()
        .await
        .map_or_else(told, |list| json!(list.data.iter().map(|one| &one.id).collect::<Vec<_>>()));
    say(
        "async-openai models",
        json!([
            list,
            client().models().retrieve("mine").await.map_or_else(told, |one| json!(one.id))
        ]),
    );
}

fn response(input: Value, more: Value) -> CreateResponse {
    let mut body = json!({"model": "mine", "input": input});
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    serde_json::from_value(body).unwrap()
}

pub async fn responses() {
    let made = client().responses().create(response(json!("Hi there"), json!({}))).await;
    say(
        "async-openai responses chat",
        made.map_or_else(told, |made| json!([made.output_text(), made.status, made.usage.is_some()])),
    );
    for (step, text) in [("stream", "Hi there"), ("dies", "Die midway"), ("fails", "Fail midway")] {
        let request = response(json!(text), json!({"stream": true, "reasoning": {"summary": "auto"}}));
        let mut stream = client().responses().create_stream(request).await.unwrap();
        let (mut shown, mut thought, mut last) = (String::new(), String::new(), Value::Null);
        while let Some(event) = stream.next().await {
            match event {
                Ok(ResponseStreamEvent::ResponseOutputTextDelta(event)) => shown += &event.delta,
                Ok(ResponseStreamEvent::ResponseReasoningSummaryTextDelta(event)) => thought += &event.delta,
                Ok(ResponseStreamEvent::ResponseCompleted(event)) => last = json!(event.response.status),
                Ok(ResponseStreamEvent::ResponseFailed(event)) => last = json!(event.response.error),
                Ok(ResponseStreamEvent::ResponseError(event)) => last = json!(event.message),
                Ok(_) => {}
                Err(error) => last = told(error),
            }
        }
        say(&format!("async-openai responses {step}"), json!([shown, thought, last]));
    }
    let tools = json!([{"type": "function", "name": "look", "parameters": parameters(), "strict": true}]);
    match client()
        .responses()
        .create(response(json!("Use the tide tool"), json!({"tools": tools})))
        .await
    {
        Err(error) => say("async-openai responses tools", told(error)),
        Ok(first) => {
            let mut input = vec![json!({"type": "message", "role": "user", "content": "Use the tide tool"})];
            let (mut seen, mut results) = (vec![], vec![]);
            for item in &first.output {
                input.push(json!(item));
                if let OutputItem::FunctionCall(call) = item {
                    let arguments = parsed(&call.arguments);
                    results.push(json!({"type": "function_call_output", "call_id": call.call_id, "output": result(&arguments)}));
                    seen.push(json!([call.name, arguments]));
                }
            }
            input.extend(results);
            let second = client().responses().create(response(json!(input), json!({"tools": tools}))).await;
            say(
                "async-openai responses tools",
                second.map_or_else(told, |made| json!([made.output_text(), seen])),
            );
        }
    }
    let format = json!({"format": {"type": "json_schema", "name": "tide", "schema": schema(), "strict": true}});
    let made = client()
        .responses()
        .create(response(json!("Say it as JSON"), json!({"text": format})))
        .await;
    say(
        "async-openai responses form",
        made.map_or_else(told, |made| parsed(&made.output_text().unwrap_or_default())),
    );
}
