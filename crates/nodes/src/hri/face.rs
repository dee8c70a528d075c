//! The view of a face: a pinhole camera between the eyes.

use arena_people_msgs::msg::rmw::FaceView;
use rosidl_runtime_rs::Sequence;

/// Pixels of the square image.
const SIZE: u32 = 512;

/// A view without stamp and frame.
pub(crate) fn view(fov: f64, clip_near: f64) -> FaceView {
    let centre = f64::from(SIZE) / 2.0;
    let focal = centre / (0.5 * fov).tan();
    let mut view = FaceView { clip_near, ..FaceView::default() };
    let info = &mut view.info;
    info.width = SIZE;
    info.height = SIZE;
    info.distortion_model = "plumb_bob".into();
    info.d = Sequence::new(5);
    info.k = [focal, 0.0, centre, 0.0, focal, centre, 0.0, 0.0, 1.0];
    info.r = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
    info.p = [focal, 0.0, centre, 0.0, 0.0, focal, centre, 0.0, 0.0, 0.0, 1.0, 0.0];
    view
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn focal_length_of_sixty_degrees() {
        let view = view(60.0_f64.to_radians(), 0.15);
        assert!((view.info.k[0] - 443.405).abs() < 5e-4, "{}", view.info.k[0]);
        assert_eq!((view.info.k[2], view.info.d.len(), view.clip_near), (256.0, 5, 0.15));
    }
}
