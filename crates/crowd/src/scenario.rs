//! Standalone scenarios on the engine: who is there at once, who comes at a tick, and when it is over (crowd-engine specification,
//! section 26).
//!
//! The grammar of the files is `promenade_scenario::standalone`; nothing here reads one. What only behaviour would use is not carried out.

use std::collections::BTreeMap;
use std::sync::Arc;

use promenade_scenario::standalone::{
    StandaloneAgent, StandaloneObject, StandaloneObstacle, StandaloneScenario, StandaloneShape,
    StandaloneSink, StandaloneSource, StandaloneWall,
};
use promenade_scenario::{ResolvedType, WaypointMode};

use crate::engine::{Engine, EngineError};
use crate::pool::Kind;
use crate::protocol::{
    AgentState, AgentTemplate, FlowConfig, ObstacleConfig, ParameterValue, RateKeyframe, Shape, SinkAffinity,
    SinkConfig, SourceConfig, Waypoint, Waypoints, WorldObjectInfo, kind, mode, shape, source,
};
use crate::walls::Wall;

/// A standalone scenario while it runs.
#[derive(Debug)]
pub struct ScenarioRun {
    engine: Engine,
    /// Ticks to run; 0 = no end.
    max_ticks: u64,
    robot_shutdown: bool,
}

/// The parameters that a scenario asks for: seed, length of a tick and ticks between decisions.
#[must_use]
pub fn parameters(scenario: &StandaloneScenario) -> Vec<(String, ParameterValue)> {
    let simulation = &scenario.simulation;
    vec![
        ("seed".to_owned(), ParameterValue::Integer(simulation.seed)),
        ("dt".to_owned(), ParameterValue::Double(simulation.dt)),
        ("bt_tick_interval".to_owned(), ParameterValue::Integer(simulation.bt_tick_interval.into())),
    ]
}

impl ScenarioRun {
    /// Put a scenario into a new engine. The types of the scenario go over those that `types` finds, which is asked for the others. The
    /// engine decides about seed and ticks.
    ///
    /// # Errors
    /// What the engine refuses: a planner there is not, a coordinate too far out.
    pub fn new(
        engine: Engine,
        scenario: &StandaloneScenario,
        types: impl Fn(&str) -> Option<Result<Arc<ResolvedType>, String>> + Send + 'static,
    ) -> Result<Self, EngineError> {
        let own: BTreeMap<String, Arc<ResolvedType>> = scenario.agent_types.iter().cloned().collect();
        let mut engine = engine.with_types(move |name| match own.get(name) {
            Some(own) => Some(Ok(Arc::clone(own))),
            None => types(name),
        });
        engine.add_walls(&scenario.walls.iter().map(wall).collect::<Vec<_>>())?;
        engine.add_obstacles(&scenario.obstacles.iter().map(obstacle).collect::<Vec<_>>())?;
        engine.add_world_objects(&scenario.world_objects.iter().map(object).collect::<Vec<_>>())?;
        let flow = FlowConfig {
            sources: scenario.sources.iter().enumerate().map(|(i, s)| source_config(i, s)).collect(),
            sinks: scenario.sinks.iter().enumerate().map(|(i, s)| sink_config(i, s)).collect(),
        };
        engine.set_flow(&flow)?;
        let at_once = scenario.agents.iter().filter(|agent| agent.spawn_tick == 0);
        engine.spawn_agents(&at_once.map(state).collect::<Vec<_>>())?;
        for agent in scenario.agents.iter().filter(|agent| agent.spawn_tick > 0) {
            engine.spawn_at(agent.spawn_tick, &[state(agent)])?;
        }
        let simulation = &scenario.simulation;
        Ok(Self { engine, max_ticks: simulation.max_ticks, robot_shutdown: simulation.robot_shutdown })
    }

    /// Whether the scenario says that it is over: its ticks have passed, or all robots are where they were to end.
    #[must_use]
    pub fn is_over(&self) -> bool {
        let out_of_ticks = self.max_ticks > 0 && self.engine.ticks() >= self.max_ticks;
        out_of_ticks || (self.robot_shutdown && self.robots_have_arrived())
    }

    /// Ticks that the scenario asks for; 0 = no end.
    #[must_use]
    pub fn max_ticks(&self) -> u64 {
        self.max_ticks
    }

    /// The engine.
    #[must_use]
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// The engine alone; who goes on with it asks it when the scenario is over.
    #[must_use]
    pub fn into_engine(self) -> Engine {
        self.engine
    }

    /// The engine, to let it tick and for requests beside those of the scenario.
    pub fn engine_mut(&mut self) -> &mut Engine {
        &mut self.engine
    }

