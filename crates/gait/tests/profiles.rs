//! Library files: the shipped ones, round trips, and errors that say where and what.

use std::path::Path;

use promenade_gait::{
    Binding, CadenceLaw, DocumentProblem, GainLaw, Harmonic, Joint, LibraryError, Profile, ProfileErrors,
    ProfileFile, ProfileLibrary, ProfileProblem, ProfileSource, Signal,
};
use proptest::prelude::*;

fn shipped() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../profiles"))
}

fn source(stem: &str, text: &str) -> ProfileSource {
    ProfileSource { stem: stem.to_owned(), file: format!("{stem}.yaml"), text: text.to_owned() }
}

#[test]
fn shipped_files_serialise_to_the_same_bytes() {
    let mut stems = Vec::new();
    for (stem, entry) in ProfileLibrary::builtin().iter() {
        let text = std::fs::read_to_string(shipped().join(format!("{stem}.yaml"))).unwrap();
        assert_eq!(entry.file.to_yaml(), text, "{stem}");
        stems.push(stem);
    }
    for stem in ["run", "seated", "seated_wheelchair", "walk_cmu_12_01"] {
        assert!(stems.contains(&stem), "{stem}");
    }
}

#[test]
fn the_directory_equals_the_built_in_library() {
    let directory = ProfileLibrary::load_dir(shipped()).unwrap();
    for (stem, entry) in ProfileLibrary::builtin().iter() {
        assert_eq!(directory.get(stem).unwrap().profile, entry.profile, "{stem}");
    }
    assert_eq!(directory.iter().count(), ProfileLibrary::builtin().iter().count());
}

#[test]
fn run_copies_the_walk_and_changes_its_factor() {
    let library = ProfileLibrary::builtin();
    let (walk, run) = (&library.get("walk_cmu_12_01").unwrap().profile, &library.get("run").unwrap().profile);
    assert_eq!(run.gain, GainLaw { factor: 1.6, ..GainLaw::default() });
    assert_eq!(Profile { gain: walk.gain, ..run.clone() }, *walk);
    assert!(run.symmetric);
    assert_eq!(walk.bindings.len(), 12);
    assert_eq!(library.get("seated").unwrap().profile.bindings.len(), 36);
    assert_eq!(library.get("seated_wheelchair").unwrap().profile.bindings.len(), 23);
    assert_eq!(
        library.get("seated_wheelchair").unwrap().profile.cadence,
        CadenceLaw { base: 0.6, per_speed: 0.4, min: 0.6, max: 1.4 }
    );
}

#[test]
fn constants_and_defaults() {
    let text = "signals: {lean: 0.1, bare: {}}\njoints: {waist: {signal: lean, shift: 1}}\n";
    let file = ProfileFile::parse("held", "held.yaml", text).unwrap();
    assert_eq!(file.name, "held");
    assert!(file.symmetric);
    assert_eq!(file.signals[0], ("lean".to_owned(), Signal { mean: 0.1, harmonics: vec![] }));
    assert_eq!(file.bindings, [Binding { joint: Joint::Waist, signal: 0, shift: 1.0 }]);
}

#[test]
fn the_stem_is_the_key_whatever_the_name() {
    let library = ProfileLibrary::from_sources([
        source("a", "name: b\nsymmetric: false\n"),
        source("c", "same_as: a\ncadence: {min: 1}\n"),
    ])
    .unwrap();
    assert!(library.get("b").is_none());
    assert_eq!(library.get("c").unwrap().profile.cadence, CadenceLaw { min: 1.0, ..CadenceLaw::default() });
    assert_eq!(library.get("c").unwrap().file.to_yaml(), "name: c\nsame_as: a\ncadence: {min: 1.0}\n");
}

#[track_caller]
fn errors(text: &str) -> Vec<String> {
    let ProfileErrors(errors) = ProfileFile::parse("p", "p.yaml", text)
        .and_then(|_| ProfileLibrary::from_sources([source("p", text)]).map(|_| ()))
        .expect_err(text);
    errors.iter().map(ToString::to_string).collect()
}

