//! The clips of a directory and the shipped ones, loaded on first use (human-layer specification, section 12).

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::{Arc, LazyLock},
};

use super::{Annotation, Annotations, ClipData, ClipError, KeyFrames, Limits, read_text};
use crate::{animation::Animation, joint_set::JointSet, nearest::nearest};

macro_rules! shipped {
    ($($name:literal),* $(,)?) => {
        /// Names of the shipped clips.
        pub const CUSTOMARY: &[&str] = &[$($name),*];
        const SOURCES: &[(&str, &str)] =
            &[$(($name, include_str!(concat!("../../../../animations/source/", $name, ".yaml")))),*];
    };
}

shipped!(
    "beckon",
    "collapse_to_ground",
    "hug",
    "jump",
    "lie",
    "point_to_right",
    "seated",
    "shake_hand",
    "sit",
    "t-pose",
    "talk_with_arm_gesture",
    "wave",
    "wave_high",
);

const SHIPPED_ANNOTATIONS: &str = include_str!("../../../../animations/annotations.yaml");
const ANNOTATIONS: &str = "annotations.yaml";
/// Names that were asked for in vain and are remembered; names come from outside.
const REMEMBERED: usize = 1024;
/// Clips of a directory that are looked at.
const MOST: usize = 4096;

#[derive(Debug, Clone)]
enum Entry {
    Shipped(&'static str),
    File(PathBuf),
    Loaded(Arc<Animation>),
    Failed(ClipError),
}

/// Clips by name.
#[derive(Debug, Clone)]
pub struct ClipLibrary {
    directory: Option<PathBuf>,
    annotations: Annotations,
    entries: BTreeMap<String, Entry>,
    limits: Limits,
    failed: usize,
    /// Bytes of the loaded frames, and how many at most.
    loaded: usize,
    budget: usize,
}

impl Default for ClipLibrary {
    fn default() -> Self {
        Self::builtin()
    }
}

impl ClipLibrary {
    /// Bytes of frames that a library keeps unless told otherwise.
    pub const BUDGET: usize = 512 << 20;

    /// The shipped clips.
    #[must_use]
    pub fn builtin() -> Self {
        static ANNOTATIONS: LazyLock<Annotations> = LazyLock::new(|| {
            // The tests check that there are no problems.
            Annotations::parse("animations/annotations.yaml", SHIPPED_ANNOTATIONS).0
        });
        Self {
            directory: None,
            annotations: ANNOTATIONS.clone(),
            entries: SOURCES.iter().map(|(name, text)| ((*name).to_owned(), Entry::Shipped(text))).collect(),
            limits: Limits::default(),
            failed: 0,
            loaded: 0,
            budget: Self::BUDGET,
        }
    }

    /// The shipped clips, and those of a directory over them: `<name>.npy`, `<name>/<name>.npz` with its
    /// `annotation.yaml`, key-frame files `<name>.yaml`, and `annotations.yaml` for all. Nothing is loaded yet. What
    /// cannot be read is reported and left out.
    #[must_use]
    pub fn over_directory(directory: &Path, limits: Limits) -> (Self, Vec<ClipError>) {
        let mut library = Self { limits, directory: Some(directory.to_owned()), ..Self::builtin() };
        let mut problems = Vec::new();
        let annotations = directory.join(ANNOTATIONS);
        if annotations.exists() {
            let (own, found) = Annotations::read(&annotations, &library.limits);
            problems.extend(found);
            library.annotations.extend(own);
        }
        let files = match std::fs::read_dir(directory) {
            Ok(files) => files,
            Err(error) => {
                problems.push(ClipError::io(directory, &error));
                return (library, problems);
            }
        };
        let mut paths: Vec<PathBuf> = files.filter_map(|entry| Some(entry.ok()?.path())).take(MOST).collect();
        paths.sort();
        for path in paths {
            if let Some((name, file)) = clip_of(&path) {
                library.entries.insert(name, Entry::File(file));
            }
        }
        (library, problems)
    }

    /// Keeps at most that many bytes of frames.
    #[must_use]
    pub fn with_budget(mut self, bytes: usize) -> Self {
        self.budget = bytes;
        self
    }

    /// All names in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let known = self.entries.iter().filter(|(_, entry)| !matches!(entry, Entry::Failed(_)));
        known.map(|(name, _)| name.as_str())
    }

    /// The annotations.
    #[must_use]
    pub fn annotations(&self) -> &Annotations {
        &self.annotations
    }

