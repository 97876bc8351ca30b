//! Places of a text: trusted ranges, and the bytes that a token made of a normalised text stands for.
use crate::open::Loaded;
use tokenizers::normalizer::Range;
use tokenizers::NormalizedString;

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Span {
    pub begin: u32,
    pub end: u32,
}

/// Where control tokens may come from, which ids are some besides those of the file, and where the text is cut before it is
/// normalised.
#[derive(Clone, Copy)]
pub struct Trust<'a> {
    pub ranges: &'a [Span],
    pub control: &'a [i32],
    pub cuts: &'a [u32],
}

/// All of a text is trusted.
pub const ALL: Trust<'static> = Trust { ranges: &[Span { begin: 0, end: u32::MAX }], control: &[], cuts: &[] };

impl Trust<'_> {
    /// Does all of [begin, end) lie in one range? Of nothing the answer is yes.
    pub fn covers(&self, begin: usize, end: usize) -> bool {
        if begin >= end {
            return true;
        }
        let after = self.ranges.partition_point(|range| range.begin as usize <= begin);
        after > 0 && end <= self.ranges[after - 1].end as usize
    }

    pub fn is_control(&self, loaded: &Loaded, id: u32) -> bool {
        loaded.is_control(id) || (!self.control.is_empty() && self.control.binary_search(&(id as i32)).is_ok())
    }
}

/// The bytes of the whole text that [begin, end) of the normalised one came from; None where there are none.
pub fn original(normalized: &NormalizedString, begin: usize, end: usize) -> Option<(usize, usize)> {
    if begin >= end {
        return None;
    }
    let shift = normalized.offsets_original().0;
    let range = normalized.convert_offsets(Range::Normalized(begin..end))?;
    (range.start <= range.end).then_some((shift + range.start, shift + range.end))
}

/// How far a run of normalised bytes that share their place in the text is followed.
const LONGEST_GROUP: usize = 64;

/// Where the normalised text is cut at `at` inside what one character of the text became, as with byte-level tokens or
/// after a dummy prefix: the place of the cut in the text. None where the parts cannot be told: "ﬁ" as "f" and "i".
pub fn cut_inside(loaded: &Loaded, normalized: &NormalizedString, at: usize) -> Option<usize> {
    let alignment = |i: usize| normalized.convert_offsets(Range::Normalized(i..i + 1));
    let group = alignment(at)?;
    let text = normalized.get();
    let mut first = at;
    while first > 0 && at - first < LONGEST_GROUP && alignment(first - 1)? == group {
        first -= 1;
    }
    let mut last = at;
    while last < text.len() && last - at < LONGEST_GROUP && alignment(last)? == group {
        last += 1;
    }
    let bytes = |range: std::ops::Range<usize>| loaded.bytes_of(text.as_bytes().get(range)?);
    let whole = bytes(first..last)?;
    let of_text = normalized.get_original().as_bytes().get(group.clone())?;
    if !whole.ends_with(of_text) {
        return None;
    }
    let prefix = whole.len() - of_text.len();
    let before = bytes(first..at)?.len().saturating_sub(prefix);
    Some(normalized.offsets_original().0 + group.start + before)
}
