//! What the engine says, in a file that ROS 2 tools play (crowd-engine specification, section 24).
//!
//! A folder holds `recording.mcap` and `recording.yaml`, which says what was recorded, with which parameters, and whether somebody else
//! published on the same topics. A folder that exists is never written into. Recording decides nothing, and a disk that is full ends
//! the recording and not the node.

mod cdr;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::{Context as _, Result, bail, ensure};
use arena_humansim_msgs::msg::rmw as wire;
use mcap::records::MessageHeader;
use mcap::{WriteOptions, Writer};
use promenade_crowd::Engine;
use promenade_crowd::protocol::ParameterValue;
use rclrs::Node;
use rosgraph_msgs::msg::rmw::Clock;
use serde::Serialize;

use crate::bus::time_from_wire;
use cdr::{Cdr, Recorded};

/// Topics on which only the engine may publish.
const OWN_TOPICS: [&str; 2] = ["agent_states", "world_geometry"];
/// Other publishers are looked for each second at first, then seldom.
const OFTEN: Duration = Duration::from_secs(1);
const OFTEN_UNTIL: Duration = Duration::from_secs(10);
const SELDOM: Duration = Duration::from_secs(30);
/// Quality of service that players offer for what is latched, and for the rest.
const LATCHED: &str = "- {history: 1, depth: 1, reliability: 1, durability: 1}\n";
const VOLATILE: &str = "- {history: 1, depth: 10, reliability: 1, durability: 2}\n";

/// What there is to say about a recording.
#[derive(Debug, Clone, Serialize)]
struct Provenance {
    recorder: String,
    trial_id: String,
    /// Seconds since 1970.
    started: f64,
    finished: bool,
    namespace: String,
    parameters: BTreeMap<String, String>,
    /// Names of the local planners when the first frame was written.
    policies: Vec<String>,
    messages: u64,
    /// Most publishers seen, per topic.
    publishers: BTreeMap<String, usize>,
    /// Somebody else published on a topic of the engine.
    contaminated: bool,
}

/// The recording of a node, if it makes one. Clones share it: whoever publishes writes into it, whoever ends the node ends it.
#[derive(Clone, Default)]
pub(crate) struct Tape(Arc<Mutex<Option<Recording>>>);

impl Tape {
    /// A tape for this recording.
    pub(crate) fn new(recording: Option<Recording>) -> Self {
        Self(Arc::new(Mutex::new(recording)))
    }

    /// Writes into the recording, if there is one.
    pub(crate) fn write(&self, act: impl FnOnce(&mut Recording)) {
        if let Some(recording) = &mut *self.0.lock().unwrap_or_else(PoisonError::into_inner) {
            act(recording);
        }
    }

    /// Looks for other publishers; whether the node has to end because of one.
    pub(crate) fn must_end(&self, node: &Node) -> bool {
        let mut must_end = false;
        self.write(|recording| must_end = recording.look(node));
        must_end
    }

    /// Ends the recording.
    ///
    /// # Errors
    /// When it is not whole, or strict and not the engine's alone.
    pub(crate) fn finish(&self) -> Result<()> {
        match self.0.lock().unwrap_or_else(PoisonError::into_inner).take() {
            Some(recording) => recording.finish(),
            None => Ok(()),
        }
    }
}

/// A recording under way.
pub(crate) struct Recording {
    folder: PathBuf,
    writer: Writer<BufWriter<File>>,
    frames: u16,
    metas: u16,
    gestures: u16,
    geometries: u16,
    clocks: u16,
    cdr: Cdr,
    /// Simulated time of the last frame.
    now_ns: u64,
    provenance: Provenance,
    is_strict: bool,
    began: Instant,
    looked: Option<Instant>,
    has_failed: bool,
    intruder: Option<String>,
}

impl Recording {
    /// Begins the recording that the parameters ask for, if they do.
    ///
    /// # Errors
    /// A folder that exists already or cannot be made.
    pub(crate) fn start(engine: &Engine, namespace: &str) -> Result<Option<Self>> {
        if engine.parameter("record_bag") != Some(&ParameterValue::Bool(true)) {
            return Ok(None);
        }
        let text = |name: &str| match engine.parameter(name) {
            Some(ParameterValue::Text(value)) => value.clone(),
            _ => String::new(),
        };
        let started = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64();
        let trial_id = text("trial_id");
        let folder = folder(&text("record_dir"), &trial_id, started)?;
        let path = folder.join("recording.mcap");
        let file = File::create_new(&path)
            .with_context(|| format!("record_bag: cannot write {}", path.display()))?;
        let options =
            WriteOptions::new().profile("ros2").library(concat!("promenade ", env!("CARGO_PKG_VERSION")));
        let mut writer = options.create(BufWriter::new(file)).context("record_bag")?;
        let topic = |name: &str| format!("{}/{name}", namespace.trim_end_matches('/'));
        let shown = |(name, value): (&str, ParameterValue)| {
            let value = match value {
                ParameterValue::Bool(value) => value.to_string(),
                ParameterValue::Integer(value) => value.to_string(),
                ParameterValue::Double(value) => format!("{value:?}"),
                ParameterValue::Text(value) => value,
            };
            (name.to_owned(), value)
        };
        let provenance = Provenance {
            recorder: concat!("promenade ", env!("CARGO_PKG_VERSION")).to_owned(),
            trial_id,
            started,
            finished: false,
            namespace: namespace.to_owned(),
            parameters: engine.parameters().map(shown).collect(),
            policies: Vec::new(),
            messages: 0,
            publishers: BTreeMap::new(),
            contaminated: false,
        };
        let recording = Self {
            frames: channel::<wire::AgentFrame>(&mut writer, &topic("agent_states"), VOLATILE)?,
            metas: channel::<wire::AgentMeta>(&mut writer, &topic("agent_meta"), LATCHED)?,
            gestures: channel::<wire::AgentGestures>(&mut writer, &topic("agent_gestures"), LATCHED)?,
            geometries: channel::<wire::WorldGeometry>(&mut writer, &topic("world_geometry"), LATCHED)?,
            clocks: channel::<Clock>(&mut writer, "/clock", VOLATILE)?,
            folder,
            writer,
            cdr: Cdr::default(),
            now_ns: 0,
            provenance,
            is_strict: engine.parameter("strict_recording") == Some(&ParameterValue::Bool(true)),
            began: Instant::now(),
            looked: None,
            has_failed: false,
            intruder: None,
        };
        recording.write_provenance()?;
        tracing::info!("recording into {}", recording.folder.display());
        Ok(Some(recording))
    }

