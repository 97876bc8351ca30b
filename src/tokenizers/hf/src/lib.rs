//! Hugging Face's `tokenizers` behind the C ABI of hf_abi.h, which documents every function.
//!
//! This file is the door and nothing else: pointers become slices, results become what C reads, panics become errors.
//! Read on in open.rs (a file becomes a `Loaded`), encode.rs (a text becomes tokens), extract.rs (which added tokens
//! are recognised), spell.rs (what to do when the model itself spells a control token), dropped.rs (which text becomes
//! no token). split.rs is for other tokenizers.
mod dropped;
mod encode;
mod explain;
mod extract;
mod failure;
mod known;
mod open;
mod piece;
mod quick;
mod shape;
mod span;
mod spell;
mod split;
mod words;

use failure::{guarded, Failure, Kind};
use open::Loaded;
use std::slice;

#[repr(C)]
pub struct Bytes {
    data: *mut u8,
    size: usize,
}

#[repr(C)]
pub struct CError {
    kind: u32,
    line: u32,
    column: u64,
    message: Bytes,
}

#[repr(C)]
pub struct CAdded {
    id: i32,
    flags: u32,
    text: *const u8,
    size: usize,
}

#[repr(C)]
pub struct CFacts {
    kind: *const u8,
    kind_size: usize,
    vocabulary_size: u64,
    unk: i32,
    added: *const CAdded,
    added_count: usize,
    before: *const i32,
    before_count: usize,
    after: *const i32,
    after_count: usize,
    notes: *const u8,
    notes_size: usize,
    shape: *const u8,
    shape_size: usize,
    markers: *const i32,
    marker_count: usize,
    keeps_text: u32,
}

/// A token as C reads it; also what the rest of this crate makes.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Token {
    pub id: i32,
    pub begin: u32,
    pub end: u32,
    pub added: u32,
}

#[repr(C)]
pub struct CTokens {
    data: *mut Token,
    size: usize,
    capacity: usize,
}

#[repr(C)]
pub struct CWays {
    guarded: u32,
    trusted: *const span::Span,
    trusted_count: usize,
    control: *const i32,
    control_count: usize,
    cuts: *const u32,
    cut_count: usize,
}

/// What C holds: the tokenizer, and its added tokens as C reads them.
pub struct Handle {
    loaded: Loaded,
    added: Vec<CAdded>,
}

// The pointers in `added` lead to texts that `loaded` owns and nobody changes.
unsafe impl Sync for Handle {}
unsafe impl Send for Handle {}

/// A slice of C's. Null is the empty one.
unsafe fn view<'a, T>(data: *const T, size: usize) -> &'a [T] {
    if data.is_null() || size == 0 {
        &[]
    } else {
        slice::from_raw_parts(data, size)
    }
}

fn give(bytes: Vec<u8>) -> Bytes {
    let owned = bytes.into_boxed_slice();
    let size = owned.len();
    Bytes { data: Box::into_raw(owned) as *mut u8, size }
}

unsafe fn report(failure: Failure, into: *mut CError) {
    let made = CError {
        kind: failure.kind as u32,
        line: failure.line,
        column: failure.column,
        message: give(failure.message.into_bytes()),
    };
    into.write(made);
}

fn added_for_c(loaded: &Loaded) -> Vec<CAdded> {
    let convert = |token: &open::Added| CAdded {
        id: token.id,
        flags: token.flags,
        text: token.text.as_ptr(),
        size: token.text.len(),
    };
    loaded.added.iter().map(convert).collect()
}

/// # Safety
/// As in hf_abi.h.
#[no_mangle]
pub unsafe extern "C" fn parlance_hf_open(
    json: *const u8,
    size: usize,
    more: *const CAdded,
    more_count: usize,
    error: *mut CError,
) -> *mut Handle {
    let opened = guarded(Kind::Panic, || {
        let text = |token: &CAdded| String::from_utf8_lossy(view(token.text, token.size)).into_owned();
        let as_added = |token: &CAdded| open::Added { id: token.id, flags: token.flags, text: text(token) };
        let more: Vec<open::Added> = view(more, more_count).iter().map(as_added).collect();
        let loaded = open::open(view(json, size), &more)?;
        let mut handle = Box::new(Handle { loaded, added: Vec::new() });
        handle.added = added_for_c(&handle.loaded);
        Ok(handle)
    });
    match opened {
        Ok(handle) => Box::into_raw(handle),
        Err(failure) => {
            report(failure, error);
            std::ptr::null_mut()
        }
    }
}

/// # Safety
/// As in hf_abi.h.
#[no_mangle]
pub unsafe extern "C" fn parlance_hf_free(tokenizer: *mut Handle) {
    if !tokenizer.is_null() {
        let _ = guarded(Kind::Panic, || {
            drop(Box::from_raw(tokenizer));
            Ok(())
        });
    }
}

