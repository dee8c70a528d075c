//! What people do under each planner (crowd-engine specification, sections 27 to 29): whether they get past each other, and whether
//! they walk as a peer does.

use std::f64::consts::TAU;

use promenade_crowd::planner::PLANNERS;
use promenade_crowd::protocol::AgentState;
use promenade_crowd::workload::mirrored_square;
use promenade_crowd::{AgentParameters, Crowd, Engine, Improvements, Settings, SpawnRequest, Wall};
use serde_json::Value;

type Place = [f64; 2];

/// A body of the correspondence gate that walks with `planner`.
fn body() -> AgentParameters {
    let mut body = AgentParameters {
        radius: 0.25,
        desired_velocity: 1.1,
        max_velocity: 1.5,
        vision_fov: 360.0,
        ..AgentParameters::unknown_type()
    };
    let of_sfm = [
        ("relaxation_time", 0.5),
        ("repulsion_strength", 2.1),
        ("repulsion_range", 0.3),
        ("anisotropy", 0.5),
    ];
    of_sfm.iter().for_each(|(key, value)| body.set_planner_value(key, *value));
    body
}

/// As [`body`], but its velocity follows its planner at once.
fn unlimited() -> AgentParameters {
    AgentParameters { max_acceleration: 1e6, max_deceleration: 1e6, pivot_angular_velocity: 1e6, ..body() }
}

fn crowd(settings: Settings, body: &AgentParameters, people: &[(Place, Place)]) -> Crowd {
    let mut crowd = Crowd::new(settings).expect("settings hold");
    for (start, goal) in people {
        let theta = (goal[1] - start[1]).atan2(goal[0] - start[0]);
        let request = SpawnRequest { pose: [start[0], start[1], theta], ..SpawnRequest::default() };
        let id = crowd.spawn_with(&request, body.clone()).expect("spawned");
        crowd.navigate(id, Some(*goal)).expect("sent");
    }
    crowd
}

fn with(planner: &str) -> Settings {
    Settings { local_planner: planner.to_owned(), ..Settings::default() }
}

fn apart(a: Place, b: Place) -> f64 {
    (a[0] - b[0]).hypot(a[1] - b[1])
}

/// Seconds until everybody is within 0.3 m of the goal, and the smallest gap between two bodies until then.
fn walk(crowd: &mut Crowd, people: &[(Place, Place)], seconds: f64) -> (Option<f64>, f64) {
    let mut least = f64::INFINITY;
    for tick in 1..=(seconds / crowd.settings().dt) as usize {
        crowd.step();
        let pool = crowd.pool();
        for row in 0..pool.len() {
            for other in 0..row {
                let touch = pool.radius[row] + pool.radius[other];
                least = least.min(apart(pool.position(row), pool.position(other)) - touch);
            }
        }
        if people.iter().enumerate().all(|(row, (_, goal))| apart(pool.position(row), *goal) < 0.3) {
            return (Some(tick as f64 * crowd.settings().dt), least);
        }
    }
    (None, least)
}

fn head_on(offset: f64) -> [(Place, Place); 2] {
    [([-4.0, 0.0], [4.0, 0.0]), ([4.0, offset], [-4.0, offset])]
}

/// People on a circle who want to its other side, not quite evenly spaced: exactly even ones block each other under `orca`, and under the
/// RVO2 library too.
fn circle(count: usize, radius: f64) -> Vec<(Place, Place)> {
    let place = |angle: f64| [radius * angle.cos(), radius * angle.sin()];
    (0..count)
        .map(|number| {
            let angle = TAU * (number as f64 + 0.1 * (number * number % 7) as f64) / count as f64;
            (place(angle), place(angle + TAU / 2.0))
        })
        .collect()
}

#[test]
fn two_people_who_meet_nearly_head_on_get_past_each_other() {
    for planner in PLANNERS {
        let people = head_on(0.3);
        let (arrived, gap) = walk(&mut crowd(with(planner), &body(), &people), &people, 15.0);
        assert!(arrived.is_some() && gap > -0.02, "{planner}: {arrived:?} {gap}");
    }
}

#[test]
fn the_planners_that_look_ahead_need_no_touch_for_it() {
    for planner in ["karamouzas", "zanlungo", "gcf", "cfsm", "avm"] {
        let people = head_on(0.3);
        let (_, gap) = walk(&mut crowd(with(planner), &body(), &people), &people, 15.0);
        assert!(gap > 0.05, "{planner}: {gap}");
    }
}

