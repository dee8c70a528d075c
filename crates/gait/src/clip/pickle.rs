//! A data-only reader of the pickles that NumPy writes for object arrays (human-layer specification, section 12.1).
//!
//! Nothing is ever called or imported: a handful of callable names are recognised and *interpreted*, everything else is
//! an error. Values live in an arena, so that cycles, sharing and depth cost nothing; every loop is bounded by the
//! number of opcodes, which is bounded by [`Limits`].

use super::Limits;

/// Why a pickle cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PickleProblem {
    /// The data ends in the middle of something.
    #[error("the data ends too early")]
    Truncated,
    /// An opcode outside the data-only subset.
    #[error("opcode 0x{0:02x} is not part of plain data")]
    Opcode(u8),
    /// A protocol that is not 2 to 5.
    #[error("pickle protocol {0} is not supported, expected 2 to 5")]
    Protocol(u8),
    /// A callable that is not one of NumPy's array constructors.
    #[error("{0:?} is not allowed, only NumPy's array constructors are")]
    Callable(String),
    /// A constructor with arguments it does not take.
    #[error("{0} with unexpected arguments")]
    Arguments(&'static str),
    /// An element type that is no plain number or object.
    #[error("unsupported element type {0:?}")]
    Dtype(String),
    /// The stack has too few or the wrong values for an opcode.
    #[error("opcode 0x{0:02x} finds the wrong values on the stack")]
    Stack(u8),
    /// A memo entry that does not exist, or is written out of order.
    #[error("memo entry {0} does not exist")]
    Memo(usize),
    /// An integer of more than 64 bits.
    #[error("an integer of {0} bytes, at most 8 are supported")]
    Integer(usize),
    /// A text that is not UTF-8.
    #[error("a text that is not UTF-8")]
    Text,
    /// More opcodes than allowed.
    #[error("more than {0} opcodes")]
    TooLong(usize),
    /// More lists and maps than allowed.
    #[error("more than {0} lists and maps")]
    TooMany(usize),
    /// A deeper stack than allowed.
    #[error("a stack of more than {0} values")]
    TooDeep(usize),
}

/// A value; containers are indices into the arena.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Value {
    None,
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(Span),
    Bytes(Span),
    Callable(Callable),
    List(u32),
    Dict(u32),
    Tuple(Run),
    Array(u32),
    Dtype(Dtype),
}

/// Bytes of the input, or of the buffer of re-encoded bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Span {
    start: u32,
    len: u32,
    encoded: bool,
}

/// Consecutive items of the flat storage of tuples.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Run {
    start: u32,
    len: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Callable {
    Reconstruct,
    Scalar,
    NdArray,
    Dtype,
    Encode,
}

/// Element type of an array: kind and size as NumPy writes them, `O8` for objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Dtype {
    kind: u8,
    size: u8,
    big: bool,
}

impl Dtype {
    /// From NumPy's spelling with or without byte order: `f8`, `<f8`, `|O`, `O8`, `?`.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (big, text) = match text.as_bytes().first()? {
            b'<' | b'|' | b'=' => (false, &text[1..]),
            b'>' => (true, &text[1..]),
            _ => (false, text),
        };
        let (kind, size) = match text {
            "O" | "O8" | "O4" => (b'O', 8),
            "?" | "b1" => (b'b', 1),
            "f4" => (b'f', 4),
            "f8" => (b'f', 8),
            "i1" => (b'i', 1),
            "i2" => (b'i', 2),
            "i4" => (b'i', 4),
            "i8" => (b'i', 8),
            "u1" => (b'u', 1),
            "u2" => (b'u', 2),
            "u4" => (b'u', 4),
            "u8" => (b'u', 8),
            _ => return None,
        };
        Some(Self { kind, size, big })
    }

    pub(super) fn is_object(self) -> bool {
        self.kind == b'O'
    }

    pub(super) fn size(self) -> usize {
        usize::from(self.size)
    }

    /// The number in exactly [`Self::size`] bytes.
    pub(super) fn number(self, bytes: &[u8]) -> Option<f64> {
        if bytes.len() != self.size() {
            return None;
        }
        let mut raw = [0; 8];
        for (index, byte) in bytes.iter().enumerate() {
            raw[if self.big { bytes.len() - 1 - index } else { index }] = *byte;
        }
        let unsigned = u64::from_le_bytes(raw);
        let unused = 64 - 8 * u32::from(self.size);
        match (self.kind, self.size) {
            (b'f', 4) => Some(f64::from(f32::from_bits(unsigned as u32))),
            (b'f', 8) => Some(f64::from_bits(unsigned)),
            (b'i', _) => Some(((unsigned << unused) as i64 >> unused) as f64),
            (b'u' | b'b', _) => Some(unsigned as f64),
            _ => None,
        }
    }
}

