//! A tokenizer.json becomes a `Loaded`: the crate's tokenizer, what is known of it, and what encoding needs of it. Begin
//! reading at open().
use crate::dropped::{drops_unknown, may_take};
use crate::explain::explain;
use crate::extract::Sets;
use crate::failure::{guarded, Failure, Kind, Result};
use crate::piece;
use crate::quick::Quick;
use crate::shape::shape_of;
use serde::Deserialize;
use serde_json::Value;
use std::collections::{BTreeMap, HashSet};
use tokenizers::models::ModelWrapper;
use tokenizers::{AddedToken, Model, Tokenizer};

pub const LARGEST_FILE: usize = 512 << 20;
/// How many times as long as the text a normaliser and a pre-tokenizer may make it.
const LARGEST_GROWTH: f64 = 65536.0;

pub const SPECIAL: u32 = 1;
pub const LSTRIP: u32 = 2;
pub const RSTRIP: u32 = 4;
pub const NORMALIZED: u32 = 8;
pub const SINGLE_WORD: u32 = 16;
pub const CONTROL: u32 = 32;
pub const NAMED: u32 = 64;
pub const LEGACY: u32 = 128;
pub const OF_FILE: u32 = 256;

/// One added token, with the flags of hf_abi.h.
pub struct Added {
    pub id: i32,
    pub flags: u32,
    pub text: String,
}

pub struct Loaded {
    pub tokenizer: Tokenizer,
    pub kind: String,
    pub vocabulary_size: u64,
    pub added: Vec<Added>,
    /// Pieces of the model's own vocabulary that are written like control tokens; ascending.
    pub markers: Vec<i32>,
    pub unk: Option<i32>,
    pub unk_text: Option<String>,
    pub before: Vec<i32>,
    pub after: Vec<i32>,
    pub notes: String,
    /// How a text is prepared; see shape.rs.
    pub shape: String,
    /// Normalised text is written in the alphabet of byte-level tokenizers.
    pub byte_level: bool,
    /// Pieces of the vocabulary write a blank as U+2581.
    pub metaspace: bool,
    /// The model writes what it does not know as bytes: <0x0A>.
    pub byte_fallback: bool,
    /// The model leaves out what its vocabulary lacks.
    pub drops_unknown: bool,
    /// Every character of a text becomes a part of a token, but for white space and marks on letters.
    pub keeps_text: bool,
    /// A token that is looked for in normalised text takes white space along, or ends in a letter that the normaliser composes: where
    /// its own text begins and ends is known only to the extraction of this crate.
    pub own_extraction: bool,
    /// How quick.rs encodes.
    pub quick: Quick,
    /// What guarded encoding looks for.
    pub sets: Sets,
    /// One bit for each id up to the highest control id.
    control: Vec<u64>,
}

impl Loaded {
    pub fn is_control(&self, id: u32) -> bool {
        let word = self.control.get(id as usize / 64);
        word.is_some_and(|bits| bits >> (id % 64) & 1 == 1)
    }

    /// The added token `id`, which there is.
    pub fn added_token(&self, id: u32) -> &Added {
        let at = self.added.binary_search_by_key(&(id as i32), |token| token.id);
        &self.added[at.expect("an added token of the file")]
    }

    /// The bytes that normalised text stands for; None where it is not all in the alphabet, or cut inside a character.
    pub fn bytes_of(&self, text: &[u8]) -> Option<Vec<u8>> {
        if !self.byte_level {
            return Some(text.to_vec());
        }
        std::str::from_utf8(text).ok()?.chars().map(piece::byte_of).collect()
    }
}

/// The parts of the file that the crate keeps to itself. All are optional here: what is wrong the crate says.
#[derive(Deserialize, Default)]
struct Parts {
    #[serde(default)]
    added_tokens: Value,
    #[serde(default)]
    normalizer: Value,
    #[serde(default)]
    pre_tokenizer: Value,
    #[serde(default)]
    model: ModelParts,
}

