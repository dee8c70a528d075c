//! Sources and sinks.

use std::path::Path;

use super::read::Known;
use super::{StandaloneShape, StandaloneSink, StandaloneSource};
use crate::decode::{Decoder, Unknown};
use crate::tree::Node;

impl Decoder {
    pub(super) fn lone_flow(
        &mut self,
        node: &Node,
        path: &str,
        dir: &Path,
        known: &Known,
    ) -> Option<(Vec<StandaloneSource>, Vec<StandaloneSink>)> {
        let fields = self.fields(node, path, "sources and sinks", &["sources", "sinks"])?;
        fields.finish(self, Unknown::Closed, &[]);
        let sinks = fields.read(self, "sinks", |d, n, p| Some(d.list_of(n, p, "sinks", Self::lone_sink)));
        // Counted in the file, so that a broken sink is not also one that is missing.
        let count = fields.get("sinks").and_then(Node::items).map_or(0, <[Node]>::len);
        let sources = fields.read(self, "sources", |d, n, p| {
            Some(d.list_of(n, p, "sources", |d, n, p| d.lone_source(n, p, dir, known, count)))
        });
        Some((sources.unwrap_or_default(), sinks.unwrap_or_default()))
    }

    fn lone_source(
        &mut self,
        node: &Node,
        path: &str,
        dir: &Path,
        known: &Known,
        sinks: usize,
    ) -> Option<StandaloneSource> {
        const KEYS: &[&str] =
            &["pose", "shape", "type", "rate_profile", "max_concurrent", "max_total", "agent_template"];
        let mut fields = self.fields(node, path, "a source", KEYS)?;
        let pose = fields.require(self, "pose", "where people come in");
        fields.finish(self, Unknown::Closed, &[]);
        let kinds = [("poisson", false), ("max", true)];
        let template = fields.read(self, "agent_template", |d, n, p| d.template(n, p, dir, known, sinks));
        let source = StandaloneSource {
            shape: fields.read(self, "shape", Self::lone_shape).unwrap_or(StandaloneShape::Point),
            keeps_full: fields
                .read(self, "type", |d, n, p| d.choice(n, p, "source type", &kinds))
                .unwrap_or(false),
            rate_profile: fields
                .read(self, "rate_profile", |d, n, p| Some(d.rate_profile(n, p)))
                .unwrap_or_default(),
            max_concurrent: fields.read(self, "max_concurrent", Self::limit).unwrap_or(-1) as i32,
            max_total: fields.read(self, "max_total", Self::limit).unwrap_or(-1) as i32,
            ..template.unwrap_or_else(StandaloneSource::without_template)
        };
        if source.keeps_full && source.max_concurrent <= 0 {
            let message = "a source of type `max` needs `max_concurrent` greater than 0";
            self.error(node.at, path, message);
        }
        if source.keeps_full && fields.has("rate_profile") {
            let message = "a source of type `max` keeps its people at `max_concurrent`, so `rate_profile` means nothing";
            self.error(fields.key_at("rate_profile"), path, message);
        }
        if !source.keeps_full && source.rate_profile.is_empty() && !fields.has("rate_profile") {
            self.warning(node.at, path, "no `rate_profile`, so the source never produces anybody");
        }
        let pose = self.lone_pose(pose?, &fields.path_of("pose"))?;
        Some(StandaloneSource { pose, ..source })
    }

    /// A source of which only the template is set.
    fn template(
        &mut self,
        node: &Node,
        path: &str,
        dir: &Path,
        known: &Known,
        sinks: usize,
    ) -> Option<StandaloneSource> {
        const KEYS: &[&str] = &[
            "desired_velocity_min",
            "desired_velocity_max",
            "agent_radius",
            "agent_type",
            "sink_affinity",
            "behavior_tree",
            "kind",
            "policy",
            "policy_params",
        ];
        let fields = self.fields(node, path, "an agent template", KEYS)?;
        fields.finish(self, Unknown::Closed, &[]);
        for key in &KEYS[5..] {
            if fields.has(key) {
                let message = format!("`{key}` of a template has no effect; agents of a source are people");
                self.hint(fields.key_at(key), path, message);
            }
        }
        let default = StandaloneSource::without_template();
        let speed = |d: &mut Self, key, default| fields.read(d, key, Self::positive).unwrap_or(default);
        let [least, most] = [
            speed(self, "desired_velocity_min", default.desired_velocity[0]),
            speed(self, "desired_velocity_max", default.desired_velocity[1]),
        ];
        if least > most {
            let message = format!("desired_velocity_min {least} is greater than desired_velocity_max {most}");
            self.error(node.at, path, message);
        }
        Some(StandaloneSource {
            desired_velocity: [least, most],
            agent_radius: fields.read(self, "agent_radius", Self::positive).unwrap_or(default.agent_radius),
            agent_type: fields
                .read(self, "agent_type", |d, n, p| d.lone_type(n, p, dir, known))
                .unwrap_or_else(|| default.agent_type.clone()),
            sink_affinity: fields
                .read(self, "sink_affinity", |d, n, p| {
                    Some(d.list_of(n, p, "`{sink_idx, weight}`", |d, n, p| d.affinity(n, p, sinks)))
                })
                .unwrap_or_default(),
            ..default
        })
    }

