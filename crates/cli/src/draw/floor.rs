//! The floor from above: paths of people, and maps of density and speed.

use anyhow::Result;
use promenade_crowd::Segment;
use promenade_crowd::Trajectory;
use promenade_crowd::analysis::{Map, binned, fundamental_diagram, profiles, weidmann};
use promenade_crowd::validation::{Chart, Series};

use super::plan::Plan;
use super::plot::panel;
use super::{At, Canvas, Rgb, Size, mixed, palette};

/// Longer side of a floor, pixels.
const LONG: f32 = 620.0;
/// Room around a floor: left, top, right, bottom. A colour scale stands on the right.
const MARGIN: [f32; 4] = [46.0, 54.0, 96.0, 40.0];
/// Most lines of paths; of more people only a part is drawn.
const MOST_PATHS: usize = 1500;
/// Frames that maps and diagrams look at, at most.
const MOST_FRAMES: usize = 400;
/// From nobody to a crowd.
const HEAT: [Rgb; 5] =
    [[0xf4, 0xf1, 0xe4], [0xf6, 0xcf, 0x75], [0xe8, 0x82, 0x46], [0xb8, 0x38, 0x48], [0x4a, 0x1a, 0x4e]];
/// From standing to walking.
const COOL: [Rgb; 5] =
    [[0x7a, 0x1f, 0x3d], [0xd4, 0x6a, 0x4c], [0xe9, 0xd8, 0x8c], [0x5a, 0xa8, 0x9a], [0x1d, 0x4f, 0x7c]];

fn plan(area: [f64; 4], corner: At) -> Plan {
    Plan::new(area, corner, LONG, MARGIN)
}

fn draw_walls(canvas: &mut Canvas, plan: &Plan, walls: &[Segment]) {
    for wall in walls {
        canvas.line(&[plan.place(wall.start), plan.place(wall.end())], 2.0, palette::INK);
    }
}

/// The box around everything, with a little room.
fn area(trajectory: &Trajectory, walls: &[Segment]) -> [f64; 4] {
    let mut area = [f64::INFINITY, f64::INFINITY, f64::NEG_INFINITY, f64::NEG_INFINITY];
    let mut include = |x: f64, y: f64| {
        area = [area[0].min(x), area[1].min(y), area[2].max(x), area[3].max(y)];
    };
    for wall in walls {
        include(wall.start[0], wall.start[1]);
        include(wall.end()[0], wall.end()[1]);
    }
    for frame in trajectory.frames() {
        frame.x.iter().zip(frame.y).for_each(|(x, y)| include(*x, *y));
    }
    if area[0] > area[2] {
        return [-1.0, -1.0, 1.0, 1.0];
    }
    [area[0] - 0.3, area[1] - 0.3, area[2] + 0.3, area[3] + 0.3]
}

fn colour(scale: &[Rgb; 5], part: f64) -> Rgb {
    let at = part.clamp(0.0, 1.0) * 4.0;
    let index = (at as usize).min(3);
    mixed(scale[index], scale[index + 1], (at - index as f64) as f32)
}

fn draw_paths(canvas: &mut Canvas, plan: &Plan, trajectory: &Trajectory, walls: &[Segment], title: &str) {
    plan.frame(canvas, title);
    let paths = trajectory.paths();
    let stride = paths.len().div_ceil(MOST_PATHS).max(1);
    for (number, path) in paths.iter().step_by(stride).enumerate() {
        let line: Vec<At> = path.iter().map(|p| plan.place(*p)).collect();
        // Directions are told apart by colour: hue from where somebody ends up.
        let [from, to] = [path[0], path[path.len() - 1]];
        let turn = (to[1] - from[1]).atan2(to[0] - from[0]) / std::f64::consts::TAU;
        let shade = 0.35 + 0.3 * (number % 3) as f32 / 2.0;
        canvas.line(&line, 1.1, mixed(wheel(turn.rem_euclid(1.0)), palette::PAPER, shade - 0.15));
    }
    draw_walls(canvas, plan, walls);
}

/// A colour for a direction, in turns.
fn wheel(turn: f64) -> Rgb {
    const DIRECTIONS: [Rgb; 5] =
        [[0x2f, 0x7f, 0xb8], [0x3d, 0x9b, 0x62], [0xd9, 0x6c, 0x2c], [0x8a, 0x5a, 0xa8], [0x2f, 0x7f, 0xb8]];
    colour(&DIRECTIONS, turn)
}

