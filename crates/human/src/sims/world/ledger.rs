//! What a robot did since it was spawned: how far it went, what it touched, how near it came to people.

use promenade_robot_world::Point;

/// Whoever is touched again sooner than this was touched all the time: bodies that push each other part for moments. Seconds.
const PAUSE: f64 = 0.5;

/// What an object is to a robot that touches it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Person,
    Robot,
    /// Also a closed door.
    Wall,
    Thing,
}

/// How often a robot began to touch something, half a second or more after it let go of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Touched {
    /// People.
    pub people: u32,
    /// Other robots.
    pub robots: u32,
    /// Walls and closed doors.
    pub walls: u32,
    /// Things, pushed or not.
    pub things: u32,
}

/// See the module.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RobotResults {
    /// Way driven or pushed, metres; without being put elsewhere.
    pub distance: f64,
    /// What it touched.
    pub touched: Touched,
    /// Seconds for which it touched anything.
    pub contact_time: f64,
    /// Least distance to a person, metres from edge to edge; negative when both overlapped, `None` when there was nobody.
    pub nearest_person: Option<f64>,
}

/// The results of one robot, and what the next step is compared with.
#[derive(Debug)]
pub(super) struct Ledger {
    pub(super) results: RobotResults,
    last: Point,
    /// Ids touched lately, and the seconds since then; ascending.
    touching: Vec<(u32, f64)>,
    /// Ids of this step; kept for its allocation.
    touched: Vec<u32>,
}

impl Ledger {
    pub(super) fn new(position: Point) -> Self {
        Ledger { results: RobotResults::default(), last: position, touching: Vec::new(), touched: Vec::new() }
    }

    /// It was put elsewhere.
    pub(super) fn place(&mut self, position: Point) {
        self.last = position;
        self.touching.clear();
    }

    /// It is here now, after a step of `dt` seconds in which it touched `touched`, any order and often.
    pub(super) fn step(
        &mut self,
        position: Point,
        dt: f64,
        touched: impl Iterator<Item = u32>,
        kind: impl Fn(u32) -> Kind,
    ) {
        let results = &mut self.results;
        results.distance += (position[0] - self.last[0]).hypot(position[1] - self.last[1]);
        self.last = position;
        self.touched.clear();
        self.touched.extend(touched);
        self.touched.sort_unstable();
        self.touched.dedup();
        self.touching.iter_mut().for_each(|(_, pause)| *pause += dt);
        for &other in &self.touched {
            match self.touching.binary_search_by_key(&other, |(id, _)| *id) {
                Ok(at) => self.touching[at].1 = 0.0,
                Err(at) => {
                    self.touching.insert(at, (other, 0.0));
                    let count = &mut results.touched;
                    let count = match kind(other) {
                        Kind::Person => &mut count.people,
                        Kind::Robot => &mut count.robots,
                        Kind::Wall => &mut count.walls,
                        Kind::Thing => &mut count.things,
                    };
                    *count = count.saturating_add(1);
                }
            }
        }
        self.touching.retain(|(_, pause)| *pause < PAUSE);
        if !self.touched.is_empty() {
            results.contact_time += dt;
        }
    }

    /// A person is this far away.
    pub(super) fn near(&mut self, distance: f64) {
        let nearest = &mut self.results.nearest_person;
        *nearest = Some(nearest.map_or(distance, |known| known.min(distance)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_touch_that_lasts_counts_once_and_one_after_a_pause_again() {
        let mut ledger = Ledger::new([0.0, 0.0]);
        let kind = |id: u32| if id == 1 { Kind::Person } else { Kind::Wall };
        for touched in [&[1, 7, 1][..], &[1], &[], &[1], &[], &[], &[1]] {
            ledger.step([0.0, 0.0], 0.25, touched.iter().copied(), kind);
        }
        let expected = Touched { people: 2, walls: 1, ..Touched::default() };
        assert_eq!((ledger.results.touched, ledger.results.contact_time), (expected, 1.0));
    }

    #[test]
    fn being_put_elsewhere_is_no_way_driven() {
        let mut ledger = Ledger::new([0.0, 0.0]);
        let none = || std::iter::empty();
        ledger.step([1.0, 0.0], 0.5, none(), |_| Kind::Thing);
        ledger.place([9.0, 0.0]);
        ledger.step([9.0, 2.0], 0.5, none(), |_| Kind::Thing);
        assert_eq!(ledger.results.distance, 3.0);
    }
}
