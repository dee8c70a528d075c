//! A field of velocities that agents can follow, one per group (HuNav specification, section 1.4).

use crate::Point;

/// Cells along each side.
const CELLS: usize = 64;
/// Groups, at most.
const MOST_GROUPS: usize = 128;

/// Why numbers are no field.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FieldError {
    /// Its dimensions are others.
    #[error("a velocity field has the dimensions (groups, 64, 64, 2) with 1 to 128 groups, found {0:?}")]
    Shape(Vec<usize>),
    /// There are more or fewer numbers than the dimensions say.
    #[error("a velocity field of {expected} numbers has {found}")]
    Length {
        /// As the dimensions say.
        expected: usize,
        /// As there are.
        found: usize,
    },
    /// A world without an area.
    #[error("a world size has two positive numbers, width and height")]
    Size,
}

/// See the module. The cells of a group lie row by row from the world's lower left corner, x first.
#[derive(Clone, Debug, PartialEq)]
pub struct VelocityField {
    velocities: Vec<[f32; 2]>,
    origin: Point,
    size: Point,
}

impl VelocityField {
    /// A field of the dimensions `shape` over a world of `size` metres with its lower left corner at `origin`.
    ///
    /// # Errors
    /// If the dimensions are not (groups, 64, 64, 2), `data` has not as many numbers, or the world has no area.
    pub fn new(shape: &[usize], data: &[f32], origin: Point, size: Point) -> Result<Self, FieldError> {
        let groups = match shape {
            [groups @ 1..=MOST_GROUPS, CELLS, CELLS, 2] => *groups,
            other => return Err(FieldError::Shape(other.iter().copied().take(8).collect())),
        };
        let expected = groups * CELLS * CELLS * 2;
        if data.len() != expected {
            return Err(FieldError::Length { expected, found: data.len() });
        }
        let is_area = size.iter().all(|side| side.is_finite() && *side > 0.0);
        if !is_area || !origin.iter().all(|part| part.is_finite()) {
            return Err(FieldError::Size);
        }
        let finite = |part: f32| if part.is_finite() { part.clamp(-1e3, 1e3) } else { 0.0 };
        let velocities = data.as_chunks().0.iter().map(|[x, y]| [finite(*x), finite(*y)]).collect();
        Ok(VelocityField { velocities, origin, size })
    }

    /// How many groups it has.
    #[must_use]
    pub fn groups(&self) -> usize {
        self.velocities.len() / (CELLS * CELLS)
    }

    /// The velocity of a group at a place, m/s; none for a group that is not there or outside the world.
    #[must_use]
    pub fn at(&self, group: usize, place: Point) -> Option<Point> {
        let cell = |axis: usize| {
            let share = (place[axis] - self.origin[axis]) / self.size[axis];
            (0.0..1.0).contains(&share).then_some((share * CELLS as f64) as usize)
        };
        let (column, row) = (cell(0)?, cell(1)?);
        let index = group.checked_mul(CELLS * CELLS)?.checked_add(row * CELLS + column)?;
        self.velocities.get(index).map(|velocity| velocity.map(f64::from))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_is_found_by_its_group_row_and_column() {
        let mut data = vec![0.0; 2 * CELLS * CELLS * 2];
        let index = ((CELLS + 3) * CELLS + 5) * 2;
        (data[index], data[index + 1]) = (1.0, -2.0);
        let field = VelocityField::new(&[2, 64, 64, 2], &data, [-32.0, 0.0], [64.0, 64.0]).unwrap();
        assert_eq!(field.at(1, [-26.5, 3.5]), Some([1.0, -2.0]));
        assert_eq!(field.at(0, [-26.5, 3.5]), Some([0.0, 0.0]));
        assert_eq!(field.at(2, [-26.5, 3.5]), None);
        assert_eq!(field.at(1, [f64::NAN, 3.5]), None);
        assert_eq!(field.at(1, [-32.5, 3.5]), None);
    }

    #[test]
    fn what_is_no_field_is_refused() {
        let made =
            |shape: &[usize], length, size| VelocityField::new(shape, &vec![0.0; length], [0.0; 2], size);
        assert!(matches!(made(&[1, 64, 64], 8192, [1.0; 2]), Err(FieldError::Shape(_))));
        assert!(matches!(made(&[0, 64, 64, 2], 0, [1.0; 2]), Err(FieldError::Shape(_))));
        assert!(matches!(made(&[1, 64, 64, 2], 8191, [1.0; 2]), Err(FieldError::Length { .. })));
        assert!(matches!(made(&[1, 64, 64, 2], 8192, [0.0, 1.0]), Err(FieldError::Size)));
    }
}
