//! Curves over a count: one small chart per figure, each with its own scale from zero.

use anyhow::Result;

use super::{At, Canvas, Size, palette};

/// A figure at each count.
pub(crate) struct Curve {
    /// What it is and its unit.
    pub(crate) name: String,
    /// One value per count.
    pub(crate) values: Vec<f64>,
}

const CELL: [f32; 2] = [480.0, 190.0];
const COLUMNS: usize = 2;
const TOP: f32 = 50.0;
/// Left, top, right, bottom of a chart inside its cell.
const MARGIN: [f32; 4] = [56.0, 26.0, 16.0, 24.0];

/// Draws the charts below one another, two in a row.
pub(crate) fn curves(title: &str, over: &str, curves: &[Curve]) -> Result<Canvas> {
    let rows = curves.len().div_ceil(COLUMNS).max(1);
    let width = CELL[0] * COLUMNS as f32;
    let mut canvas = Canvas::new(width as u32, (TOP + CELL[1] * rows as f32) as u32)?;
    canvas.text([20.0, 14.0], Size::Title, palette::INK, title);
    for (index, curve) in curves.iter().enumerate() {
        let corner = [CELL[0] * (index % COLUMNS) as f32, TOP + CELL[1] * (index / COLUMNS) as f32];
        chart(&mut canvas, corner, over, curve);
    }
    Ok(canvas)
}

fn chart(canvas: &mut Canvas, [x, y]: At, over: &str, curve: &Curve) {
    let [left, top, right, bottom] = MARGIN;
    let [width, height] = [CELL[0] - left - right, CELL[1] - top - bottom];
    let most = curve.values.iter().copied().filter(|value| value.is_finite()).fold(0.0, f64::max);
    let scale = if most > 0.0 { 1.1 * most } else { 1.0 };
    let last = curve.values.len().saturating_sub(1).max(1);
    let place = |count: usize, value: f64| {
        let across = count as f32 / last as f32;
        [x + left + across * width, y + top + height * (1.0 - (value / scale) as f32)]
    };
    canvas.text([x + left, y + 6.0], Size::Normal, palette::INK, &curve.name);
    for line in 0..=4 {
        let value = scale * f64::from(line) / 4.0;
        let [from, to] = [place(0, value), place(last, value)];
        canvas.line(&[from, to], 1.0, palette::GRID);
        canvas.text([x + 8.0, from[1] - 5.0], Size::Small, palette::FAINT, &label(value));
    }
    let foot = y + CELL[1] - bottom + 6.0;
    canvas.text([x + left, foot], Size::Small, palette::FAINT, &format!("{over} 1"));
    let end = curve.values.len().to_string();
    canvas.text([x + left + width - Size::Small.width(&end), foot], Size::Small, palette::FAINT, &end);
    let points: Vec<At> = curve
        .values
        .iter()
        .enumerate()
        .filter(|(_, value)| value.is_finite())
        .map(|(count, &value)| place(count, value))
        .collect();
    canvas.line(&points, 1.5, palette::LEFT);
}

fn label(value: f64) -> String {
    if value >= 100.0 { format!("{value:.0}") } else { format!("{value:.1}") }
}
