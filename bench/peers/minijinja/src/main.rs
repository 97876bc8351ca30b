//! The Rust peer: minijinja with the Python methods of minijinja-contrib.
//!
//! Speaks the protocol of ../../../README.md; `render -t TEMPLATE CONTEXT.json` prints one prompt.
//! Two things are added so that it can take part: `tojson` prints as Python's json.dumps does
//! (python_json.rs), and the `generation` tags, which it lacks, are taken out of the source. The
//! context is deserialised straight into minijinja's own value. Begin with obey().
#[path = "../../measure.rs"]
mod measure;
mod python_json;

use measure::measure;

use minijinja::syntax::SyntaxConfig;
use minijinja::{Environment, Error, ErrorKind, Template, Value};
use serde_json::{json, Value as Json};
use std::io::{BufRead, Write};
use std::time::Duration;

/// 2026-03-14, the day on which the clock stands in every engine.
const DAY: &[(&str, &str)] = &[
    ("%d", "14"),
    ("%b", "Mar"),
    ("%B", "March"),
    ("%m", "03"),
    ("%Y", "2026"),
];

fn raise_exception(message: String) -> Result<Value, Error> {
    Err(Error::new(ErrorKind::InvalidOperation, message))
}

fn strftime_now(format: String) -> String {
    DAY.iter()
        .fold(format, |text, (code, value)| text.replace(code, value))
}

fn make_environment() -> Environment<'static> {
    let mut env = Environment::new();
    let mut syntax = SyntaxConfig::builder();
    syntax.trim_blocks(true).lstrip_blocks(true);
    env.set_syntax(syntax.build().expect("the default tags are valid"));
    env.set_unknown_method_callback(minijinja_contrib::pycompat::unknown_method_callback);
    env.add_filter("tojson", python_json::tojson);
    env.add_function("raise_exception", raise_exception);
    env.add_function("strftime_now", strftime_now);
    env
}

/// The source without `{%- generation -%}` and its end, and without the white space they eat.
fn without_generation_tags(source: &str) -> String {
    let mut out = String::with_capacity(source.len());
    let mut rest = source;
    while let Some(begin) = rest.find("{%") {
        let Some(length) = rest[begin..].find("%}") else {
            break;
        };
        let end = begin + length + 2;
        let tag = &rest[begin + 2..end - 2];
        let name = tag.trim_matches(|c: char| c == '-' || c == '+' || c.is_whitespace());
        if name == "generation" || name == "endgeneration" {
            out.push_str(text_before(&rest[..begin], tag));
            rest = text_after(&rest[end..], tag);
        } else {
            out.push_str(&rest[..end]);
            rest = &rest[end..];
        }
    }
    out.push_str(rest);
    out
}

fn text_before<'a>(text: &'a str, tag: &str) -> &'a str {
    if tag.starts_with('-') {
        return text.trim_end();
    }
    let line = text.rfind('\n').map_or(0, |at| at + 1);
    let blank = text[line..].chars().all(char::is_whitespace);
    if blank {
        &text[..line]
    } else {
        text
    }
}

fn text_after<'a>(text: &'a str, tag: &str) -> &'a str {
    if tag.ends_with('-') {
        return text.trim_start();
    }
    text.strip_prefix('\n').unwrap_or(text)
}

#[derive(Default)]
struct Job {
    source: String,
    context_text: Vec<u8>,
    context: Value,
}

fn parse_context(text: &[u8]) -> Result<Value, String> {
    serde_json::from_slice(text).map_err(|e| e.to_string())
}

fn load(env: &Environment, template: &str, context: &str) -> Result<Job, String> {
    let source = std::fs::read_to_string(template).map_err(|e| e.to_string())?;
    let context_text = std::fs::read(context).map_err(|e| e.to_string())?;
    let source = without_generation_tags(&source);
    compile(env, &source)?;
    let context = parse_context(&context_text)?;
    Ok(Job {
        source,
        context_text,
        context,
    })
}

fn compile<'e>(env: &'e Environment, source: &'e str) -> Result<Template<'e, 'e>, String> {
    env.template_from_str(source).map_err(|e| e.to_string())
}

fn end_to_end(template: &Template, job: &Job) -> Result<String, String> {
    let context = parse_context(&job.context_text)?;
    template.render(context).map_err(|e| e.to_string())
}

fn bench(env: &Environment, job: &Job, command: &Json) -> Result<Json, String> {
    let min = Duration::from_secs_f64(command["min_ms"].as_f64().unwrap_or(50.0) / 1e3);
    let template = compile(env, &job.source)?;
    match command["metric"].as_str() {
        Some("compile") => measure(min, || compile(env, &job.source)),
        Some("render") => measure(min, || {
            template
                .render(job.context.clone())
                .map_err(|e| e.to_string())
        }),
        Some("e2e") => measure(min, || end_to_end(&template, job)),
        _ => Err("the metric is none of compile, render, e2e".into()),
    }
}

fn obey(env: &Environment, job: &mut Job, command: &Json) -> Result<Json, String> {
    let text = |name: &str| command[name].as_str().unwrap_or_default();
    match text("cmd") {
        "hello" => return Ok(json!({"version": env!("MINIJINJA_VERSION")})),
        "load" => *job = load(env, text("template"), text("context"))?,
        "bench" => return bench(env, job, command),
        "output" => {
            let prompt = end_to_end(&compile(env, &job.source)?, job)?;
            std::fs::write(text("to"), prompt).map_err(|e| e.to_string())?;
        }
        _ => return Err("the command is none of hello, load, bench, output".into()),
    }
    Ok(json!({"ok": true}))
}

fn serve(env: &Environment) {
    let mut job = Job::default();
    let mut out = std::io::stdout();
    for line in std::io::stdin().lock().lines().map_while(Result::ok) {
        let reply = serde_json::from_str(&line)
            .map_err(|e| e.to_string())
            .and_then(|command| obey(env, &mut job, &command))
            .unwrap_or_else(|wrong| json!({"error": wrong}));
        if writeln!(out, "{reply}").and_then(|()| out.flush()).is_err() {
            return;
        }
    }
}

fn render_once(env: &Environment, template: &str, context: &str) -> Result<String, String> {
    let job = load(env, template, context)?;
    compile(env, &job.source)?
        .render(job.context)
        .map_err(|e| e.to_string())
}

fn main() {
    let env = make_environment();
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["render", "-t", template, context] => match render_once(&env, template, context) {
            Ok(prompt) => print!("{prompt}"),
            Err(wrong) => {
                eprintln!("{wrong}");
                std::process::exit(1);
            }
        },
        _ => serve(&env),
    }
}
