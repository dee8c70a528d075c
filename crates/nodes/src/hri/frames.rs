//! The frames of all bodies in one message.
//!
//! Names are written when the layout changes (who is there, what they are called, whose face is watched); in between
//! a pass only sets stamps and numbers.

use std::collections::BTreeSet;

use builtin_interfaces::msg::rmw::Time as WireTime;
use geometry_msgs::msg::rmw::{Quaternion, Transform as WireTransform, TransformStamped, Vector3};
use promenade_gait::Pose40;
use promenade_gait::rig::{Frames, Link, RIG_JOINT_COUNT, RIG_JOINTS, Rig, Transform};
use tf2_msgs::msg::rmw::TFMessage;

use crate::bus::{resize, set_string};

/// Joints that move.
const MOVING: usize = 40;
/// Optical axes in the frame of the face: z forward, x right, y down. Quaternion (x, y, z, w).
const OPTICAL: [f64; 4] = [-0.5, 0.5, -0.5, 0.5];

/// What the layout of one body depends on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Named<'a> {
    pub(crate) id: &'a str,
    /// `Pedestrian.name`.
    pub(crate) name: &'a str,
    /// Whether the frames of the face are sent.
    pub(crate) face: bool,
}

/// Where one body's frames are in the messages.
#[derive(Debug, Clone, Copy)]
struct Slot {
    /// The root; the moving joints follow.
    first: usize,
    alias: Option<usize>,
    person: usize,
    /// The face, then the gaze; the position among the faces too.
    face: Option<(usize, usize)>,
}

/// The outgoing messages.
#[derive(Debug, Default)]
pub(crate) struct FrameWriter {
    /// Everything that moves.
    pub(crate) moving: TFMessage,
    /// The fixed joints.
    pub(crate) fixed: TFMessage,
    /// The faces alone, for the global `/tf`.
    pub(crate) faces: TFMessage,
    slots: Vec<Slot>,
}

impl FrameWriter {
    /// Lays the moving frames out anew.
    pub(crate) fn lay_out(&mut self, frame_id: &str, bodies: &[Named<'_>]) {
        let mut names: BTreeSet<&str> = BTreeSet::new();
        self.slots.clear();
        let (mut next, mut faces) = (0, 0);
        for body in bodies {
            let first = next;
            next += 1 + MOVING;
            // Two frames of one name would jump to and fro, and a frame below itself is no tree.
            let alias =
                (!body.name.is_empty() && body.name != frame_id && names.insert(body.name)).then_some(next);
            next += usize::from(alias.is_some());
            let person = next;
            next += 1;
            let face = body.face.then_some((next, faces));
            if body.face {
                next += 2;
                faces += 2;
            }
            self.slots.push(Slot { first, alias, person, face });
        }
        resize(&mut self.moving.transforms, next);
        resize(&mut self.faces.transforms, faces);
        for (body, slot) in bodies.iter().zip(&self.slots) {
            let root = format!("{}_{}", Link::BODY.name(), body.id);
            let out = &mut self.moving.transforms;
            label(&mut out[slot.first], frame_id, &root);
            let moving = RIG_JOINTS.iter().filter(|joint| joint.joint.is_some());
            for (joint, out) in moving.zip(&mut out[slot.first + 1..]) {
                let parent = format!("{}_{}", joint.parent.name(), body.id);
                label(out, &parent, &format!("{}_{}", joint.child.name(), body.id));
            }
            if let Some(alias) = slot.alias {
                label(&mut out[alias], &root, body.name);
                out[alias].transform = wire(&Transform::IDENTITY);
            }
            label(&mut out[slot.person], frame_id, &format!("person_{}", body.id));
            if let Some((at, among)) = slot.face {
                let face = format!("face_{}", body.id);
                let gaze = format!("gaze_{}", body.id);
                for out in [&mut out[at], &mut self.faces.transforms[among]] {
                    label(out, frame_id, &face);
                }
                for out in [&mut out[at + 1], &mut self.faces.transforms[among + 1]] {
                    label(out, &face, &gaze);
                    out.transform = wire(&Transform { translation: [0.0; 3], rotation: OPTICAL });
                }
            }
        }
    }

    /// Lays the fixed frames out and stamps them.
    pub(crate) fn lay_out_fixed<'a>(
        &mut self,
        stamp: &WireTime,
        bodies: impl ExactSizeIterator<Item = (&'a str, &'a Rig)>,
    ) {
        let fixed = || RIG_JOINTS.iter().enumerate().filter(|(_, joint)| joint.joint.is_none());
        resize(&mut self.fixed.transforms, bodies.len() * fixed().count());
        let mut out = self.fixed.transforms.iter_mut();
        for (id, rig) in bodies {
            for ((index, joint), out) in fixed().zip(&mut out) {
                let parent = format!("{}_{id}", joint.parent.name());
                label(out, &parent, &format!("{}_{id}", joint.child.name()));
                out.header.stamp = stamp.clone();
                out.transform = wire(&Transform {
                    translation: rig.offset(index),
                    rotation: Transform::IDENTITY.rotation,
                });
            }
        }
    }

