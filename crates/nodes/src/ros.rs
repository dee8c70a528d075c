//! What every node does the same way: start, parameters, quality of service, stop.

use std::any::Any;
use std::cell::RefCell;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context as _, Result};
use futures::channel::oneshot;
use promenade_kernel::Time;
use rclrs::{
    Context, CreateBasicExecutor, Executor, IntoNodeOptions, IntoPrimitiveOptions, Node, ParameterVariant,
    QoSProfile, RclrsErrorFilter, SpinOptions, Worker,
};
use rosgraph_msgs::msg::rmw::Clock;
use rosidl_runtime_rs::Service;

use crate::bus::time_from_wire;

/// How long the middleware may take to say good-bye.
const TEARDOWN: Duration = Duration::from_secs(3);

/// Period of clock readings when the node runs on wall time.
const WALL_TICK: Duration = Duration::from_millis(5);

/// A node and the executor that runs it.
pub struct Running {
    executor: Executor,
    /// The node.
    pub node: Node,
    /// A parameter is undeclared when its handle is dropped.
    parameters: RefCell<Vec<Box<dyn Any>>>,
}

impl Running {
    /// Starts node `name`; `--ros-args` of the command line may rename it, move it and set parameters.
    ///
    /// # Errors
    /// When ROS 2 cannot be initialised or an argument is malformed.
    pub fn start(name: &str) -> Result<Self> {
        Self::start_serving(name, true)
    }

    /// As [`Running::start`], without services for parameters: the node offers its own.
    ///
    /// # Errors
    /// When ROS 2 cannot be initialised or an argument is malformed.
    pub fn start_with_own_parameters(name: &str) -> Result<Self> {
        Self::start_serving(name, false)
    }

    fn start_serving(name: &str, parameters: bool) -> Result<Self> {
        let executor = Context::default_from_env()
            .context("cannot initialise ROS 2; is its environment sourced?")?
            .create_basic_executor();
        let node = executor
            .create_node(name.start_parameter_services(parameters))
            .with_context(|| format!("cannot create node {name:?}"))?;
        crate::log::install(node.logger().clone());
        Ok(Running { executor, node, parameters: RefCell::default() })
    }

    /// A further node of this process, in a namespace that the command line cannot change.
    ///
    /// # Errors
    /// When the namespace is none.
    pub fn node_in(&self, name: &str, namespace: &str) -> Result<Node> {
        let own = ["--ros-args".to_owned(), "-r".to_owned(), format!("__ns:={namespace}")];
        self.executor
            .create_node(name.namespace(namespace).arguments(own))
            .with_context(|| format!("cannot create node {name:?} in {namespace:?}"))
    }

