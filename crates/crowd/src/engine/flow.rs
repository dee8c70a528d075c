//! Sources release people, sinks take them in, and lifetimes end (crowd-engine specification, sections 17 and 24).
//!
//! Every release of a source draws from a stream of its own, so that what one release is does not depend on when it comes.

use super::Engine;
use super::agents::{MOST_AGENTS, Newcomer};
use super::area::Area;
use super::error::{EngineError, refuse};
use super::named::{HasName, Named};
use super::people::{NO_SINK, Person};
use super::session::Reason;
use crate::error::{coordinate, finite, within};
use crate::protocol::{
    FlowConfig, RateKeyframe, SinkConfig, SourceConfig, Waypoint, Waypoints, mode, shape, source,
};
use crate::sampling::AgentParameters;
use crate::spawn::SpawnRequest;
use promenade_kernel::generator::Generator;

/// How near the pose of a sink counts as there, unless it says so itself, metres.
const ABSORBS_WITHIN: f64 = 0.5;
/// Most people that a source may keep up at a time.
const MOST_AT_ONCE: i32 = 100_000;
/// Most people that a Poisson source may release in a tick on average; its generator is made for no more.
const MOST_PER_TICK: f64 = 10.0;
/// Most sources and most sinks.
const MOST_PLACES: usize = 10_000;
/// Most keyframes, weights or corners of one.
const MOST_PARTS: usize = 100_000;

/// Sources and sinks.
#[derive(Debug, Default)]
pub(crate) struct Flow {
    sources: Named<Source>,
    sinks: Named<Sink>,
    /// Serial number of the next source or sink.
    serial: u32,
}

/// A source, and what became of it so far.
#[derive(Debug, Clone)]
pub(crate) struct Source {
    config: SourceConfig,
    serial: u64,
    area: Area,
    poisson: Generator,
    /// People of it that are there.
    present: u32,
    /// Releases so far.
    released: u32,
}

#[derive(Debug, Clone)]
pub(crate) struct Sink {
    config: SinkConfig,
    serial: u32,
    area: Area,
}

impl HasName for Source {
    fn name(&self) -> &str {
        &self.config.name
    }
}

impl HasName for Sink {
    fn name(&self) -> &str {
        &self.config.name
    }
}

impl Source {
    /// How many people it releases in this tick, time `t` seconds. Draws once per tick, whatever the caps say.
    fn wants(&mut self, t: f64, dt: f64) -> u32 {
        let left = |most: i32, so_far: u32| match u32::try_from(most) {
            Ok(most) => most.saturating_sub(so_far),
            Err(_) => u32::MAX,
        };
        let room =
            left(self.config.max_concurrent, self.present).min(left(self.config.max_total, self.released));
        match self.config.kind {
            source::MAX => room,
            _ => self.poisson.poisson(rate(&self.config.rate_profile, t) * dt).min(room),
        }
    }
}

/// Arrivals per second at a time: linear between keyframes, constant before the first and after the last.
fn rate(profile: &[RateKeyframe], t: f64) -> f64 {
    let next = profile.partition_point(|keyframe| keyframe.t <= t);
    match (next.checked_sub(1).and_then(|at| profile.get(at)), profile.get(next)) {
        (Some(a), Some(b)) => a.rate + (b.rate - a.rate) * (t - a.t) / (b.t - a.t),
        (Some(only), None) | (None, Some(only)) => only.rate,
        (None, None) => 0.0,
    }
}

impl Flow {
    pub(crate) fn clear(&mut self) {
        self.sources.remove(&[]);
        self.sinks.remove(&[]);
    }

    /// Somebody of a source has gone.
    pub(crate) fn left(&mut self, source: Option<u64>) {
        let Some(serial) = source else { return };
        if let Some(source) = self.sources.items_mut().iter_mut().find(|source| source.serial == serial) {
            source.present = source.present.saturating_sub(1);
        }
    }

    fn next_serial(&mut self) -> u32 {
        self.serial = (self.serial + 1).min(NO_SINK - 1);
        self.serial
    }

    fn sink(&self, serial: u32) -> Option<&Sink> {
        // Serial numbers grow along the list: a sink that replaces another keeps its number and its place.
        let sinks = self.sinks.items();
        sinks.binary_search_by_key(&serial, |sink| sink.serial).ok().map(|place| &sinks[place])
    }
}

