//! Text of which a tokenizer makes no token: which tokenizers can drop some, and which text of one was dropped.
//!
//! Two steps can. A normaliser or a pre-tokenizer takes away what its file tells it to. White space is no loss there,
//! because such a tokenizer makes words of a text and not what stands between them; nor are marks on letters, because
//! it reads letters with and without them as the same. And a BPE that has neither a token for unknown text nor one for
//! each byte leaves out each character that its vocabulary lacks: that is a loss, whatever the character is. Begin
//! reading at Watch.
use crate::open::Loaded;
use crate::quick::LETTERS;
use crate::span::{original, Span};
use regex::Regex;
use serde_json::Value;
use std::collections::HashMap;
use std::sync::LazyLock;
use tokenizers::models::ModelWrapper;
use tokenizers::{Model, NormalizedString, Normalizer, Tokenizer};

/// May this normaliser or pre-tokenizer take more away than white space and marks?
pub fn may_take(part: &Value) -> bool {
    let text = |name: &str| part.get(name).and_then(Value::as_str);
    let any = |name: &str| part.get(name).and_then(Value::as_array).is_some_and(|all| all.iter().any(may_take));
    match text("type") {
        Some("Sequence") => any("normalizers") || any("pretokenizers"),
        Some("Replace") => text("content").is_none_or(str::is_empty),
        Some("BertNormalizer") => part.get("clean_text") != Some(&Value::Bool(false)),
        Some("Split" | "Punctuation") => text("behavior") == Some("Removed"),
        Some("Nmt" | "Precompiled" | "CharDelimiterSplit") => true,
        _ => false,
    }
}

/// Bytes that UTF-8 has.
fn text_bytes() -> impl Iterator<Item = u8> {
    (0..=0xF4).filter(|byte| !matches!(byte, 0xC0 | 0xC1))
}

fn byte_token(byte: u8) -> String {
    format!("<0x{byte:02X}>")
}

/// Does the model leave out what its vocabulary lacks, and may it lack something?
pub fn drops_unknown(tokenizer: &Tokenizer, byte_level: bool) -> bool {
    let ModelWrapper::BPE(bpe) = tokenizer.get_model() else { return false };
    if bpe.get_unk_token().is_some() {
        return false;
    }
    let has = |text: &str| bpe.token_to_id(text).is_some();
    if bpe.byte_fallback && text_bytes().all(|byte| has(&byte_token(byte))) {
        return false;
    }
    let has_affix = |affix: &Option<String>| affix.as_ref().is_some_and(|text| !text.is_empty());
    let writes_letters = !has_affix(&bpe.continuing_subword_prefix) && !has_affix(&bpe.end_of_word_suffix);
    let letter = |byte: u8| LETTERS[byte as usize].to_string();
    !(byte_level && writes_letters && text_bytes().all(|byte| has(&letter(byte))))
}

/// Where the bytes stand in a text that a BPE keeps of it: those of characters that its vocabulary has.
fn kept_bytes(tokenizer: &Tokenizer, text: &str) -> Vec<usize> {
    let ModelWrapper::BPE(bpe) = tokenizer.get_model() else { return (0..text.len()).collect() };
    let has = |text: &str| bpe.token_to_id(text).is_some();
    let mut kept = Vec::new();
    for (at, letter) in text.char_indices() {
        let end = at + letter.len_utf8();
        let prefix = bpe.continuing_subword_prefix.as_deref().filter(|_| at > 0).unwrap_or_default();
        let suffix = bpe.end_of_word_suffix.as_deref().filter(|_| end == text.len()).unwrap_or_default();
        let written = format!("{prefix}{letter}{suffix}");
        if has(&written) || bpe.byte_fallback && written.bytes().all(|byte| has(&byte_token(byte))) {
            kept.extend(at..end);
        }
    }
    kept
}

/// The tokens of a text of which the model dropped some, at their places: the crate counts on as if nothing had been
/// there. Gives the dropped parts to `take`.
pub fn placed(
    loaded: &Loaded,
    text: &str,
    tokens: &[tokenizers::Token],
    mut take: impl FnMut(usize, usize),
) -> Vec<tokenizers::Token> {
    let kept = kept_bytes(&loaded.tokenizer, text);
    let mut at = 0;
    for place in kept.iter().copied().chain(std::iter::once(text.len())) {
        if at < place {
            take(at, place);
        }
        at = place + 1;
    }
    let begin = |offset: usize| kept.get(offset).copied().unwrap_or(text.len());
    let end = |offset: usize| offset.checked_sub(1).map_or(0, |last| (begin(last) + 1).min(text.len()));
    let moved = |token: &tokenizers::Token| {
        let offsets = (begin(token.offsets.0), end(token.offsets.1));
        tokenizers::Token::new(token.id, String::new(), (offsets.0.min(offsets.1), offsets.1))
    };
    tokens.iter().map(moved).collect()
}

