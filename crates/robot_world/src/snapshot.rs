//! A world as one tree of plain values, copied out of it (robot-world specification, section 16).
//!
//! Field names are those of the message; nothing here changes the world.

use serde::Serialize;

use crate::objects::Objects;
use crate::sensor::{LidarSpec, Scan};
use crate::spec::Role;
use crate::world::World;

/// When and in which frame.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Header {
    /// Steps since the start or the last reset.
    pub seq: u64,
    /// Seconds since then.
    pub stamp: f64,
    /// Frame.
    pub frame_id: String,
}

/// x, y, z.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Vector3 {
    /// Along x.
    pub x: f64,
    /// Along y.
    pub y: f64,
    /// Upwards.
    pub z: f64,
}

/// A rotation.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Quaternion {
    /// Imaginary part.
    pub x: f64,
    /// Imaginary part.
    pub y: f64,
    /// Imaginary part.
    pub z: f64,
    /// Real part.
    pub w: f64,
}

/// A world after a step.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WorldState {
    /// Frame `world`.
    pub header: Header,
    /// The world's.
    pub name: String,
    /// What it is doing, in a word.
    pub status: String,
    /// Seconds.
    pub step_time: f64,
    /// In the order of their ids.
    pub objects: Vec<ObjectState>,
}

/// One object.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ObjectState {
    /// Frame `world`.
    pub header: Header,
    /// Id.
    pub id: u32,
    /// Name.
    pub name: String,
    /// `robot` or `obstacle`.
    pub role: &'static str,
    /// Name of the model; `None` for a passive object.
    pub kinematics: Option<String>,
    /// Name of the shape.
    pub shape: &'static str,
    /// Pose and twist.
    pub odom: Odom,
    /// The first scanner's.
    pub scan: Option<LaserScan>,
    /// All scanners'.
    pub scans: Vec<LaserScan>,
    /// Present goal as a column: x, y and, when it has one, a heading.
    pub goal: Option<Vec<[f64; 1]>>,
    /// Never moves.
    #[serde(rename = "static")]
    pub is_static: bool,
    /// Reached its last goal.
    pub arrive: bool,
    /// Overlaps something.
    pub collision: bool,
    /// What it overlaps.
    pub collision_ids: Vec<u32>,
    /// Net force of contacts, N.
    pub contact_force: Vector3,
    /// Seconds of the present contact.
    pub contact_time: f64,
    /// Seconds since the last contact.
    pub air_time: f64,
    /// Contacts of the last step.
    pub contacts: Vec<ContactState>,
}

/// `nav_msgs/Odometry`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Odom {
    /// Frame `world`.
    pub header: Header,
    /// `<name>/base_link`.
    pub child_frame_id: String,
    /// In the world.
    pub pose: PoseWithCovariance,
    /// In the body frame.
    pub twist: TwistWithCovariance,
}

/// `geometry_msgs/PoseWithCovariance`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PoseWithCovariance {
    /// The pose.
    pub pose: Pose,
    /// Zeros.
    #[serde(serialize_with = "all")]
    pub covariance: [f64; 36],
}

/// `geometry_msgs/Pose`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Pose {
    /// Metres.
    pub position: Vector3,
    /// About z.
    pub orientation: Quaternion,
}

/// `geometry_msgs/TwistWithCovariance`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TwistWithCovariance {
    /// The twist.
    pub twist: Twist,
    /// Zeros.
    #[serde(serialize_with = "all")]
    pub covariance: [f64; 36],
}

/// `geometry_msgs/Twist`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Twist {
    /// m/s.
    pub linear: Vector3,
    /// rad/s.
    pub angular: Vector3,
}

/// `sensor_msgs/LaserScan`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LaserScan {
    /// Frame `<name>/laser`, of further ones `<name>/laser_1` and so on.
    pub header: Header,
    /// Radians.
    pub angle_min: f64,
    /// Radians.
    pub angle_max: f64,
    /// Radians.
    pub angle_increment: f64,
    /// Seconds; all beams see the same instant.
    pub time_increment: f64,
    /// Seconds.
    pub scan_time: f64,
    /// Metres.
    pub range_min: f64,
    /// Metres.
    pub range_max: f64,
    /// Metres.
    pub ranges: Vec<f32>,
    /// None.
    pub intensities: Vec<f32>,
}

/// One contact, as one of its two objects sees it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ContactState {
    /// The other object.
    pub other_id: u32,
    /// Its name.
    pub other: String,
    /// Where.
    pub point: Vector3,
    /// From the other object to this one.
    pub normal: Vector3,
    /// Metres.
    pub depth: f64,
    /// N.
    pub force: f64,
}

/// How ranges say that a beam measured nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ranges {
    /// `range_max` for a miss, `range_min` for a return in the blind zone.
    #[default]
    Finite,
    /// Infinite for a miss, negative infinite for a return in the blind zone, as REP 117 wants them.
    Rep117,
}

