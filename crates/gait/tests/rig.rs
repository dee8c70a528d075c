//! The rig against recorded postures, its own URDF, and the definition of the wire's shoulder triple.

use std::{
    collections::BTreeMap,
    f64::consts::{FRAC_PI_2, PI, TAU},
};

use promenade_gait::{
    Axis, JOINT_COUNT, Joint, Pose40, Side,
    rig::{
        BoneClass, Frames, LINK_COUNT, Link, Matrix, RIG_JOINT_COUNT, RIG_JOINTS, Rig, Transform,
        shoulder_to_urdf, wire_to_urdf, wire_to_urdf_where,
    },
};
use proptest::prelude::*;
use serde::Deserialize;

#[derive(Deserialize)]
struct Reference {
    joints: Vec<String>,
    tolerance: f64,
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    name: String,
    height: f64,
    wire: Vec<f64>,
    urdf: Vec<f64>,
    links: BTreeMap<String, [f64; 3]>,
    head_rotation: [[f64; 3]; 3],
    hip_height: f64,
}

fn reference() -> Reference {
    serde_json::from_str(include_str!("data/rig_fk.json")).unwrap()
}

fn pose(values: &[f64]) -> Pose40 {
    values.try_into().unwrap()
}

fn frames(rig: &Rig, urdf: &Pose40) -> Frames {
    let mut frames = Frames::default();
    rig.forward(&Transform::IDENTITY, urdf, &mut frames);
    frames
}

fn distance(a: [f64; 3], b: [f64; 3]) -> f64 {
    (0..3).map(|axis| (a[axis] - b[axis]).abs()).fold(0.0, f64::max)
}

#[test]
fn recorded_postures() {
    let reference = reference();
    assert_eq!(reference.joints, Joint::NAMES);
    assert_eq!(reference.cases.len(), 10);
    for case in reference.cases {
        let urdf = wire_to_urdf(&pose(&case.wire));
        for joint in Joint::ALL {
            let gap = urdf[joint.index()] - case.urdf[joint.index()];
            let gap = gap - TAU * (gap / TAU).round();
            assert!(gap.abs() <= reference.tolerance, "{}, {joint}: {}", case.name, urdf[joint.index()]);
        }
        let rig = Rig::new(case.height).unwrap();
        assert!((rig.hip_height() - case.hip_height).abs() < 1e-12);
        let found = frames(&rig, &urdf);
        assert_eq!(case.links.len(), LINK_COUNT);
        for (name, origin) in case.links {
            let link = Link::parse(&name).unwrap();
            assert!(distance(found.origin(link), origin) <= reference.tolerance, "{}, {name}", case.name);
        }
        for (row, expected) in case.head_rotation.into_iter().enumerate() {
            let columns = found.rotation(Link::HEAD).columns;
            let gap = distance([columns[0][row], columns[1][row], columns[2][row]], expected);
            assert!(gap <= reference.tolerance, "{}: head", case.name);
        }
    }
}

#[test]
fn recorded_shoulder_translations() {
    let rows = [
        ([0.3, 0.8, 0.2], [1.270796327, 0.8, 1.370796327], [1.870796327, 0.8, 1.770796327]),
        ([-1.36, 0.94, -1.2], [2.930796327, 0.94, 2.770796327], [0.210796327, 0.94, 0.370796327]),
        ([2.204, 0.52, 2.08], [2.508388980, -0.52, 2.632388980], [0.633203673, -0.52, 0.509203673]),
        ([0.5, -0.4, 0.1], [1.070796327, -0.4, 1.470796327], [2.070796327, -0.4, 1.670796327]),
        ([0.0, 0.6, 0.0], [FRAC_PI_2, 0.6, FRAC_PI_2], [FRAC_PI_2, 0.6, FRAC_PI_2]),
        ([-1.2, 2.6, 0.7], [2.770796327, 2.6, 0.870796327], [0.370796327, 2.6, 2.270796327]),
    ];
    for (wire, left, right) in rows {
        assert!(distance(shoulder_to_urdf(Side::Left, wire), left) < 1e-9, "{wire:?}");
        assert!(distance(shoulder_to_urdf(Side::Right, wire), right) < 1e-9, "{wire:?}");
    }
}

