//! Sheets: one posture with its 40 values, and strips of several.

use anyhow::Result;
use promenade_gait::{Joint, rig::Rig};

use super::{
    Canvas, Size,
    body::{Figure, Stage, View, colour_of},
    palette,
};

const FIGURE: f32 = 330.0;
const SCALE: f32 = 260.0;
const TOP: f32 = 60.0;
const ROW: f32 = 22.0;

/// A posture from the front and from the side, with its 40 values beside it.
pub(crate) fn pose(rig: &Rig, title: &str, figure: &Figure) -> Result<Canvas> {
    let floor = TOP + 30.0 + SCALE * 1.95;
    let width = 2.0 * FIGURE + 2.0 * 330.0 + 20.0;
    let mut canvas = Canvas::new(width as u32, (floor + 70.0) as u32)?;
    canvas.text([20.0, 16.0], Size::Title, palette::INK, title);
    for (index, (view, name)) in [(View::Front, "front"), (View::Side, "side")].into_iter().enumerate() {
        let x = FIGURE * (0.5 + index as f32);
        let stage = Stage { floor: [x, floor], scale: SCALE, view };
        heights(&mut canvas, [x, floor]);
        stage.floor(&mut canvas, 0.6);
        stage.body(&mut canvas, rig, figure);
        canvas.text([x - Size::Normal.width(name) / 2.0, floor + 20.0], Size::Normal, palette::FAINT, name);
    }
    for (index, joint) in Joint::ALL.into_iter().enumerate() {
        let x = 2.0 * FIGURE + 330.0 * (index / 20) as f32;
        value(&mut canvas, [x, TOP + 12.0 + ROW * (index % 20) as f32], joint, figure.posture[index]);
    }
    legend(&mut canvas, [2.0 * FIGURE, TOP + 20.0 + ROW * 20.0]);
    Ok(canvas)
}

/// Half-metre marks behind a figure.
fn heights(canvas: &mut Canvas, [x, floor]: [f32; 2]) {
    for step in 1..=3 {
        let y = floor - SCALE * 0.5 * step as f32;
        canvas.line(&[[x - 0.6 * SCALE, y], [x + 0.6 * SCALE, y]], 1.0, palette::GRID);
        let label = format!("{:.1}", 0.5 * step as f32);
        canvas.text([x - 0.6 * SCALE - 1.0, y - 11.0], Size::Small, palette::FAINT, &label);
    }
}

/// One joint: name, bar between its limits, radians, degrees.
fn value(canvas: &mut Canvas, [x, y]: [f32; 2], joint: Joint, value: f64) {
    const BAR: f32 = 96.0;
    let [lo, hi] = joint.wire_limits();
    let colour = colour_of(joint.side());
    canvas.text([x, y], Size::Normal, palette::INK, joint.name());
    let left = x + 94.0;
    let place = |value: f64| left + BAR * (((value - lo) / (hi - lo)) as f32).clamp(0.0, 1.0);
    canvas.bar([left, y + 4.0], BAR, 6.0, palette::GRID);
    let (zero, tip) = (place(0.0), place(value));
    canvas.bar([zero.min(tip), y + 4.0], (tip - zero).abs(), 6.0, colour);
    canvas.bar([zero, y + 2.0], 1.0, 10.0, palette::FAINT);
    let outside = value < lo - 1e-9 || value > hi + 1e-9;
    let ink = if outside { palette::RIGHT } else { palette::INK };
    // Without the sign of a zero that rounding made.
    let text = format!("{:>8.4} {:>7.1}\u{b0}", value + 0.0, value.to_degrees() + 0.0);
    let mark = if outside { "!" } else { "" };
    canvas.text([left + BAR + 4.0, y], Size::Normal, ink, &format!("{text}{mark}"));
}

fn legend(canvas: &mut Canvas, [x, y]: [f32; 2]) {
    let mut x = x;
    for (colour, name) in [(palette::LEFT, "left"), (palette::RIGHT, "right"), (palette::MIDDLE, "middle")] {
        canvas.bar([x, y + 2.0], 12.0, 8.0, colour);
        canvas.text([x + 17.0, y], Size::Normal, palette::FAINT, name);
        x += 30.0 + Size::Normal.width(name) + 12.0;
    }
    let note = "bars run from limit to limit; \"!\" is outside";
    canvas.text([x, y], Size::Normal, palette::FAINT, note);
}

