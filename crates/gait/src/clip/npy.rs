//! The NPY container: its header, plain numeric arrays, and object arrays of frames.

use super::{
    ClipData, ClipError, Limits,
    pickle::{ArrayState, Dtype, Pickle, Value},
};
use crate::joint::Joint;

const MAGIC: &[u8] = b"\x93NUMPY";

/// The dictionary of a header and what follows it.
#[derive(Debug)]
pub(super) struct Npy<'a> {
    pub(super) descr: &'a str,
    pub(super) shape: Vec<usize>,
    pub(super) data: &'a [u8],
}

fn header(problem: &str) -> ClipError {
    ClipError::Header(problem.to_owned())
}

impl<'a> Npy<'a> {
    pub(super) fn read(bytes: &'a [u8]) -> Result<Self, ClipError> {
        let rest =
            bytes.strip_prefix(MAGIC).ok_or_else(|| header("no NPY file: the magic string is missing"))?;
        let short = || header("the file ends within the header");
        let [major, _minor, ..] = *rest else { return Err(short()) };
        let (length, rest) = match major {
            1 => {
                let length = rest.get(2..).and_then(|rest| rest.first_chunk::<2>()).ok_or_else(short)?;
                (usize::from(u16::from_le_bytes(*length)), &rest[4..])
            }
            2 | 3 => {
                let length = rest.get(2..).and_then(|rest| rest.first_chunk::<4>()).ok_or_else(short)?;
                (u32::from_le_bytes(*length) as usize, &rest[6..])
            }
            other => return Err(ClipError::Header(format!("format version {other}, expected 1 to 3"))),
        };
        let (text, data) = rest.split_at_checked(length).ok_or_else(short)?;
        let text = std::str::from_utf8(text).map_err(|_| header("the dictionary is not text"))?;
        let mut literal = Literal { rest: text };
        let (descr, fortran, shape) = literal
            .dictionary()
            .ok_or_else(|| header("expected {'descr': ..., 'fortran_order': ..., 'shape': ...}"))?;
        if fortran && shape.len() > 1 {
            return Err(header("column-major arrays are not supported"));
        }
        Ok(Self { descr, shape, data })
    }

    /// The elements of a numeric array as numbers.
    pub(super) fn numbers(&self, limits: &Limits) -> Result<Vec<f64>, ClipError> {
        let unsupported = || ClipError::Header(format!("element type {:?}, expected a number", self.descr));
        let dtype = Dtype::parse(self.descr).filter(|dtype| !dtype.is_object()).ok_or_else(unsupported)?;
        self.check(dtype.size(), limits)?;
        self.data
            .chunks_exact(dtype.size())
            .take(self.count().unwrap_or(0))
            .map(|bytes| dtype.number(bytes).ok_or_else(unsupported))
            .collect()
    }

    /// The elements of an array of texts (`<U9`, `|S9`).
    pub(super) fn texts(&self, limits: &Limits) -> Result<Vec<String>, ClipError> {
        let unsupported = || ClipError::Header(format!("element type {:?}, expected texts", self.descr));
        let (kind, width) = self.descr.split_at_checked(2).ok_or_else(unsupported)?;
        let width: usize = width.parse().map_err(|_| unsupported())?;
        let unit = match kind {
            "<U" => 4,
            "|S" => 1,
            _ => return Err(unsupported()),
        };
        let size =
            width.checked_mul(unit).filter(|size| (1..=1024).contains(size)).ok_or_else(unsupported)?;
        self.check(size, limits)?;
        let text = |bytes: &[u8]| -> Option<String> {
            let mut text = String::new();
            for unit in bytes.chunks_exact(unit) {
                let mut raw = [0; 4];
                raw[..unit.len()].copy_from_slice(unit);
                match u32::from_le_bytes(raw) {
                    0 => break,
                    code => text.push(char::from_u32(code)?),
                }
            }
            Some(text)
        };
        self.data
            .chunks_exact(size)
            .take(self.count().unwrap_or(0))
            .map(|bytes| text(bytes).ok_or_else(|| header("a text that is not Unicode")))
            .collect()
    }

    fn count(&self) -> Option<usize> {
        self.shape.iter().try_fold(1_usize, |count, length| count.checked_mul(*length))
    }

    fn check(&self, size: usize, limits: &Limits) -> Result<(), ClipError> {
        let bytes = self.count().and_then(|count| count.checked_mul(size)).unwrap_or(usize::MAX);
        if bytes > limits.bytes {
            return Err(ClipError::TooLarge { what: "bytes of an array", found: bytes, limit: limits.bytes });
        }
        if bytes > self.data.len() {
            return Err(header("the file ends within the data"));
        }
        Ok(())
    }
}

