//! Episodes over ROS: queue, merge, reset, records (human-layer specification, sections 2.3 and 20).

use std::path::PathBuf;

use anyhow::{Context as _, Result, ensure};
use promenade_ros_tests::episodes::{DERIVE, integer, nothing, outcome, text};
use promenade_ros_tests::wire::{find, is_marked, marked, nanos, place};
use promenade_ros_tests::{Cast, Environment, Episodes, SECOND, Stage};
use r2r::arena_people_msgs::msg::Pedestrians;
use r2r::rcl_interfaces::msg::Parameter;
use r2r::task_generator_msgs::srv::QueueEpisode;

const START: i64 = 50 * SECOND;

fn open(names: &[&str]) -> Result<(Stage, Environment, Episodes)> {
    let mut stage = Stage::new()?;
    let (environment, _) = Environment::open(&mut stage, &Cast::people(names), START)?;
    let episodes = Episodes::open(&mut stage, &environment)?;
    Ok((stage, environment, episodes))
}

/// Where each person of a frame is, with the id.
fn roster(frame: &Pedestrians) -> Vec<(String, u32, [f64; 2])> {
    frame.pedestrians.iter().map(|p| (p.name.clone(), p.id, place(p))).collect()
}

/// Nobody is possessed and everybody has all joints.
fn is_fresh(frame: &Pedestrians) -> bool {
    frame.pedestrians.iter().all(|p| !is_marked(p) && p.joint_state.name.len() == 40)
}

fn named(params: &[Parameter]) -> Vec<(&str, i64)> {
    params.iter().map(|p| (p.name.as_str(), p.value.integer_value)).collect()
}

/// Another scenario of the world of `environment`.
fn write_scenario(environment: &Environment, name: &str, yaml: &str) -> Result<PathBuf> {
    let scenarios = environment.scenario.ancestors().nth(2).context("below scenarios")?;
    let file = scenarios.join(name).join("scenario.yaml");
    std::fs::create_dir_all(file.parent().context("a folder")?)?;
    std::fs::write(&file, yaml)?;
    Ok(file)
}

#[test]
fn the_records_of_what_runs_and_what_is_queued_reach_who_comes_late() -> Result<()> {
    let (mut stage, _environment, episodes) = open(&["anna"])?;
    let running = episodes.record(&mut stage, 0, outcome::RUNNING)?;
    assert_eq!((running.seed, nanos(&running.start_time), running.integrity), (0, START, true));
    assert_eq!((running.world.as_str(), running.phases.as_str()), ("stage", "[]"));
    let queued = stage.until_some("queued record", || episodes.queued.pop())?;
    assert_eq!((queued.episode_id, queued.outcome_state, queued.seed), (1, outcome::QUEUED, DERIVE));
    Ok(())
}

#[test]
fn what_is_queued_merges_key_by_key_and_runs_after_the_reset() -> Result<()> {
    let (mut stage, _environment, episodes) = open(&["anna"])?;
    let first = QueueEpisode::Request {
        tm_robots: "guided".to_owned(),
        tm_modules: vec!["sounds".to_owned()],
        robots_params: vec![integer("a", 1), integer("b", 1)],
        human_params: vec![integer("humansim.markers", 1)],
        ..QueueEpisode::Request::default()
    };
    assert_eq!(episodes.queue(&mut stage, &first)?, "");
    let second = QueueEpisode::Request {
        tm_obstacles: "scenario".to_owned(),
        tm_modules: vec!["ignored".to_owned()],
        keep_modules: true,
        robots_params: vec![integer("b", 2), integer("c", 2)],
        ..QueueEpisode::Request::default()
    };
    assert_eq!(episodes.queue(&mut stage, &second)?, "");
    let look = || episodes.queued.find(|record| !record.tm_obstacles.is_empty());
    let queued = stage.until_some("merged record", look)?;
    assert_eq!((queued.tm_robots.as_str(), queued.tm_obstacles.as_str()), ("guided", "scenario"));
    assert_eq!(queued.tm_modules, ["sounds"]);
    assert_eq!(named(&queued.robots_params), [("a", 1), ("b", 2), ("c", 2)]);
    assert_eq!(named(&queued.human_params), [("humansim.markers", 1)], "staged values are shown");

    assert_eq!(episodes.reset(&mut stage, "", 77)?, "");
    let running = episodes.record(&mut stage, 1, outcome::RUNNING)?;
    assert_eq!((running.seed, running.tm_robots.as_str()), (77, "guided"));
    assert_eq!(named(&running.robots_params), [("a", 1), ("b", 2), ("c", 2)]);
    assert_eq!(named(&running.human_params), [], "the dummy backend accepts no parameter");
    Ok(())
}

