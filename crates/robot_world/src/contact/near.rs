//! Which pairs of objects may touch in this step, in the order in which they are looked at (robot-world specification, section 12.3).
//!
//! Boxes that meet, out of a hash, then levels outward from what cannot move. The order depends on the objects only, never on the hash.

use crate::contact::bodies::inverse_mass;
use crate::index::{Boxes, Item};
use crate::objects::Objects;

/// Level of what is not connected with anything immovable.
const FREE: u32 = u32::MAX;

/// The pairs of a step, with all buffers.
#[derive(Clone, Debug, Default)]
pub(super) struct Near {
    /// Rows a < b, in order.
    pub(super) pairs: Vec<[u32; 2]>,
    movable: Vec<bool>,
    moving: Boxes,
    fixed: Boxes,
    /// What `fixed` was built of: it is kept until that changes.
    fixed_items: Vec<Item>,
    items: Vec<Item>,
    levels: Vec<u32>,
    /// Where the neighbours of a row begin in `neighbors`.
    starts: Vec<u32>,
    neighbors: Vec<u32>,
    queue: Vec<u32>,
}

impl Near {
    /// Finds the pairs that come within the margin of each other, of which at least one can move.
    pub(super) fn find(&mut self, objects: &Objects, dt: f64) {
        self.gather(objects, margin(objects, dt));
        self.level(objects.len());
        let levels = &self.levels;
        self.pairs.sort_unstable_by_key(|&[a, b]| {
            let (one, two) = (levels[a as usize], levels[b as usize]);
            (one.min(two), one.max(two), a, b)
        });
    }

    /// Fills `pairs`, in any order, each once. Left out is what nothing collides with and what has no place.
    fn gather(&mut self, objects: &Objects, margin: f64) {
        self.pairs.clear();
        self.movable.clear();
        self.movable.extend((0..objects.len()).map(|row| inverse_mass(objects, row) > 0.0));
        let movable = &self.movable;
        let takes_part = |row: &usize| {
            let numbers = objects.centroid[*row].iter().chain(&objects.state[*row][..3]);
            !objects.unobstructed[*row] && numbers.copied().all(f64::is_finite)
        };
        let item = |row: usize| Item { row: row as u32, bounds: objects.bounds[row] };
        let size = |row: u32| 2.0 * objects.shape[row as usize].radius;
        self.moving.clear();
        self.items.clear();
        for row in (0..objects.len()).filter(takes_part) {
            if objects.is_static[row] {
                self.items.push(item(row));
            } else {
                self.moving.add(size(row as u32), item(row));
            }
        }
        self.moving.build();
        if self.items != self.fixed_items {
            self.fixed.clear();
            self.items.iter().for_each(|&item| self.fixed.add(size(item.row), item));
            self.fixed.build();
            std::mem::swap(&mut self.items, &mut self.fixed_items);
        }
        for row in (0..objects.len()).filter(|row| movable[*row]).filter(takes_part) {
            let [x, y, to_x, to_y] = objects.bounds[row];
            let grown = [x - margin, y - margin, to_x + margin, to_y + margin];
            let row = row as u32;
            let mut found = |&Item { row: other, .. }: &Item| {
                // Two that both move find each other twice.
                if other > row || !movable[other as usize] {
                    self.pairs.push([row.min(other), row.max(other)]);
                }
            };
            self.moving.meeting(&grown, &mut found);
            self.fixed.meeting(&grown, &mut found);
        }
    }

    /// Breadth-first levels over the pairs, from everything that cannot move.
    fn level(&mut self, count: usize) {
        // One place late, so that filling moves every start to where it belongs.
        self.starts.clear();
        self.starts.resize(count + 2, 0);
        for pair in &self.pairs {
            pair.iter().for_each(|&row| self.starts[row as usize + 2] += 1);
        }
        (2..count + 2).for_each(|at| self.starts[at] += self.starts[at - 1]);
        self.neighbors.clear();
        self.neighbors.resize(2 * self.pairs.len(), 0);
        for &[a, b] in &self.pairs {
            for (from, to) in [(a, b), (b, a)] {
                let next = &mut self.starts[from as usize + 1];
                self.neighbors[*next as usize] = to;
                *next += 1;
            }
        }
        self.levels.clear();
        self.levels.extend(self.movable.iter().map(|&movable| if movable { FREE } else { 0 }));
        self.queue.clear();
        self.queue.extend((0..count as u32).filter(|&row| !self.movable[row as usize]));
        let mut at = 0;
        while let Some(&row) = self.queue.get(at) {
            at += 1;
            let row = row as usize;
            for &other in &self.neighbors[self.starts[row] as usize..self.starts[row + 1] as usize] {
                if self.levels[other as usize] == FREE {
                    self.levels[other as usize] = self.levels[row] + 1;
                    self.queue.push(other);
                }
            }
        }
    }
}

