//! The numbers of one agent, drawn from its type (crowd-engine specification, sections 10.3 to 10.5).
//!
//! The order of the draws is part of the format: it decides what every later draw of the stream gives. Overrides come after sampling and
//! change no draw.

use promenade_scenario::{Distribution, ResolvedType};

use crate::error::{CrowdError, within};
use crate::locomotion::LocomotionParameters;
use crate::planner::KindGain;
use promenade_kernel::generator::Generator;

/// The hand an agent prefers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Handedness {
    /// Right.
    #[default]
    Right,
    /// Left.
    Left,
}

/// A key of a planner with the distribution it has unless the type declares another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PlannerKey {
    /// The key in `local_planner_params`.
    pub name: &'static str,
    /// Its own distribution.
    pub default: Distribution,
}

impl PlannerKey {
    /// A key that every agent has the same value of.
    #[must_use]
    pub const fn exactly(name: &'static str, value: f64) -> Self {
        Self { name, default: Distribution::exactly(value) }
    }

    /// A key drawn with the built-in clips.
    #[must_use]
    pub const fn normal(name: &'static str, mean: f64, std: f64) -> Self {
        Self { name, default: Distribution { mean, std, clip_low: 0.01, clip_high: f64::INFINITY } }
    }
}

/// Everything that is drawn or fixed per agent. Angles of view in degrees, all else SI.
#[derive(Debug, Clone, PartialEq)]
pub struct AgentParameters {
    /// Speed the agent wants, m/s.
    pub desired_velocity: f64,
    /// Body radius, m.
    pub radius: f64,
    /// Speed cap, m/s.
    pub max_velocity: f64,
    /// Acceleration limit, m/s2.
    pub max_acceleration: f64,
    /// Deceleration limit, m/s2.
    pub max_deceleration: f64,
    /// Smallest turning circle, m.
    pub min_turning_radius: f64,
    /// Turning rate on the spot, rad/s.
    pub pivot_angular_velocity: f64,
    /// Delay before a stimulus acts, s.
    pub reaction_time: f64,
    /// Personal space, m.
    pub personal_space_min: f64,
    /// How far it sees, m.
    pub vision_range: f64,
    /// Full angle of view, degrees; 360 = all round.
    pub vision_fov: f64,
    /// How near others are noticed from anywhere, m.
    pub proximity_sense: f64,
    /// Whether walls block its sight.
    pub vision_occlusion: bool,
    /// Values of the planner's keys, in the order they were drawn.
    pub planner: Vec<(String, f64)>,
    /// Idle glances per second, Hz.
    pub idle_gaze_rate: f64,
    /// Preferred hand.
    pub handedness: Handedness,
    /// Name of the interaction class.
    pub interaction_class: String,
    /// Factors on the push of some classes, for the planners that have them.
    pub kind_gains: Vec<KindGain>,
    /// How it gets along, if its type has a `locomotion:` block.
    pub locomotion: Option<Box<LocomotionParameters>>,
}

/// Planner keys that divide.
const DIVISORS: [&str; 10] = [
    "relaxation_time",
    "repulsion_range",
    "force_distance",
    "mass",
    "time_horizon",
    "time_horizon_obst",
    "time_gap",
    "turning_time",
    "range_neighbor_repulsion",
    "range_geometry_repulsion",
];

/// The class of somebody whose type names none.
pub const HUMAN_CLASS: &str = "human";

impl AgentParameters {
    /// What an agent of an unknown type gets.
    #[must_use]
    pub fn unknown_type() -> Self {
        Self {
            desired_velocity: 1.3,
            radius: 0.35,
            max_velocity: 2.0,
            max_acceleration: 1.5,
            max_deceleration: 2.5,
            min_turning_radius: 0.3,
            pivot_angular_velocity: 2.0,
            reaction_time: 0.4,
            personal_space_min: 0.6,
            vision_range: 5.0,
            vision_fov: 180.0,
            proximity_sense: 1.0,
            vision_occlusion: true,
            planner: Vec::new(),
            idle_gaze_rate: 0.0,
            handedness: Handedness::Right,
            interaction_class: HUMAN_CLASS.to_owned(),
            kind_gains: Vec::new(),
            locomotion: None,
        }
    }

