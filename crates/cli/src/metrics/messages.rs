//! The messages of a bag as values, by the names of their fields: definitions differ between versions, names hardly.

use promenade_human::message::Pose;
use promenade_hunav::metrics::Body;
use promenade_hunav::{BehaviorKind, Point};
use promenade_recording::cdr::DecodeError;
use promenade_recording::{Item, Schema};

type Read = Result<(), DecodeError>;

/// The three fields of a point or a vector, or the four of a quaternion; others are left as they are.
fn coordinates(item: &mut Item<'_, '_>, to: &mut [f64]) -> Read {
    item.fields(&mut |item| {
        let at = match item.name() {
            "x" => 0,
            "y" => 1,
            "z" => 2,
            "w" => 3,
            _ => return Ok(()),
        };
        if let Some(to) = to.get_mut(at) {
            *to = item.number()?;
        }
        Ok(())
    })
}

fn pose(item: &mut Item<'_, '_>, to: &mut Pose) -> Read {
    item.fields(&mut |item| match item.name() {
        "position" | "translation" => coordinates(item, &mut to.position),
        "orientation" | "rotation" => coordinates(item, &mut to.orientation),
        _ => Ok(()),
    })
}

/// Linear and angular velocity.
fn twist(item: &mut Item<'_, '_>, linear: &mut [f64; 3], angular: &mut [f64; 3]) -> Read {
    item.fields(&mut |item| match item.name() {
        "linear" => coordinates(item, linear),
        "angular" => coordinates(item, angular),
        _ => Ok(()),
    })
}

/// Nanoseconds of a stamp.
fn stamp(item: &mut Item<'_, '_>, to: &mut i64) -> Read {
    let (mut seconds, mut nanoseconds) = (0.0, 0.0);
    item.fields(&mut |item| {
        match item.name() {
            "sec" => seconds = item.number()?,
            "nanosec" => nanoseconds = item.number()?,
            _ => {}
        }
        Ok(())
    })?;
    *to = seconds as i64 * 1_000_000_000 + nanoseconds as i64;
    Ok(())
}

/// Stamp and frame of a header.
fn header(item: &mut Item<'_, '_>, at: &mut i64, frame: &mut String) -> Read {
    item.fields(&mut |item| match item.name() {
        "stamp" => stamp(item, at),
        "frame_id" => item.text(frame),
        _ => Ok(()),
    })
}

/// `hunav_msgs/Agent` of any version; `goals` are added.
fn agent(item: &mut Item<'_, '_>, body: &mut Body, goals: &mut Vec<Point>) -> Read {
    match item.name() {
        "id" => body.id = item.number()? as i32,
        "group_id" => body.group_id = item.number()? as i32,
        "position" => {
            let mut at = Pose::default();
            pose(item, &mut at)?;
            body.position = [at.position[0], at.position[1]];
        }
        "yaw" => body.yaw = item.number()?,
        "velocity" => {
            let (mut linear, mut angular) = ([0.0; 3], [0.0; 3]);
            twist(item, &mut linear, &mut angular)?;
            body.velocity = [linear[0], linear[1]];
        }
        "radius" => body.radius = item.number()?,
        "linear_vel" => body.linear_vel = item.number()?,
        "angular_vel" => body.angular_vel = item.number()?,
        "behavior" if !item.is_structure() => body.behavior = behavior(item.number()?),
        "behavior" => item.fields(&mut |item| {
            if item.name() == "type" {
                body.behavior = behavior(item.number()?);
            }
            Ok(())
        })?,
        "goals" => item.each(&mut |item| {
            let mut at = Pose::default();
            pose(item, &mut at)?;
            goals.push([at.position[0], at.position[1]]);
            Ok(())
        })?,
        "closest_obs" => item.each(&mut |item| {
            let mut at = [0.0; 3];
            coordinates(item, &mut at)?;
            body.closest_obs.push([at[0], at[1]]);
            Ok(())
        })?,
        _ => {}
    }
    Ok(())
}

fn behavior(number: f64) -> BehaviorKind {
    match number as u8 {
        2 => BehaviorKind::Impassive,
        3 => BehaviorKind::Surprised,
        4 => BehaviorKind::Scared,
        5 => BehaviorKind::Curious,
        6 => BehaviorKind::Threatening,
        _ => BehaviorKind::Regular,
    }
}

