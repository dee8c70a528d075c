//! Who is claimed when.
//!
//! A person is claimed once they were seen on the bus, at the pose seen there; one who left the bus is let go and claimed
//! anew when they come back, which is how driving goes on after an episode reset. Nothing here may move anybody.

use std::collections::BTreeMap;
use std::time::Duration;

use promenade_human::message::{Pedestrian, Pose};
use promenade_kernel::Time;

use super::names::{is_same, spellings};
use super::pace::JUMP;

/// Without the bus for this long, of sim time, everybody counts as gone: their node ended.
const SILENCE: Duration = Duration::from_secs(5);

/// The bus shows where somebody was up to a second ago (what is older has timed out). Further off than that and this many
/// metres, somebody else put them there, or a new episode did.
const ELSEWHERE: f64 = 2.0;

/// A person on the bus.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Sighting {
    /// The spelling of the bus.
    pub(crate) name: String,
    pub(crate) pose: Pose,
}

/// Whom to claim.
#[derive(Clone, Debug)]
pub(crate) enum Wanted {
    /// People by authored name.
    Named(BTreeMap<String, usize>),
    /// The person of that name, in either spelling.
    One(String),
    /// Whoever is first on the bus, and from then on that one.
    First,
}

/// What a roster changes, to be applied in this order.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Changes {
    /// Claimed people, by index into the claims, whose place on the bus is not where they were driven: at that pose.
    pub(crate) placed: Vec<(usize, Pose)>,
    /// Bus names of people who are gone.
    pub(crate) dropped: Vec<String>,
    /// Newly claimed people, in the order of the bus: number of the wanted person, index of the sighting.
    pub(crate) adopted: Vec<(usize, usize)>,
}

#[derive(Clone, Debug)]
struct Claim {
    bus_name: String,
    person: usize,
    /// Serial of the last roster that listed them.
    seen_in: u64,
}

/// The claims; see the module.
#[derive(Clone, Debug)]
pub(crate) struct Adoption {
    wanted: Wanted,
    /// In order of adoption, the order in which people are driven.
    claims: Vec<Claim>,
    by_bus_name: BTreeMap<String, usize>,
    roster: u64,
    heard: Option<Time>,
    clock: Time,
}

impl Adoption {
    pub(crate) fn new(wanted: Wanted) -> Self {
        Adoption {
            wanted,
            claims: Vec::new(),
            by_bus_name: BTreeMap::new(),
            roster: 0,
            heard: None,
            clock: Time::ZERO,
        }
    }

    /// Whether nobody is claimed.
    pub(crate) fn is_empty(&self) -> bool {
        self.claims.is_empty()
    }

    /// Wanted people who are not claimed, by authored name.
    pub(crate) fn missing(&self) -> impl Iterator<Item = &str> {
        let (named, one) = match &self.wanted {
            Wanted::Named(people) => (Some(people), None),
            Wanted::One(name) => (None, Some((name, 0))),
            Wanted::First => (None, None),
        };
        let is_claimed = |person: usize| self.claims.iter().any(|claim| claim.person == person);
        let named = named.into_iter().flatten().map(|(name, person)| (name, *person));
        named.chain(one).filter(move |(_, person)| !is_claimed(*person)).map(|(name, _)| name.as_str())
    }

    /// Takes note of who is on the bus at clock reading `now`. `driven` is everybody who is driven, as last streamed, in order of
    /// adoption.
    pub(crate) fn on_roster(&mut self, roster: &[Sighting], driven: &[Pedestrian], now: Time) -> Changes {
        debug_assert_eq!(driven.len(), self.claims.len());
        self.heard = Some(now);
        self.roster += 1;
        let mut changes = Changes::default();
        let mut strangers = Vec::new();
        for (index, sighting) in roster.iter().enumerate().filter(|(_, sighting)| sighting.pose.is_finite()) {
            let Some(&slot) = self.by_bus_name.get(&sighting.name) else {
                if let Some(person) = self.person(&sighting.name) {
                    strangers.push((person, index));
                }
                continue;
            };
            // A name that is listed twice counts once.
            if std::mem::replace(&mut self.claims[slot].seen_in, self.roster) != self.roster
                && driven.get(slot).is_some_and(|driven| is_elsewhere(driven, &sighting.pose))
            {
                changes.placed.push((slot, sighting.pose));
            }
        }
        changes.dropped = self.drop_where(|claim, roster| claim.seen_in != roster);
        for (person, index) in strangers {
            let name = &roster[index].name;
            let is_taken = self.claims.iter().any(|claim| claim.person == person);
            if !is_taken && !self.by_bus_name.contains_key(name) {
                self.by_bus_name.insert(name.clone(), self.claims.len());
                self.claims.push(Claim { bus_name: name.clone(), person, seen_in: self.roster });
                changes.adopted.push((person, index));
                if matches!(self.wanted, Wanted::First) {
                    self.wanted = Wanted::One(name.clone());
                }
            }
        }
        changes
    }

