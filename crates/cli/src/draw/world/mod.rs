//! A robot world from above: shapes with their headings, goals, paths, scans, views, contacts, map.
//!
//! A picture shows one frame of a [`Film`] and the paths up to it. It never steps a world.

mod film;
mod look;
mod shapes;

use std::f64::consts::TAU;

use anyhow::Result;
use promenade_robot_world::Point;
use promenade_robot_world::spec::MapGrid;
use serde_json::Value;

use super::plan::Plan;
use super::{At, Canvas, Rgb, Size, mixed, palette};
use film::{Body, Sweep, Veil};
pub(crate) use film::{Film, Frame};
use look::{Look, Mark, Sort};

const HIT: Rgb = [0xd6, 0x27, 0x28];
const TOUCH: Rgb = [0xc2, 0x18, 0x5b];
const APPROACHING: Rgb = [0x1f, 0x5f, 0xc4];
const RECEDING: Rgb = [0xd0, 0x4a, 0x12];
const CELL: Rgb = [0x55, 0x5c, 0x66];
const FOG: Rgb = [0x8d, 0x93, 0x9b];
const SWEEP: Rgb = [0x2f, 0x7f, 0xb8];
/// Metres of arrow per newton, as in `contact2d`.
const FORCE_SCALE: f64 = 0.05;
/// m/s at which a radial velocity has its full colour.
const FULL_SPEED: f64 = 1.0;
/// How far beyond the world's edge a picture follows what left it, in sizes of the world.
const BEYOND: f64 = 0.5;

/// How large a picture is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    /// To be looked at for long.
    Still,
    /// One of many.
    Moving,
}

impl Format {
    fn long(self) -> f32 {
        match self {
            Self::Still => 860.0,
            Self::Moving => 560.0,
        }
    }
}

impl Film {
    /// The picture of a frame.
    pub(crate) fn picture(&self, frame: &Frame, format: Format) -> Result<Canvas> {
        let flag = |key: &str, default| self.plot.get(key).and_then(Value::as_bool).unwrap_or(default);
        let (title, axis) = (flag("show_title", true), !flag("no_axis", false));
        let margin = [
            if axis { 40.0 } else { 8.0 },
            if title { 36.0 } else { 8.0 },
            if axis { 24.0 } else { 8.0 },
            if axis { 42.0 } else { 24.0 },
        ];
        let area = self.area();
        let plan = Plan::new(area, [0.0, 0.0], self.long(area, format, margin), margin);
        let [width, height] = plan.size();
        let mut canvas = Canvas::new(width.max(300.0).ceil() as u32, height.ceil() as u32)?;
        if title {
            self.title(&mut canvas, &plan, frame);
        }
        self.floor_of(&mut canvas, &plan, frame);
        if axis {
            plan.scales(&mut canvas);
        }
        self.legend(&mut canvas, &plan, frame);
        Ok(canvas)
    }

    /// What is on the floor alone, on a canvas of that many pixels that shows `area`.
    pub(crate) fn floor_only(&self, frame: &Frame, area: [f64; 4], long: f32) -> Result<Canvas> {
        let plan = Plan::new(area, [0.0, 0.0], long, [0.0; 4]);
        let [width, height] = plan.size();
        let mut canvas = Canvas::new(width.ceil().max(1.0) as u32, height.ceil().max(1.0) as u32)?;
        self.floor_of(&mut canvas, &plan, frame);
        Ok(canvas)
    }

    /// Pixels of the longer side: as `figure_pixels` has it, or what suits the format.
    fn long(&self, area: [f64; 4], format: Format, margin: [f32; 4]) -> f32 {
        let wanted = self.plot.get("figure_pixels").and_then(Value::as_array).and_then(|pair| {
            let side = |index: usize| pair.get(index).and_then(Value::as_f64).map(|side| side as f32);
            Some([side(0)?, side(1)?])
        });
        let Some([width, height]) = wanted.filter(|_| format == Format::Still) else { return format.long() };
        let [wide, high] = [(area[2] - area[0]) as f32, (area[3] - area[1]) as f32];
        let inner = [width - margin[0] - margin[2], height - margin[1] - margin[3]];
        let scale = (inner[0] / wide).min(inner[1] / high);
        (scale * wide.max(high)).clamp(160.0, 4000.0)
    }

