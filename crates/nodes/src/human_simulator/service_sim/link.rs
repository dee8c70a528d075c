//! The conversation with the simulator: who may speak when, how long to wait, and what silence means.
//!
//! Lifecycle calls run one at a time on the thread of the world and wait for their answer; updates never wait: one is in
//! flight, the newest one waits and goes out with the answer to the one before. Answers arrive on another thread. Nothing
//! here knows ROS; the wall clock serves time-outs only.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use arena_people_msgs::msg::rmw::Pedestrian as WirePedestrian;
use arena_people_msgs::srv::rmw::{
    DeletePedestriansRequest, MovePedestriansRequest, SpawnPedestriansRequest, UpdatePedestriansRequest,
};
use promenade_human::message::Pedestrian;
use promenade_kernel::Time;
use rosidl_runtime_rs::Sequence;

use super::roster::{Census, Held, Roster, code};
use crate::bus::{pose_to_wire, read_string, resize, set_string, time_to_wire, write_person};

/// How often a waiting thread looks whether services came or went.
const GLANCE: Duration = Duration::from_millis(10);

/// Without any update for this long the simulator is asked whether it still knows somebody: one that died and started again
/// between two looks at the graph has lost everybody. Also how long the answer may take: an endpoint that was just discovered
/// may lose a call.
const HEARTBEAT: Duration = Duration::from_secs(1);

/// Pauses between vain attempts double at most this often.
const LONGEST_PAUSE: u32 = 5;

/// The four services.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Service {
    Spawn,
    Move,
    Update,
    Delete,
}

impl Service {
    pub(super) const ALL: [Service; 4] = [Service::Spawn, Service::Move, Service::Update, Service::Delete];

    pub(super) fn name(self) -> &'static str {
        match self {
            Service::Spawn => "spawn_pedestrians",
            Service::Move => "move_pedestrians",
            Service::Update => "update_pedestrians",
            Service::Delete => "delete_pedestrians",
        }
    }
}

