//! Text in a bitmap font that is part of a crate, so that no font has to be found on the machine.

use embedded_graphics::{
    Drawable, Pixel,
    draw_target::DrawTarget,
    geometry::{OriginDimensions, Point, Size as Extent},
    mono_font::{
        MonoFont, MonoTextStyle,
        iso_8859_1::{FONT_6X10, FONT_7X13, FONT_9X18_BOLD},
    },
    pixelcolor::{Rgb888, RgbColor},
    text::{Baseline, Text},
};
use tiny_skia::{ColorU8, Pixmap};

use super::{At, Rgb};

/// Height of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Size {
    /// 6 by 10 pixels a character.
    Small,
    /// 7 by 13.
    Normal,
    /// 9 by 18, bold.
    Title,
}

impl Size {
    fn font(self) -> &'static MonoFont<'static> {
        match self {
            Self::Small => &FONT_6X10,
            Self::Normal => &FONT_7X13,
            Self::Title => &FONT_9X18_BOLD,
        }
    }

    /// Width of a text in pixels.
    pub(crate) fn width(self, text: &str) -> f32 {
        text.chars().count() as f32 * self.font().character_size.width as f32
    }
}

pub(super) fn write(pixels: &mut Pixmap, [x, y]: At, size: Size, [red, green, blue]: Rgb, text: &str) {
    let style = MonoTextStyle::new(size.font(), Rgb888::new(red, green, blue));
    let at = Point::new(x.round() as i32, y.round() as i32);
    // Drawing cannot fail: what lies outside is left out.
    let _ = Text::with_baseline(text, at, style, Baseline::Top).draw(&mut Ink(pixels));
}

/// The pixels of a canvas as a place to draw letters on.
struct Ink<'a>(&'a mut Pixmap);

impl OriginDimensions for Ink<'_> {
    fn size(&self) -> Extent {
        Extent::new(self.0.width(), self.0.height())
    }
}

impl DrawTarget for Ink<'_> {
    type Color = Rgb888;
    type Error = std::convert::Infallible;

    fn draw_iter<I: IntoIterator<Item = Pixel<Rgb888>>>(&mut self, letters: I) -> Result<(), Self::Error> {
        let (width, height) = (self.0.width(), self.0.height());
        for Pixel(at, colour) in letters {
            let (Ok(x), Ok(y)) = (u32::try_from(at.x), u32::try_from(at.y)) else { continue };
            if x < width && y < height {
                let ink = ColorU8::from_rgba(colour.r(), colour.g(), colour.b(), 255).premultiply();
                self.0.pixels_mut()[(y * width + x) as usize] = ink;
            }
        }
        Ok(())
    }
}