    /// The clip of a name, loaded now if it is not yet.
    ///
    /// # Errors
    /// There is none, or it cannot be loaded; the same error comes back without a second try.
    pub fn get(&mut self, name: &str) -> Result<Arc<Animation>, ClipError> {
        let result = match self.entries.get(name) {
            Some(Entry::Loaded(animation)) => return Ok(Arc::clone(animation)),
            Some(Entry::Failed(error)) => return Err(error.clone()),
            Some(Entry::Shipped(text)) => shipped(name, text, self.annotations.of(name)),
            Some(Entry::File(path)) => from_file(name, path, &self.annotations, &self.limits),
            None => match self.find_late(name) {
                Some(path) => from_file(name, &path, &self.annotations, &self.limits),
                None => Err(self.unknown(name)),
            },
        };
        let result = result.and_then(|animation| self.admit(animation));
        match &result {
            Ok(animation) => {
                self.entries.insert(name.to_owned(), Entry::Loaded(Arc::clone(animation)));
            }
            Err(error) if self.failed < REMEMBERED => {
                self.failed += 1;
                self.entries.insert(name.to_owned(), Entry::Failed(error.clone()));
            }
            Err(_) => {}
        }
        result
    }

    fn admit(&mut self, animation: Animation) -> Result<Arc<Animation>, ClipError> {
        let bytes = animation.bytes();
        if self.loaded.saturating_add(bytes) > self.budget {
            let (found, limit) = (self.loaded.saturating_add(bytes), self.budget);
            return Err(ClipError::TooLarge { what: "bytes of all loaded clips", found, limit });
        }
        self.loaded += bytes;
        Ok(Arc::new(animation))
    }

    /// A clip that came into the directory after it was looked through. Only plain names become paths.
    fn find_late(&self, name: &str) -> Option<PathBuf> {
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
        if self.failed >= REMEMBERED || name.is_empty() || name.len() > 64 || !name.chars().all(plain) {
            return None;
        }
        let directory = self.directory.as_ref()?;
        let candidates = [format!("{name}.npy"), format!("{name}/{name}.npz"), format!("{name}.yaml")];
        candidates.into_iter().map(|file| directory.join(file)).find(|path| path.is_file())
    }

    fn unknown(&self, name: &str) -> ClipError {
        let shown: String = name.chars().take(64).collect();
        let nearest = nearest(&shown, &self.names().collect::<Vec<_>>()).map(str::to_owned);
        ClipError::Unknown { name: shown, nearest }
    }
}

/// Name and file of a clip that a directory entry holds.
fn clip_of(path: &Path) -> Option<(String, PathBuf)> {
    let stem = path.file_stem()?.to_str()?;
    if path.is_dir() {
        let inner = path.join(format!("{stem}.npz"));
        return inner.is_file().then(|| (stem.to_owned(), inner));
    }
    let file = path.file_name()?.to_str()?;
    let extension = path.extension()?.to_str()?;
    let clip = matches!(extension, "npy" | "yaml") && file != ANNOTATIONS && path.is_file();
    clip.then(|| (stem.to_owned(), path.to_owned()))
}

fn from_file(
    name: &str,
    path: &Path,
    annotations: &Annotations,
    limits: &Limits,
) -> Result<Animation, ClipError> {
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("yaml") => {
            let source = KeyFrames::parse(&path.display().to_string(), &read_text(path, limits)?)?;
            from_source(name, &source, annotations.of(name))
        }
        extension => {
            let mut annotation = annotations.of(name);
            let beside = path.with_file_name("annotation.yaml");
            if extension == Some("npz") && annotations.get(name).is_none() && beside.is_file() {
                let text = read_text(&beside, limits)?;
                annotation = Annotations::parse_one(&beside.display().to_string(), name, &text)?;
            }
            let data = ClipData::read(path, limits)?;
            animation(name, &data, annotation, 0)
        }
    }
}

fn shipped(name: &str, text: &str, annotation: Annotation) -> Result<Animation, ClipError> {
    from_source(name, &KeyFrames::parse(&format!("animations/source/{name}.yaml"), text)?, annotation)
}

fn from_source(name: &str, source: &KeyFrames, annotation: Annotation) -> Result<Animation, ClipError> {
    let loop_from = if annotation.looping { source.loop_frame(annotation.fps) } else { 0 };
    animation(name, &source.sample(&annotation)?, annotation, loop_from)
}

/// Joints that a frame does not list are zero-filled, so a clip has data of all.
fn animation(
    name: &str,
    data: &ClipData,
    annotation: Annotation,
    loop_from: usize,
) -> Result<Animation, ClipError> {
    Animation::new(name, &data.frames, JointSet::ALL, &annotation, loop_from)
        .map(|animation| animation.with_lift(data.lift.clone().unwrap_or_default()))
        .map_err(|_| ClipError::Empty)
}
