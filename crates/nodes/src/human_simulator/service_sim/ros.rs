//! The four services as `rclrs` clients.

use anyhow::{Context as _, Result};
use arena_people_msgs::srv::rmw::{DeletePedestrians, MovePedestrians, SpawnPedestrians, UpdatePedestrians};
use rclrs::{Client, Node};

use super::link::{OnAnswer, Request, Service, Services};

/// See the module.
pub(super) struct RosServices {
    spawn: Client<SpawnPedestrians>,
    moves: Client<MovePedestrians>,
    update: Client<UpdatePedestrians>,
    delete: Client<DeletePedestrians>,
    place: String,
}

impl RosServices {
    /// Clients of the services below `namespace`; empty = the namespace of the node.
    pub(super) fn new(node: &Node, namespace: &str) -> Result<Self> {
        let name = |service: Service| match namespace {
            "" => service.name().to_owned(),
            namespace => format!("{}/{}", namespace.trim_end_matches('/'), service.name()),
        };
        let context = || format!("parameter sim_ns: {namespace:?} is no namespace such as /sim");
        Ok(RosServices {
            spawn: node.create_client(name(Service::Spawn).as_str()).with_context(context)?,
            moves: node.create_client(name(Service::Move).as_str()).with_context(context)?,
            update: node.create_client(name(Service::Update).as_str()).with_context(context)?,
            delete: node.create_client(name(Service::Delete).as_str()).with_context(context)?,
            place: if namespace.is_empty() { node.namespace() } else { namespace.to_owned() },
        })
    }
}

impl Services for RosServices {
    fn place(&self) -> String {
        self.place.clone()
    }

    fn is_ready(&self, service: Service) -> bool {
        match service {
            Service::Spawn => self.spawn.service_is_ready(),
            Service::Move => self.moves.service_is_ready(),
            Service::Update => self.update.service_is_ready(),
            Service::Delete => self.delete.service_is_ready(),
        }
        .unwrap_or(false)
    }

    fn send(&self, request: Request<'_>, on_answer: OnAnswer) -> Result<(), String> {
        use arena_people_msgs::srv::rmw as srv;
        // The promise only tells when the callback is through.
        let sent = match request {
            Request::Spawn(request) => self
                .spawn
                .call_then(request, move |answer: srv::SpawnPedestriansResponse| on_answer(&answer.results)),
            Request::Move(request) => self
                .moves
                .call_then(request, move |answer: srv::MovePedestriansResponse| on_answer(&answer.results)),
            Request::Update(request) => self
                .update
                .call_then(request, move |answer: srv::UpdatePedestriansResponse| on_answer(&answer.results)),
            Request::Delete(request) => self
                .delete
                .call_then(request, move |answer: srv::DeletePedestriansResponse| on_answer(&answer.results)),
        };
        sent.map(drop).map_err(|error| error.to_string())
    }
}
