//! Two environments side by side, with the same names in both.

use anyhow::{Context as _, Result};
use promenade_ros_tests::wire::{find, is_marked, marked, person, place};
use promenade_ros_tests::{Cast, Environment, SECOND, Stage};

const START: i64 = 5 * SECOND;

#[test]
fn two_environments_share_a_clock_and_nothing_else() -> Result<()> {
    let mut stage = Stage::new()?;
    let cast = Cast::people(&["anna", "ben"]);
    let (left, _) = Environment::open(&mut stage, &cast, START)?;
    let (right, _) = Environment::open(&mut stage, &cast, START)?;
    assert_ne!(left.namespace, right.namespace);

    left.claim(&mut stage, START, &[marked("anna", 5.0, 5.0)])?;
    right.claim(&mut stage, START, &[marked("ben", -6.0, -6.0)])?;
    assert_eq!(
        left.teleport(&mut stage, vec![person("ben", 8.0, 8.0), person(&right.bus_name("anna"), 9.0, 9.0)])?,
        [0, 1]
    );
    // The other one's bus name is nobody here.
    right.stream(START, vec![marked("ben", -6.0, -6.0), marked(&left.bus_name("anna"), 9.0, 9.0)])?;
    right.logged(&mut stage, &left.bus_name("anna"))?;

    for index in 1..=10 {
        let (on_left, on_right) = (left.tick(&mut stage, index)?, right.tick(&mut stage, index)?);
        let see = |environment: &Environment, frame, name: &str| -> Result<_> {
            let person = find(frame, &environment.bus_name(name)).context("on the bus")?;
            Ok((place(person), is_marked(person)))
        };
        assert_eq!(on_left.header.stamp, on_right.header.stamp);
        assert_eq!(see(&left, &on_left, "anna")?, ([5.0, 5.0], true));
        assert_eq!(see(&left, &on_left, "ben")?, ([8.0, 8.0], false));
        assert_eq!(see(&right, &on_right, "anna")?, ([1.0, 0.0], false));
        assert_eq!(see(&right, &on_right, "ben")?, ([-6.0, -6.0], true));
        for (environment, frame) in [(&left, &on_left), (&right, &on_right)] {
            let prefix = format!("{}/", environment.prefix);
            assert!(frame.pedestrians.iter().all(|p| p.name.starts_with(&prefix)), "{frame:?}");
        }
    }

    // One of them ends; the other does not notice.
    drop(left);
    right.tick(&mut stage, 20)?;
    Ok(())
}

#[test]
fn the_same_name_in_two_environments_is_two_people() -> Result<()> {
    let mut stage = Stage::new()?;
    let cast = Cast::people(&["anna"]);
    let (_left, on_left) = Environment::open(&mut stage, &cast, START)?;
    let (_right, on_right) = Environment::open(&mut stage, &cast, START)?;
    assert_ne!(on_left.pedestrians[0].id, on_right.pedestrians[0].id, "ids come from the sim path");
    Ok(())
}
