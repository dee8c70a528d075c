//! Robots that drive without a physics simulator.

use std::time::Duration;

use promenade_human::live::{DriveLimits, LiveWorld, Occupant, RobotDriver};

use crate::stage::{at, hall, live, person, robot};

const DT: f64 = 0.05;

struct Drive {
    live: LiveWorld,
    driver: RobotDriver,
    path: Vec<[f64; 3]>,
}

impl Drive {
    fn new(rest: &str, start: [f64; 3]) -> Self {
        let driver = RobotDriver::new("r", None, start, DriveLimits::default());
        Drive { live: live(&hall(rest)), driver, path: vec![start] }
    }

    fn run(&mut self, seconds: f64, goal: Option<[f64; 3]>, others: &[Occupant<'_>]) -> [f64; 3] {
        for _ in 0..(seconds / DT) as usize {
            let [x, y, _] = self.driver.pose();
            let mut everybody = vec![robot("r", x, y)];
            everybody.extend_from_slice(others);
            self.live.step(at(self.path.len() as f64 * DT), everybody);
            let pose = self.driver.step(Duration::from_secs_f64(DT), goal, &self.live);
            self.path.push(pose);
        }
        self.driver.pose()
    }
}

#[test]
fn it_stops_at_its_goal_within_its_limits() {
    let mut drive = Drive::new("", [0.0, 0.0, 3.0]);
    let [x, y, _] = drive.run(30.0, Some([4.0, 3.0, 0.0]), &[]);
    assert!((x - 4.0).hypot(y - 3.0) < 0.05, "{x} {y}");
    assert!(drive.driver.velocity().iter().all(|v| v.abs() < 0.05));
    let limits = DriveLimits::default();
    let speeds: Vec<f64> =
        drive.path.windows(2).map(|w| (w[1][0] - w[0][0]).hypot(w[1][1] - w[0][1]) / DT).collect();
    assert!(speeds.iter().all(|&v| v <= limits.speed + 1e-9));
    assert!(speeds.windows(2).all(|w| (w[1] - w[0]).abs() <= limits.acceleration * DT + 1e-9));
    assert!(speeds.iter().any(|&v| v > limits.speed - 1e-6), "it gets up to speed");
}

#[test]
fn it_comes_to_rest_without_a_goal_and_with_one_that_is_nowhere() {
    for none in [None, Some([f64::NAN, 0.0, 0.0]), Some([0.0, f64::INFINITY, 0.0])] {
        let mut drive = Drive::new("", [0.0, 0.0, 0.0]);
        drive.run(3.0, Some([9.0, 0.0, 0.0]), &[]);
        drive.run(3.0, none, &[]);
        assert_eq!(drive.driver.velocity(), [0.0; 2], "{none:?}");
        assert_eq!(drive.driver.blocked(), Duration::ZERO);
    }
}

#[test]
fn it_stops_short_of_a_locked_door_and_says_that_it_is_blocked() {
    let door =
        "  doors:\n  - {name: d, start: {x: 3, y: -1}, end: {x: 3, y: 1}, semantics: [{preset: gate}]}\n";
    let mut drive = Drive::new(door, [0.0, 0.0, 0.0]);
    let [x, _, _] = drive.run(20.0, Some([6.0, 0.0, 0.0]), &[]);
    assert!((x - 2.45).abs() < 0.02, "0.3 m radius, 0.05 m of door, 0.2 m of room: {x}");
    assert!(drive.driver.blocked() > Duration::from_secs(10));
    drive.live.set("d", "locked", "false").expect("can be set");
    let [x, _, _] = drive.run(20.0, Some([6.0, 0.0, 0.0]), &[]);
    assert!((x - 6.0).abs() < 0.05, "{x}");
    assert_eq!(drive.driver.blocked(), Duration::ZERO);
}

#[test]
fn it_passes_a_door_that_opens_for_it_only_while_it_is_open() {
    for more in ["", ", activation_distance: 0.4", ", transition_time: 3, activation_distance: 1"] {
        let door = format!("  doors:\n  - {{name: d, start: {{x: 3, y: -1}}, end: {{x: 3, y: 1}}{more}}}\n");
        let mut drive = Drive::new(&door, [0.0, 0.0, 0.0]);
        for _ in 0..400 {
            let before = drive.driver.pose()[0];
            drive.run(DT, Some([6.0, 0.0, 0.0]), &[]);
            let crossed = (before - 3.0) * (drive.driver.pose()[0] - 3.0) <= 0.0;
            assert!(!crossed || drive.live.door("d").expect("is there").passable(), "{more}");
        }
        assert!((drive.driver.pose()[0] - 6.0).abs() < 0.05, "{more} {:?}", drive.driver.pose());
    }
}

#[test]
fn it_stops_half_a_metre_from_people_ahead_and_not_for_those_beside_its_way() {
    let goal = Some([8.0, 0.0, 0.0]);
    let mut drive = Drive::new("", [0.0, 0.0, 0.0]);
    let [x, _, _] = drive.run(20.0, goal, &[person("ann", 5.0, 0.2)]);
    assert!((x - 3.9).abs() < 0.02, "0.3 + 0.3 m radii and 0.5 m of room: {x}");
    let [x, _, _] = drive.run(20.0, goal, &[person("ann", 5.0, 0.9)]);
    assert!((x - 8.0).abs() < 0.05, "{x}");
}

#[test]
fn it_does_not_stand_in_its_own_way() {
    let mut drive = Drive::new("", [0.0, 0.0, 0.0]);
    let [x, _, _] = drive.run(10.0, Some([2.0, 0.0, 0.0]), &[]);
    assert!((x - 2.0).abs() < 0.05);
}

/// A robot that a world moves: what it is told, times how much of it the world lets it do.
fn commanded(limits: DriveLimits, seconds: f64, lets: f64, others: &[Occupant<'_>]) -> ([f64; 3], Duration) {
    let mut live = live(&hall(""));
    let mut driver = RobotDriver::new("r", None, [0.0; 3], limits);
    let ([mut x, mut y, mut yaw], mut speed) = ([0.0f64; 3], 0.0);
    for step in 0..(seconds / DT) as usize {
        live.step(at(step as f64 * DT), others.iter().copied());
        let here = ([x, y, yaw], speed);
        let [forward, turn] =
            driver.command(Duration::from_secs_f64(DT), here, (Some([4.0, 3.0, 0.0]), [4.0, 3.0]), &live);
        speed = forward * lets;
        (x, y) = (x + speed * yaw.cos() * DT, y + speed * yaw.sin() * DT);
        yaw += turn * DT;
    }
    ([x, y, yaw], driver.blocked())
}

#[test]
fn its_commands_bring_it_to_the_goal() {
    let ([x, y, _], blocked) = commanded(DriveLimits::default(), 30.0, 1.0, &[]);
    assert!((x - 4.0).hypot(y - 3.0) < 0.05, "{x} {y}");
    assert_eq!(blocked, Duration::ZERO);
}

#[test]
fn a_car_turns_while_it_drives() {
    let limits = DriveLimits { turning_radius: 1.5, ..DriveLimits::default() };
    let ([x, y, _], _) = commanded(limits, 9.0, 1.0, &[]);
    assert!((x - 4.0).hypot(y - 3.0) < 0.2, "{x} {y}");
}

#[test]
fn whatever_holds_it_in_the_world_counts_as_blocking_it() {
    let (_, blocked) = commanded(DriveLimits::default(), 20.0, 0.0, &[]);
    assert!(blocked > Duration::from_secs(19), "{blocked:?}");
    let (_, blocked) = commanded(DriveLimits::default(), 20.0, 1.0, &[person("ann", 2.0, 1.5)]);
    assert!(blocked > Duration::from_secs(10), "{blocked:?}");
}
