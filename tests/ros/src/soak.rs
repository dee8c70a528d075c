//! Many resets in a row while streams flow and robots drive: what must not change. (`promenade bench reset` says what it
//! costs.)
//!
//! The node holds half of its people under possession, follows every robot by TF, and is looked at from outside: roster and
//! ids on the bus, publishers and subscriptions in the graph, threads and memory in `/proc`.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context as _, Result, ensure};
use futures::FutureExt as _;
use r2r::QosProfile;
use r2r::arena_people_msgs::msg::Pedestrians;
use r2r::geometry_msgs::msg::{Quaternion, Transform, TransformStamped, Vector3};
use r2r::std_msgs::msg::Header;
use r2r::tf2_msgs::msg::TFMessage;

use crate::episodes::{DERIVE, Episodes, outcome};
use crate::wire::{self, is_marked, marked, nanos};
use crate::{Cast, Environment, SECOND, Simulator, Stage};

const START: i64 = 100 * SECOND;

/// Frames of each episode.
const FRAMES: i64 = 5;

/// How much to do.
#[derive(Clone, Copy, Debug)]
pub struct Load {
    /// Resets in a row.
    pub resets: u32,
    /// People of the scenario.
    pub people: usize,
    /// Robots of the scenario.
    pub robots: usize,
    /// Whether a simulator outside the process holds the people.
    pub has_simulator: bool,
}

/// One episode, seen from outside.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// Number of the episode.
    pub episode: u32,
    /// Threads of the node.
    pub threads: usize,
    /// Resident memory of the node, KiB.
    pub rss_kib: u64,
    /// People on the bus.
    pub people: usize,
    /// Publishers below the namespace of the environment.
    pub publishers: usize,
}

/// Runs the resets. Roster, ids and the freshness of every first tick are checked on the way.
///
/// # Errors
/// What ROS reports, what does not come in time, and any first tick that is not right.
pub fn run(load: Load) -> Result<Vec<Sample>> {
    let mut stage = Stage::new()?;
    let mut soak = Soak::open(&mut stage, load)?;
    (0..load.resets).map(|_| soak.episode(&mut stage)).collect()
}

struct Soak {
    load: Load,
    environment: Environment,
    episodes: Episodes,
    simulator: Option<Simulator>,
    tf: r2r::Publisher<TFMessage>,
    /// Bus name to id.
    roster: BTreeMap<String, u32>,
    names: Vec<String>,
    index: i64,
    episode: u32,
}

impl Soak {
    fn open(stage: &mut Stage, load: Load) -> Result<Self> {
        let grid = |i: usize, y: f64| [(i % 25) as f64 - 12.0, y + (i / 25) as f64];
        let names: Vec<String> = (0..load.people).map(|i| format!("p{i}")).collect();
        let cast = Cast {
            people: names.iter().cloned().zip((0..).map(|i| grid(i, 0.0))).collect(),
            robots: (0..load.robots).map(|i| (format!("r{i}"), grid(i, -20.0))).collect(),
            doors: vec![("hatch", [20.0, 0.0], [22.0, 0.0])],
            walls: vec![([-40.0, -40.0], [40.0, -40.0])],
            ..Cast::default()
        };
        let simulator = load
            .has_simulator
            .then(|| Simulator::start(&stage.context, &Environment::next_namespace()))
            .transpose()?;
        let service = [("sim", "service"), ("sim_timeout", "20.0")];
        let further = if load.has_simulator { &service[..] } else { &[] };
        let mut environment = Environment::start_with(stage, &cast, further)?;
        let first = environment.begin(stage, START)?;
        let episodes = Episodes::open(stage, &environment)?;
        let tf = stage.node.create_publisher("/tf", QosProfile::default().keep_last(100))?;
        let matched = tf.wait_for_inter_process_subscribers()?;
        stage.wait("reader of /tf", matched)??;
        let roster: BTreeMap<_, _> = first.pedestrians.iter().map(|p| (p.name.clone(), p.id)).collect();
        ensure!(roster.len() == load.people, "{} people on the bus", roster.len());
        let ids: BTreeSet<_> = roster.values().collect();
        ensure!(ids.len() == load.people, "two people share an id");
        Ok(Self { load, environment, episodes, simulator, tf, roster, names, index: 0, episode: 0 })
    }

