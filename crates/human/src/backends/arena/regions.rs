//! Sources and sinks as the engine has them (human-layer specification, section 17.5).

use promenade_crowd::protocol::{
    AgentTemplate, RateKeyframe, Shape, SinkAffinity, SinkConfig, SourceConfig, kind, shape, source,
};
use promenade_scenario::RegionKind;

use super::offset::Offset;
use crate::entity::Region;
use crate::episode::type_text;

/// A region on its way to the engine.
pub(super) enum Flow {
    Source(SourceConfig),
    Sink(SinkConfig),
}

/// The source or sink of a region.
pub(super) fn flow(region: &Region, offset: Offset) -> Flow {
    let (pose, area) = area(region, offset);
    let name = region.name.clone();
    match &region.kind {
        RegionKind::Source(config) => Flow::Source(SourceConfig {
            name,
            pose,
            shape: area,
            // Without a rate there is only one way in which somebody can come: as many as may be there.
            kind: match config.rate_profile.is_empty() && config.max_concurrent > 0 {
                true => source::MAX,
                false => source::POISSON,
            },
            rate_profile: config.rate_profile.iter().map(|p| RateKeyframe { t: p.t, rate: p.rate }).collect(),
            max_concurrent: count(config.max_concurrent),
            max_total: count(config.max_total),
            agent: AgentTemplate {
                desired_velocity_min: config.agent.desired_velocity().min,
                desired_velocity_max: config.agent.desired_velocity().max,
                agent_radius: config.agent.agent_radius(),
                behavior_tree: config.agent.behavior_tree().to_owned(),
                agent_type: type_text(&config.agent.agent_type()),
                sink_affinity: config
                    .agent
                    .sink_affinity
                    .iter()
                    .map(|a| SinkAffinity { sink_name: a.sink.clone(), weight: a.weight })
                    .collect(),
                kind: kind::HUMAN,
                ..AgentTemplate::default()
            },
        }),
        RegionKind::Sink(config) => Flow::Sink(SinkConfig {
            name,
            pose,
            shape: area,
            absorption_radius: config.absorption_radius,
            capacity: count(config.capacity),
        }),
    }
}

/// The mean of the corners, and the corners around it.
fn area(region: &Region, offset: Offset) -> ([f64; 3], Shape) {
    let corners = &region.polygon;
    let count = corners.len().max(1) as f64;
    let sum = corners.iter().fold([0.0, 0.0], |sum, corner| [sum[0] + corner[0], sum[1] + corner[1]]);
    let middle = [sum[0] / count, sum[1] / count];
    let vertices = corners.iter().map(|c| [(c[0] - middle[0]) as f32, (c[1] - middle[1]) as f32]).collect();
    let [x, y] = offset.point_to_engine(middle);
    ([x, y, 0.0], Shape { kind: shape::POLYGON, vertices, ..Shape::default() })
}

fn count(of: i64) -> i32 {
    i32::try_from(of).unwrap_or(i32::MAX)
}
