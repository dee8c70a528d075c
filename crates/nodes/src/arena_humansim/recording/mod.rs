//! What the engine says, in a file that ROS 2 tools play (crowd-engine specification, section 24).
//!
//! A folder holds `recording.mcap` and `recording.yaml`, which says what was recorded, with which parameters, and whether somebody else
//! published on the same topics. A folder that exists is never written into. Recording decides nothing, and a disk that is full ends
//! the recording and not the node.

mod cdr;

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::{Context as _, Result, bail, ensure};
use arena_humansim_msgs::msg::rmw as wire;
use promenade_crowd::Engine;
use promenade_crowd::protocol::ParameterValue;
use promenade_recording::cdr::Encoder;
use promenade_recording::{BagWriter, Channel, Durability};
use rclrs::Node;
use rosgraph_msgs::msg::rmw::Clock;
use serde::Serialize;

use crate::bus::time_from_wire;
use cdr::Recorded;

/// Topics on which only the engine may publish.
const OWN_TOPICS: [&str; 2] = ["agent_states", "world_geometry"];
/// Other publishers are looked for each second at first, then seldom.
const OFTEN: Duration = Duration::from_secs(1);
const OFTEN_UNTIL: Duration = Duration::from_secs(10);
const SELDOM: Duration = Duration::from_secs(30);

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
    bag: BagWriter,
    frames: Channel,
    metas: Channel,
    gestures: Channel,
    geometries: Channel,
    clocks: Channel,
    encoder: Encoder,
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
        let mut bag = BagWriter::new(file).context("record_bag")?;
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
            frames: channel::<wire::AgentFrame>(&mut bag, &topic("agent_states"), Durability::Volatile)?,
            metas: channel::<wire::AgentMeta>(&mut bag, &topic("agent_meta"), Durability::Latched)?,
            gestures: channel::<wire::AgentGestures>(
                &mut bag,
                &topic("agent_gestures"),
                Durability::Latched,
            )?,
            geometries: channel::<wire::WorldGeometry>(
                &mut bag,
                &topic("world_geometry"),
                Durability::Latched,
            )?,
            clocks: channel::<Clock>(&mut bag, "/clock", Durability::Volatile)?,
            folder,
            bag,
            encoder: Encoder::default(),
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

    fn write(&mut self, channel: Channel, message: &impl Recorded) {
        if self.has_failed {
            return;
        }
        message.encode(self.encoder.begin());
        match self.bag.write(channel, self.now_ns, self.encoder.bytes()) {
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
        self.bag.finish().context("record_bag: the end of the recording")?;
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

fn channel<M: Recorded>(bag: &mut BagWriter, topic: &str, durability: Durability) -> Result<Channel> {
    bag.channel(topic, M::TYPE, durability).context("record_bag")
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
