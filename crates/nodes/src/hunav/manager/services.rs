//! The services of the manager, each a call of the host and its answer.

use std::sync::Mutex;

use anyhow::Result;
use hunav_msgs::srv::rmw as srv;
use rclrs::{QoSProfile, Worker};
use std_srvs::srv::rmw::{Trigger, TriggerRequest, TriggerResponse};

#[cfg(hunav_flavour = "arena")]
use super::field;
use super::host::Host;
use crate::ros::{Desk, Kept};

/// Opens all services; what is answered keeps them open.
///
/// # Errors
/// When the middleware does not offer one.
pub(super) fn serve(worker: &Worker<Mutex<Host>>, answers_for_simulator: bool) -> Result<Kept> {
    let mut desk = Desk::new(worker);
    let qos = QoSProfile::services_default();
    desk.serve::<srv::ComputeAgents>("compute_agents", qos, |host, request| {
        let mut answer = srv::ComputeAgentsResponse::default();
        host.compute_agents(&request.current_agents, &request.robot, &mut answer.updated_agents);
        answer
    })?;
    desk.serve::<srv::ComputeAgent>("compute_agent", qos, |host, request| {
        let mut answer = srv::ComputeAgentResponse::default();
        host.compute_agent(request.id, &mut answer.updated_agent);
        answer
    })?;
    desk.serve::<srv::MoveAgent>("move_agent", qos, |host, request| {
        let mut answer = srv::MoveAgentResponse::default();
        let srv::MoveAgentRequest { current_agents, robot, agent_id } = &request;
        host.move_agent(current_agents, robot, *agent_id, &mut answer.updated_agent);
        answer
    })?;
    desk.serve::<srv::ResetAgents>("reset_agents", qos, |host, request| {
        host.reset_agents(&request.current_agents, &request.robot);
        srv::ResetAgentsResponse { ok: true }
    })?;
    desk.serve::<Trigger>("clear_agents", qos, |host, _: TriggerRequest| {
        let message = format!("{} agents are gone", host.clear_agents());
        TriggerResponse { success: true, message: message.as_str().into() }
    })?;
    if answers_for_simulator {
        desk.serve::<srv::GetAgents>("get_agents", qos, |host, _| {
            let mut answer = srv::GetAgentsResponse::default();
            host.get_agents(&mut answer.agents);
            answer
        })?;
    }
    #[cfg(hunav_flavour = "arena")]
    serve_arena(&mut desk, answers_for_simulator)?;
    Ok(desk.into_kept())
}

/// What only Arena's definitions have.
#[cfg(hunav_flavour = "arena")]
fn serve_arena(desk: &mut Desk<'_, Host>, answers_for_simulator: bool) -> Result<()> {
    let qos = QoSProfile::services_default();
    if answers_for_simulator {
        // Walls reach the manager as obstacle points of requests only.
        desk.serve::<srv::GetWalls>("get_walls", qos, |_, _| srv::GetWallsResponse::default())?;
    }
    desk.serve::<srv::DeleteActors>("delete_actors", qos, |host, _| {
        let count = host.clear_agents();
        srv::DeleteActorsResponse { success: true, deleted_count: i32::try_from(count).unwrap_or(i32::MAX) }
    })?;
    desk.serve::<srv::SetVelocityField>("set_velocity_field", qos, |host, request| {
        let (success, message) = field::verdict(host.set_velocity_field(&request.velocity_field));
        srv::SetVelocityFieldResponse { success, message }
    })?;
    desk.serve::<srv::SetArenaWorldSize>("set_arena_world_size", qos, |host, request| {
        let (success, message) = field::verdict(host.set_world_size(&request.arena_world_size));
        srv::SetArenaWorldSizeResponse { success, message }
    })?;
    desk.serve::<srv::SetArenaWorldBounds>("set_arena_world_bounds", qos, |host, request| {
        let (success, message) = field::verdict(host.set_world_bounds(&request.arena_world_bounds));
        srv::SetArenaWorldBoundsResponse { success, message }
    })
}
