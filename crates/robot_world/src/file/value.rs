//! Values of a world file: numbers within limits, flags, words, vectors, and lists that are spread over the objects of a group.

use promenade_scenario::decode::Fields;
use promenade_scenario::problem::Position;
use promenade_scenario::tree::{Node, Value};

use super::Reader;

/// Largest finite mass, friction and the like.
const MAX_PHYSICAL: f64 = 1e12;

/// What a number may be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Limit {
    /// Finite.
    Any,
    /// Finite, not negative.
    NonNegative,
    /// Finite, above zero.
    Positive,
    /// Above zero or infinite.
    PositiveOrInfinite,
    /// Not negative, may be infinite.
    NonNegativeOrInfinite,
    /// From 0 to 1.
    Share,
}

impl Limit {
    fn holds(self, x: f64) -> bool {
        match self {
            Self::Any => x.is_finite(),
            Self::NonNegative => x.is_finite() && x >= 0.0,
            Self::Positive => x.is_finite() && x > 0.0,
            Self::PositiveOrInfinite => x > 0.0,
            Self::NonNegativeOrInfinite => x >= 0.0,
            Self::Share => (0.0..=1.0).contains(&x),
        }
    }

    fn words(self) -> &'static str {
        match self {
            Self::Any => "must be a finite number",
            Self::NonNegative => "must be a finite number >= 0",
            Self::Positive => "must be a finite number > 0",
            Self::PositiveOrInfinite => "must be a number > 0 or .inf",
            Self::NonNegativeOrInfinite => "must be a number >= 0 or .inf",
            Self::Share => "must be from 0 to 1",
        }
    }
}

/// What an unknown key is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Strictness {
    /// An error, or a warning when the file is read leniently.
    Lenient,
    /// An error always.
    Strict,
    /// A warning: only drawing would look at it.
    Drawing,
}

/// Values of one key, one per object; the last repeats.
#[derive(Debug)]
pub(super) struct Column<T> {
    values: Vec<Option<T>>,
}

impl<T> Column<T> {
    /// Of a key that is not there.
    pub(super) const EMPTY: Self = Self { values: Vec::new() };

    /// One value for all.
    pub(super) fn shared(value: Option<T>) -> Self {
        Self { values: vec![value] }
    }

    /// How many objects it tells apart.
    pub(super) fn slots(&self) -> usize {
        self.values.len()
    }

    /// Which of the values is that of an object.
    pub(super) fn slot(&self, object: usize) -> usize {
        object.min(self.values.len().saturating_sub(1))
    }

    /// The value of an object; `None` when the key is not there, is null, or is wrong and was reported.
    pub(super) fn get(&self, object: usize) -> Option<&T> {
        self.values.get(self.slot(object))?.as_ref()
    }
}

/// A node with its path.
#[derive(Clone, Debug)]
pub(super) struct At<'a> {
    pub(super) node: &'a Node,
    pub(super) path: String,
}

/// `unknown kinematics "difff"; did you mean "diff"? known: ...`.
fn unknown_word(what: &str, found: &str, meant: Option<&str>, known: &[&str]) -> String {
    let hint = meant.map_or(String::new(), |meant| format!(" did you mean {meant:?}?"));
    format!("unknown {what} {:?};{hint} known: {}", shortened(found), known.join(", "))
}

