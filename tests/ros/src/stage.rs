//! A stage: one r2r node that owns `/clock`.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use futures::{FutureExt as _, StreamExt as _};
use r2r::rosgraph_msgs::msg::Clock;
use r2r::{QosProfile, WrappedTypesupport};

use crate::{DEADLINE, own_domain, wire};

/// How long one turn of the executor may wait for something to arrive.
const TURN: Duration = Duration::from_millis(5);

/// What arrived on a topic and was not looked at yet, oldest first. Clones share it.
#[derive(Clone, Debug)]
pub struct Mailbox<T>(Rc<RefCell<VecDeque<T>>>);

impl<T> Mailbox<T> {
    /// Takes the oldest message.
    pub fn pop(&self) -> Option<T> {
        self.0.borrow_mut().pop_front()
    }

    /// Takes messages until one passes `test`; that one is the answer, what came before it is dropped.
    pub fn find(&self, mut test: impl FnMut(&T) -> bool) -> Option<T> {
        std::iter::from_fn(|| self.pop()).find(|message| test(message))
    }

    /// Takes everything.
    #[must_use]
    pub fn drain(&self) -> Vec<T> {
        self.0.borrow_mut().drain(..).collect()
    }

    /// Messages that wait.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.borrow().len()
    }

    /// True when nothing waits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// An r2r node, its mailboxes, and the clock of the test.
pub struct Stage {
    /// For further nodes: a process has one context.
    pub context: r2r::Context,
    /// The node: create publishers and clients here.
    pub node: r2r::Node,
    clock: r2r::Publisher<Clock>,
    /// Each answers whether its mailbox is still there; a subscription ends with it.
    deliveries: Vec<Box<dyn FnMut() -> bool>>,
}

impl Stage {
    /// A stage in this process' own domain. Nobody has published a clock yet.
    ///
    /// # Errors
    /// When ROS cannot start.
    pub fn new() -> Result<Self> {
        own_domain();
        let context = r2r::Context::create()?;
        let mut node = r2r::Node::create(context.clone(), "stage", "/")?;
        let clock = node.create_publisher("/clock", QosProfile::default().keep_last(1))?;
        Ok(Self { context, node, clock, deliveries: Vec::new() })
    }

    /// Collects the messages of a topic from now on, until the mailbox and its clones are dropped. (r2r notices with the
    /// next message.)
    ///
    /// # Errors
    /// When the subscription cannot be created.
    pub fn subscribe<T: WrappedTypesupport + 'static>(
        &mut self,
        topic: &str,
        qos: QosProfile,
    ) -> Result<Mailbox<T>> {
        let mut messages = self.node.subscribe::<T>(topic, qos)?;
        let mailbox = Mailbox(Rc::default());
        let to = mailbox.clone();
        self.deliveries.push(Box::new(move || {
            while let Some(Some(message)) = messages.next().now_or_never() {
                to.0.borrow_mut().push_back(message);
            }
            Rc::strong_count(&to.0) > 1
        }));
        Ok(mailbox)
    }

    /// One turn of the node: waits a moment for something to arrive and delivers it.
    pub fn turn(&mut self) {
        self.node.spin_once(TURN);
        self.deliveries.retain_mut(|deliver| deliver());
    }

    /// Turns until `done` says so; `what` names it.
    ///
    /// # Errors
    /// After [`DEADLINE`].
    pub fn until(&mut self, what: &str, mut done: impl FnMut() -> bool) -> Result<()> {
        self.until_some(what, || done().then_some(()))
    }

    /// Turns until `look` finds something; `what` names it.
    ///
    /// # Errors
    /// After [`DEADLINE`].
    pub fn until_some<T>(&mut self, what: &str, mut look: impl FnMut() -> Option<T>) -> Result<T> {
        let end = Instant::now() + DEADLINE;
        while Instant::now() < end {
            if let Some(found) = look() {
                return Ok(found);
            }
            self.turn();
        }
        bail!("no {what} within {DEADLINE:?}")
    }

    /// Turns until `step`, which may publish, finds something; `what` names it.
    ///
    /// # Errors
    /// After [`DEADLINE`], or what `step` reports.
    pub fn turn_until<T>(
        &mut self,
        what: &str,
        mut step: impl FnMut(&mut Self) -> Result<Option<T>>,
    ) -> Result<T> {
        let end = Instant::now() + DEADLINE;
        while Instant::now() < end {
            if let Some(found) = step(self)? {
                return Ok(found);
            }
            self.turn();
        }
        bail!("no {what} within {DEADLINE:?}")
    }

    /// Turns until `future` is ready.
    ///
    /// # Errors
    /// After [`DEADLINE`].
    pub fn wait<T>(&mut self, what: &str, future: impl Future<Output = T>) -> Result<T> {
        let mut future = Box::pin(future);
        self.until_some(what, || (&mut future).now_or_never())
    }

    /// Publishes a clock reading once.
    ///
    /// # Errors
    /// When ROS cannot publish.
    pub fn publish_clock(&self, at: i64) -> Result<()> {
        Ok(self.clock.publish(&Clock { clock: wire::stamp(at) })?)
    }

    /// Keeps the clock at `at` until `look` finds something. The clock is best effort, hence the repetition; a repeated
    /// reading changes nothing, as time stands still.
    ///
    /// # Errors
    /// After [`DEADLINE`].
    pub fn clock_until<T>(&mut self, at: i64, what: &str, mut look: impl FnMut() -> Option<T>) -> Result<T> {
        let end = Instant::now() + DEADLINE;
        while Instant::now() < end {
            self.publish_clock(at)?;
            self.turn();
            if let Some(found) = look() {
                return Ok(found);
            }
        }
        bail!("no {what} within {DEADLINE:?} with the clock at {at} ns")
    }
}
