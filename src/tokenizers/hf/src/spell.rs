//! Words under trust: no control token from bytes that are not trusted, even where the model itself can spell one.
//!
//! Models can: Unigram and WordLevel have </s> among their pieces, BPE with ignore_merges takes a whole word from its
//! vocabulary. Such a word is cut inside the control token's text, and the parts go to the model one by one. The
//! token of unknown text may stand for unknown text, but not for its own name.
use crate::encode::{Output, Part};
use crate::failure::{Failure, Kind};
use crate::open::Loaded;
use crate::span::{original, Trust};
use tokenizers::models::ModelWrapper;
use tokenizers::normalizer::Range;
use tokenizers::{Model, NormalizedString, Result};

/// How often parts are cut into parts before each of their characters goes to the model alone. Each round reads the
/// text once, so that a text made to be cut again and again costs no more than this many encodings.
const ROUNDS: usize = 8;

struct Speller<'a, 'b> {
    output: &'a mut Output<'b>,
    loaded: &'b Loaded,
    word: &'a NormalizedString,
    trust: Trust<'a>,
}

pub fn encode_word(output: &mut Output, word: &NormalizedString, trust: Trust) -> Result<()> {
    let loaded = output.loaded;
    Speller { output, loaded, word, trust }.encode(0..word.get().len(), ROUNDS)
}

impl Speller<'_, '_> {
    fn text(&self, part: Part) -> &str {
        &self.word.get()[part]
    }

    fn encode(&mut self, part: Part, rounds: usize) -> Result<()> {
        let tokens = self.loaded.tokenizer.get_model().tokenize(self.text(part.clone()))?;
        if !tokens.iter().any(|token| self.trust.is_control(self.loaded, token.id)) {
            self.output.push_word(self.word, part, &tokens);
            return Ok(());
        }
        self.encode_checked(part, tokens, rounds)
    }

    /// There are control tokens among `tokens`: where one may not be, the part is cut.
    fn encode_checked(&mut self, part: Part, tokens: Vec<tokenizers::Token>, rounds: usize) -> Result<()> {
        let exact = self.has_exact_places(&part, &tokens);
        let place = |token: &tokenizers::Token| match exact {
            true => part.start + token.offsets.0..part.start + token.offsets.1,
            false => part.clone(),
        };
        let faults: Vec<Part> = tokens
            .iter()
            .map(|token| (token.id, place(token)))
            .filter(|(id, place)| self.is_fault(*id, place))
            .map(|(_, place)| place)
            .collect();
        if faults.is_empty() {
            self.output.push_word(self.word, part, &tokens);
            return Ok(());
        }
        let cuts = if exact && rounds > 0 { self.cuts(&part, &faults) } else { self.all_cuts(&part) };
        let mut begin = part.start;
        for end in cuts.into_iter().chain(std::iter::once(part.end)) {
            self.encode_part(begin..end, rounds.saturating_sub(1))?;
            begin = end;
        }
        Ok(())
    }

    fn encode_part(&mut self, part: Part, rounds: usize) -> Result<()> {
        if self.text(part.clone()).chars().nth(1).is_some() {
            return self.encode(part, rounds);
        }
        let tokens = self.loaded.tokenizer.get_model().tokenize(self.text(part.clone()))?;
        let fault = tokens.iter().any(|token| self.is_fault(token.id, &part));
        if fault {
            return self.encode_letter(part);
        }
        self.output.push_word(self.word, part, &tokens);
        Ok(())
    }

    /// May the token `id` not stand for this part of the word?
    fn is_fault(&self, id: u32, place: &Part) -> bool {
        if !self.trust.is_control(self.loaded, id) {
            return false;
        }
        if self.loaded.unk == Some(id as i32) && !self.names_unk(place.clone()) {
            return false;
        }
        original(self.word, place.start, place.end).is_some_and(|(begin, end)| !self.trust.covers(begin, end))
    }