    /// Who is dropped at clock reading `now` because the bus fell silent. A clock that stands or jumps drops nobody.
    pub(crate) fn on_clock(&mut self, now: Time) -> Vec<String> {
        let jumped = now < self.clock || now.saturating_since(self.clock) > JUMP;
        self.clock = now;
        if jumped && self.heard.is_some() {
            self.heard = Some(now);
        }
        match self.heard {
            Some(heard) if now.saturating_since(heard) > SILENCE => {
                self.heard = None;
                self.drop_where(|_, _| true)
            }
            _ => Vec::new(),
        }
    }

    /// Lets go of everybody: the episode is another one. Answers who was driven.
    pub(crate) fn let_go(&mut self) -> Vec<String> {
        self.drop_where(|_, _| true)
    }

    fn person(&self, bus_name: &str) -> Option<usize> {
        match &self.wanted {
            Wanted::Named(people) => spellings(bus_name).find_map(|name| people.get(name)).copied(),
            Wanted::One(name) => is_same(name, bus_name).then_some(0),
            Wanted::First => Some(0),
        }
    }

    fn drop_where(&mut self, is_gone: impl Fn(&Claim, u64) -> bool) -> Vec<String> {
        let roster = self.roster;
        let gone: Vec<String> =
            self.claims.extract_if(.., |claim| is_gone(claim, roster)).map(|claim| claim.bus_name).collect();
        if !gone.is_empty() {
            let claims = self.claims.iter().enumerate();
            self.by_bus_name = claims.map(|(slot, claim)| (claim.bus_name.clone(), slot)).collect();
        }
        gone
    }
}

