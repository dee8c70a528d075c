//! Any storm of requests is answered, and leaves numbers behind.

use promenade_crowd::protocol::{
    AgentState, AgentStates, AgentTemplate, FlowConfig, ObstacleConfig, ParameterValue, RateKeyframe,
    RobotState, Shape, SinkAffinity, SinkConfig, SourceConfig, Waypoint, Waypoints,
};
use promenade_crowd::{Engine, EngineError, Wall};
use proptest::prelude::*;

use crate::Shared;

fn number() -> impl Strategy<Value = f64> {
    prop_oneof![
        6 => -6.0..6.0_f64,
        1 => prop::num::f64::ANY,
        1 => Just(f64::NAN),
        1 => Just(1e7),
        1 => Just(-1.0),
        2 => Just(0.0),
    ]
}

fn positive() -> impl Strategy<Value = f64> {
    prop_oneof![4 => Just(0.0), 4 => 0.1..2.0_f64, 1 => number()]
}

fn word() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("a"),
        Just("b"),
        Just("x/a"),
        Just("y/a"),
        Just(""),
        Just("goal"),
        Just("adult"),
        Just("no such")
    ]
    .prop_map(str::to_owned)
}

fn id() -> impl Strategy<Value = i32> {
    prop_oneof![6 => -1..6_i32, 1 => Just(0), 1 => any::<i32>(), 1 => Just(i32::MAX)]
}

fn ways() -> impl Strategy<Value = Waypoints> {
    let point =
        ([number(), number(), number()], positive()).prop_map(|(pose, radius)| Waypoint { pose, radius });
    (prop::collection::vec(point, 0..4), 0..5_u8).prop_map(|(points, mode)| Waypoints { points, mode })
}

fn agent() -> impl Strategy<Value = AgentState> {
    let numbers = prop::array::uniform5(positive());
    (
        id(),
        word(),
        [number(), number(), number()],
        [number(), number()],
        numbers,
        word(),
        ways(),
        0..3_u8,
        0..6_usize,
    )
        .prop_map(
            |(
                agent_id,
                name,
                pose,
                velocity,
                [speed, radius, range, fov, cap],
                agent_type,
                waypoints,
                kind,
                policy,
            )| AgentState {
                agent_id,
                name,
                pose,
                velocity,
                desired_velocity: speed,
                radius,
                vision_range: range,
                vision_fov: fov,
                max_velocity: cap,
                agent_type,
                waypoints,
                kind,
                policy: ["", "", "", "hsfm", "straight", "none such"][policy].to_owned(),
                ..AgentState::default()
            },
        )
}

fn area() -> impl Strategy<Value = Shape> {
    (
        0..4_u8,
        [positive(), positive(), positive()],
        prop::collection::vec([-3.0..3.0_f32, -3.0..3.0_f32], 0..5),
    )
        .prop_map(|(kind, [width, height, radius], vertices)| Shape {
            kind,
            width,
            height,
            radius,
            vertices,
        })
}

fn flow_source() -> impl Strategy<Value = SourceConfig> {
    let rates = prop::collection::vec(
        (0.0..9.0_f64, positive()).prop_map(|(t, rate)| RateKeyframe { t, rate }),
        0..3,
    );
    let caps = (prop_oneof![-1..5_i32, any::<i32>()], -1..5_i32);
    (
        word(),
        [number(), number(), number()],
        area(),
        0..3_u8,
        rates,
        caps,
        [positive(), positive(), positive()],
        word(),
    )
        .prop_map(
            |(name, pose, shape, kind, rate_profile, (most, total), [low, high, radius], agent_type)| {
                SourceConfig {
                    name: name.clone(),
                    pose,
                    shape,
                    kind,
                    rate_profile,
                    // A source may keep up a hundred thousand people, which is not what this test is about.
                    max_concurrent: most.min(20),
                    max_total: total,
                    agent: AgentTemplate {
                        desired_velocity_min: low,
                        desired_velocity_max: high,
                        agent_radius: radius,
                        agent_type,
                        sink_affinity: vec![SinkAffinity { sink_name: name, weight: high }],
                        ..AgentTemplate::default()
                    },
                }
            },
        )
}

