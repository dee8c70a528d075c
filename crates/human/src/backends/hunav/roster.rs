//! The people of an episode: one full record of each as an engine gets it, and what the bus shows of them.
//!
//! A record is what the files said with the state of the engine's last answer in it. An answer must never take away what it does not say:
//! engines leave most fields empty (HuNav specification, section 3.1).

use std::collections::{BTreeMap, HashMap};

use promenade_hunav::{Agent, BehaviorKind, wrap};

use super::people::{Maker, entry_of};
use super::settings::HunavSettings;
use crate::entity::DynamicObstacle;
use crate::message::{Pedestrian, Pose, Twist, animation_state};

/// Slower than this is standing, m/s.
const STANDING: f64 = 0.05;

/// As fast as this is running, m/s.
const RUNNING: f64 = 2.0;

/// Further away than this is nowhere, metres.
const MOST: f64 = 1e9;

/// Who is in an episode; all lists are in the order of rows.
#[derive(Debug, Default)]
pub(super) struct Roster {
    people: Vec<DynamicObstacle>,
    /// The records.
    pub(super) agents: Vec<Agent>,
    /// What the bus shows.
    pub(super) bus: Vec<Pedestrian>,
    /// Whether the stream moves somebody.
    driven: Vec<bool>,
    /// Whether the last answer had somebody.
    answered: Vec<bool>,
    row_of: BTreeMap<i32, usize>,
    /// Only looked up, never walked through.
    row_named: HashMap<String, usize>,
}

/// What was wrong with an answer.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Odd {
    /// Agents that nobody asked for.
    pub(super) unknown: usize,
    /// People without an answer.
    pub(super) missing: usize,
    /// Answers that are not finite.
    pub(super) broken: usize,
}

impl Roster {
    pub(super) fn is_empty(&self) -> bool {
        self.people.is_empty()
    }

    pub(super) fn clear(&mut self) {
        *self = Roster::default();
    }

    /// Takes people in; somebody known begins anew. Answers where each begins.
    pub(super) fn add(&mut self, people: &[DynamicObstacle], maker: &Maker<'_>) -> Vec<Pose> {
        let said: Vec<_> = people.iter().map(entry_of).collect();
        let mut ids: Vec<Option<i32>> = vec![None; people.len()];
        for ((person, said), id) in people.iter().zip(&said).zip(&mut ids) {
            *id = self.row_named.get(&person.name).map(|&row| self.agents[row].id);
            // The robot has 0, and the bus has no negative ids.
            let Some(asked) = said.id.filter(|_| id.is_none()) else { continue };
            if asked > 0 && !self.row_of.contains_key(&asked) {
                self.row_of.insert(asked, usize::MAX);
                *id = Some(asked);
            } else {
                tracing::warn!(
                    "{:?} cannot have the id {asked}: it is 0 or less, or somebody's",
                    person.name
                );
            }
        }
        let mut places = Vec::new();
        for ((person, said), id) in people.iter().zip(&said).zip(ids) {
            let id = id.unwrap_or_else(|| self.free_id());
            let agent = maker.agent(person, said, id);
            let mut pose = Pose::planar(agent.position[0], agent.position[1], agent.yaw);
            pose.position[2] = person.pose.position[2];
            places.push(pose);
            let bus = Pedestrian {
                name: person.name.clone(),
                id: id.cast_unsigned(),
                pose,
                agent_type: person.agent_type.clone(),
                ..Pedestrian::default()
            };
            let row = *self.row_named.entry(person.name.clone()).or_insert(self.people.len());
            self.row_of.insert(id, row);
            if row == self.people.len() {
                self.people.push(person.clone());
                self.agents.push(agent);
                self.bus.push(bus);
                self.driven.push(false);
                self.answered.push(false);
            } else {
                self.people[row].clone_from(person);
                self.agents[row] = agent;
                self.bus[row] = bus;
            }
            self.bus[row].animation_state = animation(&self.agents[row], 0.0, maker.settings);
        }
        places
    }

    /// Everybody begins anew.
    pub(super) fn make_again(&mut self, maker: &Maker<'_>) {
        let people = std::mem::take(&mut self.people);
        self.clear();
        self.add(&people, maker);
    }

    /// The smallest id that nobody has.
    fn free_id(&self) -> i32 {
        let mut id = 1;
        for taken in self.row_of.range(1..).map(|(taken, _)| *taken) {
            if taken != id {
                break;
            }
            id += 1;
        }
        id
    }

    /// Nobody is moved by the stream until it is said.
    pub(super) fn begin_driving(&mut self) {
        self.driven.fill(false);
    }

