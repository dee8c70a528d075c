//! `pose:` sections of agent types: what they resolve to, how they inherit, and errors that say where and what.

use std::{
    f64::consts::PI,
    fs,
    path::{Path, PathBuf},
};

use promenade_gait::{
    CadenceLaw, GainLaw, Gait, Harmonic, JOINT_COUNT, Joint, Manner, PoseId, PoseSection, PoseTypes, Profile,
    ProfileLibrary, Signal,
};
use proptest::prelude::*;

/// Agent type files in a directory of their own.
struct Types(tempfile::TempDir);

impl Types {
    fn of(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            fs::write(folder.path().join(format!("{name}.yaml")), text).unwrap();
        }
        Self(folder)
    }

    fn poses(&self) -> PoseTypes {
        PoseTypes::new(ProfileLibrary::builtin().clone(), self.0.path().to_owned())
    }

    fn load(&self, name: &str) -> PoseSection {
        self.poses().load(name).unwrap_or_else(|error| panic!("{error}")).expect("a pose")
    }

    fn error(&self, name: &str) -> String {
        let error = self.poses().load(name).expect_err("refused").to_string();
        error.replace(&format!("{}/", self.0.path().display()), "")
    }
}

fn section(text: &str) -> PoseSection {
    Types::of(&[("t", text)]).load("t")
}

fn library(stem: &str) -> Profile {
    ProfileLibrary::builtin().get(stem).unwrap().profile.clone()
}

fn signal(profile: &Profile, joint: Joint) -> &Signal {
    let binding = profile.bindings.iter().find(|binding| binding.joint == joint).expect("bound");
    &profile.signals[binding.signal].1
}

fn at(profile: &Profile, phase: f64) -> [f64; JOINT_COUNT] {
    let mut pose = [0.0; JOINT_COUNT];
    Gait::new(profile).evaluate(phase, 1.0, &mut pose);
    pose
}

#[test]
fn an_empty_section_is_the_default_person() {
    for text in ["pose: {walk: {}}", "pose: {walk:, run:}", "pose: {idle: {base: idle}}"] {
        let pose = section(text);
        assert_eq!((pose.walk, pose.run), (library("walk_cmu_12_01"), library("run")), "{text}");
        assert_eq!(pose.idle, None);
    }
}

#[test]
fn types_that_say_nothing_about_poses_share_the_default() {
    let types = Types::of(&[("plain", "name: plain\ndesired_velocity: 1.3\npose:\n")]);
    let mut poses = types.poses();
    assert_eq!(poses.resolve("plain"), PoseId::DEFAULT);
    assert_eq!(poses.resolve(""), PoseId::DEFAULT);
    assert!(poses.take_warnings().is_empty());
}

#[test]
fn base_laws_limits_then_operations() {
    let pose = section(
        "pose:
  walk:
    base: seated_wheelchair
    cadence: {max: 1.5}
    gain: {min: 0.5}
    limits: {l_r_hip: [-1, 1]}
    joints: {waist: {set: 0.3}}
  idle: {base: seated}
",
    );
    let base = library("seated_wheelchair");
    assert_eq!(pose.walk.cadence, CadenceLaw { max: 1.5, ..base.cadence });
    assert_eq!(pose.walk.gain, GainLaw { min: 0.5, ..base.gain });
    assert_eq!(pose.walk.limits[&Joint::LRHip], [-1.0, 1.0]);
    assert_eq!(pose.walk.limits[&Joint::RRHip], base.limits[&Joint::RRHip]);
    assert_eq!(signal(&pose.walk, Joint::Waist), &Signal { mean: 0.3, harmonics: vec![] });
    assert_eq!(pose.run, library("run"));
    assert_eq!(pose.idle, Some(library("seated")));
}

#[test]
fn scale_one_and_offset_zero_are_exact_no_ops() {
    for base in ["walk_cmu_12_01", "seated", "seated_wheelchair"] {
        let profile = library(base);
        let mut text = format!("pose:\n  walk:\n    base: {base}\n    joints:\n");
        for (key, _) in &profile.signals {
            text.push_str(&format!(
                "      {key}: {{scale: 1, offset: {{mean: 0, harmonics: [[0, 1.5]]}}}}\n"
            ));
        }
        assert_eq!(section(&text).walk, profile, "{base}");
    }
}