    /// A frame; the time of what follows is its.
    pub(crate) fn frame(&mut self, frame: &wire::AgentFrame) {
        let stamp = time_from_wire(&frame.header.stamp).nanos();
        self.now_ns = u64::try_from(stamp).unwrap_or(0);
        self.write(self.frames, frame);
    }

    /// Meta data.
    pub(crate) fn meta(&mut self, meta: &wire::AgentMeta) {
        if self.provenance.policies.is_empty() {
            self.provenance.policies = super::wire::texts(&meta.policies);
        }
        self.write(self.metas, meta);
    }

    /// Gestures.
    pub(crate) fn gestures(&mut self, gestures: &wire::AgentGestures) {
        self.write(self.gestures, gestures);
    }

    /// What is static.
    pub(crate) fn geometry(&mut self, geometry: &wire::WorldGeometry) {
        self.write(self.geometries, geometry);
    }

    /// The clock.
    pub(crate) fn clock(&mut self, clock: &Clock) {
        self.write(self.clocks, clock);
    }

    fn write(&mut self, channel_id: u16, message: &impl Recorded) {
        if self.has_failed {
            return;
        }
        let sequence = self.provenance.messages as u32;
        let header = MessageHeader { channel_id, sequence, log_time: self.now_ns, publish_time: self.now_ns };
        match self.writer.write_to_known_channel(&header, self.cdr.encode(message)) {
            Ok(()) => self.provenance.messages += 1,
            Err(error) => {
                self.has_failed = true;
                tracing::error!("the recording ends here: {error}");
            }
        }
    }

    /// Looks for other publishers when it is time to; whether one of them ends a strict recording.
    fn look(&mut self, node: &Node) -> bool {
        let pause = if self.began.elapsed() < OFTEN_UNTIL { OFTEN } else { SELDOM };
        if self.looked.is_some_and(|looked| looked.elapsed() < pause) {
            return false;
        }
        self.looked = Some(Instant::now());
        for name in OWN_TOPICS {
            let topic = format!("{}/{name}", self.provenance.namespace.trim_end_matches('/'));
            let count = node.count_publishers(&topic).unwrap_or(0);
            let most = self.provenance.publishers.entry(topic.clone()).or_default();
            *most = count.max(*most);
            if count > 1 {
                self.provenance.contaminated = true;
                self.intruder = Some(format!("{count} publishers on {topic}, expected the engine alone"));
            }
        }
        self.is_strict && self.intruder.is_some()
    }

    fn finish(mut self) -> Result<()> {
        self.writer.finish().context("record_bag: the end of the recording")?;
        self.provenance.finished = !self.has_failed;
        self.write_provenance()?;
        tracing::info!("recorded {} messages into {}", self.provenance.messages, self.folder.display());
        match self.intruder {
            Some(intruder) if self.is_strict => bail!("strict_recording: {intruder}"),
            Some(intruder) => tracing::warn!("the recording is contaminated: {intruder}"),
            None => {}
        }
        Ok(())
    }

    fn write_provenance(&self) -> Result<()> {
        let text = serde_saphyr::to_string(&self.provenance).context("recording.yaml")?;
        let path = self.folder.join("recording.yaml");
        std::fs::write(&path, text).with_context(|| format!("record_bag: cannot write {}", path.display()))
    }
}

fn channel<M: Recorded>(writer: &mut Writer<BufWriter<File>>, topic: &str, qos: &str) -> Result<u16> {
    let schema = writer.add_schema(M::TYPE, "ros2msg", M::definition().as_bytes()).context("record_bag")?;
    let metadata = BTreeMap::from([("offered_qos_profiles".to_owned(), qos.to_owned())]);
    writer.add_channel(schema, topic, "cdr", &metadata).context("record_bag")
}

/// Makes the folder of a recording.
fn folder(record_dir: &str, trial_id: &str, started: f64) -> Result<PathBuf> {
    let is_name = !trial_id.contains(['/', '\\', '\0']) && trial_id != "." && trial_id != "..";
    ensure!(is_name, "trial_id is {trial_id:?}; expected a name without / as it names a folder");
    let parent = Path::new(if record_dir.is_empty() { "recordings" } else { record_dir });
    let name = if trial_id.is_empty() { format!("arena_humansim_{started:.3}") } else { trial_id.to_owned() };
    let folder = parent.join(name);
    std::fs::create_dir_all(parent)
        .with_context(|| format!("record_dir: cannot make {}", parent.display()))?;
    std::fs::create_dir(&folder).with_context(|| {
        format!(
            "record_dir: cannot make {}; a recording never goes into a folder that exists",
            folder.display()
        )
    })?;
    Ok(folder)
}
