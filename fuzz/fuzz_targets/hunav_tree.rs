//! Any text is either a behaviour tree, which can then be ticked, or a list of problems; never a panic, never a hang, never a walker nowhere.
#![no_main]

use libfuzzer_sys::fuzz_target;
use promenade_hunav::tree::{Library, Tree};
use promenade_hunav::{Agent, Compat, Options, Robot, World};
use std::path::Path;

fuzz_target!(|text: &str| {
    let compat = if text.len() % 2 == 0 { Compat::Robust } else { Compat::Strict };
    let options = Options { compat, ..Options::default() };
    let Ok(loaded) = Library::new(&options).parse(text, Path::new("tree.xml")) else { return };
    let agent = |id: i32| Agent { id, position: [f64::from(id), 0.0], goals: vec![[9.0, 0.0]], ..Agent::default() };
    let agents = [agent(1), agent(2), agent(3)];
    let mut world = World::new(options);
    world.reset(&agents, &Robot { position: [4.0, 1.0], ..Robot::default() });
    let mut tree = Tree::new(loaded.value, &agents[0]);
    for _ in 0..5 {
        tree.tick(&mut world, 0, 0.1);
        assert!((0..3).all(|row| world.position(row).iter().all(|part| part.is_finite())));
    }
});
