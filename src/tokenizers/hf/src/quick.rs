//! The usual byte-level tokenizers, encoded without the crate's NormalizedString, which takes most of the time: it keeps
//! the place of every letter through every step, and these tokenizers change no letter. Regular expressions cut the
//! text into words, each byte of a word is a letter of the alphabet, and the model does the rest, as in the crate.
//!
//! What a text of another kind becomes, only the crate says: then there is no answer here. Begin reading at encode().
use crate::encode::own_text;
use crate::open::Loaded;
use crate::piece::byte_of;
use crate::Token;
use std::sync::LazyLock;
use tokenizers::normalizers::NormalizerWrapper;
use tokenizers::pre_tokenizers::PreTokenizerWrapper;
use tokenizers::{Model, OffsetReferential, OffsetType, SplitDelimiterBehavior, Tokenizer};

/// What stands in the way of encoding a text here.
#[derive(Clone, Copy, PartialEq)]
pub enum Quick {
    Never,
    /// The tokenizer composes letters, and the text has some that it might.
    IfComposed,
    Always,
}

/// How much of the texts for a tokenizer can be encoded here.
pub fn quick_of(tokenizer: &Tokenizer) -> Quick {
    if splits_of(tokenizer).is_none() {
        return Quick::Never;
    }
    match tokenizer.get_normalizer() {
        None => Quick::Always,
        Some(NormalizerWrapper::NFC(_)) => Quick::IfComposed,
        Some(_) => Quick::Never,
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
    if loaded.quick == Quick::Never || loaded.quick == Quick::IfComposed && !is_composed(text) {
        return None;
    }
    let splits = splits_of(&loaded.tokenizer)?;
    let mut output = Output { loaded, tokens: Vec::with_capacity(text.len() / 3 + 8), word: String::new() };
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
    tokens: Vec<Token>,
    /// The word at work, in the alphabet.
    word: String,
}

impl Output<'_> {
    /// Each expression cuts what those before it left: its matches, and what is between them.
    fn cut(&mut self, splits: &[PreTokenizerWrapper], piece: &str, begin: usize) -> Option<()> {
        let Some((PreTokenizerWrapper::Split(split), others)) = splits.split_first() else {
            return self.encode_word(piece, begin);
        };
        let mut at = 0;
        for (from, to) in split.regex.find_iter(piece) {
            if at < from {
                self.cut(others, &piece[at..from], begin + at)?;
            }
            if from < to {
                self.cut(others, &piece[from..to], begin + from)?;
            }
            at = to;
        }
        if at < piece.len() {
            self.cut(others, &piece[at..], begin + at)?;
        }
        Some(())
    }

    /// The model counts bytes of the alphabet's letters. Where its tokens are not all of the word, one after the other,
    /// the crate has to say which bytes they stand for.
    fn encode_word(&mut self, word: &str, begin: usize) -> Option<()> {
        let letters: &[char; 256] = &LETTERS;
        self.word.clear();
        self.word.extend(word.bytes().map(|byte| letters[byte as usize]));
        let (mut at, mut place) = (0, begin);
        for token in self.loaded.tokenizer.get_model().tokenize(&self.word).ok()? {
            if token.offsets.0 != at || token.offsets.1 <= at {
                return None;
            }
            let end = place + self.word.get(at..token.offsets.1)?.chars().count();
            self.tokens.push(Token { id: token.id as i32, begin: place as u32, end: end as u32, added: 0 });
            (at, place) = (token.offsets.1, end);
        }
        (at == self.word.len()).then_some(())
    }
}
