//! Zones of a world with their walls and doors, as a `world.yaml` writes them (world-file format, section 2).
//!
//! A door's life belongs to the simulators; this module only knows what the file says about it.

use std::path::Path;

use crate::decode::{Decoder, Fields, Unknown};
use crate::entry::{DynamicEntry, StaticEntry};
use crate::geometry::{self, Point, Segment};
use crate::problem::Position;
use crate::semantics::{Preset, Semantic, predicate, state};
use crate::tree::{Node, Value};

/// A named piece of floor.
#[derive(Debug, Clone, PartialEq)]
pub struct Zone {
    /// Unique in the world; poses, way-points and regions may name it.
    pub name: String,
    /// Text for people.
    pub description: Option<String>,
    /// Corners of the floor in metres, at least three, in the file's direction. The inside is walkable.
    pub corners: Vec<Point>,
    /// Height of the floor in metres: that of the first corner.
    pub floor_z: f64,
    /// Walls that stand; those without a surface are left out.
    pub walls: Vec<Wall>,
    /// Doors.
    pub doors: Vec<Door>,
    /// Elevators, as written; without effect yet.
    pub elevators: Vec<Node>,
    /// Objects that belong to the zone.
    pub statics: Vec<StaticEntry>,
    /// People that belong to the zone.
    pub dynamics: Vec<DynamicEntry>,
    /// What holds in it.
    pub semantics: Vec<Semantic>,
    /// Schedules.
    pub schedules: Vec<Mechanism>,
    /// Signals.
    pub signals: Vec<Mechanism>,
    /// Sounds, as written; without effect yet.
    pub sounds: Vec<Node>,
    /// Lights, as written; without effect yet.
    pub lights: Vec<Node>,
    /// Floor material, for looks.
    pub material: Option<Material>,
    /// Where the zone stands in its file.
    pub at: Position,
}

impl Zone {
    /// Whether a point is inside.
    #[must_use]
    pub fn contains(&self, p: Point) -> bool {
        geometry::contains(&self.corners, p)
    }

    /// Cap on desired speed in m/s, if the zone has one.
    #[must_use]
    pub fn max_speed(&self) -> Option<f64> {
        state(&self.semantics, "max_speed").and_then(Node::as_f64)
    }

    /// Whether way-point sampling keeps out.
    #[must_use]
    pub fn restricted(&self) -> bool {
        predicate(&self.semantics, "restricted")
    }

    /// Whether the zone asks for quiet.
    #[must_use]
    pub fn quiet(&self) -> bool {
        predicate(&self.semantics, "quiet")
    }

    /// Most people the zone takes, if it says so.
    #[must_use]
    pub fn occupancy_cap(&self) -> Option<i64> {
        self.semantics.iter().find_map(|s| match s {
            Semantic::Preset(Preset::OccupancyCap { cap }) => Some(*cap),
            _ => None,
        })
    }
}

/// A straight wall. The line is what blocks; the surface is for looks.
#[derive(Debug, Clone, PartialEq)]
pub struct Wall {
    /// Its line.
    pub line: Segment,
    /// What it looks like.
    pub surface: Surface,
    /// Where it stands in its file.
    pub at: Position,
}

/// What a wall looks like.
#[derive(Debug, Clone, PartialEq)]
pub enum Surface {
    /// Nothing said.
    Default,
    /// A material.
    Material(Material),
    /// A wall preset by name (`kind:`).
    Kind(String),
}

/// A material by name.
#[derive(Debug, Clone, PartialEq)]
pub struct Material {
    /// Name; empty for "no such surface".
    pub name: String,
    /// Domain, when given.
    pub domain: Option<String>,
    /// Modifiers, as written.
    pub modifiers: Option<Node>,
}

/// How a door moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DoorKind {
    /// Sideways.
    #[default]
    Sliding,
    /// Upwards.
    SlidingTop,
    /// At once.
    Teleport,
}

