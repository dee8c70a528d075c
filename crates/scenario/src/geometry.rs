//! Points, segments and polygons of a floor plan: just what files and placement need.
//!
//! Metres in the world frame. This is no geometry library: contacts, clearance and navigation have their own.

/// A point on the floor, in metres.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Point {
    /// East of the world origin.
    pub x: f64,
    /// North of the world origin.
    pub y: f64,
}

impl Point {
    /// The point `(x, y)`.
    #[must_use]
    pub const fn new(x: f64, y: f64) -> Self {
        Self { x, y }
    }

    /// Distance to another point.
    #[must_use]
    pub fn distance(self, other: Self) -> f64 {
        (self.x - other.x).hypot(self.y - other.y)
    }
}

impl From<[f64; 2]> for Point {
    fn from([x, y]: [f64; 2]) -> Self {
        Self { x, y }
    }
}

impl From<Point> for [f64; 2] {
    fn from(p: Point) -> Self {
        [p.x, p.y]
    }
}

/// A straight line between two points.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Segment {
    /// One end.
    pub start: Point,
    /// The other end.
    pub end: Point,
}

impl Segment {
    /// Smallest distance from a point to the segment. A segment of zero length is a point.
    #[must_use]
    pub fn distance(&self, p: Point) -> f64 {
        let (dx, dy) = (self.end.x - self.start.x, self.end.y - self.start.y);
        let squared = dx * dx + dy * dy;
        let t = if squared > 0.0 {
            (((p.x - self.start.x) * dx + (p.y - self.start.y) * dy) / squared).clamp(0.0, 1.0)
        } else {
            0.0
        };
        p.distance(Point::new(self.start.x + t * dx, self.start.y + t * dy))
    }

    /// The point a fraction `t` of the way from start to end.
    #[must_use]
    pub fn at(&self, t: f64) -> Point {
        Point::new(
            self.start.x + t * (self.end.x - self.start.x),
            self.start.y + t * (self.end.y - self.start.y),
        )
    }

    /// The fraction of the way at which `other` is crossed, its ends included. A way that only begins or ends on `other`, or
    /// runs along it, does not cross it.
    #[must_use]
    pub fn crossing(&self, other: &Self) -> Option<f64> {
        let side = |of: &Self, p: Point| {
            (of.end.x - of.start.x) * (p.y - of.start.y) - (of.end.y - of.start.y) * (p.x - of.start.x)
        };
        let (a, b) = (side(other, self.start), side(other, self.end));
        let (c, d) = (side(self, other.start), side(self, other.end));
        (a * b < 0.0 && c * d <= 0.0).then(|| a / (a - b))
    }

    /// Length in metres.
    #[must_use]
    pub fn length(&self) -> f64 {
        self.start.distance(self.end)
    }
}

/// Area of a polygon in square metres, positive when its corners run counter-clockwise (the shoelace formula).
#[must_use]
pub fn signed_area(corners: &[Point]) -> f64 {
    // Relative to the first corner, so that a world far from the origin loses no digits.
    let Some(&origin) = corners.first() else {
        return 0.0;
    };
    0.5 * edges(corners)
        .map(|s| {
            (s.start.x - origin.x) * (s.end.y - origin.y) - (s.end.x - origin.x) * (s.start.y - origin.y)
        })
        .sum::<f64>()
}

/// The sides of a polygon, the closing one last.
pub fn edges(corners: &[Point]) -> impl Iterator<Item = Segment> + '_ {
    (0..corners.len()).map(|i| Segment { start: corners[i], end: corners[(i + 1) % corners.len()] })
}

/// Whether a point lies inside a simple polygon (even-odd rule; corners in either direction). On the edge is undefined but deterministic.
#[must_use]
pub fn contains(corners: &[Point], p: Point) -> bool {
    edges(corners).fold(false, |inside, s| {
        let crosses = (s.start.y > p.y) != (s.end.y > p.y)
            && p.x < (s.end.x - s.start.x) * (p.y - s.start.y) / (s.end.y - s.start.y) + s.start.x;
        inside != crosses
    })
}

/// Smallest and largest coordinates of some points; `None` for no points.
#[must_use]
pub fn bounds(points: &[Point]) -> Option<(Point, Point)> {
    let first = *points.first()?;
    Some(points.iter().fold((first, first), |(low, high), p| {
        (Point::new(low.x.min(p.x), low.y.min(p.y)), Point::new(high.x.max(p.x), high.y.max(p.y)))
    }))
}

/// Mean of the vertices: the centroid the region messages are relative to.
#[must_use]
pub fn vertex_mean(points: &[Point]) -> Point {
    let n = points.len().max(1) as f64;
    Point::new(points.iter().map(|p| p.x).sum::<f64>() / n, points.iter().map(|p| p.y).sum::<f64>() / n)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn l_shape() -> Vec<Point> {
        [[0., 0.], [4., 0.], [4., 1.], [1., 1.], [1., 3.], [0., 3.]].map(Point::from).to_vec()
    }

    #[test]
    fn a_concave_polygon_knows_its_inside_and_area() {
        let l = l_shape();
        assert!(contains(&l, Point::new(0.5, 2.5)));
        assert!(contains(&l, Point::new(3.5, 0.5)));
        assert!(!contains(&l, Point::new(2.0, 2.0)));
        assert!((signed_area(&l) - 6.0).abs() < 1e-12);
        let backwards: Vec<Point> = l.iter().rev().copied().collect();
        assert!((signed_area(&backwards) + 6.0).abs() < 1e-12);
    }

    #[test]
    fn distance_to_a_segment_ends_at_its_ends() {
        let s = Segment { start: Point::new(0.0, 0.0), end: Point::new(2.0, 0.0) };
        assert!((s.distance(Point::new(1.0, 1.0)) - 1.0).abs() < 1e-12);
        assert!((s.distance(Point::new(5.0, 4.0)) - 5.0).abs() < 1e-12);
        let dot = Segment { end: s.start, ..s };
        assert!((dot.distance(Point::new(3.0, 4.0)) - 5.0).abs() < 1e-12);
    }

    #[test]
    fn a_way_crosses_what_lies_across_it_and_not_what_it_ends_at() {
        let segment = |a: [f64; 2], b: [f64; 2]| Segment { start: a.into(), end: b.into() };
        let way = segment([0.0, 0.0], [4.0, 0.0]);
        assert_eq!(way.crossing(&segment([1.0, -1.0], [1.0, 2.0])), Some(0.25));
        assert_eq!(way.crossing(&segment([1.0, 0.0], [1.0, 2.0])), Some(0.25), "past the end of a wall");
        assert_eq!(way.at(0.25), Point::new(1.0, 0.0));
        for beside in [[[4.0, -1.0], [4.0, 1.0]], [[1.0, 0.1], [1.0, 2.0]], [[1.0, 0.0], [3.0, 0.0]]] {
            assert_eq!(way.crossing(&segment(beside[0], beside[1])), None, "{beside:?}");
        }
    }

    #[test]
    fn vertex_mean_of_the_worked_example_source() {
        let p = [[0.2, 2.0], [1.0, 2.0], [1.0, 3.0], [0.2, 3.0]].map(Point::from);
        let mean = vertex_mean(&p);
        assert!((mean.x - 0.6).abs() < 1e-12 && (mean.y - 2.5).abs() < 1e-12);
    }
}
