//! What the manager publishes while it answers (HuNav specification, section 2): the request, and the forces.

use anyhow::Result;
use geometry_msgs::msg::rmw::{Point, TransformStamped, Vector3};
use hunav_msgs::msg::rmw::{Agent as WireAgent, Agents as WireAgents};
use people_msgs::msg::rmw::{People, Person};
use promenade_human::MAP_FRAME;
use promenade_hunav::{Agent, Robot, World};
use rclrs::{IntoPrimitiveOptions, MessageCow, Node, Publisher};
use rosidl_runtime_rs::Message;
use std_msgs::msg::rmw::Header;
use tf2_msgs::msg::rmw::TFMessage;
use visualization_msgs::msg::rmw::MarkerArray;

use super::forces;
use super::settings::Settings;
use crate::bus::{resize, set_string};
use crate::hunav::wire::quaternion;

/// See the module. What is `None` is not published.
pub(super) struct Topics {
    human_states: Publisher<WireAgents>,
    robot_states: Publisher<WireAgent>,
    people: Option<(Publisher<People>, People)>,
    forces: Option<(Publisher<MarkerArray>, MarkerArray)>,
    tf: Option<(Publisher<TFMessage>, TFMessage)>,
}

impl Topics {
    /// # Errors
    /// A failure of ROS.
    pub(super) fn open(node: &Node, settings: &Settings) -> Result<Self> {
        fn open<T: Message + Default>(
            node: &Node,
            is_on: bool,
            name: &str,
            depth: u32,
        ) -> Result<Option<(Publisher<T>, T)>> {
            if !is_on {
                return Ok(None);
            }
            let publisher = node.create_publisher(name.keep_last(depth).reliable().volatile())?;
            Ok(Some((publisher, T::default())))
        }
        Ok(Topics {
            human_states: node.create_publisher("human_states".keep_last(1).reliable().volatile())?,
            robot_states: node.create_publisher("robot_states".keep_last(1).reliable().volatile())?,
            people: open(node, settings.publish_people, "people", 1)?,
            forces: open(node, settings.publish_forces, "sfm_forces", 5)?,
            tf: open(node, settings.publish_tf, "/tf", 100)?,
        })
    }

    /// The request of a call, as it came and as it was read.
    pub(super) fn publish_request(
        &mut self,
        agents: &WireAgents,
        robot: &WireAgent,
        people: &[Agent],
        machine: &Robot,
    ) {
        publish(&self.human_states, agents, "human_states");
        publish(&self.robot_states, robot, "robot_states");
        if let Some((publisher, message)) = &mut self.people {
            message.header = agents.header.clone();
            resize(&mut message.people, people.len());
            people.iter().zip(message.people.iter_mut()).for_each(|(from, to)| write_person(from, to));
            publish(publisher, &*message, "people");
        }
        if let Some((publisher, message)) = &mut self.tf {
            write_frames(&agents.header, people, machine, message);
            publish(publisher, &*message, "/tf");
        }
    }

    /// The forces of a call.
    pub(super) fn publish_forces(&mut self, header: &Header, world: &World) {
        if let Some((publisher, message)) = &mut self.forces {
            forces::write(header, world, message);
            publish(publisher, &*message, "sfm_forces");
        }
    }
}

fn publish<'a, T: Message>(publisher: &Publisher<T>, message: impl MessageCow<'a, T>, name: &str) {
    if let Err(error) = publisher.publish(message) {
        tracing::error!("{name}: {error}");
    }
}

fn write_person(from: &Agent, to: &mut Person) {
    set_string(&mut to.name, &from.name);
    let [x, y] = from.position;
    to.position = Point { x, y, z: from.yaw };
    let (sin, cos) = from.yaw.sin_cos();
    to.velocity = Point { x: from.linear_vel * cos, y: from.linear_vel * sin, z: from.angular_vel };
    to.reliability = 1.0;
    let tags = [
        ("id", i64::from(from.id)),
        ("group_id", i64::from(from.group_id)),
        ("behavior", from.behavior.kind as i64),
    ];
    resize(&mut to.tagnames, tags.len());
    resize(&mut to.tags, tags.len());
    for (at, (name, value)) in tags.into_iter().enumerate() {
        set_string(&mut to.tagnames[at], name);
        set_string(&mut to.tags[at], &value.to_string());
    }
}

/// A frame per agent and one of the robot, child = name; who has no name or no place gets none.
fn write_frames(header: &Header, agents: &[Agent], robot: &Robot, to: &mut TFMessage) {
    let bodies = agents
        .iter()
        .map(|agent| (&*agent.name, agent.position, agent.yaw))
        .chain([(&*robot.name, robot.position, robot.yaw)])
        .filter(|(name, place, _)| !name.is_empty() && place.iter().all(|v| v.is_finite()));
    resize(&mut to.transforms, bodies.clone().count());
    for ((name, [x, y], yaw), to) in bodies.zip(to.transforms.iter_mut()) {
        let TransformStamped { header: of, child_frame_id, transform } = to;
        write_header(header, of);
        set_string(child_frame_id, name);
        transform.translation = Vector3 { x, y, z: 0.0 };
        transform.rotation = quaternion(yaw);
    }
}

/// The header of a request; one without a frame is in the map.
pub(super) fn write_header(from: &Header, to: &mut Header) {
    *to = from.clone();
    if to.frame_id.is_empty() {
        set_string(&mut to.frame_id, MAP_FRAME);
    }
}

#[cfg(test)]
mod tests {
    use std::f64::consts::FRAC_PI_2;

    use promenade_hunav::{Behavior, BehaviorKind};

    use super::*;

    fn anna() -> Agent {
        Agent {
            id: 3,
            name: "anna".to_owned(),
            position: [1.0, 2.0],
            yaw: FRAC_PI_2,
            linear_vel: 0.5,
            angular_vel: 0.25,
            behavior: Behavior { kind: BehaviorKind::Curious, ..Behavior::default() },
            ..Agent::default()
        }
    }

    #[test]
    fn a_person_has_the_heading_as_height_and_three_tags() {
        let mut person = Person::default();
        write_person(&anna(), &mut person);
        let Point { x, y, z } = person.position;
        assert_eq!([x, y, z], [1.0, 2.0, FRAC_PI_2]);
        assert!(person.velocity.x.abs() < 1e-12 && (person.velocity.y - 0.5).abs() < 1e-12);
        assert_eq!((person.velocity.z, person.reliability), (0.25, 1.0));
        let tags: Vec<_> =
            person.tagnames.iter().zip(person.tags.iter()).map(|(k, v)| format!("{k}={v}")).collect();
        assert_eq!(tags, ["id=3", "group_id=-1", "behavior=5"]);
    }

    #[test]
    fn who_has_no_name_or_no_place_gets_no_frame() {
        let lost = Agent { position: [f64::NAN, 0.0], ..anna() };
        let robot = Robot { name: "jackal".to_owned(), ..Robot::default() };
        let mut message = TFMessage::default();
        write_frames(&Header::default(), &[Agent::default(), lost, anna()], &robot, &mut message);
        let frames: Vec<_> = message
            .transforms
            .iter()
            .map(|frame| format!("{}/{}", frame.header.frame_id, frame.child_frame_id))
            .collect();
        assert_eq!(frames, ["map/anna", "map/jackal"]);
    }
}
