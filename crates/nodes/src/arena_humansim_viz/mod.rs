//! The `arena_humansim_viz` node: markers of what `viz_state` says about agents (crowd-engine specification, section 25).
//!
//! It listens only while somebody watches its markers, so that the engine need not describe what nobody sees. Its parameters
//! (`output_topic`, `offset_x`, `offset_y`, `robot_bodies`) act at run time. It also ties the frame `map` to `world`.

mod drawing;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context as _, Result};
use arena_humansim_msgs::msg::rmw::AgentViz;
use geometry_msgs::msg::rmw::TransformStamped;
use promenade_human::MAP_FRAME;
use rclrs::{
    IntoPrimitiveOptions, MandatoryParameter, Node, Publisher, Worker, WorkerState, WorkerSubscription,
};
use tf2_msgs::msg::rmw::TFMessage;
use visualization_msgs::msg::rmw::MarkerArray;

use crate::bus::set_string;
use crate::ros::Running;
use drawing::{Drawing, View};

/// Between two looks whether somebody watches.
const LOOK: Duration = Duration::from_secs(1);

/// State of the worker; only its callbacks reach it, one at a time.
type Shared = Mutex<Painter>;

fn painter(shared: &mut Shared) -> &mut Painter {
    shared.get_mut().unwrap_or_else(PoisonError::into_inner)
}

/// Runs the node until it is asked to stop.
///
/// # Errors
/// A parameter of the wrong type, or a failure of ROS.
pub fn run() -> Result<()> {
    let ros = Running::start("arena_humansim_viz")?;
    let world_frame =
        ros.text("world_frame", "world", "frame that holds the frame map; empty = no transform is sent")?;
    let _tie = tie_map_to(&ros.node, &world_frame)?;
    let parameters = Parameters::declare(&ros.node)?;
    let painter_state = Painter::new(ros.node.clone(), parameters)?;
    let worker: Worker<Shared> = ros.node.create_worker(Mutex::new(painter_state));
    let handle = Arc::downgrade(&worker);
    let _looks = worker.create_timer_repeating(LOOK, move |shared: &mut Shared| {
        if let Some(worker) = handle.upgrade() {
            painter(shared).look(&worker);
        }
    })?;
    ros.spin()
}

/// Sends the transform from `world` to `map`, once; it is latched as long as the answer lives.
fn tie_map_to(node: &Node, world_frame: &str) -> Result<Option<Publisher<TFMessage>>> {
    if world_frame.is_empty() {
        return Ok(None);
    }
    let publisher = node.create_publisher("/tf_static".keep_last(1).reliable().transient_local())?;
    let mut tie = TransformStamped::default();
    set_string(&mut tie.header.frame_id, world_frame);
    set_string(&mut tie.child_frame_id, MAP_FRAME);
    tie.transform.rotation.w = 1.0;
    publisher.publish(TFMessage { transforms: [tie].into_iter().collect() })?;
    Ok(Some(publisher))
}

struct Parameters {
    output_topic: MandatoryParameter<Arc<str>>,
    offset_x: MandatoryParameter<f64>,
    offset_y: MandatoryParameter<f64>,
    robot_bodies: MandatoryParameter<bool>,
}

impl Parameters {
    fn declare(node: &Node) -> Result<Self> {
        let context = |name: &'static str| move || format!("parameter {name:?}");
        Ok(Self {
            output_topic: node
                .declare_parameter::<Arc<str>>("output_topic")
                .default("viz_agents".into())
                .description("topic of the markers")
                .mandatory()
                .with_context(context("output_topic"))?,
            offset_x: node
                .declare_parameter("offset_x")
                .default(0.0)
                .description("added to x, m")
                .mandatory()
                .with_context(context("offset_x"))?,
            offset_y: node
                .declare_parameter("offset_y")
                .default(0.0)
                .description("added to y, m")
                .mandatory()
                .with_context(context("offset_y"))?,
            robot_bodies: node
                .declare_parameter("robot_bodies")
                .default(true)
                .description("draw robots as well")
                .mandatory()
                .with_context(context("robot_bodies"))?,
        })
    }

    fn view(&self) -> View {
        View { offset: [self.offset_x.get(), self.offset_y.get()], robots: self.robot_bodies.get() }
    }
}

/// Draws while somebody watches.
struct Painter {
    node: Node,
    parameters: Parameters,
    topic: Arc<str>,
    output: Publisher<MarkerArray>,
    input: Option<WorkerSubscription<AgentViz, Shared>>,
    drawing: Drawing,
}

impl Painter {
    fn new(node: Node, parameters: Parameters) -> Result<Self> {
        let topic = parameters.output_topic.get();
        let output = open(&node, &topic)?;
        Ok(Self { node, parameters, topic, output, input: None, drawing: Drawing::default() })
    }

    /// Follows a new `output_topic`, and listens if somebody watches.
    fn look(&mut self, worker: &WorkerState<Shared>) {
        let topic = self.parameters.output_topic.get();
        if topic != self.topic {
            match open(&self.node, &topic) {
                Ok(output) => {
                    self.clear();
                    self.output = output;
                }
                Err(error) => tracing::warn!("output_topic stays as it was: {error:#}"),
            }
            // What cannot be opened is not tried again until it changes.
            self.topic = topic;
        }
        let is_watched = self.output.get_subscription_count().is_ok_and(|count| count > 0);
        if !is_watched {
            self.input = None;
            self.drawing = Drawing::default();
        } else if self.input.is_none() {
            let options = "viz_state".keep_last(10).reliable().volatile();
            let input =
                worker.create_subscription::<AgentViz, _>(options, |shared: &mut Shared, viz: AgentViz| {
                    painter(shared).draw(&viz);
                });
            match input {
                Ok(input) => self.input = Some(input),
                Err(error) => tracing::warn!("cannot listen to viz_state: {error}"),
            }
        }
    }

    fn draw(&mut self, viz: &AgentViz) {
        let array = self.drawing.draw(viz, self.parameters.view());
        self.send(array);
    }

    /// Takes away what was drawn.
    fn clear(&mut self) {
        let array = self.drawing.draw(&AgentViz::default(), self.parameters.view());
        self.send(array);
    }

    fn send(&self, array: MarkerArray) {
        if array.markers.is_empty() {
            return;
        }
        if let Err(error) = self.output.publish(array) {
            tracing::debug!("markers are not sent: {error}");
        }
    }
}

fn open(node: &Node, topic: &str) -> Result<Publisher<MarkerArray>> {
    node.create_publisher(topic.keep_last(10).reliable().volatile())
        .with_context(|| format!("parameter \"output_topic\": {topic:?} is no topic"))
}