/// Rotation about any unit axis, by Rodrigues' formula: rows.
fn rotation([x, y, z]: [f64; 3], angle: f64) -> [[f64; 3]; 3] {
    let (s, c) = angle.sin_cos();
    let t = 1.0 - c;
    [
        [t * x * x + c, t * x * y - s * z, t * x * z + s * y],
        [t * x * y + s * z, t * y * y + c, t * y * z - s * x],
        [t * x * z - s * y, t * y * z + s * x, t * z * z + c],
    ]
}

fn product(a: [[f64; 3]; 3], b: [[f64; 3]; 3]) -> [[f64; 3]; 3] {
    std::array::from_fn(|row| std::array::from_fn(|col| (0..3).map(|k| a[row][k] * b[k][col]).sum()))
}

fn shoulder_gap(side: Side, wire @ [y, p, r]: [f64; 3]) -> f64 {
    let (x, z) = ([1.0, 0.0, 0.0], [0.0, 0.0, 1.0]);
    let arm = product(product(rotation(z, y), rotation([0.0, -1.0, 0.0], p)), rotation([0.0, 0.0, -1.0], r));
    let k = if side == Side::Left { 1.0 } else { -1.0 };
    let [a, b, c] = shoulder_to_urdf(side, wire);
    let chain = product(product(rotation(z, -k * a), rotation(x, k * b)), rotation(z, k * c));
    (0..3).map(|row| distance(arm[row], chain[row])).fold(0.0, f64::max)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn shoulder_rotations_are_equal(
        y in -7.0..7.0f64,
        p in prop_oneof![4 => -4.0..4.0f64, 1 => Just(0.0), 1 => Just(PI)],
        r in -7.0..7.0f64,
    ) {
        for side in [Side::Left, Side::Right] {
            prop_assert!(shoulder_gap(side, [y, p, r]) < 1e-12);
            let [a, _, c] = shoulder_to_urdf(side, [y, p, r]);
            prop_assert!((0.0..=PI).contains(&a) && c > -PI && c <= PI, "{a} {c}");
        }
    }

    #[test]
    fn any_values_give_finite_frames(values in prop::collection::vec(any::<u64>().prop_map(f64::from_bits), 40)) {
        let rig = Rig::default();
        let urdf = wire_to_urdf(&pose(&values));
        let found = frames(&rig, &urdf);
        for link in Link::all() {
            prop_assert!(found.origin(link).iter().all(|value| value.is_finite() && value.abs() < 2.0));
        }
        let mut local = [Transform::IDENTITY; RIG_JOINT_COUNT];
        rig.transforms(&urdf, &mut local);
        for transform in local {
            let norm: f64 = transform.rotation.iter().map(|component| component * component).sum();
            prop_assert!((norm - 1.0).abs() < 1e-12);
        }
        for bone in rig.bones(&found) {
            let cylinder = bone.cylinder().unwrap();
            let along = Matrix::from_quaternion(cylinder.rotation).apply([0.0, 0.0, bone.length()]);
            prop_assert!(distance(along, std::array::from_fn(|axis| bone.to[axis] - bone.from[axis])) < 1e-9);
        }
    }
}

#[test]
fn an_incomplete_triple_passes_unchanged() {
    let mut wire = [0.0; JOINT_COUNT];
    wire[Joint::LPShoulder.index()] = 0.5;
    let urdf = wire_to_urdf_where(&wire, |joint| joint != Joint::LRShoulder);
    assert_eq!(urdf[Joint::LYShoulder.index()], 0.0);
    assert_eq!(urdf[Joint::RYShoulder.index()], FRAC_PI_2);
}

#[test]
fn the_product_of_local_transforms_is_the_forward_kinematics() {
    for case in reference().cases {
        let rig = Rig::new(case.height).unwrap();
        let urdf = pose(&case.urdf);
        let found = frames(&rig, &urdf);
        let mut local = [Transform::IDENTITY; RIG_JOINT_COUNT];
        rig.transforms(&urdf, &mut local);
        for (joint, transform) in RIG_JOINTS.iter().zip(local) {
            let rotated = found.rotation(joint.parent).apply(transform.translation);
            let parent = found.origin(joint.parent);
            let origin = std::array::from_fn(|axis| parent[axis] + rotated[axis]);
            assert!(distance(origin, found.origin(joint.child)) < 1e-12, "{}", joint.name);
            let x = Matrix::from_quaternion(transform.rotation).apply([0.0, 0.6, 0.8]);
            let moved = found.rotation(joint.parent).apply(x);
            assert!(distance(moved, found.rotation(joint.child).apply([0.0, 0.6, 0.8])) < 1e-12);
        }
    }
}

