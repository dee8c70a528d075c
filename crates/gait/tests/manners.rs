//! What manners do to bodies, in numbers: those of `docs/motion.md`.

use promenade_gait::{
    ArticulationBatch, Articulator, GaitBatch, GaitOutput, JOINT_COUNT, Joint, Manner, Pose40, PoseId,
    PoseProfile, PoseTable, ProfileLibrary,
    gesture::NoChannels,
    rig::{Frames, Link, Rig, Transform, wire_to_urdf},
};

const DT: f64 = 1.0 / 30.0;
const MANNER: Manner = Manner { turn_lead: 0.2, idle_variety: 1.0, settle: 0.5 };

/// People who all do the same, with the walk `natural` and a manner.
struct People {
    articulator: Articulator,
    table: PoseTable,
    kind: PoseId,
    ids: Vec<u32>,
    postures: Vec<Pose40>,
    phases: Vec<f64>,
}

impl People {
    fn new(ids: impl IntoIterator<Item = u32>, manner: Option<Manner>) -> Self {
        let walk = ProfileLibrary::builtin().gait("natural").unwrap().clone();
        let mut table = PoseTable::default();
        let kind = table.insert(PoseProfile { walk, manner, ..PoseProfile::default() });
        let ids: Vec<u32> = ids.into_iter().collect();
        let (postures, phases) = (vec![[0.0; JOINT_COUNT]; ids.len()], vec![0.0; ids.len()]);
        Self { articulator: Articulator::default(), table, kind, ids, postures, phases }
    }

    fn tick(&mut self, state: u8, speed: f64, yaw: f64) -> &[Pose40] {
        let count = self.ids.len();
        let batch = ArticulationBatch {
            gait: GaitBatch {
                ids: &self.ids,
                states: &vec![state; count],
                speeds: &vec![speed; count],
                dts: &vec![DT; count],
                phase_overrides: &vec![f64::NAN; count],
                poses: &vec![self.kind; count],
            },
            positions: &vec![[0.0, 0.0, yaw]; count],
            channels: &NoChannels,
        };
        let mut out = GaitOutput { poses: &mut self.postures, phases: &mut self.phases };
        self.articulator.advance(&self.table, &batch, &mut out).unwrap();
        &self.postures
    }
}

fn sum(pose: &Pose40, joints: &[Joint]) -> f64 {
    joints.iter().map(|joint| pose[joint.index()]).sum()
}

const TRUNK: [Joint; 3] = [Joint::YWaist, Joint::YSpine, Joint::YChest];
const HEAD: [Joint; 4] = [Joint::YWaist, Joint::YSpine, Joint::YChest, Joint::YHead];

#[test]
fn head_and_trunk_are_ahead_in_a_turn_and_the_trunk_leans_into_it() {
    for side in [1.0, -1.0] {
        let rate = side * 45_f64.to_radians();
        let [mut with, mut without] = [Some(MANNER), None].map(|manner| People::new([7], manner));
        let mut gaps = Vec::new();
        for step in 0..120 {
            let yaw = rate * DT * f64::from(step);
            let (turning, straight) = (with.tick(1, 1.2, yaw)[0], without.tick(1, 1.2, yaw)[0]);
            let gap = |joints: &[Joint]| (sum(&turning, joints) - sum(&straight, joints)).to_degrees();
            gaps.push([gap(&HEAD), gap(&TRUNK), gap(&[Joint::RWaist])]);
        }
        let [head, trunk, lean] = gaps[119].map(|angle| side * angle);
        assert!((head - 9.0).abs() < 0.1 && (trunk - 4.5).abs() < 0.1, "{head} {trunk}");
        // tan = v w / g.
        assert!((lean + 5.5).abs() < 0.05, "{lean}");
        // Half of it shows after 0.25 s, before a step is over.
        assert!(side * gaps[7][0] > 4.5, "{:?}", gaps[7]);
    }
}

#[test]
fn a_turn_that_ends_leaves_nothing() {
    let [mut with, mut without] = [Some(MANNER), None].map(|manner| People::new([7], manner));
    for step in 0..60 {
        with.tick(1, 1.2, 0.05 * f64::from(step));
        without.tick(1, 1.2, 0.0);
    }
    for _ in 0..150 {
        with.tick(1, 1.2, 2.95);
        without.tick(1, 1.2, 2.95);
    }
    for joint in Joint::ALL {
        assert!(
            (with.postures[0][joint.index()] - without.postures[0][joint.index()]).abs() < 1e-6,
            "{joint}"
        );
    }
}