#[derive(Deserialize, Default)]
struct ModelParts {
    #[serde(default)]
    unk_id: Value,
    #[serde(default)]
    dropout: Value,
    #[serde(default)]
    byte_fallback: Value,
}

fn made(text: &str, flags: u32) -> AddedToken {
    let has = |flag: u32| flags & flag != 0;
    AddedToken::from(text.to_string(), has(SPECIAL))
        .lstrip(has(LSTRIP))
        .rstrip(has(RSTRIP))
        .normalized(has(NORMALIZED))
        .single_word(has(SINGLE_WORD))
}

/// The file's own added tokens with the numbers that it gives them.
fn tokens_of_file(parts: &Parts) -> Vec<(i64, AddedToken)> {
    let token = |value: &Value| {
        let flag = |name: &str, bit: u32| if value.get(name).and_then(Value::as_bool) == Some(true) { bit } else { 0 };
        let flags = flag("special", SPECIAL)
            | flag("lstrip", LSTRIP)
            | flag("rstrip", RSTRIP)
            | flag("normalized", NORMALIZED)
            | flag("single_word", SINGLE_WORD);
        Some((value.get("id")?.as_i64()?, made(value.get("content")?.as_str()?, flags)))
    };
    parts.added_tokens.as_array().into_iter().flatten().filter_map(token).collect()
}

/// What stands beside a tokenizer.json may name more tokens. They are added as transformers adds them: those with a number by
/// number, and the file's own among them where nothing but an old added_tokens.json numbers any; one that has a name is special;
/// then the others, if no added token has their text. A line of notes for each that is new or has another id than it says.
fn add_more(tokenizer: &mut Tokenizer, parts: &Parts, more: &[Added]) -> Result<String> {
    let there = tokenizer.get_added_vocabulary().get_added_tokens_decoder();
    let mut texts: HashSet<String> = there.values().map(|token| token.content.clone()).collect();
    let before = texts.clone();
    let is_named = |text: &str| more.iter().any(|token| token.flags & NAMED != 0 && token.text == text);
    let mut numbered = BTreeMap::new();
    for token in more.iter().filter(|token| token.id >= 0) {
        numbered.insert(i64::from(token.id), made(&token.text, token.flags));
    }
    if !more.iter().any(|token| token.id >= 0 && token.flags & LEGACY == 0) {
        numbered.extend(tokens_of_file(parts));
    }
    let mut wanted: Vec<AddedToken> = numbered.into_values().collect();
    texts.extend(wanted.iter().map(|token| token.content.clone()));
    let mut seen = HashSet::new();
    for token in more.iter().filter(|token| token.id < 0 && !texts.contains(&token.text)) {
        if seen.insert((&token.text, token.flags & !NAMED)) {
            wanted.push(made(&token.text, token.flags));
        }
    }
    for token in &mut wanted {
        token.special = token.special || is_named(&token.content);
    }
    tokenizer.add_tokens(wanted).map_err(refused)?;
    Ok(notes_on_more(tokenizer, &before, more))
}

fn notes_on_more(tokenizer: &Tokenizer, before: &HashSet<String>, more: &[Added]) -> String {
    let mut notes = String::new();
    let mut told = HashSet::new();
    for token in more {
        let Some(id) = tokenizer.token_to_id(&token.text) else {
            if token.id >= 0 && told.insert(&token.text) {
                notes += &format!("{:?} is left out: its id {} is that of another token\n", token.text, token.id);
            }
            continue;
        };
        let is_new = !before.contains(&token.text) && token.flags & OF_FILE == 0;
        let is_other = token.id >= 0 && token.id as u32 != id;
        if (is_new || is_other) && told.insert(&token.text) {
            let how = match tokenizer.get_model().token_to_id(&token.text) {
                _ if !is_new => "is",
                Some(_) => "is in the vocabulary of tokenizer.json, and becomes an added token with its id",
                None => "is not in tokenizer.json and is added as",
            };
            let says =
                if is_other { format!("; a file beside tokenizer.json says {}", token.id) } else { String::new() };
            notes += &format!("{:?} {how} {id}{says}\n", token.text);
        }
    }
    notes
}

