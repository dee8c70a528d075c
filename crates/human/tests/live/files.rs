//! Worlds as people wrote them.

use std::f64::consts::PI;
use std::path::{Path, PathBuf};
use std::time::Duration;

use promenade_human::live::{
    DriveLimits, FieldValue, LiveOptions, LiveWorld, RobotDriver, RobotTask, TaskEvent,
};
use promenade_kernel::Time;
use promenade_scenario::{Scenario, World};

use crate::stage::{person, phase, robot, run};

fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

fn load(world: &str, of: &str) -> (World, Scenario) {
    let root = repository(world);
    let world = World::load(&root).unwrap_or_else(|report| panic!("{report}")).value;
    let file = root.join("scenarios").join(of).join("scenario.yaml");
    (world, Scenario::load(&file).unwrap_or_else(|report| panic!("{report}")).value)
}

fn live(world: &str, of: &str) -> LiveWorld {
    let (world, of) = load(world, of);
    LiveWorld::new(&world, &of, [0.0; 2], LiveOptions::default())
}

#[test]
fn the_fire_alarm_of_the_hospital_rings_after_twelve_seconds() {
    let mut live = live("tests/scenarios/hospital", "fire_alarm");
    assert!(live.problems().is_empty(), "{:?}", live.problems());
    let told = run(&mut live, 0.0, 15.0, &[]);
    let doors = live.doors().count();
    assert!(doors >= 13, "{doors}");
    assert_eq!(told.iter().filter(|(at, what)| *at == 0.0 && what.starts_with('-')).count(), doors);
    assert_eq!(told[doors..], [(12.0, "!alarm".to_owned())]);
    assert!(live.regime("alarm"));
    assert_eq!(live.field("fire_alarm", "active"), Some(FieldValue::Bool(true)));
}

#[test]
fn the_doors_of_the_hospital_open_for_whoever_comes() {
    let mut live = live("tests/scenarios/hospital", "flow");
    let told = run(&mut live, 0.0, 5.0, &[person("ped_3", 8.6, 27.6), robot("robot_0", 8.8, 2.5)]);
    let opened: Vec<&str> = told.iter().filter_map(|(_, what)| what.strip_prefix('+')).collect();
    assert!(opened.contains(&"pharmacy_door") && opened.contains(&"reception_door"), "{opened:?}");
    assert_eq!(phase(&live, "or_door").as_str(), "closed");
}

#[test]
fn the_zones_of_the_hospital_slow_people_down() {
    let live = live("tests/scenarios/hospital", "flow");
    assert_eq!(live.speed_limit([6.0, 2.0]), 1.0, "reception");
    assert_eq!(live.speed_limit([4.0, 27.0]), f64::INFINITY, "pharmacy");
    assert_eq!(live.field("pharmacy", "restricted"), Some(FieldValue::Bool(true)));
}

#[test]
fn every_scenario_of_the_hospital_has_a_task_for_its_robots() {
    for of in ["flow", "fire_alarm", "corridor_crowd"] {
        let (world, scenario) = load("tests/scenarios/hospital", of);
        let mut live = LiveWorld::new(&world, &scenario, [0.0; 2], LiveOptions::default());
        assert!(live.problems().is_empty(), "{of}: {:?}", live.problems());
        for robot in &scenario.robots {
            let mut task = RobotTask::new(robot, &live);
            live.step(crate::stage::at(0.0), []);
            let goal = task.step(crate::stage::at(0.0), [-100.0, -100.0, 0.0], &live);
            assert_eq!(goal.is_some(), !robot.phases.is_empty(), "{of}");
        }
    }
}

#[test]
fn the_courier_of_the_clinic_delivers_and_leaves_when_the_alarm_sounds() {
    let (world, scenario) = load("configs/worlds/clinic", "fire_drill");
    let mut live = LiveWorld::new(&world, &scenario, [0.0; 2], LiveOptions::default());
    assert!(live.problems().is_empty(), "{:?}", live.problems());
    let mut task = RobotTask::new(&scenario.robots[0], &live);
    let mut courier = RobotDriver::new("courier", None, [30.0, 1.5, PI], DriveLimits::default());
    let mut told: Vec<(f64, String)> = Vec::new();
    for tick in 0..2_400_i64 {
        let seconds = tick as f64 * 0.05;
        let now = Time::from_nanos(tick * 50_000_000);
        let [x, y, _] = courier.pose();
        let nurse = person("nurse_1", 17.75 + 1.75 * (seconds / 4.0).sin(), -2.0);
        let effects = live.step(now, [robot("courier", x, y), nurse]);
        told.extend(crate::stage::told(effects).into_iter().map(|effect| (seconds, effect)));
        let goal = task.step(now, courier.pose(), &live);
        for event in task.events() {
            let text = match event {
                TaskEvent::PhaseMet { phase } => format!("met {phase}"),
                TaskEvent::TaskDone { completed } => format!("done {completed}"),
                TaskEvent::PhaseStarted { .. } => continue,
                other => panic!("{seconds}: {other:?}"),
            };
            told.push((seconds, text));
        }
        courier.step(Duration::from_millis(50), goal, &live);
    }
    let when = |wanted: &str| {
        told.iter().find(|(_, what)| what == wanted).unwrap_or_else(|| panic!("{wanted}: {told:?}")).0
    };
    let in_order = ["met 0", "+ward_door_2", "met 2", "met 4", "!fire", "+emergency_exit", "done true"];
    let times = in_order.map(when);
    assert!(times.is_sorted(), "{times:?}");
    assert_eq!(when("!fire"), 60.0);
    assert_eq!(when("patient_1!fear"), 60.0);
    assert!(!told.iter().any(|(_, what)| what == "+pharmacy_door"), "it has no key: {told:?}");
    assert_eq!(live.field("x_ray_light", "phase"), Some(FieldValue::Text("free")), "recalled");
    assert_eq!(phase(&live, "store_door").as_str(), "open", "its plate is pressed by the alarm");
    assert_eq!(live.field("x_ray_door", "locked"), Some(FieldValue::Bool(false)));
}

#[test]
fn no_scenario_of_the_clinic_sets_what_is_not_there() {
    for of in ["empty", "corridor_crowd", "waiting_room", "fire_drill"] {
        let live = live("configs/worlds/clinic", of);
        assert!(live.problems().is_empty(), "{of}: {:?}", live.problems());
    }
}
