//! How each object of a robot world is drawn: what the file says in `color` and `plot`, and what it does not say.

use std::sync::Arc;

use promenade_robot_world::Objects;
use promenade_robot_world::shape::{Shape, ShapeKind};
use promenade_robot_world::spec::Role;
use serde_json::Value;

use crate::draw::{Rgb, colour::named};

/// Colours of robots that the file gives none, in order.
const CYCLE: [Rgb; 8] = [
    [0x00, 0x9e, 0x73],
    [0x00, 0x72, 0xb2],
    [0xd5, 0x5e, 0x00],
    [0xcc, 0x79, 0xa7],
    [0x56, 0xb4, 0xe9],
    [0xe6, 0x9f, 0x00],
    [0x8a, 0x5a, 0xa8],
    [0x11, 0x77, 0x33],
];
const FIXED: Rgb = [0x3a, 0x40, 0x48];
const PUSHABLE: Rgb = [0xe6, 0x9f, 0x00];

/// How something moves, as far as one can see it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Sort {
    /// Never.
    Fixed,
    /// When pushed.
    Pushable,
    /// By itself.
    Driven,
    /// By itself, steering its front wheels; metres between the axles.
    Car(f64),
}

/// How one object is drawn, the same through a whole run.
#[derive(Debug, Clone)]
pub(crate) struct Look {
    pub(crate) name: Arc<str>,
    pub(crate) shape: Arc<Shape>,
    pub(crate) sort: Sort,
    pub(crate) colour: Rgb,
    pub(crate) alpha: f32,
    pub(crate) goal: Option<Mark>,
    /// All goals that are left, not the next only.
    pub(crate) all_goals: bool,
    pub(crate) path: Option<Mark>,
    /// Steps of the path that stay, as in `keep_traj_length`.
    pub(crate) path_steps: Option<u64>,
    /// Steps between ghosts of the shape.
    pub(crate) ghosts: Option<u64>,
    pub(crate) scans: bool,
    /// Angle, radius and colour of the field of view.
    pub(crate) view: Option<([f64; 2], Mark)>,
    pub(crate) label: Option<Rgb>,
    /// Metres and colour of an arrow along the velocity.
    pub(crate) arrow: Option<(f64, Rgb)>,
    pub(crate) goal_threshold: f64,
}

/// A colour and how much of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Mark {
    pub(crate) colour: Rgb,
    pub(crate) alpha: f32,
    pub(crate) width: f32,
}

/// The `plot` mapping of an object.
struct Keys<'a>(&'a Value);

impl Keys<'_> {
    fn flag(&self, key: &str, default: bool) -> bool {
        self.0.get(key).and_then(Value::as_bool).unwrap_or(default)
    }

    fn number(&self, key: &str) -> Option<f64> {
        self.0.get(key).and_then(Value::as_f64).filter(|number| number.is_finite())
    }

    fn colour(&self, key: &str) -> Option<Rgb> {
        self.0.get(key).and_then(Value::as_str).and_then(named)
    }

    /// `PREFIX_color`, `PREFIX_alpha` and `PREFIX_width`.
    fn mark(&self, prefix: &str, otherwise: Mark) -> Mark {
        let key = |what: &str| format!("{prefix}_{what}");
        let number = |what, default| self.number(&key(what)).map_or(default, |number| number as f32);
        Mark {
            colour: self.colour(&key("color")).unwrap_or(otherwise.colour),
            alpha: number("alpha", otherwise.alpha).clamp(0.0, 1.0),
            width: number("width", otherwise.width).clamp(0.1, 50.0),
        }
    }
}

/// How every object is drawn. `named` writes the names of robots that the file leaves open.
pub(crate) fn looks(objects: &Objects, named: bool) -> Vec<Look> {
    let mut driven = 0;
    (0..objects.len())
        .map(|row| {
            let look = look(objects, row, CYCLE[driven % CYCLE.len()], named);
            driven += usize::from(matches!(look.sort, Sort::Driven | Sort::Car(_)));
            look
        })
        .collect()
}

fn look(objects: &Objects, row: usize, next: Rgb, names: bool) -> Look {
    let drawing = &objects.drawing[row];
    let keys = Keys(&drawing.plot);
    let shape = Arc::clone(&objects.shape[row]);
    let sort = match &objects.model[row] {
        _ if objects.is_static[row] => Sort::Fixed,
        None => Sort::Pushable,
        Some(model) if model.name() == "acker" => {
            Sort::Car(model.wheelbase().filter(|base| *base > 0.0).unwrap_or(1.0))
        }
        Some(_) => Sort::Driven,
    };
    let is_robot = objects.role[row] == Role::Robot;
    let usual = match sort {
        Sort::Fixed => FIXED,
        Sort::Pushable => PUSHABLE,
        Sort::Driven | Sort::Car(_) => next,
    };
    let colour = keys.colour("obj_color").or(drawing.color.as_deref().and_then(named)).unwrap_or(usual);
    let moves = matches!(sort, Sort::Driven | Sort::Car(_));
    let marked = |alpha, width| Mark { colour, alpha, width };
    let has_goal = moves && !objects.goals[row].is_empty() && (is_robot || objects.behavior[row].is_some());
    let line = matches!(shape.kind, ShapeKind::Linestring);
    let alpha = if line { 1.0 } else { 0.92 };
    Look {
        name: Arc::clone(&objects.name[row]),
        sort,
        colour,
        alpha: keys.number("obj_alpha").map_or(alpha, |alpha| alpha as f32).clamp(0.0, 1.0),
        goal: keys.flag("show_goal", has_goal).then(|| keys.mark("goal", marked(0.9, 1.4))),
        all_goals: keys.flag("show_goals", true),
        path: keys.flag("show_trajectory", sort != Sort::Fixed).then(|| keys.mark("traj", marked(0.6, 1.5))),
        path_steps: keys.number("keep_traj_length").filter(|steps| *steps >= 1.0).map(|steps| steps as u64),
        ghosts: keys
            .flag("show_trail", false)
            .then(|| keys.number("trail_freq").map_or(10, |steps| steps.clamp(1.0, 1e6) as u64)),
        scans: keys.flag("show_sensor", true),
        view: objects.fov[row]
            .filter(|_| keys.flag("show_fov", false))
            .map(|view| (view, keys.mark("fov", marked(0.12, 1.0)))),
        label: keys.flag("show_text", names && is_robot).then(|| keys.colour("text_color").unwrap_or(colour)),
        arrow: keys.flag("show_arrow", false).then(|| {
            (keys.number("arrow_length").unwrap_or(0.4), keys.colour("arrow_color").unwrap_or(colour))
        }),
        goal_threshold: objects.goal_threshold[row],
        shape,
    }
}