/// A request to one of them.
#[derive(Clone, Copy, Debug)]
pub(super) enum Request<'a> {
    Spawn(&'a SpawnPedestriansRequest),
    Move(&'a MovePedestriansRequest),
    Update(&'a UpdatePedestriansRequest),
    Delete(&'a DeletePedestriansRequest),
}

impl Request<'_> {
    fn service(&self) -> Service {
        match self {
            Request::Spawn(_) => Service::Spawn,
            Request::Move(_) => Service::Move,
            Request::Update(_) => Service::Update,
            Request::Delete(_) => Service::Delete,
        }
    }
}

/// Takes the results of an answer. Must not be called before `send` has returned, on its thread.
pub(super) type OnAnswer = Box<dyn FnOnce(&[u8]) + Send>;

/// The way to the services.
pub(super) trait Services: Send + Sync {
    /// Where they are, for messages.
    fn place(&self) -> String;
    /// Whether somebody serves it.
    fn is_ready(&self, service: Service) -> bool;
    /// Sends a request; the answer comes later or never.
    fn send(&self, request: Request<'_>, on_answer: OnAnswer) -> Result<(), String>;
}

/// Why a lifecycle call has no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NoAnswer {
    /// Nothing was sent.
    NotSent,
    /// The simulator may have acted or not; the number of the call.
    Unknown(u64),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Presence {
    /// Nobody looked yet: discovery gets its time.
    Unknown,
    Here,
    Gone,
}

/// A call that was sent and not answered.
#[derive(Clone, Copy, Debug)]
struct Flight {
    number: u64,
    until: Instant,
    /// Asks only whether somebody is there, and may go unanswered.
    is_question: bool,
}

/// People whose creation was not answered in time.
struct Late {
    number: u64,
    people: Vec<(String, String, Held)>,
}

pub(super) struct State {
    presence: Presence,
    calls: u64,
    update: Option<Flight>,
    /// The update in flight, kept until its answer tells who is meant.
    flying: UpdatePedestriansRequest,
    waiting: UpdatePedestriansRequest,
    is_waiting: bool,
    last_update: Option<Instant>,
    /// Questions in a row without an answer: each takes the middleware some memory, so that they become rare.
    unanswered: u32,
    lifecycle: Option<u64>,
    results: Option<Vec<u8>>,
    late: Option<Late>,
    /// See [`Patience::quiet`].
    quiet_until: Option<Instant>,
    /// Updates that went unanswered or failed, for the log.
    complaints: u64,
    /// Whether the simulator answered what it was asked last.
    is_alive: bool,
    /// Whether it has to get everybody (again) once it is alive.
    owes_people: bool,
    /// Spawns in a row that were not done, and when the next one may be tried: a simulator that answers everything but a spawn
    /// must not stop the world again and again.
    failures: u32,
    retry_from: Option<Instant>,
    name: String,
    pub(super) roster: Roster,
}

/// How long to wait, wall time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Patience {
    /// For any one answer, and for services to appear at the start.
    pub(super) answer: Duration,
    /// After a time-out further lifecycle calls fail at once for this long, so that a reset waits once and not per call.
    pub(super) quiet: Duration,
}

struct Shared {
    services: Box<dyn Services>,
    patience: Patience,
    stop: Arc<AtomicBool>,
    state: Mutex<State>,
    changed: Condvar,
}

/// See the module.
pub(super) struct Link {
    shared: Arc<Shared>,
}

impl Link {
    /// A link that waits for nothing once `stop` is set.
    pub(super) fn new(services: Box<dyn Services>, patience: Patience, stop: Arc<AtomicBool>) -> Self {
        let state = State {
            presence: Presence::Unknown,
            calls: 0,
            update: None,
            flying: UpdatePedestriansRequest::default(),
            waiting: UpdatePedestriansRequest::default(),
            is_waiting: false,
            last_update: None,
            unanswered: 0,
            lifecycle: None,
            results: None,
            late: None,
            quiet_until: None,
            complaints: 0,
            is_alive: true,
            owes_people: false,
            failures: 0,
            retry_from: None,
            name: String::new(),
            roster: Roster::default(),
        };
        let (state, changed) = (Mutex::new(state), Condvar::new());
        Link { shared: Arc::new(Shared { services, patience, stop, state, changed }) }
    }

    /// What the simulator is believed to hold, under the lock.
    pub(super) fn with_roster<T>(&self, work: impl FnOnce(&mut Roster) -> T) -> T {
        work(&mut self.shared.lock().roster)
    }

    /// The people of a spawn that was not done: they are created once the simulator is alive. `call` is the one whose late
    /// answer may still tell that they were.
    pub(super) fn on_not_spawned(&self, call: Option<u64>, people: Vec<(String, String, Held)>) {
        let mut state = self.shared.lock();
        state.owes_people = true;
        let pauses = (1 << state.failures.min(LONGEST_PAUSE)) - 1;
        state.retry_from = Some(Instant::now() + self.shared.patience.quiet * pauses);
        state.failures = state.failures.saturating_add(1);
        state.roster.on_unsure(people.iter().map(|(_, path, _)| path.as_str()));
        state.late = call.map(|number| Late { number, people });
    }

    /// A spawn was answered.
    pub(super) fn on_spawn_answered(&self) {
        self.shared.lock().failures = 0;
    }

    /// Whether nobody serves, as far as was seen.
    pub(super) fn is_gone(&self) -> bool {
        self.shared.lock().presence == Presence::Gone
    }

    /// An answer told that the simulator lost everybody.
    pub(super) fn on_everybody_missing(&self) {
        self.shared.on_everybody_missing(&mut self.shared.lock());
    }

    /// One lifecycle call: waits out updates, sends, waits for the answer.
    pub(super) fn call(&self, request: Request<'_>) -> Result<Vec<u8>, NoAnswer> {
        let shared = &self.shared;
        let deadline = Instant::now() + shared.patience.answer;
        let mut state = shared.lock();
        if state.quiet_until.is_some_and(|until| Instant::now() < until) {
            return Err(NoAnswer::NotSent);
        }
        while let Some(missing) = shared.missing() {
            let patient = state.presence == Presence::Unknown && !shared.is_over(deadline);
            if !patient {
                shared.on_gone(&mut state, missing);
                return Err(NoAnswer::NotSent);
            }
            state = shared.wait(state);
        }
        shared.on_here(&mut state);
        // Nothing may overtake an update, else a person could be updated after its deletion.
        loop {
            shared.launch(&mut state);
            if state.update.is_none() {
                break;
            }
            if shared.is_over(deadline) {
                state.update = None;
                state.is_waiting = false;
                shared.on_silence(&mut state, Service::Update);
                return Err(NoAnswer::NotSent);
            }
            state = shared.wait(state);
        }
        let number = state.next_call();
        (state.lifecycle, state.results) = (Some(number), None);
        let to = Arc::clone(shared);
        let on_answer: OnAnswer = Box::new(move |results| to.on_lifecycle(number, results));
        if let Err(error) = shared.services.send(request, on_answer) {
            state.lifecycle = None;
            tracing::error!("{}: {error}", request.service().name());
            return Err(NoAnswer::NotSent);
        }
        loop {
            if let Some(results) = state.results.take() {
                return Ok(results);
            }
            if let Some(missing) = shared.missing() {
                state.lifecycle = None;
                shared.on_gone(&mut state, missing);
                return Err(NoAnswer::Unknown(number));
            }
            if shared.is_over(deadline) {
                state.lifecycle = None;
                shared.on_silence(&mut state, request.service());
                return Err(NoAnswer::Unknown(number));
            }
            state = shared.wait(state);
        }
    }

    /// Hands in the newest poses; never waits. One result per person: what the last answer said.
    pub(super) fn update(&self, stamp: Time, people: &[Pedestrian], results: &mut Vec<bool>) {
        if people.is_empty() {
            return;
        }
        let mut state = self.shared.lock();
        let State { roster, waiting, presence, .. } = &mut *state;
        waiting.stamp = time_to_wire(stamp);
        resize(&mut waiting.pedestrians, people.len());
        for (person, out) in people.iter().zip(waiting.pedestrians.iter_mut()) {
            write_person(person, out);
            set_string(&mut out.name, roster.path(&person.name));
            results.push(*presence != Presence::Gone && roster.updates(roster.path(&person.name)));
            roster.on_sent(&person.name, person.pose);
        }
        state.is_waiting = true;
        self.shared.launch(&mut state);
    }

    /// A look at the graph, and a question to a simulator that was not spoken to for a while. True once after it lost
    /// everything it held.
    pub(super) fn take_restarted(&self) -> bool {
        let shared = &self.shared;
        let mut state = shared.lock();
        match shared.missing() {
            None => shared.on_here(&mut state),
            Some(missing) if state.presence == Presence::Here => shared.on_gone(&mut state, missing),
            Some(_) => {}
        }
        let pause = HEARTBEAT * (1 << state.unanswered.min(LONGEST_PAUSE));
        let is_due = state.last_update.is_none_or(|last| last.elapsed() >= pause);
        if state.presence == Presence::Here && state.update.is_none() && !state.is_waiting && is_due {
            shared.ask(&mut state);
        }
        shared.launch(&mut state);
        let may_retry = state.retry_from.is_none_or(|from| Instant::now() >= from);
        let is_time = state.owes_people && state.is_alive && may_retry && state.presence == Presence::Here;
        if is_time {
            state.owes_people = false;
        }
        is_time
    }
}

impl State {
    fn next_call(&mut self) -> u64 {
        self.calls += 1;
        self.calls
    }

    fn lose_everybody(&mut self) {
        self.roster.on_lost();
        self.owes_people = true;
    }

    fn on_answered(&mut self) {
        self.quiet_until = None;
        self.is_alive = true;
        self.unanswered = 0;
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for an answer or a glance.
    fn wait<'s>(&self, state: MutexGuard<'s, State>) -> MutexGuard<'s, State> {
        self.changed.wait_timeout(state, GLANCE).unwrap_or_else(PoisonError::into_inner).0
    }

    fn is_over(&self, deadline: Instant) -> bool {
        self.stop.load(Ordering::Relaxed) || Instant::now() >= deadline
    }

    fn missing(&self) -> Option<Service> {
        Service::ALL.into_iter().find(|&service| !self.services.is_ready(service))
    }

    fn on_here(&self, state: &mut State) {
        if std::mem::replace(&mut state.presence, Presence::Here) == Presence::Gone {
            tracing::info!("{}: the simulator is there; its people are created anew", self.services.place());
            state.quiet_until = None;
            // An endpoint that was just discovered may lose a call: first it has to answer a question.
            state.is_alive = false;
            state.last_update = None;
            state.unanswered = 0;
            (state.failures, state.retry_from) = (0, None);
            state.lose_everybody();
        }
    }

    fn on_gone(&self, state: &mut State, missing: Service) {
        // An answer that is still on its way would be about people who are not there any more.
        state.update = None;
        state.is_waiting = false;
        if std::mem::replace(&mut state.presence, Presence::Gone) == Presence::Gone
            || self.stop.load(Ordering::Relaxed)
        {
            return;
        }
        state.roster.on_lost();
        tracing::warn!(
            "{}: no service {}. Start a simulator that serves spawn_pedestrians, move_pedestrians, update_pedestrians and \
             delete_pedestrians of arena_people_msgs there, or say with parameter sim_ns where it is; people are created \
             in it as soon as it comes",
            self.services.place(),
            missing.name()
        );
    }

    fn on_everybody_missing(&self, state: &mut State) {
        tracing::warn!(
            "{}: the simulator does not know its people any more; they are created anew",
            self.services.place()
        );
        state.lose_everybody();
    }

    fn on_silence(&self, state: &mut State, service: Service) {
        state.quiet_until = Some(Instant::now() + self.patience.quiet);
        if std::mem::replace(&mut state.is_alive, false) && !self.stop.load(Ordering::Relaxed) {
            tracing::warn!(
                "{}: no answer of {} within {} s (parameter sim_timeout); going on without it",
                self.services.place(),
                service.name(),
                self.patience.answer.as_secs_f64()
            );
        }
    }

    /// Asks for somebody whom the simulator should hold, or for nobody: any answer is a sign of life.
    fn ask(self: &Arc<Self>, state: &mut State) {
        let State { roster, waiting, .. } = &mut *state;
        waiting.stamp = time_to_wire(Time::ZERO);
        // A new message: what an earlier one said about this person is not repeated.
        waiting.pedestrians = match roster.witness() {
            None => Sequence::new(0),
            Some((path, pose)) => {
                let mut person = Sequence::<WirePedestrian>::new(1);
                set_string(&mut person[0].name, path);
                person[0].pose = pose_to_wire(&pose);
                person
            }
        };
        self.send_waiting(state, true);
    }

    /// Sends the update that waits if none is in flight.
    fn launch(self: &Arc<Self>, state: &mut State) {
        if let Some(flight) = state.update
            && Instant::now() >= flight.until
        {
            state.update = None;
            if flight.is_question {
                state.unanswered = state.unanswered.saturating_add(1);
            } else {
                self.on_silence(state, Service::Update);
            }
        }
        if !state.is_waiting || state.update.is_some() {
            return;
        }
        state.is_waiting = false;
        match self.missing() {
            None => self.send_waiting(state, false),
            Some(missing) if state.presence == Presence::Here => self.on_gone(state, missing),
            Some(_) => {}
        }
    }

    fn send_waiting(self: &Arc<Self>, state: &mut State, is_question: bool) {
        let number = state.next_call();
        std::mem::swap(&mut state.flying, &mut state.waiting);
        let now = Instant::now();
        let patience = if is_question { HEARTBEAT } else { self.patience.answer };
        state.update = Some(Flight { number, until: now + patience, is_question });
        state.last_update = Some(now);
        let to = Arc::clone(self);
        let on_answer: OnAnswer = Box::new(move |results| to.on_update(number, results));
        if let Err(error) = self.services.send(Request::Update(&state.flying), on_answer) {
            state.update = None;
            tracing::error!("{}: {error}", Service::Update.name());
        }
    }

    fn on_lifecycle(&self, number: u64, results: &[u8]) {
        let mut state = self.lock();
        state.on_answered();
        if state.lifecycle == Some(number) {
            (state.lifecycle, state.results) = (None, Some(results.to_vec()));
            self.changed.notify_all();
            return;
        }
        tracing::info!(
            "{}: a late answer; a larger sim_timeout would have waited for it",
            self.services.place()
        );
        if let Some(late) = state.late.take_if(|late| late.number == number) {
            for ((name, path, held), _) in
                late.people.into_iter().zip(results).filter(|&(_, &code)| code == code::SUCCESS)
            {
                state.roster.on_spawned(&name, &path, held);
            }
        }
    }

    fn on_update(self: &Arc<Self>, number: u64, results: &[u8]) {
        let mut state = self.lock();
        state.on_answered();
        if state.update.is_none_or(|flight| flight.number != number) {
            return;
        }
        state.update = None;
        let State { flying, roster, name, .. } = &mut *state;
        let people = &flying.pedestrians;
        let all_succeeded = results.len() >= people.len()
            && results[..people.len()].iter().all(|&code| code == code::SUCCESS);
        if !all_succeeded || roster.has_failures() {
            let mut census = Census::default();
            let mut failures = 0;
            for (i, person) in people.iter().enumerate() {
                read_string(&person.name, name);
                let code = results.get(i).copied();
                census.count(roster.holds(name), code);
                failures += usize::from(roster.on_updated(name, code == Some(code::SUCCESS)));
            }
            let count = people.len();
            if census.all_are_missing() {
                self.on_everybody_missing(&mut state);
            } else if failures > 0 {
                state.complaints += 1;
                // A simulator that drops somebody in every other answer must not fill the log.
                if state.complaints.is_power_of_two() {
                    tracing::warn!(
                        "{}: update_pedestrians did not succeed for {failures} of {count} people",
                        self.services.place()
                    );
                }
            }
        }
        self.launch(&mut state);
        self.changed.notify_all();
    }
}
