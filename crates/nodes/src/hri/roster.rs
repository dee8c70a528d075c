//! Who has a body: ids, and what appears and vanishes from one message to the next.
//!
//! The roster is exact: a person who is not in a message has no body after it. This module must never publish.

use std::collections::BTreeSet;

use arena_people_msgs::msg::rmw::{Pedestrian, Pedestrians};
use promenade_kernel::stable_int;
use rosidl_runtime_rs::String as WireString;

use super::settings::IdStyle;

/// Bodies that may appear in one message. Each costs a handful of publishers and about a millisecond; the rest follow
/// in the next messages, so that a crowd does not stop the node for a second.
pub(crate) const APPEAR_PER_MESSAGE: usize = 64;

/// Names bodies.
#[derive(Debug, Clone)]
pub(crate) struct Namer {
    tag: String,
    style: IdStyle,
}

impl Namer {
    /// A namer for the node's namespace; its last segment is the tag of the environment.
    pub(crate) fn new(namespace: &str, style: IdStyle) -> Self {
        let segment = namespace.rsplit('/').find(|segment| !segment.is_empty()).unwrap_or("env");
        let mut tag: String =
            segment.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
        if !tag.starts_with(|c: char| c.is_ascii_alphabetic()) {
            tag.insert_str(0, "env");
        }
        Namer { tag, style }
    }

    fn name(&self, n: u32, taken: &BTreeSet<String>) -> String {
        match self.style {
            IdStyle::Arena => format!("{}_agent_{n}", self.tag),
            IdStyle::Short5 => {
                let mut attempt = 0_u32;
                loop {
                    let hash = stable_int(format!("{}/{n}/{attempt}", self.tag));
                    let letter = char::from(b'a' + (hash >> 16) as u8 % 26);
                    let id = format!("{letter}{:04x}", hash & 0xffff);
                    if !taken.contains(&id) {
                        return id;
                    }
                    // 1.7 million ids exist, and a roster of that size cannot be published.
                    attempt = attempt.wrapping_add(1);
                }
            }
        }
    }
}

/// A body of the roster.
#[derive(Debug)]
pub(crate) struct Entry<B> {
    /// `Pedestrian.id`.
    pub(crate) n: u32,
    /// Id of body, person and face.
    pub(crate) id: String,
    /// Position in the message of this pass.
    pub(crate) at: usize,
    /// Whether it appeared in this pass.
    pub(crate) is_new: bool,
    model: WireString,
    /// What the node keeps per body.
    pub(crate) body: Box<B>,
}

/// The bodies in ascending order of `n`.
#[derive(Debug)]
pub(crate) struct Roster<B> {
    namer: Namer,
    max_bodies: usize,
    refused: usize,
    entries: Vec<Entry<B>>,
    gone: Vec<Entry<B>>,
    order: Vec<(u32, usize)>,
}

/// A position that a body can have. Later ones that are not finite leave the body where it was.
pub(crate) fn has_position(pedestrian: &Pedestrian) -> bool {
    let p = &pedestrian.pose.position;
    p.x.is_finite() && p.y.is_finite() && p.z.is_finite()
}

impl<B> Roster<B> {
    pub(crate) fn new(namer: Namer, max_bodies: usize) -> Self {
        Roster { namer, max_bodies, refused: 0, entries: Vec::new(), gone: Vec::new(), order: Vec::new() }
    }

    /// The bodies.
    pub(crate) fn entries(&self) -> &[Entry<B>] {
        &self.entries
    }

    /// The bodies, to work with.
    pub(crate) fn entries_mut(&mut self) -> &mut [Entry<B>] {
        &mut self.entries
    }

    /// The bodies that vanished in the last pass.
    pub(crate) fn gone(&self) -> &[Entry<B>] {
        &self.gone
    }

