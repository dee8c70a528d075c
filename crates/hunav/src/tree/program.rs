//! A compiled tree: nodes in one list, their ports literals or slots of one blackboard.
//!
//! A program is shared by all agents that have the tree; what differs between agents is in a [`super::Tree`].

use std::sync::Arc;

use super::nodes::Op;

/// Entries of the blackboard of a root tree, in the order of their slots (HuNav specification, section 5.1).
pub(super) const ROOT_ENTRIES: [&str; 9] =
    ["id", "dt", "duration", "once", "dist", "maxvel", "forcefactor", "stopdist", "frontdist"];
/// The entries that come from the behaviour of an agent.
pub(super) const BEHAVIOR_ENTRIES: std::ops::Range<usize> = 2..ROOT_ENTRIES.len();

/// What an entry or a port holds.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) enum Value {
    /// Nothing yet.
    #[default]
    Unset,
    Number(f64),
    /// Text, and the number that it is.
    Text(Arc<str>, Option<f64>),
}

impl Value {
    pub(super) fn text(text: &str) -> Self {
        let number = match text.trim() {
            "true" | "True" | "TRUE" => Some(1.0),
            "false" | "False" | "FALSE" => Some(0.0),
            text => text.parse().ok().filter(|number: &f64| number.is_finite()),
        };
        Value::Text(text.into(), number)
    }

    pub(super) fn number(&self) -> Option<f64> {
        match self {
            Value::Unset => None,
            Value::Number(number) => Some(*number),
            Value::Text(_, number) => *number,
        }
    }
}

/// The ids of a list; none for a piece that is no id.
pub(super) fn ids(text: &str) -> impl Iterator<Item = Option<i32>> + '_ {
    let is_between = |c: char| matches!(c, ',' | ';') || c.is_whitespace();
    text.split(is_between).filter(|piece| !piece.is_empty()).map(|piece| piece.parse().ok())
}

/// Where a node finds the value of a port.
#[derive(Clone, Debug)]
pub(super) enum Port {
    Absent,
    Value(Value),
    Slot(usize),
}

/// One node.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    pub(super) op: Op,
    /// The first of its ports.
    pub(super) ports: usize,
    /// The first of its children, and how many there are.
    pub(super) children: usize,
    pub(super) count: usize,
}

/// One entry of the blackboard.
#[derive(Clone, Debug, Default)]
pub(super) struct Slot {
    /// What it holds before the first tick.
    pub(super) value: Value,
    /// Whether anybody sets it.
    pub(super) is_set: bool,
}

/// See the module.
#[derive(Debug)]
pub struct Program {
    pub(super) nodes: Vec<Node>,
    pub(super) ports: Vec<Port>,
    pub(super) children: Vec<u32>,
    pub(super) slots: Vec<Slot>,
    pub(super) root: u32,
    /// Whether the entries of a behaviour are there.
    pub(super) provides: bool,
}

impl Program {
    pub(super) fn new(provides: bool) -> Self {
        let slot = |slot| Slot { value: Value::Unset, is_set: provides || !BEHAVIOR_ENTRIES.contains(&slot) };
        Program {
            nodes: Vec::new(),
            ports: Vec::new(),
            children: Vec::new(),
            slots: (0..ROOT_ENTRIES.len()).map(slot).collect(),
            root: 0,
            provides,
        }
    }

    /// How many nodes it has, sub-trees put in place.
    #[must_use]
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether it has no node, which no program that was compiled is.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }
}
