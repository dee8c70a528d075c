//! What an agent type file says about poses, as written, and how a child's file goes over its parent's.
//!
//! Every part remembers file and position, since only the merged whole can be judged. It must never look at a library.

use std::{collections::BTreeMap, sync::Arc};

use crate::{
    document::DocumentProblem,
    error::{ProfileErrors, ProfileProblem},
    joint::Joint,
    manner::Manner,
    profile::{PhaseWarp, Signal},
    profile_file::{CADENCE_KEYS, GAIN_KEYS, Reader},
    yaml::{Key, Node, Position, Value},
};

const POSE_KEYS: &[&str] = &["walk", "run", "idle", "manner"];
/// Keys of a manner with the largest value of each.
const MANNER_KEYS: &[&str] = &["turn_lead", "idle_variety", "settle"];
const MOST_OF_MANNER: [f64; 3] = [2.0, 1.0, 5.0];
const GAIT_KEYS: &[&str] =
    &["base", "same_as", "symmetric", "phase_warp", "cadence", "gain", "limits", "joints"];
const OPS: &[&str] = &["set", "scale", "offset"];

/// Where something was written.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Spot {
    pub(crate) file: Arc<str>,
    pub(crate) at: Position,
}

/// A value and where it was written.
pub(crate) type Placed<T> = (T, Spot);

/// One change of a signal.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Op {
    Set(Signal),
    Scale(f64),
    Offset(Signal),
}

/// One gait section.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct GaitSection {
    pub(crate) base: Option<Placed<String>>,
    pub(crate) same_as: Option<Placed<String>>,
    pub(crate) symmetric: Option<Placed<bool>>,
    pub(crate) phase_warp: Option<Placed<PhaseWarp>>,
    pub(crate) cadence: Option<Placed<[Option<f64>; 4]>>,
    pub(crate) gain: Option<Placed<[Option<f64>; 4]>>,
    pub(crate) limits: Option<Placed<BTreeMap<Joint, [f64; 2]>>>,
    /// Targets with their operations, in written order.
    pub(crate) joints: Vec<(String, Placed<Vec<Op>>)>,
}

impl GaitSection {
    /// The child's keys win; limits and joints go entry by entry, a repeated target keeping its parent's turn.
    fn extended_by(self, child: Self) -> Self {
        let limits = match (self.limits, child.limits) {
            (Some((mut limits, _)), Some((over, spot))) => {
                limits.extend(over);
                Some((limits, spot))
            }
            (parent, child) => child.or(parent),
        };
        let mut joints = self.joints;
        for (target, ops) in child.joints {
            match joints.iter_mut().find(|(known, _)| *known == target) {
                Some((_, slot)) => *slot = ops,
                None => joints.push((target, ops)),
            }
        }
        Self {
            base: child.base.or(self.base),
            same_as: child.same_as.or(self.same_as),
            symmetric: child.symmetric.or(self.symmetric),
            phase_warp: child.phase_warp.or(self.phase_warp),
            cadence: child.cadence.or(self.cadence),
            gain: child.gain.or(self.gain),
            limits,
            joints,
        }
    }
}

/// What an agent type says about poses.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct TypeSection {
    pub(crate) extends: Option<Placed<String>>,
    pub(crate) walk: Option<GaitSection>,
    pub(crate) run: Option<GaitSection>,
    pub(crate) idle: Option<GaitSection>,
    /// The values of [`MANNER_KEYS`].
    manner: [Option<f64>; 3],
    /// `locomotion.phase_warp.split`.
    pub(crate) locomotion_split: Option<PhaseWarp>,
}

impl TypeSection {
    /// Reads the root node of an agent type file.
    pub(crate) fn of(file: &Arc<str>, node: &Node) -> Result<Self, ProfileErrors> {
        let mut reader = SectionReader { reader: Reader { file, problems: Vec::new() }, file };
        let section = reader.agent_type(node);
        match section {
            Some(section) if reader.reader.problems.is_empty() => Ok(section),
            _ => Err(ProfileErrors(reader.reader.problems)),
        }
    }

    /// This parent with a child's section over it; the parent's own `extends` is what is left to follow.
    pub(crate) fn extended_by(self, child: Self) -> Self {
        let gait = |parent: Option<GaitSection>, child: Option<GaitSection>| match (parent, child) {
            (Some(parent), Some(child)) => Some(parent.extended_by(child)),
            (parent, child) => child.or(parent),
        };
        Self {
            extends: self.extends,
            walk: gait(self.walk, child.walk),
            run: gait(self.run, child.run),
            idle: gait(self.idle, child.idle),
            manner: std::array::from_fn(|key| child.manner[key].or(self.manner[key])),
            locomotion_split: child.locomotion_split.or(self.locomotion_split),
        }
    }

    /// Whether nothing is said about poses at all.
    pub(crate) fn is_silent(&self) -> bool {
        self.walk.is_none()
            && self.run.is_none()
            && self.idle.is_none()
            && self.manner().is_none()
            && self.locomotion_split.is_none()
    }

    /// The manner, if any key of it is there.
    pub(crate) fn manner(&self) -> Option<Manner> {
        let [turn_lead, idle_variety, settle] = self.manner.map(|value| value.unwrap_or(0.0));
        self.manner.iter().any(Option::is_some).then_some(Manner { turn_lead, idle_variety, settle })
    }
}

struct SectionReader<'a> {
    reader: Reader<'a>,
    file: &'a Arc<str>,
}