/// A door: a wall on its line until it is fully open.
#[derive(Debug, Clone, PartialEq)]
pub struct Door {
    /// Unique in the world.
    pub name: String,
    /// Its line.
    pub line: Segment,
    /// How it moves.
    pub kind: DoorKind,
    /// Thickness in metres.
    pub width: f64,
    /// Height in metres.
    pub height: f64,
    /// Distance in metres at which someone makes it open.
    pub activation_distance: f64,
    /// Seconds to open or close.
    pub transition_time: f64,
    /// Seconds it stays open after the last one left.
    pub hold_time: f64,
    /// Material, for looks.
    pub material: Option<Material>,
    /// What holds for it, e.g. a `gate`.
    pub semantics: Vec<Semantic>,
    /// Where it stands in its file.
    pub at: Position,
}

impl Door {
    /// Whether a `gate` preset locks it until someone authorized or a regime unlocks it.
    #[must_use]
    pub fn gate(&self) -> Option<&Preset> {
        self.semantics.iter().find_map(|s| match s {
            Semantic::Preset(preset @ Preset::Gate { .. }) => Some(preset),
            _ => None,
        })
    }
}

/// A named schedule or signal.
#[derive(Debug, Clone, PartialEq)]
pub struct Mechanism {
    /// Its name, which timelines set fields of.
    pub name: String,
    /// What it does.
    pub semantics: Vec<Semantic>,
    /// Where it stands in its file.
    pub at: Position,
}

const ZONE_KEYS: &[&str] = &[
    "name",
    "description",
    "corners",
    "walls",
    "doors",
    "elevators",
    "entities",
    "semantics",
    "schedules",
    "signals",
    "sounds",
    "lights",
    "material",
    "mat",
    "ceiling*",
    "wall_material",
    "wall_mat",
];

const DOOR_KEYS: &[&str] = &[
    "name",
    "start",
    "end",
    "kind",
    "width",
    "height",
    "material",
    "mat",
    "activation_distance",
    "transition_time",
    "hold_time",
    "semantics",
];

impl Decoder {
    pub(crate) fn zone(&mut self, node: &Node, path: &str, dir: &Path) -> Option<Zone> {
        let mut fields = self.fields(node, path, "a zone", ZONE_KEYS)?;
        let name = fields.require(self, "name", "a name unique in the world");
        let corners_node = fields.require(self, "corners", "a list of at least 3 corners `{x, y, z}`");
        let name = name.and_then(|n| self.name(n, &fields.path_of("name")));
        let corners = corners_node.and_then(|n| self.polygon(n, &fields.path_of("corners")));
        let wall_material = self.material_of(&fields, ["wall_material", "wall_mat"]);
        let material = self.material_of(&fields, ["material", "mat"]);
        let walls = fields
            .read(self, "walls", |d, n, p| {
                Some(d.list_of(n, p, "walls", |d, n, p| d.wall(n, p, wall_material.as_ref())))
            })
            .unwrap_or_default();
        let doors = fields
            .read(self, "doors", |d, n, p| Some(d.list_of(n, p, "doors", Self::door)))
            .unwrap_or_default();
        let (statics, dynamics) =
            fields.read(self, "entities", |d, n, p| d.entities(n, p, dir)).unwrap_or_default();
        let zone = Zone {
            name: name.unwrap_or_default(),
            description: fields.read(self, "description", Self::text),
            floor_z: floor_height(corners_node),
            walls: walls.into_iter().flatten().collect(),
            doors,
            elevators: self.kept(&fields, "elevators"),
            statics,
            dynamics,
            semantics: self.semantics(&fields),
            schedules: self.mechanisms(&fields, "schedules"),
            signals: self.mechanisms(&fields, "signals"),
            sounds: self.kept(&fields, "sounds"),
            lights: self.kept(&fields, "lights"),
            material,
            corners: corners.unwrap_or_default(),
            at: node.at,
        };
        fields.finish(self, Unknown::Closed, &[]);
        (!zone.name.is_empty() && !zone.corners.is_empty()).then_some(zone)
    }

