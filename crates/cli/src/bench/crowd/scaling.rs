//! How the time per step of an agent grows with the crowd.

use anyhow::Result;

use super::{CrowdArgs, Figures, measure, row};
use crate::bench::print_row;
use crate::draw::{At, Canvas, Size, palette};

/// Sizes of the crowds, evenly spread over three decades.
const SIZES: [u32; 10] = [100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000];

pub(super) fn run(args: &CrowdArgs) -> Result<()> {
    let mut measured = Vec::with_capacity(SIZES.len());
    for agents in SIZES {
        let figures = measure(args, agents)?;
        print_row(args.json, &row(args, agents, &figures))?;
        measured.push((agents, figures));
    }
    if let Some(path) = &args.plot {
        let threads = if args.threads == 1 { "thread" } else { "threads" };
        let title = format!("{}, {} {threads}: {}", args.planner, args.threads, args.scene.name());
        plot(&title, &measured)?.write_png(path)?;
    }
    Ok(())
}

const SIZE: [f32; 2] = [760.0, 420.0];
/// Left, top, right, bottom of the chart in the picture.
const MARGIN: [f32; 4] = [70.0, 50.0, 24.0, 50.0];

/// Agent-steps per second over the number of people, whose axis is logarithmic.
fn plot(title: &str, measured: &[(u32, Figures)]) -> Result<Canvas> {
    let speed = |(agents, figures): &(u32, Figures)| f64::from(*agents) / figures.tick * 1e-6;
    let most = measured.iter().map(speed).fold(0.0, f64::max).ceil().max(1.0);
    let [left, top, right, bottom] = MARGIN;
    let [width, height] = [SIZE[0] - left - right, SIZE[1] - top - bottom];
    let decades = |agents: u32| (f64::from(agents).log10() - 2.0) / 3.0;
    let place = |agents: u32, speed: f64| -> At {
        [left + width * decades(agents) as f32, top + height * (1.0 - (speed / most) as f32)]
    };
    let mut canvas = Canvas::new(SIZE[0] as u32, SIZE[1] as u32)?;
    canvas.text([left, 14.0], Size::Title, palette::INK, title);
    for line in 0..=most as u32 {
        let [from, to] = [place(SIZES[0], f64::from(line)), place(100_000, f64::from(line))];
        canvas.line(&[from, to], 1.0, palette::GRID);
        canvas.text([left - 24.0, from[1] - 5.0], Size::Small, palette::FAINT, &line.to_string());
    }
    for agents in SIZES {
        let [x, y] = place(agents, 0.0);
        let label = agents.to_string();
        canvas.text([x - Size::Small.width(&label) / 2.0, y + 8.0], Size::Small, palette::FAINT, &label);
    }
    let axes = "million agent-steps per second, over the number of people";
    canvas.text([left, SIZE[1] - 22.0], Size::Normal, palette::FAINT, axes);
    let points: Vec<At> = measured.iter().map(|row| place(row.0, speed(row))).collect();
    canvas.line(&points, 1.8, palette::LEFT);
    points.iter().for_each(|point| canvas.disc(*point, 3.0, palette::LEFT));
    Ok(canvas)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_curve_is_drawn_whatever_was_measured() {
        let figures = |tick| Figures { tick, percentiles: [tick; 4], bytes_per_person: 500.0 };
        for tick in [1e-5, 1e3] {
            let measured: Vec<_> = SIZES.iter().map(|agents| (*agents, figures(tick))).collect();
            plot("sfm", &measured).expect("drawn");
        }
        plot("sfm", &[]).expect("drawn");
    }
}
