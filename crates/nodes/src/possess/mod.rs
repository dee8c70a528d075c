//! The `possess` node: drives named people through `human/stream`, along their way-points or from the keyboard.
//!
//! It is a client like any other: it learns from `arena_peds` who exists and where, claims whom it was asked to drive, and
//! releases everybody when it ends. Batches go out at a fixed rate of sim time; a paused clock sends none. It must never touch
//! people it was not asked for, though a claim set releases whoever another client holds (human-layer specification,
//! section 7.1).

mod adoption;
mod drive;
mod driver;
mod motion;
mod names;
mod pace;
mod terminal;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, sync_channel};

use anyhow::{Context, Result, bail, ensure};
use arena_people_msgs::msg::rmw::Pedestrians;
use promenade_human::EpisodePlan;
use promenade_human::entity::DynamicObstacle;
use promenade_human::episode::{Episode, EpisodeRequest, world_roots};
use promenade_human::walker::STREAM_RATE_HZ;
use promenade_kernel::{FrameRate, Time};
use rclrs::{IntoPrimitiveOptions, Node, Subscription};
use task_generator_msgs::msg::rmw::EpisodeRecord;

use self::adoption::{Adoption, Wanted};
use self::drive::{Command, Drive};
use self::driver::Driver;
use self::motion::{Begin, Motion};
use self::names::{is_same, with_nearest};
use self::pace::Pace;
use self::terminal::Terminal;
use crate::human_simulator::episodes::parameters;
use crate::human_simulator::settings::one_offset;
use crate::ros::Running;

/// Messages that may wait for the driving thread.
const QUEUE: usize = 64;

/// Batches per second of sim time. A person who is not renewed within 1 s is released.
const RATES: std::ops::RangeInclusive<f64> = 2.0..=1000.0;

/// What the driving thread is told.
pub(crate) enum Ingress {
    Clock(Time),
    Roster(Box<Pedestrians>),
    /// What runs, by `state/episode`.
    Episode(Box<EpisodeRecord>),
    Key(Command),
    Stop,
}

/// Runs the node until it is asked to stop.
///
/// # Errors
/// A parameter of the wrong type or value, a scenario with errors, keyboard mode without a terminal, or a failure of ROS.
pub fn run() -> Result<()> {
    let ros = Running::start("possess")?;
    let mode = ros.text("mode", "waypoints", "waypoints or keyboard")?;
    let rate: f64 = ros.parameter("rate", STREAM_RATE_HZ, "batches per second of sim time")?;
    let people: Arc<[Arc<str>]> =
        ros.parameter("people", Arc::default(), "whom to drive; empty = everybody with way-points")?;
    let people: Vec<&str> = people.iter().map(|name| &**name).filter(|name| !name.is_empty()).collect();
    let seed = ros.parameter("seed", 0_i64, "seed of the episode")?.cast_unsigned();
    let namespace = ros.node.namespace();
    let prefix = namespace.rsplit('/').next().unwrap_or_default();
    let request = EpisodeRequest {
        scenario: ros.text("scenario", "", "scenario file, folder, or world/scenario")?,
        world: ros.text("world", "", "world of a scenario that lies in none")?,
        roots: world_roots(crate::ros::share_dir().as_deref()),
        seed,
        prefix: ros.text("prefix", prefix, "prefix of sim paths")?,
        offset: one_offset(&ros.parameter::<Arc<[f64]>>(
            "env_offset",
            Arc::default(),
            "where the environment's origin lies in map: [x, y] in metres",
        )?)?,
        ..EpisodeRequest::default()
    };
    let task_generator =
        ros.text("task_generator", "task_generator", "name below which episodes are told of")?;
    let Some(frames) = FrameRate::new(rate).filter(|_| RATES.contains(&rate)) else {
        bail!("rate is {rate}; it must be {} to {} batches per second", RATES.start(), RATES.end());
    };
    let (wanted, motion, terminal) = match mode.as_str() {
        "waypoints" => {
            let (wanted, people) = walkers(&request, &people)?;
            (wanted, Motion::along_waypoints(seed, people, Begin::WhereSeen), None)
        }
        "keyboard" => (driven(&people)?, Motion::Keyboard(Drive::new()), Some(Terminal::open()?)),
        other => bail!(
            "mode is {}; it must be waypoints or keyboard",
            with_nearest(other, ["waypoints", "keyboard"])
        ),
    };

    let (tell, told) = sync_channel(QUEUE);
    let to_driver = tell.clone();
    // A reading that finds the queue full is made up for by the next one.
    let clock = ros.clock(move |now| drop(to_driver.try_send(Ingress::Clock(now))))?;
    let _ports =
        (roster(&ros.node, tell.clone())?, episodes(&ros.node, &task_generator, tell.clone())?, clock);
    let publisher = ros.node.create_publisher("human/stream".keep_last(1).reliable().volatile())?;
    if terminal.is_some() {
        let tell = tell.clone();
        Terminal::listen(move |command| tell.send(Ingress::Key(command)).is_ok())?;
    }
    let node = ros.node.clone();
    let names = people.iter().map(|name| (*name).to_owned()).collect();
    let script = Script { own: request, names };
    let driver =
        Driver::new(Adoption::new(wanted), motion, Pace::new(frames), terminal, node, publisher, script);
    let on_signal = move || drop(tell.send(Ingress::Stop));
    ros.spin_beside(on_signal, || driver.run(&told))
}