    /// Draw an agent of a type whose local planner has these keys.
    #[must_use]
    pub fn sample(resolved: &ResolvedType, keys: &[PlannerKey], generator: &mut Generator) -> Self {
        let mut field = |name| draw(resolved.distribution(name), generator);
        let desired_velocity = field("desired_velocity");
        let radius = field("agent_radius");
        let max_velocity = field("max_velocity");
        let max_acceleration = field("max_acceleration");
        let max_deceleration = field("max_deceleration");
        let min_turning_radius = field("min_turning_radius");
        let pivot_angular_velocity = field("pivot_angular_velocity");
        let reaction_time = draw_log_normal(resolved.distribution("reaction_time"), generator);
        let personal_space_min = draw(resolved.distribution("personal_space_min"), generator);
        let mut sense = |name| draw(resolved.perception(name), generator);
        let vision_range = sense("vision_range");
        let vision_fov = sense("vision_fov");
        let proximity_sense = sense("proximity_sense");
        let planner = planner_values(resolved, keys, generator);
        let idle_gaze_rate = draw(resolved.distribution("idle_gaze_rate"), generator);
        let handedness = draw_handedness(resolved, generator);
        let locomotion =
            resolved.locomotion().map(|block| Box::new(LocomotionParameters::sample(block, generator)));
        let document = &resolved.merged.document;
        let occlusion = document.get("perception").and_then(|p| p.get("vision_occlusion"));
        let class = document.get("interaction_class").and_then(|class| class.as_str());
        Self {
            desired_velocity,
            radius,
            max_velocity,
            max_acceleration,
            max_deceleration,
            min_turning_radius,
            pivot_angular_velocity,
            reaction_time,
            personal_space_min,
            vision_range,
            vision_fov,
            proximity_sense,
            vision_occlusion: occlusion.and_then(|o| o.as_bool()).unwrap_or(true),
            planner,
            idle_gaze_rate,
            handedness,
            interaction_class: class.filter(|name| !name.is_empty()).unwrap_or(HUMAN_CLASS).to_owned(),
            kind_gains: Vec::new(),
            locomotion,
        }
    }

    /// Whether the numbers make a body that can be moved.
    ///
    /// # Errors
    /// The first number out of its range.
    pub(crate) fn check(&self, id: i32) -> Result<(), CrowdError> {
        let what = |name: &str| format!("{name} of agent {id}");
        let radius = self.radius;
        within(what("radius"), radius, "a number above 0 and up to 100", radius > 0.0 && radius <= 100.0)?;
        let body = [
            ("desired_velocity", self.desired_velocity),
            ("max_velocity", self.max_velocity),
            ("max_acceleration", self.max_acceleration),
            ("max_deceleration", self.max_deceleration),
            ("min_turning_radius", self.min_turning_radius),
            ("pivot_angular_velocity", self.pivot_angular_velocity),
            ("vision_range", self.vision_range),
            ("vision_fov", self.vision_fov),
            ("proximity_sense", self.proximity_sense),
        ];
        for (name, value) in body {
            within(what(name), value, "a number from 0 to 1e6", (0.0..=1e6).contains(&value))?;
        }
        for (name, value) in &self.planner {
            let value = *value;
            if DIVISORS.contains(&name.as_str()) {
                within(what(name), value, "a number from 0.001 to 1e9", (1e-3..=1e9).contains(&value))?;
            } else {
                within(what(name), value, "a number between -1e9 and 1e9", value.abs() <= 1e9)?;
            }
        }
        self.locomotion.as_ref().map_or(Ok(()), |locomotion| locomotion.check(id))
    }

    /// Move a planner key to another mean: what was drawn keeps its offset, and the clips move along, the lower one no further up or down
    /// than that the new mean lies within (crowd-engine specification, section 23).
    pub(crate) fn move_mean(
        &mut self,
        resolved: Option<&ResolvedType>,
        keys: &[PlannerKey],
        key: &str,
        mean: f64,
    ) {
        let declared = resolved.and_then(|resolved| {
            let file = resolved.merged.local_planner_params.iter().find(|(name, _)| name == key);
            file.map(|(_, d)| *d).or_else(|| word(resolved, key))
        });
        let of_planner = || keys.iter().find(|k| k.name == key).map(|k| k.default);
        let Some(d) = declared.or_else(of_planner) else { return };
        let delta = mean - d.mean;
        let drawn = self.planner_value(key).unwrap_or(d.mean) + delta;
        let moved = if d.std > 0.0 {
            let low = (d.clip_low + delta).max(d.clip_low.min(mean));
            drawn.max(low).min(d.clip_high + delta)
        } else {
            mean
        };
        self.set_planner_value(key, moved);
    }

    /// Value of a planner key.
    #[must_use]
    pub fn planner_value(&self, key: &str) -> Option<f64> {
        self.planner.iter().find(|(name, _)| name == key).map(|(_, value)| *value)
    }

    /// Set a planner key.
    pub fn set_planner_value(&mut self, key: &str, value: f64) {
        match self.planner.iter_mut().find(|(name, _)| name == key) {
            Some((_, slot)) => *slot = value,
            None => self.planner.push((key.to_owned(), value)),
        }
    }
}

/// One clipped normal draw; without deviation the mean itself, and no draw.
fn draw(distribution: Option<Distribution>, generator: &mut Generator) -> f64 {
    let d = distribution.unwrap_or(Distribution::exactly(0.0));
    if d.std > 0.0 {
        return clip(d.mean + d.std * generator.standard_normal(), d);
    }
    d.mean
}