    /// The world's rectangle, and a little more when something left it.
    fn area(&self) -> [f64; 4] {
        let [left, lower, right, upper] = self.floor;
        let beyond = BEYOND * (right - left).max(upper - lower);
        let mut area = self.floor;
        let moving = |row: &usize| self.looks[*row].sort != Sort::Fixed;
        for row in (0..self.looks.len()).filter(moving) {
            let radius = self.looks[row].shape.radius;
            for [x, y, _] in &self.paths.places[row] {
                let (x, y) = (f64::from(*x), f64::from(*y));
                area[0] = area[0].min(x - radius).max(left - beyond);
                area[1] = area[1].min(y - radius).max(lower - beyond);
                area[2] = area[2].max(x + radius).min(right + beyond);
                area[3] = area[3].max(y + radius).min(upper + beyond);
            }
        }
        area
    }

    fn title(&self, canvas: &mut Canvas, plan: &Plan, frame: &Frame) {
        let name = self.plot.get("title").and_then(Value::as_str).unwrap_or(&self.name);
        let right = plan.left() + plan.extent()[0].max(300.0 - plan.left() - 24.0);
        let state = format!("{:.1} s  {}", frame.time, frame.status);
        let x = right - Size::Normal.width(&state);
        let room = ((x - plan.left() - 10.0) / Size::Title.width(" ")).max(0.0) as usize;
        let name: String = name.chars().take(room).collect();
        canvas.text([plan.left(), 10.0], Size::Title, palette::INK, &name);
        let ink = if frame.status.starts_with("Collision") { HIT } else { palette::FAINT };
        canvas.text([x, 13.0], Size::Normal, ink, &state);
    }

    fn floor_of(&self, canvas: &mut Canvas, plan: &Plan, frame: &Frame) {
        canvas.open_window([plan.left(), plan.top()], plan.extent());
        plan.grid(canvas, palette::GRID);
        if let Some(map) = &self.map {
            draw_map(canvas, plan, map);
        }
        let rows = || 0..self.looks.len().min(frame.bodies.len());
        for sweep in &frame.sweeps {
            draw_sweep(canvas, plan, sweep, frame.sweeps.len());
        }
        for row in rows() {
            if let Some((view, mark)) = self.looks[row].view {
                draw_view(canvas, plan, frame.bodies[row].state, view, mark);
            }
        }
        for row in rows().filter(|row| self.looks[*row].sort == Sort::Fixed) {
            self.draw_body(canvas, plan, row, &frame.bodies[row]);
        }
        if let Some(fog) = &frame.fog {
            self.draw_fog(canvas, plan, fog);
        }
        for row in rows() {
            self.draw_path(canvas, plan, row, frame);
        }
        for row in rows() {
            self.draw_goals(canvas, plan, row, &frame.bodies[row]);
        }
        for row in rows().filter(|row| self.looks[*row].sort != Sort::Fixed) {
            self.draw_body(canvas, plan, row, &frame.bodies[row]);
        }
        for sweep in &frame.sweeps {
            draw_returns(canvas, plan, sweep);
        }
        self.draw_contacts(canvas, plan, frame);
        let [left, lower, right, upper] = self.floor;
        let corners = [[left, lower], [right, lower], [right, upper], [left, upper]];
        canvas.ring(&corners.map(|corner| plan.place(corner)), 1.2, palette::FAINT);
        canvas.close_window();
        for row in rows() {
            self.draw_label(canvas, plan, row, &frame.bodies[row]);
        }
    }

