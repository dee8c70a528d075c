//! The keys of an object (robot-world specification, sections 3.3, 4, 8, 12.1 and 17).

use std::collections::BTreeMap;
use std::f64::consts::{PI, TAU};
use std::sync::Arc;

use promenade_scenario::decode::Fields;
use promenade_scenario::tree::Node;

use super::Reader;
use super::behavior::NO_RENEWAL;
use super::drive::Drive;
use super::group::Group;
use super::settings::WorldBlock;
use super::value::{At, Column, Limit};
use crate::behavior::Behavior;
use crate::kinematics::{Command, Layout, MAX_COMMAND, Model};
use crate::sensor::LidarSpec;
use crate::shape::Shape;
use crate::spec::{ArriveMode, Distribution, Drawing, Goal, ObjectSpec, Role, ShapeSpec};

pub(super) const OBJECT_KEYS: [&str; 35] = [
    "name",
    "number",
    "distribution",
    "check_overlap",
    "kinematics",
    "shape",
    "state",
    "velocity",
    "goal",
    "goal_threshold",
    "heading_threshold",
    "arrive_mode",
    "vel_min",
    "vel_max",
    "acce",
    "angle_range",
    "behavior",
    "group_behavior",
    "sensors",
    "static",
    "mass",
    "friction",
    "inertia",
    "restitution",
    "unobstructed",
    "fov",
    "fov_radius",
    "role",
    "group",
    "group_name",
    "state_dim",
    "vel_dim",
    "color",
    "description",
    "plot",
];
const PLOT_KEYS: [&str; 47] = [
    "show_goal",
    "show_goal_text",
    "show_goals",
    "show_text",
    "show_arrow",
    "show_trajectory",
    "show_trail",
    "show_sensor",
    "show_fov",
    "show_uncertainty",
    "obj_color",
    "obj_alpha",
    "obj_zorder",
    "obj_linestyle",
    "obj_linewidth",
    "goal_color",
    "goal_alpha",
    "goal_zorder",
    "traj_color",
    "traj_style",
    "traj_width",
    "traj_alpha",
    "traj_zorder",
    "keep_traj_length",
    "text_color",
    "text_size",
    "text_alpha",
    "text_zorder",
    "text_position",
    "trail_type",
    "trail_edgecolor",
    "trail_linewidth",
    "trail_alpha",
    "trail_fill",
    "trail_color",
    "trail_zorder",
    "trail_freq",
    "keep_trail_length",
    "arrow_color",
    "arrow_alpha",
    "arrow_zorder",
    "arrow_length",
    "arrow_width",
    "fov_color",
    "fov_edge_color",
    "fov_alpha",
    "fov_zorder",
];

const ROLES: [(&str, Role); 2] = [("robot", Role::Robot), ("obstacle", Role::Obstacle)];
const ARRIVE_MODES: [(&str, ArriveMode); 2] =
    [("position", ArriveMode::Position), ("state", ArriveMode::State)];
const DEFAULT_STATE: [f64; 3] = [1.0, 1.0, 0.0];
/// How far a range of headings may be from 2 pi.
const SPAN_TOLERANCE: f64 = 0.01;
/// What a passive object's velocity is made of.
const PASSIVE: [&str; 3] = ["vx", "vy", "yaw rate"];

/// A vector and where it stands.
type Vector<'a> = (At<'a>, Vec<f64>);

