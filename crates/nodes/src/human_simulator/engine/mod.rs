//! The way to an engine over ROS: services, `world_state`, frames, and markers (human-layer specification, section 17).
//!
//! Nothing here knows which engine it is; any node that speaks `arena_humansim_msgs` below the task generator will do. The link
//! carries and must never decide.

mod arrivals;
mod line;
mod markers;
mod wire;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use anyhow::Result;
use arena_humansim_msgs::msg::rmw::{
    AgentFrame as WireFrame, AgentGestures as WireGestures, AgentMeta as WireMeta, AgentStates as WireStates,
};
use arena_humansim_msgs::srv;
use promenade_crowd::Wall;
use promenade_crowd::protocol::{
    AgentState, AgentStates, ObstacleConfig, ParameterValue, SinkConfig, SourceConfig, WorldObjectInfo,
};
use promenade_human::backends::arena::{EngineLink, Heard, LinkError, LinkResult};
use promenade_human::{Parameter, ParameterValue as Value};
use promenade_kernel::Time;
use rcl_interfaces::srv::rmw::{SetParametersAtomically, SetParametersAtomicallyRequest};
use rclrs::{Client, IntoPrimitiveOptions, Node, Publisher, Subscription};
use rosidl_runtime_rs::Service;

use self::arrivals::Arrivals;
use self::line::Line;
use self::markers::Markers;
use super::episodes::parameter_to_wire;
use super::inbox::Teller;

/// Name of the engine's node.
const NODE: &str = "arena_humansim";

/// Time between two frames of an engine that does not say it, seconds.
const FALLBACK_DT: f64 = 0.05;

/// The clients of the services that are called.
struct Clients {
    spawn_agents: Client<srv::SpawnAgents>,
    remove_agents: Client<srv::RemoveAgents>,
    add_source: Client<srv::AddSource>,
    add_sink: Client<srv::AddSink>,
    remove_source: Client<srv::RemoveSource>,
    remove_sink: Client<srv::RemoveSink>,
    add_walls: Client<srv::AddWalls>,
    remove_walls: Client<srv::RemoveWalls>,
    add_obstacles: Client<srv::AddObstacles>,
    remove_obstacles: Client<srv::RemoveObstacles>,
    add_world_objects: Client<srv::AddWorldObjects>,
    remove_world_objects: Client<srv::RemoveWorldObjects>,
    notify_stimulus: Client<srv::NotifyStimulus>,
    reset: Client<srv::ResetSimulation>,
    set_parameters: Client<SetParametersAtomically>,
}

impl Clients {
    fn new(node: &Node, below: &str) -> Result<Self> {
        fn client<S: Service>(node: &Node, below: &str, name: &str) -> Result<Client<S>> {
            Ok(node.create_client(format!("{below}/{name}").as_str())?)
        }
        Ok(Clients {
            spawn_agents: client(node, below, "spawn_agents")?,
            remove_agents: client(node, below, "remove_agents")?,
            add_source: client(node, below, "add_source")?,
            add_sink: client(node, below, "add_sink")?,
            remove_source: client(node, below, "remove_source")?,
            remove_sink: client(node, below, "remove_sink")?,
            add_walls: client(node, below, "add_walls")?,
            remove_walls: client(node, below, "remove_walls")?,
            add_obstacles: client(node, below, "add_obstacles")?,
            remove_obstacles: client(node, below, "remove_obstacles")?,
            add_world_objects: client(node, below, "add_world_objects")?,
            remove_world_objects: client(node, below, "remove_world_objects")?,
            notify_stimulus: client(node, below, "notify_stimulus")?,
            reset: client(node, below, "reset")?,
            set_parameters: client(node, &format!("{below}/{NODE}"), "set_parameters_atomically")?,
        })
    }
}

/// See the module.
pub(crate) struct RosEngine {
    clients: Clients,
    line: Line,
    arrivals: Arc<Arrivals>,
    world_state: Publisher<WireStates>,
    states: WireStates,
    markers: Markers,
    frames: String,
    dt: Duration,
    _subscriptions: (Subscription<WireFrame>, Subscription<WireMeta>, Subscription<WireGestures>),
}