/// What is played: the episode that the node was started for, and whom it was asked to walk.
pub(crate) struct Script {
    own: EpisodeRequest,
    names: Vec<String>,
}

impl Script {
    /// Whether a record is about the episode that the node was started for.
    fn is_own(&self, record: &EpisodeRecord) -> bool {
        self.request(record).is_ok_and(|request| request == self.own)
    }

    /// Who is to be walked in the episode of a record.
    fn people(&self, record: &EpisodeRecord) -> Result<(Wanted, Vec<DynamicObstacle>)> {
        let names: Vec<&str> = self.names.iter().map(String::as_str).collect();
        walkers(&self.request(record)?, &names)
    }

    fn request(&self, record: &EpisodeRecord) -> Result<EpisodeRequest> {
        let world = record.world.to_string();
        // The record has the name of a world that may have been given as a path, or that the scenario lies in.
        let own = &self.own;
        let scenario_lies_in_it = own.scenario.split('/').any(|part| part == world);
        let is_own = Path::new(&own.world).file_name().is_some_and(|name| name == world.as_str());
        let keeps = is_own || scenario_lies_in_it || world.is_empty();
        let plan = EpisodePlan {
            world: if keeps { own.world.clone() } else { world },
            obstacles_params: parameters(&record.obstacles_params).map_err(anyhow::Error::msg)?,
            ..EpisodePlan::default()
        };
        Ok(EpisodeRequest { seed: record.seed.cast_unsigned(), ..own.clone() }.with_plan(&plan)?)
    }
}

/// The people of the scenario who are to be walked.
fn walkers(request: &EpisodeRequest, names: &[&str]) -> Result<(Wanted, Vec<DynamicObstacle>)> {
    let episode = Episode::load(request).map_err(|error| anyhow::anyhow!("{error}"))?;
    let people = chosen(&episode.people, names)?;
    if people.is_empty() {
        tracing::warn!("{}: nobody has way-points, so nobody is walked", episode.name);
    }
    let by_name: BTreeMap<String, usize> =
        people.iter().enumerate().map(|(number, person)| (person.name.clone(), number)).collect();
    Ok((Wanted::Named(by_name), people))
}

