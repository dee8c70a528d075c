//! Bodies: outlines with a sign of where they head, wheels of cars.

use promenade_robot_world::Point;
use promenade_robot_world::shape::ShapeKind;

use super::look::{Look, Sort};
use super::{edge, mixed, palette};
use crate::draw::plan::Plan;
use crate::draw::{At, Canvas, Rgb};

/// Bodies smaller than this many pixels have no sign of where they head.
const SMALLEST_SIGN: f32 = 4.0;

/// From the body frame onto the canvas.
struct Pose<'a> {
    plan: &'a Plan,
    origin: Point,
    sin: f64,
    cos: f64,
}

impl<'a> Pose<'a> {
    fn new(plan: &'a Plan, [x, y, heading]: [f64; 3]) -> Self {
        let (sin, cos) = heading.sin_cos();
        Self { plan, origin: [x, y], sin, cos }
    }

    fn place(&self, [x, y]: Point) -> At {
        let [ox, oy] = self.origin;
        self.plan.place([ox + self.cos * x - self.sin * y, oy + self.sin * x + self.cos * y])
    }
}

/// The boundary of a shape on the canvas: closed rings and open lines.
fn boundary(pose: &Pose<'_>, look: &Look) -> (Vec<Vec<At>>, Vec<Vec<At>>) {
    let (mut rings, mut lines) = (Vec::new(), Vec::new());
    for ring in &look.shape.rings {
        let points = &look.shape.points[ring.start as usize..ring.end as usize];
        let placed = points.iter().map(|point| pose.place(*point)).collect();
        if ring.closed { rings.push(placed) } else { lines.push(placed) }
    }
    (rings, lines)
}

/// Draws a body; `alarm` is the colour of its edge when something is wrong with it.
pub(super) fn draw(canvas: &mut Canvas, plan: &Plan, look: &Look, state: [f64; 4], alarm: Option<Rgb>) {
    if matches!(look.shape.kind, ShapeKind::Map(_)) {
        return;
    }
    let [x, y, heading, steer] = state;
    let pose = Pose::new(plan, [x, y, heading]);
    let (rings, lines) = boundary(&pose, look);
    if let Sort::Car(base) = look.sort {
        wheels(canvas, plan, look, &pose, base, steer);
    }
    canvas.area(&rings, look.colour, look.alpha);
    let (colour, width) = alarm.map_or((edge(look), 1.2), |colour| (colour, 2.6));
    rings.iter().for_each(|ring| canvas.ring(ring, width, colour));
    let colour = alarm.unwrap_or(look.colour);
    lines.iter().for_each(|line| canvas.line(line, 2.4, colour));
    match look.sort {
        Sort::Fixed => {}
        // How a box has turned is plain from its corners, how a disc has is not.
        Sort::Pushable if !matches!(look.shape.kind, ShapeKind::Circle { .. }) => {}
        Sort::Pushable => {
            let [cx, cy] = look.shape.centroid;
            let ends = [pose.place([cx, cy]), pose.place([cx + look.shape.radius, cy])];
            canvas.line(&ends, 1.2, edge(look));
        }
        Sort::Driven => nose(canvas, plan, look, &pose),
        Sort::Car(_) => windscreen(canvas, look, &pose),
    }
}

/// The outline of where a body was.
pub(super) fn ghost(canvas: &mut Canvas, plan: &Plan, look: &Look, place: [f64; 3]) {
    let (rings, lines) = boundary(&Pose::new(plan, place), look);
    let colour = mixed(palette::PAPER, look.colour, 0.45);
    rings.iter().for_each(|ring| canvas.ring(ring, 1.0, colour));
    lines.iter().for_each(|line| canvas.line(line, 1.0, colour));
}

/// A light triangle that points ahead.
fn nose(canvas: &mut Canvas, plan: &Plan, look: &Look, pose: &Pose<'_>) {
    let shape = &look.shape;
    let [cx, cy] = shape.centroid;
    let half = 0.5 * shape.length.min(shape.width).max(0.4 * shape.length.max(shape.width));
    if half as f32 * plan.scale < SMALLEST_SIGN {
        return;
    }
    let tip = pose.place([cx + 0.78 * half, cy]);
    let back =
        [pose.place([cx - 0.38 * half, cy + 0.5 * half]), pose.place([cx - 0.38 * half, cy - 0.5 * half])];
    let notch = pose.place([cx - 0.12 * half, cy]);
    canvas.area(&[vec![tip, back[0], notch, back[1]]], palette::PAPER, 0.9);
}

/// The glass of a car, before its middle.
fn windscreen(canvas: &mut Canvas, look: &Look, pose: &Pose<'_>) {
    let shape = &look.shape;
    let [cx, cy] = shape.centroid;
    let (long, wide) = (shape.length, shape.width);
    let at = |along: f64, across: f64| pose.place([cx + along * long, cy + across * wide]);
    let front = vec![at(0.12, -0.36), at(0.28, -0.42), at(0.28, 0.42), at(0.12, 0.36)];
    let rear = vec![at(-0.34, -0.38), at(-0.26, -0.34), at(-0.26, 0.34), at(-0.34, 0.38)];
    canvas.area(&[front, rear], palette::PAPER, 0.75);
}

/// Four wheels, the front ones turned by the steering angle, partly under the body.
fn wheels(canvas: &mut Canvas, plan: &Plan, look: &Look, pose: &Pose<'_>, base: f64, steer: f64) {
    let half = 0.11 * look.shape.length;
    let across = 0.5 * look.shape.width;
    let width = (0.16 * look.shape.width) as f32 * plan.scale;
    for (along, turn) in [(0.0, 0.0), (base, steer)] {
        let (sin, cos) = turn.sin_cos();
        for side in [-across, across] {
            let ends = [[along - half * cos, side - half * sin], [along + half * cos, side + half * sin]];
            canvas.line(&ends.map(|end| pose.place(end)), width.max(1.5), palette::INK);
        }
    }
}
