//! Which objects overlap (robot-world specification, section 11.1): boxes that meet, out of a hash built once per step, then shapes.
//!
//! Pairs of objects that never move are looked at once.

use crate::index::{Boxes, Item};
use crate::objects::Objects;
use crate::shape::overlap;

/// The boxes, and what is known of static objects.
#[derive(Clone, Debug, Default)]
pub(super) struct Touching {
    /// Whether `fixed` and `resting` are as the objects are.
    known: bool,
    fixed: Boxes,
    moving: Boxes,
    /// Pairs of static objects that overlap.
    resting: Vec<[u32; 2]>,
    pairs: Vec<[u32; 2]>,
}

impl Touching {
    /// Static objects have come, gone or moved.
    pub(super) fn forget(&mut self) {
        self.known = false;
    }

    /// Fills `collisions` of every object.
    pub(super) fn find(&mut self, objects: &mut Objects, exact_circles: bool) {
        let touches = |objects: &Objects, a: u32, b: u32| {
            overlap(&objects.placed(a as usize), &objects.placed(b as usize), exact_circles)
        };
        if !self.known {
            fill(&mut self.fixed, objects, true);
            self.resting.clear();
            self.fixed.pairs(|a, b| {
                if touches(objects, a, b) {
                    self.resting.push([a, b]);
                }
            });
            self.known = true;
        }
        fill(&mut self.moving, objects, false);
        self.pairs.clear();
        self.pairs.extend(&self.resting);
        self.moving.pairs(|a, b| {
            if touches(objects, a, b) {
                self.pairs.push([a, b]);
            }
        });
        for row in (0..objects.len()).filter(|row| takes_part(objects, *row, false)) {
            self.fixed.meeting(&objects.bounds[row], |other| {
                if touches(objects, row as u32, other.row) {
                    self.pairs.push([row as u32, other.row]);
                }
            });
        }
        objects.collisions.iter_mut().for_each(Vec::clear);
        for &[a, b] in &self.pairs {
            let ids = [objects.id[a as usize], objects.id[b as usize]];
            objects.collisions[a as usize].push(ids[1]);
            objects.collisions[b as usize].push(ids[0]);
        }
        objects.collisions.iter_mut().for_each(|others| others.sort_unstable());
    }
}

fn takes_part(objects: &Objects, row: usize, fixed: bool) -> bool {
    objects.is_static[row] == fixed && !objects.unobstructed[row]
}

fn fill(boxes: &mut Boxes, objects: &Objects, fixed: bool) {
    boxes.clear();
    for row in (0..objects.len()).filter(|row| takes_part(objects, *row, fixed)) {
        let size = 2.0 * objects.shape[row].radius;
        boxes.add(size, Item { row: row as u32, bounds: objects.bounds[row] });
    }
    boxes.build();
}
