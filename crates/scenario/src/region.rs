//! Regions: sources people come out of and sinks they leave through (human-layer specification, sections 17.5 and 23).

use std::collections::BTreeSet;
use std::path::Path;

use crate::decode::{Decoder, Fields, Unknown};
use crate::entry::{AgentType, DEFAULT_AGENT_RADIUS, DEFAULT_AGENT_TYPE, DEFAULT_DESIRED_VELOCITY, Range};
use crate::geometry::{self, Point};
use crate::problem::Position;
use crate::tree::Node;

/// A named region.
#[derive(Debug, Clone, PartialEq)]
pub struct Region {
    /// Its outline.
    pub area: Area,
    /// What it does.
    pub kind: RegionKind,
    /// Where it stands in its file.
    pub at: Position,
    /// Where its outline stands in its file.
    pub area_at: Position,
}

/// The outline of a region.
#[derive(Debug, Clone, PartialEq)]
pub enum Area {
    /// Corners in metres, counter-clockwise.
    Polygon(Vec<Point>),
    /// The corners of the zone of this name (`ref:`).
    Zone(String),
}

/// Source or sink.
#[derive(Debug, Clone, PartialEq)]
pub enum RegionKind {
    /// People come out of it.
    Source(SourceConfig),
    /// People leave through it.
    Sink(SinkConfig),
}

/// How a source produces people.
#[derive(Debug, Clone, PartialEq)]
pub struct SourceConfig {
    /// Arrivals per second from a time on, in ascending time.
    pub rate_profile: Vec<RatePoint>,
    /// Most of its people at once; -1 for no limit.
    pub max_concurrent: i64,
    /// Most people in all; -1 for no limit.
    pub max_total: i64,
    /// What they are like.
    pub agent: SourceAgent,
}

impl Default for SourceConfig {
    fn default() -> Self {
        Self { rate_profile: Vec::new(), max_concurrent: -1, max_total: -1, agent: SourceAgent::default() }
    }
}

/// A rate that holds from a time on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RatePoint {
    /// Seconds since the start of the episode.
    pub t: f64,
    /// People per second.
    pub rate: f64,
}

/// The template of a source's people: only what the file declares.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SourceAgent {
    /// Declared desired velocity, m/s.
    pub desired_velocity: Option<Range>,
    /// Declared radius, metres.
    pub agent_radius: Option<f64>,
    /// Declared behaviour tree.
    pub behavior_tree: Option<String>,
    /// Declared agent type.
    pub agent_type: Option<AgentType>,
    /// Sinks they prefer; empty means any.
    pub sink_affinity: Vec<SinkAffinity>,
}

impl SourceAgent {
    /// Declared or default desired velocity.
    #[must_use]
    pub fn desired_velocity(&self) -> Range {
        self.desired_velocity.unwrap_or(DEFAULT_DESIRED_VELOCITY)
    }

    /// Declared radius or 0.35 m.
    #[must_use]
    pub fn agent_radius(&self) -> f64 {
        self.agent_radius.unwrap_or(DEFAULT_AGENT_RADIUS)
    }

    /// Declared behaviour tree or `default`.
    #[must_use]
    pub fn behavior_tree(&self) -> &str {
        self.behavior_tree.as_deref().unwrap_or("default")
    }

    /// Declared agent type or `adult`.
    #[must_use]
    pub fn agent_type(&self) -> AgentType {
        self.agent_type.clone().unwrap_or_else(|| AgentType::Named(DEFAULT_AGENT_TYPE.to_owned()))
    }
}

/// How much a source's people prefer one sink.
#[derive(Debug, Clone, PartialEq)]
pub struct SinkAffinity {
    /// Name of a sink region.
    pub sink: String,
    /// Relative weight, not negative.
    pub weight: f64,
}

/// How a sink takes people.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SinkConfig {
    /// Distance from its outline at which someone is taken, metres.
    pub absorption_radius: f64,
    /// Most people in all; -1 for no limit.
    pub capacity: i64,
}

impl Default for SinkConfig {
    fn default() -> Self {
        Self { absorption_radius: 0.5, capacity: -1 }
    }
}

#[derive(Clone, Copy)]
enum Which {
    Source,
    Sink,
}

