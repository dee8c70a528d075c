//! The wheelchair gate: how somebody in a wheelchair gets along where an adult does (crowd-engine specification, section 27).
//!
//! Scenes are run with a wheelchair and with an adult, for ten seeds. The bounds are those of the published runs: a ratio of times, and
//! how much longer the wheelchair may be stuck and how much less straight it may go.

use promenade_scenario::{AgentTypeLibrary, ResolvedType};

use super::stage::{Goal, Stage};
use super::{Outcome, Row, Size};
use crate::capsule;
use crate::error::CrowdError;
use crate::pool::Kind;
use crate::settings::Settings;
use crate::spawn::SpawnRequest;

/// Nearer than this to a goal one is there, metres.
const AT_GOAL: f64 = 0.5;
/// Slower than this one is stuck, m/s.
const STUCK: f64 = 0.05;
/// How much longer than in the published runs one may be stuck, seconds, and how much less straight one may go.
const STUCK_MARGIN: f64 = 2.0;
const EFFICIENCY_MARGIN: f64 = 0.05;

/// Who comes along.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Others {
    Nobody,
    Adult([[f64; 2]; 2]),
    Robot([[f64; 2]; 2]),
    /// Standing there.
    Parked([f64; 2]),
    /// Half a person per second across the way, on either side.
    Crossing,
}

/// A scene, and what the published runs have: seconds stuck and path efficiency of a wheelchair and an adult, and the most that the
/// time of a wheelchair may be over that of an adult.
struct Course {
    name: &'static str,
    walls: &'static [&'static [[f64; 2]]],
    /// Where one starts and what one walks to.
    way: &'static [[f64; 2]],
    others: Others,
    budget: f64,
    ratio: f64,
    stuck: [f64; 2],
    efficiency: [f64; 2],
}

const CORRIDOR: &[&[[f64; 2]]] = &[&[[-8.0, -1.0], [8.0, -1.0]], &[[-8.0, 1.0], [8.0, 1.0]]];

const COURSES: [Course; 6] = [
    Course {
        name: "doorway of 0.9 m",
        walls: &[&[[0.0, -5.0], [0.0, -0.45]], &[[0.0, 0.45], [0.0, 5.0]]],
        way: &[[-5.0, 0.0], [5.0, 0.0]],
        others: Others::Nobody,
        budget: 40.0,
        ratio: 1.536,
        stuck: [0.025, 0.0],
        efficiency: [0.996, 0.996],
    },
    Course {
        name: "adult head-on in a corridor",
        walls: CORRIDOR,
        way: &[[-6.0, 0.0], [6.0, 0.0]],
        others: Others::Adult([[6.0, 0.0], [-6.0, 0.0]]),
        budget: 45.0,
        ratio: 1.526,
        stuck: [0.05, 0.0],
        efficiency: [0.989, 0.977],
    },
    Course {
        name: "robot head-on in a corridor",
        walls: CORRIDOR,
        way: &[[-6.0, 0.0], [6.0, 0.0]],
        others: Others::Robot([[6.0, 0.0], [-6.0, 0.0]]),
        budget: 45.0,
        ratio: 1.592,
        stuck: [0.45, 0.0],
        efficiency: [0.962, 0.930],
    },
    Course {
        name: "crossing streams",
        walls: &[],
        way: &[[-4.0, 0.0], [4.0, 0.0]],
        others: Others::Crossing,
        budget: 45.0,
        ratio: 1.646,
        stuck: [0.05, 0.0],
        efficiency: [0.967, 0.983],
    },
    Course {
        name: "turn in a corridor",
        walls: CORRIDOR,
        way: &[[-4.0, 0.0], [4.0, 0.0], [-4.0, 0.0]],
        others: Others::Nobody,
        budget: 60.0,
        ratio: 1.629,
        stuck: [1.475, 0.05],
        efficiency: [0.988, 0.982],
    },
    Course {
        name: "parked robot in a corridor of 2.4 m",
        walls: &[&[[-8.0, -1.2], [8.0, -1.2]], &[[-8.0, 1.2], [8.0, 1.2]]],
        way: &[[-5.5, 0.0], [5.5, 0.0]],
        others: Others::Parked([0.0, 0.0]),
        budget: 45.0,
        ratio: 1.455,
        stuck: [0.025, 0.0],
        efficiency: [0.971, 0.952],
    },
];

