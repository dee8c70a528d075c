//! Driven joints: wheels that roll with the way a person goes (human-layer specification, section 15).
//!
//! `rig.yaml` beside an actor's model says which. This module must never know where a model lies; callers hand in text or
//! a path.

use std::{
    collections::HashMap,
    io,
    path::{Path, PathBuf},
};

use crate::{
    document::{Document, DocumentError, DocumentProblem},
    joint::Joint,
    pool::IdHash,
    yaml::{self, Node, Value},
};

const FORM: &str =
    "drivers: {l_wheel: {bone: WheelL, from: distance, radius: 0.3, lateral: 0.28, axis: [0, 1, 0]}}";
const KEYS: &[&str] = &["skeleton", "root_offset", "drivers"];
const DRIVER_KEYS: &[&str] = &["bone", "from", "radius", "lateral", "axis"];
/// Most driven joints of a model.
const MOST: usize = 64;

/// A joint that turns with the distance travelled.
#[derive(Debug, Clone, PartialEq)]
pub struct Driver {
    /// Joint name on the wire; not one of the 40.
    pub joint: String,
    /// Bone that a renderer turns.
    pub bone: Option<String>,
    /// Radius in metres, above 0.
    pub radius: f64,
    /// Metres left of the root.
    pub lateral: f64,
    /// Axis a renderer turns it about.
    pub axis: [f64; 3],
}

/// Why a `rig.yaml` gives no drivers.
#[derive(Debug, thiserror::Error)]
pub enum RigError {
    /// It is there and cannot be read.
    #[error("{path}: {source}", path = path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// It does not hold.
    #[error(transparent)]
    Document(#[from] DocumentError),
}

/// A parsed `rig.yaml`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RigFile {
    /// Skeleton convention, for renderers.
    pub skeleton: Option<String>,
    /// Offset of the body root in metres.
    pub root_offset: [f64; 3],
    /// Driven joints in file order.
    pub drivers: Vec<Driver>,
}

impl RigFile {
    /// Reads and parses a file; one that is not there drives nothing.
    ///
    /// # Errors
    /// As [`Self::parse`], or the file cannot be read.
    pub fn read(path: &Path) -> Result<Self, RigError> {
        match yaml::read(path) {
            Ok(text) => Ok(Self::parse(&path.display().to_string(), &text)?),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Self::default()),
            Err(source) => Err(RigError::Io { path: path.to_owned(), source }),
        }
    }

    /// Parses the text of a `rig.yaml`. An empty file and one without `drivers` drive nothing.
    ///
    /// # Errors
    /// The first problem, with the form that was expected.
    pub fn parse(file: &str, text: &str) -> Result<Self, DocumentError> {
        let document = Document { file };
        let node = document.parse(text)?;
        let mut rig = Self::default();
        if node.value == Value::Null {
            return Ok(rig);
        }
        for (key, value) in document.map(&node, "rig", FORM)? {
            match key.text.as_str() {
                "skeleton" => rig.skeleton = Some(document.text(value, "skeleton", "a name")?.to_owned()),
                "root_offset" => rig.root_offset = triple(document, value, "root_offset")?,
                "drivers" if value.value == Value::Null => {}
                "drivers" => {
                    let entries = document.map(value, "drivers", FORM)?;
                    if entries.len() > MOST {
                        return Err(document.unexpected(value, "drivers", format!("at most {MOST} drivers")));
                    }
                    for (name, value) in entries {
                        if Joint::parse(&name.text).is_some() {
                            let problem = DocumentProblem::Unexpected {
                                place: "drivers".to_owned(),
                                expected: "a joint that is not one of the 40".to_owned(),
                                found: format!("{:?}", name.text),
                            };
                            return Err(document.error(name.at, problem));
                        }
                        rig.drivers.push(driver(document, &name.text, value)?);
                    }
                }
                _ => return Err(document.unknown_key(key, "rig", KEYS)),
            }
        }
        Ok(rig)
    }
}

