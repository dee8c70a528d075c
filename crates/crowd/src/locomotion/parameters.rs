//! What a `locomotion:` block says, with its numbers drawn per agent.

use promenade_scenario::{Distribution, Node};
use serde::{Deserialize, Serialize};

use super::cycle::{Cadence, MOST_HARMONICS, Profile};
use crate::error::{CrowdError, within};
use promenade_kernel::generator::Generator;

/// Which ways a body can go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Drive {
    /// Any way, as people on foot.
    #[default]
    Holonomic,
    /// Only where it faces, as a vehicle.
    AlongHeading,
}

/// A `locomotion:` block of one agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LocomotionParameters {
    /// Which ways the body can go.
    pub drive: Drive,
    /// Rate of the cycle.
    pub cadence: Cadence,
    /// Fraction of a cycle that its first half takes.
    pub split: f64,
    /// What the cycle does to the speed.
    pub speed: Profile,
    /// Factor on the speed profile.
    pub amplitude_scale: f64,
    /// What the cycle does sideways, as a fraction of the speed, to the left.
    pub lateral: Profile,
    /// Length of the body, m; one shorter than two radii is a disc.
    pub footprint_length: f64,
    /// Without progress for this long an agent tries something else, s; 0 never.
    pub stall_after: f64,
    /// How far it then backs up at the second time, m.
    pub reverse: f64,
}

impl Default for LocomotionParameters {
    fn default() -> Self {
        Self {
            drive: Drive::default(),
            cadence: Cadence::default(),
            split: 0.5,
            speed: Profile::default(),
            amplitude_scale: 1.0,
            lateral: Profile::default(),
            footprint_length: 0.0,
            stall_after: 0.0,
            reverse: 0.0,
        }
    }
}

impl LocomotionParameters {
    /// Draw the numbers of a block. What is of another kind than expected counts as not written.
    #[must_use]
    pub fn sample(block: &Node, generator: &mut Generator) -> Self {
        let default = Self::default();
        let mut field = |path: [&str; 2], default: f64| match at(block, path).and_then(distribution) {
            Some(d) if d.std > 0.0 => {
                (d.mean + d.std * generator.standard_normal()).max(d.clip_low).min(d.clip_high)
            }
            Some(d) => d.mean,
            None => default,
        };
        // In the order of the draws.
        let cadence = Cadence {
            base: field(["cadence", "base"], default.cadence.base),
            per_speed: field(["cadence", "per_speed"], default.cadence.per_speed),
            min: field(["cadence", "min"], default.cadence.min),
            max: field(["cadence", "max"], default.cadence.max),
        };
        let split = field(["phase_warp", "split"], default.split).clamp(0.001, 0.999);
        let amplitude_scale = field(["speed_profile", "amplitude_scale"], default.amplitude_scale);
        let footprint_length = field(["footprint_length", ""], default.footprint_length);
        let stall_after = field(["recovery", "stall_after_s"], default.stall_after);
        let reverse = field(["recovery", "reverse_m"], default.reverse);
        let profile = |name: &str| Profile::new(harmonics(at(block, [name, "harmonics"])), split);
        let along = block.get("kinematics").and_then(|k| k.as_str()) == Some("along_heading");
        Self {
            drive: if along { Drive::AlongHeading } else { Drive::Holonomic },
            cadence,
            split,
            speed: profile("speed_profile"),
            amplitude_scale,
            lateral: profile("lateral_profile"),
            footprint_length,
            stall_after,
            reverse,
        }
    }

    /// Half the distance between the two discs of a body of this radius, metres.
    #[must_use]
    pub fn axial_offset(&self, radius: f64) -> f64 {
        (0.5 * self.footprint_length - radius).max(0.0)
    }

    /// Whether the numbers make a gait.
    ///
    /// # Errors
    /// The first number out of its range.
    pub(crate) fn check(&self, id: i32) -> Result<(), CrowdError> {
        let Cadence { base, per_speed, min, max } = self.cadence;
        let numbers = [
            ("cadence.base", base, 100.0),
            ("cadence.per_speed", per_speed, 100.0),
            ("cadence.min", min, 100.0),
            ("cadence.max", max, 100.0),
            ("speed_profile.amplitude_scale", self.amplitude_scale, 100.0),
            ("footprint_length", self.footprint_length, 100.0),
            ("recovery.stall_after_s", self.stall_after, 1e6),
            ("recovery.reverse_m", self.reverse, 100.0),
        ];
        for (name, value, most) in numbers {
            let what = format!("locomotion.{name} of agent {id}");
            let expected = if most > 100.0 { "a number from 0 to 1e6" } else { "a number from 0 to 100" };
            within(&what, value, expected, (0.0..=most).contains(&value))?;
        }
        let split = format!("locomotion.phase_warp.split of agent {id}");
        within(&split, self.split, "a fraction between 0 and 1", self.split > 0.0 && self.split < 1.0)?;
        for value in self.speed.harmonics().iter().chain(self.lateral.harmonics()).flatten() {
            let what = format!("locomotion harmonic of agent {id}");
            within(&what, *value, "a number between -100 and 100", value.abs() <= 100.0)?;
        }
        Ok(())
    }
}

