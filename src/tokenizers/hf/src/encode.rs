//! A text becomes tokens with their bytes.
//!
//! The steps are those of the crate's own encode: added tokens are cut out, what is between is normalised and cut into
//! words, each word goes to the model. The last step is done here instead of by PreTokenizedString::into_encoding,
//! because only here it is known which tokens were added ones, and because an Encoding is more than is asked for.
use crate::dropped::{placed, Watch};
use crate::extract::extract;
use crate::failure::{Failure, Kind, Result};
use crate::open::{Added, Loaded, LSTRIP, RSTRIP};
use crate::span::{cut_inside, original, Span, Trust, ALL};
use crate::{quick, spell, Token};
use tokenizers::{Model, NormalizedString, OffsetReferential, OffsetType, PreTokenizedString, PreTokenizer};

const LARGEST_TEXT: usize = 256 << 20;

/// A part of a normalised word.
pub type Part = std::ops::Range<usize>;

/// The tokens so far.
pub struct Output<'a> {
    pub loaded: &'a Loaded,
    pub tokens: Vec<Token>,
    /// Where the tokens of the word begin that is at work.
    word: usize,
    text_size: usize,
    /// Unset: nobody asks what is dropped.
    watch: Option<Watch<'a>>,
}

/// An added token, how many words come before it, and its place with the white space that it took along.
struct Waiting {
    words: usize,
    token: Token,
    taken: (usize, usize),
}

/// What a text became, and the parts of it that are in no token and should be.
pub struct Encoded {
    pub tokens: Vec<Token>,
    pub dropped: Vec<Span>,
}

pub fn utf8(text: &[u8]) -> Result<&str> {
    std::str::from_utf8(text).map_err(|error| {
        let at = error.valid_up_to();
        let mut failure = Failure::new(Kind::NotUtf8, format!("the text is not UTF-8 at byte {at}"));
        failure.column = at as u64;
        failure
    })
}

pub fn refused(error: tokenizers::Error) -> Failure {
    match error.downcast::<Failure>() {
        Ok(failure) => *failure,
        Err(error) => Failure::new(Kind::Refused, error.to_string()),
    }
}

/// The tokens of `text`; with `trust` in the guarded way. `wants_dropped`: and what is dropped of it.
pub fn encode(loaded: &Loaded, text: &[u8], trust: Option<Trust>, wants_dropped: bool) -> Result<Encoded> {
    if text.len() > LARGEST_TEXT {
        return Err(Failure::new(Kind::TooLarge, "a text of over 256 MiB"));
    }
    let text = utf8(text)?;
    if trust.is_none() {
        if let Some(tokens) = quick::encode(loaded, text) {
            return Ok(Encoded { tokens, dropped: Vec::new() });
        }
    }
    let tokenizer = &loaded.tokenizer;
    let extracted_here = trust.is_some() || loaded.own_extraction;
    let mut pieces = if extracted_here {
        extract(loaded, text, trust.unwrap_or(ALL)).map_err(refused)?
    } else {
        tokenizer.get_added_vocabulary().extract_and_normalize(tokenizer.get_normalizer(), text)
    };
    if let Some(pre_tokenizer) = tokenizer.get_pre_tokenizer() {
        pre_tokenizer.pre_tokenize(&mut pieces).map_err(refused)?;
    }
    let watch = (wants_dropped && !loaded.keeps_text).then(|| Watch::new(loaded, text));
    tokens_of(loaded, text, pieces, trust, extracted_here, watch).map_err(refused)
}

fn tokens_of<'a>(
    loaded: &'a Loaded,
    text: &'a str,
    mut pieces: PreTokenizedString,
    trust: Option<Trust>,
    extracted_here: bool,
    watch: Option<Watch<'a>>,
) -> tokenizers::Result<Encoded> {
    let mut waiting = added_tokens(loaded, text, &pieces, extracted_here).into_iter().peekable();
    let made = Output { loaded, tokens: Vec::with_capacity(text.len() / 4), word: 0, text_size: text.len(), watch };
    // The crate hands out words only to a Fn.
    let state = std::cell::RefCell::new((made, 0));
    let next = std::cell::RefCell::new(&mut waiting);
    pieces.tokenize(|word| {
        let (output, words) = &mut *state.borrow_mut();
        while let Some(added) = next.borrow_mut().next_if(|added| added.words <= *words) {
            output.push_added(&added);
        }
        *words += 1;
        output.word = output.tokens.len();
        if let Some(watch) = &mut output.watch {
            watch.see_word(word);
        }
        match trust {
            Some(trust) => spell::encode_word(output, word, trust)?,
            None => output.push_word(word, 0..word.len(), &loaded.tokenizer.get_model().tokenize(word.get())?),
        }
        Ok(Vec::new())
    })?;
    let mut output = state.into_inner().0;
    waiting.for_each(|added| output.push_added(&added));
    let dropped = output.watch.map_or_else(Vec::new, Watch::finish);
    Ok(Encoded { tokens: output.tokens, dropped })
}