#[test]
fn operations_apply_in_the_written_order() {
    let scaled_first = section("pose: {walk: {joints: {elbow: {scale: 2, offset: 0.1}}}}").walk;
    let offset_first = section("pose: {walk: {joints: {elbow: {offset: 0.1, scale: 2}}}}").walk;
    assert!((signal(&scaled_first, Joint::LElbow).mean - 0.7366).abs() < 1e-15);
    assert!((signal(&offset_first, Joint::LElbow).mean - 0.8366).abs() < 1e-15);
    let parts = signal(&scaled_first, Joint::LElbow);
    assert_eq!(parts.harmonics[0], Harmonic { amplitude: 2.0 * 0.2007, phase: 3.1396 });
}

#[test]
fn a_key_names_all_joints_bound_to_it_and_the_right_side_stays_half_a_cycle_behind() {
    let walk = section("pose: {walk: {joints: {hip: {offset: {mean: 0.05, harmonics: [[0.1, 0.5]]}}}}}").walk;
    for step in 0..20 {
        let phase = 0.3 * f64::from(step);
        let (now, later) = (at(&walk, phase), at(&walk, phase + PI));
        assert!((now[Joint::LRHip.index()] - later[Joint::RRHip.index()]).abs() < 1e-12);
    }
    assert_eq!(walk.signals.len(), library("walk_cmu_12_01").signals.len());
}

#[test]
fn pairs_are_created_at_rest_with_the_right_side_half_a_cycle_behind() {
    let walk = section("pose: {walk: {joints: {ankle: {set: {mean: 0.1, harmonics: [[0.2, 0]]}}}}}").walk;
    let shifts: Vec<f64> = walk
        .bindings
        .iter()
        .filter(|binding| matches!(binding.joint, Joint::LAnkle | Joint::RAnkle))
        .map(|binding| binding.shift)
        .collect();
    assert_eq!(shifts, [0.0, PI]);
    let pose = at(&walk, 0.7);
    assert!((pose[Joint::LAnkle.index()] - 0.1 - 0.2 * 0.7_f64.sin()).abs() < 1e-12);
    assert!((pose[Joint::RAnkle.index()] - 0.1 + 0.2 * 0.7_f64.sin()).abs() < 1e-12);
}

#[test]
fn a_pair_wins_over_a_joint_of_the_same_name() {
    let walk = section("pose: {walk: {joints: {r_wrist: {set: 0.3}}}}").walk;
    let pose = at(&walk, 0.0);
    assert_eq!((pose[Joint::LRWrist.index()], pose[Joint::RRWrist.index()]), (0.3, 0.3));
    assert_eq!(pose[Joint::RWrist.index()], 0.0);
}

#[test]
fn a_bare_joint_of_the_middle_and_of_one_side() {
    let walk = section("pose: {walk: {joints: {chest: {set: 0.2}}}}").walk;
    assert_eq!(at(&walk, 1.0)[Joint::Chest.index()], 0.2);
    let limp = section("pose: {walk: {symmetric: false, joints: {r_knee: {scale: 0.4}}}}").walk;
    let base = library("walk_cmu_12_01");
    assert_eq!(signal(&limp, Joint::LKnee), signal(&base, Joint::LKnee));
    assert!((signal(&limp, Joint::RKnee).mean + 0.4 * 0.5526).abs() < 1e-15);
    // The key still names both knees, each with what it has become.
    let both = "pose: {walk: {symmetric: false, joints: {r_knee: {scale: 0.5}, knee: {scale: 0.5}}}}";
    let both = section(both).walk;
    assert_eq!(signal(&both, Joint::LKnee).mean, 0.5 * -0.5526);
    assert_eq!(signal(&both, Joint::RKnee).mean, 0.25 * -0.5526);
}

#[test]
fn operations_reach_the_profiles_of_all_speeds() {
    let walk =
        section("pose: {walk: {base: natural, joints: {chest: {set: 0.2}, elbow: {scale: 0.5}}}}").walk;
    assert_eq!(walk.speeds.len(), 4);
    let gait = Gait::new(&walk);
    let mut pose = [0.0; JOINT_COUNT];
    for speed in [0.8, 1.1, 3.0] {
        gait.at_speed(0.4, speed, &mut pose);
        assert!((pose[Joint::Chest.index()] - 0.2).abs() < 1e-15, "{speed}");
    }
}

