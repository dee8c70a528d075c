//! Bringing an agent in: what a request may say, and what it overrides (crowd-engine specification, section 10.5).

use promenade_scenario::ResolvedType;

use crate::error::{CrowdError, coordinate, finite};
use crate::pool::{ClassIndex, Kind};
use crate::sampling::{AgentParameters, HUMAN_CLASS, Handedness, PlannerKey};
use promenade_kernel::generator::Generator;

/// The classes every engine knows.
pub mod class {
    use super::ClassIndex;

    /// Somebody whose type names no class.
    pub const HUMAN: ClassIndex = 0;
    /// Robots.
    pub const ROBOT: ClassIndex = 1;
    /// People in wheelchairs.
    pub const WHEELCHAIR: ClassIndex = 2;
}

/// Names of interaction classes. They are keyed by name, so that an index does not depend on who came first elsewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Classes(Vec<String>);

impl Default for Classes {
    fn default() -> Self {
        Self([HUMAN_CLASS, "robot", "wheelchair"].map(str::to_owned).to_vec())
    }
}

impl Classes {
    /// Index of a class; an unknown name is registered. Beyond 65 535 names everybody is human.
    pub fn index(&mut self, name: &str) -> ClassIndex {
        if let Some(index) = self.0.iter().position(|n| n == name) {
            return index as ClassIndex;
        }
        match ClassIndex::try_from(self.0.len()) {
            Ok(index) => {
                self.0.push(name.to_owned());
                index
            }
            Err(_) => class::HUMAN,
        }
    }

    /// All names, by index.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.0
    }
}

/// One agent to bring in. Of the numbers 0 means: as the type has it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SpawnRequest {
    /// Id; 0 asks for a new one above all ids seen.
    pub id: i32,
    /// x, y, theta.
    pub pose: [f64; 3],
    /// Velocity, m/s.
    pub velocity: [f64; 2],
    /// Person or robot.
    pub kind: Kind,
    /// Local planner of this agent alone.
    pub planner: Option<String>,
    /// What its planner is told of it alone, as JSON; empty says nothing.
    pub policy_params: String,
    /// Speed it wants, m/s.
    pub desired_velocity: f64,
    /// Speed cap, m/s.
    pub max_velocity: f64,
    /// Body radius, m.
    pub radius: f64,
    /// How far it sees, m.
    pub vision_range: f64,
    /// Angle of view, degrees.
    pub vision_fov: f64,
    /// Relaxation time of the force planners, s.
    pub relaxation_time: f64,
    /// Strength of repulsion of the force planners, m/s2.
    pub repulsion_strength: f64,
    /// Range of repulsion of the force planners, m.
    pub repulsion_range: f64,
    /// Preferred hand.
    pub handedness: Option<Handedness>,
}

impl SpawnRequest {
    /// Whether all numbers are numbers.
    pub(crate) fn check(&self) -> Result<(), CrowdError> {
        coordinate(format_args!("x of agent {}", self.id), self.pose[0])?;
        coordinate(format_args!("y of agent {}", self.id), self.pose[1])?;
        let numbers = [
            ("theta", self.pose[2]),
            ("velocity", self.velocity[0]),
            ("velocity", self.velocity[1]),
            ("desired_velocity", self.desired_velocity),
            ("max_velocity", self.max_velocity),
            ("radius", self.radius),
            ("vision_range", self.vision_range),
            ("vision_fov", self.vision_fov),
            ("relaxation_time", self.relaxation_time),
            ("repulsion_strength", self.repulsion_strength),
            ("repulsion_range", self.repulsion_range),
        ];
        for (name, value) in numbers {
            finite(format_args!("{name} of agent {}", self.id), value)?;
        }
        Ok(())
    }

    /// What this request says, and where it says nothing what `before` said.
    pub(crate) fn over(self, before: &Self) -> Self {
        let or = |own: f64, before: f64| if own > 0.0 { own } else { before };
        Self {
            desired_velocity: or(self.desired_velocity, before.desired_velocity),
            max_velocity: or(self.max_velocity, before.max_velocity),
            radius: or(self.radius, before.radius),
            vision_range: or(self.vision_range, before.vision_range),
            vision_fov: or(self.vision_fov, before.vision_fov),
            relaxation_time: or(self.relaxation_time, before.relaxation_time),
            repulsion_strength: or(self.repulsion_strength, before.repulsion_strength),
            repulsion_range: or(self.repulsion_range, before.repulsion_range),
            handedness: self.handedness.or(before.handedness),
            ..self
        }
    }

    /// Lay what the request says over what was sampled.
    fn override_sample(&self, parameters: &mut AgentParameters) {
        let over = |sampled: &mut f64, wanted: f64| {
            if wanted > 0.0 {
                *sampled = wanted;
            }
        };
        over(&mut parameters.desired_velocity, self.desired_velocity);
        over(&mut parameters.max_velocity, self.max_velocity);
        over(&mut parameters.radius, self.radius);
        over(&mut parameters.vision_range, self.vision_range);
        over(&mut parameters.vision_fov, self.vision_fov);
        for (key, value) in [
            ("relaxation_time", self.relaxation_time),
            ("repulsion_strength", self.repulsion_strength),
            ("repulsion_range", self.repulsion_range),
        ] {
            if value > 0.0 {
                parameters.set_planner_value(key, value);
            }
        }
        parameters.handedness = self.handedness.unwrap_or(parameters.handedness);
    }

    /// The numbers of agent `id`: drawn from its own stream, moved to other `means` of planner keys, then overridden. Without a type
    /// those of an unknown one.
    #[must_use]
    pub fn parameters(
        &self,
        seed: i64,
        id: i32,
        resolved: Option<&ResolvedType>,
        keys: &[PlannerKey],
        means: &[(&str, f64)],
    ) -> AgentParameters {
        let mut parameters = match resolved {
            Some(resolved) => {
                let mut generator = Generator::named(seed, &format!("agent_{id}_params"));
                AgentParameters::sample(resolved, keys, &mut generator)
            }
            None => AgentParameters::unknown_type(),
        };
        for (key, mean) in means {
            parameters.move_mean(resolved, keys, key, *mean);
        }
        self.override_sample(&mut parameters);
        parameters
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_the_same_whoever_comes_first() {
        let mut classes = Classes::default();
        assert_eq!(classes.index("wheelchair"), class::WHEELCHAIR);
        assert_eq!((classes.index("pram"), classes.index("dog"), classes.index("pram")), (3, 4, 3));
    }

    #[test]
    fn a_request_overrides_only_what_it_says() {
        let request = SpawnRequest { desired_velocity: 0.9, repulsion_range: 0.5, ..SpawnRequest::default() };
        let parameters = request.parameters(1, 1, None, &[], &[]);
        assert_eq!((parameters.desired_velocity, parameters.radius), (0.9, 0.35));
        assert_eq!(parameters.planner_value("repulsion_range"), Some(0.5));
        assert_eq!(parameters.planner_value("relaxation_time"), None);
    }

    #[test]
    fn a_number_that_is_none_is_refused_by_name() {
        let request = SpawnRequest { id: 4, radius: f64::INFINITY, ..SpawnRequest::default() };
        let error = request.check().expect_err("refused").to_string();
        assert_eq!(error, "radius of agent 4: expected a finite number, found inf");
    }
}
