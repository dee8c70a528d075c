//! `possess`, a client like any other: it walks people along their way-points and lets go of them when it ends.

use anyhow::{Context as _, Result};
use promenade_ros_tests::episodes::DERIVE;
use promenade_ros_tests::wire::{find, place};
use promenade_ros_tests::{Cast, Environment, Episodes, Process, SECOND, Stage, node_arguments};

const START: i64 = 15 * SECOND;
const IDLE: u8 = 0;
const WALKING: u8 = 1;

fn distance(a: [f64; 2], b: [f64; 2]) -> f64 {
    (a[0] - b[0]).hypot(a[1] - b[1])
}

#[test]
fn people_walk_along_their_way_points_and_stand_when_it_ends() -> Result<()> {
    let mut stage = Stage::new()?;
    let waypoints = vec![[4.0, 4.0], [-4.0, 4.0]];
    let (environment, first) = Environment::open(
        &mut stage,
        &Cast { waypoints: waypoints.clone(), ..Cast::people(&["anna", "ben"]) },
        START,
    )?;
    let names = ["anna", "ben"].map(|name| environment.bus_name(name));
    let start: Vec<_> = first.pedestrians.iter().map(place).collect();
    let scenario = environment.scenario.to_str().context("a temporary folder with a plain name")?;
    let possess = Process::node(
        "possess",
        node_arguments(
            &environment.namespace,
            &[("use_sim_time", "true"), ("scenario", scenario), ("prefix", &environment.prefix)],
        ),
    )?;

    // Both have come a good way towards the first way-point; five minutes of simulated time are more than enough.
    let mut index = 0;
    let walking = loop {
        index += 1;
        let frame = environment.tick(&mut stage, index)?;
        let done =
            frame.pedestrians.iter().zip(&start).all(|(person, start)| distance(place(person), *start) > 2.0);
        if done {
            break frame;
        }
        assert!(index < 9000, "they do not walk: {frame:?}\n{}", possess.log());
    };
    for (name, start) in names.iter().zip(&start) {
        let person = find(&walking, name).context("on the bus")?;
        assert_eq!((person.animation_state, person.joint_state.name.len()), (WALKING, 40));
        let speed = person.twist.linear.x.hypot(person.twist.linear.y);
        assert!((0.3..2.0).contains(&speed), "walking speed: {speed}");
        assert!(
            distance(place(person), waypoints[0]) < distance(*start, waypoints[0]),
            "towards the way-point"
        );
    }

    let ended = possess.interrupt()?;
    assert!(ended.status.success(), "{ended:?}");
    let released = environment.frame(&mut stage, "release of everybody", |frame| {
        names.iter().all(|name| find(frame, name).is_some_and(|person| person.animation_state == IDLE))
    })?;
    let later = environment.tick(&mut stage, index + 30)?;
    for name in &names {
        let (then, now) = (find(&released, name).context("then")?, find(&later, name).context("now")?);
        assert_eq!(place(then), place(now), "stays where it was left");
    }
    Ok(())
}

#[test]
fn after_a_reset_people_walk_from_their_start_again() -> Result<()> {
    let mut stage = Stage::new()?;
    let cast = Cast { waypoints: vec![[4.0, 4.0], [-4.0, 4.0]], ..Cast::people(&["anna", "ben"]) };
    let (environment, first) = Environment::open(&mut stage, &cast, START)?;
    let start: Vec<_> = first.pedestrians.iter().map(place).collect();
    let episodes = Episodes::open(&mut stage, &environment)?;
    let scenario = environment.scenario.to_str().context("a temporary folder with a plain name")?;
    let arguments = [("use_sim_time", "true"), ("scenario", scenario), ("prefix", &environment.prefix)];
    let possess = Process::node("possess", node_arguments(&environment.namespace, &arguments))?;
    let mut index = 0;
    // Walking, all of them at least, or at most, so far from the start.
    let mut until = |stage: &mut Stage, is_there: &dyn Fn(f64) -> bool| -> Result<()> {
        for _ in 0..9000 {
            index += 1;
            let frame = environment.tick(stage, index)?;
            let mut people = frame.pedestrians.iter().zip(&start);
            if people.all(|(p, start)| p.animation_state == WALKING && is_there(distance(place(p), *start))) {
                return Ok(());
            }
        }
        anyhow::bail!("not there after five minutes of simulated time\n{}", possess.log())
    };
    until(&mut stage, &|way| way > 1.5)?;
    assert_eq!(episodes.reset(&mut stage, "", DERIVE)?, "");
    until(&mut stage, &|way| way < 0.8)?;
    until(&mut stage, &|way| way > 1.5)
}