#[test]
fn the_root_places_the_body() {
    let rig = Rig::default();
    let root = Transform::from_pose([1.0, 2.0, rig.hip_height()], [0.0, 0.0, 1.0, 1.0]);
    let mut found = Frames::default();
    rig.forward(&root, &wire_to_urdf(&[0.0; JOINT_COUNT]), &mut found);
    for (name, expected) in [("l_ankle", [1.0 - 0.132, 2.0, 0.0]), ("r_ankle", [1.0 + 0.132, 2.0, 0.0])] {
        assert!(distance(found.origin(Link::parse(name).unwrap()), expected) < 1e-9, "{name}");
    }
    assert!(distance(found.origin(Link::HEAD), [1.0, 2.055, 1.54]) < 1e-12);
    let top = rig.skull(&found)[2] + rig.head_radius();
    assert!((top - rig.height()).abs() < 1e-12, "the top of the head is the height: {top}");
}

#[test]
fn heights_must_be_heights() {
    for height in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(Rig::new(height).is_none());
    }
}

#[test]
fn bones_of_a_standing_body() {
    let rig = Rig::default();
    let found = frames(&rig, &wire_to_urdf(&[0.0; JOINT_COUNT]));
    let bones = rig.bones(&found);
    let count = |class| bones.iter().filter(|bone| bone.class == class).count();
    assert_eq!(BoneClass::ALL.map(count), [7, 4, 2, 2, 6]);
    let tips: Vec<f64> = bones.iter().map(|bone| bone.to[2] + rig.hip_height()).collect();
    assert!(tips.iter().all(|z| *z >= -1e-12));
    let lengths = [THIGH, SHIN].map(|class| bones.iter().find(|bone| bone.class == class).unwrap().length());
    assert!((lengths[0] - 0.33).abs() < 1e-12 && (lengths[1] - 0.44).abs() < 1e-12);
    assert_eq!(rig.balls(&found)[0], [0.0; 3]);
    let tall = Rig::new(1.815).unwrap();
    assert!((tall.bones(&found)[0].radius - 0.121).abs() < 1e-12);
}

const THIGH: BoneClass = BoneClass::Thigh;
const SHIN: BoneClass = BoneClass::Shin;

#[test]
fn a_bone_without_direction_has_no_cylinder() {
    let found = frames(&Rig::default(), &[0.0; JOINT_COUNT]);
    let mut bone = Rig::default().bones(&found)[0];
    bone.to = bone.from;
    assert!(bone.cylinder().is_none());
    bone.to = [f64::NAN; 3];
    assert!(bone.cylinder().is_none());
    bone.from = [0.0; 3];
    bone.to = [0.0, 0.0, -1.0];
    assert_eq!(bone.cylinder().unwrap().rotation, [1.0, 0.0, 0.0, 0.0]);
}

#[test]
fn a_bone_almost_straight_down_keeps_its_direction() {
    let mut bone = Rig::default().bones(&frames(&Rig::default(), &[0.0; JOINT_COUNT]))[0];
    bone.from = [0.0; 3];
    for exponent in 1..320 {
        let lean = 10.0_f64.powi(-exponent);
        bone.to = [lean, -0.3 * lean, -1.0];
        let cylinder = bone.cylinder().unwrap();
        let along = Matrix::from_quaternion(cylinder.rotation).apply([0.0, 0.0, bone.length()]);
        assert!(distance(along, bone.to) < 1e-14, "{lean}: {along:?}");
    }
}

