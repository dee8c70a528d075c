//! The far end of `promenade bench reset`: resets an environment again and again while it moves somebody away by stream, and
//! prints one line of JSON per reset.
//!
//! Times are from handing in the request, on the steady clock of this process: until the answer, and until the first bus
//! message that shows the next episode, with everybody and with the streamed person back at the start.

use std::time::{Duration, Instant};

use anyhow::{Result, bail, ensure};
use clap::Parser;
use futures::{FutureExt as _, Stream, StreamExt as _};
use promenade_ros_tests::{DEADLINE, wire};
use r2r::QosProfile;
use r2r::arena_people_msgs::msg::Pedestrians;
use r2r::rosgraph_msgs::msg::Clock;
use r2r::task_generator_msgs::srv::ResetEpisode;

/// Where the streamed person is put, metres: further out than any world.
const AWAY: f64 = 100_000.0;

/// The streamed person.
const WHO: &str = "p0";

/// Longest turn of the executor.
const TURN: Duration = Duration::from_millis(5);

/// Time between two batches, 20 Hz.
const PERIOD: Duration = Duration::from_millis(50);

/// Resets an environment with people `p0`, `p1`, ... and says what each reset took and left.
#[derive(Parser)]
struct Arguments {
    /// Namespace of the environment.
    #[arg(long, default_value = "/arena/env_0")]
    env: String,
    /// People of its scenario.
    #[arg(long)]
    people: usize,
    /// How often to reset.
    #[arg(long, default_value_t = 1_000)]
    resets: u32,
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let mut probe = Probe::new(&arguments)?;
    probe.stream_until_away()?;
    let first = probe.roster.clone();
    for reset in 1..=arguments.resets {
        let (answered, shown) = probe.reset()?;
        let people = probe.roster.len();
        let line = serde_json::json!({
            "reset": reset,
            "reset_ms": answered.as_secs_f64() * 1000.0,
            "first_tick_ms": shown.as_secs_f64() * 1000.0,
            "people": people,
            "same_ids": probe.roster == first,
            "publishers": probe.node.get_publishers_info_by_topic(&probe.topic, false)?.len(),
            "topics": probe.node.get_topic_names_and_types()?.len(),
        });
        println!("{line}");
        probe.stream_until_away()?;
    }
    Ok(())
}

struct Probe {
    node: r2r::Node,
    topic: String,
    people: usize,
    stream: r2r::Publisher<Pedestrians>,
    reset: r2r::Client<ResetEpisode::Service>,
    bus: Box<dyn Stream<Item = Frame> + Unpin>,
    clock: Box<dyn Stream<Item = Clock> + Unpin>,
    batch: Pedestrians,
    /// Names and ids of the last frame.
    roster: Vec<(String, u32)>,
}

/// What a bus message says.
struct Frame {
    roster: Vec<(String, u32)>,
    /// The streamed person is away.
    is_away: bool,
}

impl Probe {
    fn new(arguments: &Arguments) -> Result<Self> {
        let env = &arguments.env;
        let mut node = r2r::Node::create(r2r::Context::create()?, "reset_probe", env)?;
        let topic = format!("{env}/arena_peds");
        let bus = node.subscribe::<Pedestrians>(&topic, QosProfile::default())?.map(|message| Frame {
            is_away: message.pedestrians.iter().any(|person| person.pose.position.x == AWAY),
            roster: message.pedestrians.into_iter().map(|person| (person.name, person.id)).collect(),
        });
        let clock = node.subscribe::<Clock>("/clock", QosProfile::default().keep_last(1).best_effort())?;
        let stream =
            node.create_publisher(&format!("{env}/human/stream"), QosProfile::default().keep_last(1))?;
        let reset = node
            .create_client(&format!("{env}/task_generator/reset_episode"), QosProfile::services_default())?;
        Ok(Self {
            node,
            topic,
            people: arguments.people,
            stream,
            reset,
            bus: Box::new(bus),
            clock: Box::new(clock),
            batch: wire::people(0, vec![wire::person(WHO, AWAY, 0.0)]),
            roster: Vec::new(),
        })
    }

    /// Streams until the bus shows everybody and the streamed person away.
    fn stream_until_away(&mut self) -> Result<()> {
        let end = Instant::now() + DEADLINE;
        let mut due = Instant::now();
        while Instant::now() < end {
            if Instant::now() >= due {
                while let Some(Some(clock)) = self.clock.next().now_or_never() {
                    self.batch.header.stamp = clock.clock;
                }
                self.stream.publish(&self.batch)?;
                due = Instant::now() + PERIOD;
            }
            self.node.spin_once(TURN);
            if self.frame(|frame, people| frame.is_away && frame.roster.len() == people) {
                return Ok(());
            }
        }
        bail!("{}: {WHO} is not where the stream puts them within {DEADLINE:?}", self.topic)
    }

    /// Times until the answer and until the first frame of the next episode.
    fn reset(&mut self) -> Result<(Duration, Duration)> {
        let request = ResetEpisode::Request { world: String::new(), seed: 7 };
        let mut answer = Box::pin(self.reset.request(&request)?);
        let start = Instant::now();
        let mut answered = None;
        let mut shown = None;
        while start.elapsed() < DEADLINE {
            self.node.spin_once(TURN);
            if answered.is_none()
                && let Some(response) = answer.as_mut().now_or_never()
            {
                let response = response?;
                ensure!(response.success, "reset_episode: {}", response.error_msg);
                answered = Some(start.elapsed());
            }
            if self.frame(|frame, people| !frame.is_away && frame.roster.len() == people) {
                shown = shown.or(Some(start.elapsed()));
            }
            if let (Some(answered), Some(shown)) = (answered, shown) {
                return Ok((answered, shown));
            }
        }
        bail!("no next episode within {DEADLINE:?}: answer {answered:?}, first frame {shown:?}")
    }

    /// Takes what the bus sent; true when a frame passed `test`.
    fn frame(&mut self, test: impl Fn(&Frame, usize) -> bool) -> bool {
        let mut passed = false;
        while let Some(Some(frame)) = self.bus.next().now_or_never() {
            passed |= test(&frame, self.people);
            self.roster = frame.roster;
        }
        passed
    }
}