fn is_elsewhere(driven: &Pedestrian, seen: &Pose) -> bool {
    let [x, y, _] = driven.pose.position;
    let [vx, vy, _] = driven.twist.linear;
    let off = (seen.position[0] - x).hypot(seen.position[1] - y);
    off > ELSEWHERE + vx.hypot(vy)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(names: &[&str]) -> Wanted {
        Wanted::Named(names.iter().enumerate().map(|(i, name)| ((*name).to_owned(), i)).collect())
    }

    fn seen(name: &str, x: f64) -> Sighting {
        Sighting { name: name.to_owned(), pose: Pose::planar(x, 0.0, 0.0) }
    }

    fn driven(name: &str, x: f64) -> Pedestrian {
        Pedestrian { name: name.to_owned(), pose: Pose::planar(x, 0.0, 0.0), ..Pedestrian::default() }
    }

    fn at(seconds: f64) -> Time {
        Time::from_secs_f64(seconds)
    }

    #[test]
    fn only_people_on_the_bus_are_claimed_in_any_spelling_and_once() {
        let mut adoption = Adoption::new(wanted(&["ann", "bob", "cem"]));
        let roster = [
            seen("env_0/zoe", 0.0),
            seen("env_0/cem", 1.0),
            seen("ann", 2.0),
            seen("ann", 3.0),
            seen("env_0/ann", 4.0),
        ];
        let changes = adoption.on_roster(&roster, &[], at(1.0));
        assert_eq!(changes, Changes { adopted: vec![(2, 1), (0, 2)], ..Changes::default() });
        assert_eq!(adoption.missing().collect::<Vec<_>>(), ["bob"]);
        let people = [driven("env_0/cem", 1.0), driven("ann", 2.0)];
        assert_eq!(adoption.on_roster(&roster, &people, at(1.1)), Changes::default(), "nothing new");
    }

    #[test]
    fn who_left_is_dropped_and_claimed_anew_where_they_come_back() {
        let mut adoption = Adoption::new(wanted(&["ann", "bob"]));
        adoption.on_roster(&[seen("ann", 0.0), seen("bob", 0.0)], &[], at(0.0));
        let people = [driven("ann", 0.5), driven("bob", 0.5)];
        let changes = adoption.on_roster(&[seen("bob", 0.5)], &people, at(0.1));
        assert_eq!(changes, Changes { dropped: vec!["ann".to_owned()], ..Changes::default() });
        let roster = [seen("ann", 9.0), seen("bob", 0.6)];
        let changes = adoption.on_roster(&roster, &people[1..], at(0.2));
        assert_eq!(changes, Changes { adopted: vec![(0, 0)], ..Changes::default() });
        let changes = adoption.on_roster(&[], &[driven("bob", 0.6), driven("ann", 9.0)], at(0.3));
        assert_eq!(changes.dropped, ["bob", "ann"]);
        assert!(adoption.is_empty());
    }

    #[test]
    fn a_person_whom_the_bus_shows_elsewhere_is_driven_from_there() {
        let mut adoption = Adoption::new(wanted(&["ann", "bob"]));
        adoption.on_roster(&[seen("ann", 0.0), seen("bob", 0.0)], &[], at(0.0));
        let mut runner = driven("bob", 3.5);
        runner.twist.linear = [3.0, 0.0, 0.0];
        let people = [driven("ann", 3.5), runner];
        let changes = adoption.on_roster(&[seen("bob", 0.0), seen("ann", 0.0)], &people, at(0.1));
        let placed = vec![(0, Pose::planar(0.0, 0.0, 0.0))];
        assert_eq!(changes, Changes { placed, ..Changes::default() }, "the runner is only behind");
    }

    #[test]
    fn a_silent_bus_drops_everybody_by_sim_time() {
        let mut adoption = Adoption::new(wanted(&["ann"]));
        assert!(adoption.on_clock(at(99.0)).is_empty(), "never heard");
        adoption.on_roster(&[seen("ann", 0.0)], &[], at(99.0));
        for tenths in 990..=1040 {
            assert!(adoption.on_clock(at(f64::from(tenths) / 10.0)).is_empty());
        }
        for _ in 0..1000 {
            assert!(adoption.on_clock(at(104.0)).is_empty(), "paused");
        }
        let mut later = adoption.clone();
        assert!(later.on_clock(at(9000.0)).is_empty(), "a jump is no silence");
        assert!(later.on_clock(at(2.0)).is_empty(), "ahead or back");
        assert_eq!(adoption.on_clock(at(104.1)), ["ann"]);
        assert!(adoption.on_clock(at(200.0)).is_empty());
        assert_eq!(adoption.on_roster(&[seen("ann", 7.0)], &[], at(201.0)).adopted, [(0, 0)]);
    }

    #[test]
    fn the_first_on_the_bus_stays_the_one() {
        let mut adoption = Adoption::new(Wanted::First);
        assert_eq!(adoption.on_roster(&[], &[], at(0.0)), Changes::default());
        let roster = [seen("env_0/ann", 1.0), seen("env_0/bob", 2.0)];
        assert_eq!(adoption.on_roster(&roster, &[], at(0.1)).adopted, [(0, 0)]);
        let ann = [driven("env_0/ann", 1.0)];
        assert_eq!(adoption.on_roster(&roster[1..], &ann, at(0.2)).dropped, ["env_0/ann"]);
        assert_eq!(adoption.on_roster(&roster[1..], &[], at(0.3)).adopted, []);
        assert_eq!(adoption.on_roster(&roster, &[], at(0.4)).adopted, [(0, 0)]);
    }

    #[test]
    fn one_person_is_found_in_either_spelling() {
        for name in ["env_0/ann", "ann"] {
            let mut adoption = Adoption::new(Wanted::One(name.to_owned()));
            adoption.on_roster(&[seen("bob", 0.0)], &[], at(0.0));
            assert_eq!(adoption.missing().collect::<Vec<_>>(), [name]);
            let roster = [seen("env_0/bob", 0.0), seen("env_0/ann", 0.0)];
            assert_eq!(adoption.on_roster(&roster, &[], at(0.1)).adopted, [(0, 1)]);
            assert_eq!(adoption.missing().count(), 0);
        }
    }

    #[test]
    fn poses_that_are_no_numbers_are_not_seen() {
        let mut adoption = Adoption::new(wanted(&["ann"]));
        let nowhere = Sighting { name: "ann".to_owned(), pose: Pose::planar(f64::NAN, 0.0, 0.0) };
        assert_eq!(adoption.on_roster(&[nowhere], &[], at(0.0)), Changes::default());
    }
}