/// The node at a path; an empty last key stands for the node itself.
fn at<'a>(block: &'a Node, [section, key]: [&str; 2]) -> Option<&'a Node> {
    let section = block.get(section)?;
    if key.is_empty() { Some(section) } else { section.get(key) }
}

/// A bare number, or a mapping with a mean.
fn distribution(node: &Node) -> Option<Distribution> {
    if let Some(value) = node.as_f64() {
        return Some(Distribution::exactly(value));
    }
    let number = |key: &str| node.get(key).and_then(Node::as_f64);
    Some(Distribution {
        mean: number("mean")?,
        std: number("std").unwrap_or(0.0),
        clip_low: number("clip_low").unwrap_or(0.01),
        clip_high: number("clip_high").unwrap_or(f64::INFINITY),
    })
}

/// Pairs of amplitude and phase.
fn harmonics(node: Option<&Node>) -> Vec<[f64; 2]> {
    let pair = |node: &Node| match node.items()? {
        [amplitude, phase] => Some([amplitude.as_f64()?, phase.as_f64()?]),
        _ => None,
    };
    let items = node.and_then(Node::items).unwrap_or_default();
    items.iter().filter_map(pair).take(MOST_HARMONICS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use promenade_scenario::AgentTypeLibrary;

    fn block(name: &str) -> &'static Node {
        let library = AgentTypeLibrary::built_in();
        library.named(name).expect("built in").locomotion().expect("a block")
    }

    #[test]
    fn a_wheelchair_is_a_long_vehicle_that_is_pushed_in_strokes() {
        let mut generator = Generator::seeded(3);
        let z = Generator::seeded(3).standard_normal();
        let wheelchair = LocomotionParameters::sample(block("wheelchair_manual"), &mut generator);
        assert_eq!(wheelchair.drive, Drive::AlongHeading);
        assert_eq!(wheelchair.cadence, Cadence { base: 0.6, per_speed: 0.4, min: 0.6, max: 1.4 });
        assert_eq!(wheelchair.speed.harmonics(), [[0.12, 0.0], [0.05, 1.1]]);
        assert_eq!((wheelchair.stall_after, wheelchair.reverse), (3.0, 0.3));
        assert!((wheelchair.axial_offset(0.325) - 0.225).abs() < 1e-12);
        assert_eq!(wheelchair.amplitude_scale, (1.0 + 0.15 * z).clamp(0.5, 1.5), "the only draw");
        wheelchair.check(1).expect("holds");
    }

    #[test]
    fn a_limp_draws_nothing_and_sways() {
        let mut generator = Generator::seeded(3);
        let limp = LocomotionParameters::sample(block("adult_limp_right"), &mut generator);
        assert_eq!((limp.split, limp.drive), (0.58, Drive::Holonomic));
        assert_eq!(limp.lateral.harmonics(), [[0.04, 1.6]]);
        assert_eq!(limp.axial_offset(0.25), 0.0);
        assert_eq!(generator.random(), Generator::seeded(3).random());
    }

    #[test]
    fn nonsense_counts_as_not_written_and_numbers_out_of_range_are_refused() {
        let text = "name: a\nlocomotion: {kinematics: sideways, cadence: fast, footprint_length: [1], speed_profile: {harmonics: [[1], x, [0.1, 0.2]]}}\n";
        let parsed = AgentTypeLibrary::built_in().parse(text, std::path::Path::new("a.yaml")).expect("holds");
        let sampled =
            LocomotionParameters::sample(parsed.locomotion().expect("a block"), &mut Generator::seeded(1));
        assert_eq!(sampled.speed.harmonics(), [[0.1, 0.2]]);
        assert_eq!(
            LocomotionParameters { speed: Profile::default(), ..sampled },
            LocomotionParameters::default()
        );
        let endless = LocomotionParameters { footprint_length: f64::INFINITY, ..Default::default() };
        let error = endless.check(4).expect_err("refused").to_string();
        assert_eq!(
            error,
            "locomotion.footprint_length of agent 4: expected a number from 0 to 100, found inf"
        );
    }
}
