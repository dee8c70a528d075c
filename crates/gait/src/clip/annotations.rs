//! `annotations.yaml`: how the clips of a directory are meant to be played (human-layer specification, section 12.2).

use std::{collections::BTreeMap, path::Path};

use super::{ClipError, Limits, read_text};
use crate::{
    document::{Document, DocumentError},
    joint::Joint,
    joint_set::JointSet,
    yaml::{Node, Value},
};

/// Frames per second of a clip whose annotation says nothing.
pub const DEFAULT_FPS: f64 = 20.0;
/// Clips that are one-shots unless annotated.
pub const ONE_SHOTS: [&str; 6] = ["t-pose", "jump", "seated", "sit", "lie", "collapse_to_ground"];

const KEYS: &[&str] = &["loop", "joints", "reverse", "fps"];
const NPZ_KEYS: &[&str] = &["name", "path", "fps", "loop", "reverse", "joints"];
/// Most clips of a directory that are listened to.
const MOST: usize = 4096;

/// How one clip is played.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Annotation {
    /// Whether it starts over; otherwise it parks on its last frame.
    pub looping: bool,
    /// The joints it drives.
    pub joints: JointSet,
    /// Whether it is played forward, then backward. Only of a looping clip.
    pub reverse: bool,
    /// Frames per second.
    pub fps: f64,
}

impl Default for Annotation {
    fn default() -> Self {
        Self { looping: true, joints: JointSet::ALL, reverse: false, fps: DEFAULT_FPS }
    }
}

impl Annotation {
    /// What holds for a clip that is not annotated.
    #[must_use]
    pub fn of_name(name: &str) -> Self {
        Self { looping: !ONE_SHOTS.contains(&name), ..Self::default() }
    }

    /// The text of the `annotation.yaml` beside the `.npz` of a clip, as [`Annotations::parse_one`] reads it.
    #[must_use]
    pub fn to_yaml(&self, name: &str) -> String {
        let joints = if self.joints == JointSet::ALL {
            "null".to_owned()
        } else {
            let names: Vec<&str> = self.joints.iter().map(Joint::name).collect();
            format!("[{}]", names.join(", "))
        };
        let Self { looping, reverse, fps, .. } = self;
        format!(
            "name: {name:?}\npath: {:?}\nfps: {fps}\nloop: {looping}\nreverse: {reverse}\njoints: {joints}\n",
            format!("Animation/{name}")
        )
    }

    fn parse(
        document: Document<'_>,
        name: &str,
        node: &Node,
        accepted: &'static [&'static str],
    ) -> Result<Self, DocumentError> {
        let mut annotation = Self::of_name(name);
        for (key, value) in document.map(node, name, "a mapping of loop, joints, reverse, fps")? {
            let place = format!("{name}.{}", key.text);
            match key.text.as_str() {
                known if !accepted.contains(&known) => return Err(document.unknown_key(key, name, accepted)),
                "loop" => annotation.looping = document.boolean(value, &place)?,
                "reverse" => annotation.reverse = document.boolean(value, &place)?,
                "fps" => {
                    let fits = |fps: f64| fps > 0.0 && fps <= 1000.0;
                    annotation.fps =
                        document.number(value, &place, "frames per second in (0, 1000]", fits)?;
                }
                "joints" if value.value != Value::Null => {
                    annotation.joints = document.joints(value, &place)?
                }
                _ => {}
            }
        }
        if annotation.reverse && !annotation.looping {
            return Err(document.unexpected(node, name, "reverse only together with loop: true"));
        }
        Ok(annotation)
    }
}

/// The annotations of a directory.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Annotations(BTreeMap<String, Annotation>);

impl Annotations {
    /// Parses the file's text. A clip whose entry does not hold is left out and reported; the others stand.
    pub fn parse(file: &str, text: &str) -> (Self, Vec<DocumentError>) {
        let document = Document { file };
        let mut annotations = BTreeMap::new();
        let node = match document.parse(text) {
            Ok(node) if node.value == Value::Null => return (Self::default(), Vec::new()),
            Ok(node) => node,
            Err(error) => return (Self::default(), vec![error]),
        };
        let entries = match document.map(&node, "annotations", "clip names, each with its annotation") {
            Ok(entries) => entries,
            Err(error) => return (Self::default(), vec![error]),
        };
        let mut problems = Vec::new();
        for (key, value) in entries.iter().take(MOST) {
            // Names with an underscore only carry YAML anchors.
            if key.text.starts_with('_') {
                continue;
            }
            match Annotation::parse(document, &key.text, value, KEYS) {
                Ok(annotation) => drop(annotations.insert(key.text.clone(), annotation)),
                Err(error) => problems.push(error),
            }
        }
        (Self(annotations), problems)
    }