    /// A list that is parsed, kept and has no effect yet, which its author learns once per list.
    pub(crate) fn kept(&mut self, fields: &Fields<'_>, key: &str) -> Vec<Node> {
        let items =
            fields.read(self, key, |d, n, p| Some(d.list(n, p, "entries").to_vec())).unwrap_or_default();
        if !items.is_empty() {
            self.hint(fields.key_at(key), fields.path(), format!("`{key}` is kept and has no effect yet"));
        }
        items
    }

    fn mechanisms(&mut self, fields: &Fields<'_>, key: &str) -> Vec<Mechanism> {
        let read = |d: &mut Self, n: &Node, p: &str| {
            let mut fields = d.fields(n, p, "a schedule or signal", &["name", "semantics"])?;
            let name = fields.require(d, "name", "a name");
            let semantics = d.semantics(&fields);
            fields.finish(d, Unknown::Open, &[]);
            Some(Mechanism { name: d.name(name?, &fields.path_of("name"))?, semantics, at: n.at })
        };
        fields.read(self, key, |d, n, p| Some(d.list_of(n, p, key, read))).unwrap_or_default()
    }

    fn entities(
        &mut self,
        node: &Node,
        path: &str,
        dir: &Path,
    ) -> Option<(Vec<StaticEntry>, Vec<DynamicEntry>)> {
        let fields = self.fields(node, path, "entities", &["static", "dynamic"])?;
        let statics = fields
            .read(self, "static", |d, n, p| Some(d.list_of(n, p, "static entries", Self::static_entry)));
        let dynamics = fields.read(self, "dynamic", |d, n, p| {
            Some(d.list_of(n, p, "dynamic entries", |d, n, p| d.dynamic_entry(n, p, dir)))
        });
        fields.finish(self, Unknown::Closed, &[]);
        Some((statics.unwrap_or_default(), dynamics.unwrap_or_default()))
    }

    fn material_of(&mut self, fields: &Fields<'_>, keys: [&str; 2]) -> Option<Material> {
        keys.into_iter().find_map(|key| fields.read(self, key, Self::material))
    }

    /// A name, `[domain/]name`, `[name, {modifiers}]`, or `{name, domain, _modifiers}`.
    fn material(&mut self, node: &Node, path: &str) -> Option<Material> {
        match &node.value {
            Value::Text(text) => Some(named_material(text, None)),
            Value::List(items) => match &items[..] {
                [name] => Some(named_material(&self.text(name, path)?, None)),
                [name, modifiers] => Some(named_material(&self.text(name, path)?, Some(modifiers))),
                _ => {
                    self.mismatch(node, path, "a material `[name, {modifiers}]`");
                    None
                }
            },
            Value::Map(_) => {
                let mut fields =
                    self.fields(node, path, "a material", &["name", "domain", "_modifiers", "modifiers"])?;
                let name = fields.require(self, "name", "a material name");
                fields.finish(self, Unknown::Closed, &[]);
                let name = self.text(name?, &fields.path_of("name"))?;
                let mut material =
                    named_material(&name, fields.get("_modifiers").or(fields.get("modifiers")));
                if let Some(domain) = fields.read(self, "domain", Self::text) {
                    material.domain = Some(domain);
                }
                Some(material)
            }
            _ => {
                self.mismatch(
                    node,
                    path,
                    "a material: a name, `[name, {modifiers}]` or `{name, domain, _modifiers}`",
                );
                None
            }
        }
    }

    fn line(&mut self, fields: &mut Fields<'_>) -> Option<Segment> {
        let start = fields.require(self, "start", "a point `{x, y}`");
        let end = fields.require(self, "end", "a point `{x, y}`");
        let start = start.map(|n| self.point(n, &fields.path_of("start")));
        let end = end.map(|n| self.point(n, &fields.path_of("end")));
        let line = Segment { start: start??, end: end?? };
        if line.length() < 1e-6 {
            self.warning(fields.at, fields.path(), "starts where it ends");
        }
        Some(line)
    }

