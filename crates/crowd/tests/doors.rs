//! Doors as gates, and mazes that everybody finds through: same run whatever the threads, and nobody is caught in a corner.

use promenade_crowd::workload::{CELL, maze, maze_walls};
use promenade_crowd::{Crowd, GlobalPlanner, OcclusionMode, Settings, SpawnRequest, Wall};

fn wall(name: &str, start: [f64; 2], end: [f64; 2]) -> Wall {
    Wall { name: name.to_owned(), start, end }
}

fn spawn(crowd: &mut Crowd, [x, y]: [f64; 2], target: [f64; 2]) -> i32 {
    let pose = [x, y, 0.0];
    let id = crowd.spawn(&SpawnRequest { pose, ..SpawnRequest::default() }, None).expect("spawns");
    crowd.navigate(id, Some(target)).expect("known");
    id
}

fn place(crowd: &Crowd, id: i32) -> [f64; 2] {
    crowd.pool().position(crowd.pool().row_of(id).expect("there"))
}

fn planners() -> [GlobalPlanner; 3] {
    ["navmesh", "astar", "dijkstra"].map(|name| GlobalPlanner::named(name, 0.38, 0.2, 0.6).expect("known"))
}

/// Two rooms side by side with a passage of 1.6 m at either end of the wall between them.
fn two_rooms() -> Vec<Wall> {
    let corners = [[0.0, 0.0], [12.0, 0.0], [12.0, 10.0], [0.0, 10.0]];
    let mut walls: Vec<Wall> =
        (0..4).map(|n| wall(&format!("outer_{n}"), corners[n], corners[(n + 1) % 4])).collect();
    walls.push(wall("between", [6.0, 1.6], [6.0, 8.4]));
    walls
}

#[test]
fn a_door_that_closes_sends_those_another_way_who_would_have_passed_it_and_nobody_else() {
    for planner in planners() {
        for occlusion in [OcclusionMode::Bitmap, OcclusionMode::Exact] {
            let mut crowd =
                Crowd::new(Settings { global_planner: planner, occlusion, ..Settings::default() })
                    .expect("holds");
            let door = wall("__door_south", [6.0, 0.0], [6.0, 1.6]);
            crowd.add_walls(two_rooms().into_iter().chain([door.clone()])).expect("finite");
            crowd.remove_walls(std::slice::from_ref(&door.name)).expect("known");
            let south = spawn(&mut crowd, [2.0, 2.0], [10.0, 2.0]);
            let north = spawn(&mut crowd, [2.0, 8.0], [10.0, 8.0]);
            (0..20).for_each(|_| crowd.step());
            let route = |crowd: &Crowd, id| crowd.route(id).expect("there").points().to_vec();
            let (before, other) = (route(&crowd, south), route(&crowd, north));
            assert!(before.iter().any(|p| p[1] < 1.6), "{planner:?}: {before:?}");
            crowd.add_walls([door.clone()]).expect("known");
            (0..6).for_each(|_| crowd.step());
            let after = route(&crowd, south);
            assert!(after.iter().any(|p| p[1] > 8.4), "{planner:?}: {after:?}");
            assert_eq!(route(&crowd, north), other, "{planner:?}");
            (0..600).for_each(|_| crowd.step());
            for (id, target) in [(south, [10.0, 2.0]), (north, [10.0, 8.0])] {
                let at = place(&crowd, id);
                assert!((at[0] - target[0]).hypot(at[1] - target[1]) < 0.5, "{planner:?}: {at:?}");
            }
        }
    }
}

#[test]
fn who_waits_at_a_closed_door_goes_on_when_it_opens() {
    let mut crowd = Crowd::new(Settings::default()).expect("holds");
    let doors = [wall("__door_a", [6.0, 0.0], [6.0, 1.6]), wall("__door_b", [6.0, 8.4], [6.0, 10.0])];
    crowd.add_walls(two_rooms().into_iter().chain(doors)).expect("finite");
    let id = spawn(&mut crowd, [2.0, 5.0], [10.0, 5.0]);
    (0..200).for_each(|_| crowd.step());
    let at = place(&crowd, id);
    assert!(at[0] > 5.0 && at[0] < 6.0, "as near as it gets: {at:?}");
    assert!(crowd.route(id).expect("there").falls_short());
    crowd.remove_walls(&["__door_b".to_owned()]).expect("known");
    (0..400).for_each(|_| crowd.step());
    let at = place(&crowd, id);
    assert!((at[0] - 10.0).hypot(at[1] - 5.0) < 0.5, "{at:?}");
}

#[test]
fn a_maze_full_of_moving_doors_runs_alike_on_every_number_of_threads() {
    let run = |threads: usize| {
        let (mut crowd, doors) = maze(Settings { threads, ..Settings::default() }, 80, 25).expect("holds");
        for tick in 0..150_usize {
            let door = &doors[tick * 7 % doors.len()];
            match tick % 4 {
                0 => crowd.add_walls([door.clone()]).expect("known"),
                2 => crowd.remove_walls(std::slice::from_ref(&door.name)).expect("known"),
                _ => {}
            }
            crowd.step();
        }
        (crowd.pool().x.clone(), crowd.pool().y.clone())
    };
    assert_eq!(run(1), run(3));
}

#[test]
fn everybody_finds_through_a_maze_and_nobody_through_a_wall() {
    let side = 5;
    let (walls, openings) = maze_walls(4, side);
    assert_eq!(openings.len() as u32, side * side - 1, "a tree joins all cells");
    let mut crowd = Crowd::new(Settings::default()).expect("holds");
    crowd.add_walls(walls.clone()).expect("finite");
    let middle = |cell: u32| [cell % side, cell / side].map(|at| (f64::from(at) + 0.5) * CELL);
    let far = side * side - 1;
    let pairs = [(0, far), (far, 0), (side - 1, far + 1 - side), (12, 3)];
    let ids = pairs.map(|(from, to)| spawn(&mut crowd, middle(from), middle(to)));
    for _ in 0..1600 {
        let before = ids.map(|id| place(&crowd, id));
        crowd.step();
        for (from, to) in before.into_iter().zip(ids.map(|id| place(&crowd, id))) {
            let step = promenade_crowd::Segment::between(from, to);
            let through =
                walls.iter().find(|w| promenade_crowd::Segment::between(w.start, w.end).crosses(&step));
            assert!(through.is_none(), "{from:?} {to:?} {through:?}");
        }
    }
    for (id, (_, to)) in ids.into_iter().zip(pairs) {
        let (at, goal) = (place(&crowd, id), middle(to));
        assert!((at[0] - goal[0]).hypot(at[1] - goal[1]) < 0.5, "{id}: {at:?} {goal:?}");
    }
}