/// # Safety
/// As in hf_abi.h.
#[no_mangle]
pub unsafe extern "C" fn parlance_hf_get_facts(tokenizer: *const Handle, into: *mut CFacts) {
    let handle = &*tokenizer;
    let loaded = &handle.loaded;
    into.write(CFacts {
        kind: loaded.kind.as_ptr(),
        kind_size: loaded.kind.len(),
        vocabulary_size: loaded.vocabulary_size,
        unk: loaded.unk.unwrap_or(-1),
        added: handle.added.as_ptr(),
        added_count: handle.added.len(),
        before: loaded.before.as_ptr(),
        before_count: loaded.before.len(),
        after: loaded.after.as_ptr(),
        after_count: loaded.after.len(),
        notes: loaded.notes.as_ptr(),
        notes_size: loaded.notes.len(),
        shape: loaded.shape.as_ptr(),
        shape_size: loaded.shape.len(),
        markers: loaded.markers.as_ptr(),
        marker_count: loaded.markers.len(),
        keeps_text: loaded.keeps_text as u32,
    });
}

/// # Safety
/// As in hf_abi.h.
#[no_mangle]
pub unsafe extern "C" fn parlance_hf_encode(
    tokenizer: *const Handle,
    text: *const u8,
    size: usize,
    ways: *const CWays,
    into: *mut CTokens,
    dropped: *mut CSpans,
    error: *mut CError,
) -> i32 {
    let loaded = &(*tokenizer).loaded;
    let ways = &*ways;
    let trust = (ways.guarded != 0).then(|| span::Trust {
        ranges: view(ways.trusted, ways.trusted_count),
        control: view(ways.control, ways.control_count),
        cuts: view(ways.cuts, ways.cut_count),
    });
    match guarded(Kind::Panic, || encode::encode(loaded, view(text, size), trust, !dropped.is_null())) {
        Ok(encoded) => {
            if !dropped.is_null() {
                dropped.write(spans_for_c(encoded.dropped));
            }
            let mut tokens = std::mem::ManuallyDrop::new(encoded.tokens);
            let given = CTokens { data: tokens.as_mut_ptr(), size: tokens.len(), capacity: tokens.capacity() };
            into.write(given);
            1
        }
        Err(failure) => {
            report(failure, error);
            0
        }
    }
}

/// # Safety
/// As in hf_abi.h.
#[no_mangle]
pub unsafe extern "C" fn parlance_hf_token_text(tokenizer: *const Handle, id: i32) -> Bytes {
    let loaded = &(*tokenizer).loaded;
    give(guarded(Kind::Panic, || Ok(piece::token_text(loaded, id))).unwrap_or_default())
}

/// # Safety
/// As in hf_abi.h.
#[no_mangle]
pub unsafe extern "C" fn parlance_hf_bytes_free(bytes: Bytes) {
    if !bytes.data.is_null() {
        drop(Box::from_raw(std::ptr::slice_from_raw_parts_mut(bytes.data, bytes.size)));
    }
}

/// # Safety
/// As in hf_abi.h.
#[no_mangle]
pub unsafe extern "C" fn parlance_hf_tokens_free(tokens: CTokens) {
    if !tokens.data.is_null() {
        drop(Vec::from_raw_parts(tokens.data, tokens.size, tokens.capacity));
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct CText {
    data: *const u8,
    size: usize,
}

#[repr(C)]
pub struct CSpans {
    data: *mut span::Span,
    size: usize,
    capacity: usize,
}

fn spans_for_c(spans: Vec<span::Span>) -> CSpans {
    let mut spans = std::mem::ManuallyDrop::new(spans);
    CSpans { data: spans.as_mut_ptr(), size: spans.len(), capacity: spans.capacity() }
}

/// # Safety
/// As in hf_abi.h.
#[no_mangle]
pub unsafe extern "C" fn parlance_hf_splitter_open(
    patterns: *const CText,
    count: usize,
    error: *mut CError,
) -> *mut split::Splitter {
    let opened = guarded(Kind::Panic, || {
        let texts = view(patterns, count).iter().map(|text| encode::utf8(view(text.data, text.size)));
        split::Splitter::new(&texts.collect::<failure::Result<Vec<_>>>()?)
    });
    match opened {
        Ok(splitter) => Box::into_raw(Box::new(splitter)),
        Err(failure) => {
            report(failure, error);
            std::ptr::null_mut()
        }
    }
}

/// # Safety
/// As in hf_abi.h.
#[no_mangle]
pub unsafe extern "C" fn parlance_hf_splitter_free(splitter: *mut split::Splitter) {
    if !splitter.is_null() {
        drop(Box::from_raw(splitter));
    }
}

/// # Safety
/// As in hf_abi.h.
#[no_mangle]
pub unsafe extern "C" fn parlance_hf_split(
    splitter: *const split::Splitter,
    text: CText,
    drop_rest: u32,
    into: *mut CSpans,
    error: *mut CError,
) -> i32 {
    let words = guarded(Kind::Panic, || (*splitter).split(encode::utf8(view(text.data, text.size))?, drop_rest != 0));
    match words {
        Ok(words) => {
            into.write(spans_for_c(words));
            1
        }
        Err(failure) => {
            report(failure, error);
            0
        }
    }
}

/// # Safety
/// As in hf_abi.h.
#[no_mangle]
pub unsafe extern "C" fn parlance_hf_spans_free(spans: CSpans) {
    if !spans.data.is_null() {
        drop(Vec::from_raw_parts(spans.data, spans.size, spans.capacity));
    }
}
