//! One environment under test: a `human_simulator` and a client of all its topics.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

use anyhow::{Context as _, Result};
use r2r::QosProfile;
use r2r::arena_people_msgs::msg::{Pedestrian, Pedestrians};
use r2r::arena_people_msgs::srv::MovePedestrians;
use tempfile::TempDir;

use crate::{Cast, Mailbox, Process, SECOND, Stage, wire};

/// Frames per simulated second.
const RATE: i64 = 30;

/// Nobody has this name.
const FENCE: &str = "fence_of_the_stage";

/// Number of the next environment.
static NEXT: AtomicU32 = AtomicU32::new(0);

/// See the module.
pub struct Environment {
    /// `/arena/env_<n>`; a number is used once per test process, so that what an earlier test left behind cannot match.
    pub namespace: String,
    /// `env_<n>`.
    pub prefix: String,
    /// The scenario file.
    pub scenario: PathBuf,
    /// The node.
    pub process: Process,
    /// What came on `arena_peds`.
    pub frames: Mailbox<Pedestrians>,
    stream: r2r::Publisher<Pedestrians>,
    moves: r2r::Client<MovePedestrians::Service>,
    opened: i64,
    _folder: TempDir,
}

impl Environment {
    /// Starts the node and waits until this client and the node know each other. Nobody is spawned before the clock runs.
    ///
    /// # Errors
    /// When the node does not start or does not appear.
    pub fn start(stage: &mut Stage, cast: &Cast) -> Result<Self> {
        Self::start_with(stage, cast, &[])
    }

    /// As [`Environment::start`], with further parameters of the node.
    ///
    /// # Errors
    /// When the node does not start or does not appear.
    pub fn start_with(stage: &mut Stage, cast: &Cast, further: &[(&str, &str)]) -> Result<Self> {
        let prefix = format!("env_{}", NEXT.fetch_add(1, Ordering::Relaxed));
        let namespace = format!("/arena/{prefix}");
        let folder = TempDir::new()?;
        let scenario = cast.write(folder.path())?;
        let parameters = [
            ("use_sim_time", "true"),
            ("human", "dummy"),
            ("scenario", scenario.to_str().context("a temporary folder with a plain name")?),
            ("prefix", prefix.as_str()),
        ];
        let parameters: Vec<_> = parameters.iter().chain(further).copied().collect();
        let process = Process::node("human_simulator", node_arguments(&namespace, &parameters))?;
        let topic = |name: &str| format!("{namespace}/{name}");
        let qos = QosProfile::default();
        let frames = stage.subscribe(&topic("arena_peds"), qos.clone().keep_last(1000))?;
        let stream: r2r::Publisher<Pedestrians> =
            stage.node.create_publisher(&topic("human/stream"), qos.clone())?;
        let moves = stage.node.create_client(&topic("human/move"), QosProfile::services_default())?;
        let matched = stream.wait_for_inter_process_subscribers()?;
        stage.wait("subscription to human/stream", matched).context(process.log())??;
        let available = r2r::Node::is_available(&moves)?;
        stage.wait("human/move service", available).context(process.log())??;
        Ok(Self { namespace, prefix, scenario, process, frames, stream, moves, opened: 0, _folder: folder })
    }

    /// Starts the node, lets the clock read `at`, and answers the first frame.
    ///
    /// # Errors
    /// When the node does not start or publishes nothing.
    pub fn open(stage: &mut Stage, cast: &Cast, at: i64) -> Result<(Self, Pedestrians)> {
        let mut environment = Self::start(stage, cast)?;
        let first = environment.begin(stage, at)?;
        Ok((environment, first))
    }

    /// As [`Environment::open`], with further parameters of the node.
    ///
    /// # Errors
    /// When the node does not start or publishes nothing.
    pub fn open_with(stage: &mut Stage, cast: &Cast, at: i64, further: &[(&str, &str)]) -> Result<Self> {
        let mut environment = Self::start_with(stage, cast, further)?;
        environment.begin(stage, at)?;
        Ok(environment)
    }

    /// The namespace that the next environment will have.
    #[must_use]
    pub fn next_namespace() -> String {
        format!("/arena/env_{}", NEXT.load(Ordering::Relaxed))
    }

    /// Lets the clock read `at` for the first time, and answers a frame of that time.
    ///
    /// The very first frame may be over before the bus publisher and this client have matched, so empty batches - each of
    /// which puts a frame on the bus - are sent until one arrives. A last batch with a name that nobody has then tells,
    /// by the warning it causes, that the node is through with all of them.
    ///
    /// # Errors
    /// When nothing arrives.
    pub fn begin(&mut self, stage: &mut Stage, at: i64) -> Result<Pedestrians> {
        self.opened = at;
        let first = stage
            .clock_until(at, "frame", || {
                let frame = self.frames.pop();
                if frame.is_none() {
                    // A publisher that fails shows as a frame that never comes.
                    drop(self.stream(at, Vec::new()));
                }
                frame
            })
            .with_context(|| self.process.log())?;
        self.stream(at, vec![wire::person(FENCE, 0.0, 0.0)])?;
        self.logged(stage, FENCE)?;
        Ok(first)
    }

