//! The usual byte-level tokenizers, encoded without the crate's NormalizedString, which takes most of the time: it keeps
//! the place of every letter through every step, and these tokenizers change no letter. Regular expressions cut the
//! text into words (words.rs), each byte of a word is a letter of the alphabet, and the model does the rest, as in the
//! crate.
//!
//! What a text of another kind becomes, only the crate says: then there is no answer here. Begin reading at encode().
use crate::encode::own_text;
use crate::known::Known;
use crate::open::Loaded;
use crate::piece::byte_of;
use crate::words::{Next, Words};
use crate::Token;
use regex_automata::hybrid::regex::Cache;
use regex_automata::util::pool::Pool;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::{Arc, LazyLock};
use tokenizers::models::ModelWrapper;
use tokenizers::normalizers::NormalizerWrapper;
use tokenizers::pre_tokenizers::split::SplitPattern;
use tokenizers::pre_tokenizers::PreTokenizerWrapper;
use tokenizers::{Model, OffsetReferential, OffsetType, SplitDelimiterBehavior, Tokenizer};

/// Which texts for a tokenizer can be encoded here.
#[derive(Clone, Copy, PartialEq)]
enum Texts {
    None,
    /// The tokenizer composes letters: those without any that it might.
    Composed,
    All,
}

/// How a tokenizer encodes here.
pub struct Quick {
    texts: Texts,
    /// How each expression cuts; None: as the crate says.
    words: Arc<Vec<Option<Words>>>,
    /// Of each thread at work.
    scratch: Pool<Scratch, MakeScratch>,
}

type MakeScratch = Box<dyn Fn() -> Scratch + Send + Sync + UnwindSafe + RefUnwindSafe>;

struct Scratch {
    caches: Vec<Option<Cache>>,
    known: Known,
}

impl Quick {
    /// `never`: the tokenizer needs what only the rest of this crate has.
    pub fn of(tokenizer: &Tokenizer, never: bool) -> Quick {
        let texts = if never { Texts::None } else { texts_of(tokenizer) };
        let splits = splits_of(tokenizer).filter(|_| texts != Texts::None).unwrap_or_default();
        let words = Arc::new(splits.iter().map(words_of).collect::<Vec<_>>());
        let of = words.clone();
        let make: MakeScratch = Box::new(move || Scratch {
            caches: of.iter().map(|words| words.as_ref().map(Words::cache)).collect(),
            known: Known::default(),
        });
        Quick { texts, words, scratch: Pool::new(make) }
    }

    fn takes(&self, text: &str) -> bool {
        self.texts == Texts::All || self.texts == Texts::Composed && is_composed(text)
    }
}

fn texts_of(tokenizer: &Tokenizer) -> Texts {
    if splits_of(tokenizer).is_none() || chances(tokenizer) {
        return Texts::None;
    }
    match tokenizer.get_normalizer() {
        None => Texts::All,
        Some(NormalizerWrapper::Sequence(all)) if all.as_ref().is_empty() => Texts::All,
        Some(NormalizerWrapper::NFC(_)) => Texts::Composed,
        Some(_) => Texts::None,
    }
}

/// Whether a word has not always the same tokens.
fn chances(tokenizer: &Tokenizer) -> bool {
    matches!(tokenizer.get_model(), ModelWrapper::BPE(bpe) if bpe.dropout.is_some())
}

fn words_of(split: &PreTokenizerWrapper) -> Option<Words> {
    match split {
        PreTokenizerWrapper::Split(split) => match &split.pattern {
            SplitPattern::Regex(expression) => Words::of(expression),
            SplitPattern::String(_) => None,
        },
        _ => None,
    }
}

/// The regular expressions of a tokenizer that cuts by these, and takes bytes for letters.
fn splits_of(tokenizer: &Tokenizer) -> Option<&[PreTokenizerWrapper]> {
    let Some(PreTokenizerWrapper::Sequence(all)) = tokenizer.get_pre_tokenizer() else { return None };
    let (last, splits) = all.as_ref().split_last()?;
    let takes_bytes = matches!(last, PreTokenizerWrapper::ByteLevel(one) if !one.add_prefix_space && !one.use_regex);
    let is_split = |one: &PreTokenizerWrapper| {
        matches!(one, PreTokenizerWrapper::Split(split)
            if !split.invert && matches!(split.behavior, SplitDelimiterBehavior::Isolated))
    };
    (takes_bytes && splits.iter().all(is_split)).then_some(splits)
}

/// Characters that NFC leaves as they are, and joins with none before or behind that is among them: none is a mark, none
/// the second of two that have a form as one.
const COMPOSED: [(u32, u32); 17] = [
    (0x0, 0x2FF),
    (0x3A3, 0x482),
    (0x48A, 0x52F),
    (0x10D0, 0x10FF),
    (0x1E00, 0x1F15),
    (0x2002, 0x2064),
    (0x2190, 0x2328),
    (0x232B, 0x2426),
    (0x2460, 0x2ADB),
    (0x3000, 0x3029),
    (0x3041, 0x3096),
    (0x309B, 0x30FF),
    (0x3220, 0xA48C),
    (0xAC00, 0xD7A3),
    (0xFE00, 0xFE0F),
    (0xFF01, 0xFF9D),
    (0x1F300, 0x1F6D7),
];

