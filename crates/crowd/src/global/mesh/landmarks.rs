//! How far it is at least to a place, from how far it is to a few others (Goldberg and Harrelson 2005, Computing the shortest path: A*
//! search meets graph theory).
//!
//! In a maze the beeline says little of the way. The distances are those with all gates open, so that they are never too long.

use super::search::{Rules, Search, Spot};
use super::{Edge, Mesh};

/// Landmarks of a mesh, if it has at most so many samples; larger ones have one.
const LANDMARKS: usize = 6;
const MANY: usize = 30_000;

/// What the distances from a landmark say about a place: it is at least and at most so far from it.
pub(super) struct Bounds {
    least: f64,
    most: f64,
}

impl Mesh {
    /// Choose landmarks far from each other.
    pub(super) fn set_landmarks(&mut self) {
        let count = if self.samples.len() <= MANY { LANDMARKS } else { 1 };
        let mut search = Search::default();
        let mut nearest = vec![f64::INFINITY; self.samples.len()];
        let Some(mut from) = self.middle_of_most() else {
            return;
        };
        for number in 0..=count {
            self.spread(&mut search, from, None, Rules { banned: &[], squeeze: false });
            // The first one is only where the search for the farthest begins.
            if number > 0 {
                self.landmarks.push(search.cost.clone());
            }
            for (least, cost) in nearest.iter_mut().zip(&search.cost) {
                *least = if number > 0 { least.min(*cost) } else { *cost };
            }
            let reached = nearest.iter().enumerate().filter(|(_, least)| least.is_finite());
            let Some((farthest, _)) = reached.max_by(|a, b| a.1.total_cmp(b.1)) else {
                return;
            };
            from = self.spot(self.samples[farthest]);
        }
    }

    /// A place in the part of free space that most samples are in.
    fn middle_of_most(&mut self) -> Option<Spot> {
        self.label();
        let mut counts = vec![0_u32; self.triangles.len()];
        let edges = || self.edges.iter().filter(|edge| edge.passable);
        let label = |edge: &Edge| self.labels[edge.sides[0] as usize] as usize;
        edges().for_each(|edge| counts[label(edge)] += edge.count);
        let most = counts.iter().copied().max()?;
        let edge = edges().find(|edge| counts[label(edge)] == most)?;
        Some(self.spot(self.samples[edge.first as usize]))
    }

    /// For every landmark, how far from it the edges of a spot's triangle are.
    pub(super) fn bounds(&self, spot: Spot) -> Vec<Bounds> {
        let samples =
            || self.edges_of[spot.triangle as usize].into_iter().flat_map(|edge| self.samples_of(edge));
        let bounds = |costs: &Vec<f64>| {
            // Edges that nobody comes to are walls.
            let costs = || samples().map(|sample| costs[sample as usize]).filter(|cost| cost.is_finite());
            Bounds { least: costs().fold(f64::INFINITY, f64::min), most: costs().fold(0.0, f64::max) }
        };
        self.landmarks.iter().map(bounds).collect()
    }

    /// How far it is at least from a sample to the edges that the bounds were made for.
    pub(super) fn at_least(&self, sample: u32, bounds: &[Bounds]) -> f64 {
        let of = |(costs, bounds): (&Vec<f64>, &Bounds)| {
            let cost = costs[sample as usize];
            // What a landmark cannot reach it knows nothing about.
            let known = cost.is_finite() && bounds.least.is_finite();
            if known { (cost - bounds.most).max(bounds.least - cost) } else { 0.0 }
        };
        self.landmarks.iter().zip(bounds).map(of).fold(0.0, f64::max)
    }
}
