//! Who is moved from outside, and what a hostile client gets (crowd-engine specification, sections 18 and 28).

use anyhow::{Context as _, Result};
use promenade_ros_tests::engine::{DT, Engine, agent, moving, seen, walking};
use promenade_ros_tests::{SECOND, Stage};
use r2r::QosProfile;
use r2r::arena_humansim_msgs::msg::{AgentFrame, AgentMeta, AgentState, AgentViz, WorldObjectInfo};
use r2r::arena_humansim_msgs::srv::{AddWalls, AddWorldObjects, SetWaypoints, SpawnAgents};
use r2r::geometry_msgs::msg::{Point32, Pose2D};

const START: i64 = 100 * SECOND;
const ROBOT: u8 = 1;

/// Publishes a feed and ticks until its effect shows; with every tick the feed is a tick newer.
fn feed_until<T>(
    stage: &mut Stage,
    engine: &mut Engine,
    what: &str,
    agents: impl Fn(i64) -> Vec<AgentState>,
    mut look: impl FnMut(&AgentFrame) -> Option<T>,
) -> Result<T> {
    for _ in 0..200 {
        engine.feed(engine.now + DT, agents(engine.now + DT))?;
        stage.turn();
        let frame = engine.tick(stage)?;
        if let Some(found) = look(&frame) {
            return Ok(found);
        }
    }
    anyhow::bail!("no {what} within 200 ticks: {}", engine.process.log())
}

#[test]
fn a_fed_robot_is_a_mirror_that_people_see_and_the_frame_does_not_have() -> Result<()> {
    let mut stage = Stage::new()?;
    let mut engine = Engine::follow(&mut stage, START, &[("publish_markers", "2")])?;
    engine.spawn(&mut stage, vec![agent(1, "anna", [0.0, 0.0])])?;
    let states =
        engine.subscribe::<AgentViz>(&mut stage, "viz_state", QosProfile::default().keep_last(1000))?;
    // Two stamped poses tell the velocity.
    let robot = |at: i64| {
        let along = (at - START) as f64 / SECOND as f64;
        vec![AgentState { kind: ROBOT, radius: 0.4, ..agent(9001, "jackal", [1.0 + 0.1 * along, 2.0]) }]
    };
    let state = feed_until(&mut stage, &mut engine, "mirror", robot, |frame| {
        assert_eq!(frame.agent_id, [1], "mirrors are not in the frame");
        states.drain().into_iter().rev().find(|state| {
            let row = state.kind.iter().position(|kind| *kind == ROBOT);
            row.is_some_and(|row| (state.vx[row] - 0.1).abs() < 1e-6)
        })
    })?;
    let row = state.kind.iter().position(|kind| *kind == ROBOT).context("a robot")?;
    assert_eq!((state.radius[row], state.y[row]), (0.4, 2.0));
    assert!(state.observed_agent_id.contains(&1), "anna sees it");
    // The lease: two seconds without a message.
    engine.run(&mut stage, 42)?;
    drop(states.drain());
    engine.tick(&mut stage)?;
    let last = stage.until_some("viz state", || states.pop())?;
    assert_eq!(last.agent_id, [1], "gone with its lease");
    Ok(())
}

#[test]
fn a_robot_of_the_engine_that_is_near_the_feed_is_adopted_and_goes_where_it_says() -> Result<()> {
    let mut stage = Stage::new()?;
    let mut engine = Engine::follow(&mut stage, START, &[])?;
    let own = AgentState { kind: ROBOT, agent_type: "robot".to_owned(), ..agent(5, "scout", [3.0, 0.0]) };
    engine.spawn(&mut stage, vec![own])?;
    let feed = |_: i64| vec![AgentState { kind: ROBOT, ..agent(777, "jackal", [3.5, 0.5]) }];
    feed_until(&mut stage, &mut engine, "adopted robot", feed, |frame| {
        assert_eq!(frame.agent_id, [5], "no second one");
        seen(frame, 5).filter(|(at, _)| *at == [3.5, 0.5])
    })?;
    Ok(())
}