impl Engine {
    /// Replace all sources and sinks.
    ///
    /// # Errors
    /// A source or sink that does not hold; then those before stay.
    pub fn set_flow(&mut self, flow: &FlowConfig) -> Result<(), EngineError> {
        for found in [flow.sources.len(), flow.sinks.len()] {
            if found > MOST_PLACES {
                return Err(EngineError::TooMany { what: "sources or sinks", found, most: MOST_PLACES });
            }
        }
        let dt = self.crowd.settings().dt;
        flow.sources.iter().try_for_each(|source| check_source(source, dt))?;
        flow.sinks.iter().try_for_each(check_sink)?;
        self.flow.clear();
        flow.sources.iter().for_each(|source| self.insert_source(source));
        flow.sinks.iter().for_each(|sink| self.insert_sink(sink));
        Ok(())
    }

    /// Add a source; one of its name is replaced, and its releases are counted anew.
    ///
    /// # Errors
    /// A source that does not hold; then those before stay.
    pub fn add_source(&mut self, source: &SourceConfig) -> Result<(), EngineError> {
        check_source(source, self.crowd.settings().dt)?;
        room_for(self.flow.sources.items().len())?;
        self.insert_source(source);
        Ok(())
    }

    /// Add a sink; one of its name is replaced, and those on their way to it go on to where it was.
    ///
    /// # Errors
    /// A sink that does not hold; then those before stay.
    pub fn add_sink(&mut self, sink: &SinkConfig) -> Result<(), EngineError> {
        check_sink(sink)?;
        room_for(self.flow.sinks.items().len())?;
        self.insert_sink(sink);
        Ok(())
    }

    fn insert_source(&mut self, config: &SourceConfig) {
        let serial = u64::from(self.flow.next_serial());
        let stream = format!("spawn_scheduler/{}/poisson", config.name);
        self.flow.sources.upsert(Source {
            area: Area::new(&config.shape, config.pose),
            poisson: Generator::named(self.crowd.settings().seed, &stream),
            config: config.clone(),
            serial,
            present: 0,
            released: 0,
        });
    }

    fn insert_sink(&mut self, config: &SinkConfig) {
        let known = self.flow.sinks.place(&config.name).map(|place| self.flow.sinks.items()[place].serial);
        let serial = known.unwrap_or_else(|| self.flow.next_serial());
        let area = Area::new(&config.shape, config.pose);
        self.flow.sinks.upsert(Sink { config: config.clone(), serial, area });
    }

    /// Remove a source; one there is not is ignored, and no name removes all.
    ///
    /// # Errors
    /// None today.
    pub fn remove_source(&mut self, name: &str) -> Result<(), EngineError> {
        let names = if name.is_empty() { Vec::new() } else { vec![name.to_owned()] };
        self.flow.sources.remove(&names);
        Ok(())
    }

    /// Remove a sink; one there is not is ignored, and no name removes all. Those on their way to it stay where it was.
    ///
    /// # Errors
    /// None today.
    pub fn remove_sink(&mut self, name: &str) -> Result<(), EngineError> {
        let names = if name.is_empty() { Vec::new() } else { vec![name.to_owned()] };
        self.flow.sinks.remove(&names);
        Ok(())
    }

    /// The sources in order of insertion.
    pub fn sources(&self) -> impl ExactSizeIterator<Item = &SourceConfig> {
        self.flow.sources.items().iter().map(|source| &source.config)
    }

    /// The sinks in order of insertion.
    pub fn sinks(&self) -> impl ExactSizeIterator<Item = &SinkConfig> {
        self.flow.sinks.items().iter().map(|sink| &sink.config)
    }

    /// Take out who has come to its sink, and whose lifetime is over. What counts is where they were after the last tick.
    pub(super) fn despawn(&mut self) {
        let lifetime = self.parameters.number("max_lifetime_s");
        let dt = self.crowd.settings().dt;
        for row in (0..self.crowd.pool().len()).rev() {
            if self.has_left(row) {
                self.dismiss(self.crowd.pool().id[row], Reason::Sink);
            } else if lifetime > 0.0 && self.people.persons[row].source.is_some() {
                let age = self.ticks().saturating_sub(self.people.persons[row].since);
                if age as f64 * dt >= lifetime {
                    self.dismiss(self.crowd.pool().id[row], Reason::Lifetime);
                }
            }
        }
    }

