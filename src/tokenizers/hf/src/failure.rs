//! Errors of this crate, and how a panic of the crates below becomes one.
//!
//! Rust prints a panic before it unwinds, through a hook that the whole process shares. Ours is put in front of the one
//! that is there, once, and says nothing while a call of this crate runs on the thread: it keeps the message instead.
use std::cell::RefCell;
use std::panic::{self, AssertUnwindSafe, PanicHookInfo};
use std::sync::Once;

/// The numbers of hf_abi.h.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    Json = 1,
    Damaged = 2,
    NotUtf8 = 3,
    Refused = 4,
    TooLarge = 5,
    Panic = 6,
}

#[derive(Debug)]
pub struct Failure {
    pub kind: Kind,
    pub line: u32,
    pub column: u64,
    pub message: String,
}

impl Failure {
    pub fn new(kind: Kind, message: impl Into<String>) -> Self {
        Failure { kind, line: 0, column: 0, message: message.into() }
    }
}

pub type Result<T> = std::result::Result<T, Failure>;

thread_local! {
    /// None: no call of ours runs on this thread. Some: what the last panic inside the call said.
    static SAID: RefCell<Option<String>> = const { RefCell::new(None) };
}

fn message_of(info: &PanicHookInfo<'_>) -> String {
    let payload = info.payload();
    let said = payload.downcast_ref::<&str>().map(|text| text.to_string());
    said.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_else(|| "a panic".to_string())
}

fn install_hook() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let other = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            let ours = SAID.try_with(|said| match said.borrow_mut().as_mut() {
                Some(text) => {
                    *text = message_of(info);
                    true
                }
                None => false,
            });
            if !ours.unwrap_or(false) {
                other(info);
            }
        }));
    });
}

/// Runs `call`; a panic in it is a failure of kind `kind`.
pub fn guarded<T>(kind: Kind, call: impl FnOnce() -> Result<T>) -> Result<T> {
    install_hook();
    let outer = SAID.with(|said| said.borrow_mut().replace(String::new()));
    let ended = panic::catch_unwind(AssertUnwindSafe(call));
    let said = SAID.with(|said| std::mem::replace(&mut *said.borrow_mut(), outer));
    ended.unwrap_or_else(|payload| {
        // A payload may panic when it is dropped, with another that might again: that one is never dropped.
        if let Err(again) = panic::catch_unwind(AssertUnwindSafe(|| drop(payload))) {
            std::mem::forget(again);
        }
        let message = format!("the library `tokenizers` gave up: {}", said.unwrap_or_default());
        Err(Failure::new(kind, message))
    })
}

impl std::fmt::Display for Failure {
    fn fmt(&self, into: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        into.write_str(&self.message)
    }
}

impl std::error::Error for Failure {}