/// The paths of everybody.
pub(crate) fn paths(title: &str, trajectory: &Trajectory, walls: &[Segment]) -> Result<Canvas> {
    let plan = plan(area(trajectory, walls), [0.0, 0.0]);
    let [width, height] = plan.size();
    let mut canvas = Canvas::new(width.max(320.0) as u32, height as u32)?;
    draw_paths(&mut canvas, &plan, trajectory, walls, title);
    Ok(canvas)
}

fn draw_map(
    canvas: &mut Canvas,
    plan: &Plan,
    map: &Map,
    walls: &[Segment],
    title: &str,
    scale: &[Rgb; 5],
    unit: &str,
) {
    plan.frame(canvas, title);
    let most = map.values.iter().copied().filter(|v| v.is_finite()).fold(0.0, f64::max).max(1e-6);
    let edge = map.step as f32 * plan.scale;
    for (index, value) in map.values.iter().enumerate().filter(|(_, value)| value.is_finite()) {
        let [column, row] = [(index % map.columns) as f64, (index / map.columns) as f64];
        let [x, y] = plan.place([map.origin[0] + column * map.step, map.origin[1] + (row + 1.0) * map.step]);
        canvas.bar([x, y], edge + 0.5, edge + 0.5, colour(scale, value / most));
    }
    draw_walls(canvas, plan, walls);
    let [width, height] = plan.extent();
    let [x, y] = [plan.left() + width + 18.0, plan.top()];
    let tall = height.min(220.0);
    for line in 0..tall as u32 {
        let part = 1.0 - f64::from(line) / f64::from(tall);
        canvas.bar([x, y + line as f32], 14.0, 1.0, colour(scale, part));
    }
    for part in [0.0, 0.5, 1.0] {
        let text = format!("{:.2}", part * most);
        canvas.text([x + 20.0, y + tall * (1.0 - part as f32) - 5.0], Size::Small, palette::FAINT, &text);
    }
    canvas.text([x, y - 16.0], Size::Small, palette::FAINT, unit);
}

/// Paths, density, speed and fundamental diagram of a run on one sheet.
pub(crate) fn sheet(title: &str, trajectory: &Trajectory, walls: &[Segment]) -> Result<Canvas> {
    let stride = trajectory.len().div_ceil(MOST_FRAMES).max(1);
    let area = area(trajectory, walls);
    let step = ((area[2] - area[0]).max(area[3] - area[1]) / 150.0).max(0.1);
    let maps = profiles(trajectory, walls, area, step, stride);
    let [width, height] = plan(area, [0.0, 0.0]).size();
    let [width, height] = [width.max(440.0), height.max(150.0)];
    // A long floor stands in a column, so that the sheet does not become a ribbon.
    let columns = if width > 1.8 * height { 1 } else { 2 };
    let corner = |index: usize| [width * (index % columns) as f32, height * (index / columns) as f32];
    let diagram_height = if columns == 1 { 360.0 } else { height.max(360.0) };
    let total = [
        width * columns as f32,
        if columns == 1 { 3.0 * height + diagram_height } else { height + diagram_height },
    ];
    let mut canvas = Canvas::new(total[0] as u32, total[1] as u32)?;
    draw_paths(&mut canvas, &plan(area, corner(0)), trajectory, walls, &format!("{title}: paths"));
    draw_map(&mut canvas, &plan(area, corner(1)), &maps.density, walls, "density (Voronoi)", &HEAT, "1/m2");
    draw_map(&mut canvas, &plan(area, corner(2)), &maps.speed, walls, "speed (Voronoi)", &COOL, "m/s");
    let samples = fundamental_diagram(trajectory, walls, stride);
    let thin = samples.len().div_ceil(6000).max(1);
    let means = binned(&samples, 0.25).into_iter().filter(|bin| bin.2 >= 5).map(|bin| [bin.0, bin.1]);
    let densest = samples.iter().map(|s| s[0]).fold(1.0, f64::max).min(5.4);
    let curve = (1..=60).map(|i| densest * f64::from(i) / 60.0).map(|density| [density, weidmann(density)]);
    let cloud = samples.iter().step_by(thin).filter(|s| s[0] <= 6.0).copied();
    let chart = Chart {
        name: "fundamental_diagram",
        title: "fundamental diagram".to_owned(),
        x: "density (Voronoi), 1/m2",
        y: "speed, m/s",
        series: vec![
            Series { name: "people".to_owned(), points: cloud.collect(), joined: false },
            Series { name: "mean".to_owned(), points: means.collect(), joined: true },
            Series { name: "Weidmann 1993".to_owned(), points: curve.collect(), joined: true },
        ],
    };
    let at = corner(3);
    panel(&mut canvas, at, [width, diagram_height], &chart);
    Ok(canvas)
}