    /// `Some(None)` for a wall whose material says that it is not there.
    fn wall(&mut self, node: &Node, path: &str, default: Option<&Material>) -> Option<Option<Wall>> {
        let mut fields = self.fields(node, path, "a wall", &["start", "end", "material", "mat", "kind"])?;
        let line = self.line(&mut fields);
        let material = self.material_of(&fields, ["material", "mat"]);
        let kind = fields.read(self, "kind", Self::text);
        fields.finish(self, Unknown::Closed, &[]);
        let surface = match (material, kind) {
            (Some(material), _) => Surface::Material(material),
            (None, Some(kind)) => Surface::Kind(kind),
            (None, None) => default.cloned().map_or(Surface::Default, Surface::Material),
        };
        let stands = match &surface {
            Surface::Material(material) => !material.name.is_empty(),
            _ => true,
        };
        let wall = Wall { line: line?, surface, at: node.at };
        Some(stands.then_some(wall))
    }

    fn door(&mut self, node: &Node, path: &str) -> Option<Door> {
        let mut fields = self.fields(node, path, "a door", DOOR_KEYS)?;
        let name = fields.require(self, "name", "a name unique in the world");
        let name = name.and_then(|n| self.name(n, &fields.path_of("name")));
        let line = self.line(&mut fields);
        let kind = fields.read(self, "kind", Self::door_kind).unwrap_or_default();
        let number = |d: &mut Self, key, default| fields.read(d, key, Self::non_negative).unwrap_or(default);
        let width = number(self, "width", 0.1);
        let height = number(self, "height", 2.0);
        let transition_time = number(self, "transition_time", 1.0);
        let hold_time = number(self, "hold_time", 2.0);
        let activation_distance =
            fields.read(self, "activation_distance", Self::activation_distance).unwrap_or(3.0);
        let material = self.material_of(&fields, ["material", "mat"]);
        let semantics = self.semantics(&fields);
        fields.finish(self, Unknown::Closed, &[]);
        Some(Door {
            name: name?,
            line: line?,
            kind,
            width,
            height,
            activation_distance,
            transition_time,
            hold_time,
            material,
            semantics,
            at: node.at,
        })
    }

    fn door_kind(&mut self, node: &Node, path: &str) -> Option<DoorKind> {
        if node.as_str() == Some("hinged") {
            self.warning(node.at, path, "`hinged` doors are not modelled; it acts as `teleport`");
            return Some(DoorKind::Teleport);
        }
        self.choice(
            node,
            path,
            "door kind",
            &[
                ("sliding", DoorKind::Sliding),
                ("sliding_top", DoorKind::SlidingTop),
                ("teleport", DoorKind::Teleport),
            ],
        )
    }

    /// A distance, or one per side, of which the larger counts.
    fn activation_distance(&mut self, node: &Node, path: &str) -> Option<f64> {
        let Some(items) = node.items() else {
            return self.non_negative(node, path);
        };
        let [one, other] = items else {
            self.mismatch(node, path, "a distance or a pair of distances");
            return None;
        };
        let one = self.non_negative(one, &format!("{path}[0]"));
        let other = self.non_negative(other, &format!("{path}[1]"));
        Some(one?.max(other?))
    }
}

fn named_material(text: &str, modifiers: Option<&Node>) -> Material {
    let (domain, name) = match text.rsplit_once('/') {
        Some((domain, name)) => (Some(domain.to_owned()), name),
        None => (None, text),
    };
    Material { name: name.to_owned(), domain, modifiers: modifiers.cloned() }
}

/// The `z` of the first corner, or 0.
fn floor_height(corners: Option<&Node>) -> f64 {
    corners
        .and_then(Node::items)
        .and_then(<[Node]>::first)
        .and_then(|corner| corner.get("z"))
        .and_then(Node::as_f64)
        .filter(|z| z.is_finite())
        .unwrap_or(0.0)
}
