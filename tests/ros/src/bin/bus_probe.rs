//! The far end of `promenade bench bus`: streams some people, watches the bus and the projection, and prints two lines of
//! JSON: `{"measuring":true}` when the measurement begins, and the figures when it ends.
//!
//! Latency is from handing a batch to `human/stream` until the first bus message that carries it has been taken and can
//! be read, on the steady clock of this process. The bus is read as the native message, which is what a client that cares
//! about speed does.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use clap::Parser;
use futures::{FutureExt as _, Stream, StreamExt as _};
use promenade_ros_tests::{DEADLINE, wire};
use r2r::arena_people_msgs::msg::Pedestrians;
use r2r::rosgraph_msgs::msg::Clock;
use r2r::{QosProfile, WrappedTypesupport};

/// Time between two batches: the nominal rate of a possession stream, 20 Hz.
const PERIOD: Duration = Duration::from_millis(50);

/// The graph stands still when no topic appeared for this long.
const SETTLED: Duration = Duration::from_secs(2);
const SETTLE_DEADLINE: Duration = Duration::from_secs(120);

/// Where the streamed people are put: batch n at x = FIRST + n metres, further out than any world.
const FIRST: f64 = 100_000.0;

/// Streams people `p0`, `p1`, ... of an environment and measures what comes back on `arena_peds`.
#[derive(Parser)]
struct Arguments {
    /// Namespace of the environment.
    #[arg(long, default_value = "/arena/env_0")]
    env: String,
    /// People that the bus must carry before the measurement begins.
    #[arg(long)]
    people: usize,
    /// Wall time to measure.
    #[arg(long, default_value_t = 10.0)]
    seconds: f64,
    /// People to stream, at least one.
    #[arg(long, default_value_t = 1)]
    stream_people: usize,
    /// Also take the frames of all bodies from `humans/tf`.
    #[arg(long)]
    tf: bool,
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    ensure!(
        (1..=arguments.people).contains(&arguments.stream_people),
        "--stream-people is from 1 to --people"
    );
    ensure!(arguments.seconds > 0.0, "--seconds must be positive");
    let mut probe = Probe::new(&arguments)?;
    let bytes = probe.warm_up(&arguments)?;
    probe.settle()?;
    println!("{}", serde_json::json!({"measuring": true}));
    let measured = probe.measure(Duration::try_from_secs_f64(arguments.seconds)?)?;
    println!("{}", measured.report(bytes)?);
    Ok(())
}

/// Publisher and subscriptions.
struct Probe {
    node: r2r::Node,
    raw_topic: String,
    stream: r2r::Publisher<Pedestrians>,
    bus: Box<dyn Stream<Item = Arrival> + Unpin>,
    clock: Box<dyn Stream<Item = Clock> + Unpin>,
    /// What `hri_producer` says: it works only while somebody listens.
    projection: Box<dyn Stream<Item = Vec<u8>> + Unpin>,
    batch: Pedestrians,
    /// Markers of the batches that the bus has not shown yet, and when each was sent.
    under_way: VecDeque<(f64, Instant)>,
    next: f64,
}

/// What a bus message says.
struct Arrival {
    people: usize,
    /// The newest batch that it carries, if it carries any.
    carried: Option<f64>,
}

/// What the measurement gave.
#[derive(Default)]
struct Measured {
    elapsed: Duration,
    messages: u64,
    projected: u64,
    batches: u64,
    latencies: Vec<Duration>,
}

impl Probe {
    fn new(arguments: &Arguments) -> Result<Self> {
        let mut node = r2r::Node::create(r2r::Context::create()?, "bus_probe", &arguments.env)?;
        let raw_topic = format!("{}/arena_peds", arguments.env);
        let bus = node
            .subscribe_native::<Pedestrians>(&raw_topic, QosProfile::default())?
            .map(|message| read(&message));
        let clock = node.subscribe::<Clock>("/clock", QosProfile::default().keep_last(1).best_effort())?;
        let lists = node.subscribe_raw(
            &format!("{}/humans/bodies/tracked", arguments.env),
            "hri_msgs/msg/IdsList",
            QosProfile::default(),
        )?;
        let mut projection: Vec<Box<dyn Stream<Item = Vec<u8>> + Unpin>> = vec![Box::new(lists)];
        if arguments.tf {
            let topic = format!("{}/humans/tf", arguments.env);
            let profile = QosProfile::default().keep_last(100);
            projection.push(Box::new(node.subscribe_raw(&topic, "tf2_msgs/msg/TFMessage", profile)?));
        }
        let stream = node.create_publisher(
            &format!("{}/human/stream", arguments.env),
            QosProfile::default().keep_last(1),
        )?;
        let names = (0..arguments.stream_people).map(|i| format!("p{i}"));
        let people = (0_u32..).zip(names).map(|(y, name)| wire::person(&name, 0.0, f64::from(y))).collect();
        Ok(Self {
            node,
            raw_topic,
            stream,
            bus: Box::new(bus),
            clock: Box::new(clock),
            projection: Box::new(futures::stream::select_all(projection)),
            batch: wire::people(0, people),
            under_way: VecDeque::new(),
            next: FIRST,
        })
    }