/// One way through a scene.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Walk {
    /// Seconds; infinite for one that did not arrive.
    time: f64,
    stuck: f64,
    efficiency: f64,
    /// Gap to the nearest wall at the worst, metres.
    clearance: f64,
    recoveries: u32,
}

pub(super) fn gate(settings: &Settings, size: Size) -> Result<Outcome, CrowdError> {
    let (courses, seeds) = match size {
        Size::Quick => (&COURSES[..2], 5),
        Size::Full => (&COURSES[..], 10),
    };
    let mut outcome = Outcome::default();
    let (mut arrived, mut walks) = (0, 0);
    let (mut recoveries, mut freed, mut clearance) = (0.0, Vec::new(), f64::INFINITY);
    for course in courses {
        let mut of = |name: &str| -> Result<Vec<Walk>, CrowdError> {
            (1..=seeds)
                .map(|seed| {
                    let (walk, stage) = walk(course, name, &Settings { seed, ..settings.clone() })?;
                    if name != "adult" {
                        outcome.scene = Some(stage.scene());
                    }
                    Ok(walk)
                })
                .collect()
        };
        let both = [of("wheelchair_manual")?, of("adult")?];
        for walk in both.iter().flatten() {
            walks += 1;
            arrived += usize::from(walk.time.is_finite());
            if walk.recoveries > 0 {
                freed.push(course.name);
            }
            clearance = clearance.min(walk.clearance);
        }
        let medians = |of: fn(&Walk) -> f64| both.each_ref().map(|walks| median(walks.iter().map(of)));
        let [in_wheelchair, _] = medians(|walk| walk.recoveries.into());
        recoveries += in_wheelchair;
        let [time, adult] = medians(|walk| walk.time);
        outcome.rows.push(
            Row::new(format!("{}: time of a wheelchair over an adult's", course.name), time / adult, "")
                .within(f64::NEG_INFINITY, course.ratio)
                .note(format!("{time:.2} s and {adult:.2} s")),
        );
        let [stuck, adult] = medians(|walk| walk.stuck);
        let most = course.stuck[0] - course.stuck[1] + STUCK_MARGIN;
        outcome.rows.push(
            Row::new(format!("{}: stuck longer than an adult", course.name), stuck - adult, "s")
                .within(f64::NEG_INFINITY, (1e3 * most).round() / 1e3),
        );
        let [efficiency, adult] = medians(|walk| walk.efficiency);
        let most = course.efficiency[1] - course.efficiency[0] + EFFICIENCY_MARGIN;
        outcome.rows.push(
            Row::new(
                format!("{}: path efficiency less than an adult's", course.name),
                adult - efficiency,
                "",
            )
            .within(f64::NEG_INFINITY, (1e3 * most).round() / 1e3)
            .note(format!("{efficiency:.3} and {adult:.3}")),
        );
    }
    let share = arrived as f64 / walks as f64;
    outcome.rows.push(Row::new("share of all who arrived", share, "").within(1.0, 1.0));
    let note = match freed.len() {
        0 => String::new(),
        runs => format!("{runs} of {walks} runs: {}", freed.join(", ")),
    };
    outcome.rows.push(
        Row::new("times that a wheelchair had to free itself, sum of the medians", recoveries, "")
            .within(f64::NEG_INFINITY, 0.0)
            .note(note),
    );
    outcome.rows.push(Row::new("smallest gap to a wall", clearance, "m").within(-0.05, f64::INFINITY));
    Ok(outcome)
}

