//! Key-frame files: clips that a person can write and change.
//!
//! ```yaml
//! limits: {r_hip: [-0.4, 2.0]}      # joints that leave the wire limits on purpose
//! loop_from: 0.6                    # seconds; a looping clip comes back to here, what is before plays once
//! keys:
//!   - {t: 0.0, p_shoulder: 0.0}     # a pair name moves both sides
//!   - {t: 0.6, p_shoulder: 1.2, l_elbow: 0.4}
//!   - {t: 1.2, p_shoulder: 0.9}
//!   - {t: 1.8, p_shoulder: 1.2}
//! ```
//!
//! Between two keys that name it, a joint eases with a raised cosine. Before its first key a joint is 0 at t = 0, after
//! its last key it stays. A looping clip must end as it is at `loop_from`.
//!
//! `lift` in a key is how high the lowest point of the body is over the floor, metres, and moves like a joint. Pictures use
//! it; a posture on the bus has no root, so there the hips keep their height.

use std::path::Path;

use super::{Annotation, ClipData, ClipError, Limits, read_text};
use crate::{
    document::{Document, DocumentError},
    joint::{JOINT_COUNT, Joint},
    joint_set::JointSet,
    yaml::{Node, Position},
};

const KEYS: &[&str] = &["limits", "loop_from", "keys"];
/// Longest clip in seconds, and most keys.
const LONGEST: f64 = 600.0;
const MOST_KEYS: usize = 2000;
/// Key of the height over the floor, and the highest.
const LIFT: &str = "lift";
const HIGHEST: f64 = 10.0;
/// How far a loop may be from closing, radians.
const OPEN: f64 = 1e-6;

/// A parsed key-frame file.
#[derive(Debug, Clone, PartialEq)]
pub struct KeyFrames {
    file: String,
    end_at: Position,
    /// Per joint, (seconds, radians) in order of time; empty for a joint that stays 0.
    tracks: Vec<Vec<[f64; 2]>>,
    /// (seconds, metres) of the lowest point over the floor.
    lift: Vec<[f64; 2]>,
    limits: [[f64; 2]; JOINT_COUNT],
    loop_from: f64,
    duration: f64,
}

impl KeyFrames {
    /// Parses the text of a key-frame file.
    ///
    /// # Errors
    /// The first problem, with line and column.
    pub fn parse(file: &str, text: &str) -> Result<Self, DocumentError> {
        const FORM: &str = "keys: a list of {t: seconds, <joint>: radians, ...}";
        let document = Document { file };
        let node = document.parse(text)?;
        let mut source = Self {
            file: file.to_owned(),
            end_at: node.at,
            tracks: vec![Vec::new(); JOINT_COUNT],
            lift: Vec::new(),
            limits: Joint::WIRE_LIMITS,
            loop_from: 0.0,
            duration: 0.0,
        };
        let entries = document.map(&node, "clip", FORM)?;
        let mut keys = None;
        for (key, value) in entries {
            match key.text.as_str() {
                "limits" => source.parse_limits(document, value)?,
                "loop_from" => {
                    let fits = |t: f64| (0.0..=LONGEST).contains(&t);
                    source.loop_from = document.number(value, "loop_from", "seconds from 0", fits)?;
                }
                "keys" => keys = Some(value),
                _ => return Err(document.unknown_key(key, "clip", KEYS)),
            }
        }
        let Some(keys) = keys else {
            let place = "clip".to_owned();
            let problem = crate::document::DocumentProblem::MissingKey { place, key: "keys", form: FORM };
            return Err(document.error(node.at, problem));
        };
        let items = document.list(keys, "keys", FORM)?;
        if items.is_empty() || items.len() > MOST_KEYS {
            return Err(document.unexpected(keys, "keys", format!("1 to {MOST_KEYS} keys")));
        }
        let mut before = f64::NEG_INFINITY;
        for item in items {
            before = source.parse_key(document, item, before)?;
            source.end_at = item.at;
        }
        source.duration = before;
        let tracks = source.tracks.iter_mut().chain([&mut source.lift]);
        for track in tracks.filter(|track| track.first().is_some_and(|key| key[0] > 0.0)) {
            track.insert(0, [0.0, 0.0]);
        }
        Ok(source)
    }

    /// Reads and parses a file.
    ///
    /// # Errors
    /// As [`Self::parse`], or the file cannot be read.
    pub fn read(path: &Path, limits: &Limits) -> Result<Self, ClipError> {
        Ok(Self::parse(&path.display().to_string(), &read_text(path, limits)?)?)
    }

    fn parse_limits(&mut self, document: Document<'_>, node: &Node) -> Result<(), DocumentError> {
        for (key, value) in document.map(node, "limits", "joints with [lowest, highest]")? {
            let place = format!("limits.{}", key.text);
            let form = "[lowest, highest] in radians";
            let pair: &[Node; 2] = document
                .list(value, &place, form)?
                .try_into()
                .map_err(|_| document.unexpected(value, &*place, form))?;
            let lo = document.number(&pair[0], &place, form, |_| true)?;
            let hi = document.number(&pair[1], &place, form, |hi| hi >= lo)?;
            for joint in targets(document, &key.text, key.at, "limits")?.iter() {
                self.limits[joint.index()] = [lo, hi];
            }
        }
        Ok(())
    }