/// The keys of a group's objects, each spread over them.
struct Columns<'a> {
    name: Column<String>,
    drive: Column<Drive>,
    shape: Column<ShapeSpec>,
    state: Column<Vector<'a>>,
    velocity: Column<Vector<'a>>,
    goals: Column<Vec<Goal>>,
    goal_threshold: Column<f64>,
    heading_threshold: Column<f64>,
    arrive_mode: Column<ArriveMode>,
    vel_min: Column<Vector<'a>>,
    vel_max: Column<Vector<'a>>,
    acce: Column<Vector<'a>>,
    angle_low: Column<f64>,
    behavior: Column<At<'a>>,
    sensors: Column<Vec<LidarSpec>>,
    is_static: Column<bool>,
    mass: Column<f64>,
    friction: Column<f64>,
    inertia: Column<f64>,
    restitution: Column<f64>,
    unobstructed: Column<bool>,
    fov: Column<f64>,
    fov_radius: Column<f64>,
    role: Column<Role>,
    group_name: Column<String>,
    /// `state_dim` and `vel_dim`.
    dimensions: [Column<(At<'a>, i64)>; 2],
    color: Column<String>,
    description: Column<String>,
    plot: Column<Arc<serde_json::Value>>,
}

impl Columns<'_> {
    /// A tolerance of the heading asks for the state, and keeps it apart from the distance.
    fn arrive_mode(&self, i: usize) -> ArriveMode {
        match (self.arrive_mode.get(i), self.heading_threshold.get(i)) {
            (None | Some(ArriveMode::State), Some(heading)) => ArriveMode::Pose { heading: *heading },
            (mode, _) => mode.copied().unwrap_or(ArriveMode::Position),
        }
    }

    /// How many objects the columns tell apart: those after them are like the last.
    fn slots(&self) -> usize {
        let vectors = [&self.state, &self.velocity, &self.vel_min, &self.vel_max, &self.acce];
        let numbers = [
            &self.goal_threshold,
            &self.heading_threshold,
            &self.angle_low,
            &self.mass,
            &self.friction,
            &self.inertia,
            &self.restitution,
            &self.fov,
            &self.fov_radius,
        ];
        let others = [
            self.name.slots(),
            self.drive.slots(),
            self.shape.slots(),
            self.goals.slots(),
            self.arrive_mode.slots(),
            self.behavior.slots(),
            self.sensors.slots(),
            self.is_static.slots(),
            self.unobstructed.slots(),
            self.role.slots(),
            self.group_name.slots(),
            self.color.slots(),
            self.description.slots(),
            self.plot.slots(),
        ];
        let slots = vectors.map(Column::slots).into_iter().chain(numbers.map(Column::slots)).chain(others);
        slots.chain(self.dimensions.iter().map(Column::slots)).max().unwrap_or(0)
    }
}

impl<'a> Reader<'_> {
    /// The objects of a group as far as they differ; at least one, so that its keys are checked even when there are none.
    pub(super) fn objects(
        &mut self,
        group: &Group<'a>,
        world: &WorldBlock,
        distribution: &Distribution,
        shared: Option<&At<'a>>,
    ) -> Vec<ObjectSpec> {
        let columns = self.columns(&group.fields, group.count, *distribution == Distribution::Manual);
        if group.count > 1 && group.fields.get("name").is_some() && columns.name.slots() < group.count {
            let key = "name";
            let message = "give one name per object or leave it out";
            self.d.error(group.fields.key_at(key), &group.fields.path_of(key), message);
        }
        let by_position =
            (0..columns.arrive_mode.slots()).any(|i| columns.arrive_mode(i) == ArriveMode::Position);
        if by_position && columns.heading_threshold.slots() > 0 {
            let key = "heading_threshold";
            let message = "acts with arrive_mode: state only; leave one of the two out";
            self.d.error(group.fields.key_at(key), &group.fields.path_of(key), message);
        }
        let shared_renewal = shared.map_or(NO_RENEWAL, |at| self.renewal(at.node, &at.path));
        let mut behaviors = BTreeMap::new();
        let distinct = columns.slots().min(group.count).max(1);
        (0..distinct)
            .map(|i| {
                let mut object = self.object(group, world, &columns, i);
                let passive = columns.drive.get(i).is_none() && group.fields.get("kinematics").is_some();
                match columns.behavior.get(i).filter(|_| !passive) {
                    Some(at) => {
                        let key =
                            (columns.behavior.slot(i), object.model.as_deref().map(|m| m.name().to_owned()));
                        object.renewal = self.renewal(at.node, &at.path);
                        object.behavior = behaviors
                            .entry(key)
                            .or_insert_with_key(|(_, model)| {
                                self.own_behavior(at, model.as_deref(), object.is_static)
                            })
                            .clone();
                    }
                    None => object.renewal = shared_renewal,
                }
                object
            })
            .collect()
    }