impl RosEngine {
    /// The engine below `task_generator`; waits for it at most as long as `patience` says, and not at all once `stop` is set.
    ///
    /// # Errors
    /// A name that is none, or a failure of ROS.
    pub(crate) fn open(
        node: &Node,
        task_generator: &str,
        offset: [f64; 2],
        patience: Duration,
        stop: Arc<AtomicBool>,
        world: Teller,
    ) -> Result<Self> {
        let below = task_generator.trim_end_matches('/');
        let clients = Clients::new(node, below)?;
        let arrivals = Arc::new(Arrivals::new(world));
        let to = Arc::clone(&arrivals);
        let frames = format!("{below}/agent_states");
        let on_frame = node.create_subscription::<WireFrame, _>(
            frames.as_str().keep_last(10).reliable().volatile(),
            move |frame: Box<WireFrame>| to.on_frame(|to| wire::read_frame(&frame, to)),
        )?;
        let to = Arc::clone(&arrivals);
        let on_meta = node.create_subscription::<WireMeta, _>(
            format!("{below}/agent_meta").as_str().keep_last(1).reliable().transient_local(),
            move |meta: Box<WireMeta>| to.on_meta(wire::meta(&meta)),
        )?;
        let to = Arc::clone(&arrivals);
        let on_gestures = node.create_subscription::<WireGestures, _>(
            format!("{below}/agent_gestures").as_str().keep_last(1).reliable().transient_local(),
            move |gestures: Box<WireGestures>| to.on_gestures(wire::gestures(&gestures)),
        )?;
        let world_state = format!("{below}/world_state");
        let world_state = node.create_publisher(world_state.as_str().keep_last(10).reliable().volatile())?;
        let spawn = node.create_client(format!("{below}/spawn_agents").as_str())?;
        let parameters = node.create_client(format!("{below}/{NODE}/get_parameters").as_str())?;
        let place = match below.starts_with('/') {
            true => below.to_owned(),
            false => format!("{}/{below}", node.namespace().trim_end_matches('/')),
        };
        let mut line = Line::new(&place, stop, patience, spawn, parameters);
        line.wait();
        let dt = line.dt().unwrap_or_else(|| {
            tracing::warn!("{place}: the engine says no dt; {FALLBACK_DT} s is assumed");
            FALLBACK_DT
        });
        Ok(RosEngine {
            clients,
            line,
            arrivals,
            world_state,
            states: WireStates::default(),
            markers: Markers::open(node, below, offset)?,
            frames,
            dt: Duration::from_secs_f64(dt.min(MOST_DT)),
            _subscriptions: (on_frame, on_meta, on_gestures),
        })
    }
}

/// The longest time between two frames that is believed, seconds.
const MOST_DT: f64 = 1e6;

/// A call whose answer is `success` and `message`.
macro_rules! call {
    ($link:ident, $service:ident, $request:expr) => {{
        let answer = $link.line.ask(stringify!($service), &$link.clients.$service, $request)?;
        if answer.success { Ok(answer) } else { Err(LinkError::Refused(answer.message)) }
    }};
}

impl EngineLink for RosEngine {
    fn dt(&self) -> Duration {
        self.dt
    }

    fn frame_topic(&self) -> Option<String> {
        Some(self.frames.clone())
    }

