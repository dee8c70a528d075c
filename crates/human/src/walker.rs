//! People walked along their way-points through possession.
//!
//! This is a *client* of `human/stream`, not an engine: straight lines, a turning rate and an acceleration, nobody avoids
//! anybody. It shows possession at work where no crowd engine runs. It must never touch the layer except by its batches.

use std::time::Duration;

use promenade_kernel::{KeyedStreams, Time};
use rand::RngExt;

use crate::entity::{DynamicObstacle, WaypointMode};
use crate::message::{Pedestrian, Pedestrians, Pose, animation_state};
use crate::steer::{Agility, Body};

pub use crate::steer::wrap;

/// Nominal rate of a possession stream.
pub const STREAM_RATE_HZ: f64 = 20.0;

/// A way-point is reached within this distance, metres.
const ARRIVAL: f64 = 0.3;
/// The middle of what adults do when they start, stop and turn.
const ADULT: Agility = Agility { acceleration: 1.2, turn_rate: 2.0 };
/// Above this speed in m/s a person is shown walking, above [`RUNNING`] running.
const WALKING: f64 = 0.05;
const RUNNING: f64 = 2.0;

/// One person under way.
#[derive(Debug)]
struct Walk {
    waypoints: Vec<[f64; 2]>,
    mode: WaypointMode,
    desired_speed: f64,
    /// Cap on the desired speed where the person is, m/s.
    cap: f64,
    body: Body,
    floor: f64,
    next: Option<usize>,
    backwards: bool,
}

/// Walks people; see the module.
#[derive(Debug)]
pub struct Walker {
    walks: Vec<Walk>,
    batch: Pedestrians,
    streams: KeyedStreams,
}

impl Walker {
    /// A walker without people. The seed decides the way-points of mode `random`.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        let batch = Pedestrians { frame_id: crate::MAP_FRAME.to_owned(), ..Pedestrians::default() };
        Walker { walks: Vec::new(), batch, streams: KeyedStreams::new(seed) }
    }

    /// Takes a person over, from where `pose` says they are.
    pub fn add(&mut self, person: &DynamicObstacle, pose: &Pose) {
        let mut walk = Walk {
            waypoints: person.waypoints.clone(),
            mode: person.waypoint_mode,
            desired_speed: person.velocity.max(0.0),
            cap: f64::INFINITY,
            body: Body::default(),
            floor: 0.0,
            next: (!person.waypoints.is_empty()).then_some(0),
            backwards: false,
        };
        let mut ped = Pedestrian {
            name: person.name.clone(),
            agent_type: person.agent_type.clone(),
            ..Pedestrian::default()
        };
        walk.place(pose);
        walk.write(&mut ped);
        self.walks.push(walk);
        self.batch.pedestrians.push(ped);
    }

    /// Puts the person at `index` of [`Walker::batch`] elsewhere, standing; they go on to the way-point they were heading for.
    ///
    /// # Panics
    /// When there is no such person.
    pub fn place(&mut self, index: usize, pose: &Pose) {
        self.walks[index].place(pose);
        self.walks[index].write(&mut self.batch.pedestrians[index]);
    }

    /// Lets go of everybody for whom `keep` answers no. The others keep their order.
    pub fn retain(&mut self, keep: impl FnMut(&Pedestrian) -> bool) {
        let kept: Vec<bool> = self.batch.pedestrians.iter().map(keep).collect();
        let mut walks = kept.iter();
        self.walks.retain(|_| walks.next().is_some_and(|&kept| kept));
        let mut peds = kept.iter();
        self.batch.pedestrians.retain(|_| peds.next().is_some_and(|&kept| kept));
    }

    /// Whether anybody is walked.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.walks.is_empty()
    }

    /// Everybody who is walked, in the order in which they were added, as of the last step.
    #[must_use]
    pub fn batch(&self) -> &Pedestrians {
        &self.batch
    }

    /// Asks `cap` for the highest desired speed in m/s at the place of each person, x and y in `map`. It holds until the next call;
    /// what is negative or NaN counts as no cap.
    pub fn cap_speeds(&mut self, cap: impl Fn([f64; 2]) -> f64) {
        for walk in &mut self.walks {
            let speed = cap(walk.body.position);
            walk.cap = if speed >= 0.0 { speed } else { f64::INFINITY };
        }
    }

    /// Moves everybody by `dt` and answers the batch to stream, stamped `stamp`.
    pub fn step(&mut self, dt: Duration, stamp: Time) -> &Pedestrians {
        self.batch.stamp = stamp;
        for (walk, ped) in self.walks.iter_mut().zip(&mut self.batch.pedestrians) {
            walk.advance(dt.as_secs_f64(), &ped.name, &mut self.streams);
            walk.write(ped);
        }
        &self.batch
    }
}

