//! What is wrong with a file that is JSON and no tokenizer, in words that name the part. Begin reading at explain().
use serde_json::Value;
use tokenizers::models::ModelWrapper;

/// The crate tries several shapes for most parts and then says only that none fits. Which part it is, and what is wrong
/// with it, comes from reading the parts one by one.
pub fn explain(json: &[u8]) -> Option<String> {
    let value: Value = serde_json::from_slice(json).ok()?;
    let Some(file) = value.as_object() else {
        return Some("a tokenizer.json is a JSON object".into());
    };
    let part = |name: &str| file.get(name).cloned().unwrap_or_default();
    let model = part("model");
    if !model.is_object() {
        return Some("model: there is none, or it is no object".into());
    }
    if let Some(kind) = model.get("type").filter(|kind| !is_known_model(kind)) {
        return Some(format!("model: no model is of the type {kind}; there are BPE, Unigram, WordPiece and WordLevel"));
    }
    let fault = |name: &str, error: Option<serde_json::Error>| error.map(|error| format!("{name}: {error}"));
    use tokenizers::{normalizers::NormalizerWrapper as N, pre_tokenizers::PreTokenizerWrapper as P};
    use tokenizers::{processors::PostProcessorWrapper as PP, DecoderWrapper as D};
    fault("normalizer", serde_json::from_value::<Option<N>>(part("normalizer")).err())
        .or_else(|| fault("pre_tokenizer", serde_json::from_value::<Option<P>>(part("pre_tokenizer")).err()))
        .or_else(|| fault("post_processor", serde_json::from_value::<Option<PP>>(part("post_processor")).err()))
        .or_else(|| fault("decoder", serde_json::from_value::<Option<D>>(part("decoder")).err()))
        .or_else(|| fault("model", explain_model(&model)))
        .or_else(|| explain_added(&part("added_tokens")))
}

fn explain_added(tokens: &Value) -> Option<String> {
    let fault = |(at, token): (usize, &Value)| {
        let error = match serde_json::from_value::<tokenizers::AddedToken>(token.clone()) {
            Err(error) => error.to_string(),
            Ok(_) if token.get("id").and_then(Value::as_u64).is_none() => "it has no id".into(),
            Ok(_) => return None,
        };
        Some(format!("added_tokens[{at}]: {error}"))
    };
    tokens.as_array()?.iter().enumerate().find_map(fault)
}

fn is_known_model(kind: &Value) -> bool {
    matches!(kind.as_str(), Some("BPE" | "Unigram" | "WordPiece" | "WordLevel"))
}

fn explain_model(model: &Value) -> Option<serde_json::Error> {
    use tokenizers::models::{bpe::BPE, unigram::Unigram, wordlevel::WordLevel, wordpiece::WordPiece};
    let kind = model.get("type").and_then(Value::as_str);
    // The crate reads a model of a known type without that type.
    let mut model = model.clone();
    model.as_object_mut()?.remove("type");
    match kind {
        Some("BPE") => serde_json::from_value::<BPE>(model).err(),
        Some("Unigram") => serde_json::from_value::<Unigram>(model).err(),
        Some("WordPiece") => serde_json::from_value::<WordPiece>(model).err(),
        Some("WordLevel") => serde_json::from_value::<WordLevel>(model).err(),
        _ => serde_json::from_value::<ModelWrapper>(model).err(),
    }
}