#[test]
fn everybody_stands_in_their_own_way_with_both_feet_on_the_floor() {
    let mut people = People::new(0..50, Some(MANNER));
    let rig = Rig::default();
    let standing = Transform { translation: [0.0, 0.0, rig.hip_height()], ..Transform::IDENTITY };
    let mut frames = Frames::default();
    let (mut lowest, mut highest, mut moved) = (0.0_f64, 0.0_f64, 0.0_f64);
    let mut before: Vec<Pose40> = people.tick(0, 0.0, 0.0).to_vec();
    for _ in 0..900 {
        let postures = people.tick(0, 0.0, 0.0).to_vec();
        for (posture, before) in postures.iter().zip(&before) {
            for (now, then) in posture.iter().zip(before) {
                moved = moved.max((now - then).abs() / DT);
            }
            rig.forward(&standing, &wire_to_urdf(posture), &mut frames);
            for foot in ["l_ankle", "r_ankle"] {
                for x in [-0.06, 0.18] {
                    let [_, _, z] = frames.point(Link::parse(foot).unwrap(), [x, 0.0, -0.05]);
                    lowest = lowest.min(z + 0.05);
                    highest = highest.max(z + 0.05);
                }
            }
        }
        before = postures;
    }
    let mut spread = 0.0;
    for (one, other) in before.iter().zip(before.iter().skip(1)) {
        spread +=
            (0..JOINT_COUNT).map(|joint| (one[joint] - other[joint]).powi(2)).sum::<f64>().sqrt() / 49.0;
    }
    assert!(lowest > -0.001 && highest < 0.006, "{lowest} {highest}");
    assert!(spread.to_degrees() > 20.0 && moved < 0.3, "{} {moved}", spread.to_degrees());
}

/// Most that a joint turns in a tick after a change of state, rad/s, and seconds until the posture is the gait's.
fn change(manner: Option<Manner>, from: (u8, f64), to: (u8, f64)) -> (f64, f64) {
    let ids = [3, 77, 200, 301];
    let [mut people, mut plain] = [manner, None].map(|manner| People::new(ids, manner));
    for _ in 0..60 {
        people.tick(from.0, from.1, 0.0);
        plain.tick(from.0, from.1, 0.0);
    }
    let mut before = people.postures.clone();
    let (mut fastest, mut settled) = (0.0_f64, 0.0);
    for step in 1..=60 {
        let now = people.tick(to.0, to.1, 0.0).to_vec();
        let target = plain.tick(to.0, to.1, 0.0);
        for ((now, before), target) in now.iter().zip(&before).zip(target) {
            for joint in 0..JOINT_COUNT {
                fastest = fastest.max((now[joint] - before[joint]).abs() / DT);
                if (now[joint] - target[joint]).abs() > 1e-9 {
                    settled = f64::from(step) * DT;
                }
            }
        }
        before = now;
    }
    (fastest, settled)
}

#[test]
fn people_start_and_stop_within_a_step() {
    let manner = Manner { idle_variety: 0.0, ..MANNER };
    let step =
        0.5 / (ProfileLibrary::builtin().gait("natural").unwrap().step(1.2, 1.0) / std::f64::consts::TAU);
    for (what, from, to) in [("start", (0, 0.0), (1, 1.2)), ("stop", (1, 1.2), (0, 0.0))] {
        let (jerky, _) = change(None, from, to);
        let (smooth, settled) = change(Some(manner), from, to);
        assert!(settled < 0.5 && settled < step, "{what}: {settled} s");
        assert!(smooth < 8.5 && jerky > 3.5 * smooth, "{what}: {smooth} {jerky}");
    }
}

#[test]
fn without_a_manner_nothing_changes() {
    let [mut with, mut without] = [Some(Manner::default()), None].map(|manner| People::new([7, 8], manner));
    for step in 0..100 {
        let (state, speed) = if step % 40 < 20 { (1, 1.0) } else { (0, 0.0) };
        let yaw = 0.1 * f64::from(step);
        assert_eq!(with.tick(state, speed, yaw), without.tick(state, speed, yaw));
    }
}

#[test]
fn limits_hold_and_hostile_numbers_change_nothing_for_long() {
    let mut people = People::new([1, 2], Some(Manner { turn_lead: 2.0, ..MANNER }));
    for step in 0..400 {
        let yaw = [0.0, f64::NAN, f64::INFINITY, 1e300, 3.0, -3.0][step % 6];
        let speed = [1.0, f64::NAN, -1e300, f64::INFINITY][step % 4];
        for posture in people.tick((step % 9) as u8, speed, yaw) {
            for joint in Joint::ALL {
                let [lo, hi] = joint.wire_limits();
                assert!((lo..=hi).contains(&posture[joint.index()]), "{joint} {}", posture[joint.index()]);
            }
        }
    }
}
