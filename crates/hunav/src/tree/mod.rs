//! Behaviour trees: what an agent does in a tick, as XML files say it (HuNav specification, section 5).
//!
//! A [`Library`] finds files and compiles them to flat [`Program`]s; a [`Tree`] is one agent's run of a program with its memory and its
//! blackboard. All that can be wrong with a file is told when it is compiled, with file, line, column and the nearest known word; ticking
//! cannot fail. A tick visits no node twice, so its cost is bounded by the length of the program. Nothing here integrates motion or computes a
//! force: leaves call the primitives of [`World`].

mod actions;
mod company;
mod compile;
mod conditions;
mod document;
mod library;
mod nodes;
mod program;
mod tick;

use std::sync::Arc;

use promenade_kernel::generator::Generator;

pub use library::Library;
pub use nodes::{Absent, NODES, NodeKind, NodeSpec, PortSpec, PortType};
pub use program::Program;
pub use tick::Status;

use program::Value;
use tick::{Memory, Run};

use crate::{Agent, World};

/// One agent's run of a program.
#[derive(Clone, Debug)]
pub struct Tree {
    program: Arc<Program>,
    memory: Vec<Memory>,
    board: Vec<Value>,
    /// Made for the first chance that is drawn.
    chance: Option<Box<Generator>>,
}

impl Tree {
    /// The tree of an agent before its first tick.
    #[must_use]
    pub fn new(program: Arc<Program>, agent: &Agent) -> Self {
        let mut board: Vec<Value> = program.slots.iter().map(|slot| slot.value.clone()).collect();
        let behavior = &agent.behavior;
        board[0] = Value::Number(f64::from(agent.id));
        board[1] = Value::Number(0.0);
        if program.provides {
            let values = [
                behavior.duration,
                f64::from(u8::from(behavior.once)),
                behavior.dist,
                behavior.vel,
                behavior.other_force_factor,
                behavior.dist,
                behavior.dist,
            ];
            for (slot, value) in program::BEHAVIOR_ENTRIES.zip(values) {
                board[slot] = Value::Number(value);
            }
        }
        let memory = vec![Memory::default(); program.nodes.len()];
        Tree { program, memory, board, chance: None }
    }

    /// Tick it once for the agent in `row`, which is the one that it was made for, `dt` seconds after the last tick.
    pub fn tick(&mut self, world: &mut World, row: usize, dt: f64) -> Status {
        self.board[1] = Value::Number(dt);
        let Tree { program, memory, board, chance } = self;
        let root = program.root as usize;
        Run { program, memory, board, chance, world, row, dt }.node(root)
    }
}

#[cfg(test)]
mod tests;
