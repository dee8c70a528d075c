//! `hunav_evaluator` before a client that is not ours: the recorded episode, sent over topics, gives the files with the original's numbers
//! (HuNav specification, section 10).

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use promenade_ros_tests::hunav::call;
use promenade_ros_tests::{Process, Stage, node_arguments, own_domain, wire};
use r2r::geometry_msgs::msg::{Point, PoseStamped};
use r2r::hunav_msgs::msg::{Agent, AgentBehavior, Agents};
use r2r::hunav_msgs::srv::StartEvaluation;
use r2r::std_srvs::srv::Empty;
use r2r::{Publisher, QosProfile};
use serde::Deserialize;

#[derive(Deserialize)]
struct Reference {
    robot_goal: [f64; 2],
    frames: Vec<Frame>,
    expected: BTreeMap<String, Expected>,
}

#[derive(Deserialize)]
struct Expected {
    value: serde_json::Value,
}

#[derive(Deserialize)]
struct Frame {
    stamp_ns: i64,
    agents: Vec<Body>,
    robot: Body,
}

#[derive(Deserialize)]
struct Body {
    id: i32,
    group_id: i8,
    radius: f32,
    x: f64,
    y: f64,
    yaw: f32,
    vx: f64,
    vy: f64,
    linear_vel: f32,
    angular_vel: f32,
    closest_obs: Vec<[f64; 2]>,
}

impl Body {
    fn agent(&self) -> Agent {
        let mut agent = Agent {
            id: self.id,
            type_: 1,
            group_id: self.group_id,
            position: wire::pose(self.x, self.y),
            yaw: self.yaw,
            radius: self.radius,
            linear_vel: self.linear_vel,
            angular_vel: self.angular_vel,
            behavior: AgentBehavior { type_: 1 + (self.id % 2) as u8, ..AgentBehavior::default() },
            closest_obs: self.closest_obs.iter().map(|[x, y]| Point { x: *x, y: *y, z: 0.0 }).collect(),
            ..Agent::default()
        };
        (agent.velocity.linear.x, agent.velocity.linear.y) = (self.vx, self.vy);
        agent
    }
}

fn reference() -> Result<Reference> {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../crates/hunav/tests/reference/m01_metrics.json");
    let text = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    Ok(serde_json::from_str(&text)?)
}

/// The node and what it listens to.
struct Evaluator {
    process: Process,
    namespace: &'static str,
    people: Publisher<Agents>,
    robot: Publisher<Agent>,
}

impl Evaluator {
    fn start(stage: &mut Stage, namespace: &'static str, parameters: &[(&str, &str)]) -> Result<Self> {
        let process = Process::node("hunav_evaluator", node_arguments(namespace, parameters))?;
        let qos = QosProfile::default().keep_last(1000);
        let people =
            stage.node.create_publisher::<Agents>(&format!("{namespace}/human_states"), qos.clone())?;
        let robot = stage.node.create_publisher::<Agent>(&format!("{namespace}/robot_states"), qos)?;
        let evaluator = Evaluator { process, namespace, people, robot };
        let matched = |count: std::result::Result<usize, r2r::Error>| count.is_ok_and(|count| count > 0);
        stage.until("the evaluator listens", || {
            matched(evaluator.people.get_inter_process_subscription_count())
                && matched(evaluator.robot.get_inter_process_subscription_count())
        })?;
        Ok(evaluator)
    }

    fn play(&self, frames: &[Frame]) -> Result<()> {
        for frame in frames {
            let mut people =
                Agents { agents: frame.agents.iter().map(Body::agent).collect(), ..Agents::default() };
            people.header.stamp = wire::stamp(frame.stamp_ns);
            self.people.publish(&people)?;
            self.robot.publish(&frame.robot.agent())?;
        }
        Ok(())
    }

    fn begin(&self, stage: &mut Stage, tag: &str, run: i32, [x, y]: [f64; 2]) -> Result<bool> {
        let robot_goal = PoseStamped { pose: wire::pose(x, y), ..PoseStamped::default() };
        let request = StartEvaluation::Request { robot_goal, experiment_tag: tag.to_owned(), run_id: run };
        let service = format!("{}/hunav_start_recording", self.namespace);
        Ok(call::<StartEvaluation::Service>(stage, &service, &request)?.success)
    }

    fn end(&self, stage: &mut Stage) -> Result<()> {
        let service = format!("{}/hunav_stop_recording", self.namespace);
        call::<Empty::Service>(stage, &service, &Empty::Request::default())?;
        Ok(())
    }
}

