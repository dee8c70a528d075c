//! Paths through meshes: they arrive, keep clear of walls, and do not depend on how gates came to be where they are.

use proptest::prelude::*;

use super::*;
use crate::walls::{Segment, Wall};

const INFLATION: f64 = 0.38;

fn set(fixed: &[[f64; 4]], gates: &[[f64; 4]]) -> WallSet {
    let mut walls = WallSet::default();
    let wall = |prefix: &str, number: usize, [a, b, c, d]: [f64; 4]| Wall {
        name: format!("{prefix}{number}"),
        start: [a, b],
        end: [c, d],
    };
    walls.add(fixed.iter().enumerate().map(|(n, w)| wall("wall_", n, *w))).expect("finite");
    walls.add(gates.iter().enumerate().map(|(n, w)| wall("__door_", n, *w))).expect("finite");
    walls
}

fn mesh(fixed: &[[f64; 4]], gates: &[[f64; 4]]) -> Mesh {
    Mesh::new(&set(fixed, gates), INFLATION, 0.6).expect("walls")
}

fn length(path: &[[f64; 2]]) -> f64 {
    path.windows(2).map(|leg| distance(leg[0], leg[1])).sum()
}

/// How near a path comes to the walls, its first and last leg aside where they leave and enter places that are nearer.
fn clearance(path: &[[f64; 2]], walls: &[[f64; 4]]) -> f64 {
    let walls = || walls.iter().map(|[a, b, c, d]| Segment::between([*a, *b], [*c, *d]));
    let own = |p: [f64; 2]| walls().map(|wall| wall.offset(p).0).fold(f64::INFINITY, f64::min);
    let leg = |leg: &[[f64; 2]]| {
        let line = Segment::between(leg[0], leg[1]);
        walls().map(|wall| wall.distance(&line)).fold(f64::INFINITY, f64::min)
    };
    let ends = own(path[0]).min(own(path[path.len() - 1]));
    let least = path.windows(2).map(leg).fold(f64::INFINITY, f64::min);
    if least >= ends - 1e-3 { INFLATION.max(least) } else { least }
}

fn rectangle([left, low, right, high]: [f64; 4]) -> Vec<[f64; 4]> {
    vec![
        [left, low, right, low],
        [right, low, right, high],
        [right, high, left, high],
        [left, high, left, low],
    ]
}

/// A maze of `side` x `side` cells of 2 m that a walk in depth opened, with the door of every opened wall.
fn maze(side: usize, seed: u64) -> (Vec<[f64; 4]>, Vec<[f64; 4]>) {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut random = move |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 33) as usize % below
    };
    let mut seen = vec![false; side * side];
    let mut open = std::collections::BTreeSet::new();
    let mut stack = vec![0];
    seen[0] = true;
    while let Some(&cell) = stack.last() {
        let (column, line) = (cell % side, cell / side);
        let mut beside = Vec::new();
        if column > 0 {
            beside.push(cell - 1);
        }
        if column + 1 < side {
            beside.push(cell + 1);
        }
        if line > 0 {
            beside.push(cell - side);
        }
        if line + 1 < side {
            beside.push(cell + side);
        }
        beside.retain(|next| !seen[*next]);
        if beside.is_empty() {
            stack.pop();
            continue;
        }
        let next = beside[random(beside.len())];
        seen[next] = true;
        open.insert((cell.min(next), cell.max(next)));
        stack.push(next);
    }
    let edge = 2.0 * side as f64;
    let (mut walls, mut doors) = (rectangle([0.0, 0.0, edge, edge]), Vec::new());
    for cell in 0..side * side {
        let (x, y) = (2.0 * (cell % side) as f64, 2.0 * (cell / side) as f64);
        for (next, wall) in
            [(cell + 1, [x + 2.0, y, x + 2.0, y + 2.0]), (cell + side, [x, y + 2.0, x + 2.0, y + 2.0])]
        {
            let inside = if next == cell + 1 { next % side != 0 } else { next < side * side };
            if inside && open.contains(&(cell, next)) {
                doors.push(wall);
            } else if inside {
                walls.push(wall);
            }
        }
    }
    (walls, doors)
}