#[test]
fn a_run_like_the_walk_takes_its_operations_and_the_library_runs_factor() {
    let pose = section(
        "pose:
  walk: {gain: {per_speed: 1.0}, phase_warp: {split: 0.4}, joints: {elbow: {set: 1.2}}}
  run: {same_as: walk, cadence: {base: 0.9}}
",
    );
    assert_eq!(pose.run.gain, GainLaw { factor: 1.6, ..pose.walk.gain });
    assert_eq!(pose.run.cadence, CadenceLaw { base: 0.9, ..CadenceLaw::default() });
    assert_eq!(pose.run.phase_warp.split(), 0.4);
    assert_eq!(pose.run.signals, pose.walk.signals);
}

#[test]
fn children_win_per_key_and_joints_and_limits_merge_by_entry() {
    let types = Types::of(&[
        (
            "parent",
            "pose:
  walk:
    cadence: {base: 0.5, max: 2}
    limits: {waist: [0, 0.1], spine: [0, 0.1]}
    joints: {elbow: {set: 0.1}, waist: {offset: 0.05}}
  idle: {base: seated}
",
        ),
        (
            "child",
            "extends: parent
pose:
  walk:
    cadence: {base: 0.6}
    limits: {waist: [0, 0.2]}
    joints: {elbow: {set: 0.2}, chest: {set: 0.1}}
",
        ),
        ("grandchild", "extends: child\n"),
    ]);
    let pose = types.load("child");
    assert_eq!(pose.walk.cadence, CadenceLaw { base: 0.6, ..CadenceLaw::default() });
    assert_eq!(pose.walk.limits[&Joint::Waist], [0.0, 0.2]);
    assert_eq!(pose.walk.limits[&Joint::Spine], [0.0, 0.1]);
    assert_eq!(signal(&pose.walk, Joint::LElbow).mean, 0.2);
    assert!((signal(&pose.walk, Joint::Waist).mean - 0.0497).abs() < 1e-15);
    assert_eq!(signal(&pose.walk, Joint::Chest).mean, 0.1);
    assert_eq!(pose.idle, Some(library("seated")));
    assert_eq!(types.load("grandchild"), pose);
}

#[test]
fn the_split_of_locomotion_becomes_the_walks_unless_it_has_one() {
    let types = Types::of(&[
        ("number", "locomotion: {phase_warp: {split: 0.45}}"),
        ("spread", "locomotion: {phase_warp: {split: {mean: 0.55, std: 0.1}}, speed: 3}"),
        ("child", "extends: spread\npose: {run: {same_as: walk}}"),
        ("own", "extends: spread\npose: {walk: {phase_warp: {split: 0.6}}}"),
    ]);
    for (name, split) in [("number", 0.45), ("spread", 0.55), ("child", 0.55), ("own", 0.6)] {
        assert_eq!(types.load(name).walk.phase_warp.split(), split, "{name}");
    }
    assert_eq!(types.load("child").run.phase_warp.split(), 0.55);
    assert_eq!(types.load("spread").run.phase_warp.split(), 0.5);
}

#[test]
fn types_are_names_or_paths() {
    let types = Types::of(&[("adult", "pose: {walk: {joints: {waist: {set: 0.1}}}}")]);
    let path = types.0.path().join("adult.yaml");
    let mut poses = types.poses();
    let by_name = poses.resolve("adult");
    assert_ne!(by_name, PoseId::DEFAULT);
    assert_eq!(poses.resolve("adult"), by_name);
    assert_ne!(poses.resolve(path.to_str().unwrap()), PoseId::DEFAULT);
    let mut out = [0.0; JOINT_COUNT];
    poses.table().get(by_name).walk.evaluate(0.3, 1.0, &mut out);
    assert_eq!(out[Joint::Waist.index()], 0.1);
}

