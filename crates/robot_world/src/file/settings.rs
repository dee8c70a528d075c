//! The `world` block (robot-world specification, section 2).

use promenade_scenario::tree::Node;

use super::Reader;
use super::value::{Limit, Strictness};
use crate::spec::{CollisionMode, ControlMode, MapGrid, Settings, StepMode};

const KEYS: [&str; 20] = [
    "name",
    "height",
    "width",
    "offset",
    "step_time",
    "sample_time",
    "step_mode",
    "control_mode",
    "collision_mode",
    "gravity",
    "friction",
    "restitution",
    "drive_tau",
    "obstacle_map",
    "mdownsample",
    "fog_map",
    "fog_map_resolution",
    "status",
    "plot",
    "exact_circles",
];
const PLOT_KEYS: [&str; 7] =
    ["saved_figure", "figure_pixels", "show_title", "title", "no_axis", "tight", "viewpoint"];
/// Most cells of the fog.
const MAX_FOG_CELLS: f64 = 25e6;
/// Cell size of the fog without a map, metres.
const FOG_CELL: f64 = 0.1;

const STEP_MODES: [(&str, StepMode); 2] =
    [("internal", StepMode::Internal), ("external", StepMode::External)];
const CONTROL_MODES: [(&str, ControlMode); 2] =
    [("auto", ControlMode::Auto), ("keyboard", ControlMode::Keyboard)];
const COLLISION_MODES: [(&str, CollisionMode); 5] = [
    ("stop", CollisionMode::Stop),
    ("reactive", CollisionMode::Reactive),
    ("unobstructed", CollisionMode::Unobstructed),
    ("unobstructed_obstacles", CollisionMode::UnobstructedObstacles),
    ("contact", CollisionMode::Contact),
];

/// The block as read.
pub(super) struct WorldBlock {
    pub(super) settings: Settings,
    pub(super) drive_tau: f64,
    pub(super) map: Option<MapGrid>,
    pub(super) fog: Option<f64>,
    pub(super) plot: serde_json::Value,
}

impl Reader<'_> {
    /// The block, with defaults wherever something is wrong, so that the rest of the file is read too.
    pub(super) fn world_block(&mut self, node: &Node, path: &str) -> Option<WorldBlock> {
        let fields = self.d.fields(node, path, "settings of the world", &[])?;
        self.finish(&fields, &KEYS, Strictness::Lenient);

        let usual = Settings::default();
        let file_name = self.file.file_name().unwrap_or_default().to_string_lossy();
        let name = file_name.split('.').next().unwrap_or_default().to_owned();
        let width = self.number_or(&fields, "width", Limit::Positive, usual.width);
        let height = self.number_or(&fields, "height", Limit::Positive, usual.height);
        let offset = self.value(&fields, "offset", |r, n, p| r.array(n, p, Limit::Any));
        let step_time = self.number_or(&fields, "step_time", Limit::Positive, usual.step_time);
        let sample_time = self.number_or(&fields, "sample_time", Limit::Positive, step_time);
        let mut physical = |key: &str, limit, default| {
            self.value(&fields, key, |r, node, path| r.physical(node, path, limit)).unwrap_or(default)
        };
        let gravity = physical("gravity", Limit::Positive, usual.gravity);
        let friction = physical("friction", Limit::NonNegative, usual.friction);
        let restitution = physical("restitution", Limit::Share, usual.restitution);
        let drive_tau = physical("drive_tau", Limit::NonNegative, 0.0);
        let step_mode = self.value(&fields, "step_mode", |r, n, p| r.choice(n, p, "step mode", &STEP_MODES));
        let control_mode =
            self.value(&fields, "control_mode", |r, n, p| r.choice(n, p, "control mode", &CONTROL_MODES));
        let collision_mode = self
            .value(&fields, "collision_mode", |r, n, p| r.choice(n, p, "collision mode", &COLLISION_MODES));
        let settings = Settings {
            name: self.value(&fields, "name", Self::text).unwrap_or(name),
            width,
            height,
            offset: offset.unwrap_or(usual.offset),
            step_time,
            sample_steps: sample_steps(sample_time, step_time),
            step_mode: step_mode.unwrap_or(usual.step_mode),
            control_mode: control_mode.unwrap_or(usual.control_mode),
            collision_mode: collision_mode.unwrap_or(usual.collision_mode),
            gravity,
            friction,
            restitution,
            status: self.value(&fields, "status", Self::text).unwrap_or(usual.status),
            exact_circles: self.flag_or(&fields, "exact_circles", usual.exact_circles),
        };

        let every = self.value(&fields, "mdownsample", |r, n, p| r.count(n, p, 1, 1_000_000)).unwrap_or(1);
        let map = self.value(&fields, "obstacle_map", |r, n, p| r.map(n, p, &settings, every as usize));
        let cell = map.as_ref().map_or(FOG_CELL, |map| map.cell[0]);
        let cell = self.number_or(&fields, "fog_map_resolution", Limit::Positive, cell);
        let is_foggy = self.flag_or(&fields, "fog_map", false);
        if is_foggy && (width / cell).round() * (height / cell).round() > MAX_FOG_CELLS {
            let key = if fields.has("fog_map_resolution") { "fog_map_resolution" } else { "fog_map" };
            let message = format!(
                "a fog of {width:?} x {height:?} m in cells of {cell:?} m has more than {MAX_FOG_CELLS} cells; \
                 give a coarser fog_map_resolution"
            );
            self.d.error(fields.key_at(key), &fields.path_of(key), message);
        }
        let plot = self.value(&fields, "plot", |r, n, p| Some(r.drawing(n, p, &PLOT_KEYS)));
        Some(WorldBlock {
            settings,
            drive_tau,
            map,
            fog: is_foggy.then_some(cell),
            plot: plot.unwrap_or_else(|| serde_json::json!({})),
        })
    }

    /// A mapping of keys that only drawing looks at.
    pub(super) fn drawing(&mut self, node: &Node, path: &str, known: &[&str]) -> serde_json::Value {
        if let Some(fields) = self.d.fields(node, path, "what to draw", &[]) {
            self.finish(&fields, known, Strictness::Drawing);
        }
        node.to_json()
    }
}

/// A step is a sample when the count is a multiple of this.
fn sample_steps(sample_time: f64, step_time: f64) -> u64 {
    let steps = (sample_time / step_time * 1e9).round_ties_even() / 1e9;
    // A float that is out of range becomes the nearest integer.
    (steps as u64).max(1)
}