impl World {
    /// The world as a tree of plain values.
    #[must_use]
    pub fn snapshot(&self, ranges: Ranges) -> WorldState {
        WorldState {
            header: self.header("world"),
            name: self.settings().name.clone(),
            status: self.status().to_owned(),
            step_time: self.settings().step_time,
            objects: (0..self.objects().len()).map(|row| self.object_state(row, ranges)).collect(),
        }
    }

    /// One object of a snapshot.
    #[must_use]
    pub fn object_state(&self, row: usize, ranges: Ranges) -> ObjectState {
        let objects = self.objects();
        let scanners = objects.sensors[row].iter().zip(&objects.scans[row]).enumerate();
        let scans: Vec<LaserScan> =
            scanners.map(|(number, (spec, scan))| self.laser_scan(row, number, spec, scan, ranges)).collect();
        let reading = &objects.contact[row];
        ObjectState {
            header: self.header("world"),
            id: objects.id[row],
            name: objects.name[row].to_string(),
            role: if objects.role[row] == Role::Robot { "robot" } else { "obstacle" },
            kinematics: objects.model[row].as_ref().map(|model| model.name().to_owned()),
            shape: objects.shape[row].kind.name(),
            odom: self.odom(row),
            scan: scans.first().cloned(),
            scans,
            goal: objects.goals[row]
                .front()
                .map(|goal| goal.position.into_iter().chain(goal.heading).map(|number| [number]).collect()),
            is_static: objects.is_static[row],
            arrive: objects.arrive[row],
            collision: objects.collision[row],
            collision_ids: objects.collisions[row].clone(),
            contact_force: flat(reading.force),
            contact_time: reading.contact_time,
            air_time: reading.air_time,
            contacts: self.contact_states(row),
        }
    }

    fn header(&self, frame: impl Into<String>) -> Header {
        Header { seq: self.count(), stamp: self.time(), frame_id: frame.into() }
    }

    fn odom(&self, row: usize) -> Odom {
        let objects = self.objects();
        let [x, y, heading, ..] = objects.state[row];
        let (sin, cos) = (heading / 2.0).sin_cos();
        let [forward, left, turn] = objects.body_twist(row);
        Odom {
            header: self.header("world"),
            child_frame_id: format!("{}/base_link", objects.name[row]),
            pose: PoseWithCovariance {
                pose: Pose {
                    position: flat([x, y]),
                    orientation: Quaternion { x: 0.0, y: 0.0, z: sin, w: cos },
                },
                covariance: [0.0; 36],
            },
            twist: TwistWithCovariance {
                twist: Twist { linear: flat([forward, left]), angular: Vector3 { x: 0.0, y: 0.0, z: turn } },
                covariance: [0.0; 36],
            },
        }
    }

    fn laser_scan(
        &self,
        row: usize,
        number: usize,
        spec: &LidarSpec,
        scan: &Scan,
        ranges: Ranges,
    ) -> LaserScan {
        let name = &self.objects().name[row];
        let frame = if number == 0 { format!("{name}/laser") } else { format!("{name}/laser_{number}") };
        LaserScan {
            header: self.header(frame),
            angle_min: spec.angle_min(),
            angle_max: spec.angle_max(),
            angle_increment: spec.angle_increment(),
            time_increment: 0.0,
            scan_time: spec.scan_time,
            range_min: spec.range_min,
            range_max: spec.range_max,
            ranges: match ranges {
                Ranges::Finite => scan.ranges.iter().map(|range| *range as f32).collect(),
                Ranges::Rep117 => scan.rep117(spec).map(|range| range as f32).collect(),
            },
            intensities: Vec::new(),
        }
    }

    fn contact_states(&self, row: usize) -> Vec<ContactState> {
        let objects = self.objects();
        let id = objects.id[row];
        let state = |report: crate::contact::Report| ContactState {
            other_id: report.other,
            other: objects.row(report.other).map_or_else(String::new, |row| objects.name[row].to_string()),
            point: flat(report.point),
            normal: flat(report.normal),
            depth: report.depth,
            force: report.force,
        };
        self.reports(id).map(state).collect()
    }
}

impl Objects {
    /// Body-frame twist of an object: forward and left in m/s, yaw rate in rad/s.
    #[must_use]
    pub fn body_twist(&self, row: usize) -> [f64; 3] {
        match &self.model[row] {
            Some(model) if !self.puppet[row] => model.body_twist(&self.state[row], &self.velocity[row]),
            _ => {
                let (sin, cos) = self.state[row][2].sin_cos();
                let [vx, vy, turn, _] = self.velocity[row];
                [vx * cos + vy * sin, vy * cos - vx * sin, turn]
            }
        }
    }
}

fn flat([x, y]: [f64; 2]) -> Vector3 {
    Vector3 { x, y, z: 0.0 }
}

/// An array longer than those that can be written by themselves.
fn all<S: serde::Serializer>(numbers: &[f64; 36], serializer: S) -> Result<S::Ok, S::Error> {
    numbers.as_slice().serialize(serializer)
}