#[test]
fn every_error_says_where_what_and_what_else() {
    let rows = [
        (
            "cadnce: {base: 1}\n",
            "p.yaml:1:1: profile: unknown key \"cadnce\", did you mean \"cadence\"?; accepted: name, same_as, symmetric, \
             phase_warp, cadence, gain, limits, signals, joints, speeds",
        ),
        (
            "name: p\ncadence: {base: 1, lo: 2}\n",
            "p.yaml:2:20: cadence: unknown key \"lo\"; accepted: base, per_speed, min, max",
        ),
        ("gain: {hi: 2}\n", "p.yaml:1:8: gain: unknown key \"hi\"; accepted: per_speed, min, max, factor"),
        (
            "phase_warp: {spilt: 0.5}\n",
            "p.yaml:1:14: phase_warp: unknown key \"spilt\", did you mean \"split\"?; accepted: split",
        ),
        (
            "phase_warp: {split: 1}\n",
            "p.yaml:1:21: phase_warp.split: expected a number between 0 and 1, both excluded, found 1",
        ),
        ("phase_warp: 0.4\n", "p.yaml:1:13: phase_warp: expected a mapping, found the number 0.4"),
        (
            "limits: {l_kne: [0, 1]}\n",
            "p.yaml:1:10: limits: unknown joint \"l_kne\", did you mean \"l_knee\"?",
        ),
        (
            "limits:\n  waist: [0]\n",
            "p.yaml:2:10: limits.waist: expected two numbers [lo, hi], found a list of 1",
        ),
        (
            "limits:\n  waist: [0, 1, 2]\n",
            "p.yaml:2:10: limits.waist: expected two numbers [lo, hi], found a list of 3",
        ),
        ("limits:\n  waist: [2, 1]\n", "p.yaml:2:10: limits.waist: lower end 2 is above upper end 1"),
        ("limits:\n  waist: [a, 1]\n", "p.yaml:2:11: limits.waist: expected a number, found the text \"a\""),
        ("limits:\n  waist: [.nan, 1]\n", "p.yaml:2:11: limits.waist: expected a finite number, found NaN"),
        (
            "signals: {a: {mean: 1, amp: 2}}\n",
            "p.yaml:1:24: signals.a: unknown key \"amp\"; accepted: mean, harmonics",
        ),
        (
            "signals: {a: yes}\n",
            "p.yaml:1:14: signals.a: expected a number or {mean, harmonics}, found the boolean true",
        ),
        (
            "signals: {a: {harmonics: [[1, 2], [1]]}}\n",
            "p.yaml:1:35: signals.a.harmonics: expected two numbers [amplitude, phase], found a list of 1",
        ),
        (
            "signals: {hip: 1}\njoints:\n  waist: {signal: hipp, shift: 0}\n",
            "p.yaml:3:19: joints.waist: signal \"hipp\" is not declared under signals, did you mean \"hip\"?",
        ),
        (
            "signals: {hip: 1}\njoints:\n  waist: {signal: hip}\n",
            "p.yaml:3:10: joints.waist: missing key \"shift\"; expected {signal: <declared key>, shift: <radians>}",
        ),
        (
            "signals: {hip: 1}\njoints:\n  waist: {signal: hip, shift: 0, gain: 1}\n",
            "p.yaml:3:34: joints.waist: unknown key \"gain\"; accepted: signal, shift",
        ),
        (
            "signals: {hip: 1}\njoints:\n  wast: {signal: hip, shift: 0}\n",
            "p.yaml:3:3: joints: unknown joint \"wast\", did you mean \"waist\"?",
        ),
        ("symmetric: 1\n", "p.yaml:1:12: symmetric: expected true or false, found the number 1"),
        ("name: 3\n", "p.yaml:1:7: name: expected a text, found the number 3"),
        ("cadence: {min: 3}\n", "p.yaml:1:10: cadence: lower end 3 is above upper end 2.2"),
        ("gain: {per_speed: 0}\n", "p.yaml:1:7: gain.per_speed: expected a number above 0, found 0"),
        ("- 1\n", "p.yaml:1:1: profile: expected a mapping, found a list of 1"),
        ("", "p.yaml:1:1: profile: expected a mapping, found nothing"),
        (
            "same_as: q\nsignals: {}\n",
            "p.yaml:2:1: \"signals\" cannot stand next to same_as, which takes it from the other profile; only laws and limits can",
        ),
        ("same_as: q\n", "p.yaml:1:10: same_as: no profile \"q\" in this library"),
        ("same_as: p\n", "p.yaml:1:10: same_as goes in a circle: p -> p"),
    ];
    for (text, expected) in rows {
        assert_eq!(errors(text), [expected], "{text}");
    }
}