    /// Brings the roster to a message. The first entry of a number counts. A body whose model changed vanishes now and
    /// appears with the next message, because viewers read a description once. Answers whether anything changed.
    pub(crate) fn reconcile(
        &mut self,
        message: &Pedestrians,
        mut make: impl FnMut(&str, &Pedestrian) -> B,
    ) -> bool {
        let people = &message.pedestrians;
        self.gone.clear();
        self.order.clear();
        self.order.extend(people.iter().enumerate().map(|(at, pedestrian)| (pedestrian.id, at)));
        self.order.sort_unstable();
        self.order.dedup_by_key(|(n, _)| *n);
        self.limit();

        let same = self.entries.len() == self.order.len()
            && self
                .entries
                .iter()
                .zip(&self.order)
                .all(|(entry, (n, at))| entry.n == *n && entry.model == people[*at].model_uri);
        if same {
            for (entry, (_, at)) in self.entries.iter_mut().zip(&self.order) {
                entry.at = *at;
                entry.is_new = false;
            }
            return false;
        }

        let mut newcomers = Vec::new();
        let mut old = std::mem::take(&mut self.entries).into_iter().peekable();
        for &(n, at) in &self.order {
            while let Some(entry) = old.next_if(|entry| entry.n < n) {
                self.gone.push(entry);
            }
            match old.next_if(|entry| entry.n == n) {
                Some(mut entry) if entry.model == people[at].model_uri => {
                    entry.at = at;
                    entry.is_new = false;
                    self.entries.push(entry);
                }
                Some(entry) => self.gone.push(entry),
                None if newcomers.len() < APPEAR_PER_MESSAGE && has_position(&people[at]) => {
                    newcomers.push((n, at));
                }
                None => {}
            }
        }
        self.gone.extend(old);

        let mut taken: BTreeSet<String> = match self.namer.style {
            IdStyle::Arena => BTreeSet::new(),
            // Also those that vanish now: their topics are still there while the new ones are made.
            IdStyle::Short5 => self.entries.iter().chain(&self.gone).map(|entry| entry.id.clone()).collect(),
        };
        let changed = !newcomers.is_empty() || !self.gone.is_empty();
        for (n, at) in newcomers {
            let id = self.namer.name(n, &taken);
            let model = people[at].model_uri.clone();
            let body = Box::new(make(&id, &people[at]));
            if self.namer.style == IdStyle::Short5 {
                taken.insert(id.clone());
            }
            self.entries.push(Entry { n, id, at, is_new: true, model, body });
        }
        self.entries.sort_unstable_by_key(|entry| entry.n);
        changed
    }

    /// Keeps the lowest numbers of a message that has too many.
    fn limit(&mut self) {
        let refused = match self.max_bodies {
            0 => 0,
            most => self.order.len().saturating_sub(most),
        };
        if refused > 0 {
            self.order.truncate(self.max_bodies);
        }
        if refused != self.refused {
            if refused > 0 {
                tracing::warn!("{refused} people have no body: max_bodies is {}", self.max_bodies);
            }
            self.refused = refused;
        }
    }
}

#[cfg(test)]
mod tests {
    use rosidl_runtime_rs::Sequence;

    use super::*;

    fn message(people: &[(u32, &str)]) -> Pedestrians {
        let pedestrians: Vec<Pedestrian> = people
            .iter()
            .map(|(n, model)| Pedestrian { id: *n, model_uri: (*model).into(), ..Pedestrian::default() })
            .collect();
        Pedestrians { pedestrians: Sequence::from(pedestrians), ..Pedestrians::default() }
    }

    fn roster(style: IdStyle, most: usize) -> Roster<()> {
        Roster::new(Namer::new("/arena/env_0", style), most)
    }

    fn step(roster: &mut Roster<()>, people: &[(u32, &str)]) -> (Vec<u32>, Vec<u32>, Vec<u32>) {
        roster.reconcile(&message(people), |_, _| ());
        (
            roster.entries().iter().filter(|entry| entry.is_new).map(|entry| entry.n).collect(),
            roster.gone().iter().map(|entry| entry.n).collect(),
            roster.entries().iter().map(|entry| entry.n).collect(),
        )
    }

