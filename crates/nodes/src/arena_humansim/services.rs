//! The services of the engine (crowd-engine specification, section 7), each a call of the engine and its answer.
//!
//! An error leaves the engine as it was, and its words are the `message`. Nothing is decided here.

use std::fmt::Display;
use std::sync::Arc;

use anyhow::Result;
use arena_humansim_msgs::srv::rmw as srv;
use promenade_crowd::EngineError;
use promenade_kernel::Time;
use rcl_interfaces::msg::rmw::ParameterEvent;
use rcl_interfaces::srv::rmw as rcl;
use rclrs::{IntoPrimitiveOptions, Node, QoSProfile, Worker};
use rosidl_runtime_rs::String as WireString;

use super::Shared;
use super::host::Host;
use super::parameters::Parameters;
use super::wire::{
    agent_state, all, flow, obstacle, robot, robot_state, sink, source, text, texts, walls, waypoints,
    world_object,
};
use crate::bus::time_to_wire;
use crate::ros::{Desk, Kept};

/// `success` and `message` of an answer.
fn verdict<T, E: Display>(service: &str, result: &Result<T, E>) -> (bool, WireString) {
    match result {
        Ok(_) => (true, WireString::default()),
        Err(error) => {
            let message = error.to_string();
            tracing::debug!("{service}: {message}");
            (false, message.as_str().into())
        }
    }
}

/// Offers a service whose answer is only `success` and `message`.
macro_rules! plain {
    ($desk:ident, $name:literal, $service:ident, $request:ident, $response:ident, $act:expr) => {
        $desk.serve::<srv::$service>(
            $name,
            QoSProfile::services_default(),
            |host: &mut Host, request: srv::$request| {
                let act: fn(&mut Host, srv::$request) -> Result<(), Box<dyn std::error::Error>> = $act;
                let (success, message) = verdict($name, &act(host, request));
                srv::$response { success, message }
            },
        )?
    };
}

/// Opens all services; what is answered keeps them open.
///
/// # Errors
/// When the middleware does not offer one.
pub(crate) fn serve(
    node: &Node,
    worker: &Worker<Shared>,
    parameters: Parameters,
    is_master: bool,
) -> Result<Kept> {
    let mut desk = Desk::new(worker);
    serve_agents(&mut desk, is_master)?;
    serve_flow(&mut desk)?;
    serve_world(&mut desk)?;
    serve_run(&mut desk)?;
    serve_parameters(node, &mut desk, parameters)?;
    Ok(desk.into_kept())
}

fn serve_agents(desk: &mut Desk<'_, Host>, is_master: bool) -> Result<()> {
    let qos = QoSProfile::services_default();
    desk.serve::<srv::SpawnAgents>("spawn_agents", qos, |host, request: srv::SpawnAgentsRequest| {
        let spawned = host.engine.spawn_agents(&all(&request.agents, agent_state));
        let (success, message) = verdict("spawn_agents", &spawned);
        srv::SpawnAgentsResponse { success, message, spawned_ids: spawned.unwrap_or_default().into() }
    })?;
    plain!(
        desk,
        "remove_agents",
        RemoveAgents,
        RemoveAgentsRequest,
        RemoveAgentsResponse,
        |host, request| {
            let now_ns = host.engine.now_ns();
            host.engine.remove_agents(&request.agent_ids)?;
            if host.engine.ticks() == 0 {
                // Ticks begin anew, time does not.
                host.engine.set_epoch_ns(now_ns);
            }
            Ok(())
        }
    );
    desk.serve::<srv::UpdateAgents>("update_agents", qos, |host, request: srv::UpdateAgentsRequest| {
        let updated = host.engine.update_agents(&all(&request.agents, agent_state));
        let (success, message) = verdict("update_agents", &updated);
        srv::UpdateAgentsResponse { success, message, updated_ids: updated.unwrap_or_default().into() }
    })?;
    plain!(
        desk,
        "set_waypoints",
        SetWaypoints,
        SetWaypointsRequest,
        SetWaypointsResponse,
        |host, request| {
            let way = waypoints(&request.waypoints);
            Ok(host.engine.set_waypoints(request.agent_id, &text(&request.name), &way)?)
        }
    );
    desk.serve::<srv::UpdateRobot>("update_robot", qos, |host, request: srv::UpdateRobotRequest| {
        let updated = host.engine.update_robot(&robot(&request.name, &request.pose, request.radius));
        srv::UpdateRobotResponse { success: verdict("update_robot", &updated).0 }
    })?;
    if !is_master {
        desk.serve::<srv::Feedback>("feedback", qos, |host, request: srv::FeedbackRequest| {
            let drained = host.engine.feedback(&all(&request.robots, robot_state));
            let (success, _) = verdict("feedback", &drained);
            let (spawned, despawned) = drained.unwrap_or_default();
            srv::FeedbackResponse { success, spawned_ids: spawned.into(), despawned_ids: despawned.into() }
        })?;
    }
    plain!(
        desk,
        "notify_stimulus",
        NotifyStimulus,
        NotifyStimulusRequest,
        NotifyStimulusResponse,
        |host, request| {
            Ok(host.engine.notify_stimulus(request.agent_id, &text(&request.stimulus), request.intensity)?)
        }
    );
    Ok(())
}

