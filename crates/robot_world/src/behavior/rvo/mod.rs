//! Velocity obstacles: the velocity nearest to the desired one that leads into nobody (robot-world specification, section 9.2; Fiorini &
//! Shiller 1998; van den Berg, Lin & Manocha 2008; Snape et al. 2011).
//!
//! Nothing here remembers anything or moves anything.

mod choice;
mod cone;

use std::sync::Arc;

use self::cone::{Cone, DiscTime, WallTime};
use super::surroundings::{Disc, Drive, Ego, Surroundings, View, desired};
use super::to_diff::{ToDiff, to_omni};
use super::{Behavior, Scratch, number, required};
use crate::Point;
use crate::kinematics::Command;
use crate::registry::{Argument, ArgumentError, Arguments, Entry, Kind, MakeBehavior, Parameter};
use crate::world::Scene;

/// Largest half of the window of velocities, m/s: a million velocities per axis pair are enough for anybody.
const WIDEST: f64 = 25.0;

/// Where the apex of a cone is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// Both do their half.
    Rvo,
    /// On the side where the other passes too, both do their half; else alone.
    Hrvo,
    /// The other does nothing.
    Vo,
}

/// Numbers of the choice.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Settings {
    /// Largest speed along x and y of the world, m/s.
    most: Point,
    /// Largest change of velocity along each axis, m/s.
    change: f64,
    /// Weight of the time to a collision.
    factor: f64,
    mode: Mode,
}

/// Memory of the choice.
#[derive(Debug, Default)]
pub(super) struct Buffers {
    discs: Vec<(Cone, DiscTime)>,
    walls: Vec<(Cone, WallTime)>,
    choice: choice::Buffers,
}

impl Settings {
    fn new(arguments: &Arguments) -> Result<Self, ArgumentError> {
        let number = |name| required(arguments, name);
        let (most, change) = ([number("vxmax")?, number("vymax")?], number("acce")?);
        if change.min(most[0].max(most[1])) > WIDEST {
            return Err(ArgumentError {
                key: "acce".to_owned(),
                message: format!(
                    "{change} m/s lets velocities be tried up to {} m/s either way, in steps of 0.05 m/s; the \
                     smaller of acce and vxmax, vymax must be at most {WIDEST}",
                    change.min(most[0].max(most[1])),
                ),
            });
        }
        Ok(Self {
            most,
            change,
            factor: number("factor")?,
            mode: match arguments.word("mode") {
                Some("hrvo") => Mode::Hrvo,
                Some("vo") => Mode::Vo,
                _ => Mode::Rvo,
            },
        })
    }

    /// The velocity to take.
    fn choose(
        &self,
        ego: &Ego,
        desired: Point,
        discs: &[Disc],
        walls: &[[Point; 2]],
        buffers: &mut Buffers,
    ) -> Point {
        let Buffers { discs: disc_cones, walls: wall_cones, choice } = buffers;
        disc_cones.clear();
        disc_cones
            .extend(discs.iter().map(|disc| (Cone::of_disc(ego, disc, self.mode), DiscTime::new(ego, disc))));
        disc_cones.sort_unstable_by(|(_, a), (_, b)| a.tangent.total_cmp(&b.tangent));
        wall_cones.clear();
        wall_cones.extend(walls.iter().map(|wall| (Cone::of_wall(ego, wall), WallTime::new(ego, wall))));
        let [x, y] = [0, 1].map(|axis| choice::Axis::new(ego.velocity[axis], self.change, self.most[axis]));
        choice::Problem { x, y, desired, factor: self.factor, discs: disc_cones, walls: wall_cones }
            .choose(choice)
    }
}

/// Velocity obstacles of one object.
#[derive(Debug)]
struct Rvo {
    settings: Settings,
    view: View,
    drive: Drive,
}

impl Behavior for Rvo {
    fn name(&self) -> &str {
        "rvo"
    }

    fn reach(&self) -> f64 {
        self.view.threshold
    }

