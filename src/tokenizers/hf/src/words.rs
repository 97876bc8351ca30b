//! Text cut into words by an automaton, where that is known to cut as the regular expression does that a tokenizer.json
//! has: in a tenth of the time. Begin reading at Words::of().
//!
//! The usual expressions list kinds of words, and end with `\s+(?!\S)|\s+`: of several blanks before a word the last is
//! the word's own. No automaton looks ahead, so this end is done here. All else of such an expression is made of parts
//! that both engines read alike, which shape() knows; what has other parts stays with the crate.
use regex_automata::hybrid::dfa::DFA;
use regex_automata::hybrid::regex::{Cache, Regex};
use regex_automata::nfa::thompson;
use regex_automata::{Anchored, Input, MatchKind};

/// Ends of expressions that leave a word its own blank; the last part alone takes the others.
const ENDS: [&str; 2] = [r"|\s+(?!\S)|\s+", r"|\s+(?!\S)|\s"];
const BLANKS: &str = r"\s+";
/// What may stand where letters are taken as capital ones and small ones: the engines differ in which letters are the
/// same as two others, and these have none.
const CONTRACTIONS: [&str; 3] = ["'s|'t|'re|'ve|'m|'ll|'d", "[sdmt]|ll|ve|re", "'(?:[sdmt]|ll|ve|re)"];
/// Larger automata are not worth it.
const MOST_BYTES: usize = 10 << 20;

pub struct Words {
    automaton: Regex,
}

/// What follows in a text.
pub enum Next {
    /// A word, and where it stands.
    Word(usize, usize),
    /// None any more.
    End,
    /// Only the crate knows.
    Unknown,
}

impl Words {
    /// None: only the crate knows how this expression cuts.
    pub fn of(expression: &str) -> Option<Words> {
        let end = ENDS.iter().find(|end| expression.ends_with(**end));
        let kinds = &expression[..expression.len() - end.map_or(0, |end| end.len())];
        if !shape(kinds) {
            return None;
        }
        let parts = if end.is_some() { vec![kinds, BLANKS] } else { vec![kinds] };
        let automaton = Regex::builder()
            .dfa(DFA::config().match_kind(MatchKind::LeftmostFirst).cache_capacity(MOST_BYTES))
            .thompson(thompson::Config::new().nfa_size_limit(Some(MOST_BYTES)))
            .build_many(&parts)
            .ok()?;
        Some(Words { automaton })
    }

    /// What next() builds of the automaton, as far as texts have needed it: one for each thread at work.
    pub fn cache(&self) -> Cache {
        self.automaton.create_cache()
    }

    /// The next word behind `at`. Most begin right there, which is asked first: then nobody has to find their beginning.
    pub fn next(&self, cache: &mut Cache, text: &str, at: usize) -> Next {
        let input = Input::new(text).range(at..);
        let here = self.automaton.try_search(cache, &input.clone().anchored(Anchored::Yes));
        let found = match here {
            Ok(None) => self.automaton.try_search(cache, &input),
            known => known,
        };
        match found {
            Ok(Some(found)) if !found.is_empty() => {
                let is_blank = found.pattern().as_usize() == 1;
                let end = if is_blank { end_of_blanks(text, found.start(), found.end()) } else { found.end() };
                Next::Word(found.start(), end)
            }
            Ok(None) => Next::End,
            _ => Next::Unknown,
        }
    }
}

/// Blanks before a word leave it the last of them, unless that is all.
fn end_of_blanks(text: &str, begin: usize, end: usize) -> usize {
    if end == text.len() {
        return end;
    }
    let last = text[begin..end].char_indices().next_back().map_or(0, |(at, _)| at);
    if last > 0 {
        begin + last
    } else {
        end
    }
}

/// Whether an expression has only parts that both engines read alike: characters, classes of characters by their general
/// category, groups, alternatives and how often something stands. What looks around, goes back, or depends on how an
/// engine takes letters and lines is none of them.
fn shape(expression: &str) -> bool {
    let mut rest = expression.chars().peekable();
    let mut in_class = false;
    let mut repeats = false;
    while let Some(c) = rest.next() {
        let repeated = std::mem::take(&mut repeats);
        let fits = match c {
            '\\' => escape(&mut rest),
            '[' if !in_class => {
                in_class = true;
                rest.next_if_eq(&'^');
                true
            }
            ']' if in_class => {
                in_class = false;
                true
            }
            '[' | ']' => false,
            '&' if in_class => rest.peek() != Some(&'&'),
            '-' | '~' if in_class => rest.peek() != Some(&c),
            _ if in_class => true,
            '(' => group(&mut rest),
            ')' | '|' => true,
            '?' | '+' | '*' => {
                repeats = true;
                !repeated
            }
            '{' => {
                repeats = true;
                !repeated && count(&mut rest)
            }
            '^' | '$' | '.' | '}' => false,
            _ => true,
        };
        if !fits {
            return false;
        }
    }
    !in_class
}

type Rest<'a> = std::iter::Peekable<std::str::Chars<'a>>;

/// What stands behind a backslash: a character, a blank, or a general category in one or two letters.
fn escape(rest: &mut Rest) -> bool {
    match rest.next() {
        Some('s' | 'S' | 'r' | 'n' | 't') => true,
        Some('p' | 'P') => {
            let name: String = rest.by_ref().take_while(|c| *c != '}').collect();
            let letters = name.strip_prefix('{').unwrap_or_default();
            matches!(
                letters,
                "L" | "Lu"
                    | "Ll"
                    | "Lt"
                    | "Lm"
                    | "Lo"
                    | "M"
                    | "Mn"
                    | "Mc"
                    | "Me"
                    | "N"
                    | "Nd"
                    | "Nl"
                    | "No"
                    | "P"
                    | "S"
                    | "Z"
            )
        }
        Some(c) => c.is_ascii_punctuation(),
        None => false,
    }
}

/// `(?:`, a group that is counted, which is not needed, or `(?i:` and one of CONTRACTIONS.
fn group(rest: &mut Rest) -> bool {
    if rest.next_if_eq(&'?').is_none() {
        return true;
    }
    if rest.next_if_eq(&'i').is_none() {
        return rest.next() == Some(':');
    }
    let behind: String = rest.clone().collect();
    let is_next = |one: &&&str| {
        behind.strip_prefix(':').and_then(|text| text.strip_prefix(**one)).is_some_and(|end| end.starts_with(')'))
    };
    CONTRACTIONS.iter().find(is_next).is_some_and(|one| rest.nth(one.len()).is_some())
}

/// `{3}`, `{1,3}` or `{2,}`, which is there once the brace is.
fn count(rest: &mut Rest) -> bool {
    let inside: String = rest.by_ref().take_while(|c| *c != '}').collect();
    let (least, most) = inside.split_once(',').unwrap_or((&inside, "1"));
    let is_number = |text: &str| !text.is_empty() && text.len() < 4 && text.bytes().all(|b| b.is_ascii_digit());
    is_number(least) && (most.is_empty() || is_number(most))
}