impl Decoder {
    /// All regions, in file order, with references between them checked.
    pub(crate) fn regions(&mut self, node: &Node, path: &str, dir: &Path) -> Vec<(String, Region)> {
        let Some(entries) = node.entries() else {
            self.mismatch(node, path, "a map of region names to regions");
            return Vec::new();
        };
        let mut regions = Vec::with_capacity(entries.len());
        for entry in entries {
            let path = crate::tree::join(path, &entry.key);
            if let Some(region) = self.region(&entry.value, &path, dir) {
                regions.push((entry.key.clone(), region));
            }
        }
        self.check_affinities(node, path);
        regions
    }

    /// Sinks are looked up in the file rather than among the regions that loaded: one mistake, one message.
    fn check_affinities(&mut self, node: &Node, path: &str) {
        let Some(entries) = node.entries() else { return };
        let is_sink = |region: &Node| {
            region.get("type").and_then(Node::as_str).is_none_or(|t| !t.eq_ignore_ascii_case("source"))
        };
        let sinks: BTreeSet<&str> =
            entries.iter().filter(|e| is_sink(&e.value)).map(|e| e.key.as_str()).collect();
        for entry in entries {
            let affinities = entry
                .value
                .get("config")
                .and_then(|c| c.get("agent"))
                .and_then(|a| a.get("sink_affinity"))
                .and_then(Node::items)
                .unwrap_or_default();
            for (i, affinity) in affinities.iter().enumerate() {
                let Some(sink) = affinity.get("sink") else { continue };
                let Some(name) = sink.as_str() else { continue };
                if !sinks.contains(name) {
                    let meant = self.nearest(name, sinks.iter().copied());
                    self.error_try(
                        sink.at,
                        &format!("{path}.{}.config.agent.sink_affinity[{i}].sink", entry.key),
                        format!("no sink region is named {name:?}"),
                        meant,
                    );
                }
            }
        }
    }

    fn region(&mut self, node: &Node, path: &str, dir: &Path) -> Option<Region> {
        let mut fields = self.fields(node, path, "a region", &["type", "polygon", "ref", "config"])?;
        let which = fields.require(self, "type", "`source` or `sink`").and_then(|n| {
            self.choice(
                n,
                &fields.path_of("type"),
                "region type",
                &[("source", Which::Source), ("sink", Which::Sink)],
            )
        });
        let area = self.area(&fields);
        fields.finish(self, Unknown::Closed, &[]);
        let kind = match which? {
            Which::Source => RegionKind::Source(
                fields.read(self, "config", |d, n, p| d.source_config(n, p, dir)).unwrap_or_default(),
            ),
            Which::Sink => {
                RegionKind::Sink(fields.read(self, "config", Self::sink_config).unwrap_or_default())
            }
        };
        let outline = fields.get("polygon").or(fields.get("ref"));
        Some(Region { area: area?, kind, at: node.at, area_at: outline.map_or(node.at, |n| n.at) })
    }

    fn area(&mut self, fields: &Fields<'_>) -> Option<Area> {
        match (fields.get("polygon"), fields.get("ref")) {
            (Some(_), Some(_)) => {
                self.error(
                    fields.key_at("ref"),
                    fields.path(),
                    "has both `polygon` and `ref`, expected one of them",
                );
                None
            }
            (Some(node), None) => {
                let path = fields.path_of("polygon");
                let mut corners = self.polygon(node, &path)?;
                if geometry::signed_area(&corners) < 0.0 {
                    self.hint(
                        node.at,
                        &path,
                        "the corners run clockwise; they are taken in the other direction",
                    );
                    corners.reverse();
                }
                Some(Area::Polygon(corners))
            }
            (None, Some(node)) => self.name(node, &fields.path_of("ref")).map(Area::Zone),
            (None, None) => {
                self.error(
                    fields.at,
                    fields.path(),
                    "an outline is missing, expected `polygon` with corners or `ref` with a zone name",
                );
                None
            }
        }
    }