    /// The time of frame `index` after the first clock reading.
    #[must_use]
    pub fn frame_time(&self, index: i64) -> i64 {
        self.opened + index * SECOND / RATE
    }

    /// The name on the bus of somebody whom the scenario calls `name`.
    #[must_use]
    pub fn bus_name(&self, name: &str) -> String {
        format!("{}/{name}", self.prefix)
    }

    /// A topic of this environment.
    #[must_use]
    pub fn topic(&self, name: &str) -> String {
        format!("{}/{name}", self.namespace)
    }

    /// Publishes a batch on `human/stream`.
    ///
    /// # Errors
    /// When ROS cannot publish.
    pub fn stream(&self, at: i64, people: Vec<Pedestrian>) -> Result<()> {
        Ok(self.stream.publish(&wire::people(at, people))?)
    }

    /// Turns until a frame passes `test`; what came before it is dropped.
    ///
    /// # Errors
    /// When none does.
    pub fn frame(
        &self,
        stage: &mut Stage,
        what: &str,
        mut test: impl FnMut(&Pedestrians) -> bool,
    ) -> Result<Pedestrians> {
        stage.until_some(what, || self.frames.find(&mut test))
    }

    /// Turns until `name` is on the bus in a state that passes `test`, and answers that state.
    ///
    /// # Errors
    /// When it does not come.
    pub fn see(
        &self,
        stage: &mut Stage,
        name: &str,
        what: &str,
        test: impl Fn(&Pedestrian) -> bool,
    ) -> Result<Pedestrian> {
        let bus_name = self.bus_name(name);
        let frame = self.frame(stage, what, |frame| wire::find(frame, &bus_name).is_some_and(&test))?;
        wire::find(&frame, &bus_name).cloned().context("found before")
    }

    /// Streams one batch and waits until the bus shows every one of its people as the stream's.
    ///
    /// # Errors
    /// When the bus does not.
    pub fn claim(&self, stage: &mut Stage, at: i64, people: &[Pedestrian]) -> Result<Pedestrians> {
        let wanted: Vec<_> = people.iter().map(|p| (self.bus_name(&p.name), wire::place(p))).collect();
        self.stream(at, people.to_vec())?;
        self.frame(stage, "frame with the claimed people", |frame| {
            wanted.iter().all(|(name, place)| {
                wire::find(frame, name).is_some_and(|p| wire::is_marked(p) && wire::place(p) == *place)
            })
        })
    }

    /// Sets the clock to frame `index` and answers the frame of exactly that time.
    ///
    /// # Errors
    /// When it does not come.
    pub fn tick(&self, stage: &mut Stage, index: i64) -> Result<Pedestrians> {
        let at = self.frame_time(index);
        let look = || self.frames.find(|frame| wire::nanos(&frame.header.stamp) == at);
        stage.clock_until(at, &format!("frame {index}"), look)
    }

    /// Runs the clock on from frame `index`, a frame per turn, until `look` finds something; answers it with the index.
    ///
    /// # Errors
    /// When it does not.
    pub fn run_until<T>(
        &self,
        stage: &mut Stage,
        index: i64,
        what: &str,
        mut look: impl FnMut() -> Option<T>,
    ) -> Result<(T, i64)> {
        let mut at = index;
        let found = stage.turn_until(what, |stage| {
            at += 1;
            stage.publish_clock(self.frame_time(at))?;
            Ok(look())
        });
        Ok((found.with_context(|| self.process.log())?, at))
    }

    /// Calls `human/move` and answers its results. Also tells that the node answers at all.
    ///
    /// # Errors
    /// When there is no answer.
    pub fn teleport(&self, stage: &mut Stage, people: Vec<Pedestrian>) -> Result<Vec<u8>> {
        let answer = self.moves.request(&MovePedestrians::Request { pedestrians: people })?;
        Ok(stage.wait("answer of human/move", answer).context("human/move")??.results)
    }

    /// Turns until the node has written `text`.
    ///
    /// # Errors
    /// When it does not.
    pub fn logged(&self, stage: &mut Stage, text: &str) -> Result<()> {
        stage.until(&format!("{text:?} in the log"), || self.process.logged(text) > 0)
    }
}

/// The command line of a node in a namespace, with parameters.
#[must_use]
pub fn node_arguments(namespace: &str, parameters: &[(&str, &str)]) -> Vec<String> {
    let mut arguments = vec!["--ros-args".to_owned(), "-r".to_owned(), format!("__ns:={namespace}")];
    for (name, value) in parameters {
        arguments.extend(["-p".to_owned(), format!("{name}:={value}")]);
    }
    arguments
}
