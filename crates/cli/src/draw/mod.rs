//! Pictures: bodies, sheets of values, charts, as PNG and GIF.
//!
//! A [`Canvas`] is all that the rest draws on. Nothing in here decides what a body does.

mod animated;
mod body;
pub(crate) mod chart;
pub(crate) mod curves;
pub(crate) mod floor;
pub(crate) mod plot;
pub(crate) mod sheet;
mod text;

use std::path::Path;

use anyhow::{Context, Result, anyhow};
use tiny_skia::{
    Color, FillRule, LineCap, LineJoin, Paint, PathBuilder, Pixmap, Rect, Stroke, StrokeDash, Transform,
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
}

impl Canvas {
    /// An empty canvas.
    pub(crate) fn new(width: u32, height: u32) -> Result<Self> {
        let mut pixels =
            Pixmap::new(width, height).ok_or_else(|| anyhow!("cannot draw {width} by {height} pixels"))?;
        pixels.fill(colour(palette::PAPER));
        Ok(Self { pixels })
    }

    /// Writes a PNG.
    pub(crate) fn write_png(&self, path: &Path) -> Result<()> {
        self.pixels.save_png(path).with_context(|| format!("cannot write {}", path.display()))
    }

    /// A line with round ends through all points.
    pub(crate) fn line(&mut self, points: &[At], width: f32, rgb: Rgb) {
        self.stroke(points, width, rgb, None);
    }

    /// A dashed line.
    pub(crate) fn dashes(&mut self, points: &[At], width: f32, rgb: Rgb) {
        self.stroke(points, width, rgb, StrokeDash::new(vec![4.0, 4.0], 0.0));
    }

    fn stroke(&mut self, points: &[At], width: f32, rgb: Rgb, dash: Option<StrokeDash>) {
        let mut path = PathBuilder::new();
        match points {
            // A line without length has no direction to stroke in.
            [first, rest @ ..] if rest.iter().any(|point| point != first) => {
                path.move_to(first[0], first[1]);
                rest.iter().for_each(|point| path.line_to(point[0], point[1]));
            }
            [first, ..] => return self.disc(*first, 0.5 * width, rgb),
            [] => return,
        }
        let Some(path) = path.finish() else { return };
        let stroke =
            Stroke { width, line_cap: LineCap::Round, line_join: LineJoin::Round, dash, ..Stroke::default() };
        self.pixels.stroke_path(&path, &paint(rgb), &stroke, Transform::identity(), None);
    }

    /// A filled circle.
    pub(crate) fn disc(&mut self, [x, y]: At, radius: f32, rgb: Rgb) {
        if let Some(path) = PathBuilder::from_circle(x, y, radius) {
            self.pixels.fill_path(&path, &paint(rgb), FillRule::Winding, Transform::identity(), None);
        }
    }

    /// A filled rectangle.
    pub(crate) fn bar(&mut self, [x, y]: At, width: f32, height: f32, rgb: Rgb) {
        if let Some(rect) = Rect::from_xywh(x, y, width.max(0.5), height.max(0.5)) {
            self.pixels.fill_rect(rect, &paint(rgb), Transform::identity(), None);
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

fn paint(rgb: Rgb) -> Paint<'static> {
    let mut paint = Paint { anti_alias: true, ..Paint::default() };
    paint.set_color(colour(rgb));
    paint
}

/// A colour moved towards another; 0 is the first, 1 the second.
pub(crate) fn mixed(from: Rgb, to: Rgb, part: f32) -> Rgb {
    std::array::from_fn(|channel| {
        let [a, b] = [f32::from(from[channel]), f32::from(to[channel])];
        (a + part * (b - a)).round().clamp(0.0, 255.0) as u8
    })
}
