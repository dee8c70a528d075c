//! The node's parameters, read once at the start, and the environments they mean.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Result, bail, ensure};
use promenade_gait::ProfileLibrary;
use promenade_gait::clip::ClipLibrary;
use promenade_human::backends::hunav::HunavSettings;
use promenade_human::episode::{EpisodeRequest, asset_cache, world_roots};
use promenade_human::{EpisodePlan, Parameter, ParameterValue, load_motions};
use promenade_scenario::ResolveOptions;

use super::episodes::parameters_from_text;
use crate::ros::Running;

/// Stands for the number of the environment in `prefix`.
const ID: &str = "{id}";
/// Stands for the prefix in `tf_namespace`.
const PREFIX: &str = "{prefix}";

/// Longest time-out that makes sense, seconds.
const MOST_TIMEOUT: f64 = 3600.0;

/// What all environments of the process have in common.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    /// Key of the backend.
    pub(crate) human: String,
    /// Whether a simulator outside the process holds the people.
    pub(crate) has_sim: bool,
    /// Namespace of its services; empty = the environment's.
    pub(crate) sim_ns: String,
    /// Seconds of wall time.
    pub(crate) sim_timeout: f64,
    /// Longest wait for an answer of the engine, wall seconds.
    pub(crate) engine_timeout: f64,
    /// The parameters of `human:=hunav`.
    pub(crate) hunav: HunavSettings,
    /// Name below which the episode services and records are.
    pub(crate) task_generator: String,
    pub(crate) robots_visible: bool,
    /// Whether an episode whose robots are done stays until somebody resets.
    pub(crate) lingers: bool,
    pub(crate) seed: u64,
    /// What the first episode is made of.
    pub(crate) plan: EpisodePlan,
    /// Pose profiles that agent types name.
    pub(crate) profiles: ProfileLibrary,
    /// Clips that gestures name.
    pub(crate) clips: ClipLibrary,
}

/// One environment.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Place {
    /// Namespace of its node; `None` = where the process' own node is.
    pub(crate) namespace: Option<String>,
    /// `env_<id>`, for messages and the name of its thread.
    pub(crate) label: String,
    /// Its first episode.
    pub(crate) request: EpisodeRequest,
}

/// Reads the parameters.
///
/// # Errors
/// A value of the wrong type or one that cannot be.
pub(crate) fn read(ros: &Running) -> Result<(Settings, Vec<Place>)> {
    let human = ros.text("human", "dummy", "human backend")?;
    let sim =
        ros.text("sim", "", "simulator of the people: dummy (also empty), service, gazebo, isaac or world")?;
    let has_sim = match sim.as_str() {
        "" | "dummy" => false,
        "service" | "gazebo" | "isaac" | "world" => true,
        other => bail!("parameter sim: there is no {other:?}; use dummy, service, gazebo, isaac or world"),
    };
    let sim_ns =
        ros.text("sim_ns", "", "namespace of the simulator's services; empty is the environment's")?;
    let sim_timeout = ros.parameter("sim_timeout", 5.0, "longest wait for the simulator, wall seconds")?;
    let engine_timeout =
        ros.parameter("engine_timeout", 5.0, "longest wait for the engine of human:=arena, wall seconds")?;
    ensure!(
        (0.0..=MOST_TIMEOUT).contains(&engine_timeout),
        "parameter engine_timeout is {engine_timeout}; it is a number from 0 to {MOST_TIMEOUT}"
    );
    let hunav = hunav(ros)?;
    let task_generator =
        ros.text("task_generator", "task_generator", "name below which episodes are queued and reset")?;
    ensure!(!task_generator.trim_end_matches('/').is_empty(), "parameter task_generator is empty");
    let robots_visible = ros.parameter("human.robots.visible", true, "whether people see the robots")?;
    let lingers = ros.parameter(
        "linger_after_completion",
        true,
        "whether an episode stays when its robots are done; else the next one begins",
    )?;
    let request = first_request(ros)?;
    let modules = ros.text("tm_modules", "", "modules of the task generator, separated by commas")?;
    let params = |name: &str, what: &str| parameters_from_text(&ros.text(name, "", what)?);
    let plan = EpisodePlan {
        world: request.world.clone(),
        tm_robots: ros.text("tm_robots", "", "robot mode of the task generator")?,
        tm_obstacles: ros.text("tm_obstacles", "", "obstacle mode of the task generator")?,
        tm_modules: modules.split(',').map(str::trim).filter(|m| !m.is_empty()).map(str::to_owned).collect(),
        obstacles_params: params("obstacles_params", "parameters of the obstacle mode, {name: value, ...}")?,
        robots_params: params("robots_params", "parameters of the robot mode, {name: value, ...}")?,
        human_params: params("human_params", "parameters of the backend, {humansim.dt: 0.05, ...}")?,
    };
    let (env_id, env_offset) = only_environment(ros)?;
    let env_ids: Arc<[i64]> =
        ros.parameter("env_ids", Arc::default(), "numbers of several environments in this process")?;
    let env_offsets: Arc<[f64]> = ros.parameter(
        "env_offsets",
        Arc::default(),
        "where their origins lie: [x0, y0, x1, y1, ...] in metres",
    )?;
    let places = if env_ids.is_empty() {
        ensure!(env_offsets.is_empty(), "env_offsets is for env_ids; one environment has env_offset");
        one(&request, env_id, &env_offset)?
    } else {
        ensure!(env_offset.is_empty(), "env_offset is for one environment; env_ids has env_offsets");
        several(&request, &env_ids, &env_offsets)?
    };
    let folder = |name: &str, what: &str| {
        let folder = ros.text(name, "", what)?;
        anyhow::Ok((!folder.is_empty()).then(|| PathBuf::from(folder)))
    };
    let profiles = folder("profiles", "folder of pose profiles over the shipped ones")?;
    let clips = folder("clips", "folder of clips over the shipped ones")?;
    let (profiles, clips) = load_motions(profiles.as_deref(), clips.as_deref())?;
    let settings = Settings {
        human,
        has_sim,
        sim_ns,
        sim_timeout,
        engine_timeout,
        hunav,
        task_generator,
        robots_visible,
        lingers,
        seed: request.seed,
        plan,
        profiles,
        clips,
    };
    Ok((settings, places))
}

