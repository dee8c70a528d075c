//! The HuNav engine within the process.

use promenade_hunav::{Agent, Compat, Manager, Options, Request};

use super::link::{HunavLink, LinkError};

/// See the module.
#[derive(Debug)]
pub struct InProcess {
    manager: Manager,
    options: Options,
}

impl InProcess {
    /// An engine with these options.
    #[must_use]
    pub fn new(options: Options) -> Self {
        InProcess { manager: Manager::new(options), options }
    }
}

impl HunavLink for InProcess {
    fn compute(&mut self, request: &Request<'_>, answer: &mut Vec<Agent>) -> Result<(), LinkError> {
        self.manager.compute_agents(request, answer);
        Ok(())
    }

    fn clear(&mut self) -> Result<(), LinkError> {
        self.manager.clear_agents();
        Ok(())
    }

    fn adds_agents(&self) -> bool {
        self.options.compat == Compat::Robust
    }

    fn names_trees(&self) -> bool {
        false
    }

    fn set_options(&mut self, options: &Options) -> bool {
        *self = InProcess::new(*options);
        true
    }
}
