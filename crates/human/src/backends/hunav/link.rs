//! The way to a HuNav engine: what the hunav backend asks of it (HuNav specification, sections 3 and 8).
//!
//! A link carries and never decides. It must answer every call within a bounded time, whether somebody is at the other end or not.

use promenade_hunav::{Agent, Options, Request};

use crate::entity::Wall;

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LinkError {
    /// Nobody answered in time. It may have been done or not.
    #[error("the engine does not answer")]
    Silent,
    /// It answered no; its reason.
    #[error("{0}")]
    Refused(String),
}

/// A way to an engine.
pub trait HunavLink {
    /// Lets the engine move everybody to the stamp of the request. `answer` is cleared and gets the agents of the answer, in whatever order
    /// the engine has and with whatever fields it fills.
    ///
    /// # Errors
    /// What the engine says, or its silence; `answer` then means nothing.
    fn compute(&mut self, request: &Request<'_>, answer: &mut Vec<Agent>) -> Result<(), LinkError>;

    /// Lets the engine forget everybody, so that the next request is a first one.
    ///
    /// # Errors
    /// See [`HunavLink::compute`].
    fn clear(&mut self) -> Result<(), LinkError>;

    /// Whether agents may simply appear in a later request. Else the engine is cleared and gets everybody anew.
    fn adds_agents(&self) -> bool;

    /// Whether agents without a tree get the name of the library's tree for their behaviour: what an engine of HuNavSim 2 needs.
    fn names_trees(&self) -> bool {
        !self.adds_agents()
    }

    /// Takes options for the calls to come; the engine then holds nobody. False when its options are its own.
    fn set_options(&mut self, options: &Options) -> bool {
        let _ = options;
        false
    }

    /// What a simulator is told that asks who and what is there (`get_agents`, `get_walls`). Called when it changed.
    fn show(&mut self, agents: &[Agent], walls: &[(String, Wall)]) {
        let _ = (agents, walls);
    }
}
