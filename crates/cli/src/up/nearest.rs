//! "Did you mean": the known word that is nearest to what somebody wrote.

use promenade_scenario::problem::nearest;

/// `; did you mean ...?`, or nothing.
pub(crate) fn hint<'a>(found: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    nearest(found, known).map_or_else(String::new, |word| format!("; did you mean `{word}`?"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_words_are_offered_and_far_ones_are_not() {
        assert_eq!(nearest("wrold", ["sim", "world"]), Some("world"));
        assert_eq!(nearest("zzz", ["sim", "world"]), None);
        assert_eq!(hint("smi", ["sim"]), "; did you mean `sim`?");
    }
}