fn flow_sink() -> impl Strategy<Value = SinkConfig> {
    (word(), [number(), number(), number()], area(), positive()).prop_map(
        |(name, pose, shape, absorption_radius)| SinkConfig {
            name,
            pose,
            shape,
            absorption_radius,
            capacity: -1,
        },
    )
}

fn parameter() -> impl Strategy<Value = (String, ParameterValue)> {
    let names = [
        "local_planner",
        "seed",
        "waypoint_threshold",
        "arrival_r_enter",
        "arrival_r_exit",
        "local_planner.relaxation_time",
        "force_local_planner",
        "global_planner.resolution",
        "max_lifetime_s",
        "no such",
    ];
    let value = prop_oneof![
        number().prop_map(ParameterValue::Double),
        any::<i64>().prop_map(ParameterValue::Integer),
        any::<bool>().prop_map(ParameterValue::Bool),
        prop_oneof![Just("sfm"), Just("hsfm"), Just("?")]
            .prop_map(|word| ParameterValue::Text(word.to_owned())),
    ];
    (prop::sample::select(names.to_vec()), value).prop_map(|(name, value)| (name.to_owned(), value))
}

#[derive(Debug, Clone)]
enum Request {
    Spawn(Vec<AgentState>),
    SpawnAt(u64, AgentState),
    Remove(Vec<i32>),
    Way(i32, String, Waypoints),
    Update(AgentState),
    Robot(RobotState),
    Feed(i64, Vec<AgentState>),
    Flow(FlowConfig),
    Source(SourceConfig),
    Sink(SinkConfig),
    NoSource(String),
    Wall(String, [f64; 4]),
    NoWall(Vec<String>),
    Box(String, [f64; 3], [f64; 4]),
    Stimulus(i32, f32),
    Parameter(Vec<(String, ParameterValue)>),
    Reset(bool),
    Ticks(u64),
}

fn request() -> impl Strategy<Value = Request> {
    let names = prop::collection::vec(word(), 0..3);
    let small = || -6.0..6.0_f64;
    prop_oneof![
        5 => prop::collection::vec(agent(), 0..4).prop_map(Request::Spawn),
        1 => (0..30_u64, agent()).prop_map(|(tick, agent)| Request::SpawnAt(tick, agent)),
        1 => prop::collection::vec(id(), 0..3).prop_map(Request::Remove),
        2 => (id(), word(), ways()).prop_map(|(id, name, ways)| Request::Way(id, name, ways)),
        1 => agent().prop_map(Request::Update),
        1 => (word(), [number(), number(), number()], positive())
            .prop_map(|(name, pose, radius)| Request::Robot(RobotState { name, pose, radius })),
        3 => (any::<i64>(), prop::collection::vec(agent(), 0..4)).prop_map(|(stamp, agents)| Request::Feed(stamp, agents)),
        1 => (prop::collection::vec(flow_source(), 0..3), prop::collection::vec(flow_sink(), 0..3))
            .prop_map(|(sources, sinks)| Request::Flow(FlowConfig { sources, sinks })),
        3 => flow_source().prop_map(Request::Source),
        3 => flow_sink().prop_map(Request::Sink),
        1 => word().prop_map(Request::NoSource),
        1 => (word(), [small(), small(), small(), small()]).prop_map(|(name, ends)| Request::Wall(name, ends)),
        1 => names.prop_map(Request::NoWall),
        1 => (word(), [small(), small(), small()], [number(), number(), number(), number()])
            .prop_map(|(name, pose, bounds)| Request::Box(name, pose, bounds)),
        1 => (id(), any::<f32>()).prop_map(|(id, intensity)| Request::Stimulus(id, intensity)),
        1 => prop::collection::vec(parameter(), 1..3).prop_map(Request::Parameter),
        1 => any::<bool>().prop_map(Request::Reset),
        6 => (1..8_u64).prop_map(Request::Ticks),
    ]
}

