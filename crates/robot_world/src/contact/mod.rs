//! Contact physics: bodies push each other (robot-world specification, section 12).
//!
//! `Drive` says what a robot's drive makes of a command before it moves; [`Solver`] moves apart what overlaps after everything has moved and
//! tells who touched whom. It never chooses a command, and moves nothing that touches nothing.

mod apply;
mod bodies;
mod drive;
mod many;
mod near;
mod overlap;
mod sweep;

use crate::Point;
use crate::contact::bodies::Bodies;
use crate::contact::near::Near;
use crate::contact::sweep::Sweeps;
use crate::objects::Objects;

pub(crate) use drive::Drive;

/// One contact of a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contact {
    /// Lower id.
    pub a: u32,
    /// Higher id.
    pub b: u32,
    /// Unit vector from b to a.
    pub normal: Point,
    /// Overlap before it was undone, metres; not positive for a resting contact.
    pub depth: f64,
    /// Where, in the world.
    pub point: Point,
    /// N.
    pub force: f64,
}

/// What one object felt (section 12.8).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Reading {
    /// Touches something.
    pub in_contact: bool,
    /// Net force, N, world frame.
    pub force: Point,
    /// Seconds of the present contact.
    pub contact_time: f64,
    /// Seconds since the last contact.
    pub air_time: f64,
    /// Began in this step.
    pub started: bool,
    /// Ended in this step.
    pub ended: bool,
}

/// A contact as one of its objects feels it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Report {
    /// Id of the other object.
    pub other: u32,
    /// Where, in the world.
    pub point: Point,
    /// Unit vector from the other to this object.
    pub normal: Point,
    /// As of [`Contact::depth`].
    pub depth: f64,
    /// N.
    pub force: f64,
}

impl Contact {
    /// The contact from the side of an object; `None` when it is not one of the two.
    #[must_use]
    pub fn seen_by(&self, id: u32) -> Option<Report> {
        let Contact { a, b, normal, depth, point, force } = *self;
        if id == a {
            Some(Report { other: b, point, normal, depth, force })
        } else if id == b {
            Some(Report { other: a, point, normal: [-normal[0], -normal[1]], depth, force })
        } else {
            None
        }
    }
}

/// Solves the contacts of a world, step after step.
#[derive(Clone, Debug, Default)]
pub struct Solver {
    near: Near,
    bodies: Bodies,
    sweeps: Sweeps,
    contacts: Vec<Contact>,
    touching: Vec<bool>,
    forces: Vec<Point>,
}

impl Solver {
    /// Moves apart what overlaps after everything has moved for `dt` seconds, adds that to the velocities, and advances every object's
    /// [`Reading`]. Poses and all that follows from them, velocities and readings are up to date afterwards.
    pub fn solve(&mut self, objects: &mut Objects, gravity: f64, dt: f64) {
        self.near.find(objects, dt);
        self.bodies.clear(objects.len());
        let bodies = &mut self.bodies;
        for &[a, b] in &self.near.pairs {
            bodies.enter(objects, a, gravity);
            bodies.enter(objects, b, gravity);
        }
        self.sweeps.prepare(bodies, self.near.pairs.iter().map(|pair| pair.map(|row| bodies.of(row))));
        self.sweeps.run(bodies, objects);
        apply::moves(bodies, objects, dt);
        self.record(objects, dt);
        apply::bounces(&self.sweeps, &self.bodies, objects);
        self.read(objects, dt);
    }

    /// The contacts of the last solve, in the order in which they were found.
    #[must_use]
    pub fn contacts(&self) -> &[Contact] {
        &self.contacts
    }

    /// Forgets all contacts, as after a reset.
    pub fn clear(&mut self) {
        self.contacts.clear();
    }

    /// Forgets the contacts of an object that is no more.
    pub fn forget(&mut self, id: u32) {
        self.contacts.retain(|contact| contact.seen_by(id).is_none());
    }

    fn record(&mut self, objects: &Objects, dt: f64) {
        self.contacts.clear();
        let bodies = &self.bodies;
        for &index in &self.sweeps.recorded {
            let pair = &self.sweeps.pairs[index as usize];
            let Some(deepest) = pair.deepest else { continue };
            self.contacts.push(Contact {
                a: objects.id[bodies[pair.a].row as usize],
                b: objects.id[bodies[pair.b].row as usize],
                normal: deepest.normal,
                depth: deepest.depth,
                point: deepest.point,
                force: apply::force(pair, deepest.normal, bodies, objects, dt),
            });
        }
    }

    /// Section 12.8.
    fn read(&mut self, objects: &mut Objects, dt: f64) {
        self.touching.clear();
        self.touching.resize(objects.len(), false);
        self.forces.clear();
        self.forces.resize(objects.len(), [0.0; 2]);
        for (contact, &index) in self.contacts.iter().zip(&self.sweeps.recorded) {
            let pair = &self.sweeps.pairs[index as usize];
            for (slot, sign) in [(pair.a, 1.0), (pair.b, -1.0)] {
                let row = self.bodies[slot].row as usize;
                self.touching[row] = true;
                self.forces[row] = overlap::along(self.forces[row], contact.normal, sign * contact.force);
            }
        }
        for (reading, (&touches, &force)) in
            objects.contact.iter_mut().zip(self.touching.iter().zip(&self.forces))
        {
            let (contact_time, air_time) =
                if touches { (reading.contact_time + dt, 0.0) } else { (0.0, reading.air_time + dt) };
            *reading = Reading {
                in_contact: touches,
                force,
                contact_time,
                air_time,
                started: touches && !reading.in_contact,
                ended: reading.in_contact && !touches,
            };
        }
    }
}
