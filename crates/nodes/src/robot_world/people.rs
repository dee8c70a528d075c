//! The people of the human layer as this simulator holds them: the four services of `arena_people_msgs`, answered.
//!
//! Names are sim paths. Every request gets one result per entry, whatever it holds; what is no place is nobody's.

use std::collections::BTreeMap;
use std::sync::Arc;

use anyhow::Result;
use arena_people_msgs::msg::rmw::Pedestrian as WirePedestrian;
use arena_people_msgs::srv::rmw::{
    DeletePedestrians, DeletePedestriansRequest, DeletePedestriansResponse, MovePedestrians,
    MovePedestriansRequest, MovePedestriansResponse, SpawnPedestrians, SpawnPedestriansRequest,
    SpawnPedestriansResponse, UpdatePedestrians, UpdatePedestriansRequest, UpdatePedestriansResponse,
};
use futures::channel::oneshot;
use promenade_human::entity::{DynamicObstacle, WaypointMode};
use promenade_human::live::{Occupant, OccupantKind};
use promenade_human::message::Pedestrian;
use promenade_human::{PED_RADIUS, Sim};
use promenade_kernel::Time;
use promenade_scenario::DynamicEntry;
use rclrs::{Node, Service};
use rosidl_runtime_rs::Sequence;

use crate::bus::{read_pedestrian, time_from_wire};

const SUCCESS: u8 = 0;
const NOT_FOUND: u8 = 1;
const FAILED_CREATE: u8 = 2;

/// People that one simulator holds; a hostile client must not fill the memory.
const MOST_PEOPLE: usize = 100_000;

/// Results of a request, one per entry.
type Answer = oneshot::Sender<Vec<u8>>;

/// A call of one of the services.
pub(crate) enum PeopleRequest {
    Spawn(SpawnPedestriansRequest, Answer),
    Move(MovePedestriansRequest, Answer),
    Update(UpdatePedestriansRequest, Answer),
    Delete(DeletePedestriansRequest, Answer),
}

/// The services for as long as they are kept.
pub(super) struct PeopleServices {
    _spawn: Service<SpawnPedestrians>,
    _move: Service<MovePedestrians>,
    _update: Service<UpdatePedestrians>,
    _delete: Service<DeletePedestrians>,
}

impl PeopleServices {
    /// Serves below namespace `ns`, or that of `node` when it is empty; `tell` hands a request to the world or drops it.
    pub(super) fn open(
        node: &Node,
        ns: &str,
        tell: impl Fn(PeopleRequest) + Clone + Send + Sync + 'static,
    ) -> Result<Self> {
        let to = |name| Door { node, name: service_name(ns, name), tell: tell.clone() };
        Ok(PeopleServices {
            _spawn: to("spawn_pedestrians").open(
                |request: &SpawnPedestriansRequest| request.pedestrians.len(),
                PeopleRequest::Spawn,
                |results| SpawnPedestriansResponse { results },
                FAILED_CREATE,
            )?,
            _move: to("move_pedestrians").open(
                |request: &MovePedestriansRequest| request.pedestrians.len(),
                PeopleRequest::Move,
                |results| MovePedestriansResponse { results },
                NOT_FOUND,
            )?,
            _update: to("update_pedestrians").open(
                |request: &UpdatePedestriansRequest| request.pedestrians.len(),
                PeopleRequest::Update,
                |results| UpdatePedestriansResponse { results },
                NOT_FOUND,
            )?,
            _delete: to("delete_pedestrians").open(
                |request: &DeletePedestriansRequest| request.names.len(),
                PeopleRequest::Delete,
                |results| DeletePedestriansResponse { results },
                NOT_FOUND,
            )?,
        })
    }
}

/// Where a service is to be and who does its work.
struct Door<'a, T> {
    node: &'a Node,
    name: String,
    tell: T,
}

impl<T: Fn(PeopleRequest) + Send + Sync + 'static> Door<'_, T> {
    /// The service that hands its requests on. One that found no room has `failed` for everybody in it.
    fn open<S: rosidl_runtime_rs::Service>(
        self,
        count: fn(&S::Request) -> usize,
        request: fn(S::Request, Answer) -> PeopleRequest,
        response: fn(Sequence<u8>) -> S::Response,
        failed: u8,
    ) -> Result<Service<S>> {
        let Door { node, name, tell } = self;
        Ok(node.create_async_service::<S, _>(name.as_str(), move |asked: S::Request| {
            let count = count(&asked);
            let (answer, answered) = oneshot::channel();
            tell(request(asked, answer));
            async move { response(answered.await.unwrap_or_else(|_| vec![failed; count]).as_slice().into()) }
        })?)
    }
}

