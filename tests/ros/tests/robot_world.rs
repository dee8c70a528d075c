//! The robot world as a simulator: clock, `cmd_vel`, `odom`, `scan`, TF, people, doors, resets (robot-world specification,
//! section 16; human-layer specification, sections 19 and 25).

use std::path::PathBuf;

use anyhow::{Context as _, Result};
use promenade_ros_tests::episodes::{self, Episodes};
use promenade_ros_tests::robot_world::{DT, RobotWorld, planar, ray_to_disc, transforms};
use promenade_ros_tests::wire::{nanos, person, pose};
use promenade_ros_tests::{Cast, Environment, SECOND, Stage};
use r2r::QosProfile;
use r2r::arena_people_msgs::msg::SpawnPedestrian;
use r2r::arena_people_msgs::srv::{DeletePedestrians, SpawnPedestrians, UpdatePedestrians};
use r2r::geometry_msgs::msg::TransformStamped;
use r2r::sensor_msgs::msg::LaserScan;
use tempfile::TempDir;

/// Radius of people, metres.
const PERSON: f64 = 0.3;
/// Circles are polygons of 64 corners: a beam may hit that much behind the circle, metres.
const POLYGON: f64 = 0.002;

/// A robot at the origin, and what else there is.
fn robot(cast: Cast) -> Cast {
    Cast { robots: vec![("porter".to_owned(), [0.0, 0.0])], ..cast }
}

fn write(cast: &Cast) -> Result<(TempDir, PathBuf)> {
    let folder = TempDir::new()?;
    let scenario = cast.write(folder.path())?;
    Ok((folder, scenario))
}

/// The beam that looks into a direction of the robot.
fn beam(scan: &LaserScan, angle: f64) -> f32 {
    let index = (angle - f64::from(scan.angle_min)) / f64::from(scan.angle_increment);
    scan.ranges[index.round() as usize]
}

#[test]
fn a_robot_is_driven_by_cmd_vel_among_people_whom_its_scan_hits() -> Result<()> {
    let mut stage = Stage::new()?;
    let cast = robot(Cast {
        people: vec![("anna".to_owned(), [4.0, 0.0]), ("ben".to_owned(), [2.0, 3.0])],
        ..Cast::default()
    });
    let environment = Environment::start_with(&mut stage, &cast, &[("sim", "world")])?;
    let world = RobotWorld::of_scenario(&mut stage, &environment.namespace, &environment.scenario, &[])?;
    let episodes = Episodes::open(&mut stage, &environment)?;
    let record = episodes.record(&mut stage, 0, episodes::outcome::RUNNING)?;
    assert!(record.integrity, "everybody was created: {}", environment.process.log());
    let porter = world.robot(&mut stage, "porter")?;
    porter.drive_until(&mut stage, &world, [0.4, 0.0, 0.2], "a metre of the way", |odom| {
        odom.pose.pose.position.x > 1.0
    })?;
    // It stands when it is measured.
    let odom = porter.drive_until(&mut stage, &world, [0.0; 3], "a standstill", |odom| {
        odom.twist.twist.linear.x == 0.0 && odom.twist.twist.angular.z == 0.0
    })?;
    let [x, y, yaw] = planar(&odom.pose.pose);
    assert!(y > 0.05 && yaw > 0.1, "it drove a curve: {x} {y} {yaw}");
    let scan = world.scan(&mut stage, &porter)?;
    assert_eq!(scan.header.frame_id, format!("{}/porter/laser", environment.prefix));
    let mut hits = [0, 0];
    for (i, &range) in scan.ranges.iter().enumerate() {
        let angle = yaw + f64::from(scan.angle_min) + i as f64 * f64::from(scan.angle_increment);
        let seen = [[4.0, 0.0], [2.0, 3.0]].map(|place| ray_to_disc([x, y], angle, place, PERSON));
        let inner = [[4.0, 0.0], [2.0, 3.0]].map(|place| ray_to_disc([x, y], angle, place, PERSON - POLYGON));
        for (person, (outer, inner)) in seen.into_iter().zip(inner).enumerate() {
            if let (Some(outer), Some(inner)) = (outer, inner) {
                let range = f64::from(range);
                assert!((outer - 1e-4..inner + 1e-4).contains(&range), "{range} m, not {outer} to {inner} m");
                hits[person] += 1;
            }
        }
        if seen == [None, None] {
            assert_eq!(range, f32::INFINITY, "nothing there, as REP 117 has it");
        }
    }
    assert!(hits[0] > 5 && hits[1] > 5, "{hits:?}");
    Ok(())
}