pub fn open(json: &[u8], more: &[Added]) -> Result<Loaded> {
    if json.len() > LARGEST_FILE {
        return Err(Failure::new(Kind::TooLarge, "a tokenizer.json of over 512 MiB"));
    }
    let parts: Parts = serde_json::from_slice(json).unwrap_or_default();
    check_growth(&parts)?;
    let mut tokenizer = guarded(Kind::Damaged, || read(json))?;
    let notes = notes_on(&parts, &tokenizer) + &add_more(&mut tokenizer, &parts, more)?;
    tokenizer.with_padding(None);
    tokenizer.with_truncation(None).map_err(refused)?;
    load(tokenizer, &parts, notes)
}

fn refused(error: tokenizers::Error) -> Failure {
    Failure::new(Kind::Damaged, error.to_string())
}

fn read(json: &[u8]) -> Result<Tokenizer> {
    serde_json::from_slice(json).map_err(|error| {
        let is_json = serde_json::from_slice::<serde::de::IgnoredAny>(json).is_ok();
        let mut failure = Failure::new(if is_json { Kind::Damaged } else { Kind::Json }, error.to_string());
        if is_json {
            failure.message = explain(json).unwrap_or(failure.message);
        } else {
            failure.line = error.line() as u32;
            failure.column = error.column() as u64;
        }
        failure
    })
}

/// How many times as long a text can become: a file may replace a letter by a page, many times over.
fn growth(part: &Value) -> f64 {
    let length = |name: &str| part.get(name).and_then(Value::as_str).map_or(0, str::len) as f64;
    let inner =
        |name: &str| part.get(name).and_then(Value::as_array).map_or(1.0, |all| all.iter().map(growth).product());
    match part.get("type").and_then(Value::as_str) {
        Some("Replace") => 1.0 + length("content"),
        Some("Prepend") => 1.0 + length("prepend"),
        Some("Sequence") => inner("normalizers") * inner("pretokenizers"),
        Some("Metaspace" | "ByteLevel") => 4.0,
        Some("NFKC" | "NFKD" | "NFD" | "NFC" | "Precompiled") => 2.0,
        _ => 1.0,
    }
}

/// May a normaliser make one character of several?
fn composes(part: &Value) -> bool {
    match part.get("type").and_then(Value::as_str) {
        Some("Sequence") => {
            part.get("normalizers").and_then(Value::as_array).is_some_and(|all| all.iter().any(composes))
        }
        kind => matches!(kind, Some("NFC" | "NFKC" | "Precompiled" | "Replace")),
    }
}

fn check_growth(parts: &Parts) -> Result<()> {
    if growth(&parts.normalizer) * growth(&parts.pre_tokenizer) <= LARGEST_GROWTH {
        return Ok(());
    }
    let message = "normalizer, pre_tokenizer: they can make a text over 65536 times as long";
    Err(Failure::new(Kind::TooLarge, message))
}

fn notes_on(parts: &Parts, tokenizer: &Tokenizer) -> String {
    let mut notes = String::new();
    let mut note = |text: &str| notes.extend([text, "\n"]);
    if parts.model.dropout.as_f64().is_some_and(|dropout| dropout != 0.0) {
        note("tokenizer.json: the model drops merges at random, so that one text has many encodings");
    }
    if tokenizer.get_truncation().is_some() {
        note("tokenizer.json: truncation is not done");
    }
    if tokenizer.get_padding().is_some() {
        note("tokenizer.json: padding is not done");
    }
    for token in parts.added_tokens.as_array().into_iter().flatten() {
        let (said, text) = (token.get("id").and_then(Value::as_u64), token.get("content").and_then(Value::as_str));
        let id = text.and_then(|text| tokenizer.token_to_id(text)).map(u64::from);
        if said.zip(id).is_some_and(|(said, id)| said != id) {
            let (said, id, text) = (said.unwrap_or(0), id.unwrap_or(0), text.unwrap_or_default());
            note(&format!(
                "tokenizer.json: added token {text:?} says it is {said}, but the library `tokenizers` makes it {id}"
            ));
        }
    }
    notes
}

