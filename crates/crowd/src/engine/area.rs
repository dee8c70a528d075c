//! Areas of sources and sinks.

use crate::protocol::{Pose, Shape, shape};
use promenade_kernel::generator::Generator;

/// A polygon that is not convex is drawn from until a point lies inside, but no more often than this.
const TRIES: usize = 64;

/// An area in the engine's frame, metres.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Area {
    /// The pose alone.
    Point([f64; 2]),
    /// A disc.
    Circle([f64; 2], f64),
    /// A polygon of at least three corners.
    Polygon(Vec<[f64; 2]>),
}

impl Area {
    /// The area of a shape around a pose. A shape without extent is the pose itself.
    pub(crate) fn new(area: &Shape, pose: Pose) -> Self {
        let [x, y, theta] = pose;
        let (sin, cos) = theta.sin_cos();
        let corner = |[dx, dy]: [f64; 2]| [x + dx * cos - dy * sin, y + dx * sin + dy * cos];
        match area.kind {
            shape::CIRCLE if area.radius > 0.0 => Self::Circle([x, y], area.radius),
            shape::RECTANGLE if area.width > 0.0 && area.height > 0.0 => {
                let (w, h) = (0.5 * area.width, 0.5 * area.height);
                Self::Polygon([[-w, -h], [w, -h], [w, h], [-w, h]].map(corner).to_vec())
            }
            shape::POLYGON if area.vertices.len() > 2 => {
                Self::Polygon(area.vertices.iter().map(|v| corner(v.map(f64::from))).collect())
            }
            _ => Self::Point([x, y]),
        }
    }

    /// A point of the area, uniformly. A point alone draws nothing.
    pub(crate) fn draw(&self, stream: &mut Generator) -> [f64; 2] {
        match self {
            Self::Point(at) => *at,
            Self::Circle([x, y], radius) => {
                let from_centre = radius * stream.random().sqrt();
                let angle = stream.uniform(0.0, std::f64::consts::TAU);
                [x + from_centre * angle.cos(), y + from_centre * angle.sin()]
            }
            Self::Polygon(corners) => {
                let mut drawn = draw_of_fan(corners, stream);
                for _ in 1..TRIES {
                    if self.contains(drawn) {
                        break;
                    }
                    drawn = draw_of_fan(corners, stream);
                }
                drawn
            }
        }
    }

    /// Whether a point lies inside.
    pub(crate) fn contains(&self, p: [f64; 2]) -> bool {
        match self {
            Self::Point(at) => *at == p,
            Self::Circle([x, y], radius) => (p[0] - x).hypot(p[1] - y) <= *radius,
            Self::Polygon(corners) => {
                let mut inside = false;
                let mut a = corners[corners.len() - 1];
                for b in corners {
                    let crosses = (a[1] > p[1]) != (b[1] > p[1]);
                    if crosses && p[0] < (b[0] - a[0]) * (p[1] - a[1]) / (b[1] - a[1]) + a[0] {
                        inside = !inside;
                    }
                    a = *b;
                }
                inside
            }
        }
    }
}

/// A point of one of the triangles between the first corner and each further side, chosen by area.
fn draw_of_fan(corners: &[[f64; 2]], stream: &mut Generator) -> [f64; 2] {
    let a = corners[0];
    let triangles = || corners[1..].windows(2);
    let area = |side: &[[f64; 2]]| {
        let [u, v] = [0, 1].map(|end| [side[end][0] - a[0], side[end][1] - a[1]]);
        (u[0] * v[1] - u[1] * v[0]).abs()
    };
    let total: f64 = triangles().map(area).sum();
    let wanted = stream.random() * total;
    let mut cumulative = 0.0;
    let chosen = triangles().find(|side| {
        cumulative += area(side);
        wanted < cumulative
    });
    let side = chosen.unwrap_or(&corners[1..3]);
    let (along, across) = (stream.random().sqrt(), stream.random());
    std::array::from_fn(|axis| {
        let [b, c] = [side[0][axis], side[1][axis]];
        a[axis] + along * ((1.0 - across) * (b - a[axis]) + across * (c - a[axis]))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn l_shape() -> Shape {
        let vertices = [[0.0, 0.0], [2.0, 0.0], [2.0, 1.0], [1.0, 1.0], [1.0, 2.0], [0.0, 2.0]].to_vec();
        Shape { kind: shape::POLYGON, vertices, ..Shape::default() }
    }

    #[test]
    fn points_of_an_area_lie_in_it_whatever_its_shape() {
        let turned = Shape { kind: shape::RECTANGLE, width: 4.0, height: 1.0, ..Shape::default() };
        let round = Shape { kind: shape::CIRCLE, radius: 0.5, ..Shape::default() };
        let mut stream = Generator::seeded(1);
        for area in [l_shape(), turned, round] {
            let area = Area::new(&area, [3.0, -2.0, 0.7]);
            let points: Vec<[f64; 2]> = (0..500).map(|_| area.draw(&mut stream)).collect();
            assert!(points.iter().all(|p| area.contains(*p)), "{area:?}");
            let spread = points.iter().fold(0.0_f64, |most, p| most.max((p[0] - points[0][0]).abs()));
            assert!(spread > 0.4, "{area:?}");
        }
    }

    #[test]
    fn every_part_of_a_polygon_is_as_likely_as_it_is_large() {
        let area = Area::new(&l_shape(), [0.0; 3]);
        let mut stream = Generator::seeded(2);
        let count = 6000;
        let upper = (0..count).filter(|_| area.draw(&mut stream)[1] > 1.0).count();
        assert!((upper as f64 / f64::from(count) - 1.0 / 3.0).abs() < 0.03, "{upper}");
    }

    #[test]
    fn a_shape_without_extent_is_its_pose_and_draws_nothing() {
        let area = Area::new(&Shape::default(), [1.0, 2.0, 0.0]);
        let mut stream = Generator::seeded(3);
        assert_eq!(area.draw(&mut stream), [1.0, 2.0]);
        assert_eq!(stream.random(), Generator::seeded(3).random());
    }
}
