//! A world file as data, checked and with defaults filled in, before anything random is drawn.
//!
//! What a file may say is decided where it is read (`file`); nothing here reads or draws.

use std::path::PathBuf;
use std::sync::Arc;

use promenade_scenario::problem::Position;

use crate::Point;
use crate::behavior::{Behavior, GroupBehaviorFactory};
use crate::kinematics::{Command, MAX_COMMAND, Model};
use crate::sensor::LidarSpec;
use crate::shape::Shape;

/// A whole file.
#[derive(Clone, Debug)]
pub struct WorldSpec {
    /// The `world` block.
    pub settings: Settings,
    /// Robots' groups, then obstacles' groups, in file order.
    pub groups: Vec<GroupSpec>,
    /// The map, already read or generated.
    pub map: Option<MapGrid>,
    /// Cell size of the fog, metres, when there is fog.
    pub fog: Option<f64>,
    /// `gui`, kept for front ends.
    pub gui: serde_json::Value,
    /// `custom`, kept unread.
    pub custom: serde_json::Value,
    /// `world.plot`, for drawing only.
    pub plot: serde_json::Value,
}

impl WorldSpec {
    /// A world with nothing in it.
    #[must_use]
    pub fn empty(settings: Settings) -> Self {
        let nothing = || serde_json::Value::Null;
        Self {
            settings,
            groups: Vec::new(),
            map: None,
            fog: None,
            gui: nothing(),
            custom: nothing(),
            plot: nothing(),
        }
    }
}

/// Numbers and modes of the `world` block.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// File name up to its first dot, unless given.
    pub name: String,
    /// Extent in x, metres.
    pub width: f64,
    /// Extent in y, metres.
    pub height: f64,
    /// Lower left corner.
    pub offset: Point,
    /// Seconds per step.
    pub step_time: f64,
    /// Steps per sample.
    pub sample_steps: u64,
    /// Who moves objects.
    pub step_mode: StepMode,
    /// Who gives robots commands.
    pub control_mode: ControlMode,
    /// What touching does.
    pub collision_mode: CollisionMode,
    /// m/s^2.
    pub gravity: f64,
    /// Default coefficient of every object, and the map's.
    pub friction: f64,
    /// Default restitution of every object, and the map's.
    pub restitution: f64,
    /// Label before the first step.
    pub status: String,
    /// Discs instead of 64-gons in overlap tests and scans.
    pub exact_circles: bool,
}

impl Default for Settings {
    /// What a file has that says nothing (section 2).
    fn default() -> Self {
        Self {
            name: "world".to_owned(),
            width: 10.0,
            height: 10.0,
            offset: [0.0; 2],
            step_time: 0.1,
            sample_steps: 1,
            step_mode: StepMode::Internal,
            control_mode: ControlMode::Auto,
            collision_mode: CollisionMode::Stop,
            gravity: 9.81,
            friction: 0.5,
            restitution: 0.0,
            status: "None".to_owned(),
            exact_circles: false,
        }
    }
}

/// Section 7.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepMode {
    /// The world moves objects.
    Internal,
    /// The caller does.
    External,
}

/// Section 2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ControlMode {
    /// Behaviours and commands from outside.
    Auto,
    /// The keyboard drives one robot.
    Keyboard,
}

/// Section 11.2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CollisionMode {
    /// Who touches stands still.
    Stop,
    /// Reported only.
    Reactive,
    /// Reported only.
    Unobstructed,
    /// Robots stop, obstacles do not.
    UnobstructedObstacles,
    /// Bodies push each other.
    Contact,
}

/// Which half of the file a group is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// `robot`.
    Robot,
    /// `obstacle`.
    Obstacle,
}

/// One mapping under `robot` or `obstacle`.
#[derive(Clone, Debug)]
pub struct GroupSpec {
    /// Group number.
    pub group: i64,
    /// Section the mapping stands in.
    pub role: Role,
    /// Its place in the file, for errors that appear only when it is placed.
    pub at: Position,
    /// Its path in the file, as in `robot[2]`.
    pub path: String,
    /// How starts and goals are chosen.
    pub distribution: Distribution,
    /// Whether a random start may overlap what is already placed.
    pub check_overlap: bool,
    /// Drives every member without a command.
    pub group_behavior: Option<Arc<dyn GroupBehaviorFactory>>,
    /// The objects, in order; their number is the group's `number`.
    pub objects: Vec<ObjectSpec>,
}

/// Section 3.2.
#[derive(Clone, Debug, PartialEq)]
pub enum Distribution {
    /// Starts and goals are those of the objects.
    Manual,
    /// Uniform, apart by a distance.
    Random {
        /// x, y, heading.
        low: [f64; 3],
        /// x, y, heading.
        high: [f64; 3],
        /// Metres between starts, and between goals.
        min_distance: f64,
    },
    /// On a circle, goals opposite.
    Circle {
        /// Metres.
        center: Point,
        /// Metres.
        radius: f64,
    },
}

/// A goal: x, y and, when given, a heading.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Goal {
    /// Metres.
    pub position: Point,
    /// Radians.
    pub heading: Option<f64>,
}

/// When a goal is reached.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ArriveMode {
    /// By distance.
    Position,
    /// By distance and heading together.
    State,
    /// By distance, and by heading to within this many radians.
    Pose {
        /// Largest error of the heading, radians.
        heading: f64,
    },
}

