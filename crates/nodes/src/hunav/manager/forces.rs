//! The forces on agents as arrows, and what they are called (HuNav specification, section 2).

use geometry_msgs::msg::rmw::{Pose, Vector3};
use promenade_hunav::{Agent, BehaviorKind, Point, World};
use std_msgs::msg::rmw::{ColorRGBA, Header};
use visualization_msgs::msg::rmw::{Marker, MarkerArray};

use super::topics::write_header;
use crate::bus::{resize, set_string};
use crate::hunav::wire;

const ARROW: i32 = 0;
const TEXT: i32 = 9;
const ADD: i32 = 0;
const DELETE: i32 = 2;

/// Below this an arrow is taken away.
const LEAST: f64 = 1e-4;
const THICKNESS: f64 = 0.1;
/// Height of letters and how high they stand, m.
const LETTERS: f64 = 0.5;
const LETTERS_AT: f64 = 1.0;
/// Seconds after which a marker is gone.
const LIFETIME: i32 = 1;

const RED: [f32; 4] = [1.0, 0.0, 0.0, 1.0];
const BLUE: [f32; 4] = [0.0, 0.0, 1.0, 1.0];
const GREEN: [f32; 4] = [0.0, 1.0, 0.0, 1.0];
const WHITE: [f32; 4] = [1.0, 1.0, 1.0, 1.0];

/// Markers of an agent.
const EACH: usize = 5;

/// Writes the forces of everybody.
pub(super) fn write(header: &Header, world: &World, to: &mut MarkerArray) {
    resize(&mut to.markers, EACH * world.len());
    let mut agent = Agent::default();
    for (row, markers) in to.markers.chunks_mut(EACH).enumerate() {
        world.agent_into(row, &mut agent);
        let forces = world.forces(row);
        let arrows =
            [(forces.obstacle, RED), (forces.social, BLUE), (forces.goal, GREEN), (forces.total, WHITE)];
        let namespace = format!("{}/robot_forces", agent.name);
        for ((number, (force, color)), marker) in (1..).zip(arrows).zip(markers.iter_mut()) {
            let place = wire::pose(agent.position, 0.0, force[1].atan2(force[0]));
            begin(marker, header, &namespace, agent.id.wrapping_add(number), place);
            arrow(marker, force, color);
        }
        let text = &mut markers[EACH - 1];
        let place = wire::pose(agent.position, LETTERS_AT, 0.0);
        begin(text, header, &format!("{}/behavior", agent.name), agent.id, place);
        (text.type_, text.action, text.color) = (TEXT, ADD, color(WHITE));
        text.scale = Vector3 { x: 0.0, y: 0.0, z: LETTERS };
        set_string(&mut text.text, &format!("{}/{}", agent.name, word(agent.behavior.kind)));
    }
}

fn begin(marker: &mut Marker, header: &Header, namespace: &str, id: i32, pose: Pose) {
    write_header(header, &mut marker.header);
    set_string(&mut marker.ns, namespace);
    (marker.id, marker.pose) = (id, pose);
    marker.lifetime.sec = LIFETIME;
}

fn arrow(marker: &mut Marker, force: Point, of: [f32; 4]) {
    let modulus = force[0].hypot(force[1]);
    let is_there = modulus.is_finite() && modulus >= LEAST;
    (marker.type_, marker.action) = (ARROW, if is_there { ADD } else { DELETE });
    marker.scale = Vector3 { x: if is_there { modulus } else { LEAST }, y: THICKNESS, z: THICKNESS };
    marker.color = color(of);
}

fn color([r, g, b, a]: [f32; 4]) -> ColorRGBA {
    ColorRGBA { r, g, b, a }
}

fn word(kind: BehaviorKind) -> &'static str {
    match kind {
        BehaviorKind::Regular => "REGULAR",
        BehaviorKind::Impassive => "IMPASSIVE",
        BehaviorKind::Surprised => "SURPRISED",
        BehaviorKind::Scared => "SCARED",
        BehaviorKind::Curious => "CURIOUS",
        BehaviorKind::Threatening => "THREATENING",
    }
}

#[cfg(test)]
mod tests {
    use promenade_hunav::{Options, Robot};

    use super::*;

    #[test]
    fn an_agent_has_four_arrows_and_its_behaviour_and_weak_forces_are_deleted() {
        let mut world = World::new(Options::default());
        let agent = Agent { id: 7, name: "anna".to_owned(), goals: vec![[5.0, 0.0]], ..Agent::default() };
        world.reset(&[agent], &Robot::default());
        world.compute(0.1);
        let mut message = MarkerArray::default();
        write(&Header::default(), &world, &mut message);
        let seen: Vec<_> =
            message.markers.iter().map(|m| (m.ns.to_string(), m.id, m.type_, m.action)).collect();
        let forces = || "anna/robot_forces".to_owned();
        assert_eq!(
            seen,
            [
                (forces(), 8, ARROW, DELETE),
                (forces(), 9, ARROW, DELETE),
                (forces(), 10, ARROW, ADD),
                (forces(), 11, ARROW, ADD),
                ("anna/behavior".to_owned(), 7, TEXT, ADD),
            ]
        );
        assert_eq!(message.markers[4].text.to_string(), "anna/REGULAR");
        assert_eq!(message.markers[2].header.frame_id.to_string(), "map");
    }
}