impl SectionReader<'_> {
    fn spot(&self, at: Position) -> Spot {
        Spot { file: Arc::clone(self.file), at }
    }

    fn agent_type(&mut self, node: &Node) -> Option<TypeSection> {
        let mut section = TypeSection::default();
        for (key, value) in self.reader.map("agent type", node)? {
            match (key.text.as_str(), &value.value) {
                ("extends" | "pose" | "locomotion", Value::Null) => {}
                ("extends", _) => {
                    section.extends =
                        self.reader.text("extends", value).map(|name| (name, self.spot(value.at)));
                }
                ("pose", _) => self.pose(value, &mut section),
                ("locomotion", _) => section.locomotion_split = self.locomotion_split(value),
                _ => {}
            }
        }
        Some(section)
    }

    fn pose(&mut self, node: &Node, section: &mut TypeSection) {
        for (key, value) in self.reader.map("pose", node).unwrap_or_default() {
            match key.text.as_str() {
                "walk" => section.walk = Some(self.gait("walk", value)),
                "run" => section.run = Some(self.gait("run", value)),
                "idle" => section.idle = Some(self.gait("idle", value)),
                "manner" => section.manner = self.manner(value),
                _ => self.reader.unknown_key("pose", key, POSE_KEYS),
            }
        }
    }

    fn manner(&mut self, node: &Node) -> [Option<f64>; 3] {
        let mut manner = [None; 3];
        if node.value == Value::Null {
            return manner;
        }
        for (key, value) in self.reader.map("pose.manner", node).unwrap_or_default() {
            let Some(index) = MANNER_KEYS.iter().position(|known| *known == key.text) else {
                self.reader.unknown_key("pose.manner", key, MANNER_KEYS);
                continue;
            };
            let place = format!("manner.{}", key.text);
            let Some(found) = self.reader.number(&place, value) else { continue };
            if (0.0..=MOST_OF_MANNER[index]).contains(&found) {
                manner[index] = Some(found);
            } else {
                let expected = ["0 to 2 seconds", "0 to 1", "0 to 5 seconds"][index];
                self.reader.report(value.at, ProfileProblem::OutOfRange { place, expected, found });
            }
        }
        manner
    }

    fn gait(&mut self, place: &str, node: &Node) -> GaitSection {
        let mut gait = GaitSection::default();
        if node.value == Value::Null {
            return gait;
        }
        for (key, value) in self.reader.map(&format!("pose.{place}"), node).unwrap_or_default() {
            let spot = self.spot(value.at);
            match key.text.as_str() {
                "base" => gait.base = self.reader.text(&format!("{place}.base"), value).map(|v| (v, spot)),
                "same_as" => {
                    gait.same_as = self.reader.text(&format!("{place}.same_as"), value).map(|v| (v, spot));
                }
                "symmetric" => match value.value {
                    Value::Bool(symmetric) => gait.symmetric = Some((symmetric, spot)),
                    _ => {
                        let place = format!("{place}.symmetric");
                        self.reader.wrong_type::<()>(&place, "true or false", value);
                    }
                },
                "phase_warp" => gait.phase_warp = self.reader.phase_warp(value).map(|v| (v, spot)),
                "cadence" => gait.cadence = Some((self.reader.law("cadence", CADENCE_KEYS, value), spot)),
                "gain" => gait.gain = Some((self.reader.law("gain", GAIN_KEYS, value), spot)),
                "limits" => gait.limits = Some((self.reader.limits(value), spot)),
                "joints" => gait.joints = self.joints(place, value),
                _ => self.reader.unknown_key(&format!("pose.{place}"), key, GAIT_KEYS),
            }
        }
        gait
    }

    fn joints(&mut self, gait: &str, node: &Node) -> Vec<(String, Placed<Vec<Op>>)> {
        let mut joints = Vec::new();
        for (key, value) in self.reader.map(&format!("{gait}.joints"), node).unwrap_or_default() {
            let place = format!("{gait}.joints.{}", key.text);
            let ops = self.ops(&place, key, value);
            joints.push((key.text.clone(), (ops, self.spot(key.at))));
        }
        joints
    }

    fn ops(&mut self, place: &str, target: &Key, node: &Node) -> Vec<Op> {
        let mut ops = Vec::new();
        let Some(entries) = self.reader.map(place, node) else { return ops };
        if entries.is_empty() {
            let place = place.to_owned();
            let found = "an empty mapping".to_owned();
            let expected = "set, scale or offset".to_owned();
            self.reader.report(target.at, DocumentProblem::Unexpected { place, expected, found });
        }
        for (key, value) in entries {
            match key.text.as_str() {
                "set" => ops.push(Op::Set(self.reader.signal(&format!("{place}.set"), value))),
                "offset" => ops.push(Op::Offset(self.reader.signal(&format!("{place}.offset"), value))),
                "scale" => ops.extend(self.reader.number(&format!("{place}.scale"), value).map(Op::Scale)),
                _ => self.reader.unknown_key(place, key, OPS),
            }
        }
        ops
    }

    /// The split of `locomotion: {phase_warp: {split: number or {mean, ..}}}`. What else `locomotion` holds is not read.
    fn locomotion_split(&mut self, node: &Node) -> Option<PhaseWarp> {
        let field = |node: &Node, name: &str| match &node.value {
            Value::Map(entries) => {
                entries.iter().find(|(key, _)| key.text == name).map(|(_, value)| value.clone())
            }
            _ => None,
        };
        let split = field(&field(node, "phase_warp")?, "split")?;
        let split = field(&split, "mean").unwrap_or(split);
        let place = "locomotion.phase_warp.split";
        let found = self.reader.number(place, &split)?;
        let warp = PhaseWarp::new(found);
        if warp.is_none() {
            let expected = "a number between 0 and 1, both excluded";
            let place = place.to_owned();
            self.reader.report(split.at, ProfileProblem::OutOfRange { place, expected, found });
        }
        warp
    }
}