    fn draw_fog(&self, canvas: &mut Canvas, plan: &Plan, fog: &Veil) {
        let [left, lower, right, upper] = self.floor;
        let columns = fog.columns.max(1);
        let rows = fog.revealed.len().div_ceil(columns).max(1);
        let corner = |column: usize, row: usize| {
            let x = left + (right - left) * column as f64 / columns as f64;
            let y = lower + (upper - lower) * row as f64 / rows as f64;
            plan.place([x, y]).map(f32::round)
        };
        let mut veils = Vec::new();
        for (row, cells) in fog.revealed.chunks(columns).enumerate() {
            let mut column = 0;
            while column < cells.len() {
                let run = cells[column..].iter().take_while(|seen| !**seen).count();
                if run > 0 {
                    let [[x0, y0], [x1, y1]] = [corner(column, row), corner(column + run, row + 1)];
                    veils.push(vec![[x0, y0], [x1, y0], [x1, y1], [x0, y1]]);
                }
                column += run.max(1);
            }
        }
        canvas.area(&veils, FOG, 0.5);
    }

    fn draw_body(&self, canvas: &mut Canvas, plan: &Plan, row: usize, body: &Body) {
        let look = &self.looks[row];
        shapes::draw(canvas, plan, look, body.state, if body.collision { Some(HIT) } else { None });
        if let Some((length, colour)) = look.arrow {
            let speed = body.velocity[0].hypot(body.velocity[1]);
            if speed > 1e-3 {
                let along = [length * body.velocity[0] / speed, length * body.velocity[1] / speed];
                draw_arrow(canvas, plan, [body.state[0], body.state[1]], along, 2.0, colour);
            }
        }
    }

    fn draw_path(&self, canvas: &mut Canvas, plan: &Plan, row: usize, frame: &Frame) {
        let look = &self.looks[row];
        let end = self.paths.until(frame.step);
        let begin = look.path_steps.map_or(0, |steps| self.paths.until(frame.step.saturating_sub(steps + 1)));
        let places = &self.paths.places[row][..end.min(self.paths.places[row].len())];
        if let Some(every) = look.ghosts {
            let ghosts = self.paths.steps.iter().zip(places).filter(|(step, _)| step.is_multiple_of(every));
            for (_, place) in ghosts {
                shapes::ghost(canvas, plan, look, place.map(f64::from));
            }
        }
        let Some(mark) = look.path else { return };
        let mut line: Vec<At> = places
            .get(begin..)
            .unwrap_or_default()
            .iter()
            .map(|[x, y, _]| plan.place([f64::from(*x), f64::from(*y)]))
            .collect();
        let [x, y, ..] = frame.bodies[row].state;
        line.push(plan.place([x, y]));
        if line.iter().any(|at| (at[0] - line[0][0]).hypot(at[1] - line[0][1]) > 1.0) {
            canvas.faint_line(&line, mark.width, mark.colour, mark.alpha);
            if begin == 0 && look.ghosts.is_none() {
                shapes::ghost(canvas, plan, look, places.first().map_or([x, y, 0.0], |p| p.map(f64::from)));
            }
        }
    }

    fn draw_goals(&self, canvas: &mut Canvas, plan: &Plan, row: usize, body: &Body) {
        let look = &self.looks[row];
        let Some(mark) = look.goal else { return };
        let colour = mixed(palette::PAPER, mark.colour, mark.alpha);
        let mut from = plan.place([body.state[0], body.state[1]]);
        let count = if look.all_goals { body.goals.len() } else { 1 };
        for (index, goal) in body.goals.iter().take(count).enumerate() {
            let at = plan.place(goal.position);
            if count > 1 {
                canvas.dashes(&[from, at], 1.0, mixed(palette::PAPER, mark.colour, 0.45));
            }
            from = at;
            let radius = (look.goal_threshold as f32 * plan.scale).clamp(3.5, 200.0);
            let arm = radius.min(5.0);
            let circle: Vec<At> = (0..32)
                .map(|step| (f64::from(step) / 32.0 * TAU).sin_cos())
                .map(|(sin, cos)| [at[0] + radius * cos as f32, at[1] + radius * sin as f32])
                .collect();
            canvas.ring(&circle, mark.width, colour);
            canvas.line(&[[at[0] - arm, at[1]], [at[0] + arm, at[1]]], mark.width, colour);
            canvas.line(&[[at[0], at[1] - arm], [at[0], at[1] + arm]], mark.width, colour);
            if body.arrived {
                canvas.disc(at, (0.6 * arm).max(2.0), colour);
            }
            if count > 1 {
                let text = (index + 1).to_string();
                canvas.text([at[0] + radius + 2.0, at[1] - 10.0], Size::Small, colour, &text);
            }
        }
    }