#[test]
fn exactly_head_on_some_models_stop_for_good_and_symmetry_breaking_leads_all_of_them_past_each_other() {
    let passes = |planner: &str, improvements: Improvements| {
        let (people, settings) = (head_on(0.0), Settings { improvements, ..with(planner) });
        walk(&mut crowd(settings, &body(), &people), &people, 20.0).0.is_some()
    };
    for planner in PLANNERS {
        // `straight` avoids nobody.
        assert_eq!(passes(planner, Improvements::ALL), planner != "straight", "{planner}");
    }
    for planner in ["orca", "pedvo", "avm"] {
        assert!(passes(planner, Improvements::NONE), "{planner}");
    }
    // Their forces lie in the line of the meeting, and nothing in the model leads out of it.
    for planner in ["sfm", "gcf", "cfsm"] {
        assert!(!passes(planner, Improvements::NONE), "{planner} finds a way: say so in its documentation");
    }
}

#[test]
fn a_wide_corridor_is_no_obstacle() {
    for planner in PLANNERS {
        let people = [([-4.0, 0.2], [4.0, 0.0])];
        let mut crowd = crowd(with(planner), &body(), &people);
        let wall = |name: &str, y| Wall { name: name.to_owned(), start: [-6.0, y], end: [6.0, y] };
        crowd.add_walls([wall("left", 1.2), wall("right", -1.2)]).expect("walls");
        let (arrived, _) = walk(&mut crowd, &people, 20.0);
        assert!(arrived.is_some(), "{planner}");
        let y = crowd.pool().y[0];
        assert!(y.abs() < 0.95, "{planner}: {y}");
    }
}

#[test]
fn a_circle_of_ten_changes_sides_without_a_collision_under_orca() {
    let people = circle(10, 5.0);
    let improvements = Improvements::NONE;
    let settings = Settings { contacts: false, bt_tick_interval: 1, improvements, ..with("orca") };
    let (arrived, gap) = walk(&mut crowd(settings, &unlimited(), &people), &people, 40.0);
    assert!(arrived.is_some() && gap > -1e-3, "{arrived:?} {gap}");
}

#[test]
fn under_first_order_models_nobody_overlaps_even_where_bodies_do_not_touch() {
    for planner in ["cfsm", "avm"] {
        let settings = Settings { contacts: false, improvements: Improvements::NONE, ..with(planner) };
        let mut crowd = mirrored_square(settings, 80).expect("settings hold");
        let mut least = f64::INFINITY;
        for _ in 0..300 {
            crowd.step();
            let pool = crowd.pool();
            for row in 0..pool.len() {
                for other in 0..row {
                    let touch = pool.radius[row] + pool.radius[other];
                    least = least.min(apart(pool.position(row), pool.position(other)) - touch);
                }
            }
        }
        assert!((-0.01..0.2).contains(&least), "{planner}: {least}");
    }
}

/// Positions of everybody every `every` ticks, the first at the start.
fn trajectories(crowd: &mut Crowd, every: usize, samples: usize) -> Vec<Vec<Place>> {
    let mut all = vec![Vec::with_capacity(samples); crowd.pool().len()];
    for sample in 0..samples {
        if sample > 0 {
            (0..every).for_each(|_| crowd.step());
        }
        all.iter_mut().enumerate().for_each(|(row, places)| places.push(crowd.pool().position(row)));
    }
    all
}

/// Largest distance of a point of one from the nearest of the other.
fn hausdorff(one: &[Place], other: &[Place]) -> f64 {
    let one_way = |from: &[Place], to: &[Place]| {
        let nearest = |p: &Place| to.iter().map(|q| apart(*p, *q)).fold(f64::INFINITY, f64::min);
        from.iter().map(nearest).fold(0.0, f64::max)
    };
    one_way(one, other).max(one_way(other, one))
}

/// The correspondence gate: median Hausdorff distance at most 0.35 m, mean difference of velocities at most 0.08 m/s.
fn assert_correspond(what: &str, ours: &[Vec<Place>], theirs: &[Vec<Place>], seconds: f64) {
    let mut distances: Vec<f64> = ours.iter().zip(theirs).map(|(a, b)| hausdorff(a, b)).collect();
    distances.sort_by(f64::total_cmp);
    let median = distances[distances.len() / 2];
    let velocity = |places: &[Place]| [0, 1].map(|axis| (places[1][axis] - places[0][axis]) / seconds);
    let differences = ours.iter().zip(theirs).flat_map(|(a, b)| {
        a.windows(2).zip(b.windows(2)).map(|(a, b)| apart(velocity(a), velocity(b))).collect::<Vec<_>>()
    });
    let differences: Vec<f64> = differences.collect();
    let mean = differences.iter().sum::<f64>() / differences.len() as f64;
    assert!(median <= 0.35 && mean <= 0.08, "{what}: {median} m, {mean} m/s");
}

fn places(value: &Value) -> Vec<Place> {
    let place = |value: &Value| [0, 1].map(|axis| value[axis].as_f64().expect("a number"));
    value.as_array().expect("a list").iter().map(place).collect()
}