fn walk(course: &Course, agent_type: &str, settings: &Settings) -> Result<(Walk, Stage), CrowdError> {
    let mut stage = Stage::open(settings, "wheelchair")?;
    stage.walls(course.walls)?;
    let (start, goals) = (course.way[0], &course.way[1..]);
    let id = person(&mut stage, agent_type, [start, goals[0]], None)?;
    match course.others {
        Others::Nobody | Others::Crossing => {}
        Others::Adult(way) => {
            person(&mut stage, "adult", way, None)?;
        }
        Others::Robot(way) => {
            person(&mut stage, "robot", way, Some("sfm"))?;
        }
        Others::Parked(at) => {
            let robot =
                SpawnRequest { pose: [at[0], at[1], 0.0], kind: Kind::Robot, ..SpawnRequest::default() };
            stage.crowd.spawn(&robot, resolved("robot"))?;
        }
    }
    let mut goals = goals.iter().copied().peekable();
    let mut walk =
        Walk { time: f64::INFINITY, stuck: 0.0, efficiency: 0.0, clearance: f64::INFINITY, recoveries: 0 };
    let (mut travelled, mut before) = (0.0, start);
    while stage.time() < course.budget {
        if course.others == Others::Crossing {
            cross(&mut stage)?;
        }
        stage.step()?;
        let (pool, dt) = (stage.pool(), settings.dt);
        let Some(row) = pool.row_of(id) else { break };
        let at = pool.position(row);
        travelled += (at[0] - before[0]).hypot(at[1] - before[1]);
        before = at;
        for disc in capsule::discs(pool, row) {
            for wall in stage.crowd.walls().segments() {
                walk.clearance = walk.clearance.min(wall.offset(disc).0 - pool.radius[row]);
            }
        }
        let is_stuck = pool.vx[row].hypot(pool.vy[row]) < STUCK;
        let Some(goal) = goals.peek() else { break };
        if (goal[0] - at[0]).hypot(goal[1] - at[1]) >= AT_GOAL {
            walk.stuck += if is_stuck { dt } else { 0.0 };
            continue;
        }
        goals.next();
        match goals.peek() {
            Some(goal) => stage.crowd.navigate(id, Some(*goal))?,
            None => {
                let legs =
                    course.way.windows(2).map(|leg| (leg[1][0] - leg[0][0]).hypot(leg[1][1] - leg[0][1]));
                let straight = legs.map(|length| length - AT_GOAL).sum::<f64>();
                (walk.time, walk.efficiency) = (stage.time(), (straight / travelled).min(1.0));
                break;
            }
        }
    }
    walk.recoveries = stage.crowd.gait_of(id).map_or(0, |gait| gait.recovery().events());
    Ok((walk, stage))
}

/// Somebody who walks along a way.
fn person(
    stage: &mut Stage,
    agent_type: &str,
    [from, to]: [[f64; 2]; 2],
    planner: Option<&str>,
) -> Result<i32, CrowdError> {
    let kind = if agent_type == "robot" { Kind::Robot } else { Kind::Human };
    let pose = [from[0], from[1], (to[1] - from[1]).atan2(to[0] - from[0])];
    let planner = planner.map(str::to_owned);
    let request = SpawnRequest { pose, kind, planner, ..SpawnRequest::default() };
    let id = stage.crowd.spawn(&request, resolved(agent_type))?;
    stage.crowd.navigate(id, Some(to))?;
    Ok(id)
}

fn resolved(agent_type: &str) -> Option<&'static ResolvedType> {
    AgentTypeLibrary::built_in().named(agent_type).ok().map(|resolved| &**resolved)
}

/// Let one more come from either side every two seconds.
fn cross(stage: &mut Stage) -> Result<(), CrowdError> {
    let every = (2.0 / stage.crowd.settings().dt).round().max(1.0) as u64;
    if !stage.crowd.ticks().is_multiple_of(every) {
        return Ok(());
    }
    for side in [-1.0, 1.0] {
        let x = stage.draw.uniform(-2.0, 2.0);
        let from = [x, 5.0 * side];
        if stage.is_free(from) {
            stage.walker(from, 0.0, [Goal::near([x, -5.0 * side], AT_GOAL)])?;
        }
    }
    Ok(())
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    let last = values.len() - 1;
    0.5 * (values[last / 2] + values[last - last / 2])
}
