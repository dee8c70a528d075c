//! Any text is either an asset's annotation or a list of problems; never a panic, never a hang.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::path::Path;

fuzz_target!(|text: &str| {
    let _ = promenade_scenario::Annotation::parse(text, Path::new("annotation.yaml"));
});