#[test]
fn orca_walks_as_the_rvo2_library_does() {
    let file: Value = serde_json::from_str(include_str!("data/orca_peer.json")).expect("a recording");
    let every = file["every"].as_u64().expect("ticks") as usize;
    for scene in file["scenes"].as_array().expect("scenes") {
        let people: Vec<(Place, Place)> =
            places(&scene["starts"]).into_iter().zip(places(&scene["goals"])).collect();
        let samples: Vec<Vec<Place>> =
            scene["positions"].as_array().expect("positions").iter().map(places).collect();
        let theirs: Vec<Vec<Place>> =
            (0..people.len()).map(|row| samples.iter().map(|sample| sample[row]).collect()).collect();
        let improvements = Improvements::NONE;
        let settings = Settings { contacts: false, bt_tick_interval: 1, improvements, ..with("orca") };
        let mut body = unlimited();
        body.set_planner_value("wall_clearance", 0.0);
        let mut crowd = crowd(settings, &body, &people);
        let walls = scene["walls"].as_array().expect("walls").iter().enumerate();
        let walls = walls.map(|(number, wall)| {
            let end = |at: usize| [0, 1].map(|axis| wall[at + axis].as_f64().expect("a number"));
            Wall { name: number.to_string(), start: end(0), end: end(2) }
        });
        crowd.add_walls(walls).expect("walls");
        let ours = trajectories(&mut crowd, every, samples.len());
        assert_correspond(&scene["name"].to_string(), &ours, &theirs, 0.05 * every as f64);
    }
}

#[test]
fn straight_walks_as_its_closed_form_says() {
    let people = circle(6, 4.0);
    let settings = Settings { contacts: false, bt_tick_interval: 1, ..with("straight") };
    let ours = trajectories(&mut crowd(settings, &unlimited(), &people), 1, 500);
    let form = |(start, goal): &(Place, Place)| {
        let length = apart(*start, *goal);
        let at = |tick: usize| {
            let s = (1.1 * 0.05 * tick as f64).min(length - 0.15) / length;
            [0, 1].map(|axis| start[axis] + s * (goal[axis] - start[axis]))
        };
        (0..500).map(at).collect()
    };
    let theirs: Vec<Vec<Place>> = people.iter().map(form).collect();
    assert_correspond("straight", &ours, &theirs, 0.05);
}

#[test]
fn factors_between_classes_widen_the_way_around_their_own_kind() {
    let gap = |policy_params: &str| {
        let mut crowd = Crowd::new(with("sfm")).expect("settings hold");
        let people = head_on(0.5);
        for (start, goal) in &people {
            let request = SpawnRequest {
                pose: [start[0], start[1], (goal[0] - start[0]).signum().acos()],
                policy_params: policy_params.to_owned(),
                ..SpawnRequest::default()
            };
            let id = crowd.spawn(&request, None).expect("spawned");
            crowd.navigate(id, Some(*goal)).expect("sent");
        }
        walk(&mut crowd, &people, 15.0).1
    };
    let built_in = gap("");
    let own = gap(r#"{"kind_gains": {"human_human": {"strength_scale": 2.0, "range_scale": 2.0}}}"#);
    assert!(own > built_in + 0.1, "{own} {built_in}");
}

#[test]
fn policy_params_that_are_no_json_bring_nobody_in() {
    let mut crowd = Crowd::new(with("hsfm")).expect("settings hold");
    let request = SpawnRequest { policy_params: "kind_gains".to_owned(), ..SpawnRequest::default() };
    let error = crowd.spawn(&request, None).expect_err("refused").to_string();
    assert!(error.starts_with("policy_params of hsfm: expected JSON such as"), "{error}");
    assert!(crowd.pool().is_empty());
}

#[test]
fn policy_params_reach_the_planner_of_an_agent_of_the_engine_or_the_whole_request_is_refused() {
    let mut engine = Engine::new(&[]).expect("an engine");
    let agent = |agent_id: i32, policy: &str, policy_params: &str| AgentState {
        agent_id,
        policy: policy.to_owned(),
        policy_params: policy_params.to_owned(),
        ..AgentState::default()
    };
    let gains = r#"{"kind_gains": {"human_pram": {"range_scale": 1.5}}}"#;
    let unknown = [agent(1, "sfm", gains), agent(2, "orca", gains)];
    let error = engine.spawn_agents(&unknown).expect_err("refused").to_string();
    assert!(error.contains("no key is named \"kind_gains\"; there are time_horizon"), "{error}");
    assert!(engine.crowd().pool().is_empty());
    let known = [agent(1, "sfm", gains), agent(2, "orca", r#"{"time_horizon": 2.5}"#)];
    engine.spawn_agents(&known).expect("spawned");
    let parameters = |id| engine.crowd().parameters(id).expect("there");
    assert_eq!(parameters(1).kind_gains[0].range, 1.5);
    assert_eq!(parameters(2).planner_value("time_horizon"), Some(2.5));
    assert_eq!(engine.crowd().classes().names()[3..], ["pram"]);
}