    fn advance(&mut self, _now: Time, hear: &mut dyn FnMut(Heard<'_>)) {
        if self.line.look() {
            self.arrivals.clear();
            hear(Heard::Started);
        }
        self.arrivals.hand_on(hear);
        self.markers.look();
    }

    fn feed(&mut self, states: &AgentStates) {
        wire::write_states(states, &mut self.states);
        if let Err(error) = self.world_state.publish(&self.states) {
            tracing::error!("world_state: {error}");
        }
    }

    fn spawn_agents(&mut self, agents: &[AgentState]) -> LinkResult<Vec<i32>> {
        let agents = agents.iter().map(wire::agent).collect();
        Ok(call!(self, spawn_agents, srv::SpawnAgents_Request { agents })?.spawned_ids)
    }

    fn remove_agents(&mut self, ids: &[i32]) -> LinkResult<()> {
        call!(self, remove_agents, srv::RemoveAgents_Request { agent_ids: ids.to_vec() })?;
        if ids.is_empty() {
            self.arrivals.clear();
        }
        Ok(())
    }

    fn add_source(&mut self, source: &SourceConfig) -> LinkResult<()> {
        call!(self, add_source, srv::AddSource_Request { source: wire::source(source) }).map(drop)
    }

    fn add_sink(&mut self, sink: &SinkConfig) -> LinkResult<()> {
        call!(self, add_sink, srv::AddSink_Request { sink: wire::sink(sink) }).map(drop)
    }

    fn remove_source(&mut self, name: &str) -> LinkResult<()> {
        call!(self, remove_source, srv::RemoveSource_Request { name: name.to_owned() }).map(drop)
    }

    fn remove_sink(&mut self, name: &str) -> LinkResult<()> {
        call!(self, remove_sink, srv::RemoveSink_Request { name: name.to_owned() }).map(drop)
    }

    fn add_walls(&mut self, walls: &[Wall]) -> LinkResult<()> {
        let (names, starts, ends) = wire::walls(walls);
        call!(self, add_walls, srv::AddWalls_Request { names, starts, ends }).map(drop)
    }

    fn remove_walls(&mut self, names: &[String]) -> LinkResult<()> {
        call!(self, remove_walls, srv::RemoveWalls_Request { names: names.to_vec() }).map(drop)
    }

    fn add_obstacles(&mut self, obstacles: &[ObstacleConfig]) -> LinkResult<()> {
        let obstacles = obstacles.iter().map(wire::obstacle).collect();
        call!(self, add_obstacles, srv::AddObstacles_Request { obstacles }).map(drop)
    }

    fn remove_obstacles(&mut self, names: &[String]) -> LinkResult<()> {
        call!(self, remove_obstacles, srv::RemoveObstacles_Request { names: names.to_vec() }).map(drop)
    }

    fn add_world_objects(&mut self, objects: &[WorldObjectInfo]) -> LinkResult<()> {
        let objects = objects.iter().map(wire::world_object).collect();
        call!(self, add_world_objects, srv::AddWorldObjects_Request { objects }).map(drop)
    }

    fn remove_world_objects(&mut self, names: &[String]) -> LinkResult<()> {
        let request = srv::RemoveWorldObjects_Request { object_ids: names.to_vec() };
        call!(self, remove_world_objects, request).map(drop)
    }

    fn notify_stimulus(&mut self, agent_id: i32, stimulus: &str, intensity: f32) -> LinkResult<()> {
        let request = srv::NotifyStimulus_Request { agent_id, stimulus: stimulus.to_owned(), intensity };
        call!(self, notify_stimulus, request).map(drop)
    }

    fn set_parameters(&mut self, batch: &[(String, ParameterValue)]) -> LinkResult<()> {
        let parameter = |(name, value): &(String, ParameterValue)| Parameter {
            name: name.clone(),
            value: match value {
                ParameterValue::Bool(value) => Value::Bool(*value),
                ParameterValue::Integer(value) => Value::Int(*value),
                ParameterValue::Double(value) => Value::Double(*value),
                ParameterValue::Text(value) => Value::Text(value.clone()),
            },
        };
        let parameters = batch.iter().map(|one| parameter_to_wire(&parameter(one))).collect();
        let request = SetParametersAtomicallyRequest { parameters };
        let answer =
            self.line.ask("set_parameters_atomically", &self.clients.set_parameters, request)?.result;
        if answer.successful { Ok(()) } else { Err(LinkError::Refused(answer.reason.to_string())) }
    }

    fn reset(&mut self, soft: bool) -> LinkResult<()> {
        call!(self, reset, srv::ResetSimulation_Request { soft }).map(drop)
    }
}
