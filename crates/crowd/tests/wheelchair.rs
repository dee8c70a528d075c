//! The wheelchair gate, whole: it takes seconds.

use promenade_crowd::Settings;
use promenade_crowd::validation::{Size, Verdict, named};

#[test]
fn a_wheelchair_gets_along_as_well_as_the_published_gate_asks() {
    let gate = named("wheelchair").expect("a case");
    let outcome = gate.run(&Settings::default(), Size::Full).expect("runs");
    let failed: Vec<_> = outcome.rows.iter().filter(|row| row.verdict != Verdict::Pass).collect();
    assert!(failed.is_empty(), "{failed:#?}");
}
