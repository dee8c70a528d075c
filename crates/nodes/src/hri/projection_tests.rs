use std::collections::BTreeSet;

use arena_people_msgs::msg::rmw::Pedestrian;
use promenade_gait::Joint;
use promenade_gait::rig::Rig;
use rosidl_runtime_rs::Sequence;
use sensor_msgs::msg::rmw::JointState;
use tf2_msgs::msg::rmw::TFMessage;
use visualization_msgs::msg::rmw::MarkerArray;

use super::*;
use crate::hri::outlet::Wants;

/// Writes down what happens.
#[derive(Default)]
struct Record {
    wants: Wants,
    body_wants: BodyWants,
    events: Vec<String>,
    joints: Vec<(u32, usize, Vec<f64>)>,
    frames: Vec<usize>,
}

impl Record {
    fn of_everything() -> Self {
        Record {
            wants: Wants { frames: true, markers: true },
            body_wants: BodyWants { joints: true, confidence: true, engagement: true, view: true },
            ..Record::default()
        }
    }

    fn take(&mut self) -> Vec<String> {
        std::mem::take(&mut self.events)
    }

    fn log(&mut self, event: String) {
        self.events.push(event);
    }
}

impl Outlet for Record {
    fn wants(&self) -> Wants {
        self.wants
    }
    fn body_wants(&self, _n: u32) -> BodyWants {
        self.body_wants
    }
    fn describe(&mut self, n: u32, _id: &str, _rig: &Rig) {
        self.log(format!("describe {n}"));
    }
    fn fixed_frames(&mut self, message: &TFMessage) {
        self.log(format!("fixed {}", message.transforms.len()));
    }
    fn introduce(&mut self, n: u32, _id: &str) {
        self.log(format!("introduce {n}"));
    }
    fn lists(&mut self, message: &IdsList) {
        let ids: Vec<String> = message.ids.iter().map(ToString::to_string).collect();
        self.log(format!("lists {}", ids.join(",")));
    }
    fn retire(&mut self, n: u32, _id: &str) {
        self.log(format!("retire {n}"));
    }
    fn joints(&mut self, n: u32, message: &JointState) {
        self.joints.push((n, message.name.len(), message.position.to_vec()));
        self.log(format!("joints {n}"));
    }
    fn confidence(&mut self, n: u32, value: f32) {
        self.log(format!("confidence {n} {value}"));
    }
    fn engagement(&mut self, n: u32, message: &EngagementLevel) {
        self.log(format!("engagement {n} {}", message.level));
    }
    fn view(&mut self, n: u32, _message: &FaceView) {
        self.log(format!("view {n}"));
    }
    fn frames(&mut self, message: &TFMessage) {
        self.frames.push(message.transforms.len());
        self.log(format!("frames {}", message.transforms.len()));
    }
    fn faces(&mut self, message: &TFMessage) {
        self.log(format!("faces {}", message.transforms.len()));
    }
    fn markers(&mut self, message: &MarkerArray) {
        self.log(format!("markers {}", message.markers.len()));
    }
}

fn walker(n: u32) -> Pedestrian {
    let mut walker = Pedestrian { id: n, animation_state: 1, name: "ann".into(), ..Pedestrian::default() };
    walker.twist.linear.x = 1.0;
    walker
}

fn posed(n: u32) -> Pedestrian {
    let mut posed = Pedestrian { id: n, ..Pedestrian::default() };
    posed.joint_state.name =
        Joint::NAMES.iter().map(|name| WireString::from(*name)).collect::<Vec<_>>().into();
    posed.joint_state.position = vec![0.25; 40].into();
    posed
}

fn message(seconds: f64, people: Vec<Pedestrian>) -> Pedestrians {
    let mut message = Pedestrians { pedestrians: Sequence::from(people), ..Pedestrians::default() };
    message.header.stamp = crate::bus::time_to_wire(Time::from_secs_f64(seconds));
    message
}

fn projection() -> Projection {
    Projection::new("/arena/env_0", Settings { tf_rate: 0.0, ..Settings::default() })
}