/// The people who have way-points and are named, or all of them when no name is given.
fn chosen(people: &[DynamicObstacle], names: &[&str]) -> Result<Vec<DynamicObstacle>> {
    let unknown: Vec<String> = names
        .iter()
        .filter(|name| !people.iter().any(|person| is_same(&person.name, name)))
        .map(|name| with_nearest(name, people.iter().map(|person| person.name.as_str())))
        .collect();
    ensure!(
        names.is_empty() || unknown.len() < names.len(),
        "the scenario has none of the people to drive: {}",
        unknown.join(", ")
    );
    if !unknown.is_empty() {
        tracing::warn!("the scenario has no {}", unknown.join(", "));
    }
    let is_named =
        |person: &&DynamicObstacle| names.is_empty() || names.iter().any(|name| is_same(&person.name, name));
    let (walking, standing): (Vec<_>, Vec<_>) =
        people.iter().filter(is_named).cloned().partition(|person| !person.waypoints.is_empty());
    if !names.is_empty() && !standing.is_empty() {
        let standing: Vec<&str> = standing.iter().map(|person| person.name.as_str()).collect();
        tracing::warn!("no way-points in the scenario, so not walked: {}", standing.join(", "));
    }
    Ok(walking)
}

/// The one person who is driven by keys.
fn driven(names: &[&str]) -> Result<Wanted> {
    match names {
        [] => Ok(Wanted::First),
        [name] => Ok(Wanted::One((*name).to_owned())),
        _ => bail!("mode keyboard drives one person; people names {}", names.len()),
    }
}

fn episodes(
    node: &Node,
    task_generator: &str,
    tell: SyncSender<Ingress>,
) -> Result<Subscription<EpisodeRecord>> {
    let topic = format!("{}/state/episode", task_generator.trim_end_matches('/'));
    node.create_subscription::<EpisodeRecord, _>(
        topic.keep_last(1).reliable().transient_local(),
        move |record: Box<EpisodeRecord>| drop(tell.try_send(Ingress::Episode(record))),
    )
    .context("cannot subscribe to state/episode")
}

fn roster(node: &Node, tell: SyncSender<Ingress>) -> Result<Subscription<Pedestrians>> {
    node.create_subscription::<Pedestrians, _>(
        "arena_peds".keep_last(10).reliable().volatile(),
        // A roster that finds the queue full is made up for by the next one.
        move |roster: Box<Pedestrians>| drop(tell.try_send(Ingress::Roster(roster))),
    )
    .context("cannot subscribe to arena_peds")
}

#[cfg(test)]
mod tests {
    use promenade_human::entity::WaypointMode;
    use promenade_human::message::Pose;

    use super::*;

    fn person(name: &str, waypoints: &[[f64; 2]]) -> DynamicObstacle {
        DynamicObstacle {
            name: name.to_owned(),
            sim_path: format!("env_0/{name}"),
            model: String::new(),
            model_uri: String::new(),
            pose: Pose::default(),
            velocity: 1.0,
            agent_type: String::new(),
            waypoints: waypoints.to_vec(),
            waypoint_mode: WaypointMode::Repeat,
            entry: None,
        }
    }

    fn names(chosen: &[DynamicObstacle]) -> Vec<&str> {
        chosen.iter().map(|person| person.name.as_str()).collect()
    }

    #[test]
    fn everybody_with_way_points_is_walked_unless_names_are_given() {
        let people = [person("ann", &[[1.0, 0.0]]), person("bob", &[]), person("cem", &[[2.0, 0.0]])];
        assert_eq!(names(&chosen(&people, &[]).expect("known")), ["ann", "cem"]);
        assert_eq!(names(&chosen(&people, &["env_0/cem", "bob"]).expect("known")), ["cem"]);
        assert_eq!(names(&chosen(&people, &["ann", "nobody"]).expect("one is known")), ["ann"]);
        let refused = chosen(&people, &["env_0/annn"]).expect_err("nobody is known").to_string();
        assert!(refused.contains("did you mean \"ann\""), "{refused}");
        assert!(chosen(&[], &[]).expect("nobody asked for").is_empty());
    }

    #[test]
    fn keys_drive_one_person() {
        assert!(matches!(driven(&[]), Ok(Wanted::First)));
        assert!(driven(&["ann", "bob"]).is_err());
    }
}