    /// Parses the `annotation.yaml` beside an `.npz`.
    ///
    /// # Errors
    /// The first problem of the file.
    pub fn parse_one(file: &str, name: &str, text: &str) -> Result<Annotation, DocumentError> {
        let document = Document { file };
        Annotation::parse(document, name, &document.parse(text)?, NPZ_KEYS)
    }

    pub(super) fn read(path: &Path, limits: &Limits) -> (Self, Vec<ClipError>) {
        match read_text(path, limits) {
            Ok(text) => {
                let (annotations, problems) = Self::parse(&path.display().to_string(), &text);
                (annotations, problems.into_iter().map(ClipError::from).collect())
            }
            Err(error) => (Self::default(), vec![error]),
        }
    }

    /// Adds the annotations of another file, which win.
    pub(super) fn extend(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    /// The annotation of a clip, or what holds without one.
    #[must_use]
    pub fn of(&self, name: &str) -> Annotation {
        self.0.get(name).copied().unwrap_or_else(|| Annotation::of_name(name))
    }

    /// The annotation of a clip, if it has one.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<Annotation> {
        self.0.get(name).copied()
    }

    /// All annotations in order of names.
    pub fn iter(&self) -> impl Iterator<Item = (&str, Annotation)> {
        self.0.iter().map(|(name, annotation)| (name.as_str(), *annotation))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_defaults_and_anchors() {
        let text = "_arms: &arms [l_elbow, r_elbow]\nwave: {loop: true, joints: *arms, reverse: true, fps: 30}\nsit: {fps: 10}\nx: {}\n";
        let (annotations, problems) = Annotations::parse("a.yaml", text);
        assert!(problems.is_empty(), "{problems:?}");
        let wave = annotations.of("wave");
        assert!(wave.looping && wave.reverse && wave.fps == 30.0 && wave.joints.len() == 2);
        assert!(!annotations.of("sit").looping && annotations.of("sit").joints == JointSet::ALL);
        assert_eq!(annotations.of("x"), Annotation::default());
        assert!(annotations.get("_arms").is_none());
        for name in ONE_SHOTS {
            assert!(!annotations.of(name).looping);
        }
        assert!(annotations.of("anything else").looping);
    }

    #[test]
    fn a_broken_entry_costs_only_itself() {
        let text = "good: {fps: 5}\na: {fsp: 5}\nb: {fps: 0}\nc: {joints: [l_kne]}\nd: {reverse: true, loop: false}\ne: 3\nf: {loop: yes_please}\ng: {joints: []}\n";
        let (annotations, problems) = Annotations::parse("a.yaml", text);
        assert_eq!(annotations.of("good").fps, 5.0);
        let told: Vec<String> = problems.iter().map(ToString::to_string).collect();
        for (problem, expected) in told.iter().zip([
            "a.yaml:2:5: a: unknown key \"fsp\"; accepted: loop",
            "a.yaml:3:10: b.fps: expected frames per second",
            "a.yaml:4:14: c.joints: unknown joint \"l_kne\", did you mean \"l_knee\"?",
            "a.yaml:5:4: d: expected reverse only together with loop",
            "a.yaml:6:4: e: expected a mapping",
            "a.yaml:7:11: f.loop: expected true or false",
            "a.yaml:8:13: g.joints: expected at least one joint",
        ]) {
            assert!(problem.starts_with(expected), "{problem}\n  instead of\n{expected}");
        }
        assert_eq!(told.len(), 7);
        assert_eq!(Annotations::parse("a.yaml", "[1").1.len(), 1);
        assert_eq!(Annotations::parse("a.yaml", "[1]").1.len(), 1);
        assert!(Annotations::parse("a.yaml", "").1.is_empty());
    }

    #[test]
    fn annotations_survive_being_written() {
        let joints = [Joint::LElbow, Joint::RElbow].into_iter().collect();
        for annotation in [
            Annotation::default(),
            Annotation { looping: false, joints, fps: 12.5, ..Annotation::default() },
            Annotation { reverse: true, ..Annotation::default() },
        ] {
            for name in ["jump", "t-pose", "a \"b\""] {
                let text = annotation.to_yaml(name);
                assert_eq!(Annotations::parse_one("annotation.yaml", name, &text), Ok(annotation), "{text}");
            }
        }
    }

    #[test]
    fn the_file_beside_an_npz() {
        let text = "name: hug\npath: Animation/hug\nfps: 25\nloop: true\nreverse: false\njoints: null\n";
        let annotation = Annotations::parse_one("annotation.yaml", "hug", text).unwrap();
        assert_eq!((annotation.fps, annotation.looping, annotation.joints), (25.0, true, JointSet::ALL));
        assert!(Annotations::parse_one("annotation.yaml", "hug", "speed: 1\n").is_err());
    }
}
