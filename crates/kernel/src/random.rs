//! Keyed random streams: every key tuple of an episode has its own generator, so that drawing more numbers in one
//! place never changes another (human-layer specification, section 28).
//!
//! Nothing here may take entropy from the machine.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::rc::Rc;

use blake2::digest::consts::{U8, U32};
use blake2::{Blake2b, Digest};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{SeedableRng, TryRng};

const POSITIVE_I64: u64 = 0x7FFF_FFFF_FFFF_FFFF;

/// One part of a stream's name: an integer (an id, a step) or text (a name).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Key<'a> {
    /// An integer key.
    Int(i64),
    /// A text key, hashed as UTF-8.
    Text(Cow<'a, str>),
}

macro_rules! int_keys {
    ($($int:ty),*) => {$(
        impl From<$int> for Key<'_> {
            fn from(value: $int) -> Self {
                Self::Int(value as i64)
            }
        }
    )*};
}
// The mask of `stable_int` drops the sign bit, so reinterpreting the widest types loses nothing more.
int_keys!(i8, i16, i32, i64, isize, u8, u16, u32, u64, usize);

impl<'a> From<&'a str> for Key<'a> {
    fn from(value: &'a str) -> Self {
        Self::Text(Cow::Borrowed(value))
    }
}

impl<'a> From<&'a String> for Key<'a> {
    fn from(value: &'a String) -> Self {
        Self::Text(Cow::Borrowed(value))
    }
}

impl From<String> for Key<'_> {
    fn from(value: String) -> Self {
        Self::Text(Cow::Owned(value))
    }
}

impl<'a> From<&'a Key<'_>> for Key<'a> {
    fn from(value: &'a Key<'_>) -> Self {
        match value {
            Key::Int(int) => Self::Int(*int),
            Key::Text(text) => Self::Text(Cow::Borrowed(text)),
        }
    }
}

/// A non-negative 63-bit integer that is the same for the same key on every machine and in every release.
///
/// Integers keep their low 63 bits; text is its 8-byte BLAKE2b digest read big-endian, masked to 63 bits.
pub fn stable_int<'a>(key: impl Into<Key<'a>>) -> u64 {
    let wide = match key.into() {
        Key::Int(int) => int as u64,
        Key::Text(text) => u64::from_be_bytes(Blake2b::<U8>::digest(text.as_bytes()).into()),
    };
    wide & POSITIVE_I64
}

/// The random streams of one episode.
///
/// The generator of a key tuple is ChaCha8 seeded with the 32-byte BLAKE2b digest of the episode seed followed by the
/// [`stable_int`] of every part, each as 8 big-endian bytes. Tuples of different lengths therefore never meet, and the
/// order of first use does not matter.
#[derive(Clone, Debug)]
pub struct KeyedStreams {
    seed: u64,
    streams: BTreeMap<[u8; 32], ChaCha8Rng>,
}

impl KeyedStreams {
    /// The streams of the episode with this seed.
    pub fn new(seed: u64) -> Self {
        Self { seed, streams: BTreeMap::new() }
    }

    /// The episode seed.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// A generator at the start of the stream of `keys`: a pure function of the episode seed and the keys.
    pub fn fresh(&self, keys: &[Key<'_>]) -> ChaCha8Rng {
        ChaCha8Rng::from_seed(self.stream_seed(keys))
    }

    /// The stream of `keys`, which goes on where the last caller left it until the episode ends.
    pub fn get(&mut self, keys: &[Key<'_>]) -> &mut ChaCha8Rng {
        let seed = self.stream_seed(keys);
        self.streams.entry(seed).or_insert_with(|| ChaCha8Rng::from_seed(seed))
    }

    fn stream_seed(&self, keys: &[Key<'_>]) -> [u8; 32] {
        let mut hash = Blake2b::<U32>::new_with_prefix(self.seed.to_be_bytes());
        for key in keys {
            hash.update(stable_int(key).to_be_bytes());
        }
        hash.finalize().into()
    }
}

/// A handle to the random stream of a system. Clones draw from the same stream, so it can be kept across waits.
#[derive(Clone, Debug)]
pub struct SystemRng(Rc<RefCell<ChaCha8Rng>>);

impl SystemRng {
    pub(crate) fn new(rng: ChaCha8Rng) -> Self {
        Self(Rc::new(RefCell::new(rng)))
    }
}

impl TryRng for SystemRng {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        self.0.borrow_mut().try_next_u32()
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        self.0.borrow_mut().try_next_u64()
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        self.0.borrow_mut().try_fill_bytes(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rand::Rng;

    #[test]
    fn stable_int_has_its_published_values() {
        assert_eq!(stable_int("jackal"), 2_072_808_075_080_452_421);
        assert_eq!(stable_int("jackal") & 0x7FFF_FFFF, 1_253_787_973);
        assert_eq!(stable_int("rob"), 5_486_597_580_851_281_637);
        assert_eq!(stable_int("rob") & 0x7FFF_FFFF, 942_178_021);
        assert_eq!(stable_int(7), 7);
        assert_eq!(stable_int(-1_i64), POSITIVE_I64);
        let key = Key::from("rob");
        assert_eq!(stable_int(&key), stable_int(String::from("rob")));
    }

    #[test]
    fn a_cached_stream_goes_on_and_a_fresh_one_starts_again() {
        let mut streams = KeyedStreams::new(7);
        let keys = ["gesture".into(), 3.into()];
        let first = streams.get(&keys).next_u64();
        let second = streams.get(&keys).next_u64();
        let mut fresh = streams.fresh(&keys);
        assert_eq!((fresh.next_u64(), fresh.next_u64()), (first, second));
        assert_ne!(first, second);
    }

    /// Pins the derivation: changing it changes every recorded run.
    #[test]
    fn the_derivation_of_a_stream_is_frozen() {
        let streams = KeyedStreams::new(7);
        assert_eq!(streams.fresh(&["gesture".into(), 3.into()]).next_u64(), 15_850_949_728_442_316_851);
    }

    proptest! {
        #[test]
        fn draws_elsewhere_do_not_matter(seed: u64, a in "[a-z]{0,8}", b: i64, draws in 0..20_usize) {
            let mut streams = KeyedStreams::new(seed);
            for _ in 0..draws {
                streams.get(&[b.into()]).next_u64();
            }
            let drawn = streams.get(&[Key::from(&a), b.into()]).next_u64();
            prop_assert_eq!(drawn, KeyedStreams::new(seed).fresh(&[Key::from(&a), b.into()]).next_u64());
            prop_assert_ne!(drawn, KeyedStreams::new(seed).fresh(&[Key::from(&a)]).next_u64());
            prop_assert_ne!(drawn, KeyedStreams::new(seed ^ 1).fresh(&[Key::from(&a), b.into()]).next_u64());
        }
    }
}