#[test]
fn the_document_is_the_table() {
    let rig = Rig::default();
    let robot = urdf_rs::read_from_string(&rig.urdf("env_0_agent_7")).unwrap();
    assert_eq!((robot.links.len(), robot.joints.len()), (43, 42));
    let revolute = |joint: &&urdf_rs::Joint| joint.joint_type == urdf_rs::JointType::Revolute;
    assert_eq!(robot.joints.iter().filter(revolute).count(), 40);
    let names = robot.links.iter().map(|link| &link.name).chain(robot.joints.iter().map(|joint| &joint.name));
    assert!(names.clone().all(|name| name.ends_with("_env_0_agent_7")));
    let children: Vec<&str> = robot.joints.iter().map(|joint| joint.child.link.as_str()).collect();
    let roots: Vec<_> = robot.links.iter().filter(|link| !children.contains(&link.name.as_str())).collect();
    assert_eq!(roots.iter().map(|link| link.name.as_str()).collect::<Vec<_>>(), ["body_env_0_agent_7"]);
    for joint in &robot.joints {
        assert_eq!(joint.origin.rpy.0, [0.0; 3], "{}", joint.name);
        let Some(contract) = Joint::parse(joint.name.trim_end_matches("_env_0_agent_7")) else { continue };
        assert_eq!([joint.limit.lower, joint.limit.upper], contract.urdf_limits());
        assert_eq!((joint.limit.effort, joint.limit.velocity), (1000.0, 0.5));
    }
    let head = robot.links.iter().find(|link| link.name == "head_env_0_agent_7").unwrap();
    let eyes = head.visual.iter().filter(|visual| visual.origin.xyz.0[1] != 0.0).count();
    assert_eq!(eyes, 2, "face code looks for exactly two visuals off the midline");
    assert!(robot.links.iter().all(|link| link.collision.is_empty()));
    let defined: Vec<&str> = robot.materials.iter().map(|material| material.name.as_str()).collect();
    for visual in robot.links.iter().flat_map(|link| &link.visual) {
        assert!(defined.contains(&visual.material.as_ref().unwrap().name.as_str()));
    }
}

#[test]
fn a_hostile_id_still_gives_a_document() {
    let robot = urdf_rs::read_from_string(&Rig::default().urdf("a\"<&>\u{1}'")).unwrap();
    assert_eq!(robot.links[0].name, "body_a\"<&>_'");
}

/// Walks the parsed document from the root; knows nothing of the table.
fn walk(robot: &urdf_rs::Robot, urdf: &Pose40, suffix: &str) -> BTreeMap<String, [f64; 3]> {
    let identity = rotation([0.0, 0.0, 1.0], 0.0);
    let mut placed = BTreeMap::from([(format!("body{suffix}"), ([0.0; 3], identity))]);
    while placed.len() < robot.links.len() {
        for joint in &robot.joints {
            let Some(&(origin, parent)) = placed.get(&joint.parent.link) else { continue };
            let offset = joint.origin.xyz.0;
            let moved = std::array::from_fn(|row| {
                origin[row] + (0..3).map(|col| parent[row][col] * offset[col]).sum::<f64>()
            });
            let angle =
                Joint::parse(joint.name.trim_end_matches(suffix)).map_or(0.0, |joint| urdf[joint.index()]);
            placed.insert(
                joint.child.link.clone(),
                (moved, product(parent, rotation(joint.axis.xyz.0, angle))),
            );
        }
    }
    placed.into_iter().map(|(name, (origin, _))| (name.trim_end_matches(suffix).to_owned(), origin)).collect()
}

#[test]
fn the_document_moves_like_the_table() {
    for case in reference().cases {
        let rig = Rig::new(case.height).unwrap();
        let robot = urdf_rs::read_from_string(&rig.urdf("x")).unwrap();
        let urdf = wire_to_urdf(&pose(&case.wire));
        let found = frames(&rig, &urdf);
        for (name, origin) in walk(&robot, &urdf, "_x") {
            let link = Link::parse(&name).unwrap();
            assert!(distance(found.origin(link), origin) < 1e-12, "{}, {name}", case.name);
            assert!(distance(case.links[&name], origin) < 1e-9, "{}, {name}", case.name);
        }
    }
}

#[test]
fn axes_are_those_of_the_contract() {
    assert_eq!(Joint::LYShoulder.axis(), Axis::NZ);
    assert_eq!(Joint::RRShoulder.axis(), Axis::NZ);
    assert_eq!(Joint::RPShoulder.axis(), Axis::NX);
    assert_eq!(RIG_JOINTS.iter().filter(|joint| joint.joint.is_none()).count(), 2);
}
