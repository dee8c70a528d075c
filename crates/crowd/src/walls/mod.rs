//! Walls as named segments, the gates among them, and the indices that find those near a point or a line.
//!
//! Whoever asks gets walls in order of insertion, since sums over walls run in that order (crowd-engine specification, section 1); gates
//! come after all other walls. A gate is a wall that comes and goes: whatever is built over the walls knows it also while it is open, so
//! that opening and closing it never builds anything anew.

mod cells;
mod index;
mod lines;

use std::collections::{HashMap, HashSet, VecDeque};

use serde::{Deserialize, Serialize};

use crate::error::{CrowdError, coordinate};

pub use index::WallIndex;
pub use lines::LineIndex;

/// Walls of such a name are doors: gates from the first time they close.
pub const DOOR_PREFIX: &str = "__door_";
/// So many of the walls that were removed last are remembered, to know them for gates when they come back.
const REMEMBERED: usize = 256;

/// A named segment, metres.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Wall {
    /// Name; a wall added under the name of another takes its place.
    pub name: String,
    /// One end.
    pub start: [f64; 2],
    /// The other end.
    pub end: [f64; 2],
}

impl Wall {
    fn segment(&self) -> Segment {
        Segment::between(self.start, self.end)
    }
}

/// A segment as its start and the way to its end.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Segment {
    /// Start.
    pub start: [f64; 2],
    /// End minus start.
    pub along: [f64; 2],
    /// Square of the length.
    pub length2: f64,
}

impl Segment {
    /// The segment between two points.
    #[must_use]
    pub fn between(start: [f64; 2], end: [f64; 2]) -> Self {
        let along = [end[0] - start[0], end[1] - start[1]];
        Self { start, along, length2: along[0] * along[0] + along[1] * along[1] }
    }

    /// The other end.
    #[must_use]
    pub fn end(&self) -> [f64; 2] {
        [self.start[0] + self.along[0], self.start[1] + self.along[1]]
    }

    /// The point of the segment closest to `p`.
    #[must_use]
    #[inline]
    pub fn closest(&self, p: [f64; 2]) -> [f64; 2] {
        let to = [p[0] - self.start[0], p[1] - self.start[1]];
        let t = if self.length2 > 0.0 {
            ((to[0] * self.along[0] + to[1] * self.along[1]) / self.length2).clamp(0.0, 1.0)
        } else {
            0.0
        };
        [self.start[0] + t * self.along[0], self.start[1] + t * self.along[1]]
    }

    /// Distance of `p`, and `p` minus the closest point.
    #[must_use]
    #[inline]
    pub fn offset(&self, p: [f64; 2]) -> (f64, [f64; 2]) {
        let closest = self.closest(p);
        let offset = [p[0] - closest[0], p[1] - closest[1]];
        ((offset[0] * offset[0] + offset[1] * offset[1]).sqrt(), offset)
    }

    /// Whether it has a point in common with another; segments along each other have none.
    #[must_use]
    pub fn crosses(&self, other: &Self) -> bool {
        self.crossing(other).is_some_and(|[t, u]| (0.0..=1.0).contains(&t) && (0.0..=1.0).contains(&u))
    }

    /// Where the lines of both meet, as shares of their lengths; `None` for parallel ones.
    #[must_use]
    #[inline]
    pub fn crossing(&self, other: &Self) -> Option<[f64; 2]> {
        let (d, w) = (self.along, other.along);
        let cross = d[0] * w[1] - d[1] * w[0];
        if cross == 0.0 {
            return None;
        }
        let to = [other.start[0] - self.start[0], other.start[1] - self.start[1]];
        Some([(to[0] * w[1] - to[1] * w[0]) / cross, (to[0] * d[1] - to[1] * d[0]) / cross])
    }

    /// Distance between the nearest points of both.
    #[must_use]
    pub fn distance(&self, other: &Self) -> f64 {
        if self.crosses(other) {
            return 0.0;
        }
        let own = other.offset(self.start).0.min(other.offset(self.end()).0);
        own.min(self.offset(other.start).0).min(self.offset(other.end()).0)
    }
}

/// A gate that opened or closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Toggle {
    /// Number of the gate among [`WallSet::segments`].
    pub number: usize,
    /// Whether it stands now.
    pub closed: bool,
}

/// All walls, and the segments they are.
#[derive(Debug, Clone, Default)]
pub struct WallSet {
    /// Those that stand, in order of insertion.
    standing: Vec<Wall>,
    fixed: Vec<Wall>,
    gates: Vec<Wall>,
    /// Of the fixed walls and then of the gates; the same for `closed`.
    segments: Vec<Segment>,
    closed: Vec<bool>,
    /// Number among `segments`.
    numbers: HashMap<String, usize>,
    removed: VecDeque<Wall>,
}

