//! Which added tokens a text holds when only some of its bytes are trusted.
//!
//! The crate's own AddedVocabulary finds them wherever they are. Here a control token counts only where it is trusted,
//! and else is as if it were not in the vocabulary: a shorter one at the same place, or a later one inside it, is found.
//! All else is as the crate does it: tokens that are not `normalized` first, in the text; the others in the normalised
//! text between; of those that begin at the leftmost place the longest; one that `single_word` refuses still hides what
//! overlaps it; `lstrip` and `rstrip` take white space along.
use crate::failure::{Failure, Kind, Result};
use crate::open::{Added, Loaded, CONTROL, LSTRIP, NORMALIZED, RSTRIP, SINGLE_WORD};
use crate::span::{original, Trust};
use aho_corasick::{AhoCorasick, Input, MatchKind};
use regex::Regex;
use tokenizers::normalizer::Range;
use tokenizers::{NormalizedString, Normalizer, PreTokenizedString, Token, Tokenizer};

/// The texts of added tokens, to be found in one kind of text.
struct Set {
    automaton: AhoCorasick,
    patterns: Vec<Pattern>,
}

struct Pattern {
    id: u32,
    flags: u32,
    length: usize,
    /// Patterns that this one begins with, longest first.
    prefixes: Vec<usize>,
}

pub struct Sets {
    plain: Option<Set>,
    normalized: Option<Set>,
    word: Regex,
}

struct Found {
    id: u32,
    flags: u32,
    begin: usize,
    end: usize,
}

type Pieces = Vec<(NormalizedString, Option<Vec<Token>>)>;

fn damaged(message: impl ToString) -> Failure {
    Failure::new(Kind::Damaged, message.to_string())
}

/// For each text the others that it begins with. Sorted, they stand on the way from a text to the front.
fn find_prefixes(texts: &[String]) -> Vec<Vec<usize>> {
    let mut order: Vec<usize> = (0..texts.len()).collect();
    order.sort_by(|a, b| texts[*a].cmp(&texts[*b]));
    let mut found = vec![Vec::new(); texts.len()];
    let mut open: Vec<usize> = Vec::new();
    for at in order {
        while open.last().is_some_and(|last| !texts[at].starts_with(texts[*last].as_str())) {
            open.pop();
        }
        found[at] = open.iter().rev().copied().collect();
        open.push(at);
    }
    found
}

impl Set {
    fn make(texts: Vec<String>, tokens: Vec<&Added>) -> Result<Option<Set>> {
        if texts.is_empty() {
            return Ok(None);
        }
        let automaton = AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(&texts).map_err(damaged)?;
        let pattern = |((text, token), prefixes): ((&String, &&Added), Vec<usize>)| Pattern {
            id: token.id as u32,
            flags: token.flags,
            length: text.len(),
            prefixes,
        };
        let patterns = texts.iter().zip(&tokens).zip(find_prefixes(&texts)).map(pattern).collect();
        Ok(Some(Set { automaton, patterns }))
    }

    /// The leftmost and then longest token from `from` on that `allowed` lets pass.
    fn find(&self, text: &str, mut from: usize, allowed: impl Fn(&Found) -> bool) -> Option<Found> {
        loop {
            let hit = self.automaton.find(Input::new(text).range(from..))?;
            let longest = hit.pattern().as_usize();
            for at in std::iter::once(longest).chain(self.patterns[longest].prefixes.iter().copied()) {
                let Pattern { id, flags, length, .. } = self.patterns[at];
                let found = Found { id, flags, begin: hit.start(), end: hit.start() + length };
                if allowed(&found) {
                    return Some(found);
                }
            }
            from = hit.start() + 1;
        }
    }
}

impl Sets {
    pub fn make(tokenizer: &Tokenizer, added: &[Added]) -> Result<Sets> {
        let normalized_text = |token: &Added| -> Result<String> {
            let mut text = NormalizedString::from(token.text.as_str());
            if let Some(normalizer) = tokenizer.get_normalizer() {
                normalizer.normalize(&mut text).map_err(damaged)?;
            }
            Ok(text.get().to_string())
        };
        let (late, early): (Vec<&Added>, Vec<&Added>) = added.iter().partition(|token| token.flags & NORMALIZED != 0);
        let late_texts = late.iter().map(|token| normalized_text(token)).collect::<Result<Vec<_>>>()?;
        if late_texts.iter().any(String::is_empty) {
            return Err(damaged("added_tokens: the normaliser leaves nothing of one"));
        }
        let early_texts = early.iter().map(|token| token.text.clone()).collect();
        Ok(Sets {
            plain: Set::make(early_texts, early)?,
            normalized: Set::make(late_texts, late)?,
            word: Regex::new(r"^\w$").map_err(damaged)?,
        })
    }

    fn is_word(&self, c: Option<char>) -> bool {
        c.is_some_and(|c| self.word.is_match(c.encode_utf8(&mut [0; 4])))
    }

