//! What the engine was told to hold, so that an engine that starts late or anew gets it again.
//!
//! Calls go out and are kept here in one place each: what the engine refused is not kept, what nobody answered is.

use std::collections::HashMap;

use indexmap::IndexMap;
use promenade_crowd::Wall;
use promenade_crowd::protocol::{
    AgentState, ObstacleConfig, ParameterValue, SinkConfig, SourceConfig, WorldObjectInfo,
};

use super::link::{EngineLink, LinkError, LinkResult};
use super::people::TypeFiles;
use super::regions::Flow;

/// A person of the episode.
#[derive(Debug)]
struct Person {
    state: AgentState,
    /// `None` while the engine has not got them.
    id: Option<i32>,
}

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Scene {
    walls: IndexMap<String, Wall>,
    obstacles: IndexMap<String, ObstacleConfig>,
    objects: IndexMap<String, WorldObjectInfo>,
    sources: IndexMap<String, SourceConfig>,
    sinks: IndexMap<String, SinkConfig>,
    parameters: IndexMap<String, ParameterValue>,
    /// By sim path, in spawn order.
    people: IndexMap<String, Person>,
    /// Place in `people` by id.
    by_id: HashMap<i32, usize>,
    pub(super) files: TypeFiles,
}

/// True when it was done or will be once the engine is there; a refusal is told.
fn holds(what: &str, result: LinkResult<()>) -> bool {
    match result {
        Ok(()) | Err(LinkError::Unreachable) => true,
        Err(LinkError::Refused(why)) => {
            tracing::warn!("the engine refuses {what}: {why}");
            false
        }
    }
}

impl Scene {
    /// Id of a person of the episode.
    pub(super) fn id_of(&self, sim_path: &str) -> Option<i32> {
        self.people.get(sim_path)?.id
    }

    /// Sim path and sent type of the person with this id.
    pub(super) fn person(&self, id: i32) -> Option<(&str, &str)> {
        let (sim_path, person) = self.people.get_index(*self.by_id.get(&id)?)?;
        Some((sim_path, &person.state.agent_type))
    }

    pub(super) fn add_walls(&mut self, link: &mut dyn EngineLink, walls: Vec<Wall>) {
        if !walls.is_empty() && holds("walls", link.add_walls(&walls)) {
            self.walls.extend(walls.into_iter().map(|wall| (wall.name.clone(), wall)));
        }
    }

    pub(super) fn remove_walls(&mut self, link: &mut dyn EngineLink, names: &[String]) {
        let known = take(&mut self.walls, names.iter().map(String::as_str));
        if !known.is_empty() {
            holds("to remove walls", link.remove_walls(&known));
        }
    }

    /// Boxes; one that is known under its name and stands elsewhere goes first, since engines do not move boxes.
    pub(super) fn add_obstacles(
        &mut self,
        link: &mut dyn EngineLink,
        obstacles: Vec<ObstacleConfig>,
    ) -> bool {
        let is_new = |known: &IndexMap<String, ObstacleConfig>, one: &ObstacleConfig| {
            known.get(&one.name) != Some(one)
        };
        let new: Vec<ObstacleConfig> =
            obstacles.into_iter().filter(|one| is_new(&self.obstacles, one)).collect();
        let moved = take(&mut self.obstacles, new.iter().map(|one| one.name.as_str()));
        if !moved.is_empty() {
            holds("to remove obstacles", link.remove_obstacles(&moved));
        }
        if new.is_empty() {
            return true;
        }
        let held = holds("obstacles", link.add_obstacles(&new));
        if held {
            self.obstacles.extend(new.into_iter().map(|one| (one.name.clone(), one)));
        }
        held
    }

    pub(super) fn add_objects(&mut self, link: &mut dyn EngineLink, objects: Vec<WorldObjectInfo>) -> bool {
        if objects.is_empty() {
            return true;
        }
        let held = holds("objects", link.add_world_objects(&objects));
        if held {
            self.objects.extend(objects.into_iter().map(|one| (one.object_id.clone(), one)));
        }
        held
    }

