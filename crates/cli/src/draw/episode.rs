//! An episode of a robot among people: their ways, how near it came to them, and how fast it was.

use anyhow::Result;
use promenade_crowd::validation::{Chart, Series};
use promenade_hunav::Point;
use promenade_hunav::metrics::{Evaluation, Metric};

use super::plan::Plan;
use super::plot::panel;
use super::{At, Canvas, mixed, palette};

const FLOOR: f32 = 560.0;
/// Left, top, right, bottom of the floor.
const MARGIN: [f32; 4] = [56.0, 54.0, 36.0, 44.0];
const PANEL: At = [620.0, 300.0];

/// What is drawn.
pub(crate) struct Picture<'a> {
    pub(crate) evaluation: &'a Evaluation,
    pub(crate) goals: &'a [Point],
    /// Of people.
    pub(crate) ways: &'a [Vec<Point>],
}

/// The box around everything, with a little room.
fn area(picture: &Picture<'_>) -> [f64; 4] {
    let points =
        picture.evaluation.positions().iter().chain(picture.goals).chain(picture.ways.iter().flatten());
    let within = points.fold(
        [f64::INFINITY, f64::INFINITY, f64::NEG_INFINITY, f64::NEG_INFINITY],
        |[left, low, right, high], [x, y]| [left.min(*x), low.min(*y), right.max(*x), high.max(*y)],
    );
    if within[0] > within[2] {
        return [-1.0, -1.0, 1.0, 1.0];
    }
    [within[0] - 0.5, within[1] - 0.5, within[2] + 0.5, within[3] + 0.5]
}

/// Draws an episode.
pub(crate) fn episode(title: &str, picture: &Picture<'_>) -> Result<Canvas> {
    let plan = Plan::new(area(picture), [0.0, 0.0], FLOOR, MARGIN);
    let floor = plan.size();
    let height = floor[1].max(2.0 * PANEL[1] + 10.0);
    let left = floor[0].max(360.0);
    let mut canvas = Canvas::new((left + PANEL[0]) as u32, height as u32)?;
    plan.frame(&mut canvas, title);
    plan.grid(&mut canvas, palette::GRID);
    for way in picture.ways {
        let line: Vec<At> = way.iter().map(|point| plan.place(*point)).collect();
        canvas.line(&line, 1.2, mixed(palette::LEFT, palette::PAPER, 0.45));
        if let Some(end) = line.last() {
            canvas.disc(*end, 3.0, palette::LEFT);
        }
    }
    let way: Vec<At> = picture.evaluation.positions().iter().map(|point| plan.place(*point)).collect();
    canvas.line(&way, 2.6, palette::RIGHT);
    if let [first, .., last] = &way[..] {
        canvas.disc(*first, 3.0, palette::RIGHT);
        canvas.disc(*last, 5.0, palette::RIGHT);
    }
    for goal in picture.goals {
        let [x, y] = plan.place(*goal);
        canvas.line(&[[x - 6.0, y - 6.0], [x + 6.0, y + 6.0]], 2.0, palette::INK);
        canvas.line(&[[x - 6.0, y + 6.0], [x + 6.0, y - 6.0]], 2.0, palette::INK);
    }
    let series = |name: &str, metric: Metric| Series {
        name: name.to_owned(),
        points: picture
            .evaluation
            .stamps()
            .iter()
            .zip(picture.evaluation.series(metric))
            .map(|(stamp, value)| [*stamp, *value])
            .collect(),
        joined: true,
    };
    let limit = |name: &str, distance: f64| Series {
        name: name.to_owned(),
        points: [0.0, picture.evaluation.stamps().last().copied().unwrap_or(0.0)]
            .map(|at| [at, distance])
            .to_vec(),
        joined: true,
    };
    let near = Chart {
        name: "distance",
        title: "Nearest person, edge to edge".to_owned(),
        x: "s",
        y: "m",
        series: vec![
            series("distance", Metric::AvgDistanceToClosestPerson),
            limit("personal, 1.2 m", 1.2),
            limit("intimate, 0.45 m", 0.45),
        ],
    };
    let speed = Chart {
        name: "speeds",
        title: "Speeds".to_owned(),
        x: "s",
        y: "m/s",
        series: vec![
            series("robot", Metric::AvgRobotLinearSpeed),
            series("people, mean", Metric::AvgPedestrianVelocity),
            series("nearest person", Metric::AvgClosestPedestrianVelocity),
        ],
    };
    panel(&mut canvas, [left, 0.0], PANEL, &near);
    panel(&mut canvas, [left, PANEL[1] + 10.0], PANEL, &speed);
    Ok(canvas)
}
