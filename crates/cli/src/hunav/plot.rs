//! The paths of a scene from above: who walked where, where somebody reacted, where the robot was.

use anyhow::Result;
use promenade_hunav::scene::{Row, Scene};
use promenade_hunav::{Agent, Options, Point, Robot};

use crate::draw::plan::Plan;
use crate::draw::{At, Canvas, Rgb, Size, palette};

const LONG: f32 = 820.0;
/// Left, top, right, bottom.
const MARGIN: [f32; 4] = [46.0, 66.0, 40.0, 40.0];
const COLOURS: [Rgb; 6] = [
    palette::LEFT,
    palette::RIGHT,
    [0x3d, 0x8b, 0x52],
    [0x8a, 0x5a, 0xa8],
    [0xb8, 0x38, 0x48],
    [0x7a, 0x6a, 0x2a],
];
/// Seconds between the marks along a path.
const MARK: f64 = 2.0;

struct Path {
    id: i32,
    /// Place, and whether it reacted.
    steps: Vec<(Point, bool)>,
}

/// Draw a scene as it runs with these options.
pub(super) fn paths(scene: &Scene, options: Options) -> Result<Canvas> {
    let agents = scene.agents();
    let mut paths: Vec<Path> =
        agents.iter().map(|agent| Path { id: agent.id, steps: vec![(agent.position, false)] }).collect();
    let mut robot: Vec<Point> = Vec::new();
    scene.run(options, |step, rows| {
        let at = scene.robot(step).position;
        robot.extend((at != [Robot::PARKED; 2]).then_some(at));
        for row in rows {
            note(&mut paths, row);
        }
    });
    let plan = Plan::new(area(&agents, &paths, &robot), [0.0, 0.0], LONG, MARGIN);
    let [width, height] = plan.size();
    let mut canvas = Canvas::new(width.max(420.0) as u32, height as u32)?;
    plan.grid(&mut canvas, palette::GRID);
    plan.frame(&mut canvas, &format!("{}: {} s", scene.name, scene.dt * scene.steps as f64));
    for point in agents.iter().flat_map(|agent| &agent.closest_obs) {
        canvas.disc(plan.place(*point), 2.0, palette::INK);
    }
    let robot: Vec<At> = robot.iter().map(|at| plan.place(*at)).collect();
    canvas.dashes(&robot, 1.6, palette::INK);
    let marks = (MARK / scene.dt.max(1e-3)).round().max(1.0) as usize;
    for (at, number) in robot.iter().step_by(marks).zip(0..) {
        canvas.bar([at[0] - 3.0, at[1] - 3.0], 6.0, 6.0, palette::INK);
        caption(&mut canvas, *at, palette::INK, number);
    }
    for ((path, agent), colour) in paths.iter().zip(&agents).zip(COLOURS.iter().cycle()) {
        draw(&mut canvas, &plan, path, agent, *colour, marks);
    }
    legend(&mut canvas, &agents, !robot.is_empty());
    Ok(canvas)
}

fn note(paths: &mut [Path], row: &Row) {
    let [_, id, x, y, .., state] = row[..10] else { return };
    if let Some(path) = paths.iter_mut().find(|path| f64::from(path.id) == id) {
        path.steps.push(([x, y], state != 0.0));
    }
}

fn draw(canvas: &mut Canvas, plan: &Plan, path: &Path, agent: &Agent, colour: Rgb, marks: usize) {
    for goal in &agent.goals {
        let [x, y] = plan.place(*goal);
        canvas.line(&[[x - 5.0, y - 5.0], [x + 5.0, y + 5.0]], 1.6, colour);
        canvas.line(&[[x - 5.0, y + 5.0], [x + 5.0, y - 5.0]], 1.6, colour);
    }
    let places: Vec<At> = path.steps.iter().map(|(at, _)| plan.place(*at)).collect();
    for pair in path.steps.windows(2).filter(|pair| pair[1].1) {
        canvas.faint_line(&[plan.place(pair[0].0), plan.place(pair[1].0)], 9.0, colour, 0.35);
    }
    canvas.line(&places, 1.6, colour);
    for (at, number) in places.iter().step_by(marks).zip(0..) {
        canvas.disc(*at, 3.0, colour);
        caption(canvas, *at, colour, number);
    }
    let outline: Vec<At> = (0..32)
        .map(|n| f64::from(n) / 32.0 * std::f64::consts::TAU)
        .map(|turn| {
            [agent.position[0] + agent.radius * turn.cos(), agent.position[1] + agent.radius * turn.sin()]
        })
        .map(|at| plan.place(at))
        .collect();
    canvas.ring(&outline, 1.4, colour);
}

/// The time of a mark, seconds.
fn caption(canvas: &mut Canvas, [x, y]: At, colour: Rgb, number: u32) {
    canvas.text([x + 5.0, y + 3.0], Size::Small, colour, &format!("{:.0}", f64::from(number) * MARK));
}

fn legend(canvas: &mut Canvas, agents: &[Agent], robot: bool) {
    let mut x = MARGIN[0];
    let mut entry = |colour: Rgb, text: &str| {
        canvas.disc([x + 5.0, 48.0], 4.0, colour);
        canvas.text([x + 14.0, 42.0], Size::Normal, palette::INK, text);
        x += 14.0 + Size::Normal.width(text) + 16.0;
    };
    for (agent, colour) in agents.iter().zip(COLOURS).take(COLOURS.len()) {
        entry(colour, &format!("{} {}", agent.id, format!("{:?}", agent.behavior.kind).to_lowercase()));
    }
    if robot {
        entry(palette::INK, "robot");
    }
}

fn area(agents: &[Agent], paths: &[Path], robot: &[Point]) -> [f64; 4] {
    let places = paths.iter().flat_map(|path| path.steps.iter().map(|step| step.0));
    let fixed = agents.iter().flat_map(|agent| agent.goals.iter().chain(&agent.closest_obs)).copied();
    let all =
        places.chain(fixed).chain(robot.iter().copied()).filter(|at| at.iter().all(|part| part.is_finite()));
    let [x0, y0, x1, y1] = all.fold(
        [f64::INFINITY, f64::INFINITY, f64::NEG_INFINITY, f64::NEG_INFINITY],
        |[x0, y0, x1, y1], [x, y]| [x0.min(x), y0.min(y), x1.max(x), y1.max(y)],
    );
    if x0 > x1 { [-1.0, -1.0, 1.0, 1.0] } else { [x0 - 0.8, y0 - 0.8, x1 + 0.8, y1 + 0.8] }
}