    /// Writes body `index` of the layout.
    pub(crate) fn write(
        &mut self,
        index: usize,
        stamp: &WireTime,
        root: &Transform,
        rig: &Rig,
        urdf: &Pose40,
        face: &Transform,
    ) {
        let slot = self.slots[index];
        let mut joints = [Transform::IDENTITY; RIG_JOINT_COUNT];
        rig.transforms(urdf, &mut joints);
        let out = &mut self.moving.transforms;
        set(&mut out[slot.first], stamp, root);
        let moving = RIG_JOINTS.iter().zip(&joints).filter(|(joint, _)| joint.joint.is_some());
        for ((_, transform), out) in moving.zip(&mut out[slot.first + 1..]) {
            set(out, stamp, transform);
        }
        if let Some(alias) = slot.alias {
            out[alias].header.stamp = stamp.clone();
        }
        set(&mut out[slot.person], stamp, face);
        if let Some((at, _)) = slot.face {
            set(&mut out[at], stamp, face);
            out[at + 1].header.stamp = stamp.clone();
        }
    }

    /// Writes body `index` into the message of the faces, if its face is watched.
    pub(crate) fn write_face(&mut self, index: usize, stamp: &WireTime, face: &Transform) {
        if let Some((_, among)) = self.slots[index].face {
            set(&mut self.faces.transforms[among], stamp, face);
            self.faces.transforms[among + 1].header.stamp = stamp.clone();
        }
    }
}

/// Where the face is: between the eyes, x out of the face.
pub(crate) fn face(rig: &Rig, frames: &Frames) -> Transform {
    Transform {
        translation: frames.point(Link::HEAD, rig.eye_offset()),
        rotation: frames.rotation(Link::HEAD).quaternion(),
    }
}

fn label(out: &mut TransformStamped, parent: &str, child: &str) {
    set_string(&mut out.header.frame_id, parent);
    set_string(&mut out.child_frame_id, child);
}

fn set(out: &mut TransformStamped, stamp: &WireTime, transform: &Transform) {
    out.header.stamp = stamp.clone();
    out.transform = wire(transform);
}

