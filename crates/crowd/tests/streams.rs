//! Stream seeds, first draws, sampled agents and releases of a source, as published with the recorded runs.

use promenade_crowd::planner::{self, LocalPlanner};
use promenade_crowd::sampling::{AgentParameters, Handedness};
use promenade_kernel::generator::{Generator, stream_seed};
use promenade_scenario::AgentTypeLibrary;
use serde_json::Value;

/// Normal variates agree to this, relative: the original's table of the ziggurat was not computed to the last place.
const NORMAL: f64 = 2e-14;

fn document() -> Value {
    serde_json::from_str(include_str!("data/streams.json")).expect("JSON")
}

fn items<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value[key].as_array().map_or(&[], Vec::as_slice)
}

fn number(value: &Value) -> f64 {
    value.as_f64().expect("a number")
}

fn near(ours: f64, theirs: &Value, tolerance: f64) {
    let theirs = number(theirs);
    assert!((ours - theirs).abs() <= tolerance * theirs.abs(), "{ours} {theirs}");
}

#[test]
fn every_kind_of_draw_gives_the_published_numbers() {
    for stream in items(&document(), "draws") {
        let (seed, name) =
            (stream["seed"].as_i64().expect("a seed"), stream["name"].as_str().expect("a name"));
        assert_eq!(stream_seed(seed, name).to_string(), stream["stream_seed"]);
        let fresh = || Generator::named(seed, name);
        let (mut random, mut normal, mut uniform, mut log_normal) = (fresh(), fresh(), fresh(), fresh());
        items(stream, "random").iter().for_each(|z| assert_eq!(random.random(), number(z)));
        items(stream, "standard_normal").iter().for_each(|z| near(normal.standard_normal(), z, NORMAL));
        items(stream, "uniform_1.0_1.4")
            .iter()
            .for_each(|z| assert_eq!(uniform.uniform(1.0, 1.4), number(z)));
        items(stream, "lognormal_ln0.4_0.3").iter().for_each(|z| {
            near((0.4_f64.ln() + 0.3 * log_normal.standard_normal()).exp(), z, NORMAL);
        });
        for (key, mean) in [("poisson_0.03", 0.03), ("poisson_0.5", 0.5)] {
            let mut generator = fresh();
            let counts = items(stream, key);
            assert!(!counts.is_empty());
            counts.iter().for_each(|z| assert_eq!(Some(u64::from(generator.poisson(mean))), z.as_u64()));
        }
        let mut choice = fresh();
        items(stream, "choice_of_5")
            .iter()
            .for_each(|z| assert_eq!(Some(u64::from(choice.choice(5))), z.as_u64()));
    }
}

fn sample(agent: &Value, planner: &str) -> AgentParameters {
    let planner: Box<dyn LocalPlanner> = planner::named(planner).expect("a planner");
    let name = agent["agent_type"].as_str().expect("a type");
    let resolved = AgentTypeLibrary::built_in().named(name).expect("built in");
    let stream = format!("agent_{}_params", agent["id"]);
    let mut generator = Generator::named(agent["seed"].as_i64().expect("a seed"), &stream);
    AgentParameters::sample(resolved, planner.keys(), &mut generator)
}

#[test]
fn agents_are_drawn_with_the_published_parameters() {
    let document = document();
    let agents = items(&document, "parameters");
    assert_eq!(agents.len(), 8);
    for agent in agents {
        let ours = sample(agent, "sfm");
        for (key, value) in [
            ("desired_velocity", ours.desired_velocity),
            ("radius", ours.radius),
            ("max_velocity", ours.max_velocity),
            ("max_acceleration", ours.max_acceleration),
            ("max_deceleration", ours.max_deceleration),
            ("min_turning_radius", ours.min_turning_radius),
            ("pivot_angular_velocity", ours.pivot_angular_velocity),
            ("reaction_time", ours.reaction_time),
            ("personal_space_min", ours.personal_space_min),
            ("vision_range", ours.vision_range),
            ("vision_fov", ours.vision_fov),
            ("proximity_sense", ours.proximity_sense),
            ("idle_gaze_rate", ours.idle_gaze_rate),
        ] {
            near(value, &agent[key], 1e-15);
        }
        for key in ["relaxation_time", "repulsion_strength", "repulsion_range", "anisotropy"] {
            near(ours.planner_value(key).expect("drawn"), &agent[key], 1e-15);
        }
        assert_eq!(agent["handedness"] == "l", ours.handedness == Handedness::Left);
        assert_eq!(agent["vision_occlusion"], ours.vision_occlusion);
    }
}

#[test]
fn distributions_of_the_types_are_the_published_ones() {
    let document = document();
    for (name, fields) in document["types"].as_object().expect("types") {
        let resolved = AgentTypeLibrary::built_in().named(name).expect("built in");
        for (field, numbers) in fields.as_object().expect("fields") {
            let ours = match field.as_str() {
                "radius" => resolved.distribution("agent_radius"),
                "vision_range" | "vision_fov" | "proximity_sense" => resolved.perception(field),
                "relaxation_time" | "repulsion_strength" | "repulsion_range" => {
                    let declared = &resolved.merged.local_planner_params;
                    declared.iter().find(|(key, _)| key == field).map(|(_, d)| *d)
                }
                "anisotropy" => continue,
                _ => resolved.distribution(field),
            };
            let ours = ours.unwrap_or_else(|| panic!("{name} has no {field}"));
            let numbers = numbers.as_array().expect("numbers");
            let theirs = &numbers[numbers.len() - 4..];
            assert_eq!([ours.mean, ours.std], [number(&theirs[0]), number(&theirs[1])], "{name} {field}");
            if ours.std > 0.0 {
                assert_eq!(ours.clip_low, number(&theirs[2]), "{name} {field}");
                assert_eq!(ours.clip_high, theirs[3].as_f64().unwrap_or(f64::INFINITY), "{name} {field}");
            }
        }
    }
}

#[test]
fn releases_of_a_source_draw_place_and_speed_as_published() {
    let document = document();
    let releases = &document["releases"];
    let source = &releases["source"];
    let seed = releases["seed"].as_i64().expect("a seed");
    for row in items(releases, "rows") {
        let name = source["name"].as_str().expect("a name");
        let mut generator = Generator::named(seed, &format!("spawn_scheduler/{name}/event/{}", row["index"]));
        let radius = number(&source["shape"]["radius"]) * generator.random().sqrt();
        let angle = generator.uniform(0.0, std::f64::consts::TAU);
        let x = number(&source["pose"][0]) + radius * angle.cos();
        let y = number(&source["pose"][1]) + radius * angle.sin();
        let speed = generator.uniform(1.0, 1.5);
        near(x, &row["pose"][0], 1e-15);
        near(y, &row["pose"][1], 1e-15);
        near(speed, &row["desired_velocity"], 0.0);
    }
}