impl WallSet {
    /// Add walls; one under a known name replaces the earlier one in its place, and a known gate closes.
    ///
    /// # Errors
    /// A coordinate that is no place; then no wall is added.
    pub fn add(&mut self, walls: impl IntoIterator<Item = Wall>) -> Result<(), CrowdError> {
        let walls: Vec<Wall> = walls.into_iter().collect();
        for wall in &walls {
            for place in wall.start.iter().chain(&wall.end) {
                coordinate(format_args!("end of wall {:?}", wall.name), *place)?;
            }
        }
        for wall in walls {
            self.put(wall);
        }
        self.number();
        Ok(())
    }

    fn put(&mut self, wall: Wall) {
        let known = self.numbers.get(&wall.name).copied();
        match self.standing.iter().position(|w| known.is_some() && w.name == wall.name) {
            Some(at) => self.standing[at] = wall.clone(),
            None => self.standing.push(wall.clone()),
        }
        let fixed = self.fixed.len();
        match known {
            Some(number) if number < fixed => self.fixed[number] = wall,
            Some(number) => self.gates[number - fixed] = wall,
            None if wall.name.starts_with(DOOR_PREFIX) || self.removed.contains(&wall) => {
                self.numbers.insert(wall.name.clone(), fixed + self.gates.len());
                self.gates.push(wall);
            }
            None => {
                for number in self.numbers.values_mut().filter(|number| **number >= fixed) {
                    *number += 1;
                }
                self.numbers.insert(wall.name.clone(), fixed);
                self.fixed.push(wall);
            }
        }
    }

    /// Remove walls by name; names of none are ignored. A gate opens and stays known as long as any wall stands. No names
    /// at all removes and forgets everything.
    pub fn remove(&mut self, names: &[String]) {
        if names.is_empty() {
            *self = Self::default();
            return;
        }
        let names: HashSet<&str> = names.iter().map(String::as_str).collect();
        self.standing.retain(|wall| !names.contains(wall.name.as_str()));
        if self.standing.is_empty() {
            // The world was cleared: the next one has doors of its own.
            *self = Self::default();
            return;
        }
        let (gone, left) =
            std::mem::take(&mut self.fixed).into_iter().partition(|w| names.contains(w.name.as_str()));
        self.fixed = left;
        let gone: Vec<Wall> = gone;
        self.removed.extend(gone);
        let surplus = self.removed.len().saturating_sub(REMEMBERED);
        self.removed.drain(..surplus);
        self.number();
    }

    /// What follows from the lists.
    fn number(&mut self) {
        let all = || self.fixed.iter().chain(&self.gates);
        self.segments = all().map(Wall::segment).collect();
        self.numbers = all().enumerate().map(|(number, wall)| (wall.name.clone(), number)).collect();
        let standing: HashSet<&str> = self.standing.iter().map(|wall| wall.name.as_str()).collect();
        self.closed = all().map(|wall| standing.contains(wall.name.as_str())).collect();
    }

    /// Close these walls if all of them are known gates where they were before; `None`, and nothing done, if not.
    pub fn close(&mut self, walls: &[Wall]) -> Option<Vec<Toggle>> {
        let number = |wall: &Wall| {
            let number = self.numbers.get(&wall.name).copied().filter(|n| *n >= self.fixed.len())?;
            (self.gates[number - self.fixed.len()] == *wall).then_some(number)
        };
        let numbers: Option<Vec<usize>> = walls.iter().map(number).collect();
        Some(numbers?.into_iter().filter_map(|number| self.set(number, true)).collect())
    }

    /// Open these walls if all of the names are those of known gates or of nothing; `None`, and nothing done, if not.
    pub fn open(&mut self, names: &[String]) -> Option<Vec<Toggle>> {
        let numbers: Vec<usize> = names.iter().filter_map(|name| self.numbers.get(name).copied()).collect();
        if names.is_empty() || numbers.iter().any(|number| *number < self.fixed.len()) {
            return None;
        }
        Some(numbers.into_iter().filter_map(|number| self.set(number, false)).collect())
    }

    fn set(&mut self, number: usize, closed: bool) -> Option<Toggle> {
        if self.closed[number] == closed {
            return None;
        }
        self.closed[number] = closed;
        let gate = &self.gates[number - self.fixed.len()];
        match closed {
            true => self.standing.push(gate.clone()),
            false => self.standing.retain(|wall| wall.name != gate.name),
        }
        Some(Toggle { number, closed })
    }

    /// A gate by name, open or closed.
    #[must_use]
    pub fn gate(&self, name: &str) -> Option<&Wall> {
        self.gates.get(self.numbers.get(name)?.checked_sub(self.fixed.len())?)
    }

    /// The walls that stand, in order of insertion.
    #[must_use]
    pub fn walls(&self) -> &[Wall] {
        &self.standing
    }

    /// All fixed walls in order of insertion, and then all gates, open ones too.
    #[must_use]
    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// Which of [`WallSet::segments`] stand; all but open gates do.
    #[must_use]
    pub fn closed(&self) -> &[bool] {
        &self.closed
    }

