//! Definitions of the messages that Promenade records, and of those that old bags bring none for.

/// Text of one of our message files.
macro_rules! ours {
    ($package:literal: $($name:literal),*) => {
        [$((
            concat!($package, "/", $name),
            include_str!(concat!("../../../msgs/", $package, "/msg/", $name, ".msg")),
        )),*]
    };
}

const STANDARD: [(&str, &str); 18] = [
    ("builtin_interfaces/Time", "int32 sec\nuint32 nanosec\n"),
    ("std_msgs/Header", "builtin_interfaces/Time stamp\nstring frame_id\n"),
    ("geometry_msgs/Point", "float64 x\nfloat64 y\nfloat64 z\n"),
    ("geometry_msgs/Point32", "float32 x\nfloat32 y\nfloat32 z\n"),
    ("geometry_msgs/Vector3", "float64 x\nfloat64 y\nfloat64 z\n"),
    ("geometry_msgs/Quaternion", "float64 x 0\nfloat64 y 0\nfloat64 z 0\nfloat64 w 1\n"),
    ("geometry_msgs/Pose", "Point position\nQuaternion orientation\n"),
    ("geometry_msgs/PoseStamped", "std_msgs/Header header\nPose pose\n"),
    ("geometry_msgs/Pose2D", "float64 x\nfloat64 y\nfloat64 theta\n"),
    ("geometry_msgs/Twist", "Vector3 linear\nVector3 angular\n"),
    ("geometry_msgs/PoseWithCovariance", "Pose pose\nfloat64[36] covariance\n"),
    ("geometry_msgs/TwistWithCovariance", "Twist twist\nfloat64[36] covariance\n"),
    ("geometry_msgs/Transform", "Vector3 translation\nQuaternion rotation\n"),
    (
        "geometry_msgs/TransformStamped",
        "std_msgs/Header header\nstring child_frame_id\nTransform transform\n",
    ),
    (
        "nav_msgs/Odometry",
        "std_msgs/Header header\nstring child_frame_id\ngeometry_msgs/PoseWithCovariance pose\n\
         geometry_msgs/TwistWithCovariance twist\n",
    ),
    ("rosgraph_msgs/Clock", "builtin_interfaces/Time clock\n"),
    (
        "sensor_msgs/JointState",
        "std_msgs/Header header\nstring[] name\nfloat64[] position\nfloat64[] velocity\nfloat64[] effort\n",
    ),
    ("tf2_msgs/TFMessage", "geometry_msgs/TransformStamped[] transforms\n"),
];

const PEOPLE: [(&str, &str); 3] = ours!("arena_people_msgs": "Gesture", "Pedestrian", "Pedestrians");
const HUNAV: [(&str, &str); 3] = ours!("hunav_msgs": "Agent", "AgentBehavior", "Agents");
const ENGINE: [(&str, &str); 7] = ours!("arena_humansim_msgs":
    "AgentFrame", "AgentMeta", "AgentGestures", "Gesture", "ObstacleConfig", "WorldGeometry", "WorldObjectInfo");

fn own(name: &str) -> Option<&'static str> {
    let table = STANDARD.iter().chain(&PEOPLE).chain(&HUNAV).chain(&ENGINE);
    table.into_iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}

/// The definition of a message (`package/msg/Name`), followed by those of the messages it holds, as bags carry them; none of what
/// Promenade does not record.
#[must_use]
pub fn definition(message: &str) -> Option<String> {
    let name = message.replacen("/msg/", "/", 1);
    let mut names = vec![name.clone()];
    let mut text = own(&name)?.to_owned();
    let mut next = 0;
    while next < names.len() {
        let package = names[next].split('/').next().unwrap_or_default().to_owned();
        for line in own(&names[next])?.lines() {
            let word = line.split([' ', '[', '#']).next().unwrap_or_default();
            let full = if word.contains('/') { word.to_owned() } else { format!("{package}/{word}") };
            if let Some(part) = own(&full).filter(|_| !names.contains(&full)) {
                text = format!("{text}\n{}\nMSG: {full}\n{part}", "=".repeat(80));
                names.push(full);
            }
        }
        next += 1;
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Schema;

    #[test]
    fn every_definition_brings_those_of_all_it_holds() {
        for (name, _) in STANDARD.iter().chain(&PEOPLE).chain(&HUNAV).chain(&ENGINE) {
            let (package, own) = name.split_once('/').expect("a package");
            let message = format!("{package}/msg/{own}");
            let text = definition(&message).expect(name);
            Schema::parse(&message, &text).unwrap_or_else(|error| panic!("{name}: {error}"));
        }
        let text = definition("arena_humansim_msgs/msg/WorldGeometry").expect("known");
        for part in
            ["std_msgs/Header", "builtin_interfaces/Time", "geometry_msgs/Point32", "geometry_msgs/Pose2D"]
        {
            assert!(text.contains(&format!("MSG: {part}\n")), "{part}");
        }
        assert!(
            text.contains("MSG: arena_humansim_msgs/ObstacleConfig\n")
                && text.contains("string[] wall_names")
        );
        assert_eq!(definition("nobody/msg/Knows"), None);
    }
}