#[test]
fn a_parameter_that_no_backend_can_accept_is_refused_and_changes_nothing() -> Result<()> {
    let (mut stage, _environment, episodes) = open(&["anna"])?;
    stage.until_some("queued record", || episodes.queued.pop())?;
    for (name, reason) in
        [("human.speed", "reserved"), ("pedsim.dt", "no backend has this prefix"), ("dt", "no backend")]
    {
        let request = QueueEpisode::Request {
            tm_robots: "guided".to_owned(),
            human_params: vec![integer(name, 1)],
            ..nothing()
        };
        let error = episodes.queue(&mut stage, &request)?;
        ensure!(error.contains(name) && error.contains(reason), "{error}");
    }
    let error = episodes.queue(&mut stage, &QueueEpisode::Request { action: 9, ..nothing() })?;
    ensure!(error.contains("unknown action 9"), "{error}");
    let mut odd = integer("humansim.dt", 1);
    odd.value.type_ = 99;
    let error =
        episodes.queue(&mut stage, &QueueEpisode::Request { human_params: vec![odd], ..nothing() })?;
    ensure!(error.contains("type 99"), "{error}");
    assert_eq!(episodes.queue(&mut stage, &nothing())?, "");
    let queued = stage.until_some("queued record", || episodes.queued.pop())?;
    assert_eq!((queued.tm_robots.as_str(), queued.human_params.len()), ("", 0));
    Ok(())
}

#[test]
fn requests_beyond_reason_are_answered_and_the_node_goes_on() -> Result<()> {
    let (mut stage, mut environment, episodes) = open(&["anna"])?;
    let many = |count: i64| (0..count).map(|i| integer(&format!("humansim.p{i}"), i)).collect();
    let request = QueueEpisode::Request { human_params: many(100_000), ..nothing() };
    let error = episodes.queue(&mut stage, &request)?;
    ensure!(error.contains("100000 parameters at once"), "{error}");
    assert_eq!(
        episodes.queue(&mut stage, &QueueEpisode::Request { human_params: many(1_000), ..nothing() })?,
        ""
    );
    for world in ["../../../../etc", "/dev/zero", "\u{1F980}", &"x".repeat(1_000_000), "a\nb"] {
        let error = episodes.reset(&mut stage, world, DERIVE)?;
        ensure!(!error.is_empty() && error.len() < 10_000_000, "{}", error.len());
    }
    for seed in [i64::MIN, -2, 0, i64::MAX] {
        assert_eq!(episodes.reset(&mut stage, "", seed)?, "");
    }
    assert_eq!(episodes.record(&mut stage, 4, outcome::RUNNING)?.seed, i64::MAX);
    environment.tick(&mut stage, 1)?;
    environment.process.check_alive()
}

#[test]
fn a_reset_brings_everybody_back_and_the_first_tick_is_right() -> Result<()> {
    let (mut stage, environment, episodes) = open(&["anna", "ben"])?;
    let before = roster(&environment.tick(&mut stage, 1)?);
    environment.claim(&mut stage, environment.frame_time(1), &[marked("anna", 5.0, 5.0)])?;
    environment.tick(&mut stage, 10)?;
    assert_eq!(episodes.reset(&mut stage, "", DERIVE)?, "");
    let first = environment.tick(&mut stage, 11)?;
    assert_eq!(roster(&first), before, "names, ids and places");
    assert!(is_fresh(&first), "{first:?}");
    let record = episodes.record(&mut stage, 1, outcome::RUNNING)?;
    assert_eq!((nanos(&record.start_time), record.integrity), (environment.frame_time(10), true));
    assert!(record.seed >= 0, "a derived seed is never the one that means derive");
    Ok(())
}