/// `hunav_msgs/Agents`: stamp and agents.
pub(super) fn agents(schema: &Schema, message: &[u8]) -> Result<(i64, Vec<Body>), DecodeError> {
    let (mut at, mut bodies, mut frame) = (0, Vec::new(), String::new());
    schema.decode(message, &mut |item| match item.name() {
        "header" => header(item, &mut at, &mut frame),
        "agents" => item.each(&mut |item| {
            let mut body = Body::default();
            item.fields(&mut |item| agent(item, &mut body, &mut Vec::new()))?;
            bodies.push(body);
            Ok(())
        }),
        _ => Ok(()),
    })?;
    Ok((at, bodies))
}

/// `hunav_msgs/Agent` on its own: the robot and its goals.
pub(super) fn robot(schema: &Schema, message: &[u8]) -> Result<(Body, Vec<Point>), DecodeError> {
    let (mut body, mut goals) = (Body::default(), Vec::new());
    schema.decode(message, &mut |item| agent(item, &mut body, &mut goals))?;
    Ok((body, goals))
}

/// `arena_people_msgs/Pedestrians`: stamp and people, all of one radius.
pub(super) fn people(schema: &Schema, message: &[u8], radius: f64) -> Result<(i64, Vec<Body>), DecodeError> {
    let (mut at, mut bodies, mut frame) = (0, Vec::new(), String::new());
    schema.decode(message, &mut |item| match item.name() {
        "header" => header(item, &mut at, &mut frame),
        "pedestrians" => item.each(&mut |item| {
            let mut body = Body { radius, ..Body::default() };
            let (mut place, mut linear, mut angular) = (Pose::default(), [0.0; 3], [0.0; 3]);
            item.fields(&mut |item| match item.name() {
                "id" => item.number().map(|id| body.id = id as u32 as i32),
                "pose" => pose(item, &mut place),
                "twist" => twist(item, &mut linear, &mut angular),
                _ => Ok(()),
            })?;
            body.position = [place.position[0], place.position[1]];
            body.yaw = place.yaw();
            body.velocity = [linear[0], linear[1]];
            body.linear_vel = linear[0].hypot(linear[1]);
            body.angular_vel = angular[2];
            bodies.push(body);
            Ok(())
        }),
        _ => Ok(()),
    })?;
    Ok((at, bodies))
}

/// `nav_msgs/Odometry`.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Odometry {
    pub(super) stamp_ns: i64,
    /// The frame that it is in.
    pub(super) frame: String,
    pub(super) pose: Pose,
    /// In the frame of the body: ahead, to the left, turning.
    pub(super) velocity: [f64; 3],
}

pub(super) fn odometry(schema: &Schema, message: &[u8]) -> Result<Odometry, DecodeError> {
    let mut found = Odometry::default();
    let (mut linear, mut angular) = ([0.0; 3], [0.0; 3]);
    schema.decode(message, &mut |item| match item.name() {
        "header" => header(item, &mut found.stamp_ns, &mut found.frame),
        "pose" => item.fields(&mut |item| match item.name() {
            "pose" => pose(item, &mut found.pose),
            _ => Ok(()),
        }),
        "twist" => item.fields(&mut |item| match item.name() {
            "twist" => twist(item, &mut linear, &mut angular),
            _ => Ok(()),
        }),
        _ => Ok(()),
    })?;
    found.velocity = [linear[0], linear[1], angular[2]];
    Ok(found)
}

/// A transform of `tf2_msgs/TFMessage`.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Transform {
    pub(super) stamp_ns: i64,
    pub(super) parent: String,
    pub(super) child: String,
    pub(super) pose: Pose,
}

pub(super) fn transforms(schema: &Schema, message: &[u8]) -> Result<Vec<Transform>, DecodeError> {
    let mut found = Vec::new();
    schema.decode(message, &mut |item| match item.name() {
        "transforms" => item.each(&mut |item| {
            let mut one = Transform::default();
            item.fields(&mut |item| match item.name() {
                "header" => header(item, &mut one.stamp_ns, &mut one.parent),
                "child_frame_id" => item.text(&mut one.child),
                "transform" => pose(item, &mut one.pose),
                _ => Ok(()),
            })?;
            found.push(one);
            Ok(())
        }),
        _ => Ok(()),
    })?;
    Ok(found)
}

/// The place of `geometry_msgs/PoseStamped`.
pub(super) fn goal(schema: &Schema, message: &[u8]) -> Result<Point, DecodeError> {
    let mut place = Pose::default();
    schema.decode(message, &mut |item| match item.name() {
        "pose" => pose(item, &mut place),
        _ => Ok(()),
    })?;
    Ok([place.position[0], place.position[1]])
}
