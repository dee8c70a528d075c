//! The bookkeeping tables: what exists, on whose side, and for how long.
//!
//! Two facts are kept apart because they change at different times: `spawned` is what the *human engine* knows, and
//! `in_sim` is what the *physics* side holds. That is what lets physics entities be pooled across episodes and a failure
//! of either side be retried on its own (human-layer specification, section 5.1). Tables keep insertion order and must
//! never be iterated in any other.

use indexmap::IndexMap;

/// How long an entity lives. The order matters: removal at a level takes everything at or below it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum ObstacleLayer {
    /// Left over from an earlier episode; may be reclaimed.
    #[default]
    Unused = 0,
    /// Belongs to the running episode.
    InUse = 1,
    /// Belongs to the world; survives episodes.
    World = 2,
}

/// One row of a table.
#[derive(Clone, Debug)]
pub struct Known<T> {
    /// The entity.
    pub payload: T,
    /// The human engine knows it.
    pub spawned: bool,
    /// The physics side holds it.
    pub in_sim: bool,
    /// Its lifetime class.
    pub layer: ObstacleLayer,
}

/// A name-keyed table in insertion order.
#[derive(Clone, Debug)]
pub struct KnownTable<T> {
    rows: IndexMap<String, Known<T>>,
}

impl<T> Default for KnownTable<T> {
    fn default() -> Self {
        KnownTable { rows: IndexMap::new() }
    }
}

impl<T> KnownTable<T> {
    /// The row of `name`, made with `payload` and `layer` if there is none. An existing row is returned unchanged.
    pub fn create_or_get(
        &mut self,
        name: &str,
        layer: ObstacleLayer,
        payload: impl FnOnce() -> T,
    ) -> &mut Known<T> {
        if !self.rows.contains_key(name) {
            self.rows
                .insert(name.to_owned(), Known { payload: payload(), spawned: false, in_sim: false, layer });
        }
        &mut self.rows[name]
    }

    /// The row of `name`.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Known<T>> {
        self.rows.get(name)
    }

    /// The row of `name`, to change.
    pub fn get_mut(&mut self, name: &str) -> Option<&mut Known<T>> {
        self.rows.get_mut(name)
    }

    /// Whether `name` is known.
    #[must_use]
    pub fn contains(&self, name: &str) -> bool {
        self.rows.contains_key(name)
    }

    /// Removes the row of `name`; nothing happens when there is none.
    pub fn forget(&mut self, name: &str) -> Option<Known<T>> {
        self.rows.shift_remove(name)
    }

    /// Takes out every row for which `matches` holds, in order.
    pub fn take_where(
        &mut self,
        mut matches: impl FnMut(&str, &Known<T>) -> bool,
    ) -> Vec<(String, Known<T>)> {
        let mut taken = Vec::new();
        let rows = std::mem::take(&mut self.rows);
        for (name, row) in rows {
            if matches(&name, &row) {
                taken.push((name, row));
            } else {
                self.rows.insert(name, row);
            }
        }
        taken
    }

    /// All rows in insertion order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Known<T>)> {
        self.rows.iter().map(|(name, row)| (name.as_str(), row))
    }

    /// All rows in insertion order, to change.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (&str, &mut Known<T>)> {
        self.rows.iter_mut().map(|(name, row)| (name.as_str(), row))
    }

    /// Number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there is no row.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn create_or_get_returns_the_first_entry_unchanged() {
        let mut table = KnownTable::default();
        table.create_or_get("a", ObstacleLayer::InUse, || 1);
        let again = table.create_or_get("a", ObstacleLayer::World, || 2);
        assert_eq!((again.payload, again.layer), (1, ObstacleLayer::InUse));
        assert_eq!(table.len(), 1);
    }

    #[test]
    fn forgetting_an_unknown_name_is_a_no_op() {
        let mut table = KnownTable::default();
        table.create_or_get("a", ObstacleLayer::Unused, || 1);
        assert!(table.forget("b").is_none());
        assert!(table.contains("a"));
    }

    #[test]
    fn layers_are_ordered() {
        assert!(ObstacleLayer::Unused < ObstacleLayer::InUse);
        assert!(ObstacleLayer::InUse < ObstacleLayer::World);
        assert_eq!(
            [ObstacleLayer::Unused as u8, ObstacleLayer::InUse as u8, ObstacleLayer::World as u8],
            [0, 1, 2]
        );
    }

    #[test]
    fn iteration_keeps_the_order_of_insertion_after_a_removal() {
        let mut table = KnownTable::default();
        for name in ["c", "a", "b"] {
            table.create_or_get(name, ObstacleLayer::Unused, || ());
        }
        table.forget("c");
        table.create_or_get("c", ObstacleLayer::Unused, || ());
        assert_eq!(table.iter().map(|(name, _)| name).collect::<Vec<_>>(), ["a", "b", "c"]);
        let taken = table.take_where(|name, _| name != "b");
        assert_eq!(taken.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ["a", "c"]);
        assert_eq!(table.iter().map(|(name, _)| name).collect::<Vec<_>>(), ["b"]);
    }
}
