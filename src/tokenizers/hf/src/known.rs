//! Tokens of words that were encoded before. The same words come again and again; the crate remembers them too, but
//! makes the text of each token anew. Begin reading at Known::get().

/// Of a word: id and bytes of each token.
pub type Tokens = Box<[(u32, u32)]>;

/// Longer ones seldom come again.
const LONGEST_WORD: usize = 64;
const SLOTS: usize = 1 << 13;

#[derive(Clone, Default)]
struct Slot {
    word: Box<[u8]>,
    tokens: Tokens,
}

/// Each word has one place, where it stays until another one comes there: words that were chosen to meet there cost no
/// more than what nobody remembers.
#[derive(Default)]
pub struct Known {
    slots: Vec<Slot>,
}

fn place(word: &[u8]) -> usize {
    const ODD: u64 = 0x9E37_79B9_7F4A_7C15;
    let mut sum = word.len() as u64;
    for chunk in word.chunks(8) {
        let mut bytes = [0; 8];
        bytes[..chunk.len()].copy_from_slice(chunk);
        sum = (sum.rotate_left(5) ^ u64::from_le_bytes(bytes)).wrapping_mul(ODD);
    }
    (sum >> 32) as usize % SLOTS
}

impl Known {
    pub fn get(&self, word: &str) -> Option<&[(u32, u32)]> {
        let slot = self.slots.get(place(word.as_bytes()))?;
        (*slot.word == *word.as_bytes()).then_some(&*slot.tokens)
    }

    pub fn put(&mut self, word: &str, tokens: &[(u32, u32)]) {
        if word.len() > LONGEST_WORD {
            return;
        }
        if self.slots.is_empty() {
            self.slots.resize(SLOTS, Slot::default());
        }
        self.slots[place(word.as_bytes())] = Slot { word: word.as_bytes().into(), tokens: tokens.into() };
    }
}