#[test]
fn a_bad_type_is_the_default_person_and_one_warning() {
    let types = Types::of(&[("adult", "pose: {wlak: {}}")]);
    let mut poses = types.poses();
    for _ in 0..3 {
        assert_eq!(poses.resolve("adlut"), PoseId::DEFAULT);
        assert_eq!(poses.resolve("adult"), PoseId::DEFAULT);
    }
    let warnings = poses.take_warnings();
    assert_eq!(warnings.len(), 2);
    assert!(warnings[0].message.contains("\"adlut\" not found"), "{}", warnings[0].message);
    assert!(warnings[0].message.contains("did you mean \"adult\""), "{}", warnings[0].message);
    assert!(warnings[1].message.contains("did you mean \"walk\""), "{}", warnings[1].message);
    poses.resolve("adult");
    assert!(poses.take_warnings().is_empty());
}

#[test]
fn extends_cycles_are_rejected() {
    let types = Types::of(&[
        ("a", "extends: b"),
        ("b", "extends: c"),
        ("c", "name: c\nextends: b"),
        ("self", "extends: self"),
    ]);
    assert_eq!(types.error("a"), "c.yaml:2:10: extends goes in a circle: b -> c -> b");
    assert_eq!(types.error("self"), "self.yaml:1:10: extends goes in a circle: self -> self");
}

#[test]
fn errors_name_the_offending_key_and_the_nearest_word() {
    for (text, expected) in [
        ("pose: {jog: {}}", "t.yaml:1:8: pose: unknown key \"jog\"; accepted: walk, run, idle, manner"),
        ("pose: {walk: {bsae: run}}", "t.yaml:1:15: pose.walk: unknown key \"bsae\", did you mean \"base\"?"),
        ("pose: {walk: {base: rnu}}", "t.yaml:1:21: walk.base: no profile \"rnu\" in this library"),
        ("pose: {walk: {base: seatd}}", "did you mean \"seated\"?"),
        ("pose: {walk: {same_as: run}}", "t.yaml:1:24: walk.same_as: only `run: {same_as: walk}` is allowed"),
        ("pose: {run: {same_as: seated}}", "t.yaml:1:23: run.same_as: only"),
        ("pose: {idle: {same_as: walk}}", "t.yaml:1:24: idle.same_as: only"),
        ("pose: {run: {same_as: walk, base: run}}", "t.yaml:1:35: run.base: cannot stand next to same_as"),
        ("pose: {run: {same_as: walk, symmetric: true}}", "run.symmetric: cannot stand"),
        ("pose: {run: {same_as: walk, joints: {hip: {scale: 2}}}}", "run.joints: cannot stand"),
        ("pose: {idle: {gain: {min: 1}}}", "t.yaml:1:21: idle.gain: the built-in sway accepts no changes"),
        ("pose: {idle: {base: idle, joints: {waist: {set: 1}}}}", "idle.joints: the built-in sway"),
        (
            "pose: {walk: {cadence: {lo: 1}}}",
            "cadence: unknown key \"lo\"; accepted: base, per_speed, min, max",
        ),
        ("pose: {walk: {cadence: {min: 3}}}", "t.yaml:1:24: cadence: lower end 3 is above upper end 2.2"),
        ("pose: {walk: {gain: {per_speed: 0}}}", "gain.per_speed: expected a number above 0, found 0"),
        (
            "pose: {walk: {phase_warp: {split: 1}}}",
            "t.yaml:1:35: phase_warp.split: expected a number between",
        ),
        ("pose: {walk: {limits: {knee: [0, 1]}}}", "t.yaml:1:24: limits: unknown joint \"knee\""),
        ("pose: {walk: {limits: {waist: [1, 0]}}}", "limits.waist: lower end 1 is above upper end 0"),
        ("pose: {walk: {symmetric: 1}}", "walk.symmetric: expected true or false, found the number 1"),
        ("pose: {walk: {joints: {elbo: {set: 1}}}}", "t.yaml:1:24: walk.joints: \"elbo\" is no signal"),
        ("pose: {walk: {joints: {elbo: {set: 1}}}}", "did you mean \"elbow\"?"),
        (
            "pose: {walk: {joints: {l_knee: {scale: 2}}}}",
            "l_knee is one side of a pair and the gait is symmetric",
        ),
        (
            "pose: {walk: {joints: {hip: {sclae: 2}}}}",
            "walk.joints.hip: unknown key \"sclae\", did you mean \"scale\"?",
        ),
        (
            "pose: {walk: {joints: {hip: {}}}}",
            "walk.joints.hip: expected set, scale or offset, found an empty mapping",
        ),
        (
            "pose: {walk: {joints: {hip: {scale: [1]}}}}",
            "walk.joints.hip.scale: expected a number, found a list",
        ),
        ("pose: {walk: {joints: {hip: {set: {maen: 1}}}}}", "walk.joints.hip.set: unknown key \"maen\""),
        (
            "locomotion: {phase_warp: {split: 0}}",
            "t.yaml:1:34: locomotion.phase_warp.split: expected a number",
        ),
        ("extends: nobody", "t.yaml:1:10: extends: agent type \"nobody\" not found"),
        ("extends: ./x.yaml", "t.yaml:1:10: extends: expected the name of a built-in agent type"),
        ("extends: [a]", "t.yaml:1:10: extends: expected a text, found a list of 1"),
        ("pose: 3", "t.yaml:1:7: pose: expected a mapping, found the number 3"),
        ("pose: {walk: [", "t.yaml:"),
    ] {
        let error = Types::of(&[("t", text)]).error("t");
        assert!(error.contains(expected), "{text}: {error}");
    }
}

