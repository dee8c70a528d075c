//! What viewers draw about agents: `viz_state` (crowd-engine specification, sections 6 and 25).
//!
//! Made only while somebody looks. At level 2 there is more to see: who sees whom, ways, goals and way-points.

use arena_humansim_msgs::msg::rmw::AgentViz;
use promenade_crowd::protocol::kind;
use promenade_crowd::{Engine, Kind};
use rosidl_runtime_rs::{Sequence, SequenceAlloc};

use super::wire::write_header;

/// Labels of commands; an index into them is what an agent does.
const COMMANDS: [&str; 4] = ["NAVIGATE", "STOP", "SEEK", "INTR"];
const NAVIGATE: u8 = 0;
const STOP: u8 = 1;

/// Writes messages of agents to draw.
#[derive(Default)]
pub(crate) struct VizWriter {
    message: AgentViz,
}

impl VizWriter {
    /// A message that says there is nothing to draw any more.
    pub(crate) fn nothing(&mut self, stamp_ns: i64) -> &AgentViz {
        self.message = AgentViz::default();
        write_header(stamp_ns, &mut self.message.header);
        &self.message
    }

    /// Everybody as of the last tick.
    pub(crate) fn write(&mut self, engine: &Engine, level: u8) -> &AgentViz {
        let to = &mut self.message;
        let pool = engine.crowd().pool();
        write_header(engine.frame().stamp_ns, &mut to.header);
        to.level = level;
        put(&mut to.agent_id, pool.id.iter().copied());
        put(&mut to.x, pool.x.iter().copied());
        put(&mut to.y, pool.y.iter().copied());
        put(&mut to.theta, pool.theta.iter().copied());
        put(&mut to.vx, pool.vx.iter().copied());
        put(&mut to.vy, pool.vy.iter().copied());
        put(&mut to.radius, pool.radius.iter().copied());
        put(&mut to.kind, pool.kind.iter().map(|kind| wire_kind(*kind)));
        put(&mut to.vision_range, pool.vision_range.iter().copied());
        let fov = |id: &i32| engine.crowd().parameters(*id).map_or(0.0, |parameters| parameters.vision_fov);
        put(&mut to.vision_fov, pool.id.iter().map(fov));
        put(&mut to.proximity_sense, pool.proximity_sense.iter().copied());
        put(&mut to.cmd_labels, COMMANDS.map(Into::into).into_iter());
        put(&mut to.cmd_agent_id, pool.id.iter().copied());
        let command = |goes: &bool| if *goes { NAVIGATE } else { STOP };
        put(&mut to.cmd_label_idx, pool.has_terminal.iter().map(command));
        put(&mut to.interaction_offset, [0].into_iter());
        if level > 1 {
            write_details(engine, to);
        } else {
            clear_details(to);
        }
        to
    }
}

fn wire_kind(of: Kind) -> u8 {
    match of {
        Kind::Human => kind::HUMAN,
        Kind::Robot => kind::ROBOT,
    }
}

fn put<T: SequenceAlloc>(to: &mut Sequence<T>, values: impl Iterator<Item = T>) {
    *to = values.collect();
}

fn write_details(engine: &Engine, to: &mut AgentViz) {
    let pool = engine.crowd().pool();
    let neighbours = engine.crowd().neighbours();
    // An agent that came in since perception ran sees nobody yet.
    let seen = |row: usize| {
        neighbours.of(row).iter().map(|other| *other as usize).filter(|other| *other < pool.len())
    };
    let rows = || 0..pool.len();
    put(&mut to.observed_agent_id, rows().flat_map(|row| seen(row).map(move |_| pool.id[row])));
    put(&mut to.observed_slot, rows().flat_map(|row| seen(row).enumerate().map(|(slot, _)| slot as u16)));
    put(&mut to.observed_x, rows().flat_map(|row| seen(row).map(|other| pool.x[other])));
    put(&mut to.observed_y, rows().flat_map(|row| seen(row).map(|other| pool.y[other])));

    let goers = || rows().filter(|row| pool.has_terminal[*row]);
    put(&mut to.path_agent_id, goers().map(|row| pool.id[row]));
    // From where it stands over its sub-goal to the end.
    put(&mut to.path_offset, (0..=goers().count()).map(|goer| 3 * goer as u32));
    put(
        &mut to.path_x,
        goers().flat_map(|row| [pool.x[row], sub_goal(engine, row)[0], pool.terminal_x[row]]),
    );
    put(
        &mut to.path_y,
        goers().flat_map(|row| [pool.y[row], sub_goal(engine, row)[1], pool.terminal_y[row]]),
    );
    let heading_for = || rows().filter(|row| pool.has_goal[*row]);
    put(&mut to.igoal_agent_id, heading_for().map(|row| pool.id[row]));
    put(&mut to.igoal_x, heading_for().map(|row| pool.goal_x[row]));
    put(&mut to.igoal_y, heading_for().map(|row| pool.goal_y[row]));
    put(&mut to.goal_agent_id, goers().map(|row| pool.id[row]));
    put(&mut to.goal_x, goers().map(|row| pool.terminal_x[row]));
    put(&mut to.goal_y, goers().map(|row| pool.terminal_y[row]));
    let theta = |row: usize| if pool.has_goal_theta[row] { pool.goal_theta[row] } else { 0.0 };
    put(&mut to.goal_theta, goers().map(theta));

    let ways = || pool.id.iter().filter_map(|id| Some((*id, engine.waypoints_of(*id)?)));
    put(&mut to.wp_agent_id, ways().map(|(id, _)| id));
    let mut end = 0_u32;
    let ends = ways().map(|(_, (way, _))| {
        end += way.points.len() as u32;
        end
    });
    put(&mut to.wp_offset, std::iter::once(0).chain(ends));
    put(&mut to.wp_x, ways().flat_map(|(_, (way, _))| way.points.iter().map(|point| point.pose[0])));
    put(&mut to.wp_y, ways().flat_map(|(_, (way, _))| way.points.iter().map(|point| point.pose[1])));
    put(&mut to.wp_active, ways().map(|(_, (_, active))| active as u32));
    let radius = |(_, (way, active)): (i32, (&promenade_crowd::protocol::Waypoints, usize))| {
        way.points.get(active).map_or(0.0, |point| point.radius)
    };
    put(&mut to.wp_active_radius, ways().map(radius));
}