/// Number of lines of a file; 0 as long as there is none.
fn lines(path: &Path) -> usize {
    std::fs::read_to_string(path).map_or(0, |text| text.lines().count())
}

/// The columns of the last row.
fn last_row(path: &Path, delimiter: char) -> Result<BTreeMap<String, String>> {
    let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
    let row = |line: Option<&str>| -> Vec<String> {
        line.unwrap_or_default().split(delimiter).map(str::to_owned).collect()
    };
    Ok(row(text.lines().next()).into_iter().zip(row(text.lines().last())).collect())
}

fn check(row: &BTreeMap<String, String>, expected: &BTreeMap<String, Expected>) -> Result<()> {
    for (name, Expected { value }) in expected {
        let found = row.get(name).with_context(|| format!("no column {name}"))?;
        if let Some(truth) = value.as_bool() {
            ensure!(found == if truth { "True" } else { "False" }, "{name} is {found}");
            continue;
        }
        let (found, value): (f64, f64) =
            (found.parse().with_context(|| name.clone())?, value.as_f64().context("a number")?);
        ensure!((found - value).abs() <= 2e-5 * value.abs() + 1e-5, "{name} is {found}, expected {value}");
    }
    Ok(())
}

#[test]
fn a_recorded_episode_that_is_sent_gives_the_files_of_the_original() -> Result<()> {
    own_domain();
    let reference = reference()?;
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("results").join("metrics.csv");
    let steps = folder.path().join("results").join("metrics_steps_a_b_7.csv");
    let mut stage = Stage::new()?;
    let shown = file.display().to_string();
    let evaluator = Evaluator::start(
        &mut stage,
        "/evaluator_services",
        &[("result_file", shown.as_str()), ("result_format", "both"), ("frequency", "1000.0")],
    )?;
    ensure!(evaluator.begin(&mut stage, "a/b", 7, reference.robot_goal)?);
    ensure!(!evaluator.begin(&mut stage, "other", 8, [0.0, 0.0])?, "one recording at a time");
    evaluator.play(&reference.frames)?;
    // The messages are on their way when the service is called: stop until all of them have come.
    let mut run = 7;
    loop {
        evaluator.end(&mut stage)?;
        let count = lines(&folder.path().join("results").join(format!("metrics_steps_a_b_{run}.csv")));
        if count == reference.frames.len() + 1 {
            break;
        }
        run += 1;
        ensure!(run < 1000, "{count} lines of steps, {}", evaluator.process.log());
        ensure!(evaluator.begin(&mut stage, "a/b", run, reference.robot_goal)?);
        evaluator.play(&reference.frames)?;
    }
    let row = last_row(&file, ',')?;
    ensure!(row["experiment_tag"] == "a/b" && row["run_id"] == run.to_string(), "{row:?}");
    check(&row, &reference.expected)?;
    check(&last_row(&file.with_extension("txt"), '\t')?, &reference.expected)?;
    for behavior in [1, 2] {
        let part = file.with_file_name(format!("metrics_beh_{behavior}.txt"));
        ensure!(last_row(&part, '\t')?["path_length"] == row["path_length"], "the robot's way is the same");
    }
    ensure!(run > 7 || steps.exists());
    Ok(())
}

#[test]
fn an_automatic_recording_ends_in_silence_and_hostile_states_do_no_harm() -> Result<()> {
    own_domain();
    let reference = reference()?;
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("m.csv");
    let shown = file.display().to_string();
    let mut stage = Stage::new()?;
    let mut evaluator = Evaluator::start(
        &mut stage,
        "/evaluator_automatic",
        &[
            ("result_file", shown.as_str()),
            ("mode", "2"),
            ("experiment_tag", "auto"),
            ("metrics.social_work", "false"),
        ],
    )?;
    let mut broken = reference.frames[0].agents[0].agent();
    (broken.position.position.x, broken.radius, broken.linear_vel) = (f64::NAN, f32::INFINITY, f32::NAN);
    evaluator.people.publish(&Agents { agents: vec![broken.clone(); 3], ..Agents::default() })?;
    evaluator.robot.publish(&broken)?;
    evaluator.play(&reference.frames)?;
    // Three seconds of the node clock, which is wall time here.
    stage.until("the files are written", || lines(&file) == 2)?;
    evaluator.process.check_alive()?;
    let row = last_row(&file, ',')?;
    ensure!(row["experiment_tag"] == "auto" && !row.contains_key("social_work"), "{row:?}");
    ensure!((row["time_to_reach_goal"].parse::<f64>()? - 6.0).abs() < 1e-9, "{row:?}");
    Ok(())
}
