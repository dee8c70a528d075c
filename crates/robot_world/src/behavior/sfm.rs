//! Social forces: a wish to walk, pushes of others and of walls (robot-world specification, section 9.3; Helbing & Molnar 1995, Moussaid et
//! al. 2009).
//!
//! Nothing here remembers anything or moves anything.

use std::sync::Arc;

use super::surroundings::{Disc, Drive, Ego, Surroundings, View, desired};
use super::to_diff::{ToDiff, to_omni};
use super::walls::nearest;
use super::{Behavior, Scratch, number, positive, required};
use crate::Point;
use crate::kinematics::Command;
use crate::objects::Objects;
use crate::registry::{ArgumentError, Arguments, Entry, MakeBehavior, Parameter};
use crate::world::Scene;

/// Smaller angles are those that rounding makes of none, radians. They have no side to turn to.
const ROUNDED: f64 = 1e-12;

/// Numbers of the model, dimensionless unless said otherwise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Forces {
    /// Largest speed, m/s.
    most: f64,
    /// Seconds to take up the desired velocity.
    relaxation_time: f64,
    pub(super) weights: Weights,
    /// Range of walls, metres.
    sigma_obstacle: f64,
    lambda_importance: f64,
    gamma: f64,
    n_angular: f64,
    n_velocity: f64,
    /// Distance kept free by either of two, metres.
    safety_radius: f64,
}

/// Weights of the forces.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Weights {
    desired: f64,
    social: f64,
    obstacle: f64,
}

impl Forces {
    /// The keys of the model.
    pub(super) fn parameters() -> Vec<Parameter> {
        const ANY: f64 = f64::MAX;
        vec![
            number("vmax", 1.5, 0.0, ANY),
            positive("relaxation_time", 0.5),
            number("force_factor_desired", 1.0, -ANY, ANY),
            number("force_factor_social", 2.1, -ANY, ANY),
            number("force_factor_obstacle", 10.0, -ANY, ANY),
            positive("sigma_obstacle", 0.8),
            number("lambda_importance", 2.0, -ANY, ANY),
            positive("gamma", 0.35),
            number("n_angular", 2.0, -ANY, ANY),
            number("n_velocity", 3.0, -ANY, ANY),
            number("safety_radius", 0.0, -ANY, ANY),
        ]
    }

    pub(super) fn new(arguments: &Arguments) -> Result<Self, ArgumentError> {
        let number = |name| required(arguments, name);
        Ok(Self {
            most: number("vmax")?,
            relaxation_time: number("relaxation_time")?,
            weights: Weights {
                desired: number("force_factor_desired")?,
                social: number("force_factor_social")?,
                obstacle: number("force_factor_obstacle")?,
            },
            sigma_obstacle: number("sigma_obstacle")?,
            lambda_importance: number("lambda_importance")?,
            gamma: number("gamma")?,
            n_angular: number("n_angular")?,
            n_velocity: number("n_velocity")?,
            safety_radius: number("safety_radius")?,
        })
    }

    /// `wish` at the model's own speed.
    pub(super) fn at_speed(&self, wish: Point) -> Point {
        let speed = length(wish);
        if speed > 0.0 { wish.map(|axis| axis / speed * self.most) } else { wish }
    }

    /// Acceleration by everything a single object feels, m/s^2.
    pub(super) fn acceleration(
        &self,
        ego: &Ego,
        desired: Point,
        discs: &[Disc],
        walls: &[[Point; 2]],
    ) -> Point {
        let towards = self.towards(ego, desired);
        let (others, obstacles) = (self.social(ego, discs), self.obstacle(ego, walls));
        let Weights { desired, social, obstacle } = self.weights;
        [0, 1].map(|axis| desired * towards[axis] + social * others[axis] + obstacle * obstacles[axis])
    }

    /// The velocity after `dt` seconds.
    pub(super) fn velocity(&self, ego: &Ego, acceleration: Point, dt: f64) -> Point {
        let velocity = [0, 1].map(|axis| ego.velocity[axis] + dt * acceleration[axis]);
        let speed = length(velocity);
        if speed > self.most { velocity.map(|axis| axis / speed * self.most) } else { velocity }
    }