fn carry_out(engine: &mut Engine, request: &Request) -> Result<(), EngineError> {
    match request {
        Request::Spawn(agents) => engine.spawn_agents(agents).map(|_| ()),
        Request::SpawnAt(tick, agent) => engine.spawn_at(*tick, std::slice::from_ref(agent)),
        Request::Remove(ids) => engine.remove_agents(ids),
        Request::Way(id, name, ways) => engine.set_waypoints(*id, name, ways),
        Request::Update(agent) => engine.update_agents(std::slice::from_ref(agent)).map(|_| ()),
        Request::Robot(robot) => engine.feedback(std::slice::from_ref(robot)).map(|_| ()),
        Request::Feed(stamp_ns, agents) => {
            engine.world_state(&AgentStates { stamp_ns: *stamp_ns, agents: agents.clone() });
            Ok(())
        }
        Request::Flow(flow) => engine.set_flow(flow),
        Request::Source(source) => engine.add_source(source),
        Request::Sink(sink) => engine.add_sink(sink),
        Request::NoSource(name) => engine.remove_source(name).and_then(|()| engine.remove_sink(name)),
        Request::Wall(name, [a, b, c, d]) => {
            engine.add_walls(&[Wall { name: name.clone(), start: [*a, *b], end: [*c, *d] }])
        }
        Request::NoWall(names) => engine.remove_walls(names).and_then(|()| engine.remove_obstacles(names)),
        Request::Box(name, pose, [a, b, c, d]) => engine.add_obstacles(&[ObstacleConfig {
            name: name.clone(),
            pose: *pose,
            bb_x: [*a, *b],
            bb_y: [*c, *d],
            ..ObstacleConfig::default()
        }]),
        Request::Stimulus(id, intensity) => engine.notify_stimulus(*id, "alarm", *intensity),
        Request::Parameter(batch) => engine.set_parameters(batch),
        Request::Reset(soft) => engine.reset(*soft),
        Request::Ticks(ticks) => {
            (0..*ticks).for_each(|_| engine.tick());
            Ok(())
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn any_storm_of_requests_leaves_numbers_behind(requests in prop::collection::vec(request(), 1..60)) {
        let mut engine = Engine::new(&[]).expect("defaults hold");
        for request in &requests {
            let before = engine.crowd().pool().id.clone();
            if let Err(error) = carry_out(&mut engine, request) {
                prop_assert!(!error.to_string().is_empty());
                prop_assert_eq!(&engine.crowd().pool().id, &before, "a refusal changes nothing");
            }
        }
        (0..10).for_each(|_| engine.tick());
        let (frame, pool) = (engine.frame(), engine.crowd().pool());
        for column in [&frame.x, &frame.y, &frame.vx, &frame.vy, &frame.theta, &pool.x, &pool.y] {
            prop_assert!(column.iter().all(|value| value.is_finite()), "{column:?}");
        }
        let lengths = [frame.agent_id.len(), frame.x.len(), frame.animation_state.len(), frame.interaction_id.len(), frame.gait_phase.len()];
        prop_assert!(lengths.iter().all(|length| *length == engine.meta().agent_id.len()), "{lengths:?}");
        let policies = engine.meta().policies.len() as i16;
        prop_assert!(frame.policy_idx.iter().all(|policy| (-1..policies).contains(policy)));
        for (row, id) in pool.id.iter().enumerate() {
            prop_assert_eq!(pool.row_of(*id), Some(row));
            prop_assert!(*id <= engine.crowd().largest_id());
        }
    }

    #[test]
    fn any_storm_of_requests_can_be_replayed_from_its_log(requests in prop::collection::vec(request(), 1..60)) {
        let log = Shared::default();
        let mut engine = Engine::new(&[]).expect("defaults hold");
        engine.log_to(log.clone());
        for request in &requests {
            let _ = carry_out(&mut engine, request);
        }
        (0..10).for_each(|_| engine.tick());
        let replayed = promenade_crowd::engine::replay(log.text().as_bytes()).expect("a log");
        prop_assert_eq!(replayed.divergence, None);
        prop_assert!(replayed.ticks >= 10);
    }
}
