//! A floor from above on a canvas: metres to pixels, and scales along the sides.

use super::plot::{label, round_step};
use super::{At, Canvas, Rgb, Size, palette};

/// A box of the floor and where it is on a canvas: x to the right, y up.
pub(crate) struct Plan {
    area: [f64; 4],
    /// Pixels per metre.
    pub(crate) scale: f32,
    corner: At,
    margin: [f32; 4],
}

impl Plan {
    /// A plan whose longer side is `long` pixels, with room around: left, top, right, bottom.
    pub(crate) fn new(area: [f64; 4], corner: At, long: f32, margin: [f32; 4]) -> Self {
        let longest = (area[2] - area[0]).max(area[3] - area[1]).max(1e-3);
        Self { area, scale: long / longest as f32, corner, margin }
    }

    /// Left edge of the floor on the canvas.
    pub(crate) fn left(&self) -> f32 {
        self.corner[0] + self.margin[0]
    }

    /// Upper edge of the floor on the canvas.
    pub(crate) fn top(&self) -> f32 {
        self.corner[1] + self.margin[1]
    }

    /// Width and height of the floor, pixels.
    pub(crate) fn extent(&self) -> At {
        [(self.area[2] - self.area[0]) as f32 * self.scale, (self.area[3] - self.area[1]) as f32 * self.scale]
    }

    /// Width and height with the room around, pixels.
    pub(crate) fn size(&self) -> At {
        let [width, height] = self.extent();
        [width + self.margin[0] + self.margin[2], height + self.margin[1] + self.margin[3]]
    }

    /// Where a point of the floor is on the canvas.
    pub(crate) fn place(&self, [x, y]: [f64; 2]) -> At {
        let [_, height] = self.extent();
        [
            self.left() + (x - self.area[0]) as f32 * self.scale,
            self.top() + height - (y - self.area[1]) as f32 * self.scale,
        ]
    }

    /// Title, scales along both sides.
    pub(crate) fn frame(&self, canvas: &mut Canvas, title: &str) {
        canvas.text([self.left(), self.corner[1] + 14.0], Size::Title, palette::INK, title);
        self.scales(canvas);
    }

    /// The step of the scales, metres.
    fn step(&self) -> f64 {
        let [x0, y0, x1, y1] = self.area;
        round_step((x1 - x0).max(y1 - y0), 8.0)
    }

    /// Where the scale along an axis has marks.
    fn marks(&self, axis: usize) -> impl Iterator<Item = f64> + use<> {
        let step = self.step();
        let first = (self.area[axis] / step).ceil();
        let count = ((self.area[axis + 2] / step).floor() - first).max(0.0) as u32;
        (0..=count).map(move |i| (first + f64::from(i)) * step)
    }

    /// Lines at the marks of both scales.
    pub(crate) fn grid(&self, canvas: &mut Canvas, rgb: Rgb) {
        let [x0, y0, x1, y1] = self.area;
        for x in self.marks(0) {
            canvas.line(&[self.place([x, y0]), self.place([x, y1])], 1.0, rgb);
        }
        for y in self.marks(1) {
            canvas.line(&[self.place([x0, y]), self.place([x1, y])], 1.0, rgb);
        }
    }

    /// Numbers along the lower and the left side.
    pub(crate) fn scales(&self, canvas: &mut Canvas) {
        let [x0, y0, x1, _] = self.area;
        let step = self.step();
        for x in self.marks(0) {
            let at = self.place([x, y0]);
            let text = label(x, step);
            canvas.line(&[at, [at[0], at[1] + 4.0]], 1.0, palette::FAINT);
            let left = at[0] - 0.5 * Size::Small.width(&text);
            canvas.text([left, at[1] + 8.0], Size::Small, palette::FAINT, &text);
        }
        for y in self.marks(1) {
            let at = self.place([x0, y]);
            let text = label(y, step);
            canvas.line(&[[at[0] - 4.0, at[1]], at], 1.0, palette::FAINT);
            let left = at[0] - 8.0 - Size::Small.width(&text);
            canvas.text([left, at[1] - 5.0], Size::Small, palette::FAINT, &text);
        }
        let foot = self.place([x1, y0]);
        canvas.text([foot[0] + 8.0, foot[1] + 6.0], Size::Small, palette::FAINT, "m");
    }
}