fn wire(transform: &Transform) -> WireTransform {
    let ([x, y, z], [qx, qy, qz, qw]) = (transform.translation, transform.rotation);
    WireTransform { translation: Vector3 { x, y, z }, rotation: Quaternion { x: qx, y: qy, z: qz, w: qw } }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use promenade_gait::JOINT_COUNT;
    use promenade_gait::rig::{Matrix, wire_to_urdf};

    use super::*;

    fn text(string: &rosidl_runtime_rs::String) -> String {
        string.to_string()
    }

    fn standing(writer: &mut FrameWriter, bodies: &[Named<'_>]) -> Transform {
        let rig = Rig::default();
        let urdf = wire_to_urdf(&[0.0; JOINT_COUNT]);
        writer.lay_out("map", bodies);
        writer.lay_out_fixed(&WireTime::default(), bodies.iter().map(|body| (body.id, &rig)));
        let root = Transform::from_pose([1.0, 2.0, 0.77], [0.0, 0.0, 1.0, 1.0]);
        let mut frames = Frames::default();
        rig.forward(&root, &urdf, &mut frames);
        let face = face(&rig, &frames);
        for index in 0..bodies.len() {
            writer.write(index, &WireTime { sec: 3, nanosec: 4 }, &root, &rig, &urdf, &face);
            writer.write_face(index, &WireTime { sec: 3, nanosec: 4 }, &face);
        }
        face
    }

    /// Pose of a frame in `map`, by its chain of parents.
    fn look_up(messages: &[&TFMessage], frame: &str) -> ([f64; 3], Matrix) {
        let mut parents = BTreeMap::new();
        for transform in messages.iter().flat_map(|message| message.transforms.iter()) {
            parents.insert(text(&transform.child_frame_id), transform);
        }
        let mut chain = Vec::new();
        let mut at = frame.to_owned();
        while let Some(transform) = parents.get(&at) {
            chain.push(*transform);
            at = text(&transform.header.frame_id);
        }
        assert_eq!(at, "map");
        let mut origin = [0.0; 3];
        let mut rotation = Matrix::IDENTITY;
        for step in chain.iter().rev() {
            let (t, q) = (&step.transform.translation, &step.transform.rotation);
            let moved = rotation.apply([t.x, t.y, t.z]);
            origin = std::array::from_fn(|axis| origin[axis] + moved[axis]);
            let turn = Matrix::from_quaternion([q.x, q.y, q.z, q.w]);
            rotation = Matrix { columns: turn.columns.map(|column| rotation.apply(column)) };
        }
        (origin, rotation)
    }

    fn close(a: [f64; 3], b: [f64; 3]) {
        assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-9), "{a:?} {b:?}");
    }

    #[test]
    fn forty_three_frames_per_body_and_ankles_on_the_floor() {
        let mut writer = FrameWriter::default();
        let bodies = ["env_0_agent_1", "env_1_agent_1"].map(|id| Named {
            id,
            name: if id.contains("env_0") { "env_0/ann" } else { "env_1/ann" },
            face: false,
        });
        standing(&mut writer, &bodies);
        assert_eq!(writer.moving.transforms.len(), 2 * 43);
        assert_eq!(writer.fixed.transforms.len(), 2 * 2);
        let children: BTreeSet<String> = [&writer.moving, &writer.fixed]
            .iter()
            .flat_map(|message| message.transforms.iter().map(|transform| text(&transform.child_frame_id)))
            .collect();
        assert_eq!(children.len(), 2 * 45);
        for side in ["l", "r"] {
            let (origin, _) =
                look_up(&[&writer.moving, &writer.fixed], &format!("{side}_ankle_env_1_agent_1"));
            assert!(origin[2].abs() < 1e-9, "{origin:?}");
        }
        close(look_up(&[&writer.moving], "env_0/ann").0, [1.0, 2.0, 0.77]);
        let head = look_up(&[&writer.moving, &writer.fixed], "head_env_0_agent_1").0;
        close(head, [1.0, 2.055, 1.54]);
    }

    #[test]
    fn a_face_looks_forward_and_its_gaze_has_optical_axes() {
        let mut writer = FrameWriter::default();
        let bodies = [Named { id: "a", name: "", face: true }, Named { id: "b", name: "map", face: false }];
        let face = standing(&mut writer, &bodies);
        assert_eq!(writer.moving.transforms.len(), 44 + 42);
        assert_eq!(writer.faces.transforms.len(), 2);
        for messages in [&writer.moving, &writer.faces] {
            let (origin, rotation) = look_up(&[messages], "face_a");
            close(origin, face.translation);
            close(origin, [1.0, 2.0 + 0.055 + 0.4 * 0.11, 1.54]);
            // The body is turned to +y, and so is the face.
            close(rotation.columns[0], [0.0, 1.0, 0.0]);
            let (_, gaze) = look_up(&[messages], "gaze_a");
            close(gaze.columns[2], rotation.columns[0]);
            close(gaze.columns[0], rotation.columns[1].map(|v| -v));
            close(gaze.columns[1], [0.0, 0.0, -1.0]);
        }
        close(look_up(&[&writer.moving], "person_a").0, face.translation);
    }

    #[test]
    fn people_of_one_name_share_one_alias() {
        let mut writer = FrameWriter::default();
        standing(&mut writer, &["a", "b"].map(|id| Named { id, name: "ann", face: false }));
        let aliases = writer.moving.transforms.iter().filter(|t| text(&t.child_frame_id) == "ann").count();
        assert_eq!(aliases, 1);
    }
}