#[test]
fn people_come_move_and_go_by_the_services_of_a_simulator() -> Result<()> {
    let mut stage = Stage::new()?;
    let (_folder, scenario) = write(&robot(Cast::default()))?;
    let namespace = "/arena/env_70";
    let world = RobotWorld::of_scenario(&mut stage, namespace, &scenario, &[])?;
    let porter = world.robot(&mut stage, "porter")?;
    let services = QosProfile::services_default;
    let name = |service: &str| format!("{namespace}/{service}_pedestrians");
    let spawn = stage.node.create_client::<SpawnPedestrians::Service>(&name("spawn"), services())?;
    let update = stage.node.create_client::<UpdatePedestrians::Service>(&name("update"), services())?;
    let delete = stage.node.create_client::<DeletePedestrians::Service>(&name("delete"), services())?;
    let ahead = |stage: &mut Stage| anyhow::Ok(beam(&world.scan(stage, &porter)?, 0.0));

    assert_eq!(ahead(&mut stage)?, f32::INFINITY);
    let of = |name: &str, x: f64| SpawnPedestrian { pedestrian: person(name, x, 0.0), ..Default::default() };
    let request = SpawnPedestrians::Request {
        pedestrians: vec![of("env_70/anna", 3.0), of("env_70/anna", 2.0), of("env_70/nan", f64::NAN)],
    };
    let answer = spawn.request(&request)?;
    assert_eq!(stage.wait("spawn", answer)??.results, [0, 2, 2]);
    assert!((ahead(&mut stage)? - 2.7).abs() < 0.005, "three metres less a radius");

    let request = UpdatePedestrians::Request {
        pedestrians: vec![person("env_70/anna", 5.0, 0.0), person("env_70/nobody", 1.0, 0.0)],
        ..Default::default()
    };
    let answer = update.request(&request)?;
    assert_eq!(stage.wait("update", answer)??.results, [0, 1]);
    assert!((ahead(&mut stage)? - 4.7).abs() < 0.005);

    let request = DeletePedestrians::Request { names: vec!["env_70/anna".to_owned(); 2] };
    let answer = delete.request(&request)?;
    assert_eq!(stage.wait("delete", answer)??.results, [0, 1]);
    assert_eq!(ahead(&mut stage)?, f32::INFINITY);
    Ok(())
}

#[test]
fn a_robot_that_hears_nothing_for_half_a_second_stops() -> Result<()> {
    let mut stage = Stage::new()?;
    let (_folder, scenario) = write(&robot(Cast::default()))?;
    let world = RobotWorld::of_scenario(&mut stage, "/arena/env_71", &scenario, &[])?;
    let porter = world.robot(&mut stage, "porter")?;
    porter.drive_until(&mut stage, &world, [0.5, 0.0, 0.0], "half a metre per second", |odom| {
        odom.twist.twist.linear.x == 0.5
    })?;
    // The last command is told by its own speed, so that it is known when it was taken.
    porter.command(0.4, 0.0, 0.0)?;
    let sent = world.step(&mut stage, 0.0)?;
    let taken = stage.turn_until("the last command", |stage| {
        let odom = world.advance(stage, &porter, DT)?;
        Ok((odom.twist.twist.linear.x == 0.4).then_some(odom))
    })?;
    let taken = nanos(&taken.header.stamp);
    let now = world.step(&mut stage, 0.0)?;
    let odom = world.advance(&mut stage, &porter, (sent + SECOND * 48 / 100 - now) as f64 / 1e9)?;
    assert_eq!(odom.twist.twist.linear.x, 0.4, "it counts for half a second");
    let now = world.step(&mut stage, 0.0)?;
    // After it the robot brakes as it can: 0.8 m/s2.
    let odom = world.advance(&mut stage, &porter, (taken + SECOND * 11 / 10 - now) as f64 / 1e9)?;
    assert_eq!(odom.twist.twist.linear.x, 0.0);
    let later = world.advance(&mut stage, &porter, 1.0)?;
    assert_eq!(planar(&odom.pose.pose), planar(&later.pose.pose), "and stays where it is");
    Ok(())
}