#[test]
fn a_person_is_bound_while_fed_and_walks_on_from_there_when_the_lease_ends() -> Result<()> {
    let mut stage = Stage::new()?;
    let mut engine = Engine::follow(&mut stage, START, &[])?;
    engine.spawn(&mut stage, vec![walking(agent(1, "anna", [0.0, 0.0]), &[[0.0, 40.0]])])?;
    let metas =
        engine.subscribe::<AgentMeta>(&mut stage, "agent_meta", QosProfile::default().transient_local())?;
    let feed = |_: i64| vec![moving(agent(1, "anna", [10.0, 0.0]), [0.0, 0.0])];
    feed_until(&mut stage, &mut engine, "bound person", feed, |frame| {
        let (at, _) = seen(frame, 1)?;
        (at == [10.0, 0.0] && frame.policy_idx == [-1]).then_some(())
    })?;
    stage.until("meta data", || metas.pop().is_some())?;
    let frame = engine.run(&mut stage, 30)?;
    assert_eq!(seen(&frame, 1).context("anna")?.0, [10.0, 0.0], "still bound");
    let frame = engine.run(&mut stage, 30)?;
    let (at, velocity) = seen(&frame, 1).context("anna")?;
    assert!(velocity[1] > 0.1 && at[1] > 0.0 && (at[0] - 10.0).abs() < 3.0, "{at:?} {velocity:?}");
    assert_eq!(frame.policy_idx, [0], "its own planner again");
    Ok(())
}

#[test]
fn hostile_requests_and_feeds_are_refused_and_cost_nobody_anything() -> Result<()> {
    let mut stage = Stage::new()?;
    let mut engine = Engine::follow(&mut stage, START, &[])?;
    engine.spawn(&mut stage, vec![walking(agent(1, "anna", [0.0, 0.0]), &[[90.0, 0.0]])])?;
    for broken in [f64::NAN, f64::INFINITY, 1e300] {
        let nowhere = agent(0, "ben", [broken, 0.0]);
        let huge = AgentState { radius: broken, ..agent(0, "cara", [1.0, 0.0]) };
        for agent in [nowhere, huge] {
            let request = SpawnAgents::Request { agents: vec![agent] };
            let refused = engine.call::<SpawnAgents::Service>(&mut stage, "spawn_agents", &request)?;
            assert!(!refused.success && !refused.message.is_empty(), "{broken}: {refused:?}");
        }
        engine.feed(
            engine.now,
            vec![agent(4, "ghost", [broken, broken]), moving(agent(1, "", [0.0, 0.0]), [broken, broken])],
        )?;
    }
    let twice = SpawnAgents::Request { agents: vec![agent(8, "a", [5.0, 5.0]), agent(8, "b", [6.0, 6.0])] };
    assert!(
        !engine.call::<SpawnAgents::Service>(&mut stage, "spawn_agents", &twice)?.success,
        "an id given twice"
    );

    let point = Point32 { x: 0.0, y: 1.0, z: 0.0 };
    let request = AddWalls::Request {
        names: vec!["a".into(), "b".into()],
        starts: vec![point.clone()],
        ends: vec![point.clone(); 3],
    };
    let refused = engine.call::<AddWalls::Service>(&mut stage, "add_walls", &request)?;
    assert!(
        !refused.success && refused.message.contains("starts has 1 entries and names has 2"),
        "{}",
        refused.message
    );
    let nan = Point32 { x: f32::NAN, y: 1.0, z: 0.0 };
    let request = AddWalls::Request { names: vec!["a".into()], starts: vec![nan], ends: vec![point] };
    assert!(!engine.call::<AddWalls::Service>(&mut stage, "add_walls", &request)?.success);
    let object = WorldObjectInfo {
        object_id: "o".into(),
        satisfies_keys: vec!["rest".into()],
        ..WorldObjectInfo::default()
    };
    let request = AddWorldObjects::Request { objects: vec![object] };
    let refused = engine.call::<AddWorldObjects::Service>(&mut stage, "add_world_objects", &request)?;
    assert!(!refused.success && refused.message.contains("satisfies_values"), "{}", refused.message);

    // A way of a hundred thousand points to nowhere, and a request of ten thousand agents without a place to stand.
    let mut way = walking(agent(1, "", [0.0; 2]), &[[f64::NAN, 0.0]]).waypoints;
    way.points = vec![way.points[0].clone(); 100_000];
    let request = SetWaypoints::Request { agent_id: 1, name: String::new(), waypoints: way };
    assert!(!engine.call::<SetWaypoints::Service>(&mut stage, "set_waypoints", &request)?.success);
    let nobody = AgentState { pose: Pose2D { x: 0.0, y: f64::NAN, theta: 0.0 }, ..AgentState::default() };
    let request = SpawnAgents::Request { agents: vec![nobody; 10_000] };
    assert!(!engine.call::<SpawnAgents::Service>(&mut stage, "spawn_agents", &request)?.success);

    let frame = engine.run(&mut stage, 3)?;
    assert_eq!(frame.agent_id, [1]);
    let ([x, y], _) = seen(&frame, 1).context("anna")?;
    assert!(x.is_finite() && y.is_finite());
    engine.process.check_alive()
}
