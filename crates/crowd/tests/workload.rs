//! A steady tick of a crowd: no allocation, and the same result for every number of threads.

use promenade_crowd::{Crowd, Settings, Wall, planner::PLANNERS, workload::mirrored_square};

fn crowd(planner: &str, threads: usize) -> Crowd {
    let settings = Settings { local_planner: planner.to_owned(), threads, ..Settings::default() };
    mirrored_square(settings, 150).expect("settings hold")
}

#[test]
fn memory_that_was_enough_for_the_jam_is_enough_after_it() {
    for (planner, walls) in [("sfm", true), ("hsfm", false)] {
        let mut crowd = crowd(planner, 1);
        let corner = |n: usize| [[-30.0, -30.0], [30.0, -30.0], [30.0, 30.0], [-30.0, 30.0]][n % 4];
        let wall = |n: usize| Wall { name: n.to_string(), start: corner(n), end: corner(n + 1) };
        if walls {
            crowd.add_walls((0..4).map(wall)).expect("finite");
        }
        (0..600).for_each(|_| crowd.step());
        let counted = allocation_counter::measure(|| (0..50).for_each(|_| crowd.step()));
        assert_eq!(counted.count_total, 0, "{planner}: {counted:?}");
    }
}

#[test]
fn threads_change_nothing_even_in_a_jam_and_memory_once_warm_is_enough_whatever_the_planner() {
    for planner in PLANNERS {
        let mut crowds = [crowd(planner, 1), crowd(planner, 3)];
        for crowd in &mut crowds {
            (0..300).for_each(|_| crowd.step());
        }
        for other in &crowds[1..] {
            assert_eq!(crowds[0].pool().x, other.pool().x, "{planner}");
            assert_eq!(crowds[0].pool().vy, other.pool().vy, "{planner}");
            assert_eq!(crowds[0].pool().theta, other.pool().theta, "{planner}");
        }
        let counted = allocation_counter::measure(|| (0..5).for_each(|_| crowds[0].step()));
        let again = allocation_counter::measure(|| (0..5).for_each(|_| crowds[0].step()));
        assert!(counted.count_total.min(again.count_total) == 0, "{planner}: {counted:?} {again:?}");
    }
}

#[test]
fn everybody_keeps_within_the_limits_of_a_body() {
    let mut crowd = crowd("sfm", 1);
    for _ in 0..200 {
        crowd.step();
        let pool = crowd.pool();
        for row in 0..pool.len() {
            let speed = pool.vx[row].hypot(pool.vy[row]);
            assert!(speed.is_finite() && speed <= pool.max_velocity[row] * 1.5, "{speed}");
            assert!(pool.x[row].is_finite() && pool.theta[row].is_finite());
        }
    }
}
