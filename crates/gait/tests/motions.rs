//! The shipped clips as bodies: hands and feet where they belong, by forward kinematics.

use promenade_gait::{
    JOINT_COUNT, Joint, Pose40,
    clip::{CUSTOMARY, ClipLibrary, KeyFrames},
    rig::{Frames, Link, Rig, Transform, wire_to_urdf},
};

const TOE: [f64; 3] = [0.15, 0.0, 0.0];
/// Height of the shoulder line and of the top of the head of a standing body, metres.
const SHOULDERS: f64 = 1.375;
const CROWN: f64 = 1.65;

struct Body {
    frames: Frames,
    pose: Pose40,
}

impl Body {
    fn at(&self, link: &str) -> [f64; 3] {
        self.frames.origin(Link::parse(link).unwrap())
    }

    fn lowest(&self) -> f64 {
        let toes = ["l_ankle", "r_ankle"].map(|foot| self.frames.point(Link::parse(foot).unwrap(), TOE)[2]);
        Link::all().map(|link| self.frames.origin(link)[2]).chain(toes).fold(f64::INFINITY, f64::min)
    }

    fn elbow_to_wrist(&self, side: &str) -> [f64; 3] {
        let [elbow, wrist] = ["elbow", "wrist"].map(|part| self.at(&format!("{side}_{part}")));
        std::array::from_fn(|axis| (wrist[axis] - elbow[axis]) / 0.22)
    }
}

/// The body at every tenth of a second, twice around for a loop.
fn bodies(name: &str) -> Vec<(f64, Body)> {
    let clip = ClipLibrary::builtin().get(name).unwrap();
    let rig = Rig::default();
    let root = Transform { translation: [0.0, 0.0, rig.hip_height()], ..Transform::IDENTITY };
    let count = (clip.duration() * 20.0) as usize + 1;
    (0..count)
        .map(|step| {
            let (t, mut pose, mut frames) = (step as f64 / 20.0, [0.0; JOINT_COUNT], Frames::default());
            clip.sample(t, &mut pose);
            rig.forward(&root, &wire_to_urdf(&pose), &mut frames);
            (t, Body { frames, pose })
        })
        .collect()
}

fn body(name: &str, t: f64) -> Body {
    let mut all = bodies(name);
    let nearest = all.iter().position(|(at, _)| *at >= t - 1e-9).unwrap_or(all.len() - 1);
    all.swap_remove(nearest).1
}

fn within(what: &str, value: f64, lo: f64, hi: f64) {
    assert!((lo..=hi).contains(&value), "{what}: {value} is not within {lo}..{hi}");
}

#[test]
fn standing_clips_stand_on_the_floor() {
    for name in [
        "wave",
        "wave_high",
        "hug",
        "shake_hand",
        "talk_with_arm_gesture",
        "beckon",
        "point_to_right",
        "t-pose",
    ] {
        for (t, body) in bodies(name) {
            within(&format!("{name} at {t}"), body.lowest(), -0.005, 0.005);
        }
    }
}

#[test]
fn no_clip_goes_through_the_floor() {
    for name in CUSTOMARY {
        for (t, body) in bodies(name) {
            assert!(body.lowest() > -0.02, "{name} at {t}: {}", body.lowest());
        }
    }
}

#[test]
fn limits_are_kept_except_where_the_source_says_so() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../animations/source");
    for name in CUSTOMARY {
        let text = std::fs::read_to_string(root.join(format!("{name}.yaml"))).unwrap();
        let source = KeyFrames::parse(name, &text).unwrap();
        let widened =
            Joint::ALL.into_iter().filter(|joint| source.limits()[joint.index()] != joint.wire_limits());
        let expected: &[&str] = match *name {
            "sit" | "seated" | "jump" => &["l_r_hip", "r_r_hip"],
            "lie" | "collapse_to_ground" => &["waist", "l_r_hip", "r_r_hip"],
            _ => &[],
        };
        assert_eq!(widened.map(Joint::name).collect::<Vec<_>>(), expected, "{name}");
        for (t, body) in bodies(name) {
            for joint in Joint::ALL {
                let [lo, hi] = source.limits()[joint.index()];
                within(&format!("{name} at {t}, {joint}"), body.pose[joint.index()], lo, hi);
            }
        }
    }
}

