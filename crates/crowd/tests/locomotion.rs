//! People who do not simply walk: limps, wheelchairs, and what everybody else must not notice of them.

use promenade_crowd::locomotion::{LocomotionParameters, Mode};
use promenade_crowd::{
    AgentParameters, Crowd, GlobalPlanner, Improvements, Kind, Settings, SpawnRequest, Wall,
};
use promenade_scenario::{AgentTypeLibrary, ResolvedType};

fn built_in(name: &str) -> &'static ResolvedType {
    AgentTypeLibrary::built_in().named(name).expect("built in")
}

fn open_space() -> Crowd {
    walled(&[])
}

fn walled(walls: &[[f64; 4]]) -> Crowd {
    let settings = Settings {
        seed: 5,
        global_planner: GlobalPlanner::Off,
        improvements: Improvements::NONE,
        ..Settings::default()
    };
    let mut crowd = Crowd::new(settings).expect("settings hold");
    let wall = |(number, [a, b, c, d]): (usize, &[f64; 4])| Wall {
        name: number.to_string(),
        start: [*a, *b],
        end: [*c, *d],
    };
    crowd.add_walls(walls.iter().enumerate().map(wall)).expect("walls hold");
    crowd
}

fn spawn(crowd: &mut Crowd, name: &str, pose: [f64; 3], target: [f64; 2]) -> i32 {
    let request = SpawnRequest { pose, ..SpawnRequest::default() };
    let id = crowd.spawn(&request, Some(built_in(name))).expect("spawns");
    crowd.navigate(id, Some(target)).expect("a place");
    id
}

fn row(crowd: &Crowd, id: i32) -> usize {
    crowd.pool().row_of(id).expect("there")
}

#[test]
fn the_cycle_starts_from_the_id_and_runs_with_the_speed() {
    let mut crowd = open_space();
    let request = SpawnRequest { id: 725, ..SpawnRequest::default() };
    let limping = crowd.spawn(&request, Some(built_in("adult_limp_right"))).expect("spawns");
    let walking = spawn(&mut crowd, "adult", [3.0, 0.0, 0.0], [90.0, 0.0]);
    assert_eq!(crowd.pool().gait_phase[0], 5.0_f64.to_radians());
    crowd.step();
    assert_eq!(crowd.pool().gait_cadence[row(&crowd, limping)], 0.4, "standing");
    let turned = crowd.pool().gait_phase[row(&crowd, limping)] - 5.0_f64.to_radians();
    assert!((turned - std::f64::consts::TAU * 0.4 * 0.05).abs() < 1e-12, "{turned}");
    crowd.navigate(limping, Some([90.0, 5.0])).expect("a place");
    (0..200).for_each(|_| crowd.step());
    let speed = crowd.parameters(limping).expect("there").desired_velocity;
    let cadence = crowd.pool().gait_cadence[row(&crowd, limping)];
    assert!((cadence - (0.4 + 0.55 * speed)).abs() < 0.01, "{cadence} at {speed}");
    let plain = row(&crowd, walking);
    assert_eq!((crowd.pool().gait_phase[plain], crowd.pool().gait_cadence[plain]), (0.0, 0.0));
}

#[test]
fn a_limp_sways_and_stumbles_around_the_walk_that_was_planned() {
    let mut crowd = open_space();
    let id = spawn(&mut crowd, "adult_limp_right", [0.0; 3], [900.0, 0.0]);
    let wanted = crowd.parameters(id).expect("there").desired_velocity;
    (0..200).for_each(|_| crowd.step());
    let (mut fastest, mut slowest, mut most_left) = (0.0_f64, f64::INFINITY, 0.0_f64);
    let (from, phase) = (crowd.pool().x[0], crowd.pool().gait_phase[0]);
    let mut ticks = 0;
    while crowd.pool().gait_phase[0] < phase + 20.0 * std::f64::consts::TAU {
        crowd.step();
        ticks += 1;
        let (vx, vy) = (crowd.pool().vx[0], crowd.pool().vy[0]);
        (fastest, slowest, most_left) = (fastest.max(vx), slowest.min(vx), most_left.max(vy));
    }
    let mean = (crowd.pool().x[0] - from) / (f64::from(ticks) * 0.05);
    assert!((mean / wanted - 1.0).abs() < 0.005, "{mean} instead of {wanted}");
    assert!((fastest / wanted - 1.1).abs() < 0.02 && (slowest / wanted - 0.9).abs() < 0.02);
    assert!((most_left / wanted - 0.04).abs() < 0.01, "{most_left}");
    assert!(crowd.pool().y[0].abs() < 0.05, "{}", crowd.pool().y[0]);
}

#[test]
fn a_block_that_says_nothing_changes_no_walk() {
    let run = |locomotion: Option<LocomotionParameters>| {
        let mut crowd = open_space();
        for number in 0..6 {
            let (x, y) = (f64::from(number), 0.3 * f64::from(number % 3));
            let request = SpawnRequest { pose: [x, y, 0.0], ..SpawnRequest::default() };
            let parameters = AgentParameters {
                locomotion: locomotion.clone().map(Box::new),
                ..AgentParameters::unknown_type()
            };
            let id = crowd.spawn_with(&request, parameters).expect("spawns");
            crowd.navigate(id, Some([5.0 - x, y])).expect("a place");
        }
        (0..300).for_each(|_| crowd.step());
        (crowd.pool().x.clone(), crowd.pool().vy.clone(), crowd.pool().theta.clone())
    };
    assert_eq!(run(None), run(Some(LocomotionParameters::default())));
}

