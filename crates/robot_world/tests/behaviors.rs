//! Behaviours as a file names them: those of a user, roles that are seen, walls, and groups that must not be wrong.

use std::path::Path;
use std::sync::Arc;

use promenade_robot_world::World;
use promenade_robot_world::behavior::{Behavior, Scratch};
use promenade_robot_world::file::ReadOptions;
use promenade_robot_world::kinematics::Command;
use promenade_robot_world::registry::{Argument, Entry, Kind, MakeBehavior, Parameter, Registry};
use promenade_robot_world::spec::WorldSpec;
use promenade_robot_world::world::{ObjectRef, Scene};

/// Turns on the spot.
#[derive(Debug)]
struct Spin {
    rate: f64,
}

impl Behavior for Spin {
    fn name(&self) -> &str {
        "spin"
    }

    fn command(&self, _scene: &Scene<'_>, _ego: usize, _scratch: &mut Scratch) -> Command {
        [0.0, self.rate, 0.0, 0.0]
    }
}

fn spin() -> Entry<MakeBehavior> {
    let rate = Parameter {
        name: "rate",
        kind: Kind::Number { min: 0.0, max: 1.0, above: true },
        default: Some(Argument::Number(0.5)),
    };
    Entry {
        name: "spin",
        kinematics: &["diff"],
        parameters: vec![rate],
        make: Arc::new(|arguments, _| Ok(Arc::new(Spin { rate: arguments.number("rate").unwrap_or(0.5) }))),
    }
}

fn read(text: &str, registry: &Registry) -> Result<WorldSpec, String> {
    WorldSpec::from_text(text, Path::new("w.yaml"), registry, &ReadOptions::default())
        .map(|loaded| loaded.value)
        .map_err(|report| report.to_string())
}

fn world(text: &str) -> World {
    let spec = read(text, &Registry::built_in()).unwrap_or_else(|problems| panic!("{problems}"));
    World::new(&spec, 0).expect("a world")
}

fn after(world: &mut World, steps: u32, name: &str) -> [f64; 3] {
    (0..steps).for_each(|_| world.step(&[]).expect("a step"));
    let row = world.row(ObjectRef::Name(name)).expect("known");
    let state = world.objects().state[row];
    [state[0], state[1], state[2]]
}

#[test]
fn a_behaviour_of_a_user_drives_from_a_file() {
    let mut registry = Registry::built_in();
    registry.register_behavior(spin()).expect("the name is free");
    let robot = |keys: &str| {
        format!(
            "robot: {{kinematics: {{name: diff}}, shape: {{name: circle}}, state: [1, 1, 0], behavior: {keys}}}\n"
        )
    };
    let spec = read(&robot("{name: spin, rate: 0.25}"), &registry).expect("it reads");
    let mut world = World::new(&spec, 0).expect("a world");
    let [x, y, heading] = after(&mut world, 10, "robot_0");
    assert!((heading - 0.25).abs() < 1e-12 && [x, y] == [1.0, 1.0], "{x} {y} {heading}");
    let taken = registry.register_behavior(spin()).expect_err("twice").to_string();
    assert!(taken.contains("spin"), "{taken}");
    let wrong = read(&robot("{name: spin, rate: 2}"), &registry).expect_err("too fast");
    assert!(wrong.contains("w.yaml:1:") && wrong.contains("robot.behavior.rate"), "{wrong}");
    let unknown = read(&robot("{name: spin, speed: 1}"), &registry).expect_err("no such key");
    assert!(unknown.contains("robot.behavior.speed") && unknown.contains("rate"), "{unknown}");
    let car = "robot: {kinematics: {name: acker}, shape: {name: circle}, behavior: {name: spin}}\n";
    let car = read(car, &registry).expect_err("not for cars");
    assert!(car.contains("\"spin\" is not available for \"acker\"; available: dash"), "{car}");
}

/// A robot that heads along x past a disc that stands in its way.
fn past_a_disc(keys: &str) -> World {
    world(&format!(
        "world: {{collision_mode: unobstructed}}\n\
         robot: {{kinematics: {{name: omni}}, shape: {{name: circle, radius: 0.2}}, state: [1, 5, 0], goal: [9, 5, 0], \
         behavior: {{name: rvo, {keys}}}}}\n\
         obstacle: {{shape: {{name: circle, radius: 0.5}}, state: [4, 5.1, 0]}}\n"
    ))
}

#[test]
fn a_behaviour_sees_only_the_roles_it_asks_for() {
    let [_, y, _] = after(&mut past_a_disc("target_roles: robot"), 30, "robot_0");
    assert!((y - 5.0).abs() < 1e-9, "nothing it sees is in the way: {y}");
    let mut world = past_a_disc("target_roles: obstacle");
    let away = |_| {
        let [x, y, _] = after(&mut world, 1, "robot_0");
        (x - 4.0).hypot(y - 5.1)
    };
    let least = (0..200).map(away).fold(f64::INFINITY, f64::min);
    let [x, ..] = after(&mut world, 1, "robot_0");
    assert!(least > 0.7 && x > 5.0, "it goes round: {least} m at least, now at {x}");
}

#[test]
fn edges_that_were_asked_for_are_walls() {
    let to_a_wall = |keys: &str| {
        let mut world = world(&format!(
            "world: {{collision_mode: unobstructed}}\n\
             robot: {{kinematics: {{name: omni}}, shape: {{name: circle, radius: 0.2}}, state: [1, 5, 0], goal: [9, 5, 0], \
             behavior: {{name: rvo, {keys}}}}}\n\
             obstacle: {{shape: {{name: rectangle, length: 0.2, width: 20}}, state: [3, 5, 0]}}\n"
        ));
        after(&mut world, 60, "robot_0")[0]
    };
    let [walled, blind] = [to_a_wall("obstacle_edges: true"), to_a_wall("target_roles: robot")];
    assert!(walled < 2.7 && blind > 6.0, "it does not drive into the wall it sees: {walled} {blind}");
}

#[test]
fn social_groups_name_each_member_once_and_only_members() {
    let group = |groups: &str| {
        let text = format!(
            "robot: [{{number: 3, kinematics: {{name: omni}}, shape: {{name: circle}}, distribution: {{name: circle}}, \
             group_behavior: {{name: sfm, social_groups: {groups}}}}}]\n"
        );
        read(&text, &Registry::built_in())
    };
    assert!(group("[[0, 1], [2]]").is_ok());
    for (wrong, word) in
        [("[[0, 1], [1, 2]]", "1"), ("[[0, 3]]", "3"), ("[[0, -1]]", "-1"), ("[0, 1]", "list")]
    {
        let message = group(wrong).expect_err(wrong);
        assert!(
            message.contains("robot[0].group_behavior.social_groups") && message.contains(word),
            "{message}"
        );
    }
}

#[test]
fn forces_need_times_and_lengths_above_zero() {
    for key in ["relaxation_time", "gamma", "sigma_obstacle"] {
        let text = format!(
            "robot: {{kinematics: {{name: omni}}, shape: {{name: circle}}, behavior: {{name: sfm, {key}: 0}}}}\n"
        );
        let message = read(&text, &Registry::built_in()).expect_err(key);
        assert!(message.contains(&format!("robot.behavior.{key}")), "{message}");
    }
}