#[test]
fn around_a_wall_the_path_is_as_short_as_its_clearance_allows() {
    let walls = [[0.0, -3.0, 0.0, 3.0]];
    let (path, reaches) = mesh(&walls, &[]).plan([-2.0, 0.0], [2.0, 0.0]);
    assert!(reaches && clearance(&path, &walls) >= INFLATION, "{path:?}");
    assert!((7.2..8.6).contains(&length(&path)), "{path:?} {}", length(&path));
}

#[test]
fn a_doorway_of_one_metre_is_open_and_one_of_seventy_centimetres_is_not() {
    for (width, reaches) in [(1.0, true), (0.77, true), (0.7, false)] {
        let walls = [
            [0.0, -9.0, 0.0, -0.5 * width],
            [0.0, 0.5 * width, 0.0, 9.0],
            [-9.0, -9.0, 9.0, -9.0],
            [-9.0, 9.0, 9.0, 9.0],
            [9.0, -9.0, 9.0, 9.0],
            [-9.0, -9.0, -9.0, 9.0],
        ];
        let (path, found) = mesh(&walls, &[]).plan([-3.0, 4.0], [3.0, -4.0]);
        assert_eq!(found, reaches, "{width}: {path:?}");
        assert!(clearance(&path, &walls) > 0.36, "{width}: {path:?}");
    }
}

#[test]
fn rimea_around_a_corner_is_walked_without_touching_it() {
    let walls =
        [[0.0, 0.0, 12.0, 0.0], [12.0, 0.0, 12.0, 12.0], [0.0, 2.0, 10.0, 2.0], [10.0, 2.0, 10.0, 12.0]];
    let (path, reaches) = mesh(&walls, &[]).plan([1.0, 1.0], [11.0, 11.0]);
    assert!(reaches && clearance(&path, &walls) >= INFLATION - 1e-3, "{path:?}");
    assert!((17.0..19.5).contains(&length(&path)), "{}", length(&path));
}

#[test]
fn a_path_to_what_cannot_be_reached_ends_as_near_to_it_as_one_gets() {
    let walls = rectangle([0.0, 0.0, 4.0, 4.0]);
    let (path, reaches) = mesh(&walls, &[]).plan([2.0, 2.0], [9.0, 2.0]);
    let last = path[path.len() - 1];
    assert!(!reaches && (3.5..4.0).contains(&last[0]) && (last[1] - 2.0).abs() < 0.1, "{path:?}");
    assert!(clearance(&path, &walls) >= INFLATION - 1e-3);
}

#[test]
fn who_stands_in_the_inflation_band_leaves_it_first_and_keeps_clear_from_then_on() {
    let walls = rectangle([-6.0, -1.0, 6.0, 1.0]);
    let (path, reaches) = mesh(&walls, &[]).plan([-5.0, -0.8], [5.0, 0.9]);
    assert!(reaches, "{path:?}");
    assert!(path[1..path.len() - 1].iter().all(|p| p[1].abs() <= 1.0 - INFLATION), "{path:?}");
    assert_eq!(path[0], [-5.0, -0.8]);
}

#[test]
fn who_is_shut_in_something_too_narrow_for_anybody_comes_to_no_harm() {
    let walls = rectangle([0.0, 0.0, 0.5, 0.5]);
    let (path, reaches) = mesh(&walls, &[]).plan([0.25, 0.25], [9.0, 9.0]);
    assert!(!reaches && path.iter().flatten().all(|c| c.is_finite()), "{path:?}");
}

#[test]
fn who_stands_in_a_slot_too_narrow_to_walk_in_gets_out_of_it() {
    let walls = [[0.0, 0.0, 4.0, 0.0], [0.0, 0.6, 4.0, 0.6], [0.0, 0.0, 0.0, 0.6], [-3.0, -3.0, 9.0, -3.0]];
    let (path, reaches) = mesh(&walls, &[]).plan([1.0, 0.3], [2.0, 3.0]);
    assert!(reaches && clearance(&path, &walls) > 0.1, "{path:?}");
}