    fn has_left(&self, row: usize) -> bool {
        let serial = self.people.sink[row];
        if serial == NO_SINK {
            return false;
        }
        let Some(sink) = self.flow.sink(serial) else { return false };
        let place = self.crowd.pool().position(row);
        match &sink.area {
            Area::Polygon(_) => sink.area.contains(place),
            Area::Point(at) | Area::Circle(at, _) => {
                let within = match sink.config.absorption_radius {
                    radius if radius > 0.0 => radius,
                    _ => ABSORBS_WITHIN,
                };
                (place[0] - at[0]).hypot(place[1] - at[1]) < within
            }
        }
    }

    /// Let every source release whom it wants to.
    pub(super) fn run_sources(&mut self) {
        let dt = self.crowd.settings().dt;
        let t = self.ticks() as f64 * dt;
        for place in 0..self.flow.sources.items().len() {
            let wanted = self.flow.sources.items_mut()[place].wants(t, dt);
            for _ in 0..wanted {
                if !self.release(place) {
                    break;
                }
            }
        }
    }

    /// One release of a source; whether somebody came.
    fn release(&mut self, place: usize) -> bool {
        if self.crowd.pool().len() >= MOST_AGENTS {
            self.warnings.say(format!("sources wait: there are {MOST_AGENTS} agents"));
            return false;
        }
        let source = &self.flow.sources.items()[place];
        let Some(id) = self.crowd.largest_id().checked_add(1) else { return false };
        let Some((newcomer, agent_type)) = self.drawn(source, id) else {
            let name = source.config.name.clone();
            self.warnings.say(format!("source {name:?} releases nobody: none of its sinks is there"));
            return false;
        };
        let resolved = self.find_type(&agent_type);
        let Newcomer { mut person, waypoints, sink, .. } = newcomer;
        let planner = self.planner_of(&person.request, resolved.as_deref());
        let Ok(parameters) = self.parameters_of(&person.request, resolved.as_deref()) else { return false };
        person.resolved = resolved;
        let admitted = self.admit(Newcomer { person, parameters, planner, waypoints, sink });
        match admitted {
            Ok(_) => {
                let source = &mut self.flow.sources.items_mut()[place];
                (source.present, source.released) = (source.present + 1, source.released + 1);
                true
            }
            Err(error) => {
                self.warnings.say(format!("a source releases nobody: {error}"));
                false
            }
        }
    }

    /// Who a source releases next: place, speed and sink, in the order in which they are drawn.
    fn drawn(&self, source: &Source, id: i32) -> Option<(Newcomer, String)> {
        let config = &source.config;
        let stream = format!("spawn_scheduler/{}/event/{}", config.name, source.released);
        let mut stream = Generator::named(self.crowd.settings().seed, &stream);
        let [x, y] = source.area.draw(&mut stream);
        let template = &config.agent;
        let desired_velocity = stream.uniform(template.desired_velocity_min, template.desired_velocity_max);
        let sink = self.draw_sink(config, &mut stream)?;
        let to = sink.config.pose;
        let [x, y, _] = self.freed([x, y, 0.0], template.agent_radius);
        let pose = [x, y, (to[1] - y).atan2(to[0] - x)];
        let request = SpawnRequest {
            id,
            pose,
            desired_velocity,
            radius: template.agent_radius,
            ..SpawnRequest::default()
        };
        let person = Person {
            name: String::new(),
            agent_type: template.agent_type.clone(),
            resolved: None,
            request,
            source: Some(source.serial),
            since: self.ticks(),
        };
        let waypoints = Waypoints {
            points: vec![Waypoint { pose: [to[0], to[1], pose[2]], radius: 0.0 }],
            mode: mode::ONCE,
        };
        let newcomer = Newcomer {
            person,
            parameters: AgentParameters::unknown_type(),
            planner: None,
            waypoints,
            sink: sink.serial,
        };
        let agent_type =
            if template.agent_type.is_empty() { "adult".to_owned() } else { template.agent_type.clone() };
        Some((newcomer, agent_type))
    }

    /// A sink by the weights of a source; those that are not there do not count. Without any weight every sink is as likely.
    fn draw_sink(&self, config: &SourceConfig, stream: &mut Generator) -> Option<&Sink> {
        let sinks = &self.flow.sinks;
        let weighted: Vec<(&Sink, f64)> = match config.agent.sink_affinity.as_slice() {
            [] => sinks.items().iter().map(|sink| (sink, 1.0)).collect(),
            affinity => {
                let known = affinity.iter().filter_map(|a| Some((sinks.place(&a.sink_name)?, a.weight)));
                known.map(|(place, weight)| (&sinks.items()[place], weight)).collect()
            }
        };
        let total: f64 = weighted.iter().map(|(_, weight)| weight).sum();
        let drawn = stream.random();
        let mut cumulative = 0.0;
        for (sink, weight) in &weighted {
            cumulative += weight / total;
            if drawn < cumulative {
                return Some(sink);
            }
        }
        weighted.last().map(|(sink, _)| *sink)
    }
}

