//! Any text is either a profile or a list of problems; never a panic, never a hang.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let _ = promenade_gait::ProfileFile::parse("mine", "mine.yaml", text);
});
