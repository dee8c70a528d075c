//! Nodes of several agents: the agent whose tree has the node moves them all, and the trees of the others rest.
//!
//! That agent need not be the main one, and its own tree never rests, or nobody would let the others go. However such a node ends, all that
//! walked with it get their groups and their trees back.

use std::f64::consts::{FRAC_PI_2, TAU};

use super::program::{Value, ids};
use super::tick::{Run, Status};
use crate::{Goal, World};

/// Agents that one can lead, at most.
const MOST: usize = 64;
/// Room of one person on the ring of a conversation, metres, and the smallest ring.
const RING: (f64, f64) = (0.9, 0.7);
/// How exactly somebody takes its place on the ring, metres.
const PLACE_RADIUS: f64 = 0.25;

impl Run<'_> {
    /// Walk to the leader's goals as one group, for a while.
    pub(super) fn group_walk(&mut self, at: usize, row: usize) -> Option<Status> {
        if self.lasts(at, 2) == Status::Success {
            return Some(Status::Success);
        }
        if self.memory[at].company.is_empty() {
            self.gather(at, row, 3)?;
            let group = self.free_group(row);
            for nth in 0..self.memory[at].company.len() {
                let (id, _) = self.memory[at].company[nth];
                if let Some(member) = self.world.row_of(id) {
                    self.world.set_group(member, group);
                    self.world.share_goals(row, member);
                }
            }
        }
        let step = self.step(at);
        self.each(at, |world, _, member| {
            if world.is_goal_reached(member) {
                world.next_goal(member);
            } else {
                world.walk(member, step);
            }
        });
        Some(Status::Running)
    }

    /// Meet around a place, then look at each other for a while.
    pub(super) fn conversation(&mut self, at: usize, row: usize) -> Option<Status> {
        let (center, seconds) = (self.place(at, 4)?, self.number(at, 2)?);
        if self.memory[at].company.is_empty() {
            self.gather(at, row, 3)?;
            self.memory[at].place = center;
        }
        let (center, step) = (self.memory[at].place, self.step(at));
        let count = self.memory[at].company.len();
        let radius = (RING.0 * count as f64 / TAU).max(RING.1);
        let mut all_there = true;
        self.each(at, |world, nth, member| {
            let angle = FRAC_PI_2 + TAU * nth as f64 / count as f64;
            let place = [center[0] + radius * angle.cos(), center[1] + radius * angle.sin()];
            if world.distance(member, place) <= PLACE_RADIUS {
                world.look_at(member, center, step);
            } else {
                all_there = false;
                let cruise = world.cruise(member);
                world.go(member, step, Goal { center: place, radius: 0.0 }, cruise, None);
            }
        });
        let memory = &mut self.memory[at];
        if memory.settled.is_none() {
            memory.settled = all_there.then_some(true);
        } else {
            memory.time += step;
        }
        let is_over = memory.settled.is_some() && memory.time >= seconds;
        Some(if is_over { Status::Success } else { Status::Running })
    }

    /// Whether this tree may move the agent of a row.
    fn is_free(&self, row: usize) -> bool {
        row == self.row || self.world.leader(row).is_none()
    }

    /// Remember who goes along: the main agent, then of the ids in a port those that are there and not led already. None if the main agent is.
    fn gather(&mut self, at: usize, row: usize, port: usize) -> Option<()> {
        let main = self.is_free(row).then(|| self.world.id(row))?;
        let mut company = vec![(main, self.world.group(row))];
        let single;
        let text = match self.value(at, port) {
            Value::Unset => "",
            Value::Number(id) => {
                single = id.to_string();
                &single
            }
            Value::Text(text, _) => text,
        };
        for id in ids(text).flatten() {
            let is_new = company.iter().all(|(known, _)| *known != id);
            if let Some(member) = self.world.row_of(id).filter(|_| is_new && company.len() < MOST)
                && self.is_free(member)
            {
                company.push((id, self.world.group(member)));
            }
        }
        let own = self.world.id(self.row);
        for (id, _) in company.iter().filter(|(id, _)| *id != own) {
            self.world.set_leader(*id, Some(own));
        }
        self.memory[at].company = company;
        Some(())
    }

    /// The row of somebody who goes along, none if it left or began anew meanwhile.
    fn companion(&self, id: i32) -> Option<usize> {
        let own = self.world.id(self.row);
        self.world.row_of(id).filter(|row| id == own || self.world.leader(*row) == Some(own))
    }

    /// For all that go along, with their place in the company.
    fn each(&mut self, at: usize, mut act: impl FnMut(&mut World, usize, usize)) {
        for nth in 0..self.memory[at].company.len() {
            let (id, _) = self.memory[at].company[nth];
            if let Some(member) = self.companion(id) {
                act(self.world, nth, member);
            }
        }
    }

    /// The leader's group, or one that nobody has.
    fn free_group(&self, row: usize) -> i8 {
        let own = self.world.group(row);
        if own != -1 {
            return own;
        }
        let is_free = |group: &i8| (0..self.world.len()).all(|other| self.world.group(other) != *group);
        (0..=i8::MAX).find(is_free).unwrap_or(-1)
    }

    /// Let the company of a node go.
    pub(super) fn dismiss(&mut self, at: usize) {
        for (id, group) in std::mem::take(&mut self.memory[at].company) {
            if let Some(member) = self.companion(id) {
                self.world.set_group(member, group);
                self.world.set_leader(id, None);
            }
        }
    }
}