    fn parse_key(&mut self, document: Document<'_>, node: &Node, before: f64) -> Result<f64, DocumentError> {
        const FORM: &str = "{t: seconds, <joint>: radians, ...}";
        let entries = document.map(node, "key", FORM)?;
        let Some((_, t)) = entries.iter().find(|(key, _)| key.text == "t") else {
            let place = "key".to_owned();
            let problem = crate::document::DocumentProblem::MissingKey { place, key: "t", form: FORM };
            return Err(document.error(node.at, problem));
        };
        let fits = |t: f64| t > before && (0.0..=LONGEST).contains(&t);
        let t = document.number(t, "t", "seconds, each key later than the one before", fits)?;
        for (key, value) in entries.iter().filter(|(key, _)| key.text != "t") {
            if key.text == LIFT {
                let fits = |lift: f64| (0.0..=HIGHEST).contains(&lift);
                self.lift.push([t, document.number(value, LIFT, "metres over the floor", fits)?]);
                continue;
            }
            for joint in targets(document, &key.text, key.at, "key")?.iter() {
                let [lo, hi] = self.limits[joint.index()];
                let form = format!("radians within [{lo}, {hi}], or other limits at the top of the file");
                let angle =
                    document.number(value, joint.name(), &form, |angle| angle >= lo && angle <= hi)?;
                self.tracks[joint.index()].push([t, angle]);
            }
        }
        Ok(t)
    }

    /// Time of the last key, seconds.
    #[must_use]
    pub fn duration(&self) -> f64 {
        self.duration
    }

    /// The limits the file keeps to, radians, in wire order.
    #[must_use]
    pub fn limits(&self) -> &[[f64; 2]; JOINT_COUNT] {
        &self.limits
    }

    /// The frame a looping clip comes back to.
    #[must_use]
    pub fn loop_frame(&self, fps: f64) -> usize {
        (self.loop_from * fps).round() as usize
    }

    /// Joints that a key names.
    #[must_use]
    pub fn joints(&self) -> JointSet {
        Joint::ALL.into_iter().filter(|joint| !self.tracks[joint.index()].is_empty()).collect()
    }

    /// The angle of a joint, radians, at a time in seconds.
    #[must_use]
    pub fn at(&self, joint: Joint, t: f64) -> f64 {
        eased(&self.tracks[joint.index()], t)
    }

    /// How high the lowest point of the body is over the floor at a time in seconds, metres.
    #[must_use]
    pub fn lift(&self, t: f64) -> f64 {
        eased(&self.lift, t)
    }

    /// The frames for an annotation's rate. A looping clip leaves the last frame out, for it is the one at `loop_from`
    /// again; a reverse clip has it, since it turns around there.
    ///
    /// # Errors
    /// A loop that does not close.
    pub fn sample(&self, annotation: &Annotation) -> Result<ClipData, DocumentError> {
        let steps = (self.duration * annotation.fps).round() as usize;
        let closed = annotation.looping && !annotation.reverse && steps > 0;
        if closed {
            let document = Document { file: &self.file };
            let open = Joint::ALL.into_iter().find(|joint| {
                (self.at(*joint, self.duration) - self.at(*joint, self.loop_from)).abs() > OPEN
            });
            let found = match open {
                Some(joint) => format!("{joint} at {} there", self.at(joint, self.loop_from)),
                None if self.loop_frame(annotation.fps) >= steps => "loop_from after it".to_owned(),
                None => String::new(),
            };
            if !found.is_empty() {
                let problem = crate::document::DocumentProblem::Unexpected {
                    place: "the last key of a looping clip".to_owned(),
                    expected: "the posture at loop_from".to_owned(),
                    found,
                };
                return Err(document.error(self.end_at, problem));
            }
        }
        let count = if closed { steps } else { steps + 1 };
        let times = (0..count).map(|frame| frame as f64 / annotation.fps);
        let frames =
            times.clone().map(|t| std::array::from_fn(|index| self.at(Joint::ALL[index], t))).collect();
        let lift = (!self.lift.is_empty()).then(|| times.map(|t| self.lift(t)).collect());
        Ok(ClipData { lift, ..ClipData::of_frames(frames, JointSet::ALL) })
    }
}

/// The value of a track at a time; 0 without one.
fn eased(track: &[[f64; 2]], t: f64) -> f64 {
    let after = track.partition_point(|key| key[0] <= t);
    match (after.checked_sub(1).map(|before| track[before]), track.get(after)) {
        (Some([t0, from]), Some([t1, to])) => from + (to - from) * raised_cosine((t - t0) / (t1 - t0)),
        (Some([_, last]), None) => last,
        _ => 0.0,
    }
}

