//! The rig as a URDF document per body, every name suffixed with the body id (ROS4HRI projection, section 4.2).
//!
//! No rotation appears anywhere: bars across the body are boxes. No collision geometry.

use std::fmt::Write as _;

use super::{Link, Point, RIG_JOINTS, Rig};

/// Radius of limb cylinders and of the spheres at their ends, metres.
const LIMB: f64 = 0.03;
/// Edge of the bars across shoulders and hips, metres.
const BAR: f64 = 0.06;
const PALM: Point = [0.02, 0.08, 0.10];
const FOOT: Point = [0.24, 0.09, 0.05];
/// How far the heel stands behind the ankle, metres.
const HEEL: f64 = 0.06;
/// Declared effort and velocity limits; viewers need some, nothing enforces them.
const EFFORT: f64 = 1000.0;
const VELOCITY: f64 = 0.5;

const MATERIALS: [(&str, &str); 3] =
    [("body", "0.35 0.45 0.60 1"), ("skin", "0.85 0.68 0.55 1"), ("dark", "0.08 0.08 0.10 1")];

impl Rig {
    /// The URDF document of a body. Angles are the values of [`super::wire_to_urdf`]; the root link is `body_<id>`.
    #[must_use]
    pub fn urdf(&self, id: &str) -> String {
        let id = escaped(id);
        let mut document = Document { text: String::with_capacity(24 * 1024) };
        document.line(format_args!("<?xml version=\"1.0\"?>"));
        document.line(format_args!("<robot name=\"human_{id}\">"));
        for (name, rgba) in MATERIALS {
            document.line(format_args!("  <material name=\"{name}\"><color rgba=\"{rgba}\"/></material>"));
        }
        for link in Link::all() {
            document.line(format_args!("  <link name=\"{}_{id}\">", link.name()));
            self.visuals(link, &mut document);
            document.line(format_args!("  </link>"));
        }
        for (index, joint) in RIG_JOINTS.iter().enumerate() {
            let kind = if joint.joint.is_some() { "revolute" } else { "fixed" };
            let [x, y, z] = self.offset(index);
            document.line(format_args!("  <joint name=\"{}_{id}\" type=\"{kind}\">", joint.name));
            document.line(format_args!("    <parent link=\"{}_{id}\"/>", joint.parent.name()));
            document.line(format_args!("    <child link=\"{}_{id}\"/>", joint.child.name()));
            document.line(format_args!("    <origin xyz=\"{x} {y} {z}\" rpy=\"0 0 0\"/>"));
            if let Some(joint) = joint.joint {
                let [x, y, z] = joint.axis().vector();
                let [lo, hi] = joint.urdf_limits();
                document.line(format_args!("    <axis xyz=\"{x} {y} {z}\"/>"));
                document.line(format_args!(
                    "    <limit lower=\"{lo}\" upper=\"{hi}\" effort=\"{EFFORT}\" velocity=\"{VELOCITY}\"/>"
                ));
            }
            document.line(format_args!("  </joint>"));
        }
        document.line(format_args!("</robot>"));
        document.text
    }

    fn visuals(&self, link: Link, document: &mut Document) {
        let unit = self.unit();
        let (side, part) = match link.name().split_at_checked(2) {
            Some(("l_", part)) => (1.0, part),
            Some(("r_", part)) => (-1.0, part),
            _ => (0.0, link.name()),
        };
        match part {
            "body" => document.cuboid([0.0; 3], [BAR, 1.2 * unit, BAR], "body"),
            "waist" | "spine" | "chest" if side == 0.0 => document.limb(super::THIRD * unit, "body"),
            "torso" => document.limb(0.25 * unit, "skin"),
            "head" if side == 0.0 => {
                let radius = self.head_radius();
                document.sphere(self.skull_offset(), radius, "skin");
                for side in [1.0, -1.0] {
                    document.sphere([0.4 * radius, side * 0.4 * radius, 0.0], radius / 5.0, "dark");
                }
            }
            "p_collar" => {
                let clavicle = 0.8 * unit;
                document.cuboid([0.0, side * clavicle / 2.0, 0.0], [BAR, clavicle, BAR], "body");
            }
            "shoulder" => document.limb(-1.6 * unit, "body"),
            "elbow" => document.limb(-unit, "skin"),
            "wrist" => document.cuboid([0.0, 0.0, -PALM[2] / 2.0], PALM, "skin"),
            "hip" => document.limb(-1.5 * unit, "body"),
            "knee" => document.limb(-2.0 * unit, "body"),
            "ankle" => document.cuboid([FOOT[0] / 2.0 - HEEL, 0.0, -FOOT[2] / 2.0], FOOT, "dark"),
            _ => {}
        }
    }
}

struct Document {
    text: String,
}

impl Document {
    fn line(&mut self, line: std::fmt::Arguments<'_>) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.text, "{line}");
    }

    /// A cylinder along z from the link's origin, with a sphere at its far end.
    fn limb(&mut self, length: f64, material: &str) {
        let geometry = format_args!("<cylinder radius=\"{LIMB}\" length=\"{}\"/>", length.abs()).to_string();
        self.visual([0.0, 0.0, length / 2.0], &geometry, material);
        self.sphere([0.0, 0.0, length], LIMB, material);
    }

    fn sphere(&mut self, centre: Point, radius: f64, material: &str) {
        self.visual(centre, &format!("<sphere radius=\"{radius}\"/>"), material);
    }

    fn cuboid(&mut self, centre: Point, [x, y, z]: Point, material: &str) {
        self.visual(centre, &format!("<box size=\"{x} {y} {z}\"/>"), material);
    }

    fn visual(&mut self, [x, y, z]: Point, geometry: &str, material: &str) {
        self.line(format_args!("    <visual>"));
        self.line(format_args!("      <origin xyz=\"{x} {y} {z}\" rpy=\"0 0 0\"/>"));
        self.line(format_args!("      <geometry>{geometry}</geometry>"));
        self.line(format_args!("      <material name=\"{material}\"/>"));
        self.line(format_args!("    </visual>"));
    }
}

/// An id as the text of an XML attribute.
fn escaped(id: &str) -> String {
    let mut text = String::with_capacity(id.len());
    for c in id.chars() {
        match c {
            '&' => text.push_str("&amp;"),
            '<' => text.push_str("&lt;"),
            '>' => text.push_str("&gt;"),
            '"' => text.push_str("&quot;"),
            // XML has no way to write other control characters.
            c if c.is_control() => text.push('_'),
            c => text.push(c),
        }
    }
    text
}