/// As [`draw`], of the logarithm; `mean` is the median and `std` the deviation of the logarithm.
fn draw_log_normal(distribution: Option<Distribution>, generator: &mut Generator) -> f64 {
    let d = distribution.unwrap_or(Distribution::exactly(0.0));
    if d.std > 0.0 {
        return clip((d.mean.ln() + d.std * generator.standard_normal()).exp(), d);
    }
    d.mean
}

/// Out of range values are clipped, not drawn again.
fn clip(value: f64, d: Distribution) -> f64 {
    value.max(d.clip_low).min(d.clip_high)
}

/// The planner's keys in its order, then further ones of the file; a file's distribution replaces the planner's in its place.
fn planner_values(
    resolved: &ResolvedType,
    keys: &[PlannerKey],
    generator: &mut Generator,
) -> Vec<(String, f64)> {
    let declared = &resolved.merged.local_planner_params;
    let of_planner = keys.iter().map(|key| {
        let file = declared.iter().find(|(name, _)| name == key.name).map(|(_, d)| *d);
        (key.name, file.or_else(|| word(resolved, key.name)).unwrap_or(key.default))
    });
    let further = declared.iter().filter(|(name, _)| keys.iter().all(|key| key.name != name));
    of_planner
        .chain(further.map(|(name, d)| (name.as_str(), *d)))
        .map(|(name, d)| (name.to_owned(), draw(Some(d), generator)))
        .collect()
}

/// `heading_source` may be a word.
fn word(resolved: &ResolvedType, key: &str) -> Option<Distribution> {
    let written = resolved.merged.document.get("local_planner_params")?.get(key)?.as_str()?;
    match (key, written) {
        ("heading_source", "attraction") => Some(Distribution::exactly(0.0)),
        ("heading_source", "total") => Some(Distribution::exactly(1.0)),
        _ => None,
    }
}

/// One uniform against the cumulative weights, in the order of the file.
fn draw_handedness(resolved: &ResolvedType, generator: &mut Generator) -> Handedness {
    let hand = |name: &str| if name.starts_with('l') { Handedness::Left } else { Handedness::Right };
    let declared = resolved.merged.document.get("handedness").and_then(|node| node.entries());
    let weights: Vec<(Handedness, f64)> = match declared {
        Some(entries) => {
            entries.iter().map(|e| (hand(&e.key), e.value.as_f64().unwrap_or(0.0).max(0.0))).collect()
        }
        None => vec![(Handedness::Right, 0.9), (Handedness::Left, 0.1)],
    };
    let total: f64 = weights.iter().map(|(_, weight)| weight).sum();
    let drawn = generator.random();
    let mut cumulative = 0.0;
    for (hand, weight) in &weights {
        cumulative += weight / total;
        if drawn < cumulative {
            return *hand;
        }
    }
    weights.last().map_or(Handedness::Right, |(hand, _)| *hand)
}

#[cfg(test)]
mod tests {
    use super::*;
    use promenade_scenario::AgentTypeLibrary;

    #[test]
    fn a_type_of_bare_numbers_is_taken_as_it_is_written() {
        let robot = AgentTypeLibrary::built_in().named("robot").expect("built in");
        let drawn = AgentParameters::sample(robot, &[], &mut Generator::seeded(3));
        assert_eq!((drawn.desired_velocity, drawn.min_turning_radius, drawn.vision_fov), (1.1, 0.0, 360.0));
        assert_ne!(drawn.personal_space_min, 0.6, "what the type does not say is drawn");
    }

    #[test]
    fn a_file_puts_its_distribution_in_the_place_of_the_planners_and_words_for_numbers() {
        let wheelchair = AgentTypeLibrary::built_in().named("wheelchair_manual").expect("built in");
        let keys = [PlannerKey::exactly("lateral_gain", 0.3), PlannerKey::exactly("heading_source", 0.0)];
        let drawn = AgentParameters::sample(wheelchair, &keys, &mut Generator::seeded(3));
        assert_eq!(drawn.interaction_class, "wheelchair");
        assert_eq!(drawn.planner[0], ("lateral_gain".to_owned(), 0.0));
        assert_eq!(drawn.planner[1], ("heading_source".to_owned(), 1.0));
        assert!(drawn.planner_value("relaxation_time").is_some(), "further keys of the file are drawn, too");
    }

    #[test]
    fn numbers_that_make_no_body_are_refused_by_name() {
        let refused = |parameters: AgentParameters| parameters.check(7).expect_err("refused").to_string();
        let flat = AgentParameters { radius: 0.0, ..AgentParameters::unknown_type() };
        assert_eq!(refused(flat), "radius of agent 7: expected a number above 0 and up to 100, found 0");
        let mut instant = AgentParameters::unknown_type();
        instant.set_planner_value("relaxation_time", 0.0);
        assert!(refused(instant).starts_with("relaxation_time of agent 7: expected a number from 0.001"));
        let lost = AgentParameters { vision_range: f64::NAN, ..AgentParameters::unknown_type() };
        assert!(refused(lost).starts_with("vision_range of agent 7"));
    }
}
