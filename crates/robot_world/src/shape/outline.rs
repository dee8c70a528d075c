//! The outline of a union of polygons, for which `i_overlay` does the work.

use i_overlay::core::fill_rule::FillRule;
use i_overlay::core::overlay_rule::OverlayRule;
use i_overlay::float::overlay::FloatOverlay;

use crate::Point;

/// The polygons of the union of counter-clockwise rings, each its outer ring (counter-clockwise) and then its holes (clockwise).
///
/// The engine works on a 64-bit grid over the rings' extent, finer than the rounding of the points themselves.
pub(super) fn union(rings: &[Vec<Point>]) -> Vec<Vec<Vec<Point>>> {
    FloatOverlay::<Point, i64>::from_subj(rings).overlay(OverlayRule::Subject, FillRule::NonZero)
}
