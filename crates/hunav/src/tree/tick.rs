//! How a tree ticks: controls, decorators, memory, and what happens to a node that is interrupted.
//!
//! Recursion is as deep as the program, which the compiler bounds.

use promenade_kernel::generator::Generator;

use super::nodes::Op;
use super::program::{Port, Program, Value};
use crate::{Point, World};

/// Longest step of a node, seconds.
const LONGEST: f64 = 3600.0;
/// Sizes, speeds and factors of ports are held at this.
const LARGEST: f64 = 1e6;

/// What a node answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// It did it.
    Success,
    /// It could not.
    Failure,
    /// It goes on in the next tick.
    Running,
    /// It is not to be counted.
    Skipped,
}

impl From<bool> for Status {
    fn from(holds: bool) -> Self {
        if holds { Status::Success } else { Status::Failure }
    }
}

/// What a node remembers between ticks.
#[derive(Clone, Debug, Default)]
pub(super) struct Memory {
    pub(super) is_running: bool,
    /// It has an answer for good.
    pub(super) settled: Option<bool>,
    /// The child that goes on, or cycles that are done.
    pub(super) count: usize,
    /// Seconds since it began.
    pub(super) time: f64,
    /// Where it goes.
    pub(super) place: Point,
    /// Who goes with it, and the group of each before; the first is the main agent.
    pub(super) company: Vec<(i32, i8)>,
}

/// One tick of one tree.
pub(super) struct Run<'a> {
    pub(super) program: &'a Program,
    pub(super) memory: &'a mut [Memory],
    pub(super) board: &'a mut [Value],
    pub(super) chance: &'a mut Option<Box<Generator>>,
    pub(super) world: &'a mut World,
    pub(super) row: usize,
    pub(super) dt: f64,
}