fn driver(document: Document<'_>, name: &str, node: &Node) -> Result<Driver, DocumentError> {
    let place = |key: &str| format!("drivers.{name}.{key}");
    let (mut radius, mut from) = (None, false);
    let mut driver =
        Driver { joint: name.to_owned(), bone: None, radius: 0.0, lateral: 0.0, axis: [0.0, 1.0, 0.0] };
    for (key, value) in document.map(node, &format!("drivers.{name}"), FORM)? {
        let place = place(&key.text);
        match key.text.as_str() {
            "bone" => driver.bone = Some(document.text(value, &place, "a bone name")?.to_owned()),
            "from" => match &value.value {
                Value::Text(source) if source == "distance" => from = true,
                _ => return Err(document.unexpected(value, place, format!("distance; {FORM}"))),
            },
            "radius" => {
                let expected = format!("a radius in metres above 0; {FORM}");
                radius = Some(document.number(value, &place, &expected, |radius| radius > 0.0)?);
            }
            "lateral" => {
                driver.lateral = document.number(value, &place, "metres left of the root", |_| true)?
            }
            "axis" => driver.axis = triple(document, value, &place)?,
            _ => return Err(document.unknown_key(key, format!("drivers.{name}"), DRIVER_KEYS)),
        }
    }
    let missing = |key| {
        let place = format!("drivers.{name}");
        document.error(node.at, DocumentProblem::MissingKey { place, key, form: FORM })
    };
    if !from {
        return Err(missing("from"));
    }
    driver.radius = radius.ok_or_else(|| missing("radius"))?;
    Ok(driver)
}

fn triple(document: Document<'_>, node: &Node, place: &str) -> Result<[f64; 3], DocumentError> {
    let items: &[Node; 3] = document
        .list(node, place, "three numbers")?
        .try_into()
        .map_err(|_| document.unexpected(node, place, "three numbers"))?;
    let mut triple = [0.0; 3];
    for (out, item) in triple.iter_mut().zip(items) {
        *out = document.number(item, place, "three numbers", |_| true)?;
    }
    Ok(triple)
}

#[derive(Debug, Clone)]
struct Wheels {
    pose: [f64; 3],
    angles: Vec<f64>,
}

/// Angles of driven joints, by person id.
#[derive(Debug, Clone, Default)]
pub struct DriverPool {
    people: HashMap<u32, Wheels, IdHash>,
}

impl DriverPool {
    /// Advances a person to a pose (x, y in metres, yaw in radians) and gives the angles of the rig's drivers in
    /// radians, positive rolling forward. The first sight adds nothing, and neither does a pose that is not finite.
    pub fn advance(&mut self, id: u32, pose: [f64; 3], drivers: &[Driver]) -> &[f64] {
        let finite = pose.iter().all(|number| number.is_finite());
        let wheels =
            self.people.entry(id).or_insert_with(|| Wheels { pose, angles: vec![0.0; drivers.len()] });
        if wheels.angles.len() != drivers.len() {
            // Another model: its wheels start anew.
            wheels.angles.clear();
            wheels.angles.resize(drivers.len(), 0.0);
        }
        if !finite {
            return &wheels.angles;
        }
        if wheels.pose.iter().all(|number| number.is_finite()) {
            let [x, y, yaw] = wheels.pose;
            let turn = wrapped(pose[2] - yaw);
            let (sin, cos) = (yaw + 0.5 * turn).sin_cos();
            let forward = (pose[0] - x) * cos + (pose[1] - y) * sin;
            for (angle, driver) in wheels.angles.iter_mut().zip(drivers) {
                *angle += (forward - turn * driver.lateral) / driver.radius;
            }
        }
        wheels.pose = pose;
        &wheels.angles
    }

    /// The angles of a person, radians.
    #[must_use]
    pub fn angles(&self, id: u32) -> Option<&[f64]> {
        self.people.get(&id).map(|wheels| wheels.angles.as_slice())
    }

    /// Drops a person.
    pub fn forget(&mut self, id: u32) {
        self.people.remove(&id);
    }

    /// Drops everybody for whom `keep` is false.
    pub fn retain(&mut self, mut keep: impl FnMut(u32) -> bool) {
        self.people.retain(|id, _| keep(*id));
    }
}

/// Into [-pi, pi).
pub(crate) fn wrapped(angle: f64) -> f64 {
    use std::f64::consts::{PI, TAU};
    (angle + PI).rem_euclid(TAU) - PI
}