    fn draw_label(&self, canvas: &mut Canvas, plan: &Plan, row: usize, body: &Body) {
        let look = &self.looks[row];
        let Some(colour) = look.label else { return };
        let at = plan.place([body.state[0], body.state[1]]);
        let radius = look.shape.radius as f32 * plan.scale;
        let name = look.name.strip_prefix("robot_").map_or(&*look.name, |number| number);
        let [left, top] = [at[0] + 0.72 * radius + 2.0, at[1] - 0.72 * radius - 10.0];
        let inside = left > plan.left()
            && left + Size::Small.width(name) < plan.left() + plan.extent()[0]
            && top > plan.top()
            && top < plan.top() + plan.extent()[1];
        if inside {
            for [x, y] in [[-1.0, 0.0], [1.0, 0.0], [0.0, -1.0], [0.0, 1.0]] {
                canvas.text([left + x, top + y], Size::Small, palette::PAPER, name);
            }
            canvas.text([left, top], Size::Small, mixed(colour, palette::INK, 0.35), name);
        }
    }

    fn draw_contacts(&self, canvas: &mut Canvas, plan: &Plan, frame: &Frame) {
        for contact in &frame.contacts {
            let [nx, ny] = contact.normal;
            let length = FORCE_SCALE * contact.force;
            if length > 0.0 {
                // The arrow shows what the one that does not drive feels.
                let drives =
                    |id: u32| self.looks.get(id as usize).is_some_and(|look| look.sort != Sort::Pushable);
                let sign = if drives(contact.a) { -1.0 } else { 1.0 };
                let along = [sign * nx * length, sign * ny * length];
                draw_arrow(canvas, plan, contact.point, along, 2.2, TOUCH);
            }
            canvas.disc(plan.place(contact.point), 2.6, TOUCH);
        }
    }

    /// A line under the floor for what is not plain to see.
    fn legend(&self, canvas: &mut Canvas, plan: &Plan, frame: &Frame) {
        let [_, bottom] = [plan.left(), plan.top() + plan.extent()[1]];
        let [mut x, y] = [plan.left(), bottom + 26.0];
        let mut entry = |colour: Rgb, text: &str| {
            canvas.disc([x + 4.0, y + 5.0], 3.4, colour);
            canvas.text([x + 12.0, y], Size::Small, palette::FAINT, text);
            x += 28.0 + Size::Small.width(text);
        };
        if frame.contacts.iter().any(|contact| contact.force > 0.0) {
            entry(TOUCH, "contact and force, 1 m for 20 N");
        } else if !frame.contacts.is_empty() {
            entry(TOUCH, "contact");
        }
        if frame.sweeps.iter().any(|sweep| sweep.spec.fmcw.is_some()) {
            entry(APPROACHING, "approaching");
            entry(RECEDING, "receding");
        }
        if frame.bodies.iter().any(|body| body.collision) {
            entry(HIT, "collision");
        }
    }
}

/// Occupied cells, row by row, each run of them as one bar.
fn draw_map(canvas: &mut Canvas, plan: &Plan, map: &MapGrid) {
    let [wide, high] = map.cell;
    for (row, values) in map.values.chunks(map.columns.max(1)).enumerate() {
        let mut column = 0;
        while column < values.len() {
            let run = values[column..].iter().take_while(|value| **value > 50.0).count();
            if run > 0 {
                let [x, y] = map.origin;
                let upper = plan.place([x + column as f64 * wide, y + (row + 1) as f64 * high]);
                let lower = plan.place([x + (column + run) as f64 * wide, y + row as f64 * high]);
                // Whole pixels, so that no seam shows between rows.
                let [upper, lower] = [upper.map(f32::round), lower.map(f32::round)];
                canvas.bar(upper, lower[0] - upper[0], lower[1] - upper[1], CELL);
            }
            column += run.max(1);
        }
    }
}

