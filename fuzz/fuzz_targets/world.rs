//! Any text is either a world or a list of problems; never a panic, never a hang.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::path::Path;

fuzz_target!(|text: &str| {
    let _ = promenade_scenario::World::parse(text, Path::new("0/world.yaml"), Some("0"));
});
