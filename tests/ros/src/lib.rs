//! What the ROS conformance tests share: a domain of their own, nodes under test, and bounded waiting.
//!
//! Nothing here sleeps: a test drives its r2r node until what it waits for has happened, and fails after a
//! deadline that only a broken system reaches.

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use futures::FutureExt as _;
use futures::future::LocalBoxFuture;
use wait_timeout::ChildExt as _;

/// Longest wait for anything. DDS discovery on a loaded machine can take seconds.
pub const DEADLINE: Duration = Duration::from_secs(30);

/// How long one turn of the executor may wait for something to arrive.
const TURN: Duration = Duration::from_millis(20);

/// Puts this process, and the nodes it starts, into a ROS domain of its own, so that test processes run side by side.
///
/// Every test calls it first. Tests of one process share the domain: they use namespaces of their own, and only one
/// of them may drive `/clock`. Domains 10 to 101 are safe with Linux' ephemeral ports; the process id picks one.
pub fn own_domain() -> u32 {
    static DOMAIN: OnceLock<u32> = OnceLock::new();
    *DOMAIN.get_or_init(|| {
        let domain = 10 + std::process::id() % 92;
        // SAFETY: other tests of this process wait here, and nothing else reads the environment before its test does.
        unsafe {
            std::env::set_var("ROS_DOMAIN_ID", domain.to_string());
            std::env::set_var("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST");
        }
        domain
    })
}

/// The path of one of Promenade's executables in the sourced overlay.
///
/// # Errors
/// When no prefix of `AMENT_PREFIX_PATH` has it.
pub fn executable(name: &str) -> Result<PathBuf> {
    let prefixes = std::env::var_os("AMENT_PREFIX_PATH").unwrap_or_default();
    std::env::split_paths(&prefixes)
        .map(|prefix| prefix.join("lib/promenade").join(name))
        .find(|path| path.is_file())
        .with_context(|| {
            format!(
                "no executable {name:?} in AMENT_PREFIX_PATH: `make build`, then source tools/ros2/setup.bash"
            )
        })
}

/// A node under test; killed when dropped.
#[derive(Debug)]
pub struct Node {
    name: String,
    child: Child,
}

impl Node {
    /// Starts `promenade/<name>` with arguments, in this process' ROS domain.
    ///
    /// # Errors
    /// When the executable is missing or does not start.
    pub fn start(name: &str, arguments: &[&str]) -> Result<Self> {
        let child = Command::new(executable(name)?)
            .args(arguments)
            .stdin(Stdio::null())
            .spawn()
            .with_context(|| format!("cannot start {name:?}"))?;
        Ok(Self { name: name.to_owned(), child })
    }

    /// Fails when the node has ended.
    ///
    /// # Errors
    /// With the exit status of a node that no longer runs.
    pub fn check_alive(&mut self) -> Result<()> {
        match self.child.try_wait()? {
            Some(status) => bail!("node {:?} ended: {status}", self.name),
            None => Ok(()),
        }
    }

    /// Process id, for signals.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Ends the node as Ctrl-C would and waits for it.
    ///
    /// # Errors
    /// When the node does not end in time.
    pub fn interrupt(mut self) -> Result<std::process::ExitStatus> {
        let id = libc::pid_t::try_from(self.child.id())?;
        // SAFETY: plain system call; the child is ours and not reaped yet.
        unsafe { libc::kill(id, libc::SIGINT) };
        if let Some(status) = self.child.wait_timeout(DEADLINE)? {
            return Ok(status);
        }
        bail!("node {:?} still runs {DEADLINE:?} after SIGINT", self.name)
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        // The process may be gone already; there is nothing else to do about it.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// An r2r node with what a test needs around it.
pub struct Client {
    /// The node: create subscriptions, publishers and clients here.
    pub node: r2r::Node,
}

impl Client {
    /// A node in this process' domain; call [`own_domain`] first.
    ///
    /// # Errors
    /// When ROS cannot start.
    pub fn new(name: &str, namespace: &str) -> Result<Self> {
        let context = r2r::Context::create()?;
        Ok(Self { node: r2r::Node::create(context, name, namespace)? })
    }

    /// Runs the node until `future` is ready.
    ///
    /// # Errors
    /// After [`DEADLINE`], naming `what` was waited for.
    pub fn wait<T>(&mut self, what: &str, future: impl Future<Output = T>) -> Result<T> {
        let mut future: LocalBoxFuture<'_, T> = future.boxed_local();
        let end = Instant::now() + DEADLINE;
        while Instant::now() < end {
            self.node.spin_once(TURN);
            if let Some(value) = (&mut future).now_or_never() {
                return Ok(value);
            }
        }
        bail!("no {what} within {DEADLINE:?}")
    }

    /// Runs the node until `done` says so.
    ///
    /// # Errors
    /// After [`DEADLINE`], naming `what` was waited for.
    pub fn wait_until(&mut self, what: &str, mut done: impl FnMut() -> bool) -> Result<()> {
        let end = Instant::now() + DEADLINE;
        while Instant::now() < end {
            self.node.spin_once(TURN);
            if done() {
                return Ok(());
            }
        }
        bail!("no {what} within {DEADLINE:?}")
    }
}
