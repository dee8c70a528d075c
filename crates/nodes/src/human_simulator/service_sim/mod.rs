//! A simulator outside the process, behind the four services of `arena_people_msgs`.
//!
//! The services are `spawn_pedestrians`, `move_pedestrians`, `update_pedestrians` and `delete_pedestrians`, below the
//! namespace of the environment or below parameter `sim_ns`. Each verb is one batched call. Spawn, move and delete wait
//! for their answer, at most `sim_timeout` seconds of wall time; an update never waits. A simulator that is absent, comes
//! late, dies or starts again costs failed results and one line in the log, and everybody is created again when it is
//! back. The world's geometry, things and robots have no service in that package: those verbs succeed without effect.

mod link;
mod ros;
mod roster;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use anyhow::{Result, ensure};
use arena_people_msgs::msg::rmw::Pedestrian as WirePedestrian;
use arena_people_msgs::srv::rmw::{
    DeletePedestriansRequest, MovePedestriansRequest, SpawnPedestriansRequest,
};
use promenade_human::Sim;
use promenade_human::entity::DynamicObstacle;
use promenade_human::message::Pedestrian;
use promenade_kernel::Time;
use rclrs::Node;
use rosidl_runtime_rs::{Sequence, String as WireString};

use link::{Link, NoAnswer, Patience, Request, Service};
use roster::{Census, Held, code};

use crate::bus::{pose_to_wire, set_string};

/// Names that a line about failures spells out.
const NAMED: usize = 3;

/// See the module.
pub(crate) struct ServiceSim {
    link: Link,
}

impl ServiceSim {
    /// A simulator below `namespace`, empty = the node's. Calls wait at most `timeout_s` seconds, and not at all once `stop`
    /// is set.
    ///
    /// # Errors
    /// A name or a time-out that is none.
    pub(crate) fn new(node: &Node, namespace: &str, timeout_s: f64, stop: Arc<AtomicBool>) -> Result<Self> {
        ensure!(
            timeout_s > 0.0 && timeout_s <= 3600.0,
            "parameter sim_timeout: {timeout_s} is not between 0 and 3600 seconds"
        );
        let services = ros::RosServices::new(node, namespace)?;
        let timeout = Duration::from_secs_f64(timeout_s);
        Ok(ServiceSim {
            link: Link::new(Box::new(services), Patience { answer: timeout, quiet: timeout }, stop),
        })
    }

    /// Creates people of whom the simulator may hold some already, as after a call without an answer.
    fn spawn(&self, people: &[&DynamicObstacle]) -> Result<Vec<u8>, NoAnswer> {
        if people.is_empty() {
            return Ok(Vec::new());
        }
        let leftovers: Vec<&str> = self.link.with_roster(|roster| {
            people.iter().map(|p| p.sim_path.as_str()).filter(|path| roster.may_hold(path)).collect()
        });
        if !leftovers.is_empty() {
            let names = leftovers.into_iter().map(WireString::from).collect();
            // Nobody of that name is as well.
            self.link
                .call(Request::Delete(&DeletePedestriansRequest { names }))
                .map_err(|_| NoAnswer::NotSent)?;
        }
        let mut request = SpawnPedestriansRequest { pedestrians: Sequence::new(people.len()) };
        for (person, out) in people.iter().zip(request.pedestrians.iter_mut()) {
            write_obstacle(person, &mut out.pedestrian);
            set_string(&mut out.model_ref, &person.model_uri);
        }
        let results = self.link.call(Request::Spawn(&request))?;
        self.link.on_spawn_answered();
        complain(Service::Spawn, people, &results);
        self.link.with_roster(|roster| {
            for (i, person) in people.iter().enumerate() {
                match results.get(i) {
                    Some(&code::SUCCESS) => roster.on_spawned(&person.name, &person.sim_path, held(person)),
                    Some(&code::FAILED_PARSE) => roster.on_deleted(&person.name, &person.sim_path),
                    // One of that name may be left over from an earlier run of this node.
                    _ => roster.on_unsure([person.sim_path.as_str()]),
                }
            }
        });
        Ok(results)
    }
}

impl Sim for ServiceSim {
    fn pedestrian_spawn(&mut self, pedestrians: &[DynamicObstacle]) -> Vec<bool> {
        // A late answer may have told that somebody was created after all: they are only put where they should be.
        let is_there: Vec<bool> = self.link.with_roster(|roster| {
            pedestrians.iter().map(|p| roster.holds_as(&p.sim_path, &p.model_uri)).collect()
        });
        let (there, new): (Vec<_>, Vec<_>) =
            pedestrians.iter().zip(&is_there).partition(|&(_, &is_there)| is_there);
        let [there, new] =
            [there, new].map(|group: Vec<_>| group.into_iter().map(|(person, _)| person).collect::<Vec<_>>());
        let moved = self.pedestrian_move(&there.into_iter().cloned().collect::<Vec<_>>());
        let created = self.spawn(&new).unwrap_or_else(|no_answer| {
            if !self.link.is_gone() {
                let call = if let NoAnswer::Unknown(number) = no_answer { Some(number) } else { None };
                let people = new.iter().map(|p| (p.name.clone(), p.sim_path.clone(), held(p))).collect();
                self.link.on_not_spawned(call, people);
            }
            Vec::new()
        });
        let (mut moved, mut created) = (moved.into_iter(), created.into_iter());
        let result = |&is_there: &bool| {
            if is_there { moved.next() == Some(true) } else { created.next() == Some(code::SUCCESS) }
        };
        is_there.iter().map(result).collect()
    }