/// A word of a file at a length that a message can bear.
pub(super) fn shortened(text: &str) -> String {
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Whether a node is a list of numbers: one vector.
pub(super) fn is_vector(node: &Node) -> bool {
    node.items().is_some_and(|items| !items.is_empty() && items.iter().all(|item| item.as_f64().is_some()))
}

impl<'a> Reader<'_> {
    /// Reports the keys that are not among `known`.
    pub(super) fn finish(&mut self, fields: &Fields<'_>, known: &[&str], strictness: Strictness) {
        for entry in fields.entries() {
            if known.contains(&entry.key.as_str()) {
                continue;
            }
            let free = known.iter().copied().filter(|key| !fields.has(key));
            let message = match self.d.nearest(&entry.key, free) {
                Some(meant) => format!("unknown key; did you mean {meant}?"),
                None => format!("unknown key; known: {}", known.join(", ")),
            };
            let path = fields.path_of(&entry.key);
            match strictness {
                Strictness::Strict => self.d.error(entry.at, &path, message),
                Strictness::Lenient if !self.lenient => self.d.error(entry.at, &path, message),
                _ => self.d.warning(entry.at, &path, format!("{message} It is ignored")),
            }
        }
    }

    /// Reports a word that is none of those known.
    pub(super) fn unknown(&mut self, at: Position, path: &str, what: &str, found: &str, known: &[&str]) {
        let meant = self.d.nearest(found, known.iter().copied());
        self.d.error(at, path, unknown_word(what, found, meant.as_deref(), known));
    }

    /// One word of a list, compared without case.
    pub(super) fn choice<T: Copy>(
        &mut self,
        node: &Node,
        path: &str,
        what: &str,
        choices: &[(&str, T)],
    ) -> Option<T> {
        let known: Vec<&str> = choices.iter().map(|(word, _)| *word).collect();
        let Some(text) = node.as_str() else {
            self.d.mismatch(node, path, &format!("{what}, one of {}", known.join(", ")));
            return None;
        };
        let found = choices.iter().find(|(word, _)| word.eq_ignore_ascii_case(text));
        if found.is_none() {
            self.unknown(node.at, path, what, text, &known);
        }
        found.map(|(_, value)| *value)
    }

    /// Yes or no, in every spelling that Python's YAML reader takes for one.
    pub(super) fn flag(&mut self, node: &Node, path: &str) -> Option<bool> {
        let word = node.as_str().map(str::to_lowercase);
        match (node.as_bool(), word.as_deref()) {
            (Some(value), _) => Some(value),
            (_, Some("true" | "yes" | "on")) => Some(true),
            (_, Some("false" | "no" | "off")) => Some(false),
            _ => {
                self.d.mismatch(node, path, "true or false");
                None
            }
        }
    }

    /// A number within a limit.
    pub(super) fn limited(&mut self, node: &Node, path: &str, limit: Limit) -> Option<f64> {
        let x = match node.as_f64() {
            Some(x) if x.is_infinite() && limit.holds(x) => return Some(x),
            _ => self.d.number(node, path)?,
        };
        self.within(node, path, limit, x)
    }

    /// As [`limited`](Self::limited), also as text: `'inf'`, `'0.5'`.
    pub(super) fn physical(&mut self, node: &Node, path: &str, limit: Limit) -> Option<f64> {
        let text = node.as_str().map(|text| text.trim().trim_start_matches('.').parse::<f64>());
        match (node.as_f64(), text) {
            (Some(x), _) | (_, Some(Ok(x))) => self.within(node, path, limit, x),
            _ => {
                self.d.error(node.at, path, format!("{}, found {}", limit.words(), node.describe()));
                None
            }
        }
    }

    /// A finite number must leave room for products.
    fn within(&mut self, node: &Node, path: &str, limit: Limit, x: f64) -> Option<f64> {
        if limit.holds(x) && (x.is_infinite() || x.abs() <= MAX_PHYSICAL) {
            return Some(x);
        }
        let most = if limit.holds(x) { format!(" and at most {MAX_PHYSICAL:e}") } else { String::new() };
        self.d.error(node.at, path, format!("{}{most}, got {x:?}", limit.words()));
        None
    }

    /// A number of `least` to `most`, whole.
    pub(super) fn count(&mut self, node: &Node, path: &str, least: i64, most: i64) -> Option<i64> {
        let n = self.d.integer(node, path)?;
        if (least..=most).contains(&n) {
            return Some(n);
        }
        self.d.error(node.at, path, format!("must be from {least} to {most}, got {n}"));
        None
    }

    /// Text of at most [`MAX_TEXT`](super::MAX_TEXT) characters.
    pub(super) fn text(&mut self, node: &Node, path: &str) -> Option<String> {
        let text = self.d.text(node, path)?;
        self.is_short(node, path, &text).then_some(text)
    }

    /// A name of at most [`MAX_TEXT`](super::MAX_TEXT) characters.
    pub(super) fn name(&mut self, node: &Node, path: &str) -> Option<String> {
        let name = self.d.name(node, path)?;
        self.is_short(node, path, &name).then_some(name)
    }

    fn is_short(&mut self, node: &Node, path: &str, text: &str) -> bool {
        let length = text.chars().count();
        if length > super::MAX_TEXT {
            let message = format!("has {length} characters, at most {} are accepted", super::MAX_TEXT);
            self.d.error(node.at, path, message);
        }
        length <= super::MAX_TEXT
    }

    /// Numbers, any number of them.
    pub(super) fn numbers(&mut self, node: &Node, path: &str, limit: Limit) -> Option<Vec<f64>> {
        let Some(items) = node.items() else {
            self.d.mismatch(node, path, "a list of numbers");
            return None;
        };
        let read: Vec<Option<f64>> = items
            .iter()
            .enumerate()
            .map(|(i, item)| self.limited(item, &format!("{path}[{i}]"), limit))
            .collect();
        read.into_iter().collect()
    }

    /// Exactly `N` numbers.
    pub(super) fn array<const N: usize>(
        &mut self,
        node: &Node,
        path: &str,
        limit: Limit,
    ) -> Option<[f64; N]> {
        if node.items().is_some_and(|items| items.len() != N) {
            self.d.mismatch(node, path, &format!("a list of {N} numbers"));
            return None;
        }
        self.numbers(node, path, limit)?.try_into().ok()
    }

    /// Two numbers, the first not above the second.
    pub(super) fn range(&mut self, node: &Node, path: &str, limit: Limit) -> Option<[f64; 2]> {
        let [low, high] = self.array(node, path, limit)?;
        if low > high {
            self.d.error(
                node.at,
                path,
                format!("goes from {low:?} down to {high:?}; write the lower number first"),
            );
            return None;
        }
        Some([low, high])
    }

    /// A key's value as `read` takes it.
    pub(super) fn value<T>(
        &mut self,
        fields: &Fields<'a>,
        key: &str,
        read: impl FnOnce(&mut Self, &'a Node, &str) -> Option<T>,
    ) -> Option<T> {
        read(self, fields.get(key)?, &fields.path_of(key))
    }

    /// A key's number within a limit, else a default.
    pub(super) fn number_or(&mut self, fields: &Fields<'a>, key: &str, limit: Limit, default: f64) -> f64 {
        self.value(fields, key, |r, node, path| r.limited(node, path, limit)).unwrap_or(default)
    }

    /// A key's flag, else a default.
    pub(super) fn flag_or(&mut self, fields: &Fields<'a>, key: &str, default: bool) -> bool {
        self.value(fields, key, Self::flag).unwrap_or(default)
    }

    /// A key's value for each of `count` objects (section 3.1): a list of numbers is one vector for all, unless `each`; any other list has one
    /// entry per object.
    pub(super) fn column<T>(
        &mut self,
        fields: &Fields<'a>,
        key: &str,
        count: usize,
        each: bool,
        mut read: impl FnMut(&mut Self, &'a Node, &str) -> Option<T>,
    ) -> Column<T> {
        let Some(node) = fields.get(key) else { return Column::EMPTY };
        let path = fields.path_of(key);
        let items = node.items().filter(|items| !items.is_empty() && (each || !is_vector(node)));
        let Some(items) = items else { return Column::shared(read(self, node, &path)) };
        let used = items.iter().take(count.max(1)).enumerate();
        let values = used
            .map(|(i, item)| match item.value {
                Value::Null => None,
                _ => read(self, item, &format!("{path}[{i}]")),
            })
            .collect();
        Column { values }
    }
}