    #[test]
    fn ids_are_the_tag_and_the_number_in_characters_a_topic_may_have() {
        let none = BTreeSet::new();
        for (namespace, id) in [
            ("/arena/env_0", "env_0_agent_7"),
            ("/", "env_agent_7"),
            ("", "env_agent_7"),
            ("/a/b-c", "b_c_agent_7"),
            ("/_x", "env_x_agent_7"),
        ] {
            assert_eq!(Namer::new(namespace, IdStyle::Arena).name(7, &none), id);
        }
    }

    #[test]
    fn short_ids_are_a_letter_and_four_digits_and_never_collide() {
        let mut roster = roster(IdStyle::Short5, 0);
        let people: Vec<(u32, &str)> = (0..3000).map(|n| (n, "")).collect();
        let message = message(&people);
        for _ in 0..3000_usize.div_ceil(APPEAR_PER_MESSAGE) {
            roster.reconcile(&message, |_, _| ());
        }
        let ids: BTreeSet<&str> = roster.entries().iter().map(|entry| entry.id.as_str()).collect();
        assert_eq!(ids.len(), 3000);
        for id in ids {
            assert!(id.len() == 5 && id.as_bytes()[0].is_ascii_lowercase(), "{id}");
            assert!(id[1..].bytes().all(|b| b.is_ascii_hexdigit()), "{id}");
        }
        let namer = Namer::new("/env_0", IdStyle::Short5);
        let first = namer.name(1, &BTreeSet::new());
        let second = namer.name(1, &BTreeSet::from([first.clone()]));
        assert_ne!(first, second);
    }

    #[test]
    fn people_appear_vanish_and_come_back_as_new_bodies() {
        let mut roster = roster(IdStyle::Arena, 0);
        assert_eq!(step(&mut roster, &[(5, ""), (2, "")]), (vec![2, 5], vec![], vec![2, 5]));
        assert_eq!(step(&mut roster, &[(5, ""), (2, ""), (3, "")]), (vec![3], vec![], vec![2, 3, 5]));
        assert_eq!(roster.entries()[0].at, 1);
        assert_eq!(step(&mut roster, &[(3, "")]), (vec![], vec![2, 5], vec![3]));
        assert_eq!(step(&mut roster, &[]), (vec![], vec![3], vec![]));
        assert_eq!(step(&mut roster, &[(3, "")]), (vec![3], vec![], vec![3]));
        assert_eq!(step(&mut roster, &[(3, "")]), (vec![], vec![], vec![3]));
    }

    #[test]
    fn another_model_retires_the_body_for_one_message() {
        let mut roster = roster(IdStyle::Arena, 0);
        step(&mut roster, &[(1, "a"), (2, "a")]);
        assert_eq!(step(&mut roster, &[(1, "b"), (2, "a")]), (vec![], vec![1], vec![2]));
        assert_eq!(step(&mut roster, &[(1, "b"), (2, "a")]), (vec![1], vec![], vec![1, 2]));
    }

    #[test]
    fn the_lowest_numbers_win_and_twins_count_once() {
        let mut roster = roster(IdStyle::Arena, 2);
        assert_eq!(
            step(&mut roster, &[(9, ""), (4, ""), (4, ""), (7, "")]),
            (vec![4, 7], vec![], vec![4, 7])
        );
        assert_eq!(step(&mut roster, &[(9, ""), (4, ""), (1, "")]), (vec![1], vec![7], vec![1, 4]));
    }

    #[test]
    fn a_crowd_appears_over_several_messages() {
        let mut roster = roster(IdStyle::Arena, 0);
        let people: Vec<(u32, &str)> = (0..100).map(|n| (n, "")).collect();
        assert_eq!(step(&mut roster, &people).2.len(), APPEAR_PER_MESSAGE);
        assert_eq!(step(&mut roster, &people).2.len(), 100);
    }

    #[test]
    fn nobody_appears_without_a_position() {
        let mut roster = roster(IdStyle::Arena, 0);
        let mut lost = message(&[(1, "")]);
        lost.pedestrians[0].pose.position.x = f64::NAN;
        assert!(!roster.reconcile(&lost, |_, _| ()));
        assert_eq!(step(&mut roster, &[(1, "")]).0, [1]);
        assert!(!roster.reconcile(&lost, |_, _| ()));
        assert_eq!(roster.entries().len(), 1);
    }
}
