//! Who walks with whom.

/// Rows by walking group, ascending by id within one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Groups {
    rows: Vec<usize>,
    /// Where each group begins in `rows`, by its number as an unsigned one, and where the last one ends.
    starts: Vec<usize>,
}

const GROUPS: usize = 1 << u8::BITS;

impl Groups {
    /// Sort rows into groups; `rows` come ascending by id.
    pub(crate) fn rebuild(&mut self, group: &[i8], rows: impl Iterator<Item = usize> + Clone) {
        let Groups { rows: sorted, starts } = self;
        starts.clear();
        starts.resize(GROUPS + 1, 0);
        let of = |row: usize| usize::from(group[row].cast_unsigned());
        rows.clone().for_each(|row| starts[of(row)] += 1);
        let mut sum = 0;
        for start in starts.iter_mut() {
            sum += std::mem::replace(start, sum);
        }
        sorted.clear();
        sorted.resize(sum, 0);
        for row in rows {
            sorted[starts[of(row)]] = row;
            starts[of(row)] += 1;
        }
        // Each start is now the end of its group, which is the start of the next.
        starts.rotate_right(1);
        starts[0] = 0;
    }

    /// The rows of a group.
    pub(crate) fn members(&self, group: i8) -> &[usize] {
        let at = usize::from(group.cast_unsigned());
        match self.starts.get(at..at + 2) {
            Some(&[from, to]) => &self.rows[from..to],
            _ => &[],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_sorted_into_groups() {
        let mut groups = Groups::default();
        assert_eq!(groups.members(3), [0; 0]);
        groups.rebuild(&[-1, 3, 127, 3, -128], [3, 0, 1, 4, 2].into_iter());
        assert_eq!(groups.members(3), [3, 1], "in the order of ids");
        assert_eq!(
            (groups.members(-1), groups.members(127), groups.members(-128)),
            (&[0][..], &[2][..], &[4][..])
        );
        assert_eq!(groups.members(0), [0; 0]);
    }
}