    fn affinity(&mut self, node: &Node, path: &str, sinks: usize) -> Option<(usize, f64)> {
        let mut fields = self.fields(node, path, "a sink affinity", &["sink_idx", "weight"])?;
        let index = fields.require(self, "sink_idx", "the index of a sink");
        fields.finish(self, Unknown::Closed, &[]);
        let weight = fields.read(self, "weight", Self::non_negative).unwrap_or(1.0);
        let node = index?;
        let path = fields.path_of("sink_idx");
        let index = self.integer(node, &path)?;
        match usize::try_from(index).ok().filter(|index| *index < sinks) {
            Some(index) => Some((index, weight)),
            None => {
                let message = format!("there is no sink {index}; the file has {sinks}, counted from 0");
                self.error(node.at, &path, message);
                None
            }
        }
    }

    fn lone_sink(&mut self, node: &Node, path: &str) -> Option<StandaloneSink> {
        let known = &["pose", "shape", "absorption_radius", "capacity"];
        let mut fields = self.fields(node, path, "a sink", known)?;
        let pose = fields.require(self, "pose", "where people leave");
        fields.finish(self, Unknown::Closed, &[]);
        let sink = StandaloneSink {
            pose: [0.0; 3],
            shape: fields.read(self, "shape", Self::lone_shape).unwrap_or(StandaloneShape::Point),
            absorption_radius: fields.read(self, "absorption_radius", Self::non_negative).unwrap_or(0.5),
            capacity: fields.read(self, "capacity", Self::limit).unwrap_or(-1) as i32,
        };
        let pose = self.lone_pose(pose?, &fields.path_of("pose"))?;
        Some(StandaloneSink { pose, ..sink })
    }

    fn lone_shape(&mut self, node: &Node, path: &str) -> Option<StandaloneShape> {
        let mut fields = self.fields(node, path, "a shape", &["type", "radius", "vertices"])?;
        let kind = fields.require(self, "type", "`polygon` or `circle`");
        fields.finish(self, Unknown::Closed, &[]);
        let radius = fields.read(self, "radius", Self::non_negative);
        let vertices = fields.read(self, "vertices", |d, n, p| {
            let corners = d.list_of(n, p, "corners `{x, y}`", Self::lone_point);
            if !corners.is_empty() && corners.len() < 3 {
                d.error(n.at, p, format!("a polygon needs 3 corners, found {}", corners.len()));
            }
            Some(corners).filter(|corners| corners.len() >= 3)
        });
        let is_circle =
            self.choice(kind?, &fields.path_of("type"), "shape", &[("polygon", false), ("circle", true)])?;
        match (is_circle, radius, vertices) {
            (true, Some(radius), _) => Some(StandaloneShape::Circle(radius)),
            (true, None, _) => {
                self.error(node.at, path, "a circle needs a `radius`");
                None
            }
            (false, _, Some(corners)) => Some(StandaloneShape::Polygon(corners)),
            (false, _, None) => Some(StandaloneShape::Point),
        }
    }
}

impl StandaloneSource {
    fn without_template() -> Self {
        Self {
            pose: [0.0; 3],
            shape: StandaloneShape::Point,
            keeps_full: false,
            rate_profile: Vec::new(),
            max_concurrent: -1,
            max_total: -1,
            desired_velocity: [1.0, 1.5],
            agent_radius: 0.35,
            agent_type: "adult".to_owned(),
            sink_affinity: Vec::new(),
        }
    }
}