/// Everything a pickle holds.
#[derive(Debug)]
pub(super) struct Pickle<'a> {
    input: &'a [u8],
    encoded: Vec<u8>,
    /// Lists, and maps as alternating keys and values.
    containers: Vec<Vec<Value>>,
    tuples: Vec<Value>,
    /// State tuple of each array, once built.
    arrays: Vec<Option<Run>>,
    /// The value the pickle is of.
    pub(super) root: Value,
}

impl<'a> Pickle<'a> {
    /// Reads up to STOP. On failure also says at which byte.
    pub(super) fn read(input: &'a [u8], limits: &Limits) -> Result<Self, (usize, PickleProblem)> {
        let mut machine = Machine {
            pickle: Pickle {
                input,
                encoded: Vec::new(),
                containers: Vec::new(),
                tuples: Vec::new(),
                arrays: Vec::new(),
                root: Value::None,
            },
            at: 0,
            stack: Vec::new(),
            marks: Vec::new(),
            memo: Vec::new(),
        };
        machine.run(limits).map_err(|problem| (machine.at, problem))?;
        Ok(machine.pickle)
    }

    pub(super) fn text(&self, value: Value) -> Option<&str> {
        match value {
            // Checked when it was read.
            Value::Text(span) => std::str::from_utf8(self.slice(span)).ok(),
            _ => None,
        }
    }

    pub(super) fn number(&self, value: Value) -> Option<f64> {
        match value {
            Value::Float(number) => Some(number),
            Value::Int(number) => Some(number as f64),
            _ => None,
        }
    }

    /// Items of a list or tuple.
    pub(super) fn sequence(&self, value: Value) -> Option<&[Value]> {
        match value {
            Value::List(index) => Some(&self.containers[index as usize]),
            Value::Tuple(run) => Some(self.tuple(run)),
            _ => None,
        }
    }

    /// Keys and values of a map in the order they were set; a repeated key is meant to win.
    pub(super) fn entries(&self, value: Value) -> Option<impl ExactSizeIterator<Item = [Value; 2]> + '_> {
        match value {
            Value::Dict(index) => {
                Some(self.containers[index as usize].chunks_exact(2).map(|pair| [pair[0], pair[1]]))
            }
            _ => None,
        }
    }

    /// Shape, element type and data of an array that is in C order or one-dimensional.
    pub(super) fn array(&self, value: Value) -> Option<ArrayState<'_>> {
        let Value::Array(index) = value else { return None };
        let state = self.tuple(self.arrays[index as usize]?);
        // Very old files leave the version out.
        let [shape, Value::Dtype(dtype), Value::Bool(_), data] = *state.get(state.len().checked_sub(4)?..)?
        else {
            return None;
        };
        let [length] = *self.sequence(shape)? else { return None };
        let Value::Int(length) = length else { return None };
        let length = usize::try_from(length).ok()?;
        match data {
            Value::List(_) if dtype.is_object() => {
                let items = self.sequence(data)?;
                (items.len() == length).then_some(ArrayState::Objects(items))
            }
            Value::Bytes(span) if !dtype.is_object() => {
                let bytes = self.slice(span);
                (length.checked_mul(dtype.size()) == Some(bytes.len()))
                    .then_some(ArrayState::Numbers { dtype, bytes })
            }
            _ => None,
        }
    }

    fn tuple(&self, Run { start, len }: Run) -> &[Value] {
        &self.tuples[start as usize..start as usize + len as usize]
    }

    fn slice(&self, span: Span) -> &[u8] {
        let source = if span.encoded { &self.encoded } else { self.input };
        source.get(span.start as usize..span.start as usize + span.len as usize).unwrap_or(&[])
    }
}

/// A one-dimensional array.
pub(super) enum ArrayState<'p> {
    Objects(&'p [Value]),
    Numbers { dtype: Dtype, bytes: &'p [u8] },
}

struct Machine<'a> {
    pickle: Pickle<'a>,
    at: usize,
    stack: Vec<Value>,
    marks: Vec<usize>,
    memo: Vec<Value>,
}

type Step<T = ()> = Result<T, PickleProblem>;