/// The parameters `hunav.*`, each with the type of its default.
///
/// # Errors
/// A value of the wrong type or one that cannot be.
fn hunav(ros: &Running) -> Result<HunavSettings> {
    let mut settings = HunavSettings::default();
    for Parameter { name, value } in settings.parameters() {
        let full = format!("hunav.{name}");
        let what = "human:=hunav; see docs/hunav.md";
        let given = match value {
            ParameterValue::Bool(default) => ParameterValue::Bool(ros.parameter(&full, default, what)?),
            ParameterValue::Int(default) => ParameterValue::Int(ros.parameter(&full, default, what)?),
            ParameterValue::Double(default) => ParameterValue::Double(ros.parameter(&full, default, what)?),
            ParameterValue::Text(default) => ParameterValue::Text(ros.text(&full, &default, what)?),
            other => other,
        };
        settings.set(&name, &given).map_err(|error| anyhow::anyhow!("parameter {error}"))?;
    }
    Ok(settings)
}

/// The first episode of a node, from the parameters that say which it is. The texts may hold `{id}` and `{prefix}`.
fn first_request(ros: &Running) -> Result<EpisodeRequest> {
    let zone_semantics = ros.parameter(
        "world.zone_semantics",
        true,
        "whether max_speed and restricted of zones have an effect",
    )?;
    Ok(EpisodeRequest {
        scenario: ros.text("scenario", "", "scenario file, folder, or world/scenario")?,
        world: ros.text("world", "", "world of a scenario that lies in none")?,
        roots: world_roots(crate::ros::share_dir().as_deref()),
        seed: ros.parameter("seed", 0_i64, "seed of the first episode")?.cast_unsigned(),
        prefix: ros.text("prefix", "env_{id}", "prefix of sim paths")?,
        tf_namespace: ros.text("tf_namespace", PREFIX, "prefix of the frames of robots")?,
        options: ResolveOptions { zone_semantics },
        asset_cache: asset_cache(),
        ..EpisodeRequest::default()
    })
}

/// Number and place of the environment of a process that has one.
fn only_environment(ros: &Running) -> Result<(i64, Arc<[f64]>)> {
    let id = ros.parameter("env_id", 0_i64, "number of the only environment")?;
    let offset =
        ros.parameter("env_offset", Arc::default(), "where its origin lies in map: [x, y] in metres")?;
    Ok((id, offset))
}

/// The first episode of a node that has one environment, in a namespace that its own is.
///
/// # Errors
/// A value of the wrong type or one that cannot be.
pub(crate) fn only_episode(ros: &Running) -> Result<EpisodeRequest> {
    let request = first_request(ros)?;
    let (id, offset) = only_environment(ros)?;
    Ok(place(&request, id, one_offset(&offset)?, None).request)
}

/// The environment of a process that has one.
fn one(request: &EpisodeRequest, id: i64, offset: &[f64]) -> Result<Vec<Place>> {
    Ok(vec![place(request, id, one_offset(offset)?, None)])
}

/// The value of `env_offset`; nothing = the origin.
///
/// # Errors
/// Another count of numbers, or one that is not finite.
pub(crate) fn one_offset(offset: &[f64]) -> Result<[f64; 2]> {
    match *offset {
        [] => Ok([0.0; 2]),
        [x, y] => finite([x, y], "env_offset"),
        _ => bail!("parameter env_offset has {} numbers; it is [x, y]", offset.len()),
    }
}

