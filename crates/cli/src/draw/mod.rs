//! Pictures: bodies, sheets of values, charts, as PNG and GIF.
//!
//! A [`Canvas`] is all that the rest draws on. Nothing in here decides what a body does.

mod animated;
mod body;
pub(crate) mod chart;
mod colour;
pub(crate) mod curves;
pub(crate) mod episode;
pub(crate) mod floor;
pub(crate) mod plan;
pub(crate) mod plot;
pub(crate) mod sheet;
mod text;
pub(crate) mod world;

use std::path::Path;

use anyhow::{Context, Result, anyhow};
use tiny_skia::{
    Color, FillRule, LineCap, LineJoin, Mask, Paint, PathBuilder, Pixmap, Rect, Stroke, StrokeDash, Transform,
};

pub(crate) use animated::write_gif;
pub(crate) use body::{Figure, Stance};
pub(crate) use text::Size;

/// A point on a canvas: pixels right and down from the upper left corner.
pub(crate) type At = [f32; 2];

/// A colour with full opacity: red, green, blue.
pub(crate) type Rgb = [u8; 3];

/// What things are drawn in.
pub(crate) mod palette {
    use super::Rgb;

    pub(crate) const PAPER: Rgb = [0xfc, 0xfc, 0xfa];
    pub(crate) const INK: Rgb = [0x22, 0x2a, 0x33];
    pub(crate) const FAINT: Rgb = [0x8a, 0x93, 0x9c];
    pub(crate) const GRID: Rgb = [0xe3, 0xe6, 0xe8];
    pub(crate) const LEFT: Rgb = [0x2f, 0x7f, 0xb8];
    pub(crate) const RIGHT: Rgb = [0xd9, 0x6c, 0x2c];
    pub(crate) const MIDDLE: Rgb = [0x6b, 0x76, 0x82];
    pub(crate) const SKIN: Rgb = [0xdd, 0xb5, 0x94];
}

/// Something to draw on.
pub(crate) struct Canvas {
    pixels: Pixmap,
    /// Lines and areas are drawn in here only.
    window: Option<Mask>,
}

impl Canvas {
    /// An empty canvas.
    pub(crate) fn new(width: u32, height: u32) -> Result<Self> {
        let mut pixels =
            Pixmap::new(width, height).ok_or_else(|| anyhow!("cannot draw {width} by {height} pixels"))?;
        pixels.fill(colour(palette::PAPER));
        Ok(Self { pixels, window: None })
    }

    /// Writes a PNG.
    pub(crate) fn write_png(&self, path: &Path) -> Result<()> {
        self.pixels.save_png(path).with_context(|| format!("cannot write {}", path.display()))
    }

    /// Width and height.
    pub(crate) fn size(&self) -> [u32; 2] {
        [self.pixels.width(), self.pixels.height()]
    }

    /// The colour of a pixel; black beyond the edge.
    pub(crate) fn pixel(&self, x: u32, y: u32) -> Rgb {
        self.pixels.pixel(x, y).map_or([0; 3], |pixel| [pixel.red(), pixel.green(), pixel.blue()])
    }

    /// Until [`Canvas::close_window`], lines and areas are drawn within this rectangle only.
    pub(crate) fn open_window(&mut self, [x, y]: At, [width, height]: At) {
        let mask = Mask::new(self.pixels.width(), self.pixels.height());
        let rect = Rect::from_xywh(x, y, width.max(1.0), height.max(1.0));
        self.window = mask.zip(rect).map(|(mut mask, rect)| {
            mask.fill_path(&PathBuilder::from_rect(rect), FillRule::Winding, false, Transform::identity());
            mask
        });
    }

    /// Draws everywhere again.
    pub(crate) fn close_window(&mut self) {
        self.window = None;
    }

    /// A line with round ends through all points.
    pub(crate) fn line(&mut self, points: &[At], width: f32, rgb: Rgb) {
        self.stroke(points, false, width, (rgb, 1.0), None);
    }

    /// A line through which what is below shows; an `alpha` of 1 hides it.
    pub(crate) fn faint_line(&mut self, points: &[At], width: f32, rgb: Rgb, alpha: f32) {
        self.stroke(points, false, width, (rgb, alpha), None);
    }

