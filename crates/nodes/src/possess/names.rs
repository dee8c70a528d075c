//! The two spellings of a person: the name as authored, and the sim path below an environment's prefix.

/// `name` and what is left of it below each of its prefixes: `env_0/ward/ann`, `ward/ann`, `ann`.
pub(crate) fn spellings(name: &str) -> impl Iterator<Item = &str> {
    std::iter::once(name).chain(name.match_indices('/').map(|(slash, _)| &name[slash + 1..]))
}

/// Whether two spellings mean one person.
pub(crate) fn is_same(one: &str, other: &str) -> bool {
    spellings(one).any(|name| name == other) || spellings(other).any(|name| name == one)
}

/// `"annn" (did you mean "ann"?)`.
pub(crate) fn with_nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let known: Vec<&str> = known.into_iter().collect();
    let short = name.rsplit('/').next().unwrap_or(name);
    let nearest = promenade_scenario::problem::nearest(name, known.iter().copied()).or_else(|| {
        let shorts = known.iter().filter_map(|name| name.rsplit('/').next());
        promenade_scenario::problem::nearest(short, shorts)
    });
    match nearest {
        Some(nearest) => format!("{name:?} (did you mean {nearest:?}?)"),
        None => format!("{name:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_makes_another_spelling_and_a_common_ending_does_not() {
        assert!(is_same("ann", "ann"));
        assert!(is_same("env_0/ann", "ann"));
        assert!(is_same("ann", "arena/env_0/ann"));
        assert!(!is_same("joann", "ann"));
        assert!(!is_same("env_0/ann", "env_1/ann"));
        assert!(!is_same("", "ann"));
    }

    #[test]
    fn the_nearest_name_is_found_in_either_spelling() {
        let known = ["env_0/nurse_1", "env_0/visitor_1"];
        assert_eq!(with_nearest("nurse_7", known), "\"nurse_7\" (did you mean \"nurse_1\"?)");
        assert_eq!(
            with_nearest("env_0/nurze_1", known),
            "\"env_0/nurze_1\" (did you mean \"env_0/nurse_1\"?)"
        );
        assert_eq!(with_nearest("xyz", known), "\"xyz\"");
    }
}
