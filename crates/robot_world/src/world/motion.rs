//! How one object moves in a step (robot-world specification, sections 4, 5, 7.1 and 12.2).

use std::f64::consts::TAU;

use super::World;
use super::warning::WarningKind;
use crate::contact::Drive;
use crate::kinematics::{Command, MAX_COMMAND};
use crate::objects::Objects;
use crate::spec::{CollisionMode, Settings};

/// A command this far outside its window is worth a warning.
const NOTABLE: f64 = 0.01;

impl World {
    /// Moves the object in `row`. Objects later in the order see it where it is now.
    pub(super) fn advance(&mut self, row: usize) {
        if self.objects.puppet[row] {
            return;
        }
        if self.objects.is_static[row] || self.objects.stop[row] {
            self.objects.velocity[row] = [0.0; MAX_COMMAND];
            self.objects.velocity_xy[row] = [0.0; 2];
            return;
        }
        self.renew_goals(row);
        if self.objects.model[row].is_some() {
            let chosen = self.commands[row].or_else(|| self.own_command(row));
            let mut command = chosen.map_or([0.0; MAX_COMMAND], |command| self.clip(row, command));
            if self.settings.collision_mode == CollisionMode::Contact {
                command = respond(&mut self.objects, row, command, &self.settings);
            }
            self.drive(row, command);
        } else {
            coast(&mut self.objects, row, &self.settings);
        }
        self.objects.place(row);
        self.centers.moved(row, self.objects.centroid[row]);
        if self.settings.collision_mode == CollisionMode::Contact {
            let [vx, vy] = self.objects.velocity_xy[row];
            let (step, radius) = (vx.hypot(vy) * self.settings.step_time, self.objects.shape[row].radius);
            if step >= radius {
                self.warn(row, WarningKind::Fast { step, radius });
            }
        }
    }

    /// What the object's own behaviour answers; nothing without one.
    fn own_command(&mut self, row: usize) -> Option<Command> {
        let Some(behavior) = &self.objects.behavior[row] else {
            if self.is_robot(row) {
                self.warn(row, WarningKind::Idle);
            }
            return None;
        };
        if behavior.needs_goal() && self.objects.goals[row].is_empty() {
            self.warn(row, WarningKind::NoGoal);
            return None;
        }
        let scene = scene!(self);
        Some(behavior.command(&scene, row, &mut self.scratch))
    }

    /// `command` within the window of the limits and of their change.
    fn clip(&mut self, row: usize, command: Command) -> Command {
        let [low, high] = window(&self.objects, row, self.settings.step_time);
        let mut clipped = [0.0; MAX_COMMAND];
        for number in 0..self.objects.velocity_len(row) {
            if !command[number].is_finite() {
                self.warn(row, WarningKind::NotFinite);
                return [0.0; MAX_COMMAND];
            }
            // Not `clamp`: a velocity beyond the limits may leave a window whose ends are swapped, and then the upper one counts.
            clipped[number] = command[number].max(low[number]).min(high[number]);
            if (command[number] - clipped[number]).abs() > NOTABLE {
                self.warn(
                    row,
                    WarningKind::Clipped { number, command: command[number], taken: clipped[number] },
                );
            }
        }
        clipped
    }

    /// The model's step; with noise the body follows a disturbed command, and the stored velocity stays the undisturbed one.
    fn drive(&mut self, row: usize, command: Command) {
        let objects = &mut self.objects;
        let Some(model) = &objects.model[row] else { return };
        let mut followed = command;
        if let Some(alpha) = &objects.noise[row] {
            let deviations = model.deviations(&command, alpha);
            for number in 0..model.layout().command.len() {
                followed[number] += deviations[number] * self.generator.standard_normal();
            }
        }
        let mut state = model.step(&objects.state[row], &followed, self.settings.step_time);
        if !state.iter().all(|number| number.is_finite()) {
            objects.store_velocity(row, [0.0; MAX_COMMAND]);
            self.warn(row, WarningKind::NotFinite);
            return;
        }
        state[2] = into_range(state[2], objects.angle_low[row]);
        objects.state[row] = state;
        objects.store_velocity(row, command);
    }
}

/// Least and largest command now.
#[must_use]
pub(crate) fn window(objects: &Objects, row: usize, dt: f64) -> [Command; 2] {
    let (velocity, acce) = (&objects.velocity[row], &objects.acce[row]);
    let (mut low, mut high) = (objects.vel_min[row], objects.vel_max[row]);
    for number in 0..MAX_COMMAND {
        if acce[number].is_finite() {
            low[number] = low[number].max(velocity[number] - acce[number] * dt);
            high[number] = high[number].min(velocity[number] + acce[number] * dt);
        }
    }
    [low, high]
}

/// What the drive makes of a command when the ground gives only so much grip; kept apart from what the body then does.
fn respond(objects: &mut Objects, row: usize, command: Command, settings: &Settings) -> Command {
    let drive = Drive {
        translating: objects.model[row].as_ref().map_or(0, |model| model.layout().translating),
        tau: objects.tau[row],
        grip: objects.friction[row] * settings.gravity,
    };
    objects.drive[row] = drive.respond(&objects.drive[row], &command, settings.step_time);
    objects.drive[row]
}

/// A body without a drive slides and spins on until friction has stopped it.
fn coast(objects: &mut Objects, row: usize, settings: &Settings) {
    let dt = settings.step_time;
    let [vx, vy, spin, _] = objects.velocity[row];
    let braking = objects.friction[row] * settings.gravity * dt;
    let speed = vx.hypot(vy);
    let kept = if speed > 0.0 { (speed - braking).max(0.0) / speed } else { 0.0 };
    let gyration = (objects.inertia[row] / objects.mass[row]).sqrt();
    let spin = if gyration > 0.0 && gyration.is_finite() {
        spin.signum() * (spin.abs() - braking / gyration).max(0.0)
    } else {
        0.0
    };
    let velocity = [vx * kept, vy * kept, spin, 0.0];
    let state = &mut objects.state[row];
    for (number, rate) in velocity[..3].iter().enumerate() {
        state[number] += rate * dt;
    }
    state[2] = into_range(state[2], objects.angle_low[row]);
    objects.store_velocity(row, velocity);
}

/// A heading moved by whole turns into the range of 2 pi that begins at `low`; both ends are in it.
pub(crate) fn into_range(heading: f64, low: f64) -> f64 {
    if (low..=low + TAU).contains(&heading) {
        heading
    } else if heading.is_finite() {
        low + (heading - low).rem_euclid(TAU)
    } else {
        low
    }
}
