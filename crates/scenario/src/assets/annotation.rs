//! `annotation.yaml`: what an asset says about itself (human-layer specification, section 24).
//!
//! Only the file is read here; whether a model, a texture or a rig lies beside it is the library's business.

use std::fmt;
use std::path::Path;

use crate::decode::{Decoder, Unknown};
use crate::entry::Seat;
use crate::problem::{Loaded, Report};
use crate::scenario::read_text;
use crate::tree::{Node, Value};

/// A tag, `domain::value`; the value may have `::` of its own.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Tag {
    /// The part before the first `::`.
    pub domain: String,
    /// The rest.
    pub value: String,
}

impl Tag {
    /// The tag of a text, if it has both parts.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (domain, value) = text.split_once("::")?;
        let whole = !domain.is_empty() && value.split("::").all(|part| !part.is_empty());
        whole.then(|| Self { domain: domain.to_owned(), value: value.to_owned() })
    }
}

impl fmt::Display for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}::{}", self.domain, self.value)
    }
}

/// A side of an object, in its own frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Face {
    /// Towards +x.
    PlusX,
    /// Towards -x.
    MinusX,
    /// Towards +y.
    PlusY,
    /// Towards -y.
    MinusY,
    /// Up.
    PlusZ,
    /// Down.
    MinusZ,
}

/// Metres from the origin of an object, along its own axes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BoundingBox {
    /// Smallest and largest x.
    pub x: [f64; 2],
    /// Smallest and largest y.
    pub y: [f64; 2],
    /// Smallest and largest z.
    pub z: [f64; 2],
}

impl BoundingBox {
    /// Its corners on the floor in the object's frame, counter-clockwise.
    #[must_use]
    pub const fn footprint(&self) -> [[f64; 2]; 4] {
        let ([x0, x1], [y0, y1]) = (self.x, self.y);
        [[x0, y0], [x1, y0], [x1, y1], [x0, y1]]
    }
}

/// What an asset says about itself.
#[derive(Debug, Clone, PartialEq)]
pub struct Annotation {
    /// Version of the format.
    pub asa: Option<i64>,
    /// Name for people.
    pub name: Option<String>,
    /// Path below the folder of assets.
    pub path: Option<String>,
    /// One sentence.
    pub desc: Option<String>,
    /// Remarks.
    pub note: Option<String>,
    /// The side it is used from.
    pub face: Option<Face>,
    /// Tags in file order.
    pub tags: Vec<Tag>,
    /// The room it takes.
    pub bounding_box: Option<BoundingBox>,
    /// Names of the interactions it offers (`hoi`), in file order.
    pub interactions: Vec<String>,
    /// Places to sit, in its own frame.
    pub seats: Vec<Seat>,
    /// Frame of a robot's base.
    pub base_frame: Option<String>,
    /// Mass of an object that can be pushed, kg; without one it stands like a wall.
    pub mass: Option<f64>,
    /// The whole file as written.
    pub document: Node,
}

const KEYS: &[&str] = &[
    "asa",
    "name",
    "path",
    "desc",
    "note",
    "face",
    "tags",
    "bounding_box",
    "hoi",
    "seats",
    "base_frame",
    "mass",
];

const FACES: [(&str, Face); 9] = [
    ("x", Face::PlusX),
    ("+x", Face::PlusX),
    ("-x", Face::MinusX),
    ("y", Face::PlusY),
    ("+y", Face::PlusY),
    ("-y", Face::MinusY),
    ("z", Face::PlusZ),
    ("+z", Face::PlusZ),
    ("-z", Face::MinusZ),
];

impl Annotation {
    /// An annotation that says nothing, for an asset without one.
    #[must_use]
    pub fn silent() -> Self {
        Self {
            asa: None,
            name: None,
            path: None,
            desc: None,
            note: None,
            face: None,
            tags: Vec::new(),
            bounding_box: None,
            interactions: Vec::new(),
            seats: Vec::new(),
            base_frame: None,
            mass: None,
            document: Node::empty_map(),
        }
    }

    /// Read an `annotation.yaml`.
    ///
    /// # Errors
    /// Every problem of the file, at least one of them an error.
    pub fn load(file: &Path) -> Result<Loaded<Self>, Report> {
        let text = read_text(file).map_err(|problem| Report::new(vec![problem]))?;
        Self::parse(&text, file)
    }

    /// Read an annotation from text; `file` is for messages and need not exist.
    ///
    /// # Errors
    /// Every problem of the text, at least one of them an error.
    pub fn parse(text: &str, file: &Path) -> Result<Loaded<Self>, Report> {
        Decoder::read(text, file, Decoder::annotation)
    }

    /// Whether it carries a tag, given as `domain::value`.
    #[must_use]
    pub fn has_tag(&self, tag: &str) -> bool {
        Tag::parse(tag).is_some_and(|tag| self.tags.contains(&tag))
    }
}