    /// A behaviour that drives something.
    fn own_behavior(
        &mut self,
        at: &At<'a>,
        kinematics: Option<&str>,
        is_static: bool,
    ) -> Option<Arc<dyn Behavior>> {
        if kinematics.is_none() && is_static {
            self.d.warning(at.node.at, &at.path, "has no effect: the object never moves");
            return None;
        }
        self.behavior(at, kinematics)
    }

    fn columns(&mut self, f: &Fields<'a>, n: usize, is_manual: bool) -> Columns<'a> {
        let at = |_: &mut Self, node: &'a Node, path: &str| Some(At { node, path: path.to_owned() });
        let goals = if is_manual { self.goals(f, n) } else { Column::shared(Some(vec![])) };
        let mut numbers =
            |key, each, limit| self.column(f, key, n, each, |r, node, path| r.physical(node, path, limit));
        let mass = numbers("mass", true, Limit::PositiveOrInfinite);
        let friction = numbers("friction", true, Limit::NonNegative);
        let inertia = numbers("inertia", true, Limit::PositiveOrInfinite);
        let restitution = numbers("restitution", true, Limit::Share);
        let mut numbers =
            |key, limit| self.column(f, key, n, false, |r, node, path| r.limited(node, path, limit));
        let goal_threshold = numbers("goal_threshold", Limit::NonNegative);
        let heading_threshold = numbers("heading_threshold", Limit::Positive);
        let fov = numbers("fov", Limit::Any);
        let fov_radius = numbers("fov_radius", Limit::NonNegative);
        let mut flags = |key| self.column(f, key, n, false, Self::flag);
        let (is_static, unobstructed) = (flags("static"), flags("unobstructed"));
        let mut texts = |key| self.column(f, key, n, false, Self::text);
        let (group_name, color, description) = (texts("group_name"), texts("color"), texts("description"));
        let mut vectors = |key, limit| {
            self.column(f, key, n, false, |r, node, path| {
                Some((At { node, path: path.to_owned() }, r.numbers(node, path, limit)?))
            })
        };
        let state = if is_manual { vectors("state", Limit::Any) } else { Column::EMPTY };
        let velocity = vectors("velocity", Limit::Any);
        let vel_min = vectors("vel_min", Limit::Any);
        let vel_max = vectors("vel_max", Limit::Any);
        let acce = vectors("acce", Limit::NonNegativeOrInfinite);
        let dimensions = ["state_dim", "vel_dim"].map(|key| {
            self.column(f, key, n, false, |r, node, path| {
                Some((At { node, path: path.to_owned() }, r.count(node, path, 0, 100)?))
            })
        });
        Columns {
            name: self.column(f, "name", n, true, Self::name),
            drive: self.column(f, "kinematics", n, false, Self::drive),
            shape: self.column(f, "shape", n, false, Self::shape),
            state,
            velocity,
            goals,
            goal_threshold,
            heading_threshold,
            arrive_mode: self
                .column(f, "arrive_mode", n, false, |r, n, p| r.choice(n, p, "arrive mode", &ARRIVE_MODES)),
            vel_min,
            vel_max,
            acce,
            angle_low: self.column(f, "angle_range", n, false, Self::angle_low),
            behavior: self.column(f, "behavior", n, false, at),
            sensors: self.sensors(f, n),
            is_static,
            mass,
            friction,
            inertia,
            restitution,
            unobstructed,
            fov,
            fov_radius,
            role: self.column(f, "role", n, false, |r, n, p| r.choice(n, p, "role", &ROLES)),
            group_name,
            dimensions,
            color,
            description,
            plot: self.column(f, "plot", n, false, |r, n, p| Some(Arc::new(r.drawing(n, p, &PLOT_KEYS)))),
        }
    }

    /// One object, without what drives it.
    fn object(
        &mut self,
        group: &Group<'a>,
        world: &WorldBlock,
        columns: &Columns<'a>,
        i: usize,
    ) -> ObjectSpec {
        let role = columns.role.get(i).copied().unwrap_or(group.role);
        let shape = self.shape_of(group, columns, i);
        let drive = columns.drive.get(i);
        // After an error in its kinematics nothing can be said about the length of its vectors.
        let is_unclear = drive.is_none() && group.fields.get("kinematics").is_some();
        let (driven, never_moves) = match drive {
            Some(Drive::Driven(driven)) => (Some(driven), false),
            Some(Drive::Passive { is_static }) => (None, *is_static),
            None => (None, false),
        };
        let made = driven.and_then(|driven| self.model(driven, shape.wheelbase()));
        let (model, noise) = made.map_or((None, None), |(model, noise)| (Some(model), noise));
        let layout = model.as_deref().map(Model::layout);
        let is_static = never_moves || columns.is_static.get(i).copied().unwrap_or(false);

        let mut command = |column: &Column<Vector<'a>>, default: Command| match column.get(i) {
            Some(vector) if !is_unclear => self.command(vector, model.as_deref(), default),
            _ => default,
        };
        let limits = layout.map_or_else(
            || [[-1.0; MAX_COMMAND], [1.0; MAX_COMMAND], [f64::INFINITY; MAX_COMMAND]],
            |layout| [layout.vel_min, layout.vel_max, layout.acce],
        );
        let vel_min = command(&columns.vel_min, limits[0]);
        let vel_max = command(&columns.vel_max, limits[1]);
        let acce = command(&columns.acce, limits[2]);
        let velocity = self.initial_velocity(columns.velocity.get(i), model.as_deref(), is_unclear);
        if let Some(k) = (0..MAX_COMMAND).find(|k| vel_min[*k] > vel_max[*k]) {
            let key = if group.fields.has("vel_min") { "vel_min" } else { "vel_max" };
            let message = format!("vel_min {:?} is above vel_max {:?} at place {k}", vel_min[k], vel_max[k]);
            self.d.error(group.fields.key_at(key), &group.fields.path_of(key), message);
        }
        if !is_unclear {
            self.dimensions(columns, i, layout);
        }

        let mass = columns.mass.get(i).copied();
        let mass = mass.unwrap_or(if layout.is_some() && !is_static { 1.0 } else { f64::INFINITY });
        let sensors = columns.sensors.get(i).cloned().unwrap_or_default();
        let lidar = sensors.first();
        let fov = columns.fov.get(i).copied().or(lidar.map(|lidar| lidar.angle_range));
        let fov_radius = columns.fov_radius.get(i).copied().or(lidar.map(|lidar| lidar.range_max));
        let role_name = if role == Role::Robot { "robot" } else { "obstacle" };
        ObjectSpec {
            name: columns.name.get(i).cloned(),
            role,
            group_name: columns
                .group_name
                .get(i)
                .cloned()
                .unwrap_or_else(|| format!("{role_name}_{}", group.number)),
            state: self.state(role, columns.state.get(i), layout, is_unclear),
            velocity,
            goals: columns.goals.get(i).cloned().unwrap_or_default(),
            goal_threshold: columns.goal_threshold.get(i).copied().unwrap_or(0.1),
            arrive_mode: columns.arrive_mode(i),
            vel_min,
            vel_max,
            acce,
            angle_low: columns.angle_low.get(i).copied().unwrap_or(-PI),
            behavior: None,
            renewal: NO_RENEWAL,
            sensors,
            is_static: is_static || (layout.is_none() && mass.is_infinite()),
            mass,
            friction: columns.friction.get(i).copied().unwrap_or(world.settings.friction),
            inertia: columns.inertia.get(i).copied(),
            restitution: columns.restitution.get(i).copied().unwrap_or(world.settings.restitution),
            tau: driven.and_then(|driven| driven.tau).unwrap_or(world.drive_tau),
            unobstructed: columns.unobstructed.get(i).copied().unwrap_or(false),
            fov: fov.zip(fov_radius).map(|(angle, radius)| [angle.clamp(0.0, TAU), radius]),
            drawing: Drawing {
                color: columns.color.get(i).cloned(),
                description: columns.description.get(i).cloned(),
                plot: columns.plot.get(i).cloned().unwrap_or_default(),
            },
            model,
            noise,
            shape,
        }
    }

