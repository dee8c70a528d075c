//! A simulator for the people of an environment: the four services of `arena_people_msgs`, and what a test wants of it.
//!
//! It runs on a node and a thread of its own, so that it answers while the test waits. It can hold its answers back, fail
//! for some names, forget everybody, and go away as if it had ended. `src/bin/simulator.rs` is the same in a process that a
//! test may kill.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::{Result, anyhow};
use futures::{FutureExt as _, StreamExt as _};
use r2r::arena_people_msgs::srv::{DeletePedestrians, MovePedestrians, SpawnPedestrians, UpdatePedestrians};
use r2r::{QosProfile, ServiceRequest, WrappedServiceTypeSupport};

use crate::wire;

/// How long one turn of the thread may wait for a call.
const TURN: Duration = Duration::from_millis(2);

const SUCCESS: u8 = 0;
const NOT_FOUND: u8 = 1;
const FAILED_CREATE: u8 = 2;

/// Which service was called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verb {
    /// `spawn_pedestrians`
    Spawn,
    /// `move_pedestrians`
    Move,
    /// `update_pedestrians`
    Update,
    /// `delete_pedestrians`
    Delete,
}

/// One call.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// The service.
    pub verb: Verb,
    /// Names in the request, in order.
    pub names: Vec<String>,
    /// Places in the request, in order; none for a deletion.
    pub places: Vec<[f64; 2]>,
    /// Nanoseconds of `UpdatePedestrians.stamp`; 0 for the others.
    pub stamp: i64,
}

/// Somebody in the simulator.
#[derive(Clone, Debug, PartialEq)]
pub struct Resident {
    /// Where they are.
    pub place: [f64; 2],
    /// `SpawnPedestrian.model_ref`.
    pub model_ref: String,
}

#[derive(Default)]
struct State {
    people: BTreeMap<String, Resident>,
    calls: Vec<Call>,
    held: BTreeSet<Verb>,
    failing: BTreeMap<String, u8>,
}

/// See the module; it goes away when dropped.
pub struct Simulator {
    state: Arc<Mutex<State>>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<Result<()>>>,
}

impl Simulator {
    /// Serves below `namespace` from now on.
    ///
    /// # Errors
    /// When ROS refuses a service.
    pub fn start(context: &r2r::Context, namespace: &str) -> Result<Self> {
        Self::start_with(context, namespace, |_| ())
    }

    /// As [`Simulator::start`]; `on_call` is told of every call before it is answered.
    ///
    /// # Errors
    /// When ROS refuses a service.
    pub fn start_with(
        context: &r2r::Context,
        namespace: &str,
        on_call: impl FnMut(&Call) + Send + 'static,
    ) -> Result<Self> {
        let node = r2r::Node::create(context.clone(), "simulator", namespace)?;
        let (state, stop): (Arc<Mutex<State>>, Arc<AtomicBool>) = Default::default();
        let (of_thread, until) = (Arc::clone(&state), Arc::clone(&stop));
        let thread = std::thread::spawn(move || serve(node, &of_thread, &until, on_call));
        Ok(Self { state, stop, thread: Some(thread) })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    /// Who is there.
    #[must_use]
    pub fn people(&self) -> BTreeMap<String, Resident> {
        self.state().people.clone()
    }

    /// Names of who is there, in order.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        self.state().people.keys().cloned().collect()
    }

    /// Takes the calls so far.
    #[must_use]
    pub fn take_calls(&self) -> Vec<Call> {
        std::mem::take(&mut self.state().calls)
    }

    /// How many calls of a kind arrived since the last [`Simulator::take_calls`].
    #[must_use]
    pub fn called(&self, verb: Verb) -> usize {
        self.state().calls.iter().filter(|call| call.verb == verb).count()
    }

    /// Acts on calls of a kind from now on, but keeps the answers until [`Simulator::release`].
    pub fn hold(&self, verb: Verb) {
        self.state().held.insert(verb);
    }

    /// Sends what was held and holds no more.
    pub fn release(&self) {
        self.state().held.clear();
    }

    /// Answers `code` whenever `name` is meant, and does nothing for it.
    pub fn fail(&self, name: &str, code: u8) {
        self.state().failing.insert(name.to_owned(), code);
    }

    /// Fails for nobody any more.
    pub fn mend(&self) {
        self.state().failing.clear();
    }

    /// Loses everybody, as a simulator that was reset by somebody else.
    pub fn forget_everybody(&self) {
        self.state().people.clear();
    }

    /// Serves until the process is killed.
    ///
    /// # Errors
    /// What ROS refused.
    pub fn join(mut self) -> Result<()> {
        match self.thread.take().map(JoinHandle::join) {
            Some(Ok(result)) => result,
            _ => Err(anyhow!("the simulator panicked")),
        }
    }
}

