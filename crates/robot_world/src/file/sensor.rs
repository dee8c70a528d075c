//! `sensors` of an object (robot-world specification, section 13).

use std::f64::consts::{PI, TAU};
use std::sync::Arc;

use promenade_scenario::decode::Fields;
use promenade_scenario::tree::{Node, Value};

use super::Reader;
use super::value::{Column, Limit, Strictness};
use crate::sensor::{Fmcw, LidarSpec};

/// Most beams of one scanner.
const MAX_BEAMS: i64 = 100_000;
/// Most sensors of one object.
const MAX_SENSORS: usize = 64;

const NAMES: [(&str, Kind); 3] =
    [("contact2d", Kind::Contact), ("fmcw_lidar2d", Kind::Fmcw), ("lidar2d", Kind::Lidar)];
const NAME_KEYS: [&str; 2] = ["name", "type"];
const LIDAR_KEYS: [&str; 10] = [
    "range_min",
    "range_max",
    "angle_range",
    "number",
    "scan_time",
    "noise",
    "std",
    "angle_std",
    "offset",
    "has_velocity",
];
const LIDAR_DRAWING: [&str; 3] = ["alpha", "color", "plot"];
const FMCW_KEYS: [&str; 2] = ["motion_compensate", "velocity_noise_std"];
const FMCW_DRAWING: [&str; 13] = [
    "velocity_color",
    "velocity_color_max",
    "velocity_linewidth",
    "no_hit_linewidth",
    "no_hit_alpha",
    "show_velocity_markers",
    "velocity_marker_size",
    "velocity_marker_edge_color",
    "velocity_marker_edge_width",
    "zero_velocity_color",
    "positive_velocity_color",
    "negative_velocity_color",
    "no_hit_color",
];
const CONTACT_KEYS: [&str; 5] = ["force_scale", "marker_size", "linewidth", "alpha", "color"];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Contact,
    Fmcw,
    Lidar,
}

impl<'a> Reader<'_> {
    /// The scanners of each object: a list of mappings is for all of them, a list of lists has one entry per object.
    pub(super) fn sensors(&mut self, fields: &Fields<'a>, count: usize) -> Column<Vec<LidarSpec>> {
        let per_object = fields
            .get("sensors")
            .and_then(Node::items)
            .is_some_and(|items| items.iter().any(|item| matches!(item.value, Value::List(_) | Value::Null)));
        if per_object {
            return self.column(fields, "sensors", count, true, Self::sensors_of_one);
        }
        Column::shared(self.value(fields, "sensors", Self::sensors_of_one))
    }

    fn sensors_of_one(&mut self, node: &'a Node, path: &str) -> Option<Vec<LidarSpec>> {
        let items = match &node.value {
            Value::Map(_) => std::slice::from_ref(node),
            Value::List(items) => items,
            _ => {
                self.d.mismatch(node, path, "a list of sensors");
                return None;
            }
        };
        if items.len() > MAX_SENSORS {
            self.d.error(
                node.at,
                path,
                format!("{} sensors, at most {MAX_SENSORS} are accepted", items.len()),
            );
            return None;
        }
        let mut contacts = 0;
        let mut scanners = Vec::new();
        for (i, item) in items.iter().enumerate() {
            let path = if std::ptr::eq(item, node) { path.to_owned() } else { format!("{path}[{i}]") };
            let Some(fields) = self.d.fields(item, &path, "a sensor", &[]) else { continue };
            match self.sensor_kind(&fields) {
                Some(Kind::Contact) => {
                    contacts += 1;
                    if contacts == 2 {
                        self.d.warning(item.at, &path, "every object has one contact2d; the first is kept");
                    }
                    self.finish(&fields, &[&NAME_KEYS[..], &CONTACT_KEYS].concat(), Strictness::Lenient);
                }
                Some(kind) => scanners.extend(self.lidar(&fields, kind)),
                None => {}
            }
        }
        Some(scanners)
    }

    fn sensor_kind(&mut self, fields: &Fields<'a>) -> Option<Kind> {
        let key = NAME_KEYS.into_iter().find(|key| fields.get(key).is_some());
        match key {
            Some(key) => self.value(fields, key, |r, n, p| r.choice(n, p, "sensor", &NAMES)),
            None => Some(Kind::Lidar),
        }
    }

    fn lidar(&mut self, fields: &Fields<'a>, kind: Kind) -> Option<LidarSpec> {
        let fmcw = kind == Kind::Fmcw;
        let mut known = [&NAME_KEYS[..], &LIDAR_KEYS, &LIDAR_DRAWING].concat();
        if fmcw {
            known.extend(FMCW_KEYS.into_iter().chain(FMCW_DRAWING));
        }
        self.finish(fields, &known, Strictness::Lenient);

        let range_min = self.number_or(fields, "range_min", Limit::NonNegative, 0.0);
        let range_max = self.number_or(fields, "range_max", Limit::NonNegative, 10.0);
        if range_min > range_max {
            let key = if fields.has("range_min") { "range_min" } else { "range_max" };
            let message = format!("range_min {range_min:?} is above range_max {range_max:?}");
            self.d.error(fields.key_at(key), &fields.path_of(key), message);
        }
        let angle_range = self.number_or(fields, "angle_range", Limit::Any, PI).clamp(0.0, TAU);
        let number = self.value(fields, "number", |r, n, p| r.count(n, p, 1, MAX_BEAMS)).unwrap_or(100);
        let noise = self.flag_or(fields, "noise", false);
        let std = self.number_or(fields, "std", Limit::NonNegative, 0.2);
        let mut drawing = serde_json::Map::new();
        for entry in fields.entries() {
            let key = entry.key.as_str();
            if LIDAR_DRAWING.contains(&key) || (fmcw && FMCW_DRAWING.contains(&key)) {
                drawing.insert(key.to_owned(), entry.value.to_json());
            }
        }
        Some(LidarSpec {
            fmcw: fmcw.then(|| Fmcw {
                motion_compensate: self.flag_or(fields, "motion_compensate", false),
                velocity_noise_std: self.number_or(fields, "velocity_noise_std", Limit::NonNegative, 0.0),
            }),
            range_min,
            range_max,
            angle_range,
            number: usize::try_from(number).ok()?,
            scan_time: self.number_or(fields, "scan_time", Limit::NonNegative, 0.1),
            std: noise.then_some(std),
            angle_std: self.number_or(fields, "angle_std", Limit::NonNegative, 0.0),
            offset: self.value(fields, "offset", |r, n, p| r.array(n, p, Limit::Any)).unwrap_or([0.0; 3]),
            has_velocity: self.flag_or(fields, "has_velocity", false),
            drawing: Arc::new(drawing.into()),
        })
    }
}