fn service_name(ns: &str, name: &str) -> String {
    if ns.is_empty() { name.to_owned() } else { format!("{}/{name}", ns.trim_end_matches('/')) }
}

/// Somebody who is here.
#[derive(Clone, Debug)]
struct Resident {
    agent_type: String,
    position: [f64; 2],
}

/// Who is here, by sim path.
#[derive(Debug, Default)]
pub(super) struct People {
    residents: BTreeMap<String, Resident>,
    /// Prefix of the environment.
    prefix: String,
    /// What the scenario says about people, by authored name: their radius and level.
    entries: BTreeMap<String, Arc<DynamicEntry>>,
    scratch: Pedestrian,
    results: Vec<bool>,
}

impl People {
    /// Does in `sim` what a request asks for, and answers it.
    pub(super) fn serve(&mut self, sim: &mut dyn Sim, request: PeopleRequest) {
        // A client that gave up waiting has dropped its end.
        match request {
            PeopleRequest::Spawn(request, answer) => {
                let results =
                    request.pedestrians.iter().map(|item| self.spawn(sim, &item.pedestrian)).collect();
                drop(answer.send(results));
            }
            PeopleRequest::Move(request, answer) => {
                drop(answer.send(request.pedestrians.iter().map(|person| self.put(sim, person)).collect()));
            }
            PeopleRequest::Update(request, answer) => {
                let stamp = time_from_wire(&request.stamp);
                let mut update = |person| self.update(sim, stamp, person);
                drop(answer.send(request.pedestrians.iter().map(&mut update).collect()));
            }
            PeopleRequest::Delete(request, answer) => {
                drop(
                    answer
                        .send(request.names.iter().map(|name| self.delete(sim, &name.to_string())).collect()),
                );
            }
        }
    }

    /// What a scenario says about the people of an environment; it counts for those who come from now on.
    pub(super) fn expect(&mut self, prefix: &str, people: &[DynamicObstacle]) {
        prefix.clone_into(&mut self.prefix);
        let entries = people.iter().filter_map(|person| Some((person.name.clone(), person.entry.clone()?)));
        self.entries = entries.collect();
    }

    /// Everybody as the running things of a world see them, by their authored names.
    pub(super) fn occupants(&self) -> impl Iterator<Item = Occupant<'_>> {
        self.residents.iter().map(|(path, resident)| {
            let name = plain_name(path, &self.prefix);
            Occupant {
                name,
                kind: OccupantKind::Person,
                agent_type: &resident.agent_type,
                position: resident.position,
                radius: PED_RADIUS,
                level: self.entries.get(name).and_then(|entry| entry.level_id.as_deref()),
            }
        })
    }

    fn spawn(&mut self, sim: &mut dyn Sim, wire: &WirePedestrian) -> u8 {
        read_pedestrian(wire, &mut self.scratch);
        let mut person = obstacle(&self.scratch);
        person.entry = self.entries.get(plain_name(&person.sim_path, &self.prefix)).cloned();
        let is_taken = self.residents.contains_key(&person.sim_path);
        if person.sim_path.is_empty() || is_taken || self.residents.len() >= MOST_PEOPLE {
            return FAILED_CREATE;
        }
        if !person.pose.is_finite() || sim.pedestrian_spawn(std::slice::from_ref(&person)) != [true] {
            return FAILED_CREATE;
        }
        let [x, y, _] = person.pose.position;
        let resident = Resident { agent_type: person.agent_type, position: [x, y] };
        self.residents.insert(person.sim_path, resident);
        SUCCESS
    }

    fn put(&mut self, sim: &mut dyn Sim, wire: &WirePedestrian) -> u8 {
        read_pedestrian(wire, &mut self.scratch);
        let Some(resident) = self.residents.get_mut(&self.scratch.name) else { return NOT_FOUND };
        let person = obstacle(&self.scratch);
        if !person.pose.is_finite() || sim.pedestrian_move(std::slice::from_ref(&person)) != [true] {
            return NOT_FOUND;
        }
        resident.position = [person.pose.position[0], person.pose.position[1]];
        SUCCESS
    }

    fn update(&mut self, sim: &mut dyn Sim, stamp: Time, wire: &WirePedestrian) -> u8 {
        read_pedestrian(wire, &mut self.scratch);
        let Some(resident) = self.residents.get_mut(&self.scratch.name) else { return NOT_FOUND };
        if !self.scratch.pose.is_finite() {
            return NOT_FOUND;
        }
        self.results.clear();
        sim.pedestrian_update(stamp, std::slice::from_ref(&self.scratch), &mut self.results);
        if self.results != [true] {
            return NOT_FOUND;
        }
        resident.position = [self.scratch.pose.position[0], self.scratch.pose.position[1]];
        SUCCESS
    }

    fn delete(&mut self, sim: &mut dyn Sim, path: &str) -> u8 {
        if self.residents.remove(path).is_none() {
            return NOT_FOUND;
        }
        let person = obstacle(&Pedestrian { name: path.to_owned(), ..Pedestrian::default() });
        sim.pedestrian_delete(std::slice::from_ref(&person));
        SUCCESS
    }
}

