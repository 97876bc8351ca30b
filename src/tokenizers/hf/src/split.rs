//! Text cut into words by regular expressions, for tokenizers that are no tokenizer.json: by the engine that
//! tokenizer.json files are read with. Begin reading at Splitter::split.
use crate::failure::{Failure, Kind, Result};
use crate::span::Span;
use onig::{Regex, RegexOptions, Region, SearchOptions, Syntax};

pub const LARGEST_TEXT: usize = 256 << 20;

pub struct Splitter {
    patterns: Vec<Regex>,
}

fn compile(pattern: &str) -> Result<Regex> {
    // Of the syntaxes the one with possessive quantifiers, intervals included: tiktoken's patterns have them.
    Regex::with_options(pattern, RegexOptions::REGEX_OPTION_NONE, Syntax::java())
        .map_err(|error| Failure::new(Kind::Damaged, format!("the pattern {pattern:?}: {}", error.description())))
}

impl Splitter {
    pub fn new(patterns: &[&str]) -> Result<Self> {
        let patterns = patterns.iter().map(|pattern| compile(pattern)).collect::<Result<_>>()?;
        Ok(Splitter { patterns })
    }

    /// The words of `text`, in order: each pattern cuts what the ones before left, as if it were all there is. What it
    /// does not match is a word as well, or is dropped (`drop_rest`).
    pub fn split(&self, text: &str, drop_rest: bool) -> Result<Vec<Span>> {
        if text.len() > LARGEST_TEXT {
            return Err(Failure::new(Kind::TooLarge, "a text of over 256 MiB"));
        }
        let mut words = vec![Span { begin: 0, end: text.len() as u32 }];
        for pattern in &self.patterns {
            let mut cut = Vec::with_capacity(words.len().max(text.len() / 5));
            for word in words {
                cut_word(pattern, text, word, drop_rest, &mut cut)?;
            }
            words = cut;
        }
        words.retain(|word| word.begin < word.end);
        Ok(words)
    }
}

fn cut_word(pattern: &Regex, text: &str, word: Span, drop_rest: bool, cut: &mut Vec<Span>) -> Result<()> {
    let part = &text[word.begin as usize..word.end as usize];
    let mut put = |begin: usize, end: usize| {
        if begin < end {
            cut.push(Span { begin: word.begin + begin as u32, end: word.begin + end as u32 });
        }
    };
    let (mut at, mut from) = (0, 0);
    let mut region = Region::new();
    while from <= part.len() {
        region.clear();
        let options = SearchOptions::SEARCH_OPTION_NONE;
        let found = pattern.search_with_param(part, from, part.len(), options, Some(&mut region), Default::default());
        let found = found.map_err(|error| {
            Failure::new(Kind::Refused, format!("splitting the text into words: {}", error.description()))
        })?;
        let Some((begin, end)) = found.and_then(|_| region.pos(0)) else { break };
        if !drop_rest {
            put(at, begin);
        }
        put(begin, end);
        at = end;
        let empty = part[end..].chars().next().map_or(1, char::len_utf8);
        from = if begin == end { end + empty } else { end };
    }
    if !drop_rest {
        put(at, part.len());
    }
    Ok(())
}