#[test]
fn appearing_and_vanishing_keep_the_order_that_clients_rely_on() {
    let mut projection = projection();
    let mut out = Record::of_everything();
    projection.step(&message(0.0, vec![walker(7)]), &mut out);
    assert_eq!(
        out.take(),
        [
            "describe 7",
            "fixed 2",
            "introduce 7",
            "lists env_0_agent_7",
            "joints 7",
            "confidence 7 1",
            "engagement 7 3",
            "view 7",
            "frames 45",
            "faces 2",
            "markers 30",
        ]
    );
    projection.step(&message(0.1, vec![walker(7)]), &mut out);
    assert_eq!(out.take(), ["joints 7", "confidence 7 1", "view 7", "frames 45", "faces 2", "markers 29"]);
    projection.step(&message(0.2, vec![]), &mut out);
    assert_eq!(out.take(), ["fixed 0", "lists ", "retire 7", "frames 0", "markers 29"]);
    projection.step(&message(0.3, vec![walker(7)]), &mut out);
    assert_eq!(out.take()[..4], ["describe 7", "fixed 2", "introduce 7", "lists env_0_agent_7"]);
}

#[test]
fn lists_are_sorted_and_an_empty_room_says_so() {
    let mut projection = projection();
    let mut out = Record::default();
    projection.step(&message(0.0, vec![]), &mut out);
    assert_eq!(out.take(), ["fixed 0", "lists "]);
    projection.step(&message(0.1, vec![walker(10), walker(9)]), &mut out);
    assert!(out.take().contains(&"lists env_0_agent_10,env_0_agent_9".to_owned()));
    projection.repeat_lists(&mut out);
    assert_eq!(out.take(), ["lists env_0_agent_10,env_0_agent_9"]);
}

#[test]
fn nobody_listens_and_nothing_but_changes_is_sent() {
    let mut projection = projection();
    let mut out = Record::default();
    projection.step(&message(0.0, vec![walker(1)]), &mut out);
    out.take();
    projection.step(&message(2.0, vec![walker(1)]), &mut out);
    assert!(out.take().is_empty());
    projection.step(&message(2.1, vec![posed(1)]), &mut out);
    assert_eq!(out.take(), ["engagement 1 1"]);
}

#[test]
fn people_with_and_without_joints_share_a_message() {
    let mut projection = projection();
    let mut out = Record::of_everything();
    projection.step(&message(0.0, vec![walker(1), posed(2)]), &mut out);
    let [(1, 40, walking), (2, 40, given)] = out.joints.as_slice() else { panic!("{:?}", out.joints) };
    assert_eq!(given[0], 0.25);
    assert!(walking.iter().any(|value| *value != 0.0));
}

#[test]
fn a_late_outlet_gets_what_is_latched() {
    let mut projection = projection();
    projection.step(&message(0.0, vec![walker(1), walker(2)]), &mut Record::default());
    let mut out = Record::default();
    projection.replay(&mut out);
    assert_eq!(
        out.take(),
        [
            "describe 1",
            "describe 2",
            "fixed 4",
            "introduce 1",
            "introduce 2",
            "lists env_0_agent_1,env_0_agent_2"
        ]
    );
}

#[test]
fn frames_keep_their_rate_on_average() {
    let mut pace = Pace::new(20.0);
    let sent = (0..300).filter(|tick| pace.is_due(Time::from_secs_f64(f64::from(*tick) / 30.0))).count();
    assert!((199..=201).contains(&sent), "{sent}");
    assert!(pace.is_due(Time::from_secs_f64(1.0)), "the clock went back");
    assert!(!pace.is_due(Time::from_secs_f64(1.01)));
    assert!(pace.is_due(Time::from_secs_f64(100.0)));
    let mut every = Pace::new(0.0);
    assert!((0..9).all(|_| every.is_due(Time::ZERO)));
}

#[test]
fn hostile_messages_do_no_harm() {
    let mut projection = projection();
    let mut out = Record::of_everything();
    for round in 0..4_u32 {
        let mut people: Vec<Pedestrian> = (0..20).map(|n| walker(n % 7)).collect();
        for (index, person) in people.iter_mut().enumerate() {
            let index = index as f64;
            person.pose.position.x = if index % 3.0 == 0.0 { f64::NAN } else { 1e308 };
            person.pose.orientation.w = f64::INFINITY;
            person.twist.linear.y = f64::NEG_INFINITY;
            person.animation_state = 255;
            person.name = "map".into();
            person.model_uri = format!("/no\u{0}where/{round}").as_str().into();
            person.joint_state.name = vec![WireString::from("\u{7f}/../x"); 3].into();
            person.joint_state.velocity = vec![f64::NAN; 3].into();
        }
        projection.step(&message(-f64::from(round), people), &mut out);
    }
    assert!(out.joints.iter().all(|(_, _, values)| values.iter().all(|value| value.is_finite())));
    let kinds: BTreeSet<String> =
        out.take().iter().map(|event| event.split(' ').next().unwrap_or_default().to_owned()).collect();
    assert!(kinds.contains("retire"));
}