impl Decoder {
    fn annotation(&mut self, node: &Node) -> Option<Annotation> {
        if node.value == Value::Null {
            self.warning(node.at, "", "the file is empty: the asset says nothing about itself");
            return Some(Annotation::silent());
        }
        let fields = self.fields(node, "", "an annotation", KEYS)?;
        let annotation = Annotation {
            asa: fields.read(self, "asa", Self::integer),
            name: fields.read(self, "name", Self::text),
            path: fields.read(self, "path", Self::text),
            desc: fields.read(self, "desc", Self::text),
            note: fields.read(self, "note", Self::text),
            face: fields.read(self, "face", |d, n, p| d.choice(n, p, "face", &FACES)),
            tags: fields
                .read(self, "tags", |d, n, p| Some(d.list_of(n, p, "tags `domain::value`", Self::tag)))
                .unwrap_or_default(),
            bounding_box: fields.read(self, "bounding_box", Self::bounding_box),
            interactions: fields
                .read(self, "hoi", |d, n, p| Some(d.list_of(n, p, "interaction names", Self::name)))
                .unwrap_or_default(),
            seats: fields.read(self, "seats", Self::seats).unwrap_or_default(),
            base_frame: fields.read(self, "base_frame", Self::name),
            mass: fields.read(self, "mass", Self::positive),
            document: node.clone(),
        };
        if let Some(version) = annotation.asa.filter(|version| *version != 1) {
            let at = fields.key_at("asa");
            self.warning(at, "asa", format!("version {version} is not known, it is read as version 1"));
        }
        fields.finish(self, Unknown::Open, &[]);
        Some(annotation)
    }

    /// A word without a domain matches nobody's wish, so it is left out after a warning.
    fn tag(&mut self, node: &Node, path: &str) -> Option<Tag> {
        let text = self.name(node, path)?;
        let tag = Tag::parse(&text);
        if tag.is_none() {
            self.warning(
                node.at,
                path,
                format!("expected a tag `domain::value`, found {text:?}; it is left out"),
            );
        }
        tag
    }

    fn bounding_box(&mut self, node: &Node, path: &str) -> Option<BoundingBox> {
        let Some([x, y, z]) = node.items() else {
            self.mismatch(node, path, "`[[xmin, xmax], [ymin, ymax], [zmin, zmax]]` in metres");
            return None;
        };
        // All three are read before any failure counts, so that all of them are reported.
        let [x, y, z] = [(0, x), (1, y), (2, z)].map(|(i, n)| self.extent(n, &format!("{path}[{i}]")));
        Some(BoundingBox { x: x?, y: y?, z: z? })
    }

    fn extent(&mut self, node: &Node, path: &str) -> Option<[f64; 2]> {
        let Some([low, high]) = node.items() else {
            self.mismatch(node, path, "`[min, max]` in metres");
            return None;
        };
        let (low, high) = (self.number(low, path), self.number(high, path));
        let (low, high) = (low?, high?);
        if low > high {
            self.error(
                node.at,
                path,
                format!("the smallest value {low} is greater than the largest, {high}"),
            );
            return None;
        }
        Some([low, high])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::Severity;

    #[test]
    fn an_annotation_is_typed_key_by_key() {
        let text = "asa: 1\nname: Oak bench\npath: Common/object/bench_oak\ndesc: A bench\nface: -y\ntags: [object::seating, human::mobility::wheelchair]\nbounding_box: [[-0.6, 0.6], [-0.2, 0.2], [0, 0.45]]\nhoi: [sit]\nseats: [{x: -0.3, y: 0}, {x: 0.3, y: 0, yaw: 0.2}]\n";
        let loaded = Annotation::parse(text, Path::new("annotation.yaml")).expect("loads");
        assert!(loaded.report.is_empty(), "{}", loaded.report);
        let annotation = loaded.value;
        assert_eq!(annotation.face, Some(Face::MinusY));
        assert!(annotation.has_tag("human::mobility::wheelchair") && !annotation.has_tag("human::mobility"));
        assert_eq!(annotation.tags[1].to_string(), "human::mobility::wheelchair");
        let bounds = annotation.bounding_box.expect("a box");
        assert_eq!(bounds.footprint()[2], [0.6, 0.2]);
        assert_eq!((annotation.interactions.len(), annotation.seats.len()), (1, 2));
    }

    #[test]
    fn all_mistakes_of_an_annotation_are_told_with_their_places() {
        let text = "asa: 2\nface: north\ntags: [seating]\nbounding_box: [[1, 0], [a, 2], 3]\nseat: []\nbase_frame: ''\nmass: 0\n";
        let report = Annotation::parse(text, Path::new("a.yaml")).expect_err("refused");
        assert_eq!(
            report.to_string(),
            "a.yaml:1:1: warning: asa: version 2 is not known, it is read as version 1
a.yaml:2:7: error: face: unknown face \"north\", expected one of `x`, `+x`, `-x`, `y`, `+y`, `-y`, `z`, `+z`, `-z`
a.yaml:3:8: warning: tags[0]: expected a tag `domain::value`, found \"seating\"; it is left out
a.yaml:4:16: error: bounding_box[0]: the smallest value 1 is greater than the largest, 0
a.yaml:4:25: error: bounding_box[1]: expected a number, found the text \"a\"
a.yaml:4:32: error: bounding_box[2]: expected `[min, max]` in metres, found the number 3
a.yaml:5:1: warning: unknown key `seat`  (try: seats)
a.yaml:6:13: error: base_frame: a name must not be empty
a.yaml:7:7: error: mass: must be greater than 0, found 0"
        );
    }

    #[test]
    fn an_empty_annotation_is_a_warning() {
        let loaded = Annotation::parse("", Path::new("a.yaml")).expect("loads");
        assert_eq!(loaded.report.count(Severity::Warning), 1);
        assert_eq!(loaded.value, Annotation::silent());
    }
}