#[test]
fn a_seed_makes_the_same_episode_again() -> Result<()> {
    let (mut stage, environment, episodes) = open(&["anna"])?;
    let people: String =
        (0..5).map(|i| format!("- {{name: p{i}, model: adult_casual_01, pose: floor}}\n")).collect();
    let file = write_scenario(&environment, "somewhere", &format!("dynamic:\n{people}"))?;
    let file = file.display().to_string();
    let request = QueueEpisode::Request { obstacles_params: vec![text("scenario.file", &file)], ..nothing() };
    assert_eq!(episodes.queue(&mut stage, &request)?, "");
    let mut seen = Vec::new();
    for (index, seed) in [(10, 5), (20, 6), (30, 5)] {
        assert_eq!(episodes.reset(&mut stage, "", seed)?, "");
        let frame = environment.tick(&mut stage, index)?;
        assert_eq!(frame.pedestrians.len(), 5, "the queued scenario: {frame:?}");
        seen.push(roster(&frame));
    }
    assert_ne!(seen[0], seen[1], "another seed, other places");
    assert_eq!(seen[0], seen[2], "the same seed, the same places and ids");
    Ok(())
}

#[test]
fn a_reset_that_cannot_be_done_leaves_the_episode_running() -> Result<()> {
    let (mut stage, environment, episodes) = open(&["anna"])?;
    environment.claim(&mut stage, START, &[marked("anna", 5.0, 5.0)])?;
    let error = episodes.reset(&mut stage, "nowhere", DERIVE)?;
    ensure!(error.contains("nowhere"), "{error}");
    let broken = write_scenario(&environment, "broken", "dynamic:\n- name: carl\n  poze: [0, 0]\n")?;
    let param = text("scenario.file", &broken.display().to_string());
    let error =
        episodes.queue(&mut stage, &QueueEpisode::Request { obstacles_params: vec![param], ..nothing() })?;
    ensure!(error.contains("scenario.yaml:3") && error.contains("poze"), "file and line: {error}");
    let frame = environment.tick(&mut stage, 1)?;
    let anna = find(&frame, &environment.bus_name("anna")).context("anna")?;
    assert!(is_marked(anna), "still possessed: {anna:?}");
    assert_eq!(episodes.reset(&mut stage, "", DERIVE)?, "", "what was queued before is still queued");
    Ok(())
}

#[test]
fn a_stream_that_flows_through_a_reset_does_not_grab_the_next_episode() -> Result<()> {
    let (mut stage, environment, episodes) = open(&["anna"])?;
    environment.claim(&mut stage, START, &[marked("anna", 5.0, 5.0)])?;
    environment.tick(&mut stage, 10)?;
    let answer = episodes.ask_reset("", DERIVE)?;
    let mut answer = Box::pin(answer);
    // The publisher has not noticed anything: its batches keep coming, from before and after the reset.
    let error = stage.turn_until("answer of the reset", |_| {
        environment.stream(START, vec![marked("anna", 5.0, 5.0)])?;
        Ok(futures::FutureExt::now_or_never(&mut answer))
    })??;
    assert_eq!(error, "");
    for _ in 0..20 {
        environment.stream(START, vec![marked("anna", 5.0, 5.0)])?;
        stage.turn();
    }
    environment.logged(&mut stage, "dropped a batch stamped")?;
    let first = environment.tick(&mut stage, 11)?;
    assert!(is_fresh(&first), "{first:?}");
    assert_eq!(place(&first.pedestrians[0]), [1.0, 0.0]);
    environment.claim(&mut stage, environment.frame_time(11), &[marked("anna", 6.0, 6.0)])?;
    Ok(())
}