    /// Its shape; without one a circle of radius 1, as other readers of such files have it, with a warning.
    fn shape_of(&mut self, group: &Group<'a>, columns: &Columns<'a>, i: usize) -> ShapeSpec {
        if let Some(shape) = columns.shape.get(i) {
            return shape.clone();
        }
        if group.fields.get("shape").is_none() {
            let message = "not given, a circle of radius 1 is used";
            self.d.warning(group.fields.at, &group.fields.path_of("shape"), message);
        }
        let circle = Shape::circle(1.0, [0.0; 2], None);
        ShapeSpec::Fixed(Arc::new(circle.expect("a circle of radius 1 is a shape")))
    }

    /// Limits in the layout of the model.
    fn command(&mut self, (at, values): &Vector<'a>, model: Option<&dyn Model>, default: Command) -> Command {
        let needed = model.map_or(PASSIVE.len(), |model| model.layout().command.len());
        if values.len() == needed {
            let mut command = default;
            command[..needed].copy_from_slice(values);
            return command;
        }
        match model {
            Some(model) => self.wrong_length(at, values.len(), model),
            None => {
                let message = "has no effect: an object without kinematics takes no command";
                self.d.warning(at.node.at, &at.path, message);
            }
        }
        default
    }

    fn wrong_length(&mut self, at: &At<'a>, found: usize, model: &dyn Model) {
        let names = &model.layout().command;
        let message =
            format!("{found} numbers, {:?} needs {} ({})", model.name(), names.len(), names.join(", "));
        self.d.error(at.node.at, &at.path, message);
    }