fn serve_flow(desk: &mut Desk<'_, Host>) -> Result<()> {
    fn changed(host: &mut Host, result: Result<(), EngineError>) -> Result<(), Box<dyn std::error::Error>> {
        host.flow_revision = host.flow_revision.wrapping_add(u64::from(result.is_ok()));
        Ok(result?)
    }
    let qos = QoSProfile::services_default();
    plain!(desk, "set_flow", SetFlow, SetFlowRequest, SetFlowResponse, |host, request| {
        let set = host.engine.set_flow(&flow(&request.flow));
        changed(host, set)
    });
    desk.serve::<srv::AddSource>("add_source", qos, |host, request: srv::AddSourceRequest| {
        let added = host.engine.add_source(&source(&request.source));
        let (success, message) = verdict("add_source", &changed(host, added));
        srv::AddSourceResponse { success, message, name: request.source.name }
    })?;
    desk.serve::<srv::AddSink>("add_sink", qos, |host, request: srv::AddSinkRequest| {
        let added = host.engine.add_sink(&sink(&request.sink));
        let (success, message) = verdict("add_sink", &changed(host, added));
        srv::AddSinkResponse { success, message, name: request.sink.name }
    })?;
    plain!(
        desk,
        "remove_source",
        RemoveSource,
        RemoveSourceRequest,
        RemoveSourceResponse,
        |host, request| {
            let removed = host.engine.remove_source(&text(&request.name));
            changed(host, removed)
        }
    );
    plain!(desk, "remove_sink", RemoveSink, RemoveSinkRequest, RemoveSinkResponse, |host, request| {
        let removed = host.engine.remove_sink(&text(&request.name));
        changed(host, removed)
    });
    Ok(())
}

fn serve_world(desk: &mut Desk<'_, Host>) -> Result<()> {
    plain!(desk, "add_walls", AddWalls, AddWallsRequest, AddWallsResponse, |host, request| {
        let walls = walls(&request.names, &request.starts, &request.ends)?;
        Ok(host.engine.add_walls(&walls)?)
    });
    plain!(desk, "remove_walls", RemoveWalls, RemoveWallsRequest, RemoveWallsResponse, |host, request| {
        Ok(host.engine.remove_walls(&texts(&request.names))?)
    });
    plain!(
        desk,
        "add_obstacles",
        AddObstacles,
        AddObstaclesRequest,
        AddObstaclesResponse,
        |host, request| { Ok(host.engine.add_obstacles(&all(&request.obstacles, obstacle))?) }
    );
    plain!(
        desk,
        "remove_obstacles",
        RemoveObstacles,
        RemoveObstaclesRequest,
        RemoveObstaclesResponse,
        |host, request| Ok(host.engine.remove_obstacles(&texts(&request.names))?)
    );
    plain!(
        desk,
        "add_world_objects",
        AddWorldObjects,
        AddWorldObjectsRequest,
        AddWorldObjectsResponse,
        |host, request| {
            let objects = request.objects.iter().map(world_object).collect::<Result<Vec<_>, _>>()?;
            Ok(host.engine.add_world_objects(&objects)?)
        }
    );
    plain!(
        desk,
        "remove_world_objects",
        RemoveWorldObjects,
        RemoveWorldObjectsRequest,
        RemoveWorldObjectsResponse,
        |host, request| Ok(host.engine.remove_world_objects(&texts(&request.object_ids))?)
    );
    Ok(())
}