/// The added tokens among the pieces, which have their token already.
fn added_tokens(loaded: &Loaded, text: &str, pieces: &PreTokenizedString, extracted_here: bool) -> Vec<Waiting> {
    let mut found = Vec::new();
    if loaded.added.is_empty() {
        return found;
    }
    let mut words = 0;
    for (_, taken, tokens) in pieces.get_splits(OffsetReferential::Original, OffsetType::Byte) {
        let Some(tokens) = tokens else {
            words += 1;
            continue;
        };
        for token in tokens {
            let (begin, end) = match extracted_here {
                true => token.offsets,
                false => own_text(text, taken, loaded.added_token(token.id)),
            };
            let token = Token { id: token.id as i32, begin: begin as u32, end: end as u32, added: 1 };
            found.push(Waiting { words, token, taken });
        }
    }
    found
}

/// The place of a token without the white space it took along: all that is more than its own text begins and ends with.
/// Of a token of nothing but white space it cannot be told.
pub fn own_text(text: &str, (begin, end): (usize, usize), token: &Added) -> (usize, usize) {
    let taken = text.get(begin..end).unwrap_or_default();
    if token.flags & (LSTRIP | RSTRIP) == 0 || token.text.trim().is_empty() || taken.trim().is_empty() {
        return (begin, end);
    }
    let front = |text: &str| text.len() - text.trim_start().len();
    let back = |text: &str| text.len() - text.trim_end().len();
    let before = front(taken).saturating_sub(front(&token.text));
    let behind = back(taken).saturating_sub(back(&token.text));
    let stripped = |flag: u32, count: usize| if token.flags & flag != 0 { count } else { 0 };
    (begin + stripped(LSTRIP, before), end - stripped(RSTRIP, behind))
}

impl Output<'_> {
    fn push_added(&mut self, added: &Waiting) {
        self.tokens.push(added.token);
        if let Some(watch) = &mut self.watch {
            watch.see(added.taken.0, added.taken.1);
        }
    }

    /// Appends the model's tokens of a part of a word.
    pub fn push_word(&mut self, word: &NormalizedString, part: Part, tokens: &[tokenizers::Token]) {
        let encoded = tokens.last().map_or(0, |token| token.offsets.1);
        if !self.loaded.drops_unknown || encoded == part.len() {
            return self.push_placed(word, part.start, tokens);
        }
        let watch = &mut self.watch;
        let tokens = placed(self.loaded, &word.get()[part.clone()], tokens, |begin, end| {
            if let Some(watch) = watch {
                watch.drop(word, part.start + begin, part.start + end);
            }
        });
        self.push_placed(word, part.start, &tokens);
    }

    fn push_placed(&mut self, word: &NormalizedString, base: usize, tokens: &[tokenizers::Token]) {
        let first = self.tokens.len();
        for (i, token) in tokens.iter().enumerate() {
            let (begin, end) = (base + token.offsets.0, base + token.offsets.1);
            self.push_one(word, token.id, begin, end);
            if i == 0 || tokens[i - 1].offsets != token.offsets {
                self.tell_apart(word, begin);
            }
        }
        self.tile_bytes(word, base, tokens, first);
    }

    /// Appends a token of [begin, end) of the normalised word.
    pub fn push_one(&mut self, word: &NormalizedString, id: u32, begin: usize, end: usize) {
        let before = self.tokens.last().map_or(0, |token| token.end as usize);
        let (begin, end) = original(word, begin, end).unwrap_or((before, before));
        let end = end.min(self.text_size);
        let token = Token { id: id as i32, begin: begin.min(end) as u32, end: end as u32, added: 0 };
        self.tokens.push(token);
    }

    /// Where the last two tokens of the word have bytes in common, gives each its own, if the normalised text shows which
    /// they are.
    pub fn tell_apart(&mut self, word: &NormalizedString, cut: usize) {
        let [.., before, now] = &mut self.tokens[self.word..] else { return };
        if now.begin >= before.end {
            return;
        }
        let Some(at) = cut_inside(self.loaded, word, cut) else { return };
        let at = at as u32;
        if before.begin <= at && at <= now.end {
            before.end = before.end.min(at);
            now.begin = at;
        }
    }

    /// Unigram gives each byte that it falls back to the place of them all.
    fn tile_bytes(&mut self, word: &NormalizedString, base: usize, tokens: &[tokenizers::Token], first: usize) {
        let mut i = 0;
        while i < tokens.len() {
            let offsets = tokens[i].offsets;
            let count = tokens[i..].iter().take_while(|token| token.offsets == offsets).count();
            let place = (self.tokens[first + i].begin, self.tokens[first + i].end);
            if count > 1 && count == offsets.1 - offsets.0 && count as u32 == place.1 - place.0 {
                let shift = word.offsets_original().0;
                let of_text = word.get_original().as_bytes().get(place.0 as usize - shift..place.1 as usize - shift);
                if of_text == word.get().as_bytes().get(base + offsets.0..base + offsets.1) {
                    for (at, token) in self.tokens[first + i..first + i + count].iter_mut().enumerate() {
                        (token.begin, token.end) = (place.0 + at as u32, place.0 + at as u32 + 1);
                    }
                }
            }
            i += count;
        }
    }
}