impl Run<'_> {
    /// Tick a node.
    pub(super) fn node(&mut self, at: usize) -> Status {
        let status = match self.program.nodes[at].op {
            Op::Sequence => self.in_turn(at, Status::Success, false),
            Op::SequenceWithMemory => self.in_turn(at, Status::Success, true),
            Op::Fallback => self.in_turn(at, Status::Failure, false),
            Op::ReactiveSequence => self.reactive(at, Status::Success),
            Op::ReactiveFallback => self.reactive(at, Status::Failure),
            Op::Inverter => match self.only(at) {
                Status::Success => Status::Failure,
                Status::Failure => Status::Success,
                other => other,
            },
            Op::ForceSuccess => self.forced(at, Status::Success),
            Op::ForceFailure => self.forced(at, Status::Failure),
            Op::Repeat => self.cycles(at, Status::Success),
            Op::Retry => self.cycles(at, Status::Failure),
            Op::KeepRunningUntilFailure => match self.only(at) {
                Status::Success => Status::Running,
                other => other,
            },
            Op::RunOnce => self.run_once(at),
            Op::Timeout => self.timeout(at),
            Op::Delay => self.delayed(at, 1e-3),
            Op::TimeDelay => self.delayed(at, 1.0),
            Op::AlwaysSuccess => Status::Success,
            Op::AlwaysFailure => Status::Failure,
            Op::SetBlackboard => self.set_blackboard(at),
            op => match self.condition(at, op) {
                Some(status) => status,
                None => self.action(at, op),
            },
        };
        let has_begun = self.memory[at].is_running || !self.memory[at].company.is_empty();
        if status != Status::Running && has_begun {
            self.end(at);
        }
        self.memory[at].is_running = status == Status::Running;
        status
    }

    fn child(&self, at: usize, nth: usize) -> usize {
        self.program.children[self.program.nodes[at].children + nth] as usize
    }

    /// Tick the one child of a decorator.
    fn only(&mut self, at: usize) -> Status {
        let child = self.child(at, 0);
        self.node(child)
    }

    /// One child after the other while they answer `goes_on`; a child that runs is gone on with. With memory, so is one that broke the row.
    fn in_turn(&mut self, at: usize, goes_on: Status, remembers: bool) -> Status {
        let mut answer = Status::Skipped;
        for nth in self.memory[at].count..self.program.nodes[at].count {
            let child = self.child(at, nth);
            match self.node(child) {
                Status::Running => {
                    self.memory[at].count = nth;
                    return Status::Running;
                }
                Status::Skipped => {}
                status if status == goes_on => answer = status,
                status => {
                    self.memory[at].count = if remembers { nth } else { 0 };
                    return status;
                }
            }
        }
        // Children of earlier ticks had answered `goes_on`.
        let went_on = std::mem::take(&mut self.memory[at].count) > 0;
        if went_on { goes_on } else { answer }
    }

    /// All children from the first in every tick; those after one that runs are interrupted.
    fn reactive(&mut self, at: usize, goes_on: Status) -> Status {
        let count = self.program.nodes[at].count;
        let mut answer = Status::Skipped;
        for nth in 0..count {
            let child = self.child(at, nth);
            match self.node(child) {
                Status::Skipped => {}
                status if status == goes_on => answer = status,
                status => {
                    (nth + 1..count).for_each(|later| self.halt(self.child(at, later)));
                    return status;
                }
            }
        }
        answer
    }

    fn forced(&mut self, at: usize, status: Status) -> Status {
        match self.only(at) {
            Status::Success | Status::Failure => status,
            other => other,
        }
    }

    /// One cycle per tick until there were enough of them, or the child answers something else than `goes_on`.
    fn cycles(&mut self, at: usize, goes_on: Status) -> Status {
        let Some(most) = self.number(at, 0) else { return Status::Failure };
        let status = self.only(at);
        if status == Status::Running || status == Status::Skipped {
            return status;
        }
        if status != goes_on {
            self.memory[at].count = 0;
            return status;
        }
        let done = self.memory[at].count.saturating_add(1);
        // A negative number is without end.
        if most >= 0.0 && done as f64 >= most {
            self.memory[at].count = 0;
            return goes_on;
        }
        self.memory[at].count = done;
        Status::Running
    }

    fn run_once(&mut self, at: usize) -> Status {
        if let Some(first) = self.memory[at].settled {
            return if self.flag(at, 0) { Status::Skipped } else { first.into() };
        }
        let status = self.only(at);
        self.memory[at].settled = match status {
            Status::Success => Some(true),
            Status::Failure => Some(false),
            Status::Running | Status::Skipped => None,
        };
        status
    }

    fn timeout(&mut self, at: usize) -> Status {
        let Some(most) = self.number(at, 0) else { return Status::Failure };
        if self.memory[at].is_running {
            self.memory[at].time += self.dt;
            if self.memory[at].time * 1e3 >= most {
                let child = self.child(at, 0);
                self.halt(child);
                return Status::Failure;
            }
        }
        self.only(at)
    }

    /// Wait as long as the first port says, in units of `unit` seconds, then tick the child.
    fn delayed(&mut self, at: usize, unit: f64) -> Status {
        let Some(wait) = self.number(at, 0) else { return Status::Failure };
        let step = if unit < 1.0 { self.dt } else { self.step(at) };
        if self.memory[at].is_running && self.memory[at].settled.is_none() {
            self.memory[at].time += step;
        }
        if self.memory[at].time < wait * unit {
            return Status::Running;
        }
        self.memory[at].settled = Some(true);
        let status = self.only(at);
        if status != Status::Running {
            self.memory[at].settled = None;
            self.memory[at].time = 0.0;
        }
        status
    }

    fn set_blackboard(&mut self, at: usize) -> Status {
        match self.value(at, 0).clone() {
            Value::Unset => Status::Failure,
            value => {
                self.write(at, 1, value);
                Status::Success
            }
        }
    }

    /// Interrupt a node and all below it.
    fn halt(&mut self, at: usize) {
        if !self.memory[at].is_running {
            return;
        }
        for nth in 0..self.program.nodes[at].count {
            let child = self.child(at, nth);
            self.halt(child);
        }
        self.end(at);
        self.memory[at].is_running = false;
    }

    /// Forget what a node knew of the run that is over; what it has answered for good stays.
    fn end(&mut self, at: usize) {
        self.dismiss(at);
        let op = self.program.nodes[at].op;
        let memory = &mut self.memory[at];
        memory.time = 0.0;
        if op != Op::RunOnce {
            memory.settled = None;
        }
        if op != Op::SequenceWithMemory {
            memory.count = 0;
        }
    }

    /// What a port holds.
    pub(super) fn value(&self, at: usize, port: usize) -> &Value {
        match &self.program.ports[self.program.nodes[at].ports + port] {
            Port::Absent => &Value::Unset,
            Port::Value(value) => value,
            Port::Slot(slot) => &self.board[*slot],
        }
    }

    /// Write the entry that an output port names, if it names one.
    pub(super) fn write(&mut self, at: usize, port: usize, value: Value) {
        if let Port::Slot(slot) = self.program.ports[self.program.nodes[at].ports + port] {
            self.board[slot] = value;
        }
    }

    /// The finite number in a port.
    pub(super) fn number(&self, at: usize, port: usize) -> Option<f64> {
        self.value(at, port).number().filter(|number| number.is_finite())
    }

    /// The number in a port, a size, speed or factor that can be computed with.
    pub(super) fn size(&self, at: usize, port: usize) -> Option<f64> {
        self.number(at, port).map(|number| number.clamp(-LARGEST, LARGEST))
    }

    pub(super) fn flag(&self, at: usize, port: usize) -> bool {
        self.number(at, port).is_some_and(|number| number != 0.0)
    }

    /// The id in a port.
    pub(super) fn id(&self, at: usize, port: usize) -> Option<i32> {
        let number = self.number(at, port)?;
        let id = number as i32;
        (f64::from(id) == number).then_some(id)
    }

    /// The row of the agent whose id is in a port.
    pub(super) fn row_of(&self, at: usize, port: usize) -> Option<usize> {
        let id = self.id(at, port)?;
        if self.world.id(self.row) == id { Some(self.row) } else { self.world.row_of(id) }
    }

    /// Seconds that a tick lasts: the second port of all nodes that have a `time_step`, or those since the last tick.
    pub(super) fn step(&self, at: usize) -> f64 {
        self.number(at, 1).unwrap_or(self.dt).clamp(0.0, LONGEST)
    }

    /// Count the seconds since a node began, none in its first tick.
    pub(super) fn elapsed(&mut self, at: usize) -> f64 {
        let step = self.step(at);
        let memory = &mut self.memory[at];
        memory.time = if memory.is_running { memory.time + step } else { 0.0 };
        memory.time
    }
}