    fn command(&self, scene: &Scene<'_>, ego: usize, scratch: &mut Scratch) -> Command {
        let objects = scene.objects;
        let Some(desired) = desired(objects, ego, self.drive) else {
            return Command::default();
        };
        let Scratch { neighbors, surroundings, rvo, .. } = scratch;
        surroundings.look(scene, &self.view, ego, neighbors);
        let Surroundings { discs, walls, .. } = surroundings;
        let body = Ego::new(objects, ego);
        let velocity = self.settings.choose(&body, desired, discs, walls, rvo);
        let heading = objects.state[ego][2];
        match self.drive {
            Drive::Omni => to_omni(heading, velocity),
            Drive::Diff => {
                let command = ToDiff::default().command(heading, velocity);
                if command != Command::default() || !discs.is_empty() || !walls.is_empty() {
                    return command;
                }
                // Turn on the spot: from rest no velocity within reach may be in the desired direction.
                let mut turn = ToDiff::default().command(heading, desired);
                turn[0] = 0.0;
                turn
            }
        }
    }
}

/// Velocity obstacles, as a file may name them.
pub(super) fn entry() -> Entry<MakeBehavior> {
    let mut parameters = vec![
        number("vxmax", 1.5, 0.0, f64::MAX),
        number("vymax", 1.5, 0.0, f64::MAX),
        number("acce", 1.0, 0.0, f64::MAX),
        number("factor", 1.0, 0.0, f64::MAX),
        Parameter {
            name: "mode",
            kind: Kind::Word(&["rvo", "hrvo", "vo"]),
            default: Some(Argument::Word("rvo".to_owned())),
        },
    ];
    parameters.extend(View::parameters(3.0));
    Entry {
        name: "rvo",
        kinematics: &["diff", "omni"],
        parameters,
        make: Arc::new(|arguments, kinematics| {
            Ok(Arc::new(Rvo {
                settings: Settings::new(arguments)?,
                view: View::new(arguments)?,
                drive: Drive::of(kinematics),
            }))
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the specification computes its values with.
    fn chosen(mode: Mode, most: f64, change: f64) -> Point {
        let settings = Settings { most: [most; 2], change, factor: 1.0, mode };
        let ego = Ego { position: [0.0, 0.0], velocity: [0.4, 0.1], radius: 0.3 };
        let discs = [
            Disc { center: [1.5, 0.3], velocity: [-0.5, 0.0], radius: 0.3 },
            Disc { center: [0.9, -1.2], velocity: [0.0, 0.4], radius: 0.4 },
        ];
        let walls = [[[-1.0, 1.2], [3.0, 1.0]]];
        settings.choose(&ego, [1.0, 0.2], &discs, &walls, &mut Buffers::default())
    }

    #[track_caller]
    fn assert_near(found: Point, expected: Point) {
        assert!((found[0] - expected[0]).abs() < 1e-8 && (found[1] - expected[1]).abs() < 1e-8, "{found:?}");
    }

    #[test]
    fn with_a_wide_window_the_velocities_are_those_of_the_specification() {
        assert_near(chosen(Mode::Rvo, 1.5, 1.0), [1.3, -0.25]);
        assert_near(chosen(Mode::Vo, 1.5, 1.0), [0.1, -0.25]);
        assert_near(chosen(Mode::Hrvo, 1.5, 1.0), [1.3, -0.25]);
    }

    #[test]
    fn with_a_narrow_window_the_velocities_are_those_of_the_specification() {
        assert_near(chosen(Mode::Rvo, 0.6, 0.3), [0.25, -0.1]);
        assert_near(chosen(Mode::Vo, 0.6, 0.3), [0.15, 0.1]);
        assert_near(chosen(Mode::Hrvo, 0.6, 0.3), [0.15, 0.1]);
    }

    #[test]
    fn a_differential_drive_takes_the_velocity_as_the_specification_says() {
        let command = ToDiff::default().command(0.1, chosen(Mode::Rvo, 1.5, 1.0));
        assert_near([command[0], command[1]], [1.268547061, -1.44994144]);
    }
}