    /// Boxes and things to use, by sim path.
    pub(super) fn remove_objects<'n>(
        &mut self,
        link: &mut dyn EngineLink,
        names: impl Iterator<Item = &'n str> + Clone,
    ) {
        let boxes = take(&mut self.obstacles, names.clone());
        if !boxes.is_empty() {
            holds("to remove obstacles", link.remove_obstacles(&boxes));
        }
        let objects = take(&mut self.objects, names);
        if !objects.is_empty() {
            holds("to remove objects", link.remove_world_objects(&objects));
        }
    }

    pub(super) fn add_flow(&mut self, link: &mut dyn EngineLink, flow: Flow) -> bool {
        match flow {
            Flow::Source(source) => {
                self.files.sent(&source.agent.agent_type);
                let held = holds(&format!("source {:?}", source.name), link.add_source(&source));
                if held {
                    self.sources.insert(source.name.clone(), source);
                }
                held
            }
            Flow::Sink(sink) => {
                let held = holds(&format!("sink {:?}", sink.name), link.add_sink(&sink));
                if held {
                    self.sinks.insert(sink.name.clone(), sink);
                }
                held
            }
        }
    }

    /// Removes all sources and sinks. Whoever came out of a source since the people of the episode went must go, too.
    pub(super) fn remove_flow(&mut self, link: &mut dyn EngineLink) {
        let had_sources = !self.sources.is_empty();
        for (name, _) in self.sources.drain(..) {
            holds("to remove a source", link.remove_source(&name));
        }
        for (name, _) in self.sinks.drain(..) {
            holds("to remove a sink", link.remove_sink(&name));
        }
        if had_sources && self.people.is_empty() {
            holds("to remove everybody", link.remove_agents(&[]));
        }
    }

    /// Brings people in, all or none; ids are the engine's, by position.
    pub(super) fn spawn(&mut self, link: &mut dyn EngineLink, states: Vec<AgentState>) -> bool {
        if states.is_empty() {
            return true;
        }
        let ids = match link.spawn_agents(&states) {
            Ok(ids) if self.are_ids(&ids, states.len()) => ids.into_iter().map(Some).collect(),
            Ok(ids) => {
                tracing::warn!(
                    "the engine answered ids {ids:?} for {} people; they are not taken for spawned",
                    states.len()
                );
                holds("to remove agents", link.remove_agents(&ids));
                return false;
            }
            Err(LinkError::Refused(why)) => {
                tracing::warn!("the engine refuses {} people: {why}", states.len());
                return false;
            }
            Err(LinkError::Unreachable) => vec![None; states.len()],
        };
        for (state, id) in states.into_iter().zip(ids) {
            self.files.sent(&state.agent_type);
            self.people.insert(state.name.clone(), Person { state, id });
        }
        self.index();
        true
    }

    fn are_ids(&self, ids: &[i32], count: usize) -> bool {
        let mut sorted = ids.to_vec();
        sorted.sort_unstable();
        sorted.dedup();
        sorted.len() == count && ids.len() == count && ids.iter().all(|id| !self.by_id.contains_key(id))
    }

    fn index(&mut self) {
        self.by_id.clear();
        let ids = self.people.values().enumerate();
        self.by_id.extend(ids.filter_map(|(place, person)| Some((person.id?, place))));
    }

    /// Removes everybody, of the episode or not.
    pub(super) fn remove_people(&mut self, link: &mut dyn EngineLink) {
        holds("to remove everybody", link.remove_agents(&[]));
        self.people.clear();
        self.by_id.clear();
        self.files.clear();
    }

    /// One batch of parameters, then the episode boundary, which comes in any case. True when the batch was taken.
    pub(super) fn configure(
        &mut self,
        link: &mut dyn EngineLink,
        batch: Vec<(String, ParameterValue)>,
    ) -> bool {
        let taken = match batch.is_empty() {
            true => Ok(()),
            false => link.set_parameters(&batch),
        };
        match &taken {
            Err(LinkError::Refused(why)) => {
                tracing::warn!("the engine refuses the parameters of the episode, none of them holds: {why}");
            }
            Err(LinkError::Unreachable) if !batch.is_empty() => {
                tracing::warn!("the engine does not answer; the parameters of the episode hold once it does");
            }
            _ => {}
        }
        if !matches!(taken, Err(LinkError::Refused(_))) {
            self.parameters.extend(batch);
        }
        holds("to reset", link.reset(true));
        taken.is_ok()
    }

    /// The engine started: it gets everything, and nothing of an earlier run stays. People begin where `last_seen` has them.
    pub(super) fn send_again(
        &mut self,
        link: &mut dyn EngineLink,
        last_seen: impl Fn(i32) -> Option<[f64; 3]>,
    ) {
        for person in self.people.values_mut() {
            if let Some(pose) = person.id.and_then(&last_seen) {
                person.state.pose = pose;
            }
            person.id = None;
        }
        self.by_id.clear();
        // It may still hold something of what it was told, or of what somebody else told it.
        let cleared = [
            link.remove_source(""),
            link.remove_sink(""),
            link.remove_agents(&[]),
            link.remove_walls(&[]),
            link.remove_obstacles(&[]),
            link.remove_world_objects(&[]),
        ];
        if cleared.contains(&Err(LinkError::Unreachable)) {
            return;
        }
        let walls = std::mem::take(&mut self.walls).into_values().collect();
        self.add_walls(link, walls);
        let obstacles = std::mem::take(&mut self.obstacles).into_values().collect();
        self.add_obstacles(link, obstacles);
        let objects = std::mem::take(&mut self.objects).into_values().collect();
        self.add_objects(link, objects);
        for source in std::mem::take(&mut self.sources).into_values() {
            self.add_flow(link, Flow::Source(source));
        }
        for sink in std::mem::take(&mut self.sinks).into_values() {
            self.add_flow(link, Flow::Sink(sink));
        }
        let parameters = std::mem::take(&mut self.parameters).into_iter().collect();
        self.configure(link, parameters);
        let people = std::mem::take(&mut self.people).into_values().map(|person| person.state).collect();
        self.spawn(link, people);
    }
}

/// Takes those of `names` that are known; answers which.
fn take<'n, T>(from: &mut IndexMap<String, T>, names: impl Iterator<Item = &'n str>) -> Vec<String> {
    names.filter_map(|name| from.shift_remove_entry(name)).map(|(name, _)| name).collect()
}