impl<'a> Machine<'a> {
    fn run(&mut self, limits: &Limits) -> Step {
        for _ in 0..limits.opcodes {
            let [opcode] = self.take()?;
            if opcode == b'.' {
                self.pickle.root = self.pop(opcode)?;
                return Ok(());
            }
            self.step(opcode)?;
            if self.pickle.containers.len() > limits.containers {
                return Err(PickleProblem::TooMany(limits.containers));
            }
            if self.stack.len() > limits.stack || self.marks.len() > limits.stack {
                return Err(PickleProblem::TooDeep(limits.stack));
            }
        }
        Err(PickleProblem::TooLong(limits.opcodes))
    }

    fn step(&mut self, opcode: u8) -> Step {
        match opcode {
            0x80 => {
                let [protocol] = self.take()?;
                if !(2..=5).contains(&protocol) {
                    return Err(PickleProblem::Protocol(protocol));
                }
            }
            // The length of a frame is a hint for readers of streams.
            0x95 => drop(self.take::<8>()?),
            b'(' => self.marks.push(self.stack.len()),
            b'N' => self.push(Value::None),
            0x88 => self.push(Value::Bool(true)),
            0x89 => self.push(Value::Bool(false)),
            b'J' => {
                let value = i32::from_le_bytes(self.take()?);
                self.push(Value::Int(value.into()));
            }
            b'K' => {
                let [value] = self.take()?;
                self.push(Value::Int(value.into()));
            }
            b'M' => {
                let value = u16::from_le_bytes(self.take()?);
                self.push(Value::Int(value.into()));
            }
            0x8a => self.long()?,
            b'G' => {
                let value = f64::from_be_bytes(self.take()?);
                self.push(Value::Float(value));
            }
            0x8c | b'X' => {
                let span = self.counted(opcode == 0x8c)?;
                if std::str::from_utf8(self.pickle.slice(span)).is_err() {
                    return Err(PickleProblem::Text);
                }
                self.push(Value::Text(span));
            }
            b'C' | b'B' => {
                let span = self.counted(opcode == b'C')?;
                self.push(Value::Bytes(span));
            }
            b'}' => {
                let index = self.container();
                self.push(Value::Dict(index));
            }
            b']' => {
                let index = self.container();
                self.push(Value::List(index));
            }
            b')' => self.tuple(opcode, 0)?,
            0x85..=0x87 => self.tuple(opcode, usize::from(opcode - 0x84))?,
            b't' => {
                let mark = self.marks.pop().ok_or(PickleProblem::Stack(opcode))?;
                let count = self.stack.len().checked_sub(mark).ok_or(PickleProblem::Stack(opcode))?;
                self.tuple(opcode, count)?;
            }
            b'a' | b'e' => self.extend(opcode, opcode == b'e')?,
            b's' | b'u' => self.extend(opcode, opcode == b'u')?,
            0x94 => {
                let top = self.top(opcode)?;
                self.memo.push(top);
            }
            b'q' => {
                let [index] = self.take()?;
                self.put(opcode, index.into())?;
            }
            b'r' => {
                let index = u32::from_le_bytes(self.take()?);
                self.put(opcode, index as usize)?;
            }
            b'h' => {
                let [index] = self.take()?;
                self.get(index.into())?;
            }
            b'j' => {
                let index = u32::from_le_bytes(self.take()?);
                self.get(index as usize)?;
            }
            b'c' => {
                let (module, name) = (self.line()?, self.line()?);
                self.push(Value::Callable(callable(module, name)?));
            }
            0x93 => {
                let (name, module) = (self.pop(opcode)?, self.pop(opcode)?);
                let (Some(module), Some(name)) = (self.pickle.text(module), self.pickle.text(name)) else {
                    return Err(PickleProblem::Stack(opcode));
                };
                let callable = callable(module.as_bytes(), name.as_bytes())?;
                self.push(Value::Callable(callable));
            }
            b'R' => self.reduce()?,
            b'b' => self.build()?,
            other => return Err(PickleProblem::Opcode(other)),
        }
        Ok(())
    }

    fn take<const N: usize>(&mut self) -> Step<[u8; N]> {
        let bytes = self.pickle.input.get(self.at..).and_then(|rest| rest.first_chunk::<N>());
        let bytes = *bytes.ok_or(PickleProblem::Truncated)?;
        self.at += N;
        Ok(bytes)
    }

    fn counted(&mut self, short: bool) -> Step<Span> {
        let len = if short {
            let [len] = self.take()?;
            u32::from(len)
        } else {
            u32::from_le_bytes(self.take()?)
        };
        // Inputs of 4 GiB and more are refused before.
        let span = Span { start: self.at as u32, len, encoded: false };
        let end = self.at.checked_add(len as usize).filter(|end| *end <= self.pickle.input.len());
        self.at = end.ok_or(PickleProblem::Truncated)?;
        Ok(span)
    }