#[test]
fn clips_are_smooth() {
    for name in CUSTOMARY {
        for pair in bodies(name).windows(2) {
            for joint in Joint::ALL {
                let speed = (pair[1].1.pose[joint.index()] - pair[0].1.pose[joint.index()]).abs() * 20.0;
                // A jump throws the arms up at 23 rad/s; nothing else is that fast.
                let most = if *name == "jump" { 25.0 } else { 8.0 };
                assert!(speed < most, "{name} at {}: {joint} turns at {speed} rad/s", pair[0].0);
            }
        }
    }
}

/// Shortest distance between two segments, by samples of a hundredth of each.
fn apart(a: [[f64; 3]; 2], b: [[f64; 3]; 2]) -> f64 {
    let at = |[from, to]: [[f64; 3]; 2], part: i32| -> [f64; 3] {
        std::array::from_fn(|axis| from[axis] + (to[axis] - from[axis]) * f64::from(part) / 50.0)
    };
    let mut least = f64::INFINITY;
    for (one, other) in (0..=50).flat_map(|one| (0..=50).map(move |other| (one, other))) {
        let (one, other) = (at(a, one), at(b, other));
        least = least.min((0..3).map(|axis| (one[axis] - other[axis]).powi(2)).sum::<f64>().sqrt());
    }
    least
}

#[test]
fn no_forearm_and_no_hand_goes_through_the_trunk() {
    for name in CUSTOMARY {
        for (t, body) in bodies(name).iter().step_by(2) {
            let trunk = [["body", "spine"], ["spine", "chest"], ["chest", "torso"]];
            for side in ["l", "r"] {
                let wrist = format!("{side}_wrist");
                let fingers = body.frames.point(Link::parse(&wrist).unwrap(), [0.0, 0.0, -0.1]);
                let forearm = [body.at(&format!("{side}_elbow")), body.at(&wrist)];
                for (part, limb) in [("forearm", forearm), ("hand", [body.at(&wrist), fingers])] {
                    for bone in trunk {
                        let gap = apart(limb, bone.map(|link| body.at(link)));
                        assert!(gap > 0.126, "{name} at {t}: {side} {part} is {gap} m from {bone:?}");
                    }
                }
            }
        }
    }
}

#[test]
fn a_wave_is_beside_the_head_and_goes_from_side_to_side() {
    let loops: Vec<_> = bodies("wave").into_iter().filter(|(t, _)| *t >= 0.7).collect();
    let across: Vec<f64> = loops.iter().map(|(_, body)| body.at("r_wrist")[1]).collect();
    for (t, body) in &loops {
        let [x, y, z] = body.at("r_wrist");
        within(&format!("height at {t}"), z, SHOULDERS - 0.1, CROWN);
        within(&format!("out at {t}"), y, -0.75, -0.2);
        within(&format!("ahead at {t}"), x, 0.0, 0.4);
    }
    let [lo, hi] =
        [across.iter().copied().fold(f64::INFINITY, f64::min), across.iter().copied().fold(-9.0, f64::max)];
    within("swing", hi - lo, 0.08, 0.4);
    let high = body("wave_high", 0.9).at("r_wrist");
    assert!(high[2] > CROWN, "{high:?}");
}

#[test]
fn a_hug_closes_in_front() {
    let body = body("hug", 1.4);
    let [left, right] = ["l_wrist", "r_wrist"].map(|wrist| body.at(wrist));
    for wrist in [left, right] {
        within("ahead", wrist[0], 0.25, 0.65);
        within("height", wrist[2], 1.0, 1.45);
    }
    within("between the hands", (left[1] - right[1]).abs(), 0.0, 0.3);
}