/// An added token whose id is that of the model's unknown token stands for any text that the model does not know: nothing
/// can keep text from becoming it, so it is no control token. Such ids come of files whose ids have gaps.
fn unmark_unknown(added: &mut [Added], unk: Option<u32>, unk_text: Option<&String>, notes: &mut String) {
    for token in added {
        let is_other = unk == u32::try_from(token.id).ok() && unk_text != Some(&token.text);
        if is_other && token.flags & CONTROL != 0 {
            token.flags &= !CONTROL;
            *notes += &format!(
                "tokenizer.json: added token {:?} has the id {} of the unknown token, so any unknown text becomes it\n",
                token.text, token.id
            );
        }
    }
}

fn load(tokenizer: Tokenizer, parts: &Parts, mut notes: String) -> Result<Loaded> {
    let byte_level = piece::is_byte_level(&tokenizer);
    let mut added = added_tokens(&tokenizer, byte_level)?;
    let unk_text = unk_text(&tokenizer, &parts.model);
    let unk = unk_text.as_ref().and_then(|text| tokenizer.get_model().token_to_id(text));
    unmark_unknown(&mut added, unk, unk_text.as_ref(), &mut notes);
    let (vocabulary_size, markers) = survey(&tokenizer, &added)?;
    let sets = Sets::make(&tokenizer, &added)?;
    let composes = tokenizer.get_normalizer().is_some() && composes(&parts.normalizer);
    let is_own = |token: &Added| token.flags & NORMALIZED != 0 && (composes || token.flags & (LSTRIP | RSTRIP) != 0);
    let metaspace = tokenizer.get_decoder().is_none() && piece::has_blanks_in_words(&tokenizer);
    let own_extraction = added.iter().any(is_own);
    let drops_unknown = drops_unknown(&tokenizer, byte_level);
    let keeps_text = !drops_unknown && !may_take(&parts.normalizer) && !may_take(&parts.pre_tokenizer);
    let mut loaded = Loaded {
        kind: kind_of(tokenizer.get_model()).into(),
        vocabulary_size,
        control: control_bits(&added, &markers),
        markers,
        own_extraction,
        quick: Quick::of(&tokenizer, own_extraction),
        unk: unk.map(|id| id as i32),
        unk_text,
        before: Vec::new(),
        after: Vec::new(),
        notes,
        shape: shape_of(&tokenizer),
        byte_level,
        metaspace,
        byte_fallback: parts.model.byte_fallback == Value::Bool(true),
        drops_unknown,
        keeps_text,
        sets,
        added,
        tokenizer,
    };
    find_surroundings(&mut loaded);
    Ok(loaded)
}

fn kind_of(model: &ModelWrapper) -> &'static str {
    match model {
        ModelWrapper::BPE(_) => "BPE",
        ModelWrapper::WordPiece(_) => "WordPiece",
        ModelWrapper::WordLevel(_) => "WordLevel",
        ModelWrapper::Unigram(_) => "Unigram",
    }
}

fn small_id(id: u32, text: &str) -> Result<i32> {
    let message = || format!("the id {id} of the token {text:?} is above 2147483646");
    i32::try_from(id).ok().filter(|id| *id < i32::MAX).ok_or_else(|| Failure::new(Kind::Damaged, message()))
}

/// Is a text a way to write white space? "▁" is what a blank becomes in most vocabularies, "Ġ" and the like in
/// byte-level ones; a model makes tokens of such texts from white space.
fn is_blank(text: &str, byte_level: bool) -> bool {
    let of_bytes = |c: char| byte_level && piece::byte_of(c).is_some_and(|byte| byte.is_ascii_whitespace());
    text.chars().all(|c| c.is_whitespace() || c == '▁' || of_bytes(c))
}