    /// Every robot stays at the last of way-points that are walked once, and nobody is still to come.
    fn robots_have_arrived(&self) -> bool {
        let pool = self.engine.crowd().pool();
        let mut robots = (0..pool.len()).filter(|row| pool.kind[*row] == Kind::Robot).peekable();
        let is_there = |row: usize| {
            self.engine.waypoints_of(pool.id[row]).is_some_and(|(waypoints, index)| {
                waypoints.mode == mode::ONCE && index + 1 >= waypoints.points.len() && pool.latched[row]
            })
        };
        !self.engine.expects_agents() && robots.peek().is_some() && robots.all(is_there)
    }
}

fn state(agent: &StandaloneAgent) -> AgentState {
    let mut points: Vec<Waypoint> =
        agent.goals.iter().map(|goal| Waypoint { pose: goal.pose, radius: goal.radius }).collect();
    let mode = match agent.waypoint_mode {
        WaypointMode::Repeat => mode::REPEAT,
        WaypointMode::Reverse => mode::REVERSE,
        WaypointMode::Once => mode::ONCE,
        WaypointMode::Random => mode::RANDOM,
    };
    // Nobody can go round a single point.
    if mode != mode::ONCE && points.len() == 1 {
        points.push(Waypoint { pose: agent.spawn_pose, radius: 0.0 });
    }
    AgentState {
        agent_id: agent.agent_id,
        pose: agent.spawn_pose,
        desired_velocity: agent.desired_velocity,
        radius: agent.agent_radius,
        agent_type: agent.agent_type.clone(),
        waypoints: Waypoints { points, mode },
        kind: if agent.robot { kind::ROBOT } else { kind::HUMAN },
        policy: agent.policy.clone(),
        policy_params: agent.policy_params.clone(),
        ..AgentState::default()
    }
}

fn wall(wall: &StandaloneWall) -> Wall {
    Wall { name: wall.name.clone(), start: wall.start, end: wall.end }
}

fn obstacle(obstacle: &StandaloneObstacle) -> ObstacleConfig {
    let [bb_x, bb_y, bb_z] = obstacle.bounds;
    ObstacleConfig {
        name: obstacle.name.clone(),
        pose: obstacle.pose,
        bb_x,
        bb_y,
        bb_z,
        interaction_types: obstacle.interaction_types.clone(),
        obstacle_type: obstacle.obstacle_type.clone(),
    }
}

fn object(object: &StandaloneObject) -> WorldObjectInfo {
    WorldObjectInfo {
        object_id: object.object_id.clone(),
        kind: object.kind.clone(),
        pose: object.pose,
        capacity: object.capacity,
        satisfies: object.satisfies.clone(),
        interaction_radius: object.interaction_radius,
        formation_type: object.formation.clone(),
        formation_params: object.formation_params.clone(),
        seats: Vec::new(),
    }
}

fn area(area: &StandaloneShape) -> Shape {
    match area {
        StandaloneShape::Point => Shape { kind: shape::POLYGON, ..Shape::default() },
        StandaloneShape::Circle(radius) => Shape { kind: shape::CIRCLE, radius: *radius, ..Shape::default() },
        StandaloneShape::Polygon(corners) => Shape {
            kind: shape::POLYGON,
            vertices: corners.iter().map(|corner| corner.map(|c| c as f32)).collect(),
            ..Shape::default()
        },
    }
}

fn source_config(index: usize, s: &StandaloneSource) -> SourceConfig {
    let affinity =
        |(sink, weight): &(usize, f64)| SinkAffinity { sink_name: format!("sink_{sink}"), weight: *weight };
    SourceConfig {
        name: format!("source_{index}"),
        pose: s.pose,
        shape: area(&s.shape),
        kind: if s.keeps_full { source::MAX } else { source::POISSON },
        rate_profile: s
            .rate_profile
            .iter()
            .map(|point| RateKeyframe { t: point.t, rate: point.rate })
            .collect(),
        max_concurrent: s.max_concurrent,
        max_total: s.max_total,
        agent: AgentTemplate {
            desired_velocity_min: s.desired_velocity[0],
            desired_velocity_max: s.desired_velocity[1],
            agent_radius: s.agent_radius,
            agent_type: s.agent_type.clone(),
            sink_affinity: s.sink_affinity.iter().map(affinity).collect(),
            ..AgentTemplate::default()
        },
    }
}

fn sink_config(index: usize, sink: &StandaloneSink) -> SinkConfig {
    SinkConfig {
        name: format!("sink_{index}"),
        pose: sink.pose,
        shape: area(&sink.shape),
        absorption_radius: sink.absorption_radius,
        capacity: sink.capacity,
    }
}