#[test]
fn a_wheelchair_only_goes_where_it_faces_and_turns_around_for_what_is_behind() {
    for planner in ["hsfm", "sfm"] {
        let mut crowd = open_space();
        let request = SpawnRequest { planner: Some(planner.to_owned()), ..SpawnRequest::default() };
        let id = crowd.spawn(&request, Some(built_in("wheelchair_manual"))).expect("spawns");
        crowd.navigate(id, Some([-6.0, 0.5])).expect("a place");
        for _ in 0..400 {
            let (x, y) = (crowd.pool().x[0], crowd.pool().y[0]);
            crowd.step();
            let pool = crowd.pool();
            let (vx, vy) = (pool.vx[0], pool.vy[0]);
            let ahead = (vx * pool.theta[0].cos() + vy * pool.theta[0].sin(), vx.hypot(vy));
            // The body turns within the tick after it has been projected, where the planner does not turn it.
            assert!(ahead.0 >= 0.99 * ahead.1 - 1e-9, "{planner}: {ahead:?}");
            assert!((pool.x[0] - x - vx * 0.05).hypot(pool.y[0] - y - vy * 0.05) < 1e-12);
        }
        let away = (crowd.pool().x[0] + 6.0).hypot(crowd.pool().y[0] - 0.5);
        assert!(away < 0.35, "{planner}: {away}");
    }
}

#[test]
fn both_ends_of_a_long_body_stay_out_of_walls_and_of_others() {
    let mut crowd = walled(&[[0.0, -2.0, 0.0, 2.0], [-3.0, -0.6, 0.0, -0.6]]);
    spawn(&mut crowd, "wheelchair_manual", [-2.0, 0.0, 0.0], [3.0, -0.6]);
    spawn(&mut crowd, "adult", [-1.2, 1.5, 0.0], [-1.2, -4.0]);
    for tick in 0..400 {
        crowd.step();
        let pool = crowd.pool();
        for end in [1.0, -1.0] {
            let x = pool.x[0] + end * pool.axial_offset[0] * pool.theta[0].cos();
            let y = pool.y[0] + end * pool.axial_offset[0] * pool.theta[0].sin();
            assert!(x < -0.325 + 0.005 && y > -0.6 + 0.325 - 0.005, "{tick}: {x} {y}");
            let gap = (pool.x[1] - x).hypot(pool.y[1] - y) - pool.radius[0] - pool.radius[1];
            assert!(gap > -0.05, "{tick}: {gap}");
        }
    }
    assert!(crowd.pool().x[0] > -0.8, "it has come to the wall: {}", crowd.pool().x[0]);
}

#[test]
fn a_wheelchair_that_gets_nowhere_turns_to_its_goal_and_then_backs_up() {
    let mut crowd = walled(&[[1.0, -2.0, 1.0, 2.0]]);
    let id = spawn(&mut crowd, "wheelchair_manual", [0.0; 3], [4.0, 0.0]);
    let mut modes = vec![Mode::Normal];
    for _ in 0..400 {
        crowd.step();
        let mode = crowd.gait_of(id).expect("a gait").recovery().mode();
        if modes.last() != Some(&mode) {
            modes.push(mode);
        }
    }
    let expected = [Mode::Normal, Mode::Rotate, Mode::Normal, Mode::Reverse, Mode::Rotate, Mode::Normal];
    assert_eq!(modes[..6], expected);
    assert!(crowd.gait_of(id).expect("a gait").recovery().events() >= 2);
}

#[test]
fn whoever_leaves_takes_its_own_gait_along() {
    let mut crowd = open_space();
    let names = ["adult_limp_right", "adult", "wheelchair_manual", "adult", "adult_limp_right"];
    let place = |number: usize| [3.0 * number as f64, 0.0, 0.0];
    let ids: Vec<i32> = (0..5).map(|n| spawn(&mut crowd, names[n], place(n), [50.0, 0.0])).collect();
    crowd.remove(ids[0]).expect("there");
    crowd.remove(ids[3]).expect("there");
    (0..20).for_each(|_| crowd.step());
    for (name, id) in names.iter().zip(&ids).filter(|(_, id)| crowd.pool().row_of(**id).is_some()) {
        let cycles = crowd.pool().gait_cadence[row(&crowd, *id)] > 0.0;
        assert_eq!((crowd.gait_of(*id).is_some(), cycles), (*name != "adult", *name != "adult"), "{name}");
        let long = crowd.pool().axial_offset[row(&crowd, *id)] > 0.0;
        assert_eq!(long, *name == "wheelchair_manual");
    }
    assert!(crowd.pool().has_long_bodies());
    crowd.remove(ids[2]).expect("there");
    assert!(!crowd.pool().has_long_bodies());
}

#[test]
fn threads_change_nothing_among_limps_and_wheelchairs() {
    let run = |threads: usize| {
        let settings = Settings { seed: 3, threads, ..Settings::default() };
        let mut crowd = Crowd::new(settings).expect("settings hold");
        for number in 0..300 {
            let name = ["adult", "adult_limp_right", "wheelchair_manual"][number % 3];
            let (x, y) = ((number % 20) as f64 * 1.5, (number / 20) as f64 * 1.5);
            spawn(&mut crowd, name, [x, y, 0.0], [28.5 - x, 21.0 - y]);
        }
        (0..150).for_each(|_| crowd.step());
        (crowd.pool().x.clone(), crowd.pool().theta.clone(), crowd.pool().gait_phase.clone())
    };
    assert_eq!(run(1), run(2));
}

#[test]
fn who_is_moved_by_nobody_still_has_a_cycle() {
    let mut crowd = open_space();
    let request = SpawnRequest { kind: Kind::Robot, ..SpawnRequest::default() };
    let parameters = AgentParameters { locomotion: Some(Box::default()), ..AgentParameters::unknown_type() };
    crowd.spawn_with(&request, parameters).expect("spawns");
    crowd.step();
    assert_eq!(crowd.pool().gait_cadence[0], 0.4);
}
