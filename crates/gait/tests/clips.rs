//! Clip files as NumPy 1.26 and 2.4 wrote them, hostile ones, and the library over them.

use std::{collections::BTreeSet, fs, path::Path, sync::Arc};

use promenade_gait::{
    JOINT_COUNT, Joint, JointSet,
    clip::{
        Annotation, Annotations, CUSTOMARY, ClipData, ClipError, ClipLibrary, KeyFrames, Limits,
        PickleProblem,
    },
};
use proptest::prelude::*;

fn data(file: &str) -> Vec<u8> {
    fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/clips").join(file)).unwrap()
}

fn read(bytes: &[u8]) -> Result<ClipData, ClipError> {
    ClipData::from_npy(bytes, &Limits::default())
}

fn check(clip: &ClipData, frames: usize, tolerance: f64) {
    assert_eq!(clip.frames.len(), frames);
    for (k, frame) in clip.frames.iter().enumerate() {
        for joint in Joint::ALL {
            let missing = joint == Joint::Waist && k == 2;
            let expected = if missing { 0.0 } else { 0.01 * joint.index() as f64 + 0.1 * k as f64 };
            assert!((frame[joint.index()] - expected).abs() <= tolerance, "frame {k}, {joint}");
            assert_eq!(clip.present[k].contains(joint), !missing);
        }
        assert!((clip.extra["l_thumb"][k] - 0.5 * k as f64).abs() <= tolerance);
        assert!((clip.t.as_ref().unwrap()[k] - k as f64 / 20.0).abs() <= tolerance);
        assert_eq!(clip.root_xy_yaw.as_ref().unwrap()[k], [k as f64, 0.5, -0.25]);
        assert_eq!(clip.animation_state.as_ref().unwrap()[k], 1);
    }
}

#[test]
fn numpy_files_of_all_ages() {
    for (file, frames, tolerance) in [
        ("np1_floats.npy", 5, 1e-15),
        ("np1_scalars_p2.npy", 3, 1e-15),
        ("np1_f4_p3.npy", 3, 1e-6),
        ("np2_scalars.npy", 3, 1e-15),
        ("np2_floats_p5.npy", 5, 1e-15),
        ("np2_big_endian.npy", 3, 1e-15),
    ] {
        check(&read(&data(file)).unwrap_or_else(|error| panic!("{file}: {error}")), frames, tolerance);
    }
}

#[test]
fn npz_of_numpy_and_of_ours() {
    let limits = Limits::default();
    let clip = ClipData::from_npz(&data("np2.npz"), &limits).unwrap();
    assert_eq!(clip.frames.len(), 5);
    assert!((clip.frames[4][39] - 0.79).abs() < 1e-15);
    let ours = clip.to_npz().unwrap();
    assert_eq!(ours, clip.to_npz().unwrap());
    assert_eq!(ClipData::from_npz(&ours, &limits).unwrap(), clip);
    let small = Limits { frames: 4, ..limits };
    assert!(matches!(ClipData::from_npz(&ours, &small), Err(ClipError::TooLarge { what: "frames", .. })));
    let small = Limits { bytes: 1 << 10, ..limits };
    assert!(matches!(ClipData::from_npz(&ours, &small), Err(ClipError::TooLarge { .. })));
}

#[test]
fn a_pickle_that_calls_something_is_refused() {
    match read(&data("hostile.npy")).unwrap_err() {
        ClipError::Pickle { problem: PickleProblem::Callable(name), .. } => assert_eq!(name, "posix.system"),
        other => panic!("{other}"),
    }
    assert!(matches!(read(&data("numeric.npy")), Err(ClipError::Header(_))));
    assert!(matches!(read(b"\x93NUMPX"), Err(ClipError::Header(_))));
}