#[test]
fn errors_of_a_parent_name_the_parents_file() {
    let types = Types::of(&[("p", "pose:\n  walk:\n    joints: {elbo: {set: 1}}"), ("c", "extends: p")]);
    assert!(types.error("c").starts_with("p.yaml:3:14: walk.joints: \"elbo\""), "{}", types.error("c"));
}

#[test]
fn manners_are_inherited_key_by_key() {
    let types = Types::of(&[
        ("p", "pose: {manner: {turn_lead: 0.2, settle: 0.5}}"),
        ("c", "extends: p\npose: {manner: {settle: 0.4, idle_variety: 1}}"),
        ("plain", "pose: {walk: {}}"),
    ]);
    let expected = Manner { turn_lead: 0.2, idle_variety: 1.0, settle: 0.4 };
    assert_eq!(types.load("c").manner, Some(expected));
    assert_eq!(types.load("c").compile().manner, Some(expected));
    assert_eq!(types.load("plain").manner, None);
    for (text, expected) in [
        ("pose: {manner: {lead: 1}}", "t.yaml:1:17: pose.manner: unknown key \"lead\"; accepted: turn_lead"),
        ("pose: {manner: {settle: -1}}", "t.yaml:1:25: manner.settle: expected 0 to 5 seconds, found -1"),
        ("pose: {manner: {idle_variety: 2}}", "manner.idle_variety: expected 0 to 1, found 2"),
        ("pose: {manner: {turn_lead: .nan}}", "t.yaml:1:"),
        ("pose: {manner: 3}", "t.yaml:1:16: pose.manner: expected a mapping"),
    ] {
        let error = Types::of(&[("t", text)]).error("t");
        assert!(error.contains(expected), "{text}: {error}");
    }
}

#[test]
fn a_type_file_that_is_no_plain_file_or_too_long_is_refused() {
    let types = Types::of(&[("long", &"# nothing\n".repeat(110_000))]);
    assert!(types.error("long").contains("more than 1048576 bytes"), "{}", types.error("long"));
    assert!(types.poses().load("/dev/zero").unwrap_err().to_string().contains("not a plain file"));
    let mut poses = types.poses();
    for _ in 0..3 {
        assert_eq!(poses.resolve("/dev/zero"), PoseId::DEFAULT);
    }
    assert_eq!(poses.take_warnings().len(), 1);
}

proptest! {
    #[test]
    fn no_text_panics(text in "(pose: \\{)?[a-z_:{}\\[\\], 0-9\\-.\n]{0,80}") {
        let poses = PoseTypes::new(ProfileLibrary::builtin().clone(), PathBuf::from("nowhere"));
        let _ = poses.read("t", Path::new("t.yaml"), &text);
    }

    #[test]
    fn every_step_of_operations_keeps_poses_finite(scale in -3.0..3.0f64, offset in -3.0..3.0f64, phase in -9.0..9.0f64) {
        let pose = section(&format!("pose: {{walk: {{joints: {{hip: {{scale: {scale:?}, offset: {offset:?}}}}}}}}}"));
        let [lo, hi] = Joint::LRHip.wire_limits();
        prop_assert!((lo..=hi).contains(&at(&pose.walk, phase)[Joint::LRHip.index()]));
    }
}
