//! Things with names, in the order in which they first came.

use std::collections::BTreeMap;

/// Something that has a name.
pub(crate) trait HasName {
    /// Its name.
    fn name(&self) -> &str;
}

/// A list without two of the same name.
#[derive(Debug, Clone)]
pub(crate) struct Named<T> {
    items: Vec<T>,
    places: BTreeMap<String, usize>,
}

impl<T> Default for Named<T> {
    fn default() -> Self {
        Self { items: Vec::new(), places: BTreeMap::new() }
    }
}

impl<T: HasName> Named<T> {
    /// All of them.
    pub(crate) fn items(&self) -> &[T] {
        &self.items
    }

    /// All of them; names must stay.
    pub(crate) fn items_mut(&mut self) -> &mut [T] {
        &mut self.items
    }

    /// Where one stands in the list.
    pub(crate) fn place(&self, name: &str) -> Option<usize> {
        self.places.get(name).copied()
    }

    /// Add one, in the place of an earlier one of its name.
    pub(crate) fn upsert(&mut self, item: T) {
        match self.place(item.name()) {
            Some(place) => self.items[place] = item,
            None => {
                self.places.insert(item.name().to_owned(), self.items.len());
                self.items.push(item);
            }
        }
    }

    /// Remove by name; names of none are ignored, and no names at all removes everything. What was removed comes back.
    pub(crate) fn remove(&mut self, names: &[String]) -> Vec<T> {
        if names.is_empty() {
            self.places.clear();
            return std::mem::take(&mut self.items);
        }
        let mut gone: Vec<usize> = names.iter().filter_map(|name| self.places.remove(name)).collect();
        if gone.is_empty() {
            return Vec::new();
        }
        gone.sort_unstable();
        let (mut removed, mut kept) = (Vec::with_capacity(gone.len()), Vec::with_capacity(self.items.len()));
        for (place, item) in std::mem::take(&mut self.items).into_iter().enumerate() {
            if gone.binary_search(&place).is_ok() { removed.push(item) } else { kept.push(item) }
        }
        self.items = kept;
        self.places =
            self.items.iter().enumerate().map(|(place, item)| (item.name().to_owned(), place)).collect();
        removed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Clone, PartialEq)]
    struct Thing(&'static str, u8);

    impl HasName for Thing {
        fn name(&self) -> &str {
            self.0
        }
    }

    #[test]
    fn a_second_of_a_name_takes_the_place_of_the_first_and_unknown_names_are_ignored() {
        let mut list = Named::default();
        for thing in [Thing("a", 1), Thing("b", 2), Thing("c", 3), Thing("a", 4)] {
            list.upsert(thing);
        }
        assert_eq!(list.items(), [Thing("a", 4), Thing("b", 2), Thing("c", 3)]);
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        assert_eq!(list.remove(&names(&["x", "a", "a"])), [Thing("a", 4)]);
        assert_eq!((list.place("b"), list.place("c"), list.place("a")), (Some(0), Some(1), None));
        assert_eq!(list.remove(&[]).len(), 2);
        assert!(list.items().is_empty());
    }
}