    fn stands_alone(&self, text: &str, found: &Found) -> bool {
        !self.is_word(text[..found.begin].chars().next_back()) && !self.is_word(text[found.end..].chars().next())
    }
}

/// Where the bytes end that a token found in normalised text stands for. A composed letter has the place of its first character alone;
/// the marks behind it that the token needs are its own as well, what the normaliser drops there is not.
fn end_with_marks(loaded: &Loaded, text: &NormalizedString, found: &Found, (begin, end): (usize, usize)) -> usize {
    let Some(normalizer) = loaded.tokenizer.get_normalizer() else { return end };
    let shift = text.offsets_original().0;
    let sentence = text.get();
    let behind = sentence[found.end..].chars().next().map(|c| found.end + c.len_utf8());
    let next = match behind {
        Some(behind) => original(text, found.end, behind).map_or(end, |(begin, _)| begin),
        None => shift + text.get_original().len(),
    };
    let wanted = &sentence[found.begin..found.end];
    let gives_token = |end: usize| {
        let of_text = text.get_original().get(begin - shift..end - shift);
        of_text.is_some_and(|bytes| {
            let mut alone = NormalizedString::from(bytes);
            normalizer.normalize(&mut alone).is_ok() && alone.get().contains(wanted)
        })
    };
    if next > end && !gives_token(end) && gives_token(next) {
        next
    } else {
        end
    }
}

/// Cuts a text at the tokens that are found in it.
fn split(loaded: &Loaded, set: &Option<Set>, text: NormalizedString, trust: Trust) -> Pieces {
    let Some(set) = set else { return vec![(text, None)] };
    let sentence = text.get();
    let is_late = loaded.sets.normalized.as_ref().is_some_and(|late| std::ptr::eq(set, late));
    let place = |found: &Found| {
        let (begin, end) = original(&text, found.begin, found.end)?;
        Some((begin, if is_late { end_with_marks(loaded, &text, found, (begin, end)) } else { end }))
    };
    let trusted =
        |found: &Found| found.flags & CONTROL == 0 || place(found).is_some_and(|(begin, end)| trust.covers(begin, end));
    let slice = |begin: usize, end: usize| text.slice(Range::Normalized(begin..end)).expect("a cut between characters");
    let mut pieces = Pieces::new();
    let (mut from, mut done) = (0, 0);
    while let Some(found) = set.find(sentence, from, trusted) {
        from = found.end;
        if found.flags & SINGLE_WORD != 0 && !loaded.sets.stands_alone(sentence, &found) {
            continue;
        }
        let (mut begin, mut end) = (found.begin, found.end);
        if found.flags & LSTRIP != 0 {
            begin = done.max(sentence[..begin].trim_end_matches(char::is_whitespace).len());
        }
        if found.flags & RSTRIP != 0 {
            end = sentence.len() - sentence[end..].trim_start_matches(char::is_whitespace).len();
        }
        if done < begin {
            pieces.push((slice(done, begin), None));
        }
        let token = Token::new(found.id, String::new(), place(&found).unwrap_or_default());
        pieces.push((slice(begin, end), Some(vec![token])));
        done = end;
    }
    if done != sentence.len() {
        pieces.push((slice(done, sentence.len()), None));
    }
    pieces
}

/// The parts of a text, not normalised yet, between the cuts that lie in it.
fn cut_apart(text: NormalizedString, cuts: &[u32]) -> Pieces {
    let (first, last) = text.offsets_original();
    let inside = cuts.iter().map(|cut| *cut as usize).filter(|cut| first < *cut && *cut < last).map(|cut| cut - first);
    let mut pieces = Pieces::new();
    let mut begin = 0;
    for end in inside.chain(std::iter::once(last - first)) {
        pieces.extend(text.slice(Range::Original(begin..end)).map(|part| (part, None)));
        begin = end;
    }
    pieces
}

/// What AddedVocabulary::extract_and_normalize does, under `trust`. The offsets of the tokens are those of their own text
/// in the whole one.
pub fn extract(loaded: &Loaded, text: &str, trust: Trust) -> tokenizers::Result<PreTokenizedString> {
    let mut pieces = PreTokenizedString::from(text);
    pieces.split(|_, part| Ok(split(loaded, &loaded.sets.plain, part, trust)))?;
    if !trust.cuts.is_empty() && loaded.tokenizer.get_normalizer().is_some() {
        pieces.split(|_, part| Ok(cut_apart(part, trust.cuts)))?;
    }
    pieces.split(|_, mut part| {
        if let Some(normalizer) = loaded.tokenizer.get_normalizer() {
            // The crate overlooks a failure as well.
            let _ = normalizer.normalize(&mut part);
        }
        Ok(split(loaded, &loaded.sets.normalized, part, trust))
    })?;
    Ok(pieces)
}