    fn line(&mut self) -> Step<&'a [u8]> {
        const LONGEST: usize = 128;
        let rest = &self.pickle.input[self.at..];
        let rest = &rest[..rest.len().min(LONGEST)];
        let end = rest.iter().position(|byte| *byte == b'\n').ok_or(PickleProblem::Truncated)?;
        self.at += end + 1;
        Ok(&rest[..end])
    }

    fn long(&mut self) -> Step {
        let [len] = self.take()?;
        let len = usize::from(len);
        if len > 8 {
            return Err(PickleProblem::Integer(len));
        }
        let bytes = self.pickle.input.get(self.at..self.at + len).ok_or(PickleProblem::Truncated)?;
        self.at += len;
        let negative = bytes.last().is_some_and(|byte| byte & 0x80 != 0);
        let mut raw = [if negative { 0xff } else { 0 }; 8];
        raw[..len].copy_from_slice(bytes);
        self.push(Value::Int(i64::from_le_bytes(raw)));
        Ok(())
    }

    fn push(&mut self, value: Value) {
        self.stack.push(value);
    }

    /// The floor below which an opcode must not reach: the last mark.
    fn floor(&self) -> usize {
        self.marks.last().copied().unwrap_or(0)
    }

    fn pop(&mut self, opcode: u8) -> Step<Value> {
        if self.stack.len() <= self.floor() {
            return Err(PickleProblem::Stack(opcode));
        }
        self.stack.pop().ok_or(PickleProblem::Stack(opcode))
    }

    fn top(&self, opcode: u8) -> Step<Value> {
        self.stack.last().copied().ok_or(PickleProblem::Stack(opcode))
    }

    fn container(&mut self) -> u32 {
        self.pickle.containers.push(Vec::new());
        // One container per opcode, and there are fewer opcodes than 2^32.
        (self.pickle.containers.len() - 1) as u32
    }

    fn tuple(&mut self, opcode: u8, count: usize) -> Step {
        let start = self.stack.len().checked_sub(count).filter(|start| *start >= self.floor());
        let start = start.ok_or(PickleProblem::Stack(opcode))?;
        // At most one stored item per opcode, as above.
        let run = Run { start: self.pickle.tuples.len() as u32, len: count as u32 };
        self.pickle.tuples.extend_from_slice(&self.stack[start..]);
        self.stack.truncate(start);
        self.push(Value::Tuple(run));
        Ok(())
    }

    /// APPEND(S) and SETITEM(S).
    fn extend(&mut self, opcode: u8, marked: bool) -> Step {
        let map = matches!(opcode, b's' | b'u');
        let wrong = PickleProblem::Stack(opcode);
        let start = if marked {
            self.marks.pop().ok_or(wrong.clone())?
        } else {
            let count = if map { 2 } else { 1 };
            let start = self.stack.len().checked_sub(count).filter(|start| *start > self.floor());
            start.ok_or(wrong.clone())?
        };
        let count = self.stack.len().checked_sub(start).ok_or(wrong.clone())?;
        let target = start.checked_sub(1).map(|below| self.stack[below]);
        let index = match target {
            Some(Value::Dict(index)) if map && count % 2 == 0 => index,
            Some(Value::List(index)) if !map => index,
            _ => return Err(wrong),
        };
        self.pickle.containers[index as usize].extend_from_slice(&self.stack[start..]);
        self.stack.truncate(start);
        Ok(())
    }

    fn put(&mut self, opcode: u8, index: usize) -> Step {
        let top = self.top(opcode)?;
        // Writers count up; a gap would let four bytes ask for gigabytes.
        match index.cmp(&self.memo.len()) {
            std::cmp::Ordering::Less => self.memo[index] = top,
            std::cmp::Ordering::Equal => self.memo.push(top),
            std::cmp::Ordering::Greater => return Err(PickleProblem::Memo(index)),
        }
        Ok(())
    }

    fn get(&mut self, index: usize) -> Step {
        let value = *self.memo.get(index).ok_or(PickleProblem::Memo(index))?;
        self.push(value);
        Ok(())
    }

    fn reduce(&mut self) -> Step {
        let (arguments, callable) = (self.pop(b'R')?, self.pop(b'R')?);
        let (Value::Tuple(arguments), Value::Callable(callable)) = (arguments, callable) else {
            return Err(PickleProblem::Stack(b'R'));
        };
        let pickle = &mut self.pickle;
        let arguments = pickle.tuple(arguments);
        let value = match (callable, arguments) {
            (
                Callable::Reconstruct,
                [Value::Callable(Callable::NdArray), Value::Tuple(_), Value::Bytes(_)],
            ) => {
                pickle.arrays.push(None);
                Value::Array((pickle.arrays.len() - 1) as u32)
            }
            (Callable::Scalar, [Value::Dtype(dtype), Value::Bytes(bytes)]) => {
                let number = dtype.number(pickle.slice(*bytes));
                match number.ok_or(PickleProblem::Arguments("scalar"))? {
                    number if dtype.kind == b'f' => Value::Float(number),
                    number => Value::Int(number as i64),
                }
            }
            (Callable::Dtype, [text @ Value::Text(_), ..]) => {
                let name = pickle.text(*text).unwrap_or_default();
                let known = Dtype::parse(name);
                Value::Dtype(known.ok_or_else(|| PickleProblem::Dtype(name.chars().take(32).collect()))?)
            }
            (Callable::Encode, [text @ Value::Text(span), Value::Text(_)]) => {
                // Old writers spell bytes as Latin-1 text.
                const MESSAGE: PickleProblem = PickleProblem::Arguments("encode");
                let text = pickle.text(*text).unwrap_or_default();
                let bytes: Result<Vec<u8>, _> = text.chars().map(|c| u8::try_from(u32::from(c))).collect();
                let bytes = bytes.map_err(|_| MESSAGE)?;
                // A memoised text that is encoded again and again must not multiply the input.
                let start = u32::try_from(pickle.encoded.len()).map_err(|_| MESSAGE)?;
                if pickle.encoded.len() + bytes.len() > pickle.input.len() {
                    return Err(MESSAGE);
                }
                debug_assert!(bytes.len() <= span.len as usize);
                pickle.encoded.extend_from_slice(&bytes);
                Value::Bytes(Span { start, len: bytes.len() as u32, encoded: true })
            }
            (Callable::Reconstruct, _) => return Err(PickleProblem::Arguments("_reconstruct")),
            (Callable::Scalar, _) => return Err(PickleProblem::Arguments("scalar")),
            (Callable::NdArray, _) => return Err(PickleProblem::Arguments("ndarray")),
            (Callable::Dtype, _) => return Err(PickleProblem::Arguments("dtype")),
            (Callable::Encode, _) => return Err(PickleProblem::Arguments("encode")),
        };
        self.push(value);
        Ok(())
    }

    fn build(&mut self) -> Step {
        let state = self.pop(b'b')?;
        let Value::Tuple(state) = state else { return Err(PickleProblem::Stack(b'b')) };
        match self.top(b'b')? {
            Value::Array(index) => {
                self.pickle.arrays[index as usize] = Some(state);
                Ok(())
            }
            Value::Dtype(dtype) => {
                // (version, byte order, ...); a memoised dtype keeps the order it was built with.
                let order = self.pickle.tuple(state).get(1).copied();
                let order = order.and_then(|order| self.pickle.text(order));
                let big = match order {
                    Some("<" | "|" | "=") => false,
                    Some(">") => true,
                    _ => return Err(PickleProblem::Arguments("dtype state")),
                };
                let built = Value::Dtype(Dtype { big, ..dtype });
                let before = Value::Dtype(dtype);
                let last = self.stack.len() - 1;
                self.stack[last] = built;
                // MEMOIZE stands before BUILD: the entry is the same object.
                if let Some(entry) = self.memo.iter_mut().rev().take(8).find(|entry| **entry == before) {
                    *entry = built;
                }
                Ok(())
            }
            _ => Err(PickleProblem::Stack(b'b')),
        }
    }
}

fn callable(module: &[u8], name: &[u8]) -> Step<Callable> {
    match (module, name) {
        (b"numpy.core.multiarray" | b"numpy._core.multiarray", b"_reconstruct") => Ok(Callable::Reconstruct),
        (b"numpy.core.multiarray" | b"numpy._core.multiarray", b"scalar") => Ok(Callable::Scalar),
        (b"numpy", b"ndarray") => Ok(Callable::NdArray),
        (b"numpy", b"dtype") => Ok(Callable::Dtype),
        (b"_codecs", b"encode") => Ok(Callable::Encode),
        _ => {
            let text = |bytes| String::from_utf8_lossy(bytes).chars().take(64).collect::<String>();
            Err(PickleProblem::Callable(format!("{}.{}", text(module), text(name))))
        }
    }
}
