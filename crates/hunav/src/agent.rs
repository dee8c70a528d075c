//! An agent as clients and engine exchange it: the fields of `hunav_msgs/Agent` as plain values (HuNav specification, section 1).
//!
//! Units are metres, seconds and radians in one planar frame. These are values of a message; they must not hold state of the engine.

use crate::Point;

/// What an agent is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// A person.
    #[default]
    Person = 1,
    /// A robot.
    Robot = 2,
    /// Something else.
    Other = 3,
}

/// How an agent takes a robot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum BehaviorKind {
    /// As one more pedestrian.
    #[default]
    Regular = 1,
    /// As an obstacle.
    Impassive = 2,
    /// Stands and turns to it.
    Surprised = 3,
    /// Slows down and keeps away.
    Scared = 4,
    /// Leaves its way and walks up to it.
    Curious = 5,
    /// Walks in front of it.
    Threatening = 6,
}

/// Where the force factors of an agent come from (section 4.3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum Configuration {
    /// Fixed values.
    #[default]
    Default = 0,
    /// As written.
    Custom = 1,
    /// Drawn from normal distributions.
    RandomNormal = 2,
    /// Drawn from uniform distributions.
    RandomUniform = 3,
}

/// `hunav_msgs/AgentBehavior`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Behavior {
    /// Which of the six.
    pub kind: BehaviorKind,
    /// 0 = walks, 1 = reacts to the robot.
    pub state: u8,
    /// Where the factors come from.
    pub configuration: Configuration,
    /// Seconds of reaction.
    pub duration: f64,
    /// Whether the agent reacts once only.
    pub once: bool,
    /// Cruise speed of the reaction, m/s.
    pub vel: f64,
    /// Distance in metres; its meaning depends on the behaviour (section 6).
    pub dist: f64,
    /// Factor of the social force.
    pub social_force_factor: f64,
    /// Factor of the force to the goal.
    pub goal_force_factor: f64,
    /// Factor of the force of obstacles.
    pub obstacle_force_factor: f64,
    /// Extra push away from the robot.
    pub other_force_factor: f64,
}

impl Default for Behavior {
    /// The defaults of the loader (section 4.1).
    fn default() -> Self {
        Behavior {
            kind: BehaviorKind::Regular,
            state: 0,
            configuration: Configuration::Default,
            duration: 40.0,
            once: true,
            vel: 1.0,
            dist: 0.0,
            social_force_factor: 5.0,
            goal_force_factor: 2.0,
            obstacle_force_factor: 10.0,
            other_force_factor: 20.0,
        }
    }
}

/// `hunav_msgs/Agent`. [`Clone::clone_from`] uses again what is on the heap.
#[derive(Debug, PartialEq)]
pub struct Agent {
    /// Unique key.
    pub id: i32,
    /// What it is.
    pub kind: Kind,
    /// Mesh of the simulator's side; carried.
    pub skin: u8,
    /// Name of the simulator's entity.
    pub name: String,
    /// Walking group; -1 = none.
    pub group_id: i8,
    /// Position.
    pub position: Point,
    /// Height; carried for display.
    pub z: f64,
    /// Heading.
    pub yaw: f64,
    /// Velocity in the world, m/s.
    pub velocity: Point,
    /// Cruise speed and cap of the speed, m/s.
    pub desired_velocity: f64,
    /// Radius of the body's disc.
    pub radius: f64,
    /// Speed, m/s.
    pub linear_vel: f64,
    /// Turn rate, rad/s.
    pub angular_vel: f64,
    /// How it takes the robot.
    pub behavior: Behavior,
    /// File of its behaviour tree, a path or a name of the library; empty = by its behaviour.
    pub behavior_tree: String,
    /// Visited in order.
    pub goals: Vec<Point>,
    /// A reached goal goes to the end of the list.
    pub cyclic_goals: bool,
    /// Arrival distance of every goal.
    pub goal_radius: f64,
    /// Points of obstacles in the world.
    pub closest_obs: Vec<Point>,
}

impl Default for Agent {
    /// An agent as the force library makes one (section 7): 0.6 m/s, radius 0.35 m, no goal.
    fn default() -> Self {
        Agent {
            id: 0,
            kind: Kind::Person,
            skin: 0,
            name: String::new(),
            group_id: -1,
            position: [0.0; 2],
            z: 0.0,
            yaw: 0.0,
            velocity: [0.0; 2],
            desired_velocity: 0.6,
            radius: 0.35,
            linear_vel: 0.0,
            angular_vel: 0.0,
            behavior: Behavior::default(),
            behavior_tree: String::new(),
            goals: Vec::new(),
            cyclic_goals: false,
            goal_radius: 0.3,
            closest_obs: Vec::new(),
        }
    }
}

impl Clone for Agent {
    fn clone(&self) -> Self {
        let mut copy = Agent::default();
        copy.clone_from(self);
        copy
    }

    fn clone_from(&mut self, from: &Self) {
        let Agent { mut name, mut behavior_tree, mut goals, mut closest_obs, .. } = std::mem::take(self);
        name.clone_from(&from.name);
        behavior_tree.clone_from(&from.behavior_tree);
        goals.clone_from(&from.goals);
        closest_obs.clone_from(&from.closest_obs);
        *self = Agent { name, behavior_tree, goals, closest_obs, ..*from };
    }
}

/// The robot of a request, an agent whose goals, behaviour and obstacles nobody reads.
#[derive(Debug, PartialEq)]
pub struct Robot {
    /// Key; must differ from every agent's.
    pub id: i32,
    /// Name of the simulator's entity.
    pub name: String,
    /// Walking group; -1 = none.
    pub group_id: i8,
    /// Position.
    pub position: Point,
    /// Heading.
    pub yaw: f64,
    /// Velocity in the world, m/s.
    pub velocity: Point,
    /// Turn rate, rad/s.
    pub angular_vel: f64,
    /// Cruise speed, m/s.
    pub desired_velocity: f64,
    /// Radius of its disc.
    pub radius: f64,
}

impl Clone for Robot {
    fn clone(&self) -> Self {
        Robot { name: self.name.clone(), ..*self }
    }

    fn clone_from(&mut self, from: &Self) {
        let mut name = std::mem::take(&mut self.name);
        name.clone_from(&from.name);
        *self = Robot { name, ..*from };
    }
}

impl Robot {
    /// Where a robot is that nobody shall meet, both coordinates.
    pub const PARKED: f64 = 1e4;
}

impl Default for Robot {
    /// No robot: one that is parked.
    fn default() -> Self {
        Robot {
            id: 0,
            name: String::new(),
            group_id: -1,
            position: [Robot::PARKED; 2],
            yaw: 0.0,
            velocity: [0.0; 2],
            angular_vel: 0.0,
            desired_velocity: 0.0,
            radius: 0.3,
        }
    }
}