fn room_for(there_are: usize) -> Result<(), EngineError> {
    match there_are < MOST_PLACES {
        true => Ok(()),
        false => {
            Err(EngineError::TooMany { what: "sources or sinks", found: there_are + 1, most: MOST_PLACES })
        }
    }
}

fn check_source(config: &SourceConfig, dt: f64) -> Result<(), EngineError> {
    let what = |field: &str| format!("{field} of source {:?}", config.name);
    if config.name.is_empty() {
        return refuse("name of a source", "a name", "nothing");
    }
    check_place(&what, config.pose, &config.shape)?;
    match config.kind {
        source::POISSON => {}
        source::MAX => {
            if !(1..=MOST_AT_ONCE).contains(&config.max_concurrent) {
                let expected = "a number from 1 to 100000 for type max";
                return refuse(what("max_concurrent"), expected, config.max_concurrent);
            }
            if !config.rate_profile.is_empty() {
                return refuse(what("rate_profile"), "none for type max", "keyframes");
            }
        }
        found => return refuse(what("type"), "0 poisson or 1 max", found),
    }
    few(&what("rate_profile"), config.rate_profile.len())?;
    few(&what("sink_affinity"), config.agent.sink_affinity.len())?;
    let mut before = f64::NEG_INFINITY;
    for keyframe in &config.rate_profile {
        if !(keyframe.t.is_finite() && keyframe.t > before) {
            return refuse(what("t in the rate_profile"), "numbers that grow", keyframe.t);
        }
        if !(0.0..=MOST_PER_TICK).contains(&(keyframe.rate * dt)) {
            return refuse(
                what("rate in the rate_profile"),
                "0 or more, and at most 10 people per tick",
                keyframe.rate,
            );
        }
        before = keyframe.t;
    }
    let agent = &config.agent;
    let (low, high) = (agent.desired_velocity_min, agent.desired_velocity_max);
    if !(low >= 0.0 && low <= high && high <= 100.0) {
        let found = format!("{low} to {high}");
        return refuse(what("desired_velocity"), "a smallest and a largest speed from 0 to 100", found);
    }
    if !(0.0..=100.0).contains(&agent.agent_radius) {
        return refuse(what("agent_radius"), "a number from 0 to 100", agent.agent_radius);
    }
    for affinity in &agent.sink_affinity {
        if !(0.0..=1e9).contains(&affinity.weight) {
            return refuse(what("weight of a sink"), "a number from 0 to 1e9", affinity.weight);
        }
    }
    let total: f64 = agent.sink_affinity.iter().map(|affinity| affinity.weight).sum();
    if !agent.sink_affinity.is_empty() && total <= 0.0 {
        return refuse(what("weights of the sinks"), "at least one above 0", total);
    }
    Ok(())
}

fn check_sink(config: &SinkConfig) -> Result<(), EngineError> {
    let what = |field: &str| format!("{field} of sink {:?}", config.name);
    if config.name.is_empty() {
        return refuse("name of a sink", "a name", "nothing");
    }
    check_place(&what, config.pose, &config.shape)?;
    if !(0.0..=1e6).contains(&config.absorption_radius) {
        return refuse(what("absorption_radius"), "a number from 0 to 1e6", config.absorption_radius);
    }
    Ok(())
}

fn check_place(
    what: &impl Fn(&str) -> String,
    pose: [f64; 3],
    area: &crate::protocol::Shape,
) -> Result<(), EngineError> {
    coordinate(what("x"), pose[0])?;
    coordinate(what("y"), pose[1])?;
    finite(what("theta"), pose[2])?;
    if area.kind > shape::POLYGON {
        return refuse(what("shape"), "0 rectangle, 1 circle or 2 polygon", area.kind);
    }
    few(&what("vertices"), area.vertices.len())?;
    let corners = area.vertices.iter().flatten().map(|c| f64::from(*c));
    for size in corners.chain([area.width, area.height, area.radius]) {
        within(what("shape"), size, "a number between -1e6 and 1e6", size.abs() <= 1e6)?;
    }
    Ok(())
}

fn few(what: &str, count: usize) -> Result<(), EngineError> {
    match count <= MOST_PARTS {
        true => Ok(()),
        false => refuse(what, "at most 100000 entries", count),
    }
}