    fn towards(&self, ego: &Ego, desired: Point) -> Point {
        [0, 1].map(|axis| (desired[axis] - ego.velocity[axis]) / self.relaxation_time)
    }

    fn social(&self, ego: &Ego, discs: &[Disc]) -> Point {
        let mut force = [0.0; 2];
        for disc in discs {
            let to = [disc.center[0] - ego.position[0], disc.center[1] - ego.position[1]];
            let distance = length(to);
            if distance < 1e-6 {
                continue;
            }
            let to = to.map(|axis| axis / distance);
            let interaction = [0, 1]
                .map(|axis| self.lambda_importance * (ego.velocity[axis] - disc.velocity[axis]) + to[axis]);
            let strength = length(interaction);
            if strength < 1e-9 {
                continue;
            }
            let along = interaction.map(|axis| axis / strength);
            let reach = self.gamma * strength;
            let angle = (along[0] * to[1] - along[1] * to[0]).atan2(along[0] * to[0] + along[1] * to[1]);
            let gap = (distance - 2.0 * self.safety_radius).max(0.0);
            let decay = |sharpness: f64| (-gap / reach - (sharpness * reach * angle).powi(2)).exp();
            let side = if angle.abs() < ROUNDED { 0.0 } else { angle.signum() };
            let (slowing, turning) = (-decay(self.n_velocity), -side * decay(self.n_angular));
            force[0] += slowing * along[0] - turning * along[1];
            force[1] += slowing * along[1] + turning * along[0];
        }
        force
    }

    fn obstacle(&self, ego: &Ego, walls: &[[Point; 2]]) -> Point {
        let mut force = [0.0; 2];
        for wall in walls {
            let nearest = nearest(wall, ego.position);
            let away = [ego.position[0] - nearest[0], ego.position[1] - nearest[1]];
            let distance = length(away);
            if distance > 5.0 * self.sigma_obstacle + ego.radius {
                continue;
            }
            if distance < 1e-9 {
                force[0] += 1.0;
                continue;
            }
            let strength = (-(distance - ego.radius).max(0.0) / self.sigma_obstacle).exp();
            force = [0, 1].map(|axis| force[axis] + away[axis] / distance * strength);
        }
        force
    }
}

/// The command that takes up `velocity` as well as the drive can.
pub(super) fn to_command(objects: &Objects, row: usize, drive: Drive, velocity: Point, dt: f64) -> Command {
    let heading = objects.state[row][2];
    match drive {
        Drive::Omni => to_omni(heading, velocity),
        Drive::Diff => {
            let reachable = objects.velocity[row][1] + objects.acce[row][1] * dt;
            let most_yaw_rate = objects.vel_max[row][1].min(reachable);
            ToDiff { most_yaw_rate, horizon: dt, tolerance: 0.02 }.command(heading, velocity)
        }
    }
}

pub(super) fn length(a: Point) -> f64 {
    (a[0] * a[0] + a[1] * a[1]).sqrt()
}

/// Social forces of one object.
#[derive(Debug)]
struct Sfm {
    forces: Forces,
    view: View,
    drive: Drive,
}

impl Behavior for Sfm {
    fn name(&self) -> &str {
        "sfm"
    }

    fn reach(&self) -> f64 {
        self.view.threshold
    }

    fn command(&self, scene: &Scene<'_>, ego: usize, scratch: &mut Scratch) -> Command {
        let objects = scene.objects;
        let Some(wish) = desired(objects, ego, self.drive) else {
            return Command::default();
        };
        let Scratch { neighbors, surroundings, .. } = scratch;
        surroundings.look(scene, &self.view, ego, neighbors);
        let Surroundings { discs, walls, .. } = surroundings;
        let body = Ego::new(objects, ego);
        let dt = scene.settings.step_time;
        let acceleration = self.forces.acceleration(&body, self.forces.at_speed(wish), discs, walls);
        let velocity = self.forces.velocity(&body, acceleration, dt);
        to_command(objects, ego, self.drive, velocity, dt)
    }
}

