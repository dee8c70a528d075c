//! What an agent has besides a body: its tree, what it says, whom it follows.
//!
//! Trees come from the world's library. An agent whose tree is wrong is never left without a word: the problem is kept for whoever asks.

use std::sync::Arc;

use promenade_scenario::Report;

use super::World;
use crate::tree::{Library, Tree};

/// Seconds for which something said is heard.
const HEARD: f64 = 5.0;
/// Characters of one utterance that are kept.
const LONGEST: usize = 1000;

/// See the module.
#[derive(Clone, Debug, Default)]
pub(super) struct Mind {
    /// None if there is nothing to tick.
    tree: Option<Tree>,
    /// What it says, and for how many seconds it is still heard.
    said: Option<(Arc<str>, f64)>,
    /// Cruise speed before it was stopped.
    stopped: Option<f64>,
    /// Id of the agent that moves this one.
    leader: Option<i32>,
}

impl World {
    /// Take trees from another library; agents that are there keep theirs.
    pub fn set_library(&mut self, library: Library) {
        self.library = library;
    }

    /// Take what was wrong with the trees of agents since this was last asked, by agent.
    ///
    /// In robust mode such an agent has the tree of its behaviour instead, in strict mode none: it stands.
    pub fn take_tree_problems(&mut self) -> Vec<(i32, Report)> {
        std::mem::take(&mut self.tree_problems)
    }

    /// Give the agent of a row a new mind.
    pub(super) fn remake_mind(&mut self, row: usize) {
        let id = self.agents[row].id;
        self.release(id);
        let agent = &self.agents[row];
        let kind = agent.behavior.kind;
        let mut found = self.library.tree(&agent.behavior_tree, kind);
        if let Err(report) = &found {
            tracing::warn!(agent = id, "its behaviour tree is wrong:\n{report}");
            self.tree_problems.retain(|(known, _)| *known != id);
            self.tree_problems.push((id, report.clone()));
            if !self.rules.strict {
                found = self.library.tree("", kind);
            }
        }
        let tree = found.ok().map(|loaded| Tree::new(loaded.value, agent));
        self.minds[row] = Mind { tree, ..Mind::default() };
    }

    /// An agent that the original knows without a tree.
    pub(super) fn unmind(&mut self, row: usize) {
        self.minds[row] = Mind::default();
    }

    /// Let those go that follow `leader`.
    pub(super) fn release(&mut self, leader: i32) {
        for mind in self.minds.iter_mut().filter(|mind| mind.leader == Some(leader)) {
            mind.leader = None;
        }
    }

    /// Tick the tree of a walker once, if it has one and nobody else moves it.
    pub(super) fn tick(&mut self, row: usize, dt: f64) {
        let mind = &mut self.minds[row];
        if let Some((_, left)) = &mut mind.said {
            *left -= dt;
            if *left <= 0.0 {
                mind.said = None;
            }
        }
        if mind.leader.is_some() {
            return;
        }
        if let Some(mut tree) = mind.tree.take() {
            tree.tick(self, row, dt);
            self.minds[row].tree = Some(tree);
        }
    }

    /// What an agent says, as long as it is heard.
    #[must_use]
    pub fn speech(&self, row: usize) -> Option<&str> {
        self.minds[row].said.as_ref().map(|(message, _)| &**message)
    }

    pub(crate) fn say(&mut self, row: usize, message: Arc<str>) {
        let message = match message.char_indices().nth(LONGEST) {
            Some((end, _)) => message[..end].into(),
            None => message,
        };
        self.minds[row].said = Some((message, HEARD));
    }

    /// Who moves an agent, if it is not its own tree.
    pub(crate) fn leader(&self, row: usize) -> Option<i32> {
        self.minds[row].leader
    }

    pub(crate) fn set_leader(&mut self, id: i32, leader: Option<i32>) {
        if let Some(row) = self.row_of(id) {
            self.minds[row].leader = leader;
        }
    }

    /// Let an agent stand until it is resumed: its cruise speed becomes 0.
    pub(crate) fn stop(&mut self, row: usize) {
        let cruise = std::mem::take(&mut self.bodies.cruise[row]);
        self.minds[row].stopped.get_or_insert(cruise);
        self.agents[row].desired_velocity = 0.0;
    }

    pub(crate) fn resume(&mut self, row: usize) {
        if let Some(cruise) = self.minds[row].stopped.take() {
            self.bodies.cruise[row] = cruise;
            self.agents[row].desired_velocity = cruise;
        }
    }
}