#[test]
fn all_problems_of_a_file_are_reported() {
    assert_eq!(errors("nam: p\ngain: {hi: 2}\nlimits: {x: 1}\n").len(), 4);
}

#[test]
fn syntax_errors_and_duplicate_keys_have_a_place() {
    for (text, line) in [("name: p\nname: q\n", 2), ("a: [1\n", 1), ("signals: {a: 1, a: 2}\n", 1)] {
        let ProfileErrors(found) = ProfileFile::parse("p", "p.yaml", text).unwrap_err();
        assert!(
            matches!(found[0].problem, ProfileProblem::Document(DocumentProblem::Syntax(_))),
            "{text}: {}",
            found[0]
        );
        assert!(found[0].line >= line, "{text}: {}", found[0]);
    }
}

#[test]
fn circles_are_reported_once_with_all_members() {
    let circle = ["a", "b", "c"].into_iter().zip(["b", "c", "a"]);
    let mut sources: Vec<_> = circle.map(|(stem, to)| source(stem, &format!("same_as: {to}\n"))).collect();
    sources.push(source("d", "same_as: b\n"));
    let ProfileErrors(found) = ProfileLibrary::from_sources(sources).unwrap_err();
    assert_eq!(
        found.iter().map(ToString::to_string).collect::<Vec<_>>(),
        ["a.yaml:1:10: same_as goes in a circle: a -> b -> c -> a"]
    );
}

#[test]
fn a_missing_directory_is_named() {
    let error = ProfileLibrary::load_dir("/nonexistent/profiles").unwrap_err();
    assert!(matches!(error, LibraryError::Io { .. }));
    assert!(error.to_string().contains("/nonexistent/profiles"));
}

fn number() -> impl Strategy<Value = f64> {
    prop_oneof![-10.0..10.0, any::<f64>().prop_filter("finite", |value| value.is_finite())]
}

prop_compose! {
    fn any_file()(
        symmetric: bool,
        split in 1e-9..0.999,
        signals in prop::collection::btree_map(
            ".{0,8}",
            (number(), prop::collection::vec((number(), number()), 0..5)),
            1..5
        ),
        bindings in prop::collection::btree_map(0..40usize, (any::<prop::sample::Index>(), number()), 0..10),
        limits in prop::collection::btree_map(0..40usize, (number(), number()), 0..5),
        name in ".{0,12}",
        base in number(),
    ) -> ProfileFile {
        let signals: Vec<_> = signals
            .into_iter()
            .map(|(key, (mean, harmonics))| {
                let harmonics =
                    harmonics.into_iter().map(|(amplitude, phase)| Harmonic { amplitude, phase }).collect();
                (key, Signal { mean, harmonics })
            })
            .collect();
        let profile = Profile {
            symmetric,
            phase_warp: promenade_gait::PhaseWarp::new(split).unwrap(),
            cadence: CadenceLaw { base, ..CadenceLaw::default() },
            gain: GainLaw::default(),
            limits: limits
                .into_iter()
                .map(|(joint, (a, b))| (Joint::ALL[joint], [a.min(b), a.max(b)]))
                .collect(),
            bindings: bindings
                .into_iter()
                .map(|(joint, (signal, shift))| {
                    Binding { joint: Joint::ALL[joint], signal: signal.index(signals.len()), shift }
                })
                .collect(),
            signals,
            speeds: vec![],
        };
        ProfileFile::of(&name, &profile)
    }
}

