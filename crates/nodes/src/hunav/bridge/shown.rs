//! `get_agents` and `get_walls`: what `human_simulator` said last, for simulators that ask.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use anyhow::Result;
#[cfg(hunav_flavour = "arena")]
use hunav_msgs::msg::rmw::WallSegment;
use hunav_msgs::srv::rmw as srv;
use promenade_human::MAP_FRAME;
use promenade_hunav::Agent;
use promenade_msgs::msg::rmw::HunavRoster;
use rclrs::{IntoPrimitiveOptions, Node, Service, Subscription};

#[cfg(hunav_flavour = "arena")]
use crate::bus::resize;
use crate::bus::set_string;
use crate::hunav::{names, neutral, wire};

/// How high walls are said to be, m; no file says it.
#[cfg(hunav_flavour = "arena")]
const WALL_HEIGHT: f64 = 2.0;

/// See the module.
pub(super) struct Shown {
    _roster: Subscription<HunavRoster>,
    _agents: Service<srv::GetAgents>,
    #[cfg(hunav_flavour = "arena")]
    _walls: Service<srv::GetWalls>,
}

impl Shown {
    /// Offers the services.
    ///
    /// # Errors
    /// A failure of ROS.
    pub(super) fn open(node: &Node) -> Result<Self> {
        let roster: Arc<Mutex<HunavRoster>> = Arc::default();
        let to = Arc::clone(&roster);
        let latched = names::ROSTER.keep_last(1).reliable().transient_local();
        let subscription =
            node.create_subscription::<HunavRoster, _>(latched, move |said: HunavRoster| *lock(&to) = said)?;
        let of = Arc::clone(&roster);
        let agents =
            node.create_service::<srv::GetAgents, _>("get_agents", move |_: srv::GetAgentsRequest| {
                let mut answer = srv::GetAgentsResponse::default();
                write_agents(&lock(&of), &mut answer);
                answer
            })?;
        #[cfg(hunav_flavour = "arena")]
        let walls =
            node.create_service::<srv::GetWalls, _>("get_walls", move |_: srv::GetWallsRequest| {
                let mut answer = srv::GetWallsResponse::default();
                write_walls(&lock(&roster), &mut answer);
                answer
            })?;
        Ok(Shown {
            _roster: subscription,
            _agents: agents,
            #[cfg(hunav_flavour = "arena")]
            _walls: walls,
        })
    }
}

fn lock(roster: &Mutex<HunavRoster>) -> MutexGuard<'_, HunavRoster> {
    roster.lock().unwrap_or_else(PoisonError::into_inner)
}

fn write_agents(from: &HunavRoster, to: &mut srv::GetAgentsResponse) {
    let mut agents: Vec<Agent> = Vec::new();
    neutral::read_agents(&from.agents, &mut agents);
    to.agents.header = from.header.clone();
    set_string(&mut to.agents.header.frame_id, MAP_FRAME);
    wire::write_agents(&agents, &mut to.agents.agents);
}

#[cfg(hunav_flavour = "arena")]
fn write_walls(from: &HunavRoster, to: &mut srv::GetWallsResponse) {
    resize(&mut to.walls, from.walls.len());
    for ((id, from), to) in (0..).zip(from.walls.iter()).zip(to.walls.iter_mut()) {
        let (start, end) = (&from.start, &from.end);
        let length = (end.x - start.x).hypot(end.y - start.y);
        *to = WallSegment { id, start: start.clone(), end: end.clone(), length, height: WALL_HEIGHT };
    }
}

#[cfg(test)]
mod tests {
    use geometry_msgs::msg::rmw::Point;
    use promenade_msgs::msg::rmw::{HunavAgent, HunavWall};

    use super::*;

    #[test]
    fn what_was_said_last_is_served() {
        let anna = HunavAgent { id: 4, name: "anna".into(), ..HunavAgent::default() };
        let wall = HunavWall {
            name: "north".into(),
            start: Point { x: 0.0, y: 3.0, z: 0.0 },
            end: Point { x: 4.0, y: 0.0, z: 0.0 },
        };
        let roster =
            HunavRoster { agents: vec![anna].into(), walls: vec![wall].into(), ..HunavRoster::default() };
        let mut agents = srv::GetAgentsResponse::default();
        write_agents(&roster, &mut agents);
        assert_eq!(
            (agents.agents.agents[0].id, agents.agents.header.frame_id.to_string()),
            (4, "map".into())
        );
        #[cfg(hunav_flavour = "arena")]
        {
            let mut walls = srv::GetWallsResponse::default();
            write_walls(&roster, &mut walls);
            assert_eq!((walls.walls.len(), walls.walls[0].length, walls.walls[0].end.x), (1, 5.0, 4.0));
        }
    }
}