fn sub_goal(engine: &Engine, row: usize) -> [f64; 2] {
    let pool = engine.crowd().pool();
    if pool.has_goal[row] { [pool.goal_x[row], pool.goal_y[row]] } else { pool.position(row) }
}

fn clear_details(to: &mut AgentViz) {
    let bare = AgentViz::default();
    to.observed_agent_id = bare.observed_agent_id;
    to.observed_slot = bare.observed_slot;
    to.observed_x = bare.observed_x;
    to.observed_y = bare.observed_y;
    to.path_agent_id = bare.path_agent_id;
    to.path_offset = bare.path_offset;
    to.path_x = bare.path_x;
    to.path_y = bare.path_y;
    to.igoal_agent_id = bare.igoal_agent_id;
    to.igoal_x = bare.igoal_x;
    to.igoal_y = bare.igoal_y;
    to.goal_agent_id = bare.goal_agent_id;
    to.goal_x = bare.goal_x;
    to.goal_y = bare.goal_y;
    to.goal_theta = bare.goal_theta;
    to.wp_agent_id = bare.wp_agent_id;
    to.wp_offset = bare.wp_offset;
    to.wp_x = bare.wp_x;
    to.wp_y = bare.wp_y;
    to.wp_active = bare.wp_active;
    to.wp_active_radius = bare.wp_active_radius;
}

#[cfg(test)]
mod tests {
    use promenade_crowd::protocol::{AgentState, Waypoint, Waypoints, mode};

    use super::*;

    fn engine() -> Engine {
        let mut engine = Engine::new(&[]).expect("defaults");
        let way = |points: &[[f64; 2]]| Waypoints {
            points: points.iter().map(|[x, y]| Waypoint { pose: [*x, *y, 0.0], radius: 0.4 }).collect(),
            mode: mode::ONCE,
        };
        let agent = |agent_id, x, waypoints| AgentState {
            agent_id,
            pose: [x, 0.0, 0.0],
            waypoints,
            ..AgentState::default()
        };
        let agents = [
            agent(1, 0.0, way(&[[5.0, 0.0], [9.0, 0.0]])),
            agent(2, 2.0, way(&[])),
            agent(3, 3.0, way(&[[0.0, 1.0]])),
        ];
        engine.spawn_agents(&agents).expect("three agents");
        (0..6).for_each(|_| engine.tick());
        engine
    }

    #[test]
    fn level_two_shows_ways_that_level_one_hides() {
        let engine = engine();
        let mut writer = VizWriter::default();
        let full = writer.write(&engine, 2);
        assert_eq!(full.agent_id.as_slice(), [1, 2, 3]);
        assert_eq!(full.cmd_label_idx.as_slice(), [NAVIGATE, STOP, NAVIGATE]);
        assert_eq!(
            (full.wp_agent_id.as_slice(), full.wp_offset.as_slice()),
            ([1, 3].as_slice(), [0, 2, 3].as_slice())
        );
        assert_eq!(full.wp_x.as_slice(), [5.0, 9.0, 0.0]);
        assert_eq!((full.path_offset.as_slice(), full.path_x.len()), ([0, 3, 6].as_slice(), 6));
        assert_eq!(full.wp_active_radius.as_slice(), [0.4, 0.4]);
        assert!(full.observed_agent_id.contains(&1) && full.observed_x.len() == full.observed_agent_id.len());
        let basic = writer.write(&engine, 1);
        assert_eq!((basic.agent_id.len(), basic.wp_x.len(), basic.path_offset.len()), (3, 0, 0));
        assert!(basic.observed_x.is_empty() && basic.goal_x.is_empty());
        let nothing = writer.nothing(7);
        assert_eq!((nothing.level, nothing.agent_id.len()), (0, 0));
    }
}