#[test]
fn beyond_the_frame_one_walks_straight_to_it() {
    let walls = [[0.0, -3.0, 0.0, 3.0], [-6.0, -6.0, 6.0, -6.0]];
    let (path, reaches) = mesh(&walls, &[]).plan([-1e4, 0.0], [50.0, 0.0]);
    assert!(reaches && clearance(&path, &walls) >= INFLATION, "{path:?}");
    assert_eq!((path[0], path[path.len() - 1]), ([-1e4, 0.0], [50.0, 0.0]));
}

#[test]
fn a_double_door_is_as_wide_as_both_its_wings() {
    let walls = [
        [0.0, -9.0, 0.0, -0.7],
        [0.0, 0.7, 0.0, 9.0],
        [-9.0, -9.0, 9.0, -9.0],
        [-9.0, 9.0, 9.0, 9.0],
        [9.0, -9.0, 9.0, 9.0],
        [-9.0, -9.0, -9.0, 9.0],
    ];
    let wings = [[0.0, -0.7, 0.0, 0.0], [0.0, 0.0, 0.0, 0.7]];
    let (mut known, mut mesh) = (set(&walls, &wings), mesh(&walls, &wings));
    let reaches = |mesh: &mut Mesh| mesh.plan([-3.0, 0.0], [3.0, 1.0]).1;
    assert!(!reaches(&mut mesh));
    move_doors(&mut known, &mut mesh, &[0], false);
    assert!(!reaches(&mut mesh), "one wing is 0.7 m wide");
    move_doors(&mut known, &mut mesh, &[1], false);
    let (path, found) = mesh.plan([-3.0, 0.0], [3.0, 1.0]);
    assert!(found && clearance(&path, &walls) >= INFLATION - 1e-3, "{path:?}");
    move_doors(&mut known, &mut mesh, &[0], true);
    assert!(!reaches(&mut mesh));
}

fn move_doors(walls: &mut WallSet, mesh: &mut Mesh, doors: &[usize], close: bool) {
    let names: Vec<String> = doors.iter().map(|door| format!("__door_{door}")).collect();
    let wall = |door: &usize| walls.gate(&format!("__door_{door}")).expect("known").clone();
    let toggles = match close {
        true => {
            let doors: Vec<Wall> = doors.iter().map(wall).collect();
            walls.close(&doors)
        }
        false => walls.open(&names),
    };
    toggles.expect("gates").into_iter().for_each(|toggle| mesh.toggle(toggle));
}

#[test]
fn doors_that_moved_leave_the_mesh_as_if_it_were_built_with_them_where_they_are() {
    let (fixed, doors) = maze(6, 3);
    let mut known = set(&fixed, &doors);
    let mut moved = Mesh::new(&known, INFLATION, 0.6).expect("walls");
    let all: Vec<usize> = (0..doors.len()).collect();
    move_doors(&mut known, &mut moved, &all, false);
    let spots = [[1.0, 1.0], [11.0, 11.0], [1.0, 11.0], [11.0, 1.0], [5.0, 7.0]];
    for round in 0..12 {
        let some: Vec<usize> = all.iter().copied().filter(|door| (door * 7 + round * 5) % 11 == 0).collect();
        move_doors(&mut known, &mut moved, &some, round % 3 != 2);
        let mut anew = Mesh::new(&known, INFLATION, 0.6).expect("walls");
        for (from, to) in spots.iter().flat_map(|from| spots.iter().map(move |to| (*from, *to))) {
            // Twice, so that trees are grown and kept over the next moves.
            for _ in 0..2 {
                assert_eq!(moved.plan(from, to), anew.plan(from, to), "{round}: {from:?} {to:?}");
            }
        }
    }
}

