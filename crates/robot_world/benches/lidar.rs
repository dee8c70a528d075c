//! Scans: one scanner among many obstacles, and a step of many robots that all scan.

use std::hint::black_box;
use std::path::Path;

use criterion::{Criterion, criterion_group, criterion_main};
use promenade_kernel::generator::Generator;
use promenade_robot_world::registry::Registry;
use promenade_robot_world::sensor::Sensing;
use promenade_robot_world::{World, WorldSpec};

/// Robots with a scanner each in a square of 40 m, and obstacles of three shapes.
fn world(robots: usize, beams: usize, obstacles: usize) -> World {
    let mut places = Generator::seeded(7);
    let mut pose = || [places.uniform(1.0, 39.0), places.uniform(1.0, 39.0), places.uniform(-3.0, 3.0)];
    let mut text = "world: {width: 40, height: 40, collision_mode: unobstructed}\nrobot:\n".to_owned();
    for _ in 0..robots {
        let ([x, y, heading], [gx, gy, _]) = (pose(), pose());
        text += &format!(
            "  - {{kinematics: {{name: diff}}, shape: {{name: circle, radius: 0.2}}, state: [{x}, {y}, {heading}], \
             goal: [{gx}, {gy}, 0], behavior: {{name: dash}}, \
             sensors: [{{name: lidar2d, range_max: 10, angle_range: 6.283185307179586, number: {beams}}}]}}\n"
        );
    }
    text += "obstacle:\n";
    for number in 0..obstacles {
        let shapes = [
            "{name: circle, radius: 0.5}",
            "{name: rectangle, length: 1.5, width: 0.6}",
            "{name: linestring, vertices: [[0, 0], [1, 0.4], [2, 0]]}",
        ];
        let [x, y, heading] = pose();
        text += &format!("  - {{shape: {}, state: [{x}, {y}, {heading}]}}\n", shapes[number % 3]);
    }
    let loaded =
        WorldSpec::from_text(&text, Path::new("lidar.yaml"), &Registry::built_in(), &Default::default());
    World::new(&loaded.expect("a world that can be read").value, 1).expect("a world that can be made")
}

fn scans(c: &mut Criterion) {
    let mut objects = world(1, 360, 100).objects().clone();
    let (mut sensing, mut generator) = (Sensing::default(), Generator::seeded(1));
    c.bench_function("360 beams among 100 obstacles", |b| {
        b.iter(|| sensing.sense(black_box(&mut objects), false, &mut generator));
    });
    let mut many = world(100, 180, 20);
    c.bench_function("step of 100 robots x 180 beams, 20 obstacles", |b| {
        b.iter(|| many.step(black_box(&[])).expect("a step without commands"));
    });
}

criterion_group!(benches, scans);
criterion_main!(benches);
