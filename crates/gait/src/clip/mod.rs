//! Recorded motion: frames of joint angles from `.npy`, `.npz` and key-frame files (human-layer specification,
//! section 12).
//!
//! Files are data, never code, and never trusted: every reader is bounded by [`Limits`] and ends in a typed error. This
//! module must never play anything (see [`crate::animation`]).

mod annotations;
mod library;
mod npy;
mod npz;
mod pickle;
mod source;

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

pub use annotations::{Annotation, Annotations, DEFAULT_FPS, ONE_SHOTS};
pub use library::{CUSTOMARY, ClipLibrary};
pub use pickle::PickleProblem;
pub use source::KeyFrames;
pub(crate) use source::raised_cosine;

use crate::{
    document::DocumentError,
    joint::{JOINT_COUNT, Joint, Pose40},
    joint_set::JointSet,
};

/// What a clip file may ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of a file, and of each unpacked array.
    pub bytes: usize,
    /// Frames of a clip.
    pub frames: usize,
    /// Joints of a frame, known or not.
    pub joints: usize,
    /// Opcodes of a pickle.
    pub opcodes: usize,
    /// Lists and maps of a pickle.
    pub containers: usize,
    /// Values on a pickle's stack.
    pub stack: usize,
}

impl Default for Limits {
    /// Room for an hour at 20 frames per second; a hostile file costs at most a few hundred megabytes.
    fn default() -> Self {
        Self {
            bytes: 64 << 20,
            frames: 72_000,
            joints: 72,
            opcodes: 8_000_000,
            containers: 400_000,
            stack: 65_536,
        }
    }
}

/// Why a clip cannot be had.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ClipError {
    /// The file cannot be read.
    #[error("{path}: {problem}", path = path.display())]
    Io {
        /// What was read.
        path: PathBuf,
        /// What the system said.
        problem: String,
    },
    /// More of something than [`Limits`] allow.
    #[error("{what}: {found}, at most {limit} are allowed")]
    TooLarge {
        /// What there is too much of.
        what: &'static str,
        /// How much.
        found: usize,
        /// How much at most.
        limit: usize,
    },
    /// No NPY file, or one of another shape.
    #[error("NPY header: {0}")]
    Header(String),
    /// The object array cannot be read.
    #[error("pickle, byte {at}: {problem}")]
    Pickle {
        /// Offset of the end of the faulty opcode in the pickle.
        at: usize,
        /// What is wrong.
        problem: PickleProblem,
    },
    /// The array holds something else than frames.
    #[error("frame {frame}: {problem}")]
    Frame {
        /// Frame from 0.
        frame: usize,
        /// What is wrong.
        problem: String,
    },
    /// No frames.
    #[error("the clip has no frames")]
    Empty,
    /// Not a usable `.npz`.
    #[error("npz: {0}")]
    Npz(String),
    /// A YAML file that does not hold.
    #[error(transparent)]
    Document(#[from] DocumentError),
    /// No clip of that name.
    #[error("no clip {name:?}{}", nearest.as_ref().map_or_else(String::new, |word| format!(", did you mean {word:?}?")))]
    Unknown {
        /// The name.
        name: String,
        /// The clip most like it.
        nearest: Option<String>,
    },
    /// A file of a kind that no reader knows.
    #[error("{path}: expected .npy, .npz or .yaml", path = path.display())]
    Kind {
        /// The file.
        path: PathBuf,
    },
}

impl ClipError {
    fn io(path: &Path, error: &std::io::Error) -> Self {
        Self::Io { path: path.to_owned(), problem: error.to_string() }
    }
}

/// The content of a clip file.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ClipData {
    /// Angles per frame, radians; a joint that a frame does not list is 0.
    pub frames: Vec<Pose40>,
    /// The joints that each frame lists.
    pub present: Vec<JointSet>,
    /// Time of each frame in seconds, if every frame has one.
    pub t: Option<Vec<f64>>,
    /// Root x, y in metres and yaw in radians, if every frame has it.
    pub root_xy_yaw: Option<Vec<[f64; 3]>>,
    /// `animation_state`, if every frame has one.
    pub animation_state: Option<Vec<i16>>,
    /// Height of the body's lowest point over the floor in metres, of a key-frame file that says so. Pictures use it; no
    /// container has it.
    pub lift: Option<Vec<f64>>,
    /// Joints outside the contract, kept but not rendered; 0 where a frame does not list them.
    pub extra: BTreeMap<String, Vec<f64>>,
}

impl ClipData {
    /// A clip of contract joints only, each in every frame.
    #[must_use]
    pub fn of_frames(frames: Vec<Pose40>, joints: JointSet) -> Self {
        Self { present: vec![joints; frames.len()], frames, ..Self::default() }
    }

    /// Reads a file of any of the three kinds, by its extension. Key-frame files give their frames only.
    ///
    /// # Errors
    /// Anything of [`ClipError`] but an unknown name.
    pub fn read(path: &Path, limits: &Limits) -> Result<Self, ClipError> {
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("npy") => Self::from_npy(&read_bounded(path, limits)?, limits),
            Some("npz") => Self::from_npz(&read_bounded(path, limits)?, limits),
            Some("yaml") => Ok(KeyFrames::read(path, limits)?.sample(&Annotation::default())?),
            _ => Err(ClipError::Kind { path: path.to_owned() }),
        }
    }

    /// Joints that at least one frame lists.
    #[must_use]
    pub fn joints(&self) -> JointSet {
        self.present.iter().fold(JointSet::EMPTY, |all, frame| all.union(*frame))
    }

    /// The column of one joint, radians.
    pub fn column(&self, joint: Joint) -> impl Iterator<Item = f64> + '_ {
        self.frames.iter().map(move |frame| frame[joint.index()])
    }

    fn push(&mut self) -> (&mut Pose40, &mut JointSet) {
        self.frames.push([0.0; JOINT_COUNT]);
        self.present.push(JointSet::EMPTY);
        let last = self.frames.len() - 1;
        (&mut self.frames[last], &mut self.present[last])
    }
}

/// A whole file, refused before it is read if it is too large or not a plain file.
fn read_bounded(path: &Path, limits: &Limits) -> Result<Vec<u8>, ClipError> {
    use std::io::Read;
    let io = |error: std::io::Error| ClipError::io(path, &error);
    let metadata = std::fs::metadata(path).map_err(io)?;
    if !metadata.is_file() {
        return Err(ClipError::Io { path: path.to_owned(), problem: "not a plain file".to_owned() });
    }
    let mut bytes = Vec::new();
    let file = std::fs::File::open(path).map_err(io)?;
    file.take(limits.bytes as u64 + 1).read_to_end(&mut bytes).map_err(io)?;
    if bytes.len() > limits.bytes {
        let found = usize::try_from(metadata.len()).unwrap_or(usize::MAX);
        return Err(ClipError::TooLarge { what: "bytes", found, limit: limits.bytes });
    }
    Ok(bytes)
}

fn read_text(path: &Path, limits: &Limits) -> Result<String, ClipError> {
    String::from_utf8(read_bounded(path, limits)?)
        .map_err(|_| ClipError::Io { path: path.to_owned(), problem: "not UTF-8 text".to_owned() })
}