    /// Of a passive body the yaw rate may be left out.
    fn initial_velocity(
        &mut self,
        vector: Option<&Vector<'a>>,
        model: Option<&dyn Model>,
        is_unclear: bool,
    ) -> Command {
        let mut velocity = [0.0; MAX_COMMAND];
        let Some((at, values)) = vector.filter(|_| !is_unclear) else { return velocity };
        let fits = match model {
            Some(model) => values.len() == model.layout().command.len(),
            None => (2..=PASSIVE.len()).contains(&values.len()),
        };
        match model {
            _ if fits => velocity[..values.len()].copy_from_slice(values),
            Some(model) => self.wrong_length(at, values.len(), model),
            None => {
                let names = PASSIVE.join(", ");
                let message = format!("{} numbers, a passive object needs 2 or 3 ({names})", values.len());
                self.d.error(at.node.at, &at.path, message);
            }
        }
        velocity
    }

    /// The start, cut or padded to the model's state.
    fn state(
        &mut self,
        role: Role,
        vector: Option<&Vector<'a>>,
        layout: Option<&Layout>,
        is_unclear: bool,
    ) -> Vec<f64> {
        let needed = layout.map_or(DEFAULT_STATE.len(), |layout| layout.state);
        let mut state = DEFAULT_STATE.to_vec();
        if let Some((at, values)) = vector {
            state.clone_from(values);
            if role == Role::Robot && values.len() != needed && !is_unclear {
                let what = if values.len() > needed { "cut" } else { "padded with zeros" };
                let message = format!("{} numbers are {what} to {needed}", values.len());
                self.d.warning(at.node.at, &at.path, message);
            }
        }
        state.resize(needed, 0.0);
        state
    }

    /// Sizes that a file states, although they follow from the model.
    fn dimensions(&mut self, columns: &Columns<'a>, i: usize, layout: Option<&Layout>) {
        let sizes = layout.map_or([3, 3], |layout| [layout.state, layout.command.len()]);
        for (column, size) in columns.dimensions.iter().zip(sizes) {
            if let Some((at, given)) = column.get(i).filter(|(_, given)| *given != size as i64) {
                let message =
                    format!("{given} has no effect: the size follows from the kinematics and is {size}");
                self.d.warning(at.node.at, &at.path, message);
            }
        }
    }

    /// The lower end of a range of headings.
    fn angle_low(&mut self, node: &'a Node, path: &str) -> Option<f64> {
        let [low, high] = self.array(node, path, Limit::Any)?;
        let span = high - low;
        if (span - TAU).abs() > SPAN_TOLERANCE {
            let shown = (span * 1e6).round() / 1e6;
            self.d.error(node.at, path, format!("must span 2*pi, got {shown:?}"));
            return None;
        }
        Some(low)
    }
}