/// The environments of a process that has several.
fn several(request: &EpisodeRequest, ids: &[i64], offsets: &[f64]) -> Result<Vec<Place>> {
    ensure!(
        offsets.is_empty() || offsets.len() == 2 * ids.len(),
        "parameter env_offsets has {} numbers for {} environments; it is [x0, y0, x1, y1, ...]",
        offsets.len(),
        ids.len()
    );
    for (i, id) in ids.iter().enumerate() {
        ensure!(*id >= 0, "parameter env_ids: {id} is below 0");
        ensure!(!ids[..i].contains(id), "parameter env_ids: {id} is there twice");
    }
    let clashes = |text: &str| ids.len() > 1 && !text.contains(ID);
    ensure!(
        !clashes(&request.prefix),
        "parameter prefix: with several environments it needs {ID}, as in env_{ID}; {:?} is the same in all",
        request.prefix
    );
    ensure!(
        !clashes(&request.tf_namespace.replace(PREFIX, &request.prefix)),
        "parameter tf_namespace: with several environments it needs {PREFIX} or {ID}; {:?} is the same in all",
        request.tf_namespace
    );
    let mut places = Vec::new();
    for (i, &id) in ids.iter().enumerate() {
        let offset = match offsets.get(2 * i..2 * i + 2) {
            Some(&[x, y]) => finite([x, y], "env_offsets")?,
            _ => [0.0; 2],
        };
        places.push(place(request, id, offset, Some(format!("/arena/env_{id}"))));
    }
    Ok(places)
}

fn finite(offset: [f64; 2], name: &str) -> Result<[f64; 2]> {
    ensure!(offset.iter().all(|v| v.is_finite()), "parameter {name} has a number that is not finite");
    Ok(offset)
}

fn place(request: &EpisodeRequest, id: i64, offset: [f64; 2], namespace: Option<String>) -> Place {
    let named = |text: &str| text.replace(ID, &id.to_string());
    let prefix = named(&request.prefix);
    let tf_namespace = named(&request.tf_namespace.replace(PREFIX, &prefix));
    let request = EpisodeRequest { prefix, tf_namespace, offset, ..request.clone() };
    Place { namespace, label: format!("env_{id}"), request }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(prefix: &str, tf_namespace: &str) -> EpisodeRequest {
        EpisodeRequest {
            prefix: prefix.to_owned(),
            tf_namespace: tf_namespace.to_owned(),
            ..EpisodeRequest::default()
        }
    }

    #[test]
    fn one_environment_stays_where_its_node_is() {
        let places = one(&request("env_{id}", "{prefix}"), 4, &[10.0, -5.0]).expect("fine");
        assert_eq!((places.len(), &places[0].namespace, &*places[0].label), (1, &None, "env_4"));
        let made = &places[0].request;
        assert_eq!((&*made.prefix, &*made.tf_namespace, made.offset), ("env_4", "env_4", [10.0, -5.0]));
        let given = one(&request("mine", ""), 0, &[]).expect("fine");
        assert_eq!((&*given[0].request.prefix, &*given[0].request.tf_namespace), ("mine", ""));
    }

    #[test]
    fn several_environments_have_everything_of_their_own() {
        let places =
            several(&request("env_{id}", "{prefix}"), &[0, 7], &[0.0, 0.0, 20.0, 1.0]).expect("fine");
        let seen: Vec<_> = places
            .iter()
            .map(|place| {
                let namespace = place.namespace.as_deref().expect("has one");
                (namespace, &*place.request.prefix, &*place.request.tf_namespace, place.request.offset)
            })
            .collect();
        assert_eq!(
            seen,
            [("/arena/env_0", "env_0", "env_0", [0.0, 0.0]), ("/arena/env_7", "env_7", "env_7", [20.0, 1.0])]
        );
    }

    #[test]
    fn what_would_clash_is_refused_with_a_reason() {
        let auto = request("env_{id}", "{prefix}");
        let error = |result: Result<Vec<Place>>| result.expect_err("refused").to_string();
        assert!(error(several(&auto, &[1, 1], &[])).contains("1 is there twice"));
        assert!(error(several(&auto, &[-1], &[])).contains("-1 is below 0"));
        assert!(error(several(&auto, &[0, 1], &[1.0, 2.0, 3.0])).contains("3 numbers for 2 environments"));
        assert!(error(several(&auto, &[0], &[f64::NAN, 0.0])).contains("not finite"));
        assert!(error(several(&request("env_0", "{prefix}"), &[0, 1], &[])).contains("parameter prefix"));
        assert!(error(several(&request("env_{id}", ""), &[0, 1], &[])).contains("parameter tf_namespace"));
        assert!(error(one(&auto, 0, &[1.0])).contains("it is [x, y]"));
        assert!(several(&request("mine", ""), &[3], &[]).is_ok(), "nothing clashes with one");
    }
}
