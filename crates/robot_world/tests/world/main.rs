//! Worlds stepped from small files: what is chosen, what moves, who stops, what may be changed and what is said about it.

mod arrival;
mod changes;
mod commands;
mod motion;
mod snapshots;
mod steady;

use std::path::Path;

use promenade_robot_world::file::ReadOptions;
use promenade_robot_world::registry::Registry;
use promenade_robot_world::spec::WorldSpec;
use promenade_robot_world::world::ObjectRef;
use promenade_robot_world::{Objects, World};

/// Blocks may be indented like the code they stand in.
fn spec(text: &str) -> WorldSpec {
    let is_block = |line: &str| ["world:", "robot:", "obstacle:"].iter().any(|key| line.starts_with(key));
    let lines =
        text.lines().map(|line| Some(line.trim_start()).filter(|line| is_block(line)).unwrap_or(line));
    let text = lines.collect::<Vec<_>>().join("\n");
    let spec =
        WorldSpec::from_text(&text, Path::new("w.yaml"), &Registry::built_in(), &ReadOptions::default());
    spec.unwrap_or_else(|report| panic!("{report}")).value
}

/// The world of a file, seeded with 1.
fn world(text: &str) -> World {
    World::new(&spec(text), 1).expect("a world")
}

fn steps(world: &mut World, count: u64) {
    for _ in 0..count {
        world.step(&[]).expect("no command is refused");
    }
}

/// One step with a command for one object.
fn command(world: &mut World, name: &str, numbers: &[f64]) {
    world.step(&[(ObjectRef::Name(name), numbers)]).expect("a command for an object");
}

fn near(found: &[f64], expected: &[f64]) {
    let apart = found.iter().zip(expected).fold(0.0_f64, |most, (a, b)| most.max((a - b).abs()));
    assert!(apart < 1e-8 && found.len() >= expected.len(), "found {found:?}, expected {expected:?}");
}

fn said(world: &mut World) -> Vec<String> {
    world.warnings().map(|warning| warning.to_string()).collect()
}

/// Where everybody is and how fast: what makes two runs the same.
fn motion(objects: &Objects) -> Vec<u64> {
    let numbers = objects.state.iter().flatten().chain(objects.velocity.iter().flatten());
    numbers.chain(objects.centroid.iter().flatten()).map(|number| number.to_bits()).collect()
}