fn pickled(body: &[u8]) -> Vec<u8> {
    let header = b"{'descr': '|O', 'fortran_order': False, 'shape': (1,), }\n";
    let mut file = b"\x93NUMPY\x01\x00".to_vec();
    file.extend((header.len() as u16).to_le_bytes());
    file.extend(header);
    file.extend(body);
    file
}

fn problem(body: &[u8]) -> PickleProblem {
    match read(&pickled(body)).unwrap_err() {
        ClipError::Pickle { problem, .. } => problem,
        other => panic!("{other}"),
    }
}

#[test]
fn pickle_problems_have_names() {
    assert_eq!(problem(b""), PickleProblem::Truncated);
    assert_eq!(problem(b"\x80\x01"), PickleProblem::Protocol(1));
    assert_eq!(problem(b"i"), PickleProblem::Opcode(b'i'));
    assert_eq!(problem(b"h\x00"), PickleProblem::Memo(0));
    assert_eq!(problem(b"Nr\xff\xff\xff\x7f"), PickleProblem::Memo(0x7fff_ffff));
    assert_eq!(problem(b"\x8a\x09"), PickleProblem::Integer(9));
    assert_eq!(problem(b"\x8c\x01\xff"), PickleProblem::Text);
    assert_eq!(problem(b"X\xff\xff\xff\xff"), PickleProblem::Truncated);
    assert_eq!(problem(b"cnumpy\ndtype\n)R"), PickleProblem::Arguments("dtype"));
    assert_eq!(problem(b"cnumpy\nload\n"), PickleProblem::Callable("numpy.load".to_owned()));
    assert_eq!(problem(b"cnumpy\ndtype\n\x8c\x02c8\x85R"), PickleProblem::Dtype("c8".to_owned()));
    assert_eq!(problem(b"a"), PickleProblem::Stack(b'a'));
    assert_eq!(problem(b"(e"), PickleProblem::Stack(b'e'));
    assert_eq!(problem(b"](NNN(."), PickleProblem::Stack(b'.'));
    assert_eq!(problem(&[b'N'; 70_000]), PickleProblem::TooDeep(65_536));
    assert_eq!(problem(&[b']'; 500_000]), PickleProblem::TooDeep(65_536));
    let mut cycle = b"]\x94h\x00a".repeat(3);
    cycle.extend(b"(");
    assert_eq!(problem(&cycle), PickleProblem::Truncated);
    assert!(matches!(read(&pickled(b"N.")), Err(ClipError::Header(_))));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn mutated_files_never_panic(file in 0..3_usize, changes in proptest::collection::vec((any::<usize>(), any::<u8>()), 1..8), cut in any::<usize>()) {
        let mut bytes = data(["np1_floats.npy", "np2_scalars.npy", "np1_scalars_p2.npy"][file]);
        let length = bytes.len();
        for (at, value) in changes {
            bytes[at % length] = value;
        }
        let _ = read(&bytes[..length - cut % (length / 4)]);
    }

    #[test]
    fn clips_survive_the_npz(angles in proptest::collection::vec(-3.0..3.0_f64, 1..20)) {
        let frames = angles.iter().map(|angle| [*angle; JOINT_COUNT]).collect();
        let clip = ClipData { t: Some(angles), ..ClipData::of_frames(frames, JointSet::ALL) };
        prop_assert_eq!(ClipData::from_npz(&clip.to_npz().unwrap(), &Limits::default()).unwrap(), clip);
    }
}