fn serve_run(desk: &mut Desk<'_, Host>) -> Result<()> {
    let qos = QoSProfile::services_default();
    plain!(
        desk,
        "reset",
        ResetSimulation,
        ResetSimulationRequest,
        ResetSimulationResponse,
        |host, request| {
            host.engine.reset(request.soft)?;
            host.flow_revision = host.flow_revision.wrapping_add(u64::from(!request.soft));
            Ok(host.take_parameters()?)
        }
    );
    desk.serve::<srv::GetProfile>("get_profile", qos, |host, request: srv::GetProfileRequest| {
        let profile = host.engine.profile(request.reset);
        srv::GetProfileResponse {
            phase_names: profile.phase_names.iter().map(|name| name.as_str().into()).collect(),
            phase_means_ms: profile.phase_means_ms.into(),
            phase_p95s_ms: profile.phase_p95s_ms.into(),
            n_ticks: profile.n_ticks,
            n_agents: profile.n_agents,
        }
    })
}

fn serve_parameters(node: &Node, desk: &mut Desk<'_, Host>, parameters: Parameters) -> Result<()> {
    let qos = QoSProfile::parameter_services_default();
    let parameters = Arc::new(parameters);
    let events = node.create_publisher::<ParameterEvent>(
        "/parameter_events".qos(QoSProfile::parameter_events_default()),
    )?;
    let (clock, name) = (node.get_clock(), node.fully_qualified_name());
    let of = Arc::clone(&parameters);
    let tell = Arc::new(move |host: &Host, changed: &[String]| {
        if changed.is_empty() {
            return;
        }
        let mut event = of.event(&host.engine, &name, changed);
        event.stamp = time_to_wire(Time::from_nanos(clock.now().nsec));
        // Whoever listens can ask as well.
        drop(events.publish(&event));
    });

    let of = Arc::clone(&parameters);
    desk.serve::<rcl::GetParameters>("~/get_parameters", qos, move |host, request| {
        of.get(&host.engine, &request)
    })?;
    let of = Arc::clone(&parameters);
    desk.serve::<rcl::GetParameterTypes>("~/get_parameter_types", qos, move |host, request| {
        of.types(&host.engine, &request)
    })?;
    let of = Arc::clone(&parameters);
    desk.serve::<rcl::ListParameters>("~/list_parameters", qos, move |host, request| {
        of.list(&host.engine, &request)
    })?;
    let of = Arc::clone(&parameters);
    desk.serve::<rcl::DescribeParameters>("~/describe_parameters", qos, move |host, request| {
        of.describe(&host.engine, &request)
    })?;
    let (of, told) = (Arc::clone(&parameters), Arc::clone(&tell));
    desk.serve::<rcl::SetParameters>("~/set_parameters", qos, move |host, request| {
        let (response, changed) = of.set(&mut host.engine, &request);
        told(host, &changed);
        response
    })?;
    desk.serve::<rcl::SetParametersAtomically>("~/set_parameters_atomically", qos, move |host, request| {
        let (response, changed) = parameters.set_all(&mut host.engine, &request);
        tell(host, &changed);
        response
    })
}