impl Walk {
    fn place(&mut self, pose: &Pose) {
        self.body = Body { position: [pose.position[0], pose.position[1]], yaw: pose.yaw(), speed: 0.0 };
        self.floor = pose.position[2];
    }

    fn advance(&mut self, dt: f64, name: &str, streams: &mut KeyedStreams) {
        let Some(goal) = self.next.map(|next| self.waypoints[next]) else {
            self.body.halt(dt, ADULT);
            return;
        };
        let [x, y] = self.body.position;
        if (goal[0] - x).hypot(goal[1] - y) <= ARRIVAL {
            self.next = self.following(name, streams);
        }
        if self.next.is_none() {
            self.body.halt(dt, ADULT);
        } else {
            self.body.go_towards(goal, self.desired_speed.min(self.cap), dt, ADULT);
        }
    }

    fn following(&mut self, name: &str, streams: &mut KeyedStreams) -> Option<usize> {
        let (here, count) = (self.next?, self.waypoints.len());
        match self.mode {
            WaypointMode::Repeat => Some((here + 1) % count),
            WaypointMode::Once => Some(here + 1).filter(|&next| next < count),
            WaypointMode::Reverse => {
                if count == 1 {
                    return Some(0);
                }
                if here + 1 == count {
                    self.backwards = true;
                } else if here == 0 {
                    self.backwards = false;
                }
                Some(if self.backwards { here - 1 } else { here + 1 })
            }
            WaypointMode::Random if count == 1 => Some(0),
            WaypointMode::Random => {
                let step = streams.get(&["possess".into(), name.into()]).random_range(1..count);
                Some((here + step) % count)
            }
        }
    }

    fn write(&self, ped: &mut Pedestrian) {
        let [x, y] = self.body.position;
        ped.pose = Pose::planar(x, y, self.body.yaw);
        ped.pose.position[2] = self.floor;
        let [vx, vy] = self.body.velocity();
        ped.twist.linear = [vx, vy, 0.0];
        ped.animation_state = shown_as(self.body.speed);
    }
}