#[test]
fn every_maze_is_solved_with_clearance() {
    for seed in 0..20 {
        let side = 5 + seed as usize % 6;
        let (walls, _) = maze(side, seed);
        let mut mesh = mesh(&walls, &[]);
        let far = 2.0 * side as f64 - 1.0;
        for (from, to) in [([1.0, 1.0], [far, far]), ([1.0, far], [far, 1.0]), ([0.4, 1.9], [far + 0.5, far])]
        {
            let (path, reaches) = mesh.plan(from, to);
            assert!(reaches && clearance(&path, &walls) >= INFLATION - 2e-2, "{seed}: {path:?}");
        }
    }
}

fn coordinate() -> impl Strategy<Value = f64> {
    (-40..40_i32).prop_map(|c| f64::from(c) * 0.25)
}

fn hostile() -> impl Strategy<Value = f64> {
    prop_oneof![
        4 => coordinate(),
        2 => -10.0..10.0_f64,
        1 => (-3..3_i32).prop_map(|c| f64::from(c) * 1e-9),
        1 => Just(1e7),
        1 => Just(-1e7),
        1 => Just(1.0 + 1e-12),
    ]
}

proptest! {
    #[test]
    fn among_any_walls_a_path_never_crosses_one_and_keeps_clear(
        walls in prop::collection::vec([coordinate(), coordinate(), coordinate(), coordinate()], 1..14),
        from in [-11.0..11.0_f64, -11.0..11.0_f64],
        to in [-11.0..11.0_f64, -11.0..11.0_f64],
    ) {
        let (path, reaches) = mesh(&walls, &[]).plan(from, to);
        prop_assert_eq!(path[0], from);
        let lines = LineIndex::of_walls(&set(&walls, &[]));
        // Who begins nearer to a wall than the clearance may have to squeeze past the very end of one: a leg may touch where it begins or ends.
        let touches = |at: [f64; 2]| !lines.clear(at, at, 1e-3);
        for leg in path.windows(2) {
            let passes = lines.clear(leg[0], leg[1], 1e-6) || touches(leg[0]) || touches(leg[1]);
            prop_assert!(passes, "{:?}", path);
        }
        if reaches && lines.clear(from, from, INFLATION) && lines.clear(to, to, INFLATION) {
            prop_assert_eq!(path[path.len() - 1], to);
            prop_assert!(clearance(&path, &walls) >= INFLATION - 0.03, "{} {:?}", clearance(&path, &walls), path);
        }
    }

    #[test]
    fn hostile_walls_are_taken(
        walls in prop::collection::vec([hostile(), hostile(), hostile(), hostile()], 1..20),
        doors in prop::collection::vec([hostile(), hostile(), hostile(), hostile()], 0..4),
        from in [hostile(), hostile()],
        to in [hostile(), hostile()],
    ) {
        let (mut known, mut mesh) = (set(&walls, &doors), mesh(&walls, &doors));
        for close in [false, true, false] {
            let (path, _) = mesh.plan(from, to);
            prop_assert!(path.iter().flatten().all(|c| c.is_finite()));
            let all: Vec<usize> = (0..doors.len()).collect();
            if !all.is_empty() {
                move_doors(&mut known, &mut mesh, &all, close);
            }
        }
    }
}

#[test]
fn landmarks_never_say_that_it_is_further_than_it_is() {
    let (fixed, doors) = maze(8, 5);
    let mut known = set(&fixed, &doors);
    let mut mesh = Mesh::new(&known, INFLATION, 0.6).expect("walls");
    let all: Vec<usize> = (0..doors.len()).collect();
    move_doors(&mut known, &mut mesh, &all, false);
    let mut search = search::Search::default();
    let start = mesh.spot([1.0, 15.0]);
    let bounds = mesh.bounds(start);
    mesh.spread(&mut search, start, None, search::Rules { banned: &[], squeeze: false });
    let mut tight = 0;
    for (sample, cost) in search.cost.iter().enumerate().filter(|(_, cost)| cost.is_finite()) {
        let least = mesh.at_least(sample as u32, &bounds);
        assert!(least <= cost + 1e-9, "{sample}: {least} {cost}");
        tight += usize::from(least > 0.7 * cost);
    }
    assert!(2 * tight > search.cost.iter().filter(|cost| cost.is_finite()).count(), "{tight}");
}
