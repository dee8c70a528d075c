//! Points, rotations and transforms, as small as the rig needs them.

use crate::joint::Axis;

/// Coordinates (x, y, z) in metres.
pub type Point = [f64; 3];

/// A rotation matrix.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Matrix {
    /// The rotated x, y and z axes.
    pub columns: [Point; 3],
}

impl Matrix {
    /// No rotation.
    pub const IDENTITY: Self = Self { columns: [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]] };

    /// The rotation of a unit quaternion (x, y, z, w).
    #[must_use]
    pub fn from_quaternion([x, y, z, w]: [f64; 4]) -> Self {
        Self {
            columns: [
                [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y + w * z), 2.0 * (x * z - w * y)],
                [2.0 * (x * y - w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z + w * x)],
                [2.0 * (x * z + w * y), 2.0 * (y * z - w * x), 1.0 - 2.0 * (x * x + y * y)],
            ],
        }
    }

    /// The unit quaternion (x, y, z, w) of this rotation, w not negative.
    #[must_use]
    pub fn quaternion(&self) -> [f64; 4] {
        let [[m00, m10, m20], [m01, m11, m21], [m02, m12, m22]] = self.columns;
        // The largest of the four components is computed first, so that nothing small is divided by.
        let quaternion = if m00 + m11 + m22 > 0.0 {
            let s = 2.0 * (1.0 + m00 + m11 + m22).sqrt();
            [(m21 - m12) / s, (m02 - m20) / s, (m10 - m01) / s, s / 4.0]
        } else if m00 > m11 && m00 > m22 {
            let s = 2.0 * (1.0 + m00 - m11 - m22).sqrt();
            [s / 4.0, (m01 + m10) / s, (m02 + m20) / s, (m21 - m12) / s]
        } else if m11 > m22 {
            let s = 2.0 * (1.0 + m11 - m00 - m22).sqrt();
            [(m01 + m10) / s, s / 4.0, (m12 + m21) / s, (m02 - m20) / s]
        } else {
            let s = 2.0 * (1.0 + m22 - m00 - m11).sqrt();
            [(m02 + m20) / s, (m12 + m21) / s, s / 4.0, (m10 - m01) / s]
        };
        if quaternion[3] < 0.0 { quaternion.map(|component| -component) } else { quaternion }
    }

    /// The rotated point.
    #[must_use]
    pub fn apply(&self, [x, y, z]: Point) -> Point {
        let [a, b, c] = self.columns;
        std::array::from_fn(|row| a[row] * x + b[row] * y + c[row] * z)
    }

    /// Multiplies by a rotation about one of the moved axes; only two columns change.
    #[inline]
    pub(crate) fn turn(&mut self, axis: Axis, angle: f64) {
        if angle == 0.0 {
            return;
        }
        let (sign, first, second) = match axis {
            Axis::PX => (1.0, 1, 2),
            Axis::NX => (-1.0, 1, 2),
            Axis::PY => (1.0, 2, 0),
            Axis::NY => (-1.0, 2, 0),
            Axis::PZ => (1.0, 0, 1),
            Axis::NZ => (-1.0, 0, 1),
        };
        let (sin, cos) = angle.sin_cos();
        let sin = sign * sin;
        let (a, b) = (self.columns[first], self.columns[second]);
        for row in 0..3 {
            self.columns[first][row] = cos * a[row] + sin * b[row];
            self.columns[second][row] = cos * b[row] - sin * a[row];
        }
    }
}

/// A frame in another one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Transform {
    /// Origin, metres.
    pub translation: Point,
    /// Unit quaternion (x, y, z, w).
    pub rotation: [f64; 4],
}

impl Transform {
    /// The frame itself.
    pub const IDENTITY: Self = Self { translation: [0.0; 3], rotation: [0.0, 0.0, 0.0, 1.0] };

    /// A transform from a message's pose: the quaternion (x, y, z, w) is normalised, and one without a direction
    /// (zero, not finite) is no rotation. The translation is taken as it is.
    #[must_use]
    pub fn from_pose(translation: Point, quaternion: [f64; 4]) -> Self {
        let norm = quaternion.iter().fold(0.0_f64, |norm, component| norm.hypot(*component));
        let rotation = if norm.is_finite() && norm > 0.0 {
            quaternion.map(|component| component / norm)
        } else {
            Self::IDENTITY.rotation
        };
        Self { translation, rotation }
    }
}

/// Unit quaternion of a turn about an axis.
pub(crate) fn quaternion_about(axis: Axis, angle: f64) -> [f64; 4] {
    let (sin, cos) = (0.5 * angle).sin_cos();
    let [x, y, z] = axis.vector();
    [sin * x, sin * y, sin * z, cos]
}

#[cfg(test)]
mod tests {
    use super::*;

    const AXES: [Axis; 6] = [Axis::PX, Axis::NX, Axis::PY, Axis::NY, Axis::PZ, Axis::NZ];

    #[test]
    fn turning_and_quaternions_agree() {
        for axis in AXES {
            for step in -12..=12 {
                let angle = f64::from(step) * 0.26;
                let mut turned = Matrix::IDENTITY;
                turned.turn(axis, angle);
                let expected = Matrix::from_quaternion(quaternion_about(axis, angle));
                let back = Matrix::from_quaternion(turned.quaternion());
                for column in 0..3 {
                    for row in 0..3 {
                        assert!((turned.columns[column][row] - expected.columns[column][row]).abs() < 1e-14);
                        assert!((turned.columns[column][row] - back.columns[column][row]).abs() < 1e-14);
                    }
                }
            }
        }
    }

    #[test]
    fn a_pose_without_direction_is_no_rotation() {
        for quaternion in [[0.0; 4], [f64::NAN; 4], [0.0, 0.0, f64::INFINITY, 1.0]] {
            assert_eq!(Transform::from_pose([1.0; 3], quaternion).rotation, [0.0, 0.0, 0.0, 1.0]);
        }
        assert_eq!(Transform::from_pose([1.0; 3], [0.0, 0.0, 3.0, 0.0]).rotation, [0.0, 0.0, 1.0, 0.0]);
    }
}