/// Rises from 0 to 1 over [0, 1] without a jerk at either end.
pub(crate) fn raised_cosine(x: f64) -> f64 {
    0.5 - 0.5 * (std::f64::consts::PI * x.clamp(0.0, 1.0)).cos()
}

/// The joints a name means: a pair first, as in pose profiles, then a bare joint.
fn targets(document: Document<'_>, name: &str, at: Position, place: &str) -> Result<JointSet, DocumentError> {
    let mut set = JointSet::EMPTY;
    if name.len() < 32
        && let Some(left) = Joint::parse(&format!("l_{name}"))
        && let Some(right) = left.partner()
    {
        set.insert(left);
        set.insert(right);
    } else {
        set.insert(document.joint(name, at, place)?);
    }
    Ok(set)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joints_ease_between_the_keys_that_name_them() {
        let text = "keys:\n  - {t: 0, l_elbow: 0.5}\n  - {t: 1, knee: -1.0}\n  - {t: 2, l_elbow: 1.5}\n";
        let source = KeyFrames::parse("c.yaml", text).unwrap();
        assert_eq!(source.at(Joint::LElbow, 0.0), 0.5);
        assert!((source.at(Joint::LElbow, 1.0) - 1.0).abs() < 1e-12);
        assert!((source.at(Joint::LKnee, 0.5) + 0.5).abs() < 1e-12);
        assert_eq!((source.at(Joint::RKnee, 1.5), source.at(Joint::RElbow, 1.0)), (-1.0, 0.0));
        let shot = Annotation { looping: false, ..Annotation::default() };
        assert_eq!(source.sample(&shot).unwrap().frames.len(), 41);
    }

    #[test]
    fn loops_must_close() {
        let open = "keys:\n  - {t: 0}\n  - {t: 1, waist: 0.2}\n";
        let error = KeyFrames::parse("c.yaml", open).unwrap().sample(&Annotation::default()).unwrap_err();
        assert_eq!(error.line, 3, "{error}");
        let closed =
            "loop_from: 0.5\nkeys:\n  - {t: 0}\n  - {t: 0.5, waist: 0.2}\n  - {t: 1.5, waist: 0.2}\n";
        let source = KeyFrames::parse("c.yaml", closed).unwrap();
        assert_eq!(source.sample(&Annotation::default()).unwrap().frames.len(), 30);
        assert_eq!(source.loop_frame(20.0), 10);
    }

    #[test]
    fn problems_say_where() {
        for (text, expected) in [
            ("key: []\n", "c.yaml:1:1: clip: unknown key \"key\", did you mean \"keys\"?"),
            ("loop_from: 1\n", "c.yaml:1:1: clip: missing key \"keys\""),
            ("keys: []\n", "c.yaml:1:7: keys: expected 1 to"),
            ("keys: [{waist: 0}]\n", "c.yaml:1:8: key: missing key \"t\""),
            ("keys: [{t: 1}, {t: 1}]\n", "c.yaml:1:20: t: expected seconds, each key later"),
            (
                "keys: [{t: 1, weist: 0}]\n",
                "c.yaml:1:15: key: unknown joint \"weist\", did you mean \"waist\"?",
            ),
            ("keys: [{t: 1, lift: -1}]\n", "c.yaml:1:21: lift: expected metres over the floor"),
            ("keys: [{t: 1, waist: 2}]\n", "c.yaml:1:22: waist: expected radians within [-0.2, 1]"),
            ("limits: {hip: [1]}\nkeys: []\n", "c.yaml:1:15: limits.hip"),
            ("limits: {waist: [1, 0]}\nkeys: []\n", "c.yaml:1:21: limits.waist"),
        ] {
            let told = KeyFrames::parse("c.yaml", text).unwrap_err().to_string();
            assert!(told.starts_with(expected), "{told}\n  instead of\n{expected}");
        }
    }

    #[test]
    fn a_lift_moves_like_a_joint() {
        let text = "keys:\n  - {t: 0.5, lift: 0}\n  - {t: 1, lift: 0.4}\n  - {t: 2, lift: 0}\n";
        let source = KeyFrames::parse("c.yaml", text).unwrap();
        assert_eq!((source.lift(0.0), source.lift(1.0), source.lift(9.0)), (0.0, 0.4, 0.0));
        assert!((source.lift(1.5) - 0.2).abs() < 1e-12);
        let shot = Annotation { looping: false, ..Annotation::default() };
        let lift = source.sample(&shot).unwrap().lift.unwrap();
        assert_eq!((lift.len(), lift[20]), (41, 0.4));
    }

    #[test]
    fn a_pair_comes_before_a_joint() {
        let source = KeyFrames::parse("c.yaml", "keys: [{t: 0, r_wrist: 0.4}]\n").unwrap();
        let names: Vec<_> = source.joints().iter().map(Joint::name).collect();
        assert_eq!(names, ["l_r_wrist", "r_r_wrist"]);
    }
}