/// The authored name of a sim path of the environment.
fn plain_name<'a>(path: &'a str, prefix: &str) -> &'a str {
    path.strip_prefix(prefix).and_then(|rest| rest.strip_prefix('/')).unwrap_or(path)
}

/// A person of the wire as the simulator takes them; the sim path is their only name here.
fn obstacle(person: &Pedestrian) -> DynamicObstacle {
    DynamicObstacle {
        name: person.name.clone(),
        sim_path: person.name.clone(),
        model: String::new(),
        model_uri: person.model_uri.clone(),
        pose: person.pose,
        velocity: 0.0,
        agent_type: person.agent_type.clone(),
        waypoints: Vec::new(),
        waypoint_mode: WaypointMode::default(),
        entry: None,
    }
}

#[cfg(test)]
mod tests {
    use arena_people_msgs::msg::rmw::SpawnPedestrian;
    use promenade_human::DummySim;

    use super::*;

    fn person(name: &str, x: f64) -> WirePedestrian {
        let mut person = WirePedestrian { name: name.into(), ..WirePedestrian::default() };
        person.pose.position.x = x;
        person
    }

    fn ask(people: &mut People, request: impl FnOnce(Answer) -> PeopleRequest) -> Vec<u8> {
        let (answer, mut answered) = oneshot::channel();
        people.serve(&mut DummySim, request(answer));
        answered.try_recv().expect("answered").expect("at once")
    }

    fn spawn(people: &mut People, of: &[WirePedestrian]) -> Vec<u8> {
        let item = |pedestrian: &WirePedestrian| SpawnPedestrian {
            pedestrian: pedestrian.clone(),
            ..Default::default()
        };
        let request = SpawnPedestriansRequest { pedestrians: of.iter().map(item).collect() };
        ask(people, |answer| PeopleRequest::Spawn(request, answer))
    }

    #[test]
    fn each_entry_gets_its_own_result() {
        let mut people = People::default();
        people.expect("env_0", &[]);
        let of =
            [person("env_0/a", 1.0), person("env_0/a", 2.0), person("", 0.0), person("env_0/b", f64::NAN)];
        assert_eq!(spawn(&mut people, &of), [SUCCESS, FAILED_CREATE, FAILED_CREATE, FAILED_CREATE]);
        let moves = MovePedestriansRequest {
            pedestrians: [person("env_0/a", 3.0), person("env_0/b", 3.0)].into_iter().collect(),
        };
        assert_eq!(ask(&mut people, |answer| PeopleRequest::Move(moves, answer)), [SUCCESS, NOT_FOUND]);
        let updates = UpdatePedestriansRequest {
            pedestrians: [person("env_0/a", f64::INFINITY), person("env_0/a", 4.0)].into_iter().collect(),
            ..Default::default()
        };
        assert_eq!(ask(&mut people, |answer| PeopleRequest::Update(updates, answer)), [NOT_FOUND, SUCCESS]);
        let there: Vec<_> = people.occupants().map(|seen| (seen.name, seen.position)).collect();
        assert_eq!(there, [("a", [4.0, 0.0])], "authored names, and the last place that is one");
        let names =
            DeletePedestriansRequest { names: ["env_0/a".into(), "env_0/a".into()].into_iter().collect() };
        assert_eq!(ask(&mut people, |answer| PeopleRequest::Delete(names, answer)), [SUCCESS, NOT_FOUND]);
        assert_eq!(people.occupants().count(), 0);
    }
}