    /// How many of [`WallSet::segments`] are no gates; they come first.
    #[must_use]
    pub fn fixed(&self) -> usize {
        self.fixed.len()
    }

    /// Smallest and largest corner of the box around all walls and gates; `None` without any.
    #[must_use]
    pub fn bounds(&self) -> Option<([f64; 2], [f64; 2])> {
        bounds(&self.segments)
    }
}

pub(crate) fn bounds(segments: &[Segment]) -> Option<([f64; 2], [f64; 2])> {
    let mut ends = segments.iter().flat_map(|s| [s.start, s.end()]);
    let first = ends.next()?;
    Some(ends.fold((first, first), |(low, high), p| {
        ([low[0].min(p[0]), low[1].min(p[1])], [high[0].max(p[0]), high[1].max(p[1])])
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wall(name: &str, start: [f64; 2], end: [f64; 2]) -> Wall {
        Wall { name: name.to_owned(), start, end }
    }

    fn names(set: &WallSet) -> Vec<&str> {
        set.walls().iter().map(|w| w.name.as_str()).collect()
    }

    #[test]
    fn a_wall_under_a_known_name_takes_the_place_of_the_earlier_one() {
        let mut set = WallSet::default();
        set.add([wall("a", [0.0, 0.0], [1.0, 0.0]), wall("b", [0.0, 1.0], [1.0, 1.0])]).expect("finite");
        set.add([wall("a", [5.0, 0.0], [6.0, 0.0])]).expect("finite");
        assert_eq!(names(&set), ["a", "b"]);
        assert_eq!(set.segments()[0].start, [5.0, 0.0]);
        set.remove(&["nobody".to_owned(), "a".to_owned()]);
        assert_eq!(set.segments().len(), 1);
        set.remove(&[]);
        assert!(set.walls().is_empty() && set.bounds().is_none());
    }

    #[test]
    fn a_wall_without_place_is_refused_and_nothing_added() {
        let mut set = WallSet::default();
        let both = [wall("a", [0.0, 0.0], [1.0, 0.0]), wall("b", [f64::NAN, 1.0], [1.0, 1.0])];
        let error = set.add(both).expect_err("refused").to_string();
        assert_eq!(error, "end of wall \"b\": expected a number between -1e7 and 1e7, found NaN");
        assert!(set.walls().is_empty());
    }

    #[test]
    fn a_wall_of_no_length_is_a_point() {
        let segment = Segment::between([1.0, 2.0], [1.0, 2.0]);
        assert_eq!(segment.offset([4.0, 6.0]), (5.0, [3.0, 4.0]));
    }

    #[test]
    fn a_door_is_known_from_its_first_closing_and_stays_in_its_place_when_it_opens() {
        let mut set = WallSet::default();
        let door = wall("__door_hall", [1.0, 0.0], [2.0, 0.0]);
        assert_eq!(set.close(std::slice::from_ref(&door)), None, "not known yet");
        set.add([door.clone(), wall("a", [0.0, 0.0], [1.0, 0.0])]).expect("finite");
        assert_eq!(
            (set.fixed(), set.closed(), names(&set)),
            (1, &[true, true][..], vec!["__door_hall", "a"])
        );
        let opened = set.open(std::slice::from_ref(&door.name)).expect("a gate");
        assert_eq!(opened, [Toggle { number: 1, closed: false }]);
        assert_eq!((set.closed(), names(&set)), (&[true, false][..], vec!["a"]));
        assert_eq!(set.open(std::slice::from_ref(&door.name)), Some(Vec::new()), "it is open already");
        assert_eq!(set.open(&["a".to_owned()]), None, "a wall that is no gate");
        let moved = wall("__door_hall", [1.0, 0.0], [3.0, 0.0]);
        assert_eq!(set.close(&[moved]), None, "a gate that has moved is built anew");
        assert_eq!(set.close(&[door]).map(|toggles| toggles.len()), Some(1));
        assert_eq!(names(&set), ["a", "__door_hall"]);
    }

    #[test]
    fn a_wall_that_comes_back_where_it_was_is_a_gate() {
        let mut set = WallSet::default();
        let bar = wall("bar", [1.0, 0.0], [2.0, 0.0]);
        set.add([wall("other", [0.0, 0.0], [1.0, 0.0])]).expect("finite");
        for fixed in [2, 1] {
            set.add([bar.clone()]).expect("finite");
            assert_eq!(set.fixed(), fixed);
            if set.open(std::slice::from_ref(&bar.name)).is_none() {
                set.remove(std::slice::from_ref(&bar.name));
            }
        }
        assert_eq!((set.segments().len(), set.closed()), (2, &[true, false][..]));
        set.remove(&["other".to_owned()]);
        assert!(set.segments().is_empty(), "nothing stands, so nothing is known");
    }
}