#[test]
fn odometry_and_transforms_say_the_same() -> Result<()> {
    let mut stage = Stage::new()?;
    let (_folder, scenario) = write(&robot(Cast::default()))?;
    let [moving, fixed] = transforms(&mut stage)?;
    let world =
        RobotWorld::of_scenario(&mut stage, "/arena/env_72", &scenario, &[("tf_namespace", "env_72")])?;
    let porter = world.robot(&mut stage, "porter")?;
    porter.drive_until(&mut stage, &world, [0.3, 0.0, 0.5], "a turn", |odom| {
        planar(&odom.pose.pose)[2] > 0.5
    })?;
    let odom = world.advance(&mut stage, &porter, DT)?;
    let frame = |last: &str| format!("env_72/porter/{last}");
    assert_eq!((&odom.header.frame_id, &odom.child_frame_id), (&frame("odom"), &frame("base_link")));

    let of_time =
        |message: &r2r::tf2_msgs::msg::TFMessage| message.transforms[0].header.stamp == odom.header.stamp;
    let transform = stage.until_some("transform of that time", || moving.find(of_time))?;
    let [transform] = &transform.transforms[..] else { panic!("{transform:?}") };
    assert_eq!(
        (&transform.header.frame_id, &transform.child_frame_id),
        (&frame("odom"), &frame("base_link"))
    );
    let (t, p) = (&transform.transform, &odom.pose.pose);
    assert_eq!((t.translation.x, t.translation.y), (p.position.x, p.position.y));
    assert_eq!(t.rotation, p.orientation);

    let latched = stage.until_some("static transforms", || fixed.pop())?;
    let pairs: Vec<_> = latched
        .transforms
        .iter()
        .map(|TransformStamped { header, child_frame_id, .. }| {
            (header.frame_id.clone(), child_frame_id.clone())
        })
        .collect();
    assert_eq!(pairs, [("map".to_owned(), frame("odom")), (frame("base_link"), frame("laser"))]);
    Ok(())
}

#[test]
fn the_clock_stands_while_paused_and_the_world_with_it() -> Result<()> {
    let mut stage = Stage::new()?;
    let (_folder, scenario) = write(&robot(Cast::default()))?;
    let world = RobotWorld::of_scenario(&mut stage, "/arena/env_73", &scenario, &[])?;
    let porter = world.robot(&mut stage, "porter")?;
    let before = world.step(&mut stage, 0.0)?;
    for (seconds, steps) in [(0.25, 12), (0.01, 0), (0.02, 1), (1.0, 50)] {
        let start = world.step(&mut stage, 0.0)?;
        let begun = start / 20_000_000;
        let at = world.step(&mut stage, seconds)?;
        assert!((at - start - (seconds * 1e9) as i64).abs() <= 1, "a step is exact");
        let made = at / 20_000_000 - begun;
        assert!((steps..=steps + 1).contains(&made), "{made} whole steps of the world for {seconds} s");
        let odom = world.advance(&mut stage, &porter, 0.0).ok();
        assert!(odom.is_none_or(|odom| nanos(&odom.header.stamp) <= at), "never ahead of the clock");
    }
    let at = world.step(&mut stage, 0.0)?;
    assert!(at > before);
    stage.until_some("the stepped clock", || world.clocks.find(|clock| nanos(&clock.clock) == at))?;
    for _ in 0..3 {
        let again = stage.until_some("clock while paused", || world.clocks.pop())?;
        assert_eq!(nanos(&again.clock), at, "published while paused, and standing");
    }
    for seconds in [-1.0, f64::NAN, 1001.0] {
        let answer = world.try_step(&mut stage, seconds)?;
        assert!(!answer.success && !answer.message.is_empty(), "{answer:?}");
    }
    world.pause(&mut stage, false)?;
    stage.until_some("a world that runs", || {
        porter.odom.find(|odom| nanos(&odom.header.stamp) > at + SECOND / 5)
    })?;
    Ok(())
}

