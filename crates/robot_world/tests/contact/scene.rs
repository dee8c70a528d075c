//! Small worlds in contact mode, made by hand.

use std::sync::Arc;

use promenade_robot_world::World;
use promenade_robot_world::registry::{Arguments, Registry};
use promenade_robot_world::shape::Shape;
use promenade_robot_world::spec::{
    CollisionMode, Distribution, GroupSpec, ObjectSpec, Role, Settings, WorldSpec,
};
use promenade_robot_world::world::ObjectRef;
use promenade_scenario::problem::Position;

pub(crate) const DT: f64 = 0.1;
pub(crate) const GRAVITY: f64 = 9.81;

pub(crate) fn disc(radius: f64) -> Shape {
    Shape::circle(radius, [0.0; 2], None).expect("a disc")
}

pub(crate) fn block(length: f64, width: f64) -> Shape {
    Shape::rectangle(length, width, None).expect("a rectangle")
}

/// A passive object: a wall, unless it is given a mass.
pub(crate) fn thing(name: &str, shape: Shape, state: [f64; 3]) -> ObjectSpec {
    let spec = ObjectSpec::fixed(Arc::new(shape), state);
    ObjectSpec { name: Some(name.to_owned()), is_static: false, ..spec }
}

/// A robot of 1 kg and up to 1 m/s and 1 rad/s.
pub(crate) fn robot(name: &str, kinematics: &str, shape: Shape, state: [f64; 3]) -> ObjectSpec {
    let registry = Registry::built_in();
    let entry = registry.model(kinematics).expect("a known model");
    let model = (entry.make)(&Arguments::default(), None).expect("no arguments are needed");
    ObjectSpec {
        role: Role::Robot,
        model: Some(model),
        vel_min: [-1.0; 4],
        vel_max: [1.0; 4],
        mass: 1.0,
        ..thing(name, shape, state)
    }
}

pub(crate) fn spec(robots: Vec<ObjectSpec>, things: Vec<ObjectSpec>) -> WorldSpec {
    let group = |number, role, objects| GroupSpec {
        group: number,
        role,
        at: Position::START,
        path: String::new(),
        distribution: Distribution::Manual,
        check_overlap: false,
        group_behavior: None,
        objects,
    };
    let settings = Settings {
        name: "contact".to_owned(),
        step_time: DT,
        collision_mode: CollisionMode::Contact,
        gravity: GRAVITY,
        ..Settings::default()
    };
    WorldSpec {
        groups: vec![group(0, Role::Robot, robots), group(1, Role::Obstacle, things)],
        ..WorldSpec::empty(settings)
    }
}

/// A world whose robots get the same command in every step.
pub(crate) struct Scene {
    pub(crate) world: World,
    pub(crate) commands: Vec<(String, Vec<f64>)>,
}

impl Scene {
    pub(crate) fn new(robots: Vec<(ObjectSpec, &[f64])>, things: Vec<ObjectSpec>) -> Self {
        let commands = robots
            .iter()
            .map(|(robot, command)| (robot.name.clone().expect("a name"), command.to_vec()))
            .collect();
        let robots = robots.into_iter().map(|(robot, _)| robot).collect();
        Self { world: World::new(&spec(robots, things), 1).expect("a world"), commands }
    }

    pub(crate) fn step(&mut self) {
        let commands: Vec<(ObjectRef<'_>, &[f64])> =
            self.commands.iter().map(|(name, command)| (ObjectRef::Name(name), command.as_slice())).collect();
        self.world.step(&commands).expect("commands hold");
    }

    pub(crate) fn run(&mut self, steps: usize) {
        (0..steps).for_each(|_| self.step());
    }

    fn row(&self, name: &str) -> usize {
        self.world.row(ObjectRef::Name(name)).expect("a known name")
    }

    pub(crate) fn state(&self, name: &str) -> [f64; 3] {
        let [x, y, heading, ..] = self.world.objects().state[self.row(name)];
        [x, y, heading]
    }

    pub(crate) fn velocity(&self, name: &str) -> [f64; 2] {
        self.world.objects().velocity_xy[self.row(name)]
    }

    pub(crate) fn reading(&self, name: &str) -> promenade_robot_world::contact::Reading {
        self.world.objects().contact[self.row(name)]
    }

    pub(crate) fn id(&self, name: &str) -> u32 {
        self.world.find(name).expect("a known name")
    }

    /// Force of the contact of two objects; `None` when they do not touch.
    pub(crate) fn force(&self, a: &str, b: &str) -> Option<f64> {
        let (a, b) = (self.id(a), self.id(b));
        self.world.reports(a).find(|report| report.other == b).map(|report| report.force)
    }
}

pub(crate) fn near(found: f64, expected: f64, tolerance: f64) {
    assert!((found - expected).abs() <= tolerance, "found {found}, expected {expected} within {tolerance}");
}