fn beam(sweep: &Sweep, index: usize, range: f64) -> Point {
    let spec = &sweep.spec;
    let along = if spec.number > 1 {
        -0.5 * spec.angle_range + spec.angle_range * index as f64 / (spec.number - 1) as f64
    } else {
        0.0
    };
    let [x, y, heading] = sweep.scan.origin;
    let (sin, cos) = (heading + along).sin_cos();
    [x + range * cos, y + range * sin]
}

/// What a scanner can see through.
fn draw_sweep(canvas: &mut Canvas, plan: &Plan, sweep: &Sweep, of: usize) {
    let [x, y, _] = sweep.scan.origin;
    let from = plan.place([x, y]);
    // Of very many scanners only the returns are told apart.
    let alpha = (0.16 / (of as f32).sqrt()).max(0.02);
    let ends =
        sweep.scan.ranges.iter().enumerate().map(|(index, range)| plan.place(beam(sweep, index, *range)));
    if let [range] = sweep.scan.ranges.as_slice() {
        canvas.faint_line(&[from, plan.place(beam(sweep, 0, *range))], 1.2, SWEEP, 0.7);
    } else {
        let fan: Vec<At> = std::iter::once(from).chain(ends).collect();
        canvas.area(&[fan], SWEEP, alpha);
    }
}

/// Where the beams of a scanner ended on something.
fn draw_returns(canvas: &mut Canvas, plan: &Plan, sweep: &Sweep) {
    for (index, (range, valid)) in sweep.scan.ranges.iter().zip(&sweep.scan.valid).enumerate() {
        if *valid {
            let colour = match sweep.scan.radial_velocity.get(index) {
                None => SWEEP,
                Some(speed) => {
                    let part = (speed.abs() / FULL_SPEED).min(1.0) as f32;
                    mixed(palette::FAINT, if *speed < 0.0 { APPROACHING } else { RECEDING }, part)
                }
            };
            canvas.disc(plan.place(beam(sweep, index, *range)), 1.7, colour);
        }
    }
}

fn draw_view(
    canvas: &mut Canvas,
    plan: &Plan,
    [x, y, heading, _]: [f64; 4],
    [angle, radius]: [f64; 2],
    mark: Mark,
) {
    const STEPS: u32 = 48;
    let arc = (0..=STEPS).map(|step| heading + angle * (f64::from(step) / f64::from(STEPS) - 0.5));
    let arc = arc.map(|at| plan.place([x + radius * at.cos(), y + radius * at.sin()]));
    let wedge: Vec<At> = std::iter::once(plan.place([x, y])).chain(arc).collect();
    canvas.ring(&wedge, mark.width, mixed(palette::PAPER, mark.colour, 0.5));
    canvas.area(&[wedge], mark.colour, mark.alpha);
}

fn draw_arrow(canvas: &mut Canvas, plan: &Plan, from: Point, along: Point, width: f32, colour: Rgb) {
    let [tail, tip] = [plan.place(from), plan.place([from[0] + along[0], from[1] + along[1]])];
    let [dx, dy] = [tip[0] - tail[0], tip[1] - tail[1]];
    let length = dx.hypot(dy);
    if length < 1.0 {
        return;
    }
    let [ux, uy] = [dx / length, dy / length];
    let head = (0.45 * length).clamp(3.0, 8.0);
    let back = [tip[0] - head * ux, tip[1] - head * uy];
    canvas.line(&[tail, back], width, colour);
    let wing = |side: f32| [back[0] - 0.5 * side * head * uy, back[1] + 0.5 * side * head * ux];
    canvas.area(&[vec![tip, wing(1.0), wing(-1.0)]], colour, 1.0);
}

/// The colour of a thing and of its edge.
fn edge(look: &Look) -> Rgb {
    mixed(look.colour, palette::INK, 0.55)
}