    fn pedestrian_move(&mut self, pedestrians: &[DynamicObstacle]) -> Vec<bool> {
        if pedestrians.is_empty() {
            return Vec::new();
        }
        let mut request = MovePedestriansRequest { pedestrians: Sequence::new(pedestrians.len()) };
        for (person, out) in pedestrians.iter().zip(request.pedestrians.iter_mut()) {
            write_obstacle(person, out);
        }
        let Ok(results) = self.link.call(Request::Move(&request)) else {
            return vec![false; pedestrians.len()];
        };
        complain(Service::Move, &pedestrians.iter().collect::<Vec<_>>(), &results);
        let mut census = Census::default();
        self.link.with_roster(|roster| {
            for (i, person) in pedestrians.iter().enumerate() {
                roster.on_sent(&person.sim_path, person.pose);
                census.count(roster.holds(&person.sim_path), results.get(i).copied());
            }
        });
        if census.all_are_missing() {
            self.link.on_everybody_missing();
        }
        successes(&results, pedestrians.len())
    }

    fn pedestrian_delete(&mut self, pedestrians: &[DynamicObstacle]) -> Vec<bool> {
        if pedestrians.is_empty() {
            return Vec::new();
        }
        let names = pedestrians.iter().map(|person| person.sim_path.as_str().into()).collect();
        let answer = self.link.call(Request::Delete(&DeletePedestriansRequest { names }));
        let Ok(results) = answer else {
            // Also when nothing was sent: the layer believes from now on that they are gone.
            let paths = pedestrians.iter().map(|person| person.sim_path.as_str());
            self.link.with_roster(|roster| roster.on_unsure(paths));
            return vec![false; pedestrians.len()];
        };
        self.link.with_roster(|roster| {
            for person in pedestrians {
                roster.on_deleted(&person.name, &person.sim_path);
            }
        });
        successes(&results, pedestrians.len())
    }

    fn pedestrian_update(&mut self, stamp: Time, pedestrians: &[Pedestrian], results: &mut Vec<bool>) {
        self.link.update(stamp, pedestrians, results);
    }

    fn take_restarted(&mut self) -> bool {
        self.link.take_restarted()
    }
}

fn held(person: &DynamicObstacle) -> Held {
    Held { pose: person.pose, model_uri: person.model_uri.clone() }
}

fn write_obstacle(person: &DynamicObstacle, out: &mut WirePedestrian) {
    set_string(&mut out.name, &person.sim_path);
    out.pose = pose_to_wire(&person.pose);
    set_string(&mut out.agent_type, &person.agent_type);
    set_string(&mut out.model_uri, &person.model_uri);
}

/// One success per input: what is missing failed, what is too much is nobody's.
fn successes(results: &[u8], count: usize) -> Vec<bool> {
    (0..count).map(|i| results.get(i) == Some(&code::SUCCESS)).collect()
}

/// One line about everybody for whom a call failed.
fn complain(service: Service, people: &[&DynamicObstacle], results: &[u8]) {
    let failed: Vec<(usize, &&DynamicObstacle)> =
        people.iter().enumerate().filter(|&(i, _)| results.get(i) != Some(&code::SUCCESS)).collect();
    if failed.is_empty() {
        return;
    }
    let reason = |i: usize| match (service, results.get(i)) {
        (_, None) => "no result".to_owned(),
        (Service::Spawn, Some(&code::FAILED_PARSE)) => "model not readable".to_owned(),
        (Service::Spawn, Some(&code::FAILED_CREATE)) => "not created".to_owned(),
        (Service::Move, Some(&code::NOT_FOUND)) => "not found".to_owned(),
        (_, Some(other)) => format!("unknown code {other}"),
    };
    let named: Vec<String> = failed
        .iter()
        .take(NAMED)
        .map(|&(i, person)| format!("{:?} ({})", person.sim_path, reason(i)))
        .collect();
    let rest = if failed.len() > NAMED { ", ..." } else { "" };
    tracing::warn!(
        "{}: {} of {} failed: {}{rest}",
        service.name(),
        failed.len(),
        people.len(),
        named.join(", ")
    );
}