    /// The stream moves somebody: their state is what the engine is told.
    pub(super) fn drive(&mut self, bus_name: &str, state: &Pedestrian) {
        if let Some(&row) = self.row_named.get(bus_name) {
            self.driven[row] = true;
            self.place(row, &state.pose, &state.twist);
        }
    }

    /// Somebody was put somewhere and goes on from there.
    pub(super) fn put(&mut self, bus_name: &str, pose: &Pose, twist: &Twist) {
        if let Some(&row) = self.row_named.get(bus_name) {
            self.place(row, pose, twist);
            self.bus[row].pose = *pose;
            self.bus[row].twist = *twist;
        }
    }

    fn place(&mut self, row: usize, pose: &Pose, twist: &Twist) {
        let agent = &mut self.agents[row];
        let [x, y, _] = pose.position;
        let [vx, vy, _] = twist.linear;
        agent.position = [x, y];
        agent.yaw = pose.yaw();
        agent.velocity = [vx, vy];
        agent.linear_vel = vx.hypot(vy);
        agent.angular_vel = twist.angular[2];
    }

    /// Takes an answer over, whatever its order. Of somebody whom it has twice the first counts.
    pub(super) fn take(&mut self, answer: &[Agent], settings: &HunavSettings) -> Odd {
        let mut odd = Odd::default();
        self.answered.fill(false);
        for said in answer {
            let Some(&row) = self.row_of.get(&said.id) else {
                odd.unknown += 1;
                continue;
            };
            if std::mem::replace(&mut self.answered[row], true) || self.driven[row] {
                continue;
            }
            if !is_sound(said) {
                odd.broken += 1;
                continue;
            }
            self.update(row, said, settings);
        }
        odd.missing = self.answered.iter().filter(|answered| !**answered).count();
        odd
    }

    fn update(&mut self, row: usize, said: &Agent, settings: &HunavSettings) {
        let agent = &mut self.agents[row];
        let has_moved = agent.position != said.position;
        agent.position = said.position;
        agent.yaw = wrap(said.yaw);
        agent.velocity = said.velocity;
        agent.linear_vel = said.velocity[0].hypot(said.velocity[1]);
        // After a call without time an engine answers an infinite turn rate.
        agent.angular_vel = if said.angular_vel.is_finite() { said.angular_vel } else { 0.0 };
        agent.behavior.state = said.behavior.state;
        if said.goals.iter().flatten().all(|number| number.is_finite()) {
            agent.goals.clone_from(&said.goals);
        }
        // Somebody who stands and turns keeps the velocity that they had; on the bus it would be a walk on the spot.
        let [vx, vy] = if has_moved { agent.velocity } else { [0.0; 2] };
        let out = &mut self.bus[row];
        let yaw = match settings.yaw_smoothing {
            share if share > 0.0 => {
                let towards = if vx.hypot(vy) > STANDING { vy.atan2(vx) } else { agent.yaw };
                let before = out.pose.yaw();
                before + share * wrap(towards - before)
            }
            _ => agent.yaw,
        };
        let [x, y] = agent.position;
        let floor = out.pose.position[2];
        out.pose = Pose::planar(x, y, yaw);
        out.pose.position[2] = floor;
        out.twist.linear = [vx, vy, 0.0];
        out.twist.angular = [0.0, 0.0, agent.angular_vel];
        out.animation_state = animation(agent, vx.hypot(vy), settings);
    }
}

/// Whether an answer is something that can be shown.
fn is_sound(said: &Agent) -> bool {
    let is_place = |at: &f64| at.is_finite() && at.abs() <= MOST;
    said.position.iter().all(is_place) && said.velocity.iter().chain([&said.yaw]).all(|v| v.is_finite())
}

/// What somebody looks like who moves at a speed in m/s.
fn animation(agent: &Agent, speed: f64, settings: &HunavSettings) -> u8 {
    let of_behavior = match agent.behavior.kind {
        BehaviorKind::Scared => Some(animation_state::PANIC),
        BehaviorKind::Surprised => Some(animation_state::SURPRISED),
        BehaviorKind::Curious => Some(animation_state::CURIOUS),
        BehaviorKind::Threatening => Some(animation_state::THREATENING),
        BehaviorKind::Regular | BehaviorKind::Impassive => None,
    };
    match of_behavior {
        Some(state) if settings.animation_compat || agent.behavior.state == 1 => state,
        None if settings.animation_compat && agent.behavior.kind == BehaviorKind::Impassive => {
            animation_state::IDLE
        }
        None if settings.animation_compat => animation_state::WALKING,
        _ if speed < STANDING => animation_state::IDLE,
        _ if speed < RUNNING => animation_state::WALKING,
        _ => animation_state::RUNNING,
    }
}