/// How goals are renewed (section 8.3).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Renewal {
    /// A new random goal after each.
    pub wander: bool,
    /// From the start again after the last.
    pub loops: bool,
    /// Range of random goals.
    pub low: [f64; 3],
    /// Range of random goals.
    pub high: [f64; 3],
}

/// A shape, or how to draw one (section 6).
#[derive(Clone, Debug)]
pub enum ShapeSpec {
    /// As given.
    Fixed(Arc<Shape>),
    /// A circle of random radius in a range.
    RandomCircle {
        /// Least and largest radius, metres.
        radius: [f64; 2],
        /// Centre in the body frame.
        center: Point,
        /// Distance of axles, metres.
        wheelbase: Option<f64>,
    },
    /// A random polygon or line.
    RandomPolygon {
        /// Whether it is a linestring.
        open: bool,
        /// xmin, ymin, xmax, ymax of the centre.
        center: [f64; 4],
        /// Range of the mean radius.
        avg_radius: [f64; 2],
        /// Range.
        irregularity: [f64; 2],
        /// Range.
        spikeyness: [f64; 2],
        /// Range of the number of vertices, upper end excluded.
        vertices: [u32; 2],
    },
}

/// One object.
#[derive(Clone, Debug)]
pub struct ObjectSpec {
    /// Name; `None` = `<role>_<id>`.
    pub name: Option<String>,
    /// Role as other objects' `target_roles` see it.
    pub role: Role,
    /// `<role>_<group>` unless given.
    pub group_name: String,
    /// How it moves; `None` = passive.
    pub model: Option<Arc<dyn Model>>,
    /// Numbers for noise on commands; `None` = without noise.
    pub noise: Option<Vec<f64>>,
    /// Its shape.
    pub shape: ShapeSpec,
    /// Start, padded or cut to the state size. With a random or circle distribution only what follows the heading counts.
    pub state: Vec<f64>,
    /// Initial velocity.
    pub velocity: Command,
    /// Goals in order; empty = none.
    pub goals: Vec<Goal>,
    /// Metres.
    pub goal_threshold: f64,
    /// When it has arrived.
    pub arrive_mode: ArriveMode,
    /// Least command.
    pub vel_min: Command,
    /// Largest command.
    pub vel_max: Command,
    /// Largest change of the command per second.
    pub acce: Command,
    /// Range of the heading, 2 pi wide: its lower end.
    pub angle_low: f64,
    /// Its own behaviour.
    pub behavior: Option<Arc<dyn Behavior>>,
    /// Renewal of goals, of its own behaviour or of its group's.
    pub renewal: Renewal,
    /// Scanners.
    pub sensors: Vec<LidarSpec>,
    /// Frozen whatever else it has.
    pub is_static: bool,
    /// kg.
    pub mass: f64,
    /// Coefficient.
    pub friction: f64,
    /// kg m^2; `None` = from shape and mass.
    pub inertia: Option<f64>,
    /// 0 to 1.
    pub restitution: f64,
    /// Drive lag, seconds.
    pub tau: f64,
    /// Nothing collides with it or sees it.
    pub unobstructed: bool,
    /// Full angle and radius of the field of view.
    pub fov: Option<[f64; 2]>,
    /// `color`, `description` and `plot`, for drawing only.
    pub drawing: Drawing,
}

impl ObjectSpec {
    /// A passive obstacle of infinite mass, which nothing moves, with what a file's obstacle has that says nothing else, and without a goal.
    #[must_use]
    pub fn fixed(shape: Arc<Shape>, pose: [f64; 3]) -> Self {
        let Settings { friction, restitution, .. } = Settings::default();
        Self {
            name: None,
            role: Role::Obstacle,
            group_name: String::new(),
            model: None,
            noise: None,
            shape: ShapeSpec::Fixed(shape),
            state: pose.to_vec(),
            velocity: [0.0; MAX_COMMAND],
            goals: Vec::new(),
            goal_threshold: 0.1,
            arrive_mode: ArriveMode::Position,
            vel_min: [-1.0; MAX_COMMAND],
            vel_max: [1.0; MAX_COMMAND],
            acce: [f64::INFINITY; MAX_COMMAND],
            angle_low: -std::f64::consts::PI,
            behavior: None,
            renewal: Renewal { wander: false, loops: false, low: [0.0; 3], high: [0.0; 3] },
            sensors: Vec::new(),
            is_static: true,
            mass: f64::INFINITY,
            friction,
            inertia: None,
            restitution,
            tau: 0.0,
            unobstructed: false,
            fov: None,
            drawing: Drawing::default(),
        }
    }
}

/// What only drawing looks at.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Drawing {
    /// Colour as written or as cycled.
    pub color: Option<String>,
    /// Picture.
    pub description: Option<String>,
    /// `plot`, shared by all objects of the mapping.
    pub plot: Arc<serde_json::Value>,
}

/// Occupancy of a map (section 14).
#[derive(Clone, Debug, PartialEq)]
pub struct MapGrid {
    /// Cells in x.
    pub columns: usize,
    /// Cells in y.
    pub rows: usize,
    /// Size of a cell in x and y, metres.
    pub cell: [f64; 2],
    /// Lower left corner.
    pub origin: Point,
    /// Values 0 to 100, row by row from the bottom; occupied above 50.
    pub values: Vec<f64>,
    /// The file it is from, if it is.
    pub source: Option<PathBuf>,
}