impl Drop for Simulator {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(Ok(Err(error))) = self.thread.take().map(JoinHandle::join) {
            println!("simulator: {error}");
        }
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

/// An answer that waits to be sent.
type Answer = Box<dyn FnOnce() -> r2r::Result<()>>;

fn serve(
    mut node: r2r::Node,
    state: &Mutex<State>,
    until: &AtomicBool,
    mut on_call: impl FnMut(&Call),
) -> Result<()> {
    let qos = QosProfile::services_default;
    let mut spawns = node.create_service::<SpawnPedestrians::Service>("spawn_pedestrians", qos())?;
    let mut moves = node.create_service::<MovePedestrians::Service>("move_pedestrians", qos())?;
    let mut updates = node.create_service::<UpdatePedestrians::Service>("update_pedestrians", qos())?;
    let mut deletes = node.create_service::<DeletePedestrians::Service>("delete_pedestrians", qos())?;
    let mut answers: Vec<(Verb, Answer)> = Vec::new();
    let mut take = |state: &mut State, call: Call| {
        on_call(&call);
        state.calls.push(call);
    };
    while !until.load(Ordering::Relaxed) {
        node.spin_once(TURN);
        let mut state = lock(state);
        while let Some(Some(request)) = spawns.next().now_or_never() {
            let people: Vec<_> = request.message.pedestrians.iter().map(|p| &p.pedestrian).collect();
            let results = request.message.pedestrians.iter().map(|p| state.spawn(p)).collect();
            take(&mut state, call(Verb::Spawn, &people, 0));
            answers.push((Verb::Spawn, answer(request, SpawnPedestrians::Response { results })));
        }
        while let Some(Some(request)) = moves.next().now_or_never() {
            let people: Vec<_> = request.message.pedestrians.iter().collect();
            let results = people.iter().map(|p| state.put(&p.name, wire::place(p))).collect();
            take(&mut state, call(Verb::Move, &people, 0));
            answers.push((Verb::Move, answer(request, MovePedestrians::Response { results })));
        }
        while let Some(Some(request)) = updates.next().now_or_never() {
            let people: Vec<_> = request.message.pedestrians.iter().collect();
            let results = people.iter().map(|p| state.put(&p.name, wire::place(p))).collect();
            take(&mut state, call(Verb::Update, &people, wire::nanos(&request.message.stamp)));
            answers.push((Verb::Update, answer(request, UpdatePedestrians::Response { results })));
        }
        while let Some(Some(request)) = deletes.next().now_or_never() {
            let names = request.message.names.clone();
            let results = names.iter().map(|name| state.delete(name)).collect();
            take(&mut state, Call { verb: Verb::Delete, names, places: Vec::new(), stamp: 0 });
            answers.push((Verb::Delete, answer(request, DeletePedestrians::Response { results })));
        }
        let held = state.held.clone();
        drop(state);
        let (kept, sent): (Vec<_>, Vec<_>) = answers.into_iter().partition(|(verb, _)| held.contains(verb));
        answers = kept;
        for (_, send) in sent {
            send()?;
        }
    }
    Ok(())
}

fn answer<T: WrappedServiceTypeSupport + 'static>(
    request: ServiceRequest<T>,
    response: T::Response,
) -> Answer {
    Box::new(move || request.respond(response))
}

fn call(verb: Verb, people: &[&r2r::arena_people_msgs::msg::Pedestrian], stamp: i64) -> Call {
    let names = people.iter().map(|p| p.name.clone()).collect();
    Call { verb, names, places: people.iter().map(|p| wire::place(p)).collect(), stamp }
}

impl State {
    fn spawn(&mut self, wanted: &r2r::arena_people_msgs::msg::SpawnPedestrian) -> u8 {
        let person = &wanted.pedestrian;
        if let Some(&code) = self.failing.get(&person.name) {
            return code;
        }
        if self.people.contains_key(&person.name) {
            return FAILED_CREATE;
        }
        let resident = Resident { place: wire::place(person), model_ref: wanted.model_ref.clone() };
        self.people.insert(person.name.clone(), resident);
        SUCCESS
    }

    fn put(&mut self, name: &str, place: [f64; 2]) -> u8 {
        if let Some(&code) = self.failing.get(name) {
            return code;
        }
        let Some(resident) = self.people.get_mut(name) else { return NOT_FOUND };
        resident.place = place;
        SUCCESS
    }

    fn delete(&mut self, name: &str) -> u8 {
        if self.people.remove(name).is_some() { SUCCESS } else { NOT_FOUND }
    }
}
