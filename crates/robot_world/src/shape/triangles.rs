//! Polygons cut into convex pieces.

use spade::{ConstrainedDelaunayTriangulation, Point2, Triangulation};

use super::{Piece, cross, minus};
use crate::Point;

/// Convex pieces of a simple counter-clockwise ring: itself when it is convex, else the triangles of its constrained Delaunay triangulation.
pub(super) fn convex_pieces(ring: &[Point]) -> Vec<Piece> {
    if is_convex(ring) {
        return vec![Piece::Polygon(ring.to_vec())];
    }
    let vertices = ring.iter().map(|[x, y]| Point2::new(*x, *y)).collect();
    let edges = (0..ring.len()).map(|i| [i, (i + 1) % ring.len()]).collect();
    // The ring was found simple with exact signs, and its coordinates are in the range that triangulation takes.
    let triangulation = ConstrainedDelaunayTriangulation::<Point2<f64>>::bulk_load_cdt(vertices, edges)
        .expect("coordinates are finite and in range");
    triangulation
        .inner_faces()
        .filter(|face| is_inside(ring, face.center()))
        .map(|face| Piece::Polygon(face.positions().iter().map(|p| [p.x, p.y]).collect()))
        .collect()
}

/// Whether a ring turns left everywhere. A simple ring that does is convex.
fn is_convex(ring: &[Point]) -> bool {
    let count = ring.len();
    (0..count).all(|i| {
        let (a, b, c) = (ring[i], ring[(i + 1) % count], ring[(i + 2) % count]);
        cross(minus(b, a), minus(c, b)) >= 0.0
    })
}

/// Whether a point that is not on the ring lies in it, by the parity of edges above it.
fn is_inside(ring: &[Point], point: Point2<f64>) -> bool {
    let mut inside = false;
    for i in 0..ring.len() {
        let ([ax, ay], [bx, by]) = (ring[i], ring[(i + 1) % ring.len()]);
        if (ay > point.y) != (by > point.y) && point.x < ax + (point.y - ay) / (by - ay) * (bx - ax) {
            inside = !inside;
        }
    }
    inside
}
