//! The agents as a structure of arrays (crowd-engine specification, section 8.1).
//!
//! A row is an index into every column. Removal moves the last row into the hole, so rows change; ids do not. The pool holds state and
//! knows no rule of motion.

use std::collections::BTreeMap;

use crate::locomotion::initial_phase;
use crate::planner::GainIndex;
use crate::sampling::AgentParameters;

/// Who an agent is to the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Kind {
    /// A person.
    #[default]
    Human,
    /// A robot.
    Robot,
}

/// Index of an interaction class in the engine's table of class names.
pub type ClassIndex = u16;

/// `policy` of a row that no planner moves.
pub const NO_POLICY: i16 = -1;

macro_rules! columns {
    ($($(#[$doc:meta])* $name:ident: $kind:ty,)*) => {
        /// One agent's row, as it enters the pool.
        #[derive(Debug, Clone, Copy, PartialEq)]
        pub(crate) struct Row {
            $(pub(crate) $name: $kind,)*
        }

        /// The columns. All have the same length; distances in metres, angles in radians, times in seconds.
        #[derive(Debug, Clone, Default)]
        pub struct Pool {
            /// Row of every id.
            rows: BTreeMap<i32, u32>,
            /// Rows with an `axial_offset`.
            long_bodies: usize,
            $($(#[$doc])* pub $name: Vec<$kind>,)*
        }

        impl Pool {
            /// Append a row. The caller has made sure that the id is new.
            pub(crate) fn push(&mut self, row: Row) -> usize {
                let index = self.id.len();
                self.rows.insert(row.id, index as u32);
                self.long_bodies += usize::from(row.axial_offset > 0.0);
                $(self.$name.push(row.$name);)*
                index
            }

            /// Remove a row; the last one takes its place.
            pub(crate) fn swap_remove(&mut self, row: usize) {
                self.rows.remove(&self.id[row]);
                self.long_bodies -= usize::from(self.axial_offset[row] > 0.0);
                $(self.$name.swap_remove(row);)*
                if let Some(moved) = self.id.get(row) {
                    self.rows.insert(*moved, row as u32);
                }
            }

            /// A pool with room for `capacity` agents.
            #[must_use]
            pub fn with_capacity(capacity: usize) -> Self {
                Self { rows: BTreeMap::new(), long_bodies: 0, $($name: Vec::with_capacity(capacity),)* }
            }
        }
    };
}

columns! {
    /// Agent id.
    id: i32,
    /// Position, x.
    x: f64,
    /// Position, y.
    y: f64,
    /// Velocity, x.
    vx: f64,
    /// Velocity, y.
    vy: f64,
    /// Velocity at the start of the tick, x.
    previous_vx: f64,
    /// Velocity at the start of the tick, y.
    previous_vy: f64,
    /// Body heading, not wrapped.
    theta: f64,
    /// Speed the agent wants.
    desired_velocity: f64,
    /// Body radius.
    radius: f64,
    /// Speed cap.
    max_velocity: f64,
    /// Largest gain of velocity per second.
    max_acceleration: f64,
    /// Largest loss of velocity per second.
    max_deceleration: f64,
    /// Smallest turning circle.
    min_turning_radius: f64,
    /// Turning rate on the spot.
    pivot_angular_velocity: f64,
    /// How far the agent sees.
    vision_range: f64,
    /// Cosine of half its field of view; below -1 for all round.
    vision_cos: f64,
    /// How near others are noticed from anywhere.
    proximity_sense: f64,
    /// Whether walls block its sight.
    vision_occlusion: bool,
    /// Sub-goal, x.
    goal_x: f64,
    /// Sub-goal, y.
    goal_y: f64,
    /// Whether it has a sub-goal.
    has_goal: bool,
    /// Final target of the command in free space, x.
    terminal_x: f64,
    /// Final target of the command in free space, y.
    terminal_y: f64,
    /// Whether it has a final target.
    has_terminal: bool,
    /// Heading to hold.
    goal_theta: f64,
    /// Whether it has a heading to hold.
    has_goal_theta: bool,
    /// Whether it has arrived and stays.
    latched: bool,
    /// Who it is.
    kind: Kind,
    /// Interaction class.
    class: ClassIndex,
    /// Set of factors between classes.
    gains: GainIndex,
    /// Planner that moves it, or [`NO_POLICY`].
    policy: i16,
    /// Half the distance between the discs of a long body; 0 for a body that is one disc.
    axial_offset: f64,
    /// Phase of the gait, growing without end; 0 without a gait of its own.
    gait_phase: f64,
    /// Cycles of the gait per second; 0 without a gait of its own.
    gait_cadence: f64,
}

impl Pool {
    /// Number of agents.
    #[must_use]
    pub fn len(&self) -> usize {
        self.id.len()
    }

    /// Whether nobody is there.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.id.is_empty()
    }

    /// Whether anybody is longer than wide, so that more than centres has to be looked at.
    #[must_use]
    #[inline]
    pub fn has_long_bodies(&self) -> bool {
        self.long_bodies > 0
    }

    /// Row of an agent.
    #[must_use]
    pub fn row_of(&self, id: i32) -> Option<usize> {
        self.rows.get(&id).map(|row| *row as usize)
    }

    /// Give a row the numbers of a body; where it is and goes stays.
    pub(crate) fn set_body(&mut self, row: usize, parameters: &AgentParameters) {
        self.desired_velocity[row] = parameters.desired_velocity;
        self.radius[row] = parameters.radius;
        self.max_velocity[row] = parameters.max_velocity;
        self.max_acceleration[row] = parameters.max_acceleration;
        self.max_deceleration[row] = parameters.max_deceleration;
        self.min_turning_radius[row] = parameters.min_turning_radius;
        self.pivot_angular_velocity[row] = parameters.pivot_angular_velocity;
        self.vision_range[row] = parameters.vision_range;
        self.vision_cos[row] = vision_cos(parameters.vision_fov);
        self.proximity_sense[row] = parameters.proximity_sense;
        self.vision_occlusion[row] = parameters.vision_occlusion;
        let locomotion = parameters.locomotion.as_deref();
        let offset = locomotion.map_or(0.0, |l| l.axial_offset(parameters.radius));
        let before = std::mem::replace(&mut self.axial_offset[row], offset);
        self.long_bodies = self.long_bodies + usize::from(offset > 0.0) - usize::from(before > 0.0);
        match locomotion {
            None => (self.gait_phase[row], self.gait_cadence[row]) = (0.0, 0.0),
            Some(_) if self.gait_phase[row] == 0.0 => self.gait_phase[row] = initial_phase(self.id[row]),
            Some(_) => {}
        }
    }

    /// Position of a row.
    #[must_use]
    pub fn position(&self, row: usize) -> [f64; 2] {
        [self.x[row], self.y[row]]
    }
}

impl Row {
    /// A standing agent at `pose` (x, y, theta) without goal.
    pub(crate) fn new(id: i32, pose: [f64; 3], parameters: &AgentParameters) -> Self {
        let [x, y, theta] = pose;
        let locomotion = parameters.locomotion.as_deref();
        Self {
            id,
            x,
            y,
            vx: 0.0,
            vy: 0.0,
            previous_vx: 0.0,
            previous_vy: 0.0,
            theta,
            desired_velocity: parameters.desired_velocity,
            radius: parameters.radius,
            max_velocity: parameters.max_velocity,
            max_acceleration: parameters.max_acceleration,
            max_deceleration: parameters.max_deceleration,
            min_turning_radius: parameters.min_turning_radius,
            pivot_angular_velocity: parameters.pivot_angular_velocity,
            vision_range: parameters.vision_range,
            vision_cos: vision_cos(parameters.vision_fov),
            proximity_sense: parameters.proximity_sense,
            vision_occlusion: parameters.vision_occlusion,
            goal_x: x,
            goal_y: y,
            has_goal: false,
            terminal_x: x,
            terminal_y: y,
            has_terminal: false,
            goal_theta: 0.0,
            has_goal_theta: false,
            latched: false,
            kind: Kind::Human,
            class: 0,
            gains: 0,
            policy: NO_POLICY,
            axial_offset: locomotion.map_or(0.0, |l| l.axial_offset(parameters.radius)),
            gait_phase: locomotion.map_or(0.0, |_| initial_phase(id)),
            gait_cadence: 0.0,
        }
    }
}

/// Cosine of half a field of view given in degrees; -2 when it is all round, so that every bearing passes.
fn vision_cos(fov: f64) -> f64 {
    if fov >= 360.0 { -2.0 } else { (0.5 * fov.to_radians()).cos() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pool(ids: &[i32]) -> Pool {
        let mut pool = Pool::with_capacity(4);
        for id in ids {
            pool.push(Row::new(*id, [f64::from(*id), 0.0, 0.0], &AgentParameters::unknown_type()));
        }
        pool
    }

    #[test]
    fn the_last_row_takes_the_place_of_a_removed_one() {
        let mut pool = pool(&[4, -1, 9]);
        pool.swap_remove(0);
        assert_eq!(pool.id, [9, -1]);
        assert_eq!(pool.x, [9.0, -1.0]);
        assert_eq!((pool.row_of(9), pool.row_of(-1), pool.row_of(4)), (Some(0), Some(1), None));
        pool.swap_remove(1);
        assert_eq!((pool.len(), pool.row_of(-1)), (1, None));
    }

    #[test]
    fn a_full_circle_of_view_passes_every_bearing() {
        assert!(vision_cos(360.0) < -1.0 && vision_cos(400.0) < -1.0);
        assert!((vision_cos(180.0)).abs() < 1e-15);
    }
}