/// How far in front of a character that no word has the normaliser may have joined it with another.
const LONGEST_JOINED: usize = 32;
/// How many characters, with those before them, are tried with the normaliser. More are in no real text: what else is in
/// no word counts as taken away.
const MOST_TRIED: usize = 1 << 16;

static MARK: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"^\p{M}$").expect("a pattern"));

fn is_mark(c: char) -> bool {
    !c.is_ascii() && MARK.is_match(c.encode_utf8(&mut [0; 4]))
}

/// Does the word have all of its text? Or but a blank in front, as which many normalisers write another sign.
fn has_all(word: &NormalizedString) -> bool {
    let (written, text) = (word.get(), word.get_original());
    written == text || written.strip_prefix('▁').unwrap_or(written) == text.strip_prefix(' ').unwrap_or(text)
}

/// Sees the words and the added tokens of a text pass, in order, and finds what is in none of them.
pub struct Watch<'a> {
    loaded: &'a Loaded,
    text: &'a str,
    /// What stands before is in a word or an added token, or was looked at.
    done: usize,
    /// What was found out about characters, each with those in front of it that it may be joined with.
    asked: HashMap<(String, char), bool>,
    dropped: Vec<Span>,
}

impl<'a> Watch<'a> {
    pub fn new(loaded: &'a Loaded, text: &'a str) -> Self {
        Watch { loaded, text, done: 0, asked: HashMap::new(), dropped: Vec::new() }
    }

    pub fn see_word(&mut self, word: &NormalizedString) {
        if has_all(word) {
            let (begin, end) = word.offsets_original();
            return self.see(begin, end);
        }
        for at in 0..word.len() {
            if let Some((begin, end)) = original(word, at, at + 1) {
                self.see(begin, end);
            }
        }
    }

    pub fn see(&mut self, begin: usize, end: usize) {
        if begin < end {
            self.look_at(begin);
            self.done = self.done.max(end);
        }
    }

    /// The model dropped [begin, end) of a normalised word.
    pub fn drop(&mut self, word: &NormalizedString, begin: usize, end: usize) {
        if let Some((begin, end)) = original(word, begin, end).filter(|(begin, end)| begin < end) {
            self.dropped.push(Span { begin: begin as u32, end: end as u32 });
        }
    }

    /// What was dropped of the text, in order.
    pub fn finish(mut self) -> Vec<Span> {
        self.look_at(self.text.len());
        self.dropped.sort_by_key(|span| span.begin);
        let mut joined: Vec<Span> = Vec::new();
        for span in self.dropped {
            match joined.last_mut().filter(|last| last.end >= span.begin) {
                Some(last) => last.end = last.end.max(span.end),
                None => joined.push(span),
            }
        }
        joined
    }

    /// Looks at what stands between what passed and `end`.
    fn look_at(&mut self, end: usize) {
        let Some(gap) = self.text.get(self.done..end) else { return };
        let before = self.text[..self.done].char_indices().next_back().map_or(0, |(at, _)| at);
        for (at, c) in gap.char_indices() {
            let place = self.done + at;
            let from = if place - before <= LONGEST_JOINED { before } else { place };
            if !c.is_whitespace() && !is_mark(c) && self.is_taken(&self.text[from..place], c) {
                self.dropped.push(Span { begin: place as u32, end: (place + c.len_utf8()) as u32 });
            }
        }
    }

    fn is_taken(&mut self, before: &str, c: char) -> bool {
        let key = (before.to_string(), c);
        if let Some(known) = self.asked.get(&key) {
            return *known;
        }
        if self.asked.len() >= MOST_TRIED {
            return true;
        }
        let is_taken = self.leaves_nothing(before, c);
        self.asked.insert(key, is_taken);
        is_taken
    }

    /// A character that is in no word was joined by the normaliser with what stands before it, or taken away: by the
    /// pre-tokenizer, if the normalised text still has it; by the normaliser, if its text is the same without. One of
    /// several blanks, as which it may be written, leaves something where no other stands beside it.
    fn leaves_nothing(&self, before: &str, c: char) -> bool {
        let normalized = |text: String| {
            let mut text = NormalizedString::from(text);
            if let Some(normalizer) = self.loaded.tokenizer.get_normalizer() {
                let _ = normalizer.normalize(&mut text);
            }
            text
        };
        let both = normalized(format!("{before}{c}"));
        let is_of_it = |at: usize| original(&both, at, at + 1).is_some_and(|(_, end)| end > before.len());
        let has_it = both.get().char_indices().any(|(at, c)| !c.is_whitespace() && c != '▁' && is_of_it(at));
        let is_same = |with: &NormalizedString, without: String| with.get() == normalized(without).get();
        has_it || is_same(&both, before.into()) && is_same(&normalized(format!("a{c}a")), "aa".into())
    }
}
