//! `human/move`: puts people somewhere without touching who owns them (human-layer specification, section 7.5).

use anyhow::{Context as _, Result};
use promenade_ros_tests::wire::{find, is_marked, marked, person, place};
use promenade_ros_tests::{Cast, Environment, SECOND, Stage};

const START: i64 = 10 * SECOND;
const SUCCESS: u8 = 0;
const NOT_FOUND: u8 = 1;

#[test]
fn results_are_aligned_with_the_request_and_both_spellings_work() -> Result<()> {
    let mut stage = Stage::new()?;
    let (environment, _) = Environment::open(&mut stage, &Cast::people(&["anna", "ben", "carl"]), START)?;
    let ben = environment.bus_name("ben");
    let results = environment.teleport(
        &mut stage,
        vec![
            person("nobody", 9.0, 9.0),
            person("anna", -3.0, 4.0),
            person("env_77/carl", 9.0, 9.0),
            person(&ben, -5.0, 6.0),
            person("", 9.0, 9.0),
        ],
    )?;
    assert_eq!(results, [NOT_FOUND, SUCCESS, NOT_FOUND, SUCCESS, NOT_FOUND]);
    let frame = environment.tick(&mut stage, 1)?;
    for (name, expected) in [("anna", [-3.0, 4.0]), ("ben", [-5.0, 6.0]), ("carl", [3.0, 0.0])] {
        let seen = find(&frame, &environment.bus_name(name)).context(name)?;
        assert_eq!(place(seen), expected, "{name}");
    }
    assert_eq!(
        environment.teleport(&mut stage, Vec::new())?,
        [0_u8; 0],
        "an empty request has an empty answer"
    );
    Ok(())
}

#[test]
fn a_move_publishes_while_the_clock_stands() -> Result<()> {
    let mut stage = Stage::new()?;
    let (environment, _) = Environment::open(&mut stage, &Cast::people(&["anna"]), START)?;
    environment.teleport(&mut stage, vec![person("anna", 8.0, 8.0)])?;
    environment.see(&mut stage, "anna", "frame at the new place", |anna| place(anna) == [8.0, 8.0])?;
    Ok(())
}

#[test]
fn a_move_neither_claims_nor_releases() -> Result<()> {
    let mut stage = Stage::new()?;
    let (environment, _) = Environment::open(&mut stage, &Cast::people(&["anna", "ben"]), START)?;
    environment.claim(&mut stage, START, &[marked("anna", 5.0, 5.0)])?;
    let results =
        environment.teleport(&mut stage, vec![person("anna", -8.0, -8.0), marked("ben", -9.0, -9.0)])?;
    assert_eq!(results, [SUCCESS, SUCCESS]);
    let frame = environment.tick(&mut stage, 1)?;
    let anna = find(&frame, &environment.bus_name("anna")).context("anna")?;
    assert_eq!((place(anna), is_marked(anna)), ([5.0, 5.0], true), "the stream still says where she is");
    let ben = find(&frame, &environment.bus_name("ben")).context("ben")?;
    assert_eq!((place(ben), is_marked(ben)), ([-9.0, -9.0], false), "only name and pose are read");
    let frame = environment.tick(&mut stage, 31)?;
    let anna = find(&frame, &environment.bus_name("anna")).context("anna")?;
    assert!(!is_marked(anna), "the move did not renew the claim");
    Ok(())
}
