//! Charts of numbers over numbers: axes with round steps, lines and dots, and a legend.

use anyhow::Result;
use promenade_crowd::validation::Chart;

use super::{At, Canvas, Rgb, Size, palette};

const WIDTH: f32 = 620.0;
const HEIGHT: f32 = 400.0;
/// Left, top, right, bottom of the plot inside the picture.
const MARGIN: [f32; 4] = [70.0, 62.0, 24.0, 50.0];
/// Colours of series, in order.
const COLOURS: [Rgb; 5] =
    [palette::LEFT, palette::RIGHT, [0x3d, 0x8b, 0x52], [0x8a, 0x5a, 0xa8], palette::MIDDLE];

/// A step of 1, 2 or 5 times a power of ten that cuts `span` into at most `most` pieces.
pub(crate) fn round_step(span: f64, most: f64) -> f64 {
    if !(span > 0.0 && span.is_finite()) {
        return 1.0;
    }
    let rough = span / most;
    let power = 10f64.powf(rough.log10().floor());
    [1.0, 2.0, 5.0]
        .map(|factor| factor * power)
        .into_iter()
        .find(|step| *step >= rough)
        .unwrap_or(10.0 * power)
}

/// A number as short as its step allows.
pub(crate) fn label(value: f64, step: f64) -> String {
    let digits = (-step.log10().floor()).clamp(0.0, 6.0) as usize;
    format!("{:.digits$}", value + 0.0)
}

/// Draw a chart; both axes begin at 0 unless a number is below it.
pub(crate) fn chart(chart: &Chart) -> Result<Canvas> {
    let mut canvas = Canvas::new(WIDTH as u32, HEIGHT as u32)?;
    panel(&mut canvas, [0.0, 0.0], [WIDTH, HEIGHT], chart);
    Ok(canvas)
}

/// Draw a chart into part of a canvas.
pub(crate) fn panel(canvas: &mut Canvas, [x, y]: At, [width, height]: At, chart: &Chart) {
    let [left, top, right, bottom] = MARGIN;
    let points =
        || chart.series.iter().flat_map(|s| &s.points).filter(|p| p[0].is_finite() && p[1].is_finite());
    let range = |axis: usize| {
        let [low, high] = points().fold([0.0_f64, 0.0_f64], |[a, b], p| [a.min(p[axis]), b.max(p[axis])]);
        let step = round_step((high - low).max(1e-9), 6.0);
        [(low / step).floor() * step, ((high / step).floor() + 1.0) * step, step]
    };
    let [horizontal, vertical] = [range(0), range(1)];
    let part = |value: f64, [low, high, _]: [f64; 3]| ((value - low) / (high - low)) as f32;
    let place = |p: [f64; 2]| {
        [
            x + left + (width - left - right) * part(p[0], horizontal),
            y + height - bottom - (height - top - bottom) * part(p[1], vertical),
        ]
    };
    canvas.text([x + left, y + 12.0], Size::Title, palette::INK, &chart.title);
    let steps = |[low, high, step]: [f64; 3]| {
        let count = ((high - low) / step).round() as u32;
        (0..=count).map(move |i| low + step * f64::from(i))
    };
    for value in steps(vertical) {
        let [from, to] = [place([horizontal[0], value]), place([horizontal[1], value])];
        canvas.line(&[from, to], 1.0, palette::GRID);
        let text = label(value, vertical[2]);
        canvas.text(
            [from[0] - 8.0 - Size::Small.width(&text), from[1] - 5.0],
            Size::Small,
            palette::FAINT,
            &text,
        );
    }
    for value in steps(horizontal) {
        let at = place([value, vertical[0]]);
        canvas.line(&[at, [at[0], at[1] + 4.0]], 1.0, palette::FAINT);
        let text = label(value, horizontal[2]);
        canvas.text(
            [at[0] - 0.5 * Size::Small.width(&text), at[1] + 8.0],
            Size::Small,
            palette::FAINT,
            &text,
        );
    }
    let foot = [x + width - right - Size::Normal.width(chart.x), y + height - 22.0];
    canvas.text(foot, Size::Normal, palette::INK, chart.x);
    canvas.text([x + 8.0, y + top - 18.0], Size::Normal, palette::INK, chart.y);
    let mut legend = x + left + Size::Normal.width(chart.y).max(40.0);
    for (series, colour) in chart.series.iter().zip(COLOURS.iter().cycle()) {
        let drawn: Vec<At> = series
            .points
            .iter()
            .filter(|p| p[0].is_finite() && p[1].is_finite())
            .map(|p| place(*p))
            .collect();
        let head = [legend, y + top - 18.0];
        if series.joined {
            canvas.line(&drawn, 1.8, *colour);
            canvas.line(&[[head[0], head[1] + 6.0], [head[0] + 16.0, head[1] + 6.0]], 1.8, *colour);
        } else {
            // Many dots make a cloud, few are read one by one.
            let radius = if drawn.len() > 200 { 1.2 } else { 3.6 };
            drawn.iter().for_each(|at| canvas.disc(*at, radius, *colour));
            canvas.disc([head[0] + 8.0, head[1] + 6.0], 3.6, *colour);
        }
        canvas.text([head[0] + 22.0, head[1]], Size::Normal, palette::INK, &series.name);
        legend += 22.0 + Size::Normal.width(&series.name) + 18.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_round_and_labels_no_longer_than_needed() {
        assert_eq!(round_step(6.0, 6.0), 1.0);
        assert_eq!(round_step(7.0, 6.0), 2.0);
        assert!((round_step(0.9, 6.0) - 0.2).abs() < 1e-12);
        assert_eq!(round_step(f64::NAN, 6.0), 1.0);
        assert_eq!((label(0.6000000001, 0.2), label(40.0, 20.0)), ("0.6".to_owned(), "40".to_owned()));
    }
}