    fn source_config(&mut self, node: &Node, path: &str, dir: &Path) -> Option<SourceConfig> {
        let fields = self.fields(
            node,
            path,
            "a source's config",
            &["rate_profile", "max_concurrent", "max_total", "agent"],
        )?;
        let defaults = SourceConfig::default();
        let config = SourceConfig {
            rate_profile: fields
                .read(self, "rate_profile", |d, n, p| Some(d.rate_profile(n, p)))
                .unwrap_or_default(),
            max_concurrent: fields
                .read(self, "max_concurrent", Self::limit)
                .unwrap_or(defaults.max_concurrent),
            max_total: fields.read(self, "max_total", Self::limit).unwrap_or(defaults.max_total),
            agent: fields.read(self, "agent", |d, n, p| d.source_agent(n, p, dir)).unwrap_or_default(),
        };
        if config.rate_profile.is_empty() && !fields.has("rate_profile") {
            self.warning(node.at, path, "no `rate_profile`, so the source never produces anybody");
        }
        fields.finish(self, Unknown::Closed, &[]);
        Some(config)
    }

    pub(crate) fn rate_profile(&mut self, node: &Node, path: &str) -> Vec<RatePoint> {
        let points = self.list_of(node, path, "`{t, rate}`", |d, n, p| {
            let mut fields = d.fields(n, p, "a rate", &["t", "rate"])?;
            let t = fields.require(d, "t", "seconds");
            let rate = fields.require(d, "rate", "people per second");
            fields.finish(d, Unknown::Closed, &[]);
            let t = t.map(|n| d.non_negative(n, &fields.path_of("t")));
            let rate = rate.map(|n| d.non_negative(n, &fields.path_of("rate")));
            Some(RatePoint { t: t??, rate: rate?? })
        });
        if points.windows(2).any(|w| w[1].t <= w[0].t) {
            self.error(node.at, path, "the times `t` must ascend");
        }
        points
    }

    /// A count; -1 stands for no limit.
    pub(crate) fn limit(&mut self, node: &Node, path: &str) -> Option<i64> {
        let n = self.integer(node, path)?;
        if !(-1..=i64::from(i32::MAX)).contains(&n) {
            self.error(node.at, path, format!("expected a count, or -1 for no limit, found {n}"));
            return None;
        }
        Some(n)
    }

    fn source_agent(&mut self, node: &Node, path: &str, dir: &Path) -> Option<SourceAgent> {
        let fields = self.fields(
            node,
            path,
            "an agent template",
            &["desired_velocity", "agent_radius", "behavior_tree", "agent_type", "sink_affinity"],
        )?;
        let agent = SourceAgent {
            desired_velocity: fields.read(self, "desired_velocity", Self::velocity_range),
            agent_radius: fields.read(self, "agent_radius", Self::positive),
            behavior_tree: fields.read(self, "behavior_tree", Self::name),
            agent_type: fields.read(self, "agent_type", |d, n, p| d.agent_type_ref(n, p, dir)),
            sink_affinity: fields
                .read(self, "sink_affinity", |d, n, p| {
                    Some(d.list_of(n, p, "`{sink, weight}`", Self::sink_affinity))
                })
                .unwrap_or_default(),
        };
        fields.finish(self, Unknown::Closed, &[]);
        Some(agent)
    }

    fn sink_affinity(&mut self, node: &Node, path: &str) -> Option<SinkAffinity> {
        let mut fields = self.fields(node, path, "a sink affinity", &["sink", "weight"])?;
        let sink = fields.require(self, "sink", "the name of a sink region");
        let weight = fields.read(self, "weight", Self::non_negative);
        fields.finish(self, Unknown::Closed, &[]);
        Some(SinkAffinity { sink: self.name(sink?, &fields.path_of("sink"))?, weight: weight.unwrap_or(1.0) })
    }

    fn sink_config(&mut self, node: &Node, path: &str) -> Option<SinkConfig> {
        let fields = self.fields(node, path, "a sink's config", &["absorption_radius", "capacity"])?;
        let defaults = SinkConfig::default();
        let config = SinkConfig {
            absorption_radius: fields
                .read(self, "absorption_radius", Self::non_negative)
                .unwrap_or(defaults.absorption_radius),
            capacity: fields.read(self, "capacity", Self::limit).unwrap_or(defaults.capacity),
        };
        fields.finish(self, Unknown::Closed, &[]);
        Some(config)
    }
}
