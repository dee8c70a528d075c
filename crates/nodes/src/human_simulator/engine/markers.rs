//! The engine's markers, moved to where the environment lies (human-layer specification, section 17.8).
//!
//! Static layers are passed on always, the others only while somebody watches. The engine's own marker node is told to draw in this
//! environment. Points of a marker are relative to its pose and stay.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::time::{Duration, Instant};

use anyhow::Result;
use promenade_human::{Parameter, ParameterValue};
use rcl_interfaces::srv::rmw::{SetParameters, SetParametersRequest, SetParametersResponse};
use rclrs::{Client, IntoPrimitiveOptions, Node, Publisher, Subscription};
use visualization_msgs::msg::rmw::MarkerArray;

use super::super::episodes::parameter_to_wire;

/// The engine's marker node.
const NODE: &str = "arena_humansim_viz";

/// How often it is looked whether somebody watches, and whether the marker node is there.
const LOOK: Duration = Duration::from_millis(500);

/// How long the marker node may take to answer.
const ANSWER: Duration = Duration::from_secs(2);

/// How a request to the marker node went.
enum Pointing {
    /// It does not draw here yet.
    Not,
    Asked(Receiver<bool>, Instant),
    Done,
}

/// See the module.
pub(super) struct Markers {
    node: Node,
    below: String,
    offset: [f64; 2],
    extra: Arc<Publisher<MarkerArray>>,
    watched: Option<Subscription<MarkerArray>>,
    viz: Client<SetParameters>,
    pointing: Pointing,
    look_from: Instant,
    _static: [Subscription<MarkerArray>; 2],
}

impl Markers {
    /// Markers of the engine below a name, shifted by `offset`.
    pub(super) fn open(node: &Node, below: &str, offset: [f64; 2]) -> Result<Self> {
        let latched = |layer: &str, name: &str| -> Result<Subscription<MarkerArray>> {
            let out = format!("pedestrian_markers/{name}");
            let out: Publisher<MarkerArray> =
                node.create_publisher(out.as_str().keep_last(1).reliable().transient_local())?;
            Ok(node.create_subscription::<MarkerArray, _>(
                format!("{below}/viz_static/{layer}").as_str().keep_last(1).reliable().transient_local(),
                move |markers: MarkerArray| pass_on(markers, offset, &out),
            )?)
        };
        // Reliable satisfies both kinds of subscribers.
        let extra = node.create_publisher("pedestrian_markers/extra".keep_last(10).reliable().volatile())?;
        Ok(Markers {
            _static: [latched("walls", "static_walls")?, latched("objects", "static_objects")?],
            extra: Arc::new(extra),
            watched: None,
            viz: node.create_client(format!("{below}/{NODE}/set_parameters").as_str())?,
            pointing: Pointing::Not,
            look_from: Instant::now(),
            node: node.clone(),
            below: below.to_owned(),
            offset,
        })
    }

    /// One look at who watches and at the marker node; never waits.
    pub(super) fn look(&mut self) {
        let now = Instant::now();
        if now < self.look_from {
            return;
        }
        self.look_from = now + LOOK;
        let is_watched = self.extra.get_subscription_count().unwrap_or(0) > 0;
        match (is_watched, self.watched.is_some()) {
            (true, false) => self.watched = self.watch(),
            (false, true) => self.watched = None,
            _ => {}
        }
        self.point(now);
    }

    fn watch(&self) -> Option<Subscription<MarkerArray>> {
        let (offset, extra) = (self.offset, Arc::clone(&self.extra));
        self.node
            .create_subscription::<MarkerArray, _>(
                format!("{}/viz", self.below).as_str().keep_last(5).best_effort().volatile(),
                move |markers: MarkerArray| pass_on(markers, offset, &extra),
            )
            .inspect_err(|error| tracing::error!("{}/viz: {error}", self.below))
            .ok()
    }

    /// Tells the marker node where to draw, until it has taken everything; again when it started anew.
    fn point(&mut self, now: Instant) {
        let is_there = self.viz.service_is_ready().unwrap_or(false);
        if !is_there {
            self.pointing = Pointing::Not;
            return;
        }
        match &self.pointing {
            Pointing::Done => return,
            Pointing::Asked(answer, until) => match answer.try_recv() {
                Ok(true) => {
                    self.pointing = Pointing::Done;
                    return;
                }
                Err(TryRecvError::Empty) if now < *until => return,
                Ok(false) | Err(_) => {}
            },
            Pointing::Not => {}
        }
        let topic = format!("{}/pedestrian_markers/extra", self.node.namespace().trim_end_matches('/'));
        let parameters = [
            ("output_topic", ParameterValue::Text(topic)),
            ("offset_x", ParameterValue::Double(self.offset[0])),
            ("offset_y", ParameterValue::Double(self.offset[1])),
            ("robot_bodies", ParameterValue::Bool(false)),
        ];
        let parameter = |(name, value): (&str, ParameterValue)| {
            parameter_to_wire(&Parameter { name: name.to_owned(), value })
        };
        let request = SetParametersRequest { parameters: parameters.map(parameter).into_iter().collect() };
        let (tell, told) = channel();
        let sent = self.viz.call_then(request, move |answer: SetParametersResponse| {
            let _ = tell.send(answer.results.iter().all(|result| result.successful));
        });
        self.pointing = match sent {
            Ok(_) => Pointing::Asked(told, now + ANSWER),
            Err(error) => {
                tracing::error!("{}/{NODE}: {error}", self.below);
                Pointing::Not
            }
        };
    }
}

fn pass_on(mut markers: MarkerArray, offset: [f64; 2], out: &Publisher<MarkerArray>) {
    shift(&mut markers, offset);
    if let Err(error) = out.publish(&markers) {
        tracing::error!("pedestrian_markers: {error}");
    }
}

fn shift(markers: &mut MarkerArray, [x, y]: [f64; 2]) {
    for marker in markers.markers.iter_mut() {
        marker.pose.position.x += x;
        marker.pose.position.y += y;
    }
}

#[cfg(test)]
mod tests {
    use geometry_msgs::msg::rmw::Point;
    use visualization_msgs::msg::rmw::Marker;

    use super::*;

    #[test]
    fn poses_are_shifted_and_points_are_not() {
        let mut marker = Marker::default();
        marker.pose.position.x = 1.0;
        marker.points = vec![Point { x: 2.0, y: 3.0, z: 0.0 }].into();
        let mut markers = MarkerArray { markers: vec![marker].into() };
        shift(&mut markers, [10.0, -5.0]);
        let marker = &markers.markers[0];
        assert_eq!((marker.pose.position.x, marker.pose.position.y), (11.0, -5.0));
        assert_eq!((marker.points[0].x, marker.points[0].y), (2.0, 3.0));
    }
}