/// Several postures in a row, from the side above and from the front below, each with a line under it.
pub(crate) fn strip(rig: &Rig, title: &str, figures: &[Figure]) -> Result<Canvas> {
    const STEP: f32 = 165.0;
    const SMALL: f32 = 150.0;
    let height = SMALL * 2.25 + 40.0;
    let width = STEP * figures.len().max(3) as f32 + 40.0;
    let mut canvas = Canvas::new(width as u32, (TOP + 2.0 * height + 10.0) as u32)?;
    canvas.text([20.0, 16.0], Size::Title, palette::INK, title);
    for (row, view) in [View::Side, View::Front].into_iter().enumerate() {
        let floor = TOP + height * row as f32 + SMALL * 2.25;
        for (index, figure) in figures.iter().enumerate() {
            let x = 20.0 + STEP * (index as f32 + 0.5);
            let stage = Stage { floor: [x, floor], scale: SMALL, view };
            stage.floor(&mut canvas, 0.5);
            stage.body(&mut canvas, rig, figure);
            let at = [x - Size::Normal.width(&figure.label) / 2.0, floor + 12.0];
            canvas.text(at, Size::Normal, palette::FAINT, &figure.label);
        }
    }
    Ok(canvas)
}

/// One posture of a moving picture, from the side and from the front.
pub(crate) fn moving(rig: &Rig, title: &str, figure: &Figure) -> Result<Canvas> {
    const SMALL: f32 = 150.0;
    let floor = 44.0 + SMALL * 1.95;
    let mut canvas = Canvas::new(420, (floor + 24.0) as u32)?;
    canvas.text([12.0, 10.0], Size::Normal, palette::INK, title);
    let label = &figure.label;
    canvas.text([408.0 - Size::Normal.width(label), 10.0], Size::Normal, palette::FAINT, label);
    for (x, view) in [(110.0, View::Side), (310.0, View::Front)] {
        let stage = Stage { floor: [x, floor], scale: SMALL, view };
        stage.floor(&mut canvas, 0.62);
        stage.body(&mut canvas, rig, figure);
    }
    Ok(canvas)
}

/// Rows of postures from the side and the front, each row with its title, in two columns.
pub(crate) fn contact(rig: &Rig, title: &str, rows: &[(String, Vec<Figure>)]) -> Result<Canvas> {
    const STEP: f32 = 94.0;
    const SMALL: f32 = 72.0;
    const HEIGHT: f32 = SMALL * 2.25 + 40.0;
    let figures = rows.iter().map(|(_, row)| row.len()).max().unwrap_or(0);
    let width = 2.0 * STEP * figures as f32 + 60.0;
    let high = rows.len().div_ceil(2);
    let mut canvas = Canvas::new(2 * width as u32, (TOP + HEIGHT * high as f32) as u32)?;
    canvas.text([20.0, 16.0], Size::Title, palette::INK, title);
    for (index, (name, row)) in rows.iter().enumerate() {
        let (left, top) = (width * (index / high) as f32, TOP + HEIGHT * (index % high) as f32);
        canvas.line(&[[left + 20.0, top - 6.0], [left + width - 20.0, top - 6.0]], 1.0, palette::GRID);
        canvas.text([left + 20.0, top], Size::Normal, palette::INK, name);
        let floor = top + 10.0 + SMALL * 2.25;
        for (column, figure) in row.iter().enumerate() {
            let x = left + 20.0 + 2.0 * STEP * column as f32;
            for (x, view) in [(x + 0.5 * STEP, View::Side), (x + 1.45 * STEP, View::Front)] {
                let stage = Stage { floor: [x, floor], scale: SMALL, view };
                stage.floor(&mut canvas, 0.5);
                stage.body(&mut canvas, rig, figure);
            }
            let at = [x + STEP - Size::Small.width(&figure.label) / 2.0, floor + 7.0];
            canvas.text(at, Size::Small, palette::FAINT, &figure.label);
        }
    }
    Ok(canvas)
}