#[test]
fn commands_that_are_none_are_dropped_with_one_line_and_huge_ones_are_limited() -> Result<()> {
    let mut stage = Stage::new()?;
    let (_folder, scenario) = write(&robot(Cast::default()))?;
    let mut world = RobotWorld::of_scenario(&mut stage, "/arena/env_74", &scenario, &[])?;
    let porter = world.robot(&mut stage, "porter")?;
    for command in
        [[f64::NAN, 0.0, 0.0], [f64::INFINITY, 0.0, 0.0], [0.0, f64::NEG_INFINITY, 0.0], [0.0, 0.0, f64::NAN]]
    {
        let [forward, left, yaw_rate] = command;
        stage.turn_until("warning", |stage| {
            porter.command(forward, left, yaw_rate)?;
            world.step(stage, DT)?;
            Ok((world.process.logged("is dropped") > 0).then_some(()))
        })?;
    }
    let mut nowhere = pose(f64::NAN, 0.0);
    nowhere.orientation.w = 0.0;
    porter.put(nowhere)?;
    let odom = world.advance(&mut stage, &porter, 0.5)?;
    assert_eq!(planar(&odom.pose.pose), [0.0; 3], "nothing moved it");
    let odom = porter.drive_until(&mut stage, &world, [1e300, 0.0, -1e300], "its highest speed", |odom| {
        odom.twist.twist.linear.x >= 0.8
    })?;
    let twist = &odom.twist.twist;
    assert_eq!((twist.linear.x, twist.angular.z), (0.8, -1.2), "what the robot can");
    assert_eq!(world.process.logged("is dropped"), 1, "{}", world.process.log());
    world.process.check_alive()
}

#[test]
fn a_robot_is_put_elsewhere_and_feels_the_wall_it_drives_into() -> Result<()> {
    let mut stage = Stage::new()?;
    let cast = Cast { walls: vec![([12.0, -3.0], [12.0, 3.0])], ..Cast::default() };
    let (_folder, scenario) = write(&robot(cast))?;
    let world = RobotWorld::of_scenario(&mut stage, "/arena/env_75", &scenario, &[])?;
    let porter = world.robot(&mut stage, "porter")?;
    stage.turn_until("the robot at its new place", |stage| {
        porter.put(pose(11.0, 0.0))?;
        let odom = world.advance(stage, &porter, DT)?;
        Ok((odom.pose.pose.position.x == 11.0).then_some(()))
    })?;
    let ahead = beam(&world.scan(&mut stage, &porter)?, 0.0);
    assert!((ahead - 1.0).abs() < 0.2, "the wall is seen at {ahead} m");
    let free = stage.until_some("contacts", || porter.contacts.pop())?;
    assert!(!free.in_contact && free.contacts.is_empty());
    drop(porter.contacts.drain());
    let touched = stage.turn_until("contact", |stage| {
        porter.command(0.5, 0.0, 0.0)?;
        world.step(stage, DT)?;
        Ok(porter.contacts.find(|contacts| contacts.in_contact))
    })?;
    let [contact] = &touched.contacts[..] else { panic!("{touched:?}") };
    assert!(contact.other.starts_with("wall"), "{contact:?}");
    assert!((contact.normal.x + 1.0).abs() < 1e-6, "away from the wall: {contact:?}");
    let odom = porter.drive_until(&mut stage, &world, [0.5, 0.0, 0.0], "a second of pushing", {
        let mut steps = 0;
        move |_| {
            steps += 1;
            steps > 50
        }
    })?;
    assert!(odom.pose.pose.position.x < 11.75, "the wall holds: {odom:?}");
    Ok(())
}

