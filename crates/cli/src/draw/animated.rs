//! Moving pictures as GIF.

use std::{fs::File, io::BufWriter, path::Path};

use anyhow::{Context, Result, anyhow};
use gif::{DisposalMethod, Encoder, Frame, Repeat};

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
    let mut shown: Option<Vec<u8>> = None;
    for (index, canvas) in std::iter::once(Ok(first)).chain(frames).enumerate() {
        // Opaque, so premultiplied or not is the same.
        let pixels = canvas?.pixels.take();
        let mut frame = match &shown {
            Some(before) if before.len() == pixels.len() => changes(before, &pixels, usize::from(width)),
            _ => Frame::from_rgba_speed(width, height, &mut pixels.clone(), 10),
        };
        let end = (step * (index + 1) as f64).round() - (step * index as f64).round();
        frame.delay = end as u16;
        encoder.write_frame(&frame).with_context(writing)?;
        shown = Some(pixels);
    }
    Ok(())
}

/// What changed since the picture before: the smallest rectangle around it, with holes where nothing changed.
fn changes(before: &[u8], after: &[u8], width: usize) -> Frame<'static> {
    let differs = |index: usize| before[4 * index..4 * index + 4] != after[4 * index..4 * index + 4];
    let [mut left, mut top, mut right, mut bottom] = [width, usize::MAX, 0, 0];
    for index in (0..after.len() / 4).filter(|index| differs(*index)) {
        let [x, y] = [index % width, index / width];
        [left, right] = [left.min(x), right.max(x + 1)];
        [top, bottom] = [top.min(y), y + 1];
    }
    if right == 0 {
        // A picture needs a pixel to last.
        [left, top, right, bottom] = [0, 0, 1, 1];
    }
    let mut part = Vec::with_capacity(4 * (right - left) * (bottom - top));
    for index in (top..bottom).flat_map(|y| (left..right).map(move |x| y * width + x)) {
        let hole = if differs(index) { 0xff } else { 0 };
        part.extend_from_slice(&after[4 * index..4 * index + 3]);
        part.push(hole);
    }
    let mut frame = Frame::from_rgba_speed((right - left) as u16, (bottom - top) as u16, &mut part, 10);
    [frame.left, frame.top] = [left as u16, top as u16];
    frame.dispose = DisposalMethod::Keep;
    frame
}
