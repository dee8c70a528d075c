//! A fit against its clip: one small chart per joint.

use std::f64::consts::TAU;

use anyhow::Result;
use promenade_gait::{
    Joint,
    fit::{Fit, Recording},
};

use super::{At, Canvas, Size, body::colour_of, mixed, palette};

const CELL: [f32; 2] = [330.0, 170.0];
const COLUMNS: usize = 4;
const TOP: f32 = 74.0;
const MARGIN: [f32; 4] = [46.0, 24.0, 14.0, 20.0];
const SAMPLES: u32 = 240;

/// Every joint of a clip over one cycle: the frames as dots, the fit as a line, and the limits of the contract where
/// they are near. Joints come in wire order; those that never move come last, named only.
pub(crate) fn fit(recording: &Recording, fit: &Fit) -> Result<Canvas> {
    let (moving, still): (Vec<_>, Vec<_>) =
        recording.columns().partition(|(_, column)| column.iter().any(|value| value.abs() > 1e-6));
    let rows = moving.len().div_ceil(COLUMNS).max(1);
    let width = CELL[0] * COLUMNS as f32 + 20.0;
    let mut canvas = Canvas::new(width as u32, (TOP + CELL[1] * rows as f32 + 44.0) as u32)?;
    let report = &fit.report;
    let title = format!("{}: clip and fit over one cycle", report.name);
    canvas.text([20.0, 14.0], Size::Title, palette::INK, &title);
    let facts = format!(
        "{} cycles at {:.3} Hz, {} harmonics, split {}, {}; worst {} {:.4} rad rms. Dots: frames of the clip. Line: profile. Dashes: limits of the contract.",
        report.cycles,
        report.cadence_hz,
        report.harmonics,
        report.split,
        if report.symmetric { "symmetric" } else { "not symmetric" },
        report.worst_joint,
        report.worst_rms,
    );
    canvas.text([20.0, 40.0], Size::Normal, palette::FAINT, &facts);
    for (index, (joint, column)) in moving.iter().enumerate() {
        let corner = [10.0 + CELL[0] * (index % COLUMNS) as f32, TOP + CELL[1] * (index / COLUMNS) as f32];
        cell(&mut canvas, corner, *joint, column, fit);
    }
    let bottom = TOP + CELL[1] * rows as f32 + 8.0;
    for (index, line) in wrapped(&still, width - 40.0).iter().enumerate() {
        canvas.text([20.0, bottom + 12.0 * index as f32], Size::Small, palette::FAINT, line);
    }
    Ok(canvas)
}

/// The names of joints that never move, in lines of at most that many pixels.
fn wrapped(still: &[(Joint, &[f64])], width: f32) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for (joint, _) in still {
        match lines.last_mut() {
            Some(line) if Size::Small.width(line) + Size::Small.width(joint.name()) + 12.0 < width => {
                line.push_str(", ");
                line.push_str(joint.name());
            }
            Some(_) => lines.push(joint.name().to_owned()),
            None => lines.push(format!("at 0 throughout: {}", joint.name())),
        }
    }
    lines
}

fn cell(canvas: &mut Canvas, [left, top]: At, joint: Joint, column: &[f64], fit: &Fit) {
    let profile = &fit.profile;
    let binding = profile.bindings.iter().find(|binding| binding.joint == joint);
    let fitted = |phase: f64| {
        binding.map_or(0.0, |binding| {
            profile.signals[binding.signal].1.at(profile.phase_warp.apply(phase) + binding.shift)
        })
    };
    let line: Vec<[f64; 2]> = (0..=SAMPLES)
        .map(|index| TAU * f64::from(index) / f64::from(SAMPLES))
        .map(|phase| [phase, fitted(phase)])
        .collect();
    let values = column.iter().copied().chain(line.iter().map(|point| point[1]));
    let [lo, hi] =
        values.fold([f64::INFINITY, f64::NEG_INFINITY], |[lo, hi], value| [lo.min(value), hi.max(value)]);
    // A joint that hardly moves is not blown up to fill its chart.
    let pad = (0.08 * (hi - lo)).max(0.02);
    let [lo, hi] = [lo - pad, hi + pad];
    let [from_left, from_top, from_right, from_bottom] = MARGIN;
    let (width, height) = (CELL[0] - from_left - from_right, CELL[1] - from_top - from_bottom);
    let place = |phase: f64, value: f64| {
        [
            left + from_left + width * (phase / TAU) as f32,
            top + from_top + height * (1.0 - (value - lo) / (hi - lo)) as f32,
        ]
    };
    let rms = fit.report.rms.get(joint.name()).copied().unwrap_or_default();
    let heading = format!("{} rms {rms:.4} rad", joint.name());
    canvas.text([left + from_left, top + 4.0], Size::Normal, palette::INK, &heading);
    for value in [lo, 0.5 * (lo + hi), hi] {
        canvas.line(&[place(0.0, value), place(TAU, value)], 1.0, palette::GRID);
        let label = format!("{:>7.3}", value + 0.0);
        canvas.text([left, place(0.0, value)[1] - 5.0], Size::Small, palette::FAINT, &label);
    }
    for (phase, label) in [(0.0, "0"), (0.5 * TAU, "half"), (TAU, "1")] {
        let [x, y] = place(phase, lo);
        canvas.text([x - Size::Small.width(label) / 2.0, y + 5.0], Size::Small, palette::FAINT, label);
    }
    for limit in joint.wire_limits().into_iter().filter(|limit| (lo..=hi).contains(limit)) {
        canvas.dashes(&[place(0.0, limit), place(TAU, limit)], 1.0, palette::FAINT);
    }
    let colour = colour_of(joint.side());
    for (phase, value) in fit.phases.iter().zip(column) {
        canvas.disc(place(phase.rem_euclid(TAU), *value), 1.7, mixed(colour, palette::PAPER, 0.45));
    }
    let line: Vec<At> = line.iter().map(|[phase, value]| place(*phase, *value)).collect();
    canvas.line(&line, 1.8, mixed(colour, palette::INK, 0.4));
}