/// How much a box is grown: twice the way of the fastest in a step.
fn margin(objects: &Objects, dt: f64) -> f64 {
    let mut fastest = 0.0_f64;
    for row in (0..objects.len()).filter(|&row| !objects.is_static[row]) {
        let limit = objects.model[row].as_ref().map_or(0.0, |model| model.max_speed(&objects.vel_max[row]));
        let [x, y] = objects.velocity_xy[row];
        // A limit that is none says nothing about how far it gets.
        for speed in [limit, x.hypot(y)].into_iter().filter(|speed| speed.is_finite()) {
            fastest = fastest.max(speed);
        }
    }
    2.0 * dt * fastest + 1e-6
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::shape::Shape;
    use proptest::prelude::*;

    /// Squares of 1 m at rest: where, and whether they can move.
    fn squares(all: &[([f64; 2], bool)]) -> Objects {
        let shape = Arc::new(Shape::rectangle(1.0, 1.0, None).expect("a square"));
        let mut objects = Objects::default();
        for (row, &([x, y], movable)) in all.iter().enumerate() {
            objects.id.push(row as u32);
            objects.shape.push(Arc::clone(&shape));
            objects.model.push(None);
            objects.state.push([x, y, 0.0, 0.0, 0.0, 0.0]);
            objects.centroid.push([x, y]);
            objects.bounds.push([x - 0.5, y - 0.5, x + 0.5, y + 0.5]);
            objects.velocity_xy.push([0.0; 2]);
            objects.vel_max.push([0.0; 4]);
            objects.mass.push(1.0);
            objects.is_static.push(!movable);
            objects.puppet.push(false);
            objects.unobstructed.push(false);
        }
        objects
    }

    fn pairs(objects: &Objects) -> Vec<[u32; 2]> {
        let mut near = Near::default();
        near.find(objects, 0.1);
        near.pairs
    }

    #[test]
    fn pairs_come_in_levels_from_what_cannot_move_and_then_by_id() {
        // Far from everything: 0 and 1. A row away from the wall, 6: 5, 4, 2. Beside 5: 3.
        let row = [[50.0, 0.0], [50.9, 0.0], [2.7, 0.0], [0.9, 0.9], [1.8, 0.0], [0.9, 0.0], [0.0, 0.0]];
        let objects = squares(&row.map(|at| (at, at != [0.0; 2])));
        let expected = [[3, 6], [5, 6], [3, 5], [3, 4], [4, 5], [2, 4], [0, 1]];
        assert_eq!(pairs(&objects), expected);
    }

    #[test]
    fn a_puppet_is_as_immovable_as_a_wall_and_a_ghost_is_not_there() {
        let mut objects = squares(&[([0.0, 0.0], true), ([0.9, 0.0], true), ([1.8, 0.0], false)]);
        objects.puppet[1] = true;
        assert_eq!(pairs(&objects), [[0, 1]]);
        objects.unobstructed[0] = true;
        assert!(pairs(&objects).is_empty());
    }

    #[test]
    fn a_wall_that_comes_goes_or_moves_is_seen_in_the_next_step() {
        let mut near = Near::default();
        let mut objects = squares(&[([0.0, 0.0], true), ([0.9, 0.0], false)]);
        let mut pairs = |objects: &Objects| {
            near.find(objects, 0.1);
            near.pairs.clone()
        };
        assert_eq!(pairs(&objects), [[0, 1]]);
        objects.bounds[1] = [5.0, 5.0, 6.0, 6.0];
        assert!(pairs(&objects).is_empty());
        objects.bounds[1] = [0.4, 0.0, 1.4, 1.0];
        assert_eq!(pairs(&objects), [[0, 1]]);
        objects.unobstructed[1] = true;
        assert!(pairs(&objects).is_empty());
    }

    #[test]
    fn what_has_no_place_meets_nobody() {
        let mut objects = squares(&[([0.0, 0.0], true), ([0.9, 0.0], true), ([0.5, 0.0], true)]);
        objects.state[1][0] = f64::NAN;
        objects.velocity_xy[2] = [f64::INFINITY, f64::NAN];
        assert_eq!(pairs(&objects), [[0, 2]]);
    }

    proptest! {
        #[test]
        fn pairs_are_those_of_a_plain_search(
            all in prop::collection::vec((prop::array::uniform2(-6.0..6.0), any::<bool>()), 0..40), speed in 0.0..3.0,
        ) {
            let mut objects = squares(&all);
            if let Some(velocity) = objects.velocity_xy.first_mut() {
                *velocity = [0.0, speed];
            }
            let margin = margin(&objects, 0.1);
            let mut plain = Vec::new();
            for (a, (one, moves)) in all.iter().enumerate() {
                for (b, (two, also)) in all.iter().enumerate().skip(a + 1) {
                    let close = (0..2).all(|axis| (one[axis] - two[axis]).abs() <= 1.0 + margin);
                    if close && (*moves || *also) {
                        plain.push([a as u32, b as u32]);
                    }
                }
            }
            let mut found = pairs(&objects);
            found.sort_unstable();
            prop_assert_eq!(found, plain);
        }
    }
}