#[test]
fn a_directory_of_clips() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name);
    fs::write(at("walk_a.npy"), data("np1_floats.npy")).unwrap();
    fs::write(at("broken.npy"), b"\x93NUMPY nothing").unwrap();
    fs::create_dir(at("step")).unwrap();
    fs::write(at("step/step.npz"), data("np2.npz")).unwrap();
    fs::write(at("step/annotation.yaml"), "name: step\nfps: 30\nloop: false\njoints: [l_knee]\n").unwrap();
    fs::write(at("nod.yaml"), "keys:\n  - {t: 0}\n  - {t: 0.5, p_head: -0.4}\n  - {t: 1, p_head: 0}\n")
        .unwrap();
    fs::write(at("annotations.yaml"), "nod: {joints: [p_head]}\nbad: {fps: -1}\n").unwrap();
    let (mut library, problems) = ClipLibrary::over_directory(directory.path(), Limits::default());
    assert_eq!(problems.len(), 1, "{problems:?}");
    let nod = library.get("nod").unwrap();
    assert_eq!((nod.frames(), nod.looping(), nod.joints().len()), (20, true, 1));
    assert!(Arc::ptr_eq(&nod, &library.get("nod").unwrap()));
    let step = library.get("step").unwrap();
    assert_eq!((step.frames(), step.fps(), step.looping(), step.joints().len()), (5, 30.0, false, 1));
    assert_eq!(library.get("walk_a").unwrap().joints(), JointSet::ALL);
    assert!(library.get("wave").is_ok());
    // A failed load stays failed, even if the file is repaired.
    let failure = library.get("broken").unwrap_err();
    fs::write(at("broken.npy"), data("np1_floats.npy")).unwrap();
    assert_eq!(library.get("broken").unwrap_err(), failure);
    // A clip that came later is found by name; a path is not a name.
    fs::write(at("late.npy"), data("np1_floats.npy")).unwrap();
    assert!(library.get("late").is_ok());
    for name in ["../late", "late.npy", "", "a/b", "_", "no such clip"] {
        assert!(matches!(library.get(name), Err(ClipError::Unknown { .. })), "{name}");
    }
    match library.get("wavee").unwrap_err() {
        ClipError::Unknown { nearest, .. } => assert_eq!(nearest.as_deref(), Some("wave")),
        other => panic!("{other}"),
    }
}

#[test]
fn loading_has_a_budget() {
    let mut library = ClipLibrary::builtin().with_budget(40_000);
    assert!(library.get("wave").is_ok());
    assert!(matches!(library.get("talk_with_arm_gesture"), Err(ClipError::TooLarge { .. })));
}

#[test]
fn the_shipped_clips_load_and_are_annotated() {
    let mut library = ClipLibrary::builtin();
    let names: BTreeSet<&str> = CUSTOMARY.iter().copied().collect();
    assert_eq!(names, library.annotations().iter().map(|(name, _)| name).collect());
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../animations");
    let text = fs::read_to_string(root.join("annotations.yaml")).unwrap();
    assert_eq!(Annotations::parse("annotations.yaml", &text).1, []);
    let sources = fs::read_dir(root.join("source")).unwrap();
    let files: BTreeSet<String> =
        sources.map(|file| file.unwrap().path().file_stem().unwrap().to_str().unwrap().to_owned()).collect();
    assert_eq!(files, names.iter().map(|name| (*name).to_owned()).collect());
    for name in CUSTOMARY {
        let clip = library.get(name).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(clip.frames() >= 1);
        let expected = match *name {
            "hug" | "shake_hand" => JointSet::UPPER_BODY.union(JointSet::WRISTS),
            "wave" | "wave_high" | "talk_with_arm_gesture" | "beckon" | "point_to_right" => {
                JointSet::UPPER_BODY
            }
            _ => JointSet::ALL,
        };
        assert_eq!(clip.joints(), expected, "{name}");
        assert_eq!(clip.looping(), Annotation::of_name(name).looping && *name != "point_to_right", "{name}");
    }
}

#[test]
fn an_exported_clip_is_the_source() {
    let source = KeyFrames::parse("nod.yaml", "keys: [{t: 0}, {t: 1, p_head: 0.3}]\n").unwrap();
    let clip = source.sample(&Annotation { looping: false, ..Annotation::default() }).unwrap();
    assert_eq!(ClipData::from_npz(&clip.to_npz().unwrap(), &Limits::default()).unwrap(), clip);
}
