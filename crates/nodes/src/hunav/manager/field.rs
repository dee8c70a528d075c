//! Velocity fields and the extent of the world that they cover, as Arena's services bring them one by one (HuNav specification, section
//! 1.4).

use promenade_hunav::Point;
use promenade_hunav::world::VelocityField;
use rosidl_runtime_rs::String as WireString;
use std_msgs::msg::rmw::Float32MultiArray;

/// Side of the world before a client says it: a metre per cell.
const SIDE: f64 = 64.0;

/// See the module.
#[derive(Clone, Debug)]
pub(super) struct Fields {
    shape: Vec<usize>,
    numbers: Vec<f32>,
    origin: Point,
    size: Point,
}

impl Default for Fields {
    fn default() -> Self {
        Fields { shape: Vec::new(), numbers: Vec::new(), origin: [0.0; 2], size: [SIDE; 2] }
    }
}

impl Fields {
    /// Another field over the world as it is known.
    ///
    /// # Errors
    /// A sentence about what the array is instead of (groups, 64, 64, 2) numbers; nothing changes then.
    pub(super) fn set_field(&mut self, from: &Float32MultiArray) -> Result<Option<VelocityField>, String> {
        let shape: Vec<usize> = from.layout.dim.iter().take(8).map(|dim| dim.size as usize).collect();
        let field = VelocityField::new(&shape, &from.data, self.origin, self.size);
        let field = field.map_err(|error| error.to_string())?;
        (self.shape, self.numbers) = (shape, from.data.to_vec());
        Ok(Some(field))
    }

    /// A world of width and height with its lower corner at the origin; its field, if there is one.
    ///
    /// # Errors
    /// A sentence about what the array is instead; nothing changes then.
    pub(super) fn set_size(&mut self, from: &Float32MultiArray) -> Result<Option<VelocityField>, String> {
        match *from.data {
            [width, height] if from.layout.dim.len() <= 1 && is_area(width, height) => {
                self.cover([0.0; 2], [width, height].map(f64::from))
            }
            _ => Err("a world size is one dimension of two positive numbers, width and height".to_owned()),
        }
    }

    /// A world between two corners; its field, if there is one.
    ///
    /// # Errors
    /// A sentence about what the array is instead; nothing changes then.
    pub(super) fn set_bounds(&mut self, from: &Float32MultiArray) -> Result<Option<VelocityField>, String> {
        match *from.data {
            [x0, y0, x1, y1] if x0.is_finite() && y0.is_finite() && is_area(x1 - x0, y1 - y0) => {
                let [x0, y0, x1, y1] = [x0, y0, x1, y1].map(f64::from);
                self.cover([x0, y0], [x1 - x0, y1 - y0])
            }
            _ => {
                Err("the bounds of a world are x and y of its lower corner, then of its upper one".to_owned())
            }
        }
    }

    fn cover(&mut self, origin: Point, size: Point) -> Result<Option<VelocityField>, String> {
        (self.origin, self.size) = (origin, size);
        if self.shape.is_empty() {
            return Ok(None);
        }
        let field = VelocityField::new(&self.shape, &self.numbers, origin, size);
        field.map(Some).map_err(|error| error.to_string())
    }
}

fn is_area(width: f32, height: f32) -> bool {
    [width, height].iter().all(|side| side.is_finite() && *side > 0.0)
}

/// `success` and `message` of an answer.
pub(super) fn verdict(result: Result<(), String>) -> (bool, WireString) {
    (result.is_ok(), result.err().unwrap_or_default().as_str().into())
}

#[cfg(test)]
mod tests {
    use std_msgs::msg::rmw::MultiArrayDimension;

    use super::*;

    fn array(sizes: &[u32], data: Vec<f32>) -> Float32MultiArray {
        let mut array = Float32MultiArray { data: data.into(), ..Float32MultiArray::default() };
        let dim = |size: &u32| MultiArrayDimension { size: *size, ..MultiArrayDimension::default() };
        array.layout.dim = sizes.iter().map(dim).collect();
        array
    }

    #[test]
    fn a_field_covers_the_world_that_was_said_before_or_after_it() {
        let mut fields = Fields::default();
        let mut data = vec![0.0; 64 * 64 * 2];
        data[2] = 0.5;
        let field = fields.set_field(&array(&[1, 64, 64, 2], data)).expect("the shape").expect("made");
        assert_eq!(field.at(0, [1.5, 0.5]), Some([0.5, 0.0]), "a metre per cell");
        let field = fields.set_size(&array(&[2], vec![6.4, 6.4])).expect("a size").expect("kept");
        assert_eq!(field.at(0, [0.15, 0.05]), Some([0.5, 0.0]));
        let field = fields.set_bounds(&array(&[4], vec![-32.0, -32.0, 32.0, 32.0])).expect("bounds");
        assert_eq!(field.expect("kept").at(0, [-30.5, -31.5]), Some([0.5, 0.0]));
    }

    #[test]
    fn what_is_of_another_shape_changes_nothing() {
        let mut fields = Fields::default();
        assert!(fields.set_field(&array(&[1, 32, 32, 2], vec![0.0; 2048])).is_err());
        assert!(fields.set_field(&array(&[u32::MAX, 64, 64, 2], vec![])).is_err());
        for size in [vec![20.0, 0.0], vec![20.0], vec![f32::NAN, 1.0]] {
            assert!(fields.set_size(&array(&[2], size)).is_err());
        }
        assert!(fields.set_bounds(&array(&[4], vec![3.0, -2.0, -1.0, 4.0])).is_err());
        assert!(fields.set_size(&array(&[2], vec![20.0, 10.0])).expect("a size").is_none(), "no field yet");
    }
}
