//! What a token of the vocabulary stands for: byte-level alphabets, byte fallback, and whatever the decoder does.
use crate::failure::{guarded, Kind};
use crate::open::{Added, Loaded, SPECIAL};
use tokenizers::normalizers::NormalizerWrapper;
use tokenizers::pre_tokenizers::PreTokenizerWrapper;
use tokenizers::{Decoder, DecoderWrapper, Model, Tokenizer};

/// The byte that a character of a byte-level vocabulary stands for. Printable characters of Latin-1 stand for
/// themselves, the other 68 bytes in order are the characters from U+0100 on.
pub fn byte_of(c: char) -> Option<u8> {
    let code = c as u32;
    match code {
        0x21..=0x7E | 0xA1..=0xAC | 0xAE..=0xFF => Some(code as u8),
        0x100..=0x120 => Some((code - 0x100) as u8),
        0x121..=0x142 => Some((code - 0x121 + 0x7F) as u8),
        0x143 => Some(0xAD),
        _ => None,
    }
}

fn normalizes_to_bytes(normalizer: &NormalizerWrapper) -> bool {
    match normalizer {
        NormalizerWrapper::ByteLevel(_) => true,
        NormalizerWrapper::Sequence(all) => all.as_ref().iter().any(normalizes_to_bytes),
        _ => false,
    }
}

fn splits_to_bytes(pre_tokenizer: &PreTokenizerWrapper) -> bool {
    match pre_tokenizer {
        PreTokenizerWrapper::ByteLevel(_) => true,
        PreTokenizerWrapper::Sequence(all) => all.as_ref().iter().any(splits_to_bytes),
        _ => false,
    }
}

pub fn is_byte_level(tokenizer: &Tokenizer) -> bool {
    tokenizer.get_normalizer().is_some_and(normalizes_to_bytes)
        || tokenizer.get_pre_tokenizer().is_some_and(splits_to_bytes)
}

/// Does the vocabulary write blanks into its words, as U+2581? Else words are what is between blanks.
pub fn has_blanks_in_words(tokenizer: &Tokenizer) -> bool {
    tokenizer.get_model().get_vocab().keys().any(|text| text.contains('▁'))
}

fn decoder_has(decoder: &DecoderWrapper, wanted: fn(&DecoderWrapper) -> bool) -> bool {
    match decoder {
        DecoderWrapper::Sequence(all) => all.get_decoders().iter().any(|one| decoder_has(one, wanted)),
        one => wanted(one),
    }
}

/// <0x0A> as 0x0A.
fn fallback_byte(text: &str) -> Option<u8> {
    let digits = text.strip_prefix("<0x")?.strip_suffix('>')?;
    (digits.len() == 2).then(|| u8::from_str_radix(digits, 16).ok())?
}

/// The text of a token after another, as the decoder has it: what it adds to the other's.
fn decoded(decoder: &DecoderWrapper, token: &str) -> Option<String> {
    let decode = |tokens: &[&str]| {
        let owned = tokens.iter().map(|token| token.to_string()).collect();
        decoder.decode_chain(owned).ok().map(|parts| parts.concat())
    };
    Some(decode(&["a", token])?.strip_prefix(&decode(&["a"])?)?.to_string())
}

/// The bytes of a token of the model.
fn model_text(loaded: &Loaded, token: String) -> Vec<u8> {
    let as_bytes = |token: &str| token.chars().map(byte_of).collect::<Option<Vec<u8>>>();
    let Some(decoder) = loaded.tokenizer.get_decoder() else {
        return if loaded.byte_level {
            as_bytes(&token).unwrap_or_else(|| token.into_bytes())
        } else if loaded.metaspace {
            token.replace('▁', " ").into_bytes()
        } else {
            format!(" {token}").into_bytes() // as the crate joins tokens that nothing decodes
        };
    };
    if decoder_has(decoder, |one| matches!(one, DecoderWrapper::ByteLevel(_))) {
        return as_bytes(&token).unwrap_or_else(|| token.into_bytes());
    }
    let falls_back = decoder_has(decoder, |one| matches!(one, DecoderWrapper::ByteFallback(_)));
    if let Some(byte) = fallback_byte(&token).filter(|_| falls_back) {
        return vec![byte];
    }
    let text = guarded(Kind::Panic, || Ok(decoded(decoder, &token))).ok().flatten();
    text.unwrap_or(token).into_bytes()
}

/// Gemma's files add the model's own pieces for runs of blanks, in the letters of its vocabulary: "▁▁". The model finds
/// such a piece where a text has blanks, so it is decoded as others are.
fn is_piece(loaded: &Loaded, added: &Added) -> bool {
    let may_be = added.flags & SPECIAL == 0 && added.text.contains('▁');
    may_be && loaded.tokenizer.get_model().id_to_token(added.id as u32).as_ref() == Some(&added.text)
}

/// The bytes `id` stands for when it follows another token; none for an id that there is not.
pub fn token_text(loaded: &Loaded, id: i32) -> Vec<u8> {
    let Ok(number) = u32::try_from(id) else { return Vec::new() };
    if let Ok(at) = loaded.added.binary_search_by_key(&id, |token| token.id) {
        let added = &loaded.added[at];
        let is_piece = is_piece(loaded, added);
        return if is_piece { model_text(loaded, added.text.clone()) } else { added.text.clone().into_bytes() };
    }
    let token = loaded.tokenizer.get_model().id_to_token(number);
    token.map_or_else(Vec::new, |token| model_text(loaded, token))
}