fn is_composed(text: &str) -> bool {
    let is_one = |c: char| {
        let code = c as u32;
        let at = COMPOSED.partition_point(|range| range.1 < code);
        code < 0x80 || at < COMPOSED.len() && COMPOSED[at].0 <= code
    };
    text.is_ascii() || text.chars().all(is_one)
}

/// The alphabet, by bytes.
pub static LETTERS: LazyLock<[char; 256]> = LazyLock::new(|| {
    let mut letters = ['\0'; 256];
    for letter in '\0'..='\u{143}' {
        if let Some(byte) = byte_of(letter) {
            letters[byte as usize] = letter;
        }
    }
    letters
});

/// The tokens of `text`; None where the crate has to say them.
pub fn encode(loaded: &Loaded, text: &str) -> Option<Vec<Token>> {
    let quick = &loaded.quick;
    if !quick.takes(text) {
        return None;
    }
    let splits = splits_of(&loaded.tokenizer)?;
    let mut scratch = quick.scratch.get();
    let tokens = Vec::with_capacity(text.len() / 3 + 8);
    let mut output = Output { loaded, scratch: &mut scratch, tokens, letters: String::new() };
    let vocabulary = loaded.tokenizer.get_added_vocabulary();
    let pieces = vocabulary.extract_and_normalize(None::<&NormalizerWrapper>, text);
    for (piece, (begin, end), added) in pieces.get_splits(OffsetReferential::Original, OffsetType::Byte) {
        match added {
            None => output.cut(splits, piece, begin)?,
            Some(added) => output.tokens.extend(added.iter().map(|token| {
                let (begin, end) = own_text(text, (begin, end), loaded.added_token(token.id));
                Token { id: token.id as i32, begin: begin as u32, end: end as u32, added: 1 }
            })),
        }
    }
    Some(output.tokens)
}

struct Output<'a> {
    loaded: &'a Loaded,
    scratch: &'a mut Scratch,
    tokens: Vec<Token>,
    /// The word at work, in the alphabet.
    letters: String,
}

impl Output<'_> {
    /// Each expression cuts what those before it left: its matches, and what is between them.
    fn cut(&mut self, splits: &[PreTokenizerWrapper], piece: &str, begin: usize) -> Option<()> {
        let Some((PreTokenizerWrapper::Split(split), others)) = splits.split_first() else {
            return self.encode_word(piece, begin);
        };
        let mut at = 0;
        loop {
            match self.next_word(self.scratch.caches.len() - splits.len(), piece, at) {
                Next::Word(from, to) => {
                    self.take(others, piece, (at, from, to), begin)?;
                    at = to;
                }
                Next::End => return self.take(others, piece, (at, piece.len(), piece.len()), begin),
                Next::Unknown => break,
            }
        }
        let base = at;
        for (from, to) in split.regex.find_iter(&piece[base..]) {
            self.take(others, piece, (at, base + from, base + to), begin)?;
            at = base + to;
        }
        self.take(others, piece, (at, piece.len(), piece.len()), begin)
    }

    /// Behind `at`, by the automaton of an expression.
    fn next_word(&mut self, number: usize, piece: &str, at: usize) -> Next {
        match (&self.loaded.quick.words[number], &mut self.scratch.caches[number]) {
            (Some(words), Some(cache)) => words.next(cache, piece, at),
            _ => Next::Unknown,
        }
    }

    /// A match, and what is before it, from `at` on.
    fn take(
        &mut self,
        others: &[PreTokenizerWrapper],
        piece: &str,
        place: (usize, usize, usize),
        begin: usize,
    ) -> Option<()> {
        let (at, from, to) = place;
        if at < from {
            self.cut(others, &piece[at..from], begin + at)?;
        }
        if from < to {
            self.cut(others, &piece[from..to], begin + from)?;
        }
        Some(())
    }

    fn encode_word(&mut self, word: &str, begin: usize) -> Option<()> {
        match self.scratch.known.get(word) {
            Some(known) => push(&mut self.tokens, known, begin),
            None => {
                let new = self.tokens_of(word)?;
                self.scratch.known.put(word, &new);
                push(&mut self.tokens, &new, begin);
            }
        }
        Some(())
    }

    /// The model counts bytes of the alphabet's letters. Where its tokens are not all of the word, one after the other,
    /// the crate has to say which bytes they stand for.
    fn tokens_of(&mut self, word: &str) -> Option<Vec<(u32, u32)>> {
        let alphabet: &[char; 256] = &LETTERS;
        self.letters.clear();
        self.letters.extend(word.bytes().map(|byte| alphabet[byte as usize]));
        let mut at = 0;
        let mut made = Vec::new();
        for token in self.loaded.tokenizer.get_model().tokenize(&self.letters).ok()? {
            if token.offsets.0 != at || token.offsets.1 <= at {
                return None;
            }
            made.push((token.id, self.letters.get(at..token.offsets.1)?.chars().count() as u32));
            at = token.offsets.1;
        }
        (at == self.letters.len()).then_some(made)
    }
}

/// Of a word that begins there.
fn push(tokens: &mut Vec<Token>, word: &[(u32, u32)], begin: usize) {
    let mut begin = begin as u32;
    tokens.extend(word.iter().map(|(id, bytes)| {
        let token = Token { id: *id as i32, begin, end: begin + bytes, added: 0 };
        begin = token.end;
        token
    }));
}