#[test]
fn a_closed_door_is_a_wall_until_somebody_comes_near() -> Result<()> {
    let mut stage = Stage::new()?;
    let cast = Cast { doors: vec![("gate", [8.0, -1.0], [8.0, 1.0])], ..Cast::default() };
    let (_folder, scenario) = write(&robot(cast))?;
    let world = RobotWorld::of_scenario(&mut stage, "/arena/env_76", &scenario, &[])?;
    let porter = world.robot(&mut stage, "porter")?;
    let shut = beam(&world.scan(&mut stage, &porter)?, 0.0);
    assert!((f64::from(shut) - 8.0).abs() < 0.2, "the door is seen at {shut} m");
    stage.turn_until("an open door", |stage| {
        porter.put(pose(7.2, 0.0))?;
        let scan = world.scan(stage, &porter)?;
        Ok((beam(&scan, 0.0) == f32::INFINITY).then_some(()))
    })?;
    Ok(())
}

#[test]
fn a_new_episode_puts_the_robot_back_and_again() -> Result<()> {
    let mut stage = Stage::new()?;
    let cast = robot(Cast { people: vec![("anna".to_owned(), [4.0, 4.0])], ..Cast::default() });
    let environment = Environment::start_with(&mut stage, &cast, &[("sim", "world")])?;
    let world = RobotWorld::of_scenario(&mut stage, &environment.namespace, &environment.scenario, &[])?;
    let episodes = Episodes::open(&mut stage, &environment)?;
    episodes.record(&mut stage, 0, episodes::outcome::RUNNING)?;
    let porter = world.robot(&mut stage, "porter")?;
    for episode in 1..=2 {
        porter.drive_until(&mut stage, &world, [0.6, 0.0, 0.0], "some way", |odom| {
            odom.pose.pose.position.x > 0.5
        })?;
        // A command that is still under way would drive the robot of the next episode.
        porter
            .drive_until(&mut stage, &world, [0.0; 3], "a stop", |odom| odom.twist.twist.linear.x == 0.0)?;
        let reset = episodes.reset(&mut stage, "", 7 + i64::from(episode))?;
        assert_eq!(reset, "");
        let record = episodes.record(&mut stage, episode, episodes::outcome::RUNNING)?;
        assert_eq!(record.robots, ["porter"]);
        let back = stage.turn_until("the robot at its start", |stage| {
            let odom = world.advance(stage, &porter, DT)?;
            Ok((odom.pose.pose.position.x == 0.0).then_some(odom))
        });
        let odom = back.with_context(|| world.process.log())?;
        assert_eq!(odom.twist.twist.linear.x, 0.0, "at rest");
    }
    Ok(())
}

#[test]
fn a_plain_world_file_runs_with_its_own_behaviours_until_a_robot_is_commanded() -> Result<()> {
    let mut stage = Stage::new()?;
    let folder = TempDir::new()?;
    let file = folder.path().join("two.yaml");
    std::fs::write(
        &file,
        "world: {height: 10, width: 10, step_time: 0.02}\n\
         robot:\n\
         - {kinematics: {name: diff}, shape: {name: circle, radius: 0.2}, state: [1, 1, 0], goal: [8, 1, 0], behavior: {name: dash}, sensors: [{name: lidar2d, number: 90, range_max: 9}]}\n\
         obstacle:\n\
         - {shape: {name: circle, radius: 1.0}, state: [5, 5, 0]}\n",
    )?;
    let file = file.to_str().context("a plain path")?;
    let world = RobotWorld::start(&mut stage, "/arena/env_77", &[("world_file", file)])?;
    let robot = world.robot(&mut stage, "robot_0")?;
    let before = world.advance(&mut stage, &robot, 0.1)?;
    let after = world.advance(&mut stage, &robot, 1.0)?;
    let driven = after.pose.pose.position.x - before.pose.pose.position.x;
    assert!((driven - 1.0).abs() < 1e-6, "dash at 1 m/s: {driven} m");
    robot.drive_until(&mut stage, &world, [-0.5, 0.0, 0.0], "the commanded speed", |odom| {
        odom.twist.twist.linear.x == -0.5
    })?;
    Ok(())
}