    /// Waits until everybody is on the bus and the first batch has come back; answers the serialised size of a bus message
    /// in bytes.
    fn warm_up(&mut self, arguments: &Arguments) -> Result<usize> {
        let mut sizes = self.node.subscribe_raw(
            &self.raw_topic,
            "arena_people_msgs/msg/Pedestrians",
            QosProfile::default(),
        )?;
        let end = Instant::now() + DEADLINE;
        let mut seen = 0;
        let mut size = None;
        let mut due = Instant::now();
        let mut projected = false;
        while Instant::now() < end {
            if Instant::now() >= due {
                self.send()?;
                due = Instant::now() + PERIOD;
            }
            self.node.spin_once(due.saturating_duration_since(Instant::now()));
            while let Some(Some(bytes)) = sizes.next().now_or_never() {
                size = Some(bytes.len());
            }
            projected |= self.take_projection() > 0;
            while let Some(Some(arrival)) = self.bus.next().now_or_never() {
                seen = arrival.people;
                if let (Some(size), Some(_)) = (size, arrival.carried)
                    && seen == arguments.people
                    && projected
                {
                    self.under_way.clear();
                    return Ok(size);
                }
            }
        }
        bail!(
            "{}: {seen} people on the bus, {} expected, p0.. not yet where the stream puts them, or nothing from \
             hri_producer ({projected}), within {DEADLINE:?}",
            self.raw_topic,
            arguments.people
        )
    }

    /// Streams on until no topic has appeared for a while: a thousand bodies are thousands of topics, and discovering them
    /// is not what is measured.
    fn settle(&mut self) -> Result<()> {
        let end = Instant::now() + SETTLE_DEADLINE;
        let mut topics = 0;
        while Instant::now() < end {
            self.measure(SETTLED)?;
            let now = self.node.get_topic_names_and_types()?.len();
            if now == std::mem::replace(&mut topics, now) {
                return Ok(());
            }
        }
        bail!("new topics still appear after {SETTLE_DEADLINE:?}")
    }

    /// Streams and listens for `span` and counts what comes.
    fn measure(&mut self, span: Duration) -> Result<Measured> {
        let mut measured = Measured::default();
        self.under_way.clear();
        let start = Instant::now();
        let mut due = start;
        while start.elapsed() < span {
            if Instant::now() >= due {
                self.send()?;
                measured.batches += 1;
                due += PERIOD;
            }
            self.node.spin_once(due.saturating_duration_since(Instant::now()));
            measured.projected += self.take_projection();
            while let Some(Some(arrival)) = self.bus.next().now_or_never() {
                measured.messages += 1;
                let Some(carried) = arrival.carried else { continue };
                let now = Instant::now();
                while let Some((sent, at)) = self.under_way.pop_front() {
                    if sent > carried {
                        self.under_way.push_front((sent, at));
                        break;
                    }
                    // A batch that a newer one replaced before it was published never came.
                    if sent == carried {
                        measured.latencies.push(now - at);
                    }
                }
            }
        }
        measured.elapsed = start.elapsed();
        Ok(measured)
    }

    /// Takes what the projection sent and answers how many messages that were.
    fn take_projection(&mut self) -> u64 {
        let mut taken = 0;
        while let Some(Some(_)) = self.projection.next().now_or_never() {
            taken += 1;
        }
        taken
    }

    /// Streams the next batch, stamped with the newest clock reading.
    fn send(&mut self) -> Result<()> {
        while let Some(Some(clock)) = self.clock.next().now_or_never() {
            self.batch.header.stamp = clock.clock;
        }
        self.next += 1.0;
        for person in &mut self.batch.pedestrians {
            person.pose.position.x = self.next;
        }
        self.under_way.push_back((self.next, Instant::now()));
        Ok(self.stream.publish(&self.batch)?)
    }
}

fn read(message: &<Pedestrians as WrappedTypesupport>::CStruct) -> Arrival {
    let people = &message.pedestrians;
    if people.data.is_null() {
        return Arrival { people: 0, carried: None };
    }
    // SAFETY: a sequence of a C message has `size` initialised items at `data`, and both belong to `message`, which
    // outlives the slice.
    let people = unsafe { std::slice::from_raw_parts(people.data, people.size) };
    let carried = people.iter().map(|person| person.pose.position.x).filter(|x| *x > FIRST).reduce(f64::max);
    Arrival { people: people.len(), carried }
}

impl Measured {
    /// One JSON object on one line.
    fn report(mut self, bytes: usize) -> Result<String> {
        self.latencies.sort_unstable();
        let seconds = self.elapsed.as_secs_f64();
        let millis = |share: f64| -> Result<f64> {
            // The nearest-rank percentile.
            let rank = (share * self.latencies.len() as f64).ceil() as usize;
            let latency =
                self.latencies.get(rank.saturating_sub(1)).context("no batch came back on the bus")?;
            Ok(latency.as_secs_f64() * 1000.0)
        };
        Ok(serde_json::json!({
            "messages": self.messages,
            "messages_per_s": self.messages as f64 / seconds,
            "bytes_per_message": bytes,
            "bytes_per_s": bytes as f64 * self.messages as f64 / seconds,
            "projection_messages": self.projected,
            "batches": self.batches,
            "batches_seen": self.latencies.len(),
            "latency_ms_p50": millis(0.5)?,
            "latency_ms_p99": millis(0.99)?,
            "seconds": seconds,
        })
        .to_string())
    }
}