proptest! {
    #[test]
    fn files_round_trip_bit_for_bit(file in any_file()) {
        let text = file.to_yaml();
        let again = ProfileFile::parse("stem", "file", &text)
            .map_err(|errors| TestCaseError::fail(format!("{errors}\n{text}")))?;
        prop_assert_eq!(again.to_yaml(), text);
        prop_assert_eq!(&again.signals, &file.signals);
        prop_assert_eq!(&again.bindings, &file.bindings);
        prop_assert_eq!(&again.limits, &file.limits);
        prop_assert_eq!(&again.laws, &file.laws);
        prop_assert_eq!(&again.name, &file.name);
    }

    #[test]
    fn no_text_panics(text in "[a-z_:{}\\[\\], \\n0-9.&*!|>'\"-]{0,80}") {
        let _ = ProfileLibrary::from_sources([source("p", &text)]);
    }

    #[test]
    fn no_mangled_profile_panics(cut in 0..1500usize, extra in ".{0,6}") {
        let text = std::fs::read_to_string(shipped().join("walk_cmu_12_01.yaml")).unwrap();
        let cut = cut.min(text.len());
        let _ = ProfileFile::parse("p", "p", &format!("{}{extra}{}", &text[..cut], &text[cut..]));
    }
}

#[test]
fn profiles_of_several_speeds() {
    let held = |stem: &str, mean: f64| {
        source(
            stem,
            &format!(
                "symmetric: false\nsignals: {{a: {mean:?}}}\njoints: {{waist: {{signal: a, shift: 0}}}}\n"
            ),
        )
    };
    let library = ProfileLibrary::from_sources([
        held("slow", 0.1),
        held("fast", 0.3),
        source("both", "name: both\nspeeds: [[1.0, slow], [2.0, fast]]\n"),
        source("copy", "same_as: both\ngain: {min: 1.0, max: 1.0}\n"),
    ])
    .unwrap();
    let both = library.get("both").unwrap();
    assert_eq!(both.file.to_yaml(), "name: both\nspeeds: [[1.0, slow], [2.0, fast]]\n");
    assert_eq!(both.profile.speeds.iter().map(|(speed, _)| *speed).collect::<Vec<_>>(), [1.0, 2.0]);
    let copy = library.gait("copy").unwrap();
    let mut pose = [0.0; promenade_gait::JOINT_COUNT];
    for (speed, expected) in
        [(0.0, 0.0), (0.5, 0.05), (1.0, 0.1), (1.25, 0.15), (-1.5, 0.2), (2.0, 0.3), (9.0, 0.3)]
    {
        copy.at_speed(0.0, speed, &mut pose);
        assert!((pose[Joint::Waist.index()] - expected).abs() < 1e-15, "{speed}");
    }
}

#[test]
fn errors_of_several_speeds() {
    for (text, expected) in [
        ("speeds: 3", "p.yaml:1:9: speeds: expected a list of [speed in m/s, profile]"),
        ("speeds: []", "found a list of 0"),
        ("speeds: [[1, a, b]]", "p.yaml:1:10: speeds: expected a list"),
        ("speeds: [[2, run], [1, run]]", "p.yaml:1:21: speeds: expected a list of"),
        ("speeds: [[0, run]]", "found 0"),
        ("speeds: [[1, run]]\nsignals: {}", "p.yaml:2:1: \"signals\" cannot stand next to speeds"),
        ("speeds: [[1, rnu]]", "p.yaml:1:9: speeds: \"rnu\" is no profile of this library"),
        ("speeds: [[1, p]]", "p.yaml:1:9: speeds: \"p\" has speeds itself"),
        ("speeds: [[1, natural]]", "speeds: \"natural\" has speeds itself"),
    ] {
        let error = ProfileLibrary::builtin_and([source("p", text)]).expect_err(text).to_string();
        assert!(error.contains(expected), "{text}: {error}");
    }
    let circle = [source("p", "speeds: [[1, q]]"), source("q", "same_as: p")];
    let error = ProfileLibrary::from_sources(circle).expect_err("a circle").to_string();
    assert!(error.contains("\"q\" has speeds itself"), "{error}");
}
