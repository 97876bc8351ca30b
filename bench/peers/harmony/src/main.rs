//! A reader of replies: openai-harmony's StreamableParser, a token at a time.
//!
//! Speaks the protocol of ../../../README.md. Of the context it takes {"pieces"}, which it joins and encodes once; the
//! template is not looked at, since the parser knows one format only. Begin with obey().
#[path = "../../measure.rs"]
mod measure;

use base64::{engine::general_purpose::STANDARD, Engine};
use measure::measure;
use openai_harmony::chat::{Content, Message, Role};
use openai_harmony::{load_harmony_encoding, HarmonyEncoding, HarmonyEncodingName, StreamableParser};
use serde_json::{json, Value as Json};
use std::fmt::Write as _;
use std::io::{BufRead, Write};
use std::time::Duration;

/// The ranks of the vocabulary; special tokens are numbered behind them.
const RANKS: u32 = 199_998;

/// openai-harmony reads its vocabulary from a folder that an environment variable names: made here from tiktoken-rs's.
fn load_encoding() -> Result<HarmonyEncoding, String> {
    let folder = std::env::temp_dir().join("parlance-bench-harmony");
    let file = folder.join("o200k_base.tiktoken");
    if !file.exists() {
        let tokens = tiktoken_rs::o200k_base().map_err(|e| e.to_string())?;
        let mut lines = String::new();
        for rank in 0..RANKS {
            let bytes = tokens.decode_bytes(&[rank]).map_err(|e| e.to_string())?;
            writeln!(lines, "{} {rank}", STANDARD.encode(bytes)).expect("a string takes all");
        }
        std::fs::create_dir_all(&folder).map_err(|e| e.to_string())?;
        std::fs::write(&file, lines).map_err(|e| e.to_string())?;
    }
    std::env::set_var("TIKTOKEN_ENCODINGS_BASE", &folder);
    load_harmony_encoding(HarmonyEncodingName::HarmonyGptOss).map_err(|e| e.to_string())
}

fn load(encoding: &HarmonyEncoding, context: &str) -> Result<Vec<u32>, String> {
    let text = std::fs::read_to_string(context).map_err(|e| e.to_string())?;
    let context: Json = serde_json::from_str(&text).map_err(|e| e.to_string())?;
    let pieces = context["pieces"].as_array().ok_or("no pieces")?;
    let reply: String = pieces.iter().filter_map(Json::as_str).collect();
    Ok(encoding.tokenizer().encode_with_special_tokens(&reply))
}

/// The messages of a reply; each token's text is asked for, as whoever streams it does.
fn read(encoding: &HarmonyEncoding, tokens: &[u32]) -> Result<Vec<Message>, String> {
    let mut parser =
        StreamableParser::new(encoding.clone(), Some(Role::Assistant)).map_err(|e| e.to_string())?;
    for token in tokens {
        parser.process(*token).map_err(|e| e.to_string())?;
        std::hint::black_box(parser.last_content_delta().map_err(|e| e.to_string())?);
    }
    parser.process_eos().map_err(|e| e.to_string())?;
    Ok(parser.into_messages())
}

fn text_of(message: &Message) -> String {
    let texts = message.content.iter().map(|part| match part {
        Content::Text(text) => text.text.as_str(),
        _ => "",
    });
    texts.collect()
}

fn message_of(messages: &[Message]) -> Json {
    let (mut reasoning, mut content, mut calls) = (String::new(), String::new(), Vec::new());
    for message in messages {
        let text = text_of(message);
        match (&message.recipient, message.channel.as_deref()) {
            (Some(to), _) => calls.push(json!({"function": {"name": to.trim_start_matches("functions."), "arguments": text}})),
            (None, Some("analysis")) => reasoning += &text,
            (None, _) => content += &text,
        }
    }
    json!({"message": {"reasoning_content": reasoning, "content": content, "tool_calls": calls}})
}

fn obey(encoding: &HarmonyEncoding, tokens: &mut Vec<u32>, command: &Json) -> Result<Json, String> {
    let text = |name: &str| command[name].as_str().unwrap_or_default();
    match text("cmd") {
        "hello" => return Ok(json!({"version": "0.0.8"})),
        "load" => *tokens = load(encoding, text("context"))?,
        "bench" => {
            let min = Duration::from_secs_f64(command["min_ms"].as_f64().unwrap_or(50.0) / 1e3);
            return measure(min, || read(encoding, tokens));
        }
        "output" => {
            let message = message_of(&read(encoding, tokens)?);
            std::fs::write(text("to"), message.to_string()).map_err(|e| e.to_string())?;
        }
        _ => return Err("the command is none of hello, load, bench, output".into()),
    }
    Ok(json!({"ok": true}))
}

fn main() {
    let encoding = match load_encoding() {
        Ok(encoding) => encoding,
        Err(wrong) => return println!("{}", json!({ "error": wrong })),
    };
    let (mut tokens, mut out) = (Vec::new(), std::io::stdout());
    for line in std::io::stdin().lock().lines().map_while(Result::ok) {
        let reply = serde_json::from_str(&line)
            .map_err(|e| e.to_string())
            .and_then(|command| obey(&encoding, &mut tokens, &command))
            .unwrap_or_else(|wrong| json!({"error": wrong}));
        if writeln!(out, "{reply}").and_then(|()| out.flush()).is_err() {
            return;
        }
    }
}