    fn names_unk(&self, place: Part) -> bool {
        let Some(unk) = &self.loaded.unk_text else { return false };
        let of_text = self.word.get_range_original(Range::Normalized(place.clone()));
        self.text(place).contains(unk.as_str()) || of_text.is_some_and(|text| text.contains(unk.as_str()))
    }

    /// BPE counts on from token to token, and is wrong behind a character that it drops, or writes as bytes while an
    /// unknown one waits.
    fn has_exact_places(&self, part: &Part, tokens: &[tokenizers::Token]) -> bool {
        if !matches!(self.loaded.tokenizer.get_model(), ModelWrapper::BPE(_)) {
            return true;
        }
        let has_unk = || tokens.iter().any(|token| self.loaded.unk == Some(token.id as i32));
        let end = tokens.last().map_or(0, |token| token.offsets.1);
        let text = self.word.get();
        end == part.len()
            && !(self.loaded.byte_fallback && has_unk())
            && tokens.iter().all(|token| {
                !self.trust.is_control(self.loaded, token.id)
                    || text.is_char_boundary(part.start + token.offsets.0)
                        && text.is_char_boundary(part.start + token.offsets.1)
            })
    }

    /// One cut behind the first character of each fault, or on both sides of it where it is all there is; inside a
    /// token of unknown text behind the first character of each name of it.
    fn cuts(&self, part: &Part, faults: &[Part]) -> Vec<usize> {
        let mut cuts = Vec::new();
        for fault in faults {
            let text = self.text(fault.clone());
            let first = |text: &str| text.chars().next().map_or(0, char::len_utf8);
            if first(text) == text.len() {
                cuts.extend([fault.start, fault.end]);
            } else if let Some(unk) = self.loaded.unk_text.as_ref().filter(|unk| text.contains(unk.as_str())) {
                let names = text.match_indices(unk.as_str());
                cuts.extend(names.flat_map(|(at, name)| {
                    let begin = fault.start + at;
                    let whole = first(name) == name.len();
                    [if whole { begin } else { begin + first(name) }, begin + first(name)]
                }));
            } else {
                cuts.push(fault.start + first(text));
            }
        }
        cuts.retain(|cut| part.start < *cut && *cut < part.end);
        cuts.sort_unstable();
        cuts.dedup();
        cuts
    }

    fn all_cuts(&self, part: &Part) -> Vec<usize> {
        self.text(part.clone()).char_indices().skip(1).map(|(at, _)| part.start + at).collect()
    }

    /// One character whose only token is a control token: its bytes, or unknown text.
    fn encode_letter(&mut self, part: Part) -> Result<()> {
        if let Some(bytes) = self.byte_tokens(part.clone()) {
            let tokens: Vec<_> = bytes
                .into_iter()
                .enumerate()
                .map(|(at, id)| tokenizers::Token::new(id, String::new(), (at, at + 1)))
                .collect();
            self.output.push_word(self.word, part, &tokens);
            return Ok(());
        }
        let unk = self.loaded.unk.filter(|_| !self.names_unk(part.clone()));
        let Some(unk) = unk else {
            let letter = self.text(part);
            let message = format!("the tokenizer can write {letter:?} only as a control token, which it is not here");
            return Err(Box::new(Failure::new(Kind::Refused, message)));
        };
        self.output.push_one(self.word, unk as u32, part.start, part.end);
        self.output.tell_apart(self.word, part.start);
        Ok(())
    }

    fn byte_tokens(&self, part: Part) -> Option<Vec<u32>> {
        if !self.loaded.byte_fallback {
            return None;
        }
        let model = self.loaded.tokenizer.get_model();
        let token = |byte: u8| model.token_to_id(&format!("<0x{byte:02X}>"));
        let free = |id: &u32| !self.trust.is_control(self.loaded, *id);
        self.text(part).bytes().map(|byte| token(byte).filter(free)).collect()
    }
}
