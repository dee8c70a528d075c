//! Spatial hashes: which centroids are near a point, and which bounding boxes meet.
//!
//! Both answer candidates in an order that depends only on what they hold, never on hashing; neither decides whether shapes touch.

mod boxes;
mod centers;

pub use boxes::{Boxes, Item};
pub use centers::Centers;

/// The cell of a coordinate, given cells per metre; far away saturates. Rounding down by hand, since `floor` is a call on machines without SSE 4.1.
fn cell(value: f64, per_metre: f64) -> i64 {
    let scaled = value * per_metre;
    let whole = scaled as i64;
    whole.saturating_sub(i64::from(whole as f64 > scaled))
}

/// Mixes a cell into a number whose low bits are usable.
fn mix([x, y]: [i64; 2]) -> usize {
    let mixed =
        (x as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ (y as u64).wrapping_mul(0xc2b2_ae3d_27d4_eb4f);
    (mixed ^ (mixed >> 29)) as usize
}
