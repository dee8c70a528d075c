//! A steady step of many robots.

use super::{motion, steps, world};

fn crowd(mode: &str) -> promenade_robot_world::World {
    let starts: Vec<String> = (0..200).map(|i| format!("[{}, {}, 0]", i % 20, i / 20)).collect();
    world(&format!(
        "world: {{width: 20, height: 10, collision_mode: {mode}}}
         robot: {{number: 200, kinematics: {{name: diff}}, shape: {{name: circle}}, state: [{}],
                  behavior: {{name: dash, wander: true, range_high: [20, 10, 3]}}}}
         obstacle: {{shape: {{name: linestring, vertices: [[0, 0], [20, 10]]}}, state: [0, 0, 0]}}",
        starts.join(", ")
    ))
}

#[test]
fn memory_once_warm_is_enough() {
    for mode in ["stop", "unobstructed"] {
        let mut world = crowd(mode);
        steps(&mut world, 600);
        let counted = allocation_counter::measure(|| steps(&mut world, 5));
        let again = allocation_counter::measure(|| steps(&mut world, 5));
        assert!(counted.count_total.min(again.count_total) == 0, "{mode}: {counted:?} {again:?}");
    }
}

#[test]
fn scanners_among_many_allocate_nothing() {
    let starts: Vec<String> = (0..100).map(|i| format!("[{}, {}, 0]", i % 10, i / 10)).collect();
    let mut world = world(&format!(
        "world: {{width: 10, height: 10, collision_mode: unobstructed}}
         robot: {{kinematics: {{name: diff}}, shape: {{name: circle}}, state: [5, 5, 0],
                  behavior: {{name: dash, wander: true}},
                  sensors: [{{name: lidar2d, number: 90, has_velocity: true}}, {{name: fmcw_lidar2d, noise: true}}]}}
         obstacle: {{number: 100, shape: {{name: circle, radius: 0.1}}, state: [{}]}}",
        starts.join(", ")
    ));
    steps(&mut world, 200);
    let counted = allocation_counter::measure(|| steps(&mut world, 5));
    let again = allocation_counter::measure(|| steps(&mut world, 5));
    assert_eq!(counted.count_total.min(again.count_total), 0, "{counted:?} {again:?}");
}

#[test]
fn two_runs_of_one_seed_are_the_same_to_the_last_bit() {
    let mut worlds = [crowd("unobstructed"), crowd("unobstructed")];
    worlds.iter_mut().for_each(|world| steps(world, 100));
    assert_eq!(motion(worlds[0].objects()), motion(worlds[1].objects()));
}
