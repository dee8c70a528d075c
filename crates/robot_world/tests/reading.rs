//! The recorded worlds are read as they were run: what their files say, and every default, stands in the records.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use promenade_robot_world::kinematics::{Command, Layout, Model, State};
use promenade_robot_world::registry::{Entry, Kind, MakeModel, Parameter};
use promenade_robot_world::shape::{Shape, ShapeKind};
use promenade_robot_world::spec::{Distribution, Role, ShapeSpec};
use promenade_robot_world::{ReadOptions, Registry, WorldSpec};
use serde_json::Value;

const WORLDS: [&str; 20] = [
    "01_diff_dash",
    "02_omni_dash",
    "03_acker",
    "04_open_loop",
    "05_stop_mode",
    "06_waypoints_overlap",
    "07_lidar_shapes",
    "08_fmcw_fov",
    "09_rvo_crossing",
    "10_rvo_walls",
    "11_sfm_corridor",
    "12_group_behaviors",
    "13_push_boxes",
    "14_chain_wall",
    "15_slide_decay",
    "16_restitution",
    "17_drive_limits",
    "18_offcentre_push",
    "19_friction_cone",
    "20_grid_map",
];

/// A model of the kind that users register; only what a file needs of it.
#[derive(Debug)]
struct Lossy(Layout);

impl Model for Lossy {
    fn name(&self) -> &str {
        "lossy_diff"
    }

    fn layout(&self) -> &Layout {
        &self.0
    }

    fn step(&self, state: &State, _command: &Command, _dt: f64) -> State {
        *state
    }

    fn world_velocity(&self, _state: &State, _velocity: &Command) -> [f64; 2] {
        [0.0; 2]
    }

    fn to_command(&self, _heading: f64, _change: [f64; 2]) -> Command {
        [0.0; 4]
    }
}

fn registry() -> Registry {
    let mut registry = Registry::built_in();
    let number =
        |name| Parameter { name, kind: Kind::Number { min: -10.0, max: 10.0, above: false }, default: None };
    let make: MakeModel =
        Arc::new(|_, _| Ok(Arc::new(Lossy(Layout::of(3, &["linear", "angular"], 1, Some(1))))));
    let parameters = vec![number("ratio"), number("drift")];
    let entry = Entry { name: "lossy_diff", kinematics: &[], parameters, make };
    registry.register_model(entry).expect("a new name");
    registry
}

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

fn read(name: &str) -> WorldSpec {
    match WorldSpec::read(&data(&format!("{name}.yaml")), &registry(), &ReadOptions::default()) {
        Ok(loaded) => loaded.value,
        Err(report) => panic!("{report}"),
    }
}

fn record(name: &str) -> Value {
    let text = std::fs::read_to_string(data(&format!("{name}.json"))).expect("a record");
    serde_json::from_str(&text).expect("JSON")
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().expect("a list").iter().map(number).collect()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| if value == "inf" { f64::INFINITY } else { f64::NAN })
}

fn assert_close(found: &[f64], recorded: &[f64], what: &str) {
    let near = |(a, b): (&f64, &f64)| a == b || (a - b).abs() < 1e-8;
    assert!(
        found.len() == recorded.len() && found.iter().zip(recorded).all(near),
        "{what}: {found:?} {recorded:?}"
    );
}

#[test]
fn every_recorded_world_is_read_as_it_was_run() {
    for name in WORLDS {
        let (spec, record) = (read(name), record(name));
        assert_eq!(spec.settings.name, name);
        assert_close(&[spec.settings.step_time], &[number(&record["step_time"])], name);
        assert_eq!(spec.custom["seed"], record["seed"]);
        let objects: Vec<_> = spec
            .groups
            .iter()
            .flat_map(|group| group.objects.iter().map(move |object| (group, object)))
            .collect();
        let maps = usize::from(spec.map.is_some());
        let recorded = record["objects"].as_array().expect("objects");
        assert_eq!(objects.len() + maps, recorded.len(), "{name}");
        for (id, ((group, object), recorded)) in objects.iter().zip(recorded).enumerate() {
            let role = if object.role == Role::Robot { "robot" } else { "obstacle" };
            let full = object.name.clone().unwrap_or_else(|| format!("{role}_{id}"));
            let what = format!("{name} {full}");
            assert_eq!(recorded["name"], full.as_str());
            assert_eq!(recorded["role"], role);
            assert_eq!(recorded["group"], group.group, "{what}");
            assert_eq!(
                recorded["kinematics"].as_str(),
                object.model.as_deref().map(|model| model.name()),
                "{what}"
            );
            assert_eq!(recorded["static"], object.is_static, "{what}");
            assert_eq!(recorded["unobstructed"], object.unobstructed, "{what}");
            let ShapeSpec::Fixed(shape) = &object.shape else { panic!("{what} is random") };
            let sizes = [shape.radius, shape.length, shape.width];
            assert_close(&sizes, &["radius", "length", "width"].map(|key| number(&recorded[key])), &what);
            let components = object.model.as_deref().map_or(3, |model| model.layout().command.len());
            assert_close(&object.velocity[..components], &numbers(&recorded["velocity"]), &what);
            assert_close(&object.vel_min[..components], &numbers(&recorded["vel_min"]), &what);
            assert_close(&object.vel_max[..components], &numbers(&recorded["vel_max"]), &what);
            if group.distribution == Distribution::Manual {
                assert_close(&object.state, &numbers(&recorded["state"]), &what);
                let goals: Vec<Vec<f64>> = object
                    .goals
                    .iter()
                    .map(|goal| goal.position.into_iter().chain(goal.heading).collect())
                    .collect();
                let recorded = recorded["goals"].as_array().expect("goals");
                assert_eq!(goals.len(), recorded.len(), "{what}");
                for (goal, recorded) in goals.iter().zip(recorded) {
                    assert_close(goal, &numbers(recorded), &what);
                }
            }
            if recorded.get("mass").is_some() {
                let keys = ["mass", "friction", "restitution", "drive_tau"];
                let found = [object.mass, object.friction, object.restitution, object.tau];
                assert_close(&found, &keys.map(|key| number(&recorded[key])), &what);
                let inertia = object.inertia.unwrap_or(shape.unit_inertia * object.mass);
                assert_close(&[inertia], &[number(&recorded["inertia"])], &what);
            }
        }
    }
}

#[test]
fn a_map_image_becomes_the_outline_that_was_recorded() {
    let (spec, record) = (read("20_grid_map"), record("20_grid_map"));
    let map = spec.map.expect("a map");
    assert_eq!((map.columns, map.rows, map.cell), (24, 16, [0.5, 0.625]));
    let outline = Shape::map(&map).expect("occupied cells");
    assert!(matches!(outline.kind, ShapeKind::Map(_)));
    let recorded = record["objects"].as_array().and_then(|objects| objects.last()).expect("the map");
    let sizes = [outline.radius, outline.length, outline.width];
    assert_close(&sizes, &["radius", "length", "width"].map(|key| number(&recorded[key])), "outline");
}
