//! `promenade fit` and `promenade pose` as a user types them.

use std::f64::consts::TAU;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use promenade_gait::{
    Gait, JOINT_COUNT, Joint, JointSet, ProfileLibrary, ProfileSource,
    clip::{ClipData, ClipLibrary, Limits},
};
use serde_json::Value;

fn promenade(arguments: &[&str]) -> Output {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    Command::new(env!("CARGO_BIN_EXE_promenade")).args(arguments).current_dir(root).output().expect("starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("UTF-8")
}

/// A clip of the shipped walk, 20 frames per second at 1 Hz.
fn clip(folder: &Path, frames: u32) -> PathBuf {
    let gait = ProfileLibrary::builtin().gait("walk_cmu_12_01").expect("shipped");
    let frames: Vec<_> = (0..frames)
        .map(|index| {
            let mut pose = [0.0; JOINT_COUNT];
            gait.evaluate(TAU * f64::from(index) / 20.0, 1.0, &mut pose);
            pose
        })
        .collect();
    let path = folder.join("clip.npz");
    fs::write(&path, ClipData::of_frames(frames, JointSet::ALL).to_npz().expect("fits")).expect("written");
    path
}

fn is_png(path: &Path) -> bool {
    fs::read(path).expect("written").starts_with(b"\x89PNG\r\n\x1a\n")
}

#[test]
fn a_clip_is_fitted_replayed_and_drawn() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let clip = clip(folder.path(), 120);
    let [profile, report, plot] =
        ["walked.yaml", "walked.json", "walked.png"].map(|name| folder.path().join(name));
    let as_text = |path: &Path| path.to_str().expect("UTF-8 path").to_owned();
    let output = promenade(&[
        "fit",
        &as_text(&clip),
        "-o",
        &as_text(&profile),
        "--speed",
        "1.2",
        "--report",
        &as_text(&report),
        "--plot",
        &as_text(&plot),
    ]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("6 cycles"), "{}", text(&output.stdout));
    let report: Value = serde_json::from_str(&fs::read_to_string(report).expect("a report")).expect("JSON");
    assert_eq!((&report["name"], &report["cycles"]), (&Value::from("walked"), &Value::from(6)));
    // The clip is clipped at the knee's and hip's limits, which three harmonics follow to a few milliradians.
    assert!(report["worst_rms"].as_f64().expect("a number") < 0.006, "{report}");
    assert!(is_png(&plot));
    let library = ProfileLibrary::load_dir(folder.path()).expect("a library");
    assert!((library.get("walked").expect("written").profile.cadence.hz(1.2) - 1.0).abs() < 1e-3);
    let output = promenade(&["pose", "--profile", &as_text(&profile), "--json"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
}

/// Sum of squares between a clip and a gait that starts at a phase and turns at a rate, per joint.
fn squares(clip: &ClipData, gait: &Gait, start: f64, hz: f64) -> [f64; JOINT_COUNT] {
    let mut sums = [0.0; JOINT_COUNT];
    for (index, frame) in (0_u32..).zip(&clip.frames) {
        let mut posture = [0.0; JOINT_COUNT];
        gait.evaluate(start + TAU * hz * f64::from(index) / 20.0, 1.0, &mut posture);
        for ((sum, found), wanted) in sums.iter_mut().zip(posture).zip(frame) {
            *sum += (found - wanted).powi(2);
        }
    }
    sums
}

#[test]
fn an_exported_gait_is_fitted_and_replayed_within_its_stated_rms() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let path = |name: &str| folder.path().join(name).to_str().expect("UTF-8 path").to_owned();
    let output = promenade(&[
        "pose",
        "--profile",
        "natural",
        "--speed",
        "1.2",
        "--seconds",
        "12",
        "--export",
        &path("clips"),
    ]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let file = path("clips/natural/natural.npz");
    let clip = ClipData::read(Path::new(&file), &Limits::default()).expect("a clip");
    assert_eq!((clip.frames.len(), clip.root_xy_yaw.as_ref().map(Vec::len)), (240, Some(240)));
    for harmonics in ["3", "6"] {
        let name = format!("fitted_{harmonics}");
        let (profile, report) = (path(&format!("{name}.yaml")), path(&format!("{name}.json")));
        let output =
            promenade(&["fit", &file, "-o", &profile, "--harmonics", harmonics, "--report", &report]);
        assert!(output.status.success(), "{}", text(&output.stderr));
        let report: Value =
            serde_json::from_str(&fs::read_to_string(report).expect("a report")).expect("JSON");
        let hz = report["cadence_hz"].as_f64().expect("a number");
        let source = ProfileSource {
            stem: name.clone(),
            file: profile.clone(),
            text: fs::read_to_string(&profile).expect("written"),
        };
        let library = ProfileLibrary::from_sources([source]).expect("holds");
        let gait = library.gait(&name).expect("there");
        // Where in its cycle the clip begins is not part of a profile: the best of a fine search.
        let total = |start: f64| squares(&clip, gait, start, hz).iter().sum::<f64>();
        let (mut start, mut step) = (0.0, TAU / 64.0);
        for _ in 0..10 {
            let around = (-32..=32).map(|offset| start + f64::from(offset) * step);
            start = around.min_by(|a, b| total(*a).total_cmp(&total(*b))).expect("some");
            step /= 8.0;
        }
        let found = squares(&clip, gait, start, hz).map(|sum| (sum / 240.0).sqrt());
        for (joint, stated) in report["rms"].as_object().expect("a map") {
            let joint = Joint::parse(joint).expect("a joint");
            let (found, stated) = (found[joint.index()], stated.as_f64().expect("a number"));
            assert!(found <= 1.02 * stated + 1e-4, "{harmonics} harmonics, {joint}: {found} for {stated}");
        }
        let worst = report["worst_rms"].as_f64().expect("a number");
        assert!(worst < if harmonics == "3" { 0.1 } else { 0.005 }, "{worst}");
    }
}

#[test]
fn shipped_clips_can_be_exported_and_read_again() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let path = folder.path().to_str().expect("UTF-8 path");
    let (mut shipped, before) = (ClipLibrary::builtin(), promenade_gait::clip::CUSTOMARY);
    for name in before {
        let output = promenade(&["pose", "--clip", name, "--export", path]);
        assert!(output.status.success(), "{}", text(&output.stderr));
    }
    let (mut exported, problems) = ClipLibrary::over_directory(folder.path(), Limits::default());
    assert!(problems.is_empty(), "{problems:?}");
    for name in before {
        let [own, read] = [&mut shipped, &mut exported].map(|library| library.get(name).expect("loads"));
        assert_eq!(read.to_clip().frames, own.to_clip().frames, "{name}");
        assert_eq!(read.annotation(), own.annotation(), "{name}");
    }
    let wave = folder.path().join("wave/wave.npz");
    let refused = promenade(&["fit", wave.to_str().expect("UTF-8 path"), "-o", &format!("{path}/w.yaml")]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(text(&refused.stderr).starts_with("fit: "), "{}", text(&refused.stderr));
}

#[test]
fn fit_exits_with_1_for_clips_and_2_for_usage() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let path = |name: &str| folder.path().join(name).to_str().expect("UTF-8 path").to_owned();
    let short = clip(folder.path(), 25);
    let short = short.to_str().expect("UTF-8 path");
    let refused = promenade(&["fit", short, "-o", &path("walked.yaml")]);
    assert_eq!(refused.status.code(), Some(1));
    assert_eq!(text(&refused.stderr), "fit: needs at least 2 whole walking cycles\n");
    fs::write(folder.path().join("broken.npy"), b"not a clip").expect("written");
    let refused = promenade(&["fit", &path("broken.npy"), "-o", &path("walked.yaml")]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(text(&refused.stderr).starts_with("fit: "), "{}", text(&refused.stderr));
    assert!(!folder.path().join("walked.yaml").exists());
    let out = path("walked.yaml");
    for wrong in [
        vec!["fit"],
        vec!["fit", short],
        vec!["fit", "nothing.npy", "-o", &out],
        vec!["fit", short, "-o", "no/such/folder/walked.yaml"],
        vec!["fit", short, "-o", &path("idle.yaml")],
        vec!["fit", short, "-o", &path("1st.yaml")],
        vec!["fit", short, "-o", &out, "--name", "a-b"],
        vec!["fit", short, "-o", &out, "--harmonics", "0"],
        vec!["fit", short, "-o", &out, "--harmonics", "9"],
        vec!["fit", short, "-o", &out, "--fps", "0"],
        vec!["fit", short, "-o", &out, "--speed", "-1"],
        vec!["fit", short, "-o", &out, "--speed", "nan"],
    ] {
        let output = promenade(&wrong);
        assert_eq!(output.status.code(), Some(2), "{wrong:?}: {}", text(&output.stderr));
        assert!(text(&output.stderr).contains("Usage: promenade fit"), "{wrong:?}: {}", text(&output.stderr));
    }
}

#[test]
fn poses_gaits_and_clips_become_pictures() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let path = folder.path().join("picture");
    let file = path.to_str().expect("UTF-8 path");
    for arguments in [
        vec!["pose", "--png", file],
        vec!["pose", "--state", "idle", "--profile", "seated", "--png", file],
        vec!["pose", "--strip", "--speed", "1.2", "--profile", "walk_level", "--png", file],
        vec!["pose", "--clip", "wave", "--png", file],
        vec!["pose", "--clip", "wave", "--strip", "--png", file],
        vec![
            "pose", "--state", "idle", "--point", "2,-1,0.5", "--look", "2,-1,0.5", "--strip", "--png", file,
        ],
        vec!["pose", "--sheet", "--png", file],
    ] {
        let output = promenade(&arguments);
        assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
        assert!(is_png(&path), "{arguments:?}");
        fs::remove_file(&path).expect("there");
    }
    for arguments in [
        vec!["pose", "--gif", file],
        vec!["pose", "--speed", "0", "--profile", "walk_level", "--gif", file],
        vec!["pose", "--clip", "wave", "--gif", file],
    ] {
        let output = promenade(&arguments);
        assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
        assert!(fs::read(&path).expect("written").starts_with(b"GIF89a"), "{arguments:?}");
    }
}

#[test]
fn unknown_profiles_and_clips_are_named() {
    let output = promenade(&["pose", "--profile", "strol"]);
    assert!(text(&output.stderr).contains("no profile \"strol\""), "{}", text(&output.stderr));
    let output = promenade(&["pose", "--clip", "wavee"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("wave"), "{}", text(&output.stderr));
}

#[test]
fn the_quality_table_is_the_one_in_the_documentation() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let documented = fs::read_to_string(root.join("docs/motion.md")).expect("docs/motion.md");
    let table = text(&promenade(&["pose", "--quality"]).stdout);
    assert!(table.lines().count() > 20);
    for line in table.lines() {
        assert!(documented.contains(line), "docs/motion.md lacks: {line}");
    }
}
