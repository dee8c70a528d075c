//! Any text is either a world of robots, which can then be placed, or a list of problems; never a panic, never a hang.
#![no_main]

use libfuzzer_sys::fuzz_target;
use promenade_robot_world::{ReadOptions, Registry, World, WorldSpec};
use std::path::Path;

fuzz_target!(|text: &str| {
    let options = ReadOptions { lenient: text.len() % 2 == 0 };
    if let Ok(loaded) = WorldSpec::from_text(text, Path::new("world.yaml"), &Registry::built_in(), &options) {
        let objects: usize = loaded.value.groups.iter().map(|group| group.objects.len()).sum();
        if objects < 50 {
            let _ = World::new(&loaded.value, 0);
        }
    }
});
