//! The encoding of ROS 2 messages: classic CDR.
//!
//! A number is aligned to its size, counted from behind the four bytes that name the encoding.

/// Bytes that name the encoding.
const ENCAPSULATION: usize = 4;

/// A number that fits into a message.
pub trait Number: Copy {
    /// Appends it.
    fn put(self, to: &mut Encoder);
}

macro_rules! numbers {
    ($($kind:ty),*) => {$(
        impl Number for $kind {
            fn put(self, to: &mut Encoder) {
                to.raw(self.to_le_bytes());
            }
        }
    )*};
}

numbers!(i8, u8, i16, u16, i32, u32, i64, u64, f32, f64);

impl Number for bool {
    fn put(self, to: &mut Encoder) {
        to.raw([u8::from(self)]);
    }
}

/// Little-endian bytes of one message; used again for the next.
#[derive(Debug, Default)]
pub struct Encoder(Vec<u8>);

impl Encoder {
    /// Begins a message.
    pub fn begin(&mut self) -> &mut Self {
        self.0.clear();
        self.0.extend_from_slice(&[0, 1, 0, 0]);
        self
    }

    /// The message so far.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// Appends a number.
    pub fn number(&mut self, value: impl Number) -> &mut Self {
        value.put(self);
        self
    }

    /// Appends numbers without their count.
    pub fn numbers(&mut self, values: &[impl Number]) -> &mut Self {
        values.iter().for_each(|value| value.put(self));
        self
    }

    /// Appends a text.
    pub fn text(&mut self, text: &[u8]) -> &mut Self {
        self.text_of(text.iter().copied())
    }

    /// Appends a text that does not lie in one piece.
    pub fn text_of(&mut self, text: impl ExactSizeIterator<Item = u8>) -> &mut Self {
        self.length(text.len() + 1);
        self.0.extend(text);
        self.0.push(0);
        self
    }

    /// Appends how many items of a sequence follow.
    pub fn length(&mut self, length: usize) -> &mut Self {
        // A sequence of more than four thousand million items fits into no message.
        self.raw(u32::try_from(length).unwrap_or(u32::MAX).to_le_bytes());
        self
    }

    fn raw<const N: usize>(&mut self, bytes: [u8; N]) {
        let behind = self.0.len().saturating_sub(ENCAPSULATION);
        self.0.resize(self.0.len() + behind.next_multiple_of(N) - behind, 0);
        self.0.extend_from_slice(&bytes);
    }
}

/// Why bytes are no message of their definition.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// Neither endianness of classic CDR, nor the plain form of its successor.
    #[error("the encoding 0x{0:04x} is unknown; expected CDR")]
    Encoding(u16),
    /// They end too early.
    #[error("the message ends after {0} bytes, within what its definition promises")]
    Short(usize),
    /// A text that is none.
    #[error("a text is not UTF-8")]
    Text,
    /// A field is of another type than its reader takes.
    #[error("field {field} is no {expected}")]
    Kind {
        /// Name of the field.
        field: String,
        /// What was expected.
        expected: &'static str,
    },
}

/// A place in the bytes of a message.
#[derive(Clone, Debug)]
pub struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
    is_big: bool,
    most_align: usize,
}

impl<'a> Cursor<'a> {
    /// The begin of a message.
    ///
    /// # Errors
    /// Bytes that do not begin as a message does.
    pub fn new(message: &'a [u8]) -> Result<Self, DecodeError> {
        let (head, bytes) =
            message.split_at_checked(ENCAPSULATION).ok_or(DecodeError::Short(message.len()))?;
        let encoding = u16::from_be_bytes([head[0], head[1]]);
        let (is_big, most_align) = match encoding {
            0 => (true, 8),
            1 => (false, 8),
            // The successor aligns to four bytes at most.
            6 => (true, 4),
            7 => (false, 4),
            other => return Err(DecodeError::Encoding(other)),
        };
        Ok(Cursor { bytes, at: 0, is_big, most_align })
    }

    /// Bytes that are left.
    #[must_use]
    pub fn left(&self) -> usize {
        self.bytes.len() - self.at
    }

    pub(crate) fn take<const N: usize>(&mut self) -> Result<[u8; N], DecodeError> {
        let from = self.at.next_multiple_of(N.min(self.most_align));
        let raw = self.bytes.get(from..from + N).ok_or(DecodeError::Short(self.bytes.len()))?;
        self.at = from + N;
        let mut bytes = [0; N];
        bytes.copy_from_slice(raw);
        if self.is_big {
            bytes.reverse();
        }
        Ok(bytes)
    }

    /// Passes over `count` items of a size.
    pub(crate) fn pass(&mut self, size: usize, count: usize) -> Result<(), DecodeError> {
        if count == 0 {
            return Ok(());
        }
        let from = self.at.next_multiple_of(size.min(self.most_align).max(1));
        let to = size.checked_mul(count).and_then(|length| from.checked_add(length));
        self.at = to.filter(|to| *to <= self.bytes.len()).ok_or(DecodeError::Short(self.bytes.len()))?;
        Ok(())
    }

    /// How many items of a sequence follow; never more than there are bytes left, since each has one at least.
    pub(crate) fn length(&mut self) -> Result<usize, DecodeError> {
        let length = u32::from_le_bytes(self.take()?) as usize;
        if length <= self.left() { Ok(length) } else { Err(DecodeError::Short(self.bytes.len())) }
    }

    pub(crate) fn text(&mut self) -> Result<&'a str, DecodeError> {
        let length = self.length()?;
        let raw = &self.bytes[self.at..self.at + length];
        self.at += length;
        std::str::from_utf8(raw.strip_suffix(&[0]).unwrap_or(raw)).map_err(|_| DecodeError::Text)
    }
}
