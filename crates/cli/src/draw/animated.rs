//! Moving pictures as GIF.

use std::{fs::File, io::BufWriter, path::Path};

use anyhow::{Context, Result, anyhow};
use gif::{Encoder, Frame, Repeat};

use super::Canvas;

/// Browsers play anything faster than this at a tenth of a second a frame.
const SHORTEST_CENTISECONDS: f64 = 2.0;

/// Writes frames of equal size as a GIF that plays forever. The format counts in hundredths of a second; the time of
/// each frame is rounded so that the whole keeps its length.
pub(crate) fn write_gif(
    path: &Path,
    fps: f64,
    frames: impl IntoIterator<Item = Result<Canvas>>,
) -> Result<()> {
    let writing = || format!("cannot write {}", path.display());
    let mut frames = frames.into_iter();
    let first = frames.next().ok_or_else(|| anyhow!("nothing to draw"))??;
    let side = |pixels: u32| u16::try_from(pixels).context("a GIF is at most 65535 pixels wide and high");
    let (width, height) = (side(first.pixels.width())?, side(first.pixels.height())?);
    let file = BufWriter::new(File::create(path).with_context(writing)?);
    let mut encoder = Encoder::new(file, width, height, &[]).with_context(writing)?;
    encoder.set_repeat(Repeat::Infinite).with_context(writing)?;
    let step = (100.0 / fps).max(SHORTEST_CENTISECONDS);
    for (index, canvas) in std::iter::once(Ok(first)).chain(frames).enumerate() {
        // Opaque, so premultiplied or not is the same.
        let mut pixels = canvas?.pixels.take();
        let mut frame = Frame::from_rgba_speed(width, height, &mut pixels, 10);
        let end = (step * (index + 1) as f64).round() - (step * index as f64).round();
        frame.delay = end as u16;
        encoder.write_frame(&frame).with_context(writing)?;
    }
    Ok(())
}
