//! What the moves of a solve mean for the objects: poses, velocities, forces, bounces (robot-world specification, section 12.7).

use crate::Point;
use crate::contact::bodies::{Bodies, Body, Part};
use crate::contact::overlap::along;
use crate::contact::sweep::{Pair, Sweeps};
use crate::kinematics::Command;
use crate::objects::Objects;
use crate::shape::{dot, minus, rotate};
use crate::world::into_range;

/// Moves the objects as their bodies were moved, and adds that to their velocities.
pub(super) fn moves(bodies: &Bodies, objects: &mut Objects, dt: f64) {
    for body in bodies.iter().filter(|body| body.moves > 0) {
        let row = body.row as usize;
        let state = &mut objects.state[row];
        let mut at = [state[0], state[1]];
        if body.turn != 0.0 {
            at = along(body.start, rotate(body.turn.sin_cos().into(), minus(at, body.start)), 1.0);
            state[2] = into_range(state[2] + body.turn, objects.angle_low[row]);
        }
        [state[0], state[1]] = along(at, body.shift, 1.0);
        objects.place(row);
        add(objects, row, [body.shift[0] / dt, body.shift[1] / dt], body.turn / dt);
    }
}

/// Adds a world-frame change of velocity and of yaw rate to a stored velocity, as far as its model can express them.
fn add(objects: &mut Objects, row: usize, change: Point, yaw_rate: f64) {
    let mut velocity = objects.velocity[row];
    let (command, yaw) = match &objects.model[row] {
        Some(model) => (model.to_command(objects.state[row][2], change), model.layout().yaw_rate),
        None => ([change[0], change[1], 0.0, 0.0], Some(2)),
    };
    velocity.iter_mut().zip(command).for_each(|(velocity, change)| *velocity += change);
    if let Some(yaw) = yaw {
        velocity[yaw] += yaw_rate;
    }
    objects.store_velocity(row, velocity);
}

/// A velocity in the object's layout, in the world.
fn world_velocity(objects: &Objects, row: usize, velocity: &Command) -> Point {
    match &objects.model[row] {
        Some(model) => model.world_velocity(&objects.state[row], velocity),
        None => [velocity[0], velocity[1]],
    }
}

/// The force of a pair, N: what separated it, but no more than a driver that presses on has grip for.
pub(super) fn force(pair: &Pair, normal: Point, bodies: &Bodies, objects: &Objects, dt: f64) -> f64 {
    let mut force = (pair.impulse / (dt * dt)).min(f64::MAX);
    for (slot, inward) in [(pair.a, [-normal[0], -normal[1]]), (pair.b, normal)] {
        let body = &bodies[slot];
        let row = body.row as usize;
        if body.part == Part::Driven && dot(world_velocity(objects, row, &objects.drive[row]), inward) > 0.0 {
            force = force.min(body.grip);
        }
    }
    force
}

/// Parts the passive bodies of what bounces as fast as they must, in the order of the contacts. Nothing is moved by it.
pub(super) fn bounces(sweeps: &Sweeps, bodies: &Bodies, objects: &mut Objects) {
    for &index in &sweeps.recorded {
        let pair = &sweeps.pairs[index as usize];
        let Some(bounce) = pair.bounce else { continue };
        let (a, b) = (&bodies[pair.a], &bodies[pair.b]);
        let (row_a, row_b) = (a.row as usize, b.row as usize);
        let apart = dot(minus(objects.velocity_xy[row_a], objects.velocity_xy[row_b]), bounce.normal);
        let missing = bounce.target - apart;
        let weight = |body: &Body, movable: bool| {
            if movable && body.part == Part::Pushable { body.inverse_mass } else { 0.0 }
        };
        let weights = [weight(a, bounce.movable[0]), weight(b, bounce.movable[1])];
        // Halves, so that the sum of two of the largest numbers is one.
        let total = weights[0] / 2.0 + weights[1] / 2.0;
        if missing > 0.0 && total > 0.0 {
            for (row, weight, sign) in [(row_a, weights[0], 1.0), (row_b, weights[1], -1.0)] {
                if weight > 0.0 {
                    let change = sign * missing * (weight / 2.0 / total);
                    add(objects, row, [change * bounce.normal[0], change * bounce.normal[1]], 0.0);
                }
            }
        }
    }
}