    /// Some frames of the running episode, then a reset and its first frame.
    fn episode(&mut self, stage: &mut Stage) -> Result<Sample> {
        for _ in 0..FRAMES {
            self.index += 1;
            let at = self.environment.frame_time(self.index);
            self.tf.publish(&self.transforms(at))?;
            self.environment.stream(at, self.claims())?;
            self.environment.tick(stage, self.index)?;
        }
        let mut answer = Box::pin(self.episodes.ask_reset("", DERIVE)?);
        // The stream goes on and does not know of the reset.
        let stale = self.environment.frame_time(self.index);
        self.environment.stream(stale - 1, self.claims())?;
        let error = stage.until_some("answer of the reset", || (&mut answer).now_or_never())??;
        ensure!(error.is_empty(), "{error}");
        self.episode += 1;
        self.index += 1;
        let first = self.environment.tick(stage, self.index)?;
        self.check(&first)?;
        let record = self.episodes.record(stage, self.episode, outcome::RUNNING)?;
        ensure!(record.integrity && record.robots.len() == self.load.robots, "{record:?}");
        drop(self.episodes.queued.drain());
        let (threads, rss_kib) = proc_status(self.environment.process.id())?;
        Ok(Sample {
            episode: self.episode,
            threads,
            rss_kib,
            people: first.pedestrians.len(),
            publishers: self.publishers(stage)?,
        })
    }

    /// The first tick of an episode: the same people under the same ids, nobody possessed, everybody with all joints.
    fn check(&self, frame: &Pedestrians) -> Result<()> {
        let episode = self.episode;
        let roster: BTreeMap<_, _> = frame.pedestrians.iter().map(|p| (p.name.clone(), p.id)).collect();
        ensure!(roster == self.roster, "episode {episode}: another roster");
        ensure!(
            frame.pedestrians.iter().all(|p| !is_marked(p) && p.joint_state.name.len() == 40),
            "episode {episode}: somebody is possessed at the first tick"
        );
        if let Some(simulator) = &self.simulator {
            let there = simulator.names();
            ensure!(there.iter().eq(self.roster.keys()), "episode {episode}: in the simulator are {there:?}");
            drop(simulator.take_calls());
        }
        let at = self.environment.frame_time(self.index);
        ensure!(nanos(&frame.header.stamp) == at, "episode {episode}: another time");
        Ok(())
    }

    fn claims(&self) -> Vec<r2r::arena_people_msgs::msg::Pedestrian> {
        let half = &self.names[..self.names.len() / 2];
        half.iter().map(|name| marked(name, (self.index % 7) as f64, 5.0)).collect()
    }

    /// Every robot on its way past the door.
    fn transforms(&self, at: i64) -> TFMessage {
        let transform = |i: usize| TransformStamped {
            header: Header { stamp: wire::stamp(at), frame_id: "map".to_owned() },
            child_frame_id: format!("{}/r{i}/base_link", self.environment.prefix),
            transform: Transform {
                translation: Vector3 { x: 15.0 + (self.index % 50) as f64 / 4.0, y: i as f64, z: 0.0 },
                rotation: Quaternion { x: 0.0, y: 0.0, z: 0.0, w: 1.0 },
            },
        };
        TFMessage { transforms: (0..self.load.robots).map(transform).collect() }
    }

    /// Publishers on all topics of the environment.
    fn publishers(&self, stage: &Stage) -> Result<usize> {
        let prefix = format!("{}/", self.environment.namespace);
        let topics = stage.node.get_topic_names_and_types()?;
        let mut count = 0;
        for topic in topics.keys().filter(|topic| topic.starts_with(&prefix)) {
            count += stage.node.get_publishers_info_by_topic(topic, false)?.len();
        }
        Ok(count)
    }
}

/// Threads and resident memory (KiB) of a process.
fn proc_status(id: u32) -> Result<(usize, u64)> {
    let status = std::fs::read_to_string(format!("/proc/{id}/status"))?;
    let field = |name: &str| {
        let line = status.lines().find(|line| line.starts_with(name)).context("a field of /proc")?;
        let number = line.split_whitespace().nth(1).context("its number")?;
        Ok::<u64, anyhow::Error>(number.parse()?)
    };
    Ok((usize::try_from(field("Threads:")?)?, field("VmRSS:")?))
}