#[test]
fn two_resets_at_once_are_two_episodes_one_after_the_other() -> Result<()> {
    let (mut stage, environment, episodes) = open(&["anna", "ben"])?;
    let before = roster(&environment.tick(&mut stage, 1)?);
    let (one, two) = (episodes.ask_reset("", 1)?, episodes.ask_reset("", 2)?);
    let answers = stage.wait("both answers", futures::future::join(one, two))?;
    assert_eq!((answers.0?, answers.1?), (String::new(), String::new()));
    let record = episodes.record(&mut stage, 2, outcome::RUNNING)?;
    assert_eq!(record.seed, 2);
    let frame = environment.tick(&mut stage, 2)?;
    assert_eq!(roster(&frame), before);
    assert!(is_fresh(&frame));
    Ok(())
}

#[test]
fn a_reset_while_the_clock_stands_is_done_and_shows_at_the_next_tick() -> Result<()> {
    let (mut stage, environment, episodes) = open(&["anna"])?;
    environment.tick(&mut stage, 5)?;
    environment.claim(&mut stage, environment.frame_time(5), &[marked("anna", 5.0, 5.0)])?;
    // No reading at all from here on.
    for id in 1..=3 {
        assert_eq!(episodes.reset(&mut stage, "", DERIVE)?, "");
        let record = episodes.record(&mut stage, id, outcome::RUNNING)?;
        assert_eq!(nanos(&record.start_time), environment.frame_time(5));
    }
    let frame = environment.tick(&mut stage, 6)?;
    assert!(is_fresh(&frame));
    assert_eq!(place(&frame.pedestrians[0]), [1.0, 0.0]);
    Ok(())
}

#[test]
fn a_reset_after_a_jump_of_the_clock_is_one_in_the_new_time() -> Result<()> {
    let (mut stage, mut environment, episodes) = open(&["anna"])?;
    for (id, at) in [(1, START - 40 * SECOND), (2, START + 3600 * SECOND)] {
        stage.publish_clock(at)?;
        let jump = if id == 1 { "the clock went back" } else { "the clock jumped ahead" };
        environment.logged(&mut stage, jump)?;
        assert_eq!(episodes.reset(&mut stage, "", DERIVE)?, "");
        let record = episodes.record(&mut stage, id, outcome::RUNNING)?;
        assert_eq!(nanos(&record.start_time), at);
        environment.claim(&mut stage, at, &[marked("anna", 5.0, 5.0)])?;
        let frame = stage.clock_until(at + SECOND / 10, "frame after the jump", || {
            environment.frames.find(|frame| nanos(&frame.header.stamp) > at)
        })?;
        assert_eq!(frame.pedestrians.len(), 1);
    }
    environment.process.check_alive()
}

#[test]
fn a_reset_before_the_first_reading_is_refused_and_a_queue_is_not() -> Result<()> {
    let mut stage = Stage::new()?;
    let mut environment = Environment::start(&mut stage, &Cast::people(&["anna"]))?;
    let episodes = Episodes::open(&mut stage, &environment)?;
    let error = episodes.reset(&mut stage, "", DERIVE)?;
    ensure!(error.contains("no clock yet"), "{error}");
    let request = QueueEpisode::Request { tm_robots: "guided".to_owned(), ..nothing() };
    assert_eq!(episodes.queue(&mut stage, &request)?, "");
    environment.begin(&mut stage, START)?;
    assert_eq!(episodes.reset(&mut stage, "", DERIVE)?, "");
    assert_eq!(episodes.record(&mut stage, 1, outcome::RUNNING)?.tm_robots, "guided");
    Ok(())
}

#[test]
fn the_task_generator_may_have_another_name() -> Result<()> {
    let mut stage = Stage::new()?;
    let environment =
        Environment::open_with(&mut stage, &Cast::people(&["anna"]), START, &[("task_generator", "tg")])?;
    let reset = stage.node.create_client::<r2r::task_generator_msgs::srv::ResetEpisode::Service>(
        &environment.topic("tg/reset_episode"),
        r2r::QosProfile::services_default(),
    )?;
    let available = r2r::Node::is_available(&reset)?;
    stage.wait("service under the other name", available)??;
    Ok(())
}