#[test]
fn hands_are_shaken_at_the_height_of_the_navel() {
    let heights: Vec<f64> = bodies("shake_hand")
        .into_iter()
        .filter(|(t, _)| *t >= 0.8)
        .map(|(t, body)| {
            let [x, y, z] = body.at("r_wrist");
            within(&format!("ahead at {t}"), x, 0.3, 0.6);
            within(&format!("across at {t}"), y, -0.25, 0.1);
            within(&format!("height at {t}"), z, 0.9, 1.25);
            z
        })
        .collect();
    let travel = heights.iter().copied().fold(-9.0, f64::max) - heights.iter().copied().fold(9.0, f64::min);
    within("travel", travel, 0.02, 0.15);
}

#[test]
fn beckoning_brings_the_hand_back() {
    let [far, near] = [0.7, 1.1].map(|t| body("beckon", t).at("r_wrist"));
    assert!(far[0] > near[0] + 0.1, "{far:?} {near:?}");
    within("height", far[2], 1.0, 1.45);
}

#[test]
fn pointing_to_the_right_points_to_the_right() {
    let body = body("point_to_right", 1.5);
    assert!(body.elbow_to_wrist("r")[1] < -0.97, "{:?}", body.elbow_to_wrist("r"));
    assert!(body.pose[Joint::YHead.index()] < -0.5);
}

#[test]
fn t_pose_is_a_t() {
    let body = body("t-pose", 0.0);
    for (side, sign) in [("l", 1.0), ("r", -1.0)] {
        let [_, y, z] = body.at(&format!("{side}_wrist"));
        within("width", sign * y, 0.74, 0.76);
        within("height", z, SHOULDERS - 0.01, SHOULDERS + 0.01);
    }
}

#[test]
fn sitting_has_thighs_level_and_shins_upright() {
    for (name, t) in [("sit", 2.3), ("seated", 0.0)] {
        let body = body(name, t);
        let hips = body.at("body")[2];
        for side in ["l", "r"] {
            let [knee, ankle, wrist] =
                ["knee", "ankle", "wrist"].map(|part| body.at(&format!("{side}_{part}")));
            within("knee over hip", knee[2] - hips, -0.05, 0.05);
            within("knee ahead", knee[0], 0.3, 0.35);
            within("shin", knee[2] - ankle[2], 0.42, 0.45);
            within("ankle under knee", ankle[0] - knee[0], -0.1, 0.1);
            within("hand over thigh", wrist[2] - hips, -0.02, 0.2);
            within("hand ahead", wrist[0], 0.1, 0.45);
        }
    }
}

#[test]
fn lying_is_flat() {
    for (name, t) in [("lie", 0.0), ("collapse_to_ground", 2.2)] {
        let body = body(name, t);
        let hips = body.at("body")[2];
        for link in Link::all() {
            let [_, _, z] = body.frames.origin(link);
            within(&format!("{name}, {}", link.name()), z - hips, -0.3, 0.3);
        }
        for side in ["l", "r"] {
            let fingers = body.frames.point(Link::parse(&format!("{side}_wrist")).unwrap(), [0.0, 0.0, -0.1]);
            within(&format!("{name}, {side} hand"), fingers[2] - hips, -0.15, 0.02);
        }
        assert!(body.at("head")[0] < -0.55 && body.at("l_ankle")[0] > 0.45);
    }
}

#[test]
fn a_jump_tucks_the_feet_and_throws_the_arms() {
    let all = bodies("jump");
    assert!(all.iter().any(|(_, body)| body.at("l_wrist")[2] > SHOULDERS + 0.3));
    assert!(all.iter().any(|(t, body)| *t > 0.75 && body.lowest() > 0.02));
    assert!(all.last().unwrap().1.lowest().abs() < 1e-9);
}