/// The animation state of somebody who goes at `speed` m/s; backwards is negative.
#[must_use]
pub fn shown_as(speed: f64) -> u8 {
    match speed.abs() {
        speed if speed > RUNNING => animation_state::RUNNING,
        speed if speed > WALKING => animation_state::WALKING,
        _ => animation_state::IDLE,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn person(mode: WaypointMode, waypoints: &[[f64; 2]]) -> DynamicObstacle {
        DynamicObstacle {
            name: "ann".to_owned(),
            sim_path: "env_0/ann".to_owned(),
            model: String::new(),
            model_uri: String::new(),
            pose: Pose::default(),
            velocity: 1.0,
            agent_type: String::new(),
            waypoints: waypoints.to_vec(),
            waypoint_mode: mode,
            entry: None,
        }
    }

    /// Positions every 50 ms for `seconds`.
    fn walk(mode: WaypointMode, waypoints: &[[f64; 2]], seconds: f64) -> Vec<Pedestrian> {
        let mut walker = Walker::new(7);
        walker.add(&person(mode, waypoints), &Pose::default());
        let dt = Duration::from_millis(50);
        (0..(seconds / 0.05) as usize).map(|_| walker.step(dt, Time::ZERO).pedestrians[0].clone()).collect()
    }

    fn x_of(ped: &Pedestrian) -> f64 {
        ped.pose.position[0]
    }

    #[test]
    fn once_ends_at_the_last_way_point_and_stands() {
        let path = walk(WaypointMode::Once, &[[5.0, 0.0]], 20.0);
        let last = path.last().expect("stepped");
        assert!((x_of(last) - 5.0).abs() < 0.5, "{}", x_of(last));
        assert_eq!(last.animation_state, animation_state::IDLE);
        assert_eq!(last.twist.linear, [0.0; 3]);
    }

    #[test]
    fn speed_and_turning_stay_within_their_limits() {
        let path = walk(WaypointMode::Repeat, &[[5.0, 0.0], [5.0, 5.0], [0.0, 0.0]], 60.0);
        for pair in path.windows(2) {
            let speed = |p: &Pedestrian| p.twist.linear[0].hypot(p.twist.linear[1]);
            assert!(speed(&pair[1]) <= 1.0 + 1e-9);
            assert!((speed(&pair[1]) - speed(&pair[0])).abs() <= ADULT.acceleration * 0.05 + 1e-9);
            assert!(wrap(pair[1].pose.yaw() - pair[0].pose.yaw()).abs() <= ADULT.turn_rate * 0.05 + 1e-9);
        }
    }

    #[test]
    fn repeat_and_reverse_come_back() {
        for mode in [WaypointMode::Repeat, WaypointMode::Reverse] {
            let path = walk(mode, &[[4.0, 0.0], [0.0, 0.0]], 40.0);
            let turns =
                path.windows(2).filter(|pair| (x_of(&pair[0]) - 2.0) * (x_of(&pair[1]) - 2.0) < 0.0).count();
            assert!(turns >= 3, "{mode:?} crossed the middle {turns} times");
        }
    }

    #[test]
    fn random_way_points_depend_on_the_seed_alone() {
        let corners = [[3.0, 0.0], [3.0, 3.0], [0.0, 3.0], [0.0, 0.0]];
        assert_eq!(walk(WaypointMode::Random, &corners, 60.0), walk(WaypointMode::Random, &corners, 60.0));
    }

    #[test]
    fn people_can_be_put_elsewhere_and_let_go_while_others_walk() {
        let mut walker = Walker::new(7);
        for name in ["ann", "bob", "cem"] {
            let person =
                DynamicObstacle { name: name.to_owned(), ..person(WaypointMode::Once, &[[9.0, 0.0]]) };
            walker.add(&person, &Pose::planar(1.0, 2.0, 0.5));
        }
        assert_eq!(
            walker.batch().pedestrians[2].pose.position,
            [1.0, 2.0, 0.0],
            "known before the first step"
        );
        let dt = Duration::from_millis(50);
        walker.step(dt, Time::ZERO);
        walker.place(2, &Pose::planar(-4.0, 0.0, 0.0));
        walker.retain(|ped| ped.name != "ann");
        walker.step(dt, Time::ZERO);
        let names: Vec<_> = walker.batch().pedestrians.iter().map(|ped| ped.name.as_str()).collect();
        assert_eq!(names, ["bob", "cem"]);
        assert!(x_of(&walker.batch().pedestrians[0]) >= 1.0);
        assert!(
            (x_of(&walker.batch().pedestrians[1]) + 4.0).abs() < 0.1,
            "{}",
            x_of(&walker.batch().pedestrians[1])
        );
    }

    #[test]
    fn a_cap_slows_people_down_where_it_holds_and_only_there() {
        let mut walker = Walker::new(7);
        walker.add(&person(WaypointMode::Once, &[[12.0, 0.0]]), &Pose::default());
        let dt = Duration::from_millis(50);
        let (mut within, mut after) = (0.0_f64, 0.0_f64);
        for _ in 0..400 {
            walker.cap_speeds(|[x, _]| if (3.0..6.0).contains(&x) { 0.4 } else { f64::INFINITY });
            let ped = &walker.step(dt, Time::ZERO).pedestrians[0];
            let speed = ped.twist.linear[0];
            match x_of(ped) {
                // Braking from 1.0 m/s takes half a second.
                x if (3.6..6.0).contains(&x) => within = within.max(speed),
                x if x > 7.0 => after = after.max(speed),
                _ => {}
            }
        }
        assert!((within - 0.4).abs() < 1e-9 && (after - 1.0).abs() < 1e-9, "{within} {after}");
    }

    #[test]
    fn a_cap_that_is_no_speed_is_none() {
        for nonsense in [f64::NAN, -1.0] {
            let mut walker = Walker::new(7);
            walker.add(&person(WaypointMode::Once, &[[12.0, 0.0]]), &Pose::default());
            walker.cap_speeds(|_| nonsense);
            for _ in 0..40 {
                walker.step(Duration::from_millis(50), Time::ZERO);
            }
            assert!(x_of(&walker.batch().pedestrians[0]) > 1.0);
        }
    }

    #[test]
    fn a_person_without_way_points_or_with_one_underfoot_stands() {
        for waypoints in [&[][..], &[[0.0, 0.0]][..]] {
            for mode in
                [WaypointMode::Repeat, WaypointMode::Reverse, WaypointMode::Once, WaypointMode::Random]
            {
                let path = walk(mode, waypoints, 5.0);
                assert!(path.iter().all(|ped| ped.pose.is_finite() && x_of(ped).abs() < 0.5), "{mode:?}");
            }
        }
    }
}