    /// A read-only parameter: set at start or its default.
    ///
    /// # Errors
    /// When the value given at start has another type.
    pub fn parameter<T: ParameterVariant + 'static>(
        &self,
        name: &str,
        default: T,
        description: &str,
    ) -> Result<T> {
        let parameter = self
            .node
            .declare_parameter::<T>(name)
            .default(default)
            .description(description)
            .read_only()
            .with_context(|| format!("parameter {name:?} ({description}); a number with a point such as 20.0 is a double, 20 is an integer"))?;
        let value = parameter.get();
        self.parameters.borrow_mut().push(Box::new(parameter));
        Ok(value)
    }

    /// A read-only text parameter.
    ///
    /// # Errors
    /// When the value given at start is not a text.
    pub fn text(&self, name: &str, default: &str, description: &str) -> Result<String> {
        let value: Arc<str> = self.parameter(name, default.into(), description)?;
        Ok(value.to_string())
    }

    /// Calls `on_reading` with the node clock: at each `/clock` with `use_sim_time`, else every few milliseconds. The
    /// readings stop when the answer is dropped.
    ///
    /// # Errors
    /// When the subscription or the timer cannot be made.
    pub fn clock(&self, on_reading: impl Fn(Time) + Send + Sync + 'static) -> Result<Arc<dyn Any>> {
        let uses_sim_time =
            self.node.use_undeclared_parameters().get::<bool>("use_sim_time").unwrap_or(false);
        if uses_sim_time {
            return Ok(self.node.create_subscription::<Clock, _>(
                "/clock".keep_last(1).best_effort().volatile(),
                move |message: Clock| on_reading(time_from_wire(&message.clock)),
            )?);
        }
        let clock = self.node.get_clock();
        let tick = move || on_reading(Time::from_nanos(clock.now().nsec));
        Ok(self.node.create_timer_repeating(WALL_TICK, tick)?)
    }

    /// Runs callbacks until SIGINT or SIGTERM.
    ///
    /// # Errors
    /// What the executor reports.
    pub fn spin(mut self) -> Result<()> {
        let commands = Arc::clone(self.executor.commands());
        ctrlc::set_handler(move || commands.halt_spinning()).context("cannot install the signal handler")?;
        let spun = self.executor.spin(SpinOptions::default()).first_error();
        bound_teardown(spun.is_ok());
        Ok(spun?)
    }

    /// Runs callbacks on a thread of their own while `work` runs on this one, and stops when `work` returns. SIGINT and
    /// SIGTERM call `on_signal`, which has to make `work` return.
    ///
    /// # Errors
    /// What `work` or the executor reports.
    pub fn spin_beside(
        self,
        on_signal: impl Fn() + Send + 'static,
        work: impl FnOnce() -> Result<()>,
    ) -> Result<()> {
        ctrlc::set_handler(on_signal).context("cannot install the signal handler")?;
        let commands = Arc::clone(self.executor.commands());
        let mut executor = self.executor;
        // Unlike a halt, this also stops an executor that has not begun to spin.
        let (done, until) = oneshot::channel();
        let spinning = std::thread::Builder::new()
            .name("executor".to_owned())
            .spawn(move || {
                let options = SpinOptions::default().until_promise_resolved(until);
                executor.spin(options).first_error()
            })
            .context("cannot start the executor thread")?;
        let worked = work();
        // An executor that stopped by itself no longer listens.
        let _ = done.send(());
        commands.halt_spinning();
        bound_teardown(worked.is_ok());
        match spinning.join() {
            Ok(spun) => worked.and(spun.map_err(Into::into)),
            Err(_) => worked.and(Err(anyhow::anyhow!("the executor thread panicked"))),
        }
    }
}

/// Handles that keep services open.
pub(crate) type Kept = Vec<Box<dyn Any>>;

/// Opens services that one worker answers, one request at a time.
pub(crate) struct Desk<'w, T: Send + 'static> {
    worker: &'w Worker<Mutex<T>>,
    kept: Kept,
}

impl<'w, T: Send + 'static> Desk<'w, T> {
    /// A desk without services.
    pub(crate) fn new(worker: &'w Worker<Mutex<T>>) -> Self {
        Desk { worker, kept: Kept::new() }
    }

    /// Offers a service.
    ///
    /// # Errors
    /// When the middleware does not offer it.
    pub(crate) fn serve<S: Service>(
        &mut self,
        name: &str,
        qos: QoSProfile,
        act: impl Fn(&mut T, S::Request) -> S::Response + Send + Sync + 'static,
    ) -> Result<()> {
        let service = self
            .worker
            .create_service::<S, _>(name.qos(qos), move |shared: &mut Mutex<T>, request: S::Request| {
                act(shared.get_mut().unwrap_or_else(PoisonError::into_inner), request)
            })
            .with_context(|| format!("cannot offer the service {name:?}"))?;
        self.kept.push(Box::new(service));
        Ok(())
    }

    /// What keeps the services open.
    pub(crate) fn into_kept(self) -> Kept {
        self.kept
    }
}

/// Ends the process if the middleware does not: Fast DDS can wait for itself for ever when a participant is destroyed in the
/// moment in which it learns that another one has gone, as when a whole launch stops at once.
fn bound_teardown(ended_well: bool) {
    std::thread::spawn(move || {
        std::thread::park_timeout(TEARDOWN);
        signal_hook::low_level::exit(i32::from(!ended_well));
    });
}

/// The share folder of this package in the sourced environment, if it is installed.
#[must_use]
pub fn share_dir() -> Option<PathBuf> {
    let prefixes = std::env::var_os("AMENT_PREFIX_PATH")?;
    std::env::split_paths(&prefixes).map(|prefix| prefix.join("share/promenade")).find(|share| share.is_dir())
}