/// Social forces, as a file may name them.
pub(super) fn entry() -> Entry<MakeBehavior> {
    let mut parameters = Forces::parameters();
    parameters.extend(View::parameters(10.0));
    Entry {
        name: "sfm",
        kinematics: &["diff", "omni"],
        parameters,
        make: Arc::new(|arguments, kinematics| {
            Ok(Arc::new(Sfm {
                forces: Forces::new(arguments)?,
                view: View::new(arguments)?,
                drive: Drive::of(kinematics),
            }))
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn forces(most: f64) -> Forces {
        let mut arguments = Arguments::default();
        for parameter in Forces::parameters() {
            if let Some(default) = parameter.default {
                arguments.set(parameter.name, default);
            }
        }
        Forces { most, ..Forces::new(&arguments).unwrap() }
    }

    fn scene() -> (Ego, [Disc; 2], [[Point; 2]; 1]) {
        (
            Ego { position: [0.0, 0.0], velocity: [0.4, 0.1], radius: 0.3 },
            [
                Disc { center: [1.5, 0.3], velocity: [-0.5, 0.0], radius: 0.3 },
                Disc { center: [0.9, -1.2], velocity: [0.0, 0.4], radius: 0.4 },
            ],
            [[[-1.0, 1.2], [3.0, 1.0]]],
        )
    }

    #[track_caller]
    fn assert_near(found: Point, expected: Point) {
        assert!((found[0] - expected[0]).abs() < 1e-8 && (found[1] - expected[1]).abs() < 1e-8, "{found:?}");
    }

    #[test]
    fn the_forces_are_those_of_the_specification() {
        let (ego, discs, walls) = scene();
        let forces = forces(1.2);
        assert_near(forces.towards(&ego, [1.0, 0.2]), [1.2, 0.2]);
        assert_near(forces.social(&ego, &discs), [-0.170168111, -0.082793852]);
        assert_near(forces.obstacle(&ego, &walls), [-0.017288959, -0.345779176]);
        let acceleration = forces.acceleration(&ego, forces.at_speed([1.0, 0.2]), &discs, &walls);
        assert_near(forces.velocity(&ego, acceleration, 0.1), [0.5023151, -0.236098012]);
    }

    #[test]
    fn one_that_stands_in_another_or_on_a_wall_gets_finite_forces() {
        let (ego, ..) = scene();
        let forces = forces(1.2);
        let disc = Disc { center: ego.position, velocity: ego.velocity, radius: 1.0 };
        assert_near(forces.social(&ego, &[disc]), [0.0, 0.0]);
        assert_near(forces.obstacle(&ego, &[[[-1.0, 0.0], [1.0, 0.0]]]), [1.0, 0.0]);
    }

    #[test]
    fn two_at_rest_are_not_turned_to_a_side_by_rounding() {
        let ego = Ego { position: [12.2, 4.4], velocity: [0.0; 2], radius: 0.3 };
        let disc = Disc { center: [11.6, 5.3], velocity: [0.0; 2], radius: 0.3 };
        let [x, y] = forces(1.2).social(&ego, &[disc]);
        let to = [disc.center[0] - ego.position[0], disc.center[1] - ego.position[1]];
        assert!((x * to[1] - y * to[0]).abs() < 1e-15 && x * to[0] + y * to[1] < 0.0, "{x} {y}");
    }

    #[test]
    fn a_mirrored_scene_has_mirrored_forces() {
        let (ego, discs, walls) = scene();
        let forces = forces(1.2);
        let mirror = |[x, y]: Point| [x, -y];
        let mirrored_ego = Ego { velocity: mirror(ego.velocity), ..ego };
        let mirrored_discs =
            discs.map(|disc| Disc { center: mirror(disc.center), velocity: mirror(disc.velocity), ..disc });
        let expected = forces.acceleration(&ego, [1.0, 0.2], &discs, &walls);
        let mirrored_walls = walls.map(|wall| wall.map(mirror));
        let found = forces.acceleration(&mirrored_ego, [1.0, -0.2], &mirrored_discs, &mirrored_walls);
        assert_near(found, mirror(expected));
    }
}
