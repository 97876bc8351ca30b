//! Rust's clients of the three APIs: `clients URL`. Each step is a line of JSON: its name and value.
mod anthropic;
mod apis;
mod openai;

use serde_json::{Value, json};

pub fn url() -> String {
    std::env::args().nth(1).expect("an URL")
}

pub fn long() -> String {
    "water ".repeat(6000)
}

pub fn say(step: &str, value: Value) {
    println!("{}", json!([step, value]));
}

pub fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| json!(format!("{error}: {text}")))
}

pub fn told(error: impl std::fmt::Display) -> Value {
    json!(error.to_string().chars().take(300).collect::<String>())
}

pub fn parameters() -> Value {
    json!({"type": "object", "properties": {"at": {"type": "string"}}, "required": ["at"], "additionalProperties": false})
}

pub fn schema() -> Value {
    let properties = json!({"place": {"type": "string"}, "metres": {"type": "integer"}});
    json!({"type": "object", "properties": properties, "required": ["place", "metres"], "additionalProperties": false})
}

pub fn result(arguments: &Value) -> String {
    let at = arguments["at"].as_str().unwrap_or("nowhere");
    format!("The water of {at} stands at {}", if at == "Lima" { "1.1 m" } else { "3.2 m" })
}

#[tokio::main]
async fn main() {
    openai::chat().await;
    openai::responses().await;
    anthropic::messages().await;
    apis::ollama().await;
    apis::genai().await;
    apis::llm().await;
    apis::rig().await;
}