/// Writes a header for C-ordered data.
pub(super) fn write_header(out: &mut Vec<u8>, descr: &str, shape: &[usize]) {
    let shape: String = shape.iter().map(|length| format!("{length}, ")).collect();
    let dictionary =
        format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({}), }}", shape.trim_end());
    // Data begin at a multiple of 64 bytes; the magic string, version and length take 10.
    let length = (10 + dictionary.len() + 1).next_multiple_of(64) - 10;
    out.extend_from_slice(MAGIC);
    out.extend_from_slice(&[1, 0]);
    out.extend_from_slice(&(length as u16).to_le_bytes());
    out.extend_from_slice(dictionary.as_bytes());
    out.resize(out.len() + length - dictionary.len() - 1, b' ');
    out.push(b'\n');
}

/// The Python literal of a header: a dictionary of exactly three known keys.
struct Literal<'a> {
    rest: &'a str,
}

impl<'a> Literal<'a> {
    fn dictionary(&mut self) -> Option<(&'a str, bool, Vec<usize>)> {
        let (mut descr, mut fortran, mut shape) = (None, None, None);
        self.token('{')?;
        while self.token('}').is_none() {
            let key = self.text()?;
            self.token(':')?;
            match key {
                "descr" => descr = Some(self.text()?),
                "fortran_order" => fortran = Some(self.boolean()?),
                "shape" => shape = Some(self.shape()?),
                _ => return None,
            }
            if self.token(',').is_none() {
                self.token('}')?;
                break;
            }
        }
        self.rest.trim().is_empty().then_some(())?;
        Some((descr?, fortran?, shape?))
    }

    fn token(&mut self, token: char) -> Option<()> {
        self.rest = self.rest.trim_start().strip_prefix(token)?;
        Some(())
    }

    fn text(&mut self) -> Option<&'a str> {
        let rest = self.rest.trim_start();
        let quote = rest.chars().next().filter(|quote| matches!(quote, '\'' | '"'))?;
        let (text, rest) = rest[1..].split_once(quote)?;
        self.rest = rest;
        Some(text)
    }

    fn boolean(&mut self) -> Option<bool> {
        let rest = self.rest.trim_start();
        let (value, rest) = match (rest.strip_prefix("True"), rest.strip_prefix("False")) {
            (Some(rest), _) => (true, rest),
            (_, Some(rest)) => (false, rest),
            _ => return None,
        };
        self.rest = rest;
        Some(value)
    }

    fn shape(&mut self) -> Option<Vec<usize>> {
        const DIMENSIONS: usize = 4;
        let mut shape = Vec::new();
        self.token('(')?;
        while self.token(')').is_none() {
            let rest = self.rest.trim_start();
            let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
            shape.push(rest[..digits].parse().ok()?);
            // Python 2 wrote long integers.
            self.rest = rest[digits..].strip_prefix('L').unwrap_or(&rest[digits..]);
            if shape.len() > DIMENSIONS {
                return None;
            }
            if self.token(',').is_none() {
                self.token(')')?;
                break;
            }
        }
        Some(shape)
    }
}

impl ClipData {
    /// Reads a one-dimensional object array of frames. Nothing in the file is executed.
    ///
    /// # Errors
    /// The file is no such array, or asks for more than `limits`.
    pub fn from_npy(bytes: &[u8], limits: &Limits) -> Result<Self, ClipError> {
        if bytes.len() > limits.bytes.min(u32::MAX as usize) {
            return Err(ClipError::TooLarge { what: "bytes", found: bytes.len(), limit: limits.bytes });
        }
        let npy = Npy::read(bytes)?;
        if Dtype::parse(npy.descr).is_none_or(|dtype| !dtype.is_object()) {
            return Err(ClipError::Header(format!("element type {:?}, expected objects ('|O')", npy.descr)));
        }
        let [count] = *npy.shape else {
            return Err(ClipError::Header(format!("{} dimensions, expected 1", npy.shape.len())));
        };
        let pickle =
            Pickle::read(npy.data, limits).map_err(|(at, problem)| ClipError::Pickle { at, problem })?;
        let Some(ArrayState::Objects(frames)) = pickle.array(pickle.root) else {
            return Err(header("the pickle is not a one-dimensional array of objects"));
        };
        if frames.len() != count {
            return Err(ClipError::Header(format!("shape ({count},) over {} frames", frames.len())));
        }
        if frames.len() > limits.frames {
            return Err(ClipError::TooLarge { what: "frames", found: frames.len(), limit: limits.frames });
        }
        let mut clip = Self::default();
        let mut optional = Optional::default();
        for (index, frame) in frames.iter().enumerate() {
            clip.push_frame(&pickle, *frame, limits, &mut optional)
                .map_err(|problem| ClipError::Frame { frame: index, problem })?;
        }
        if clip.frames.is_empty() {
            return Err(ClipError::Empty);
        }
        let frames = clip.frames.len();
        let complete = |count: usize| count == frames;
        clip.t = Some(optional.t).filter(|column| complete(column.len()));
        clip.root_xy_yaw = Some(optional.root).filter(|column| complete(column.len()));
        clip.animation_state = Some(optional.state).filter(|column| complete(column.len()));
        Ok(clip)
    }

