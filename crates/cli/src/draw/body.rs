//! A body as capsules, seen from one side.

use promenade_gait::{
    Pose40, Side,
    quality::{HEEL, TOE},
    rig::{BoneClass, Frames, Link, Point, Rig, Transform, wire_to_urdf},
};

use super::{At, Canvas, Rgb, mixed, palette};

/// Half the height of the drawn foot.
const FOOT_RADIUS: f64 = 0.024;

/// Where the viewer stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum View {
    /// Before the person, who looks at the viewer; their left is on the right of the picture.
    Front,
    /// On the person's right; they look to the right of the picture.
    Side,
}

impl View {
    /// Right and up in the picture and towards the viewer, metres.
    fn project(self, [x, y, z]: Point) -> [f64; 3] {
        match self {
            Self::Front => [y, z, x],
            Self::Side => [x, z, -y],
        }
    }
}

/// Where a body is over the floor.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Stance {
    /// Its hips are at the rig's height, as whoever draws from the bus places them.
    Hips,
    /// Its lowest point is that many metres over the floor.
    Lowest(f64),
}

/// A body to be drawn.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Figure {
    /// What is written under it.
    pub(crate) label: String,
    /// Wire values.
    pub(crate) posture: Pose40,
    pub(crate) stance: Stance,
}

/// A place for a body on a canvas.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Stage {
    /// Where the floor under the body's origin is.
    pub(crate) floor: At,
    /// Pixels per metre.
    pub(crate) scale: f32,
    /// From where it is seen.
    pub(crate) view: View,
}

impl Stage {
    fn place(&self, point: Point) -> (At, f64) {
        let [right, up, near] = self.view.project(point);
        let [x, y] = self.floor;
        ([x + self.scale * right as f32, y - self.scale * up as f32], near)
    }

    /// Draws the floor line, `half` metres to either side of the body.
    pub(crate) fn floor(&self, canvas: &mut Canvas, half: f32) {
        let [x, y] = self.floor;
        let width = half * self.scale;
        canvas.line(&[[x - width, y], [x + width, y]], 1.0, palette::FAINT);
    }

    /// Draws a body.
    pub(crate) fn body(&self, canvas: &mut Canvas, rig: &Rig, figure: &Figure) {
        let mut frames = Frames::default();
        let root = Transform { translation: [0.0, 0.0, rig.hip_height() - HEEL[2]], ..Transform::IDENTITY };
        rig.forward(&root, &wire_to_urdf(&figure.posture), &mut frames);
        let mut parts = parts(rig, &frames);
        if let Stance::Lowest(height) = figure.stance {
            let lowest = parts.iter().map(Part::lowest).fold(f64::INFINITY, f64::min);
            for part in &mut parts {
                part.from[2] += height - lowest;
                part.to[2] += height - lowest;
            }
        }
        let depth = |part: &Part| 0.5 * (self.place(part.from).1 + self.place(part.to).1) + part.nearer;
        parts.sort_by(|a, b| depth(a).total_cmp(&depth(b)));
        for Part { from, to, radius, colour, .. } in parts {
            let ends = [self.place(from).0, self.place(to).0];
            let width = 2.0 * radius as f32 * self.scale;
            canvas.line(&ends, width + 2.0, mixed(colour, [0, 0, 0], 0.45));
            canvas.line(&ends, width, colour);
        }
    }
}

struct Part {
    from: Point,
    to: Point,
    radius: f64,
    colour: Rgb,
    /// Drawn as if it were that much nearer to the viewer, metres: parts that meet in a joint would flicker otherwise.
    nearer: f64,
}

impl Part {
    fn lowest(&self) -> f64 {
        self.from[2].min(self.to[2]) - self.radius
    }
}

fn parts(rig: &Rig, frames: &Frames) -> Vec<Part> {
    let scale = rig.height() / promenade_gait::rig::DEFAULT_HEIGHT;
    let hips = frames.origin(Link::BODY);
    let mut parts: Vec<Part> = rig
        .bones(frames)
        .iter()
        .enumerate()
        // The neck ends under the skull, and a foot is drawn with its heel.
        .filter(|(index, _)| ![4, 16, 20].contains(index))
        .map(|(index, bone)| {
            let side = match index {
                5..=8 | 13..=16 => Side::Left,
                9..=12 | 17..=20 => Side::Right,
                _ => Side::Middle,
            };
            // The bars across shoulders and hips would hide everything at the trunk's thickness.
            let thickness = match (bone.class, side) {
                (BoneClass::Trunk, Side::Middle) => 0.8,
                (BoneClass::Trunk, _) => 0.45,
                _ => 0.85,
            };
            let trunk = bone.class == BoneClass::Trunk || side == Side::Middle;
            let colour = if trunk { palette::MIDDLE } else { colour_of(side) };
            let bar = bone.class == BoneClass::Trunk && side != Side::Middle;
            let nearer = if bar {
                -0.04
            } else if trunk {
                0.0
            } else {
                0.02
            };
            Part { from: bone.from, to: bone.to, radius: thickness * bone.radius, colour, nearer }
        })
        .collect();
    if let Some(lowest) = parts.first_mut() {
        lowest.from = hips;
    }
    for (ankle, side) in [("l_ankle", Side::Left), ("r_ankle", Side::Right)] {
        let Some(ankle) = Link::parse(ankle) else { continue };
        let tip = |[x, y, z]: Point, inward: f64| {
            frames.point(ankle, [(x + inward) * scale, y, z * scale + FOOT_RADIUS])
        };
        let (from, to) = (tip(HEEL, FOOT_RADIUS), tip(TOE, -FOOT_RADIUS));
        let colour = mixed(colour_of(side), palette::INK, 0.45);
        parts.push(Part { from, to, radius: FOOT_RADIUS, colour, nearer: 0.02 });
    }
    let skull = rig.skull(frames);
    let head = |at: Point, radius: f64, nearer: f64| Part {
        from: at,
        to: at,
        radius,
        colour: palette::SKIN,
        nearer,
    };
    parts.push(head(skull, 0.95 * rig.head_radius(), 0.1));
    let nose = frames.point(Link::HEAD, [0.55 * rig.head_radius(), 0.0, -0.15 * rig.head_radius()]);
    parts.push(head(nose, 0.014 * scale, 0.1));
    parts
}

pub(crate) fn colour_of(side: Side) -> Rgb {
    match side {
        Side::Left => palette::LEFT,
        Side::Right => palette::RIGHT,
        Side::Middle => palette::MIDDLE,
    }
}
