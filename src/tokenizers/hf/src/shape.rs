//! How a tokenizer prepares a text, in one spelling: what a file says is compared with what a class of transformers
//! builds in its place. Begin reading at shape_of().
use serde_json::Value;
use tokenizers::models::ModelWrapper;
use tokenizers::Tokenizer;

/// A longer part is of no class: it has a table in it.
const LONGEST: usize = 1 << 14;

/// The normaliser, the pre-tokeniser and the settings of BPE as JSON, a line each; `"long"` in place of one that is too
/// long, nothing in place of the settings of another model.
pub fn shape_of(tokenizer: &Tokenizer) -> String {
    let normalizer = serde_json::to_value(tokenizer.get_normalizer()).map(plain).unwrap_or_default();
    let pre_tokenizer = serde_json::to_value(tokenizer.get_pre_tokenizer()).map(plain).unwrap_or_default();
    format!("{}\n{}\n{}", short(normalizer), short(pre_tokenizer), merging(tokenizer.get_model()))
}

/// Those settings that are not false or null.
fn merging(model: &ModelWrapper) -> String {
    let ModelWrapper::BPE(bpe) = model else { return String::new() };
    let mut settings = serde_json::Map::new();
    for (name, is_set) in [("byte_fallback", bpe.byte_fallback), ("ignore_merges", bpe.ignore_merges)] {
        if is_set {
            settings.insert(name.into(), true.into());
        }
    }
    let affixes =
        [("end_of_word_suffix", &bpe.end_of_word_suffix), ("continuing_subword_prefix", &bpe.continuing_subword_prefix)];
    for (name, affix) in affixes {
        if let Some(text) = affix.as_ref().filter(|text| !text.is_empty()) {
            settings.insert(name.into(), text.as_str().into());
        }
    }
    Value::Object(settings).to_string()
}

fn short(part: Value) -> String {
    let text = part.to_string();
    if text.len() > LONGEST {
        return "\"long\"".into();
    }
    text
}

/// Without what changes no ids: offsets, and a sequence of one or none.
fn plain(part: Value) -> Value {
    let Value::Object(mut members) = part else { return part };
    members.remove("trim_offsets");
    for name in ["normalizers", "pretokenizers"] {
        if let Some(Value::Array(inner)) = members.get_mut(name) {
            let mut all: Vec<Value> =
                std::mem::take(inner).into_iter().map(plain).filter(|one| !one.is_null()).collect();
            if all.len() < 2 {
                return all.pop().unwrap_or_default();
            }
            *inner = all;
        }
    }
    Value::Object(members)
}