fn added_tokens(tokenizer: &Tokenizer, byte_level: bool) -> Result<Vec<Added>> {
    let mut added = Vec::new();
    for (id, token) in tokenizer.get_added_vocabulary().get_added_tokens_decoder() {
        let flag = |set: bool, bit: u32| if set { bit } else { 0 };
        let flags = flag(token.special, SPECIAL)
            | flag(token.lstrip, LSTRIP)
            | flag(token.rstrip, RSTRIP)
            | flag(token.normalized, NORMALIZED)
            | flag(token.single_word, SINGLE_WORD)
            | flag(!is_blank(&token.content, byte_level), CONTROL);
        added.push(Added { id: small_id(*id, &token.content)?, flags, text: token.content.clone() });
    }
    added.sort_by_key(|token| token.id);
    Ok(added)
}

/// Is a piece written like a control token, <|user|>? A template that writes it means one, though nobody added it.
fn is_marker(text: &str) -> bool {
    let text = text.strip_prefix('▁').unwrap_or(text);
    let between = text.strip_prefix("<|").and_then(|rest| rest.strip_suffix("|>"));
    between.is_some_and(|name| !name.is_empty())
}

/// One past the highest id, and the markers among the model's own pieces.
fn survey(tokenizer: &Tokenizer, added: &[Added]) -> Result<(u64, Vec<i32>)> {
    let mut highest = added.last().map_or(-1, |token| token.id);
    let mut markers = Vec::new();
    for (text, id) in tokenizer.get_model().get_vocab() {
        let id = small_id(id, &text)?;
        highest = highest.max(id);
        if is_marker(&text) && added.binary_search_by_key(&id, |token| token.id).is_err() {
            markers.push(id);
        }
    }
    markers.sort_unstable();
    Ok(((highest + 1) as u64, markers))
}

fn control_bits(added: &[Added], markers: &[i32]) -> Vec<u64> {
    let control = added.iter().filter(|token| token.flags & CONTROL != 0).map(|token| token.id);
    let mut bits = Vec::new();
    for id in control.chain(markers.iter().copied()) {
        let word = id as usize / 64;
        if bits.len() <= word {
            bits.resize(word + 1, 0);
        }
        bits[word] |= 1 << (id % 64);
    }
    bits
}

fn unk_text(tokenizer: &Tokenizer, parts: &ModelParts) -> Option<String> {
    match tokenizer.get_model() {
        ModelWrapper::BPE(model) => model.get_unk_token().clone(),
        ModelWrapper::WordPiece(model) => Some(model.unk_token.clone()),
        ModelWrapper::WordLevel(model) => Some(model.unk_token.clone()),
        ModelWrapper::Unigram(model) => model.id_to_token(u32::try_from(parts.unk_id.as_u64()?).ok()?),
    }
}

/// What the post-processor puts around a text, from an encoding of a letter with and without it. A tokenizer that
/// cannot encode the letter says nothing.
fn find_surroundings(loaded: &mut Loaded) {
    let encode = |special: bool| loaded.tokenizer.encode_fast("a", special).ok();
    let found = guarded(Kind::Panic, || Ok(encode(false).zip(encode(true)))).ok().flatten();
    let Some((plain, whole)) = found else { return };
    let before = whole.get_special_tokens_mask().iter().take_while(|mask| **mask == 1).count();
    let Some(after) = whole.len().checked_sub(before + plain.len()) else { return };
    let ids = |part: &[u32]| part.iter().filter_map(|id| i32::try_from(*id).ok()).collect();
    let all = whole.get_ids();
    if all[before..all.len() - after] == *plain.get_ids() {
        (loaded.before, loaded.after) = (ids(&all[..before]), ids(&all[all.len() - after..]));
    }
}