    fn push_frame(
        &mut self,
        pickle: &Pickle<'_>,
        frame: Value,
        limits: &Limits,
        optional: &mut Optional,
    ) -> Result<(), String> {
        const KEYS: usize = 16;
        let entries = pickle.entries(frame).ok_or("expected a map with \"angles\"")?;
        if entries.len() > KEYS {
            return Err(format!("{} keys, at most {KEYS} are allowed", entries.len()));
        }
        let mut angles = None;
        for [key, value] in entries {
            match pickle.text(key) {
                Some("angles") => angles = Some(value),
                Some("t") if value != Value::None => {
                    optional.t.push(finite(pickle, value).ok_or("t: expected seconds")?);
                }
                Some("root_xy_yaw") if value != Value::None => {
                    optional.root.push(triple(pickle, value).ok_or("root_xy_yaw: expected three numbers")?);
                }
                Some("animation_state") if value != Value::None => {
                    let state = pickle.number(value).filter(|state| state.fract() == 0.0);
                    let state = state.filter(|state| (0.0..=32_767.0).contains(state));
                    optional.state.push(state.ok_or("animation_state: expected a small integer")? as i16);
                }
                _ => {}
            }
        }
        let index = self.frames.len();
        let angles = angles.and_then(|angles| pickle.entries(angles)).ok_or("\"angles\": expected a map")?;
        if angles.len() > limits.joints {
            return Err(format!("{} joints, at most {} are allowed", angles.len(), limits.joints));
        }
        self.push();
        for [name, value] in angles {
            let name = pickle.text(name).ok_or("a joint name that is no text")?;
            let angle =
                finite(pickle, value).ok_or_else(|| format!("{}: expected a finite angle", short(name)))?;
            match Joint::parse(name) {
                Some(joint) => {
                    self.frames[index][joint.index()] = angle;
                    self.present[index].insert(joint);
                }
                None => self.push_extra(index, name, angle, limits)?,
            }
        }
        for column in self.extra.values_mut() {
            column.resize(index + 1, 0.0);
        }
        Ok(())
    }

    fn push_extra(&mut self, index: usize, name: &str, angle: f64, limits: &Limits) -> Result<(), String> {
        const LONGEST: usize = 64;
        // Columns cost memory per frame, so few names may have one.
        let most = limits.joints.saturating_sub(crate::joint::JOINT_COUNT);
        if name.len() > LONGEST {
            return Err(format!("joint name {:?}... is too long", short(name)));
        }
        if !self.extra.contains_key(name) {
            if self.extra.len() >= most {
                return Err(format!("more than {most} joints outside the contract"));
            }
            self.extra.insert(name.to_owned(), Vec::new());
        }
        if let Some(column) = self.extra.get_mut(name) {
            column.resize(index + 1, 0.0);
            column[index] = angle;
        }
        Ok(())
    }
}

#[derive(Default)]
struct Optional {
    t: Vec<f64>,
    root: Vec<[f64; 3]>,
    state: Vec<i16>,
}

fn short(name: &str) -> String {
    name.chars().take(32).collect()
}

fn finite(pickle: &Pickle<'_>, value: Value) -> Option<f64> {
    pickle.number(value).filter(|number| number.is_finite())
}

fn triple(pickle: &Pickle<'_>, value: Value) -> Option<[f64; 3]> {
    let mut triple = [0.0; 3];
    if let Some(items) = pickle.sequence(value) {
        let items: &[Value; 3] = items.try_into().ok()?;
        for (out, item) in triple.iter_mut().zip(items) {
            *out = finite(pickle, *item)?;
        }
        return Some(triple);
    }
    match pickle.array(value)? {
        ArrayState::Numbers { dtype, bytes } if bytes.len() == 3 * dtype.size() => {
            for (out, bytes) in triple.iter_mut().zip(bytes.chunks_exact(dtype.size())) {
                *out = dtype.number(bytes).filter(|number| number.is_finite())?;
            }
            Some(triple)
        }
        ArrayState::Objects(items) if items.len() == 3 => {
            for (out, item) in triple.iter_mut().zip(items) {
                *out = finite(pickle, *item)?;
            }
            Some(triple)
        }
        _ => None,
    }
}