    /// A line from the last point to the first too.
    pub(crate) fn ring(&mut self, points: &[At], width: f32, rgb: Rgb) {
        self.stroke(points, true, width, (rgb, 1.0), None);
    }

    /// A dashed line.
    pub(crate) fn dashes(&mut self, points: &[At], width: f32, rgb: Rgb) {
        self.stroke(points, false, width, (rgb, 1.0), StrokeDash::new(vec![4.0, 4.0], 0.0));
    }

    fn stroke(
        &mut self,
        points: &[At],
        closed: bool,
        width: f32,
        (rgb, alpha): (Rgb, f32),
        dash: Option<StrokeDash>,
    ) {
        let mut path = PathBuilder::new();
        match points {
            // A line without length has no direction to stroke in.
            [first, rest @ ..] if rest.iter().any(|point| point != first) => {
                path.move_to(first[0], first[1]);
                rest.iter().for_each(|point| path.line_to(point[0], point[1]));
                if closed {
                    path.close();
                }
            }
            [first, ..] => return self.disc(*first, 0.5 * width, rgb),
            [] => return,
        }
        let Some(path) = path.finish() else { return };
        let stroke =
            Stroke { width, line_cap: LineCap::Round, line_join: LineJoin::Round, dash, ..Stroke::default() };
        let paint = paint(rgb, alpha);
        self.pixels.stroke_path(&path, &paint, &stroke, Transform::identity(), self.window.as_ref());
    }

    /// A filled area within rings; a ring within a ring is a hole.
    pub(crate) fn area(&mut self, rings: &[Vec<At>], rgb: Rgb, alpha: f32) {
        let mut path = PathBuilder::new();
        for ring in rings {
            let [first, rest @ ..] = ring.as_slice() else { continue };
            path.move_to(first[0], first[1]);
            rest.iter().for_each(|point| path.line_to(point[0], point[1]));
            path.close();
        }
        if let Some(path) = path.finish() {
            let paint = paint(rgb, alpha);
            self.pixels.fill_path(
                &path,
                &paint,
                FillRule::EvenOdd,
                Transform::identity(),
                self.window.as_ref(),
            );
        }
    }

    /// A filled circle.
    pub(crate) fn disc(&mut self, [x, y]: At, radius: f32, rgb: Rgb) {
        if let Some(path) = PathBuilder::from_circle(x, y, radius) {
            let paint = paint(rgb, 1.0);
            self.pixels.fill_path(
                &path,
                &paint,
                FillRule::Winding,
                Transform::identity(),
                self.window.as_ref(),
            );
        }
    }

    /// A filled rectangle.
    pub(crate) fn bar(&mut self, [x, y]: At, width: f32, height: f32, rgb: Rgb) {
        if let Some(rect) = Rect::from_xywh(x, y, width.max(0.5), height.max(0.5)) {
            self.pixels.fill_rect(rect, &paint(rgb, 1.0), Transform::identity(), self.window.as_ref());
        }
    }

    /// A line of text; `at` is its upper left corner.
    pub(crate) fn text(&mut self, at: At, size: Size, rgb: Rgb, text: &str) {
        text::write(&mut self.pixels, at, size, rgb, text);
    }
}

fn colour([red, green, blue]: Rgb) -> Color {
    Color::from_rgba8(red, green, blue, 255)
}

fn paint([red, green, blue]: Rgb, alpha: f32) -> Paint<'static> {
    let mut paint = Paint { anti_alias: true, ..Paint::default() };
    let alpha = (255.0 * alpha).round().clamp(0.0, 255.0) as u8;
    paint.set_color_rgba8(red, green, blue, alpha);
    paint
}

/// A colour moved towards another; 0 is the first, 1 the second.
pub(crate) fn mixed(from: Rgb, to: Rgb, part: f32) -> Rgb {
    std::array::from_fn(|channel| {
        let [a, b] = [f32::from(from[channel]), f32::from(to[channel])];
        (a + part * (b - a)).round().clamp(0.0, 255.0) as u8
    })
}
