//! The wheelchair gate, its two quick scenes: how a wheelchair gets along where an adult does (crowd-engine specification, section 27).

use promenade_crowd::{Crowd, GlobalPlanner, Settings, SpawnRequest, Wall};
use promenade_scenario::AgentTypeLibrary;

const SEEDS: i64 = 10;
/// Nearer than this to the goal the walk is over, metres.
const AT_GOAL: f64 = 0.5;

/// A scene: its walls, the way of who is measured, the way of somebody who comes along, and what the published runs took.
struct Scene {
    walls: &'static [[f64; 4]],
    from: [f64; 2],
    to: [f64; 2],
    other: Option<([f64; 2], [f64; 2])>,
    budget: f64,
    /// Time of a wheelchair over that of an adult, at most.
    time_ratio: f64,
    /// Of a wheelchair and an adult: seconds stuck and path efficiency.
    stuck: [f64; 2],
    efficiency: [f64; 2],
}

const DOORWAY: Scene = Scene {
    walls: &[[0.0, -5.0, 0.0, -0.45], [0.0, 0.45, 0.0, 5.0]],
    from: [-5.0, 0.0],
    to: [5.0, 0.0],
    other: None,
    budget: 40.0,
    time_ratio: 1.536,
    stuck: [0.025, 0.0],
    efficiency: [0.996, 0.996],
};

const HEAD_ON: Scene = Scene {
    walls: &[[-8.0, -1.0, 8.0, -1.0], [-8.0, 1.0, 8.0, 1.0]],
    from: [-6.0, 0.0],
    to: [6.0, 0.0],
    other: Some(([6.0, 0.0], [-6.0, 0.0])),
    budget: 45.0,
    time_ratio: 1.526,
    stuck: [0.05, 0.0],
    efficiency: [0.989, 0.977],
};

#[derive(Debug)]
struct Walk {
    time: f64,
    stuck: f64,
    efficiency: f64,
    clearance: f64,
    recoveries: u32,
}

fn walk(scene: &Scene, agent_type: &str, seed: i64) -> Walk {
    let settings = Settings { seed, global_planner: GlobalPlanner::Off, ..Settings::default() };
    let mut crowd = Crowd::new(settings).expect("settings hold");
    let wall = |(number, [a, b, c, d]): (usize, &[f64; 4])| Wall {
        name: number.to_string(),
        start: [*a, *b],
        end: [*c, *d],
    };
    crowd.add_walls(scene.walls.iter().enumerate().map(wall)).expect("walls hold");
    let mut spawn = |name: &str, from: [f64; 2], to: [f64; 2]| {
        let theta = (to[1] - from[1]).atan2(to[0] - from[0]);
        let request = SpawnRequest { pose: [from[0], from[1], theta], ..SpawnRequest::default() };
        let resolved = AgentTypeLibrary::built_in().named(name).expect("built in");
        let id = crowd.spawn(&request, Some(resolved)).expect("spawns");
        crowd.navigate(id, Some(to)).expect("a place");
        id
    };
    let id = spawn(agent_type, scene.from, scene.to);
    if let Some((from, to)) = scene.other {
        spawn("adult", from, to);
    }
    let mut walk =
        Walk { time: f64::INFINITY, stuck: 0.0, efficiency: 0.0, clearance: f64::INFINITY, recoveries: 0 };
    let (mut travelled, mut before) = (0.0, scene.from);
    for tick in 1..=(scene.budget / 0.05) as u32 {
        crowd.step();
        let pool = crowd.pool();
        let place = [pool.x[0], pool.y[0]];
        travelled += (place[0] - before[0]).hypot(place[1] - before[1]);
        before = place;
        let discs = [1.0, -1.0].map(|end| {
            let offset = end * pool.axial_offset[0];
            [place[0] + offset * pool.theta[0].cos(), place[1] + offset * pool.theta[0].sin()]
        });
        for wall in crowd.walls().segments() {
            let gap = discs.map(|disc| wall.offset(disc).0).into_iter().fold(f64::INFINITY, f64::min);
            walk.clearance = walk.clearance.min(gap - pool.radius[0]);
        }
        if (place[0] - scene.to[0]).hypot(place[1] - scene.to[1]) < AT_GOAL {
            let straight = (scene.to[0] - scene.from[0]).hypot(scene.to[1] - scene.from[1]) - AT_GOAL;
            (walk.time, walk.efficiency) = (f64::from(tick) * 0.05, (straight / travelled).min(1.0));
            break;
        }
        if pool.vx[0].hypot(pool.vy[0]) < 0.05 {
            walk.stuck += 0.05;
        }
    }
    walk.recoveries = crowd.gait_of(id).map_or(0, |gait| gait.recovery().events());
    walk
}

fn median(walks: &[Walk], of: impl Fn(&Walk) -> f64) -> f64 {
    let mut values: Vec<f64> = walks.iter().map(of).collect();
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    0.5 * (values[middle] + values[values.len() - 1 - middle])
}

fn passes(scene: &Scene) {
    let walks = |agent_type: &str| (1..=SEEDS).map(|seed| walk(scene, agent_type, seed)).collect::<Vec<_>>();
    let (wheelchair, adult) = (walks("wheelchair_manual"), walks("adult"));
    for walk in wheelchair.iter().chain(&adult) {
        assert!(walk.time.is_finite(), "it arrives: {walk:?}");
        assert!(walk.clearance > -0.05, "it stays out of walls: {walk:?}");
        assert_eq!(walk.recoveries, 0, "{walk:?}");
    }
    let both = |of: fn(&Walk) -> f64| [median(&wheelchair, of), median(&adult, of)];
    let [time, time_of_adult] = both(|walk| walk.time);
    assert!(time / time_of_adult <= scene.time_ratio, "{time} s, an adult {time_of_adult} s");
    let [stuck, stuck_of_adult] = both(|walk| walk.stuck);
    assert!(stuck <= stuck_of_adult + scene.stuck[0] - scene.stuck[1] + 2.0, "{stuck} s, {stuck_of_adult} s");
    let [efficiency, efficiency_of_adult] = both(|walk| walk.efficiency);
    let allowed = scene.efficiency[1] - scene.efficiency[0] + 0.05;
    assert!(efficiency >= efficiency_of_adult - allowed, "{efficiency}, {efficiency_of_adult}");
}

#[test]
fn a_wheelchair_gets_through_a_doorway_as_well_as_the_published_gate_asks() {
    passes(&DOORWAY);
}

#[test]
fn a_wheelchair_passes_somebody_in_a_corridor_as_well_as_the_published_gate_asks() {
    passes(&HEAD_ON);
}
