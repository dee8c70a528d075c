//! Walls, things and robots around the people (HuNav specification, sections 8.3 and 8.4).

use std::cell::RefCell;
use std::path::Path;
use std::rc::Rc;

use promenade_human::backends::hunav::HunavSettings;
use promenade_human::entity::{Door, StaticObstacle, Wall};
use promenade_human::known::ObstacleLayer;
use promenade_human::message::Pose;
use promenade_human::outbox::MarkerTopic;
use promenade_human::{HumanModels, Robot, Transforms};
use promenade_hunav::Robot as Sent;
use promenade_kernel::Time;
use promenade_scenario::Annotation;

use super::{Play, one_metre_on, people};
use crate::stage::thing;

fn wall(start: [f64; 2], end: [f64; 2]) -> Wall {
    Wall { start, end }
}

/// Points that the only person, at (10, -5), is told of.
fn points(play: &mut Play) -> Vec<[f64; 2]> {
    play.spawn(&people(&["name: ann, pose: [0, 0, 0]"])).answers(one_metre_on);
    play.stage.tick_at(10.1);
    play.asked()[0].closest_obs.clone()
}

#[test]
fn walls_are_points_within_reach_and_the_nearest_of_them() {
    let long = [wall([0.0, -4.0], [20.0, -4.0]), wall([10.0, 1.0], [12.0, 1.0])];
    let told_of = |range, most| {
        let settings =
            HunavSettings { obstacle_range: range, obstacle_max: most, ..HunavSettings::default() };
        let mut play = Play::with(settings);
        play.stage.layer.spawn_world(&long, &[], &[]);
        points(&mut play)
    };
    let all = told_of(0.0, 0);
    assert_eq!(all.len(), 101 + 11);
    let near = told_of(4.0, 32);
    assert_eq!(near.len(), 32);
    assert!((near[0][0] - 10.0).abs() < 1e-9 && near[0][1] == -4.0, "nearest first: {:?}", near[0]);
    let reach =
        |points: &[[f64; 2]]| points.iter().map(|[x, y]| (x - 10.0).hypot(y + 5.0)).fold(0.0, f64::max);
    assert!(reach(&near) <= 3.4, "{}", reach(&near));
    let within = told_of(4.0, 0);
    assert!(within.len() > 32 && reach(&within) <= 4.0);
}

#[test]
fn a_closed_door_is_a_wall_until_it_opens() {
    let mut play = Play::new();
    let door = Door { name: "exit".to_owned(), line: wall([9.5, -4.0], [10.5, -4.0]) };
    play.stage.layer.spawn_world(&[], std::slice::from_ref(&door), &[]);
    play.stage.layer.update_doors(&[(door.clone(), false)]);
    assert_eq!(points(&mut play).len(), 6);
    play.stage.layer.update_doors(&[(door, true)]);
    play.stage.tick_at(10.2);
    assert!(play.asked()[0].closest_obs.is_empty());
}

struct Bench;

impl HumanModels for Bench {
    fn sdf(&self, model: &str) -> Result<String, String> {
        Ok(model.to_owned())
    }
    fn has_any(&self) -> bool {
        true
    }
    fn object(&self, model: &str) -> Result<Annotation, String> {
        if model != "bench" {
            return Err(format!("no model {model:?}"));
        }
        let text = "asa: 1\nbounding_box: [[-1, 1], [-0.25, 0.25], [0, 0.5]]\n";
        Annotation::parse(text, Path::new("a.yaml"))
            .map(|loaded| loaded.value)
            .map_err(|report| report.to_string())
    }
}

#[test]
fn a_thing_is_the_four_edges_of_its_bounds_turned_as_it_stands() {
    let mut play = Play::new();
    play.stage.layer.set_models(Box::new(Bench));
    let turned =
        StaticObstacle { pose: Pose::planar(10.0, -4.0, std::f64::consts::FRAC_PI_2), ..thing("seat") };
    let unknown = StaticObstacle { model: "ghost".to_owned(), ..thing("ghost") };
    play.stage.layer.spawn_obstacles(&[turned, unknown], ObstacleLayer::InUse);
    let near = points(&mut play);
    assert!(near.iter().all(|[x, y]| (9.75 - 1e-9..=10.25 + 1e-9).contains(x) && (-5.0 - 1e-9..=-3.0 + 1e-9).contains(y)));
    let shown = play.told.borrow().shown.last().cloned().expect("shown");
    assert_eq!(shown.0, ["ann"]);
    let names: Vec<&str> = shown.1.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["seat_wall_0", "seat_wall_1", "seat_wall_2", "seat_wall_3"]);
    let log = play.stage.log.borrow();
    let markers = log.markers[&MarkerTopic::StaticWalls].last().expect("latched");
    assert_eq!(markers.len(), 1 + 4);
    drop(log);
    play.stage.layer.unuse_obstacles();
    play.stage.layer.remove_obstacles(ObstacleLayer::Unused);
    play.stage.tick_at(10.2);
    assert_eq!(play.told.borrow().shown.last().cloned(), Some((vec![], vec![])));
}

#[derive(Clone, Default)]
struct Frame(Rc<RefCell<Option<(Time, Pose)>>>);

impl Transforms for Frame {
    fn latest(&mut self, _frame: &str) -> Option<(Time, Pose)> {
        *self.0.borrow()
    }
}

fn with_robot(visible: bool) -> (Play, Frame) {
    let frame = Frame::default();
    let mut play = Play::new();
    play.stage.layer = play.stage.layer.with_transforms(Box::new(frame.clone())).with_robots_visible(visible);
    let robot = |name: &str, x| Robot {
        name: name.to_owned(),
        sim_path: format!("env_0/{name}"),
        model: "jackal".to_owned(),
        base_frame: Some("base".to_owned()),
        pose: Pose::planar(x, 2.0, 0.5),
    };
    play.stage.layer.spawn_robots(&[robot("first", 1.0), robot("second", 5.0)]);
    play.spawn(&people(&["name: ann, pose: [0, 0, 0]"])).answers(one_metre_on);
    (play, frame)
}

#[test]
fn the_first_robot_is_told_of_with_its_motion() {
    let (mut play, frame) = with_robot(true);
    play.stage.tick_at(10.1);
    let robot = play.robot();
    assert_eq!((robot.id, robot.name.as_str(), robot.group_id, robot.radius), (0, "first", -1, 0.3));
    assert_eq!((robot.position, robot.velocity, robot.angular_vel), ([1.0, 2.0], [0.0, 0.0], 0.0));
    let mut see = |at: f64, x: f64, yaw: f64| {
        *frame.0.borrow_mut() = Some((Time::from_secs_f64(at), Pose::planar(x, 2.0, yaw)));
        play.stage.tick_at(at);
        play.robot()
    };
    see(10.2, 1.0, 3.1);
    let turning = see(10.4, 1.2, -3.1);
    assert!((turning.velocity[0] - 1.0).abs() < 1e-9, "{turning:?}");
    let turn = (std::f64::consts::TAU - 6.2) / 0.2;
    assert!((turning.angular_vel - turn).abs() < 1e-9, "{turning:?}");
}

#[test]
fn a_robot_that_nobody_shall_see_is_parked() {
    let (mut play, _) = with_robot(false);
    play.stage.tick_at(10.1);
    assert_eq!(play.robot(), Sent { radius: 0.3, ..Sent::default() });
    assert_eq!(play.robot().position, [1e4, 1e4]);
}
