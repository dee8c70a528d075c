//! Finding a model's folder: `<place>/<domain>/<type>/<name>/`, in the world's own assets, then in shared ones, then in the cache.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::Annotation;
use crate::problem::{Problem, Report, Severity, nearest, shown};

/// The annotation of an asset, in its folder.
pub const ANNOTATION_FILE: &str = "annotation.yaml";
/// The driven joints of a human, in its folder.
pub const RIG_FILE: &str = "rig.yaml";
/// The human that stands in for every missing one. Ours, so it alone says nothing about which models a user has.
pub const FALLBACK_HUMAN: &str = "arenian";

/// The robots that come with the program, in order of the alphabet; a library's own model of such a name comes first.
pub const BUILT_IN_ROBOTS: [&str; 5] =
    ["car_robot", "field_robot", "omni_robot", "service_robot", "small_diff"];
/// The robot that stands in where no model is named, and for every missing one.
pub const DEFAULT_ROBOT: &str = "service_robot";

/// Folders in a folder of domains or types. More is no library of assets.
const MAX_FOLDERS: usize = 1_000;
/// Model names looked through for a nearest one.
const MAX_NAMES: usize = 20_000;
/// Answers remembered; names may come from messages, and later ones are looked up every time.
const MAX_CACHED: usize = 16_384;

/// What a model is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum AssetKind {
    /// A person.
    Human,
    /// A thing.
    Object,
    /// A robot.
    Robot,
}

impl AssetKind {
    /// All kinds.
    pub const ALL: [Self; 3] = [Self::Human, Self::Object, Self::Robot];

    /// Its word: the name of its folder below a domain.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Human => "human",
            Self::Object => "object",
            Self::Robot => "robot",
        }
    }

    /// The kind of a type folder. Libraries spell it with and without a capital and an `s`.
    #[must_use]
    pub fn of_folder(name: &str) -> Option<Self> {
        let lower = name.to_ascii_lowercase();
        let stem = lower.strip_suffix('s').unwrap_or(&lower);
        Self::ALL.into_iter().find(|kind| kind.word() == stem)
    }
}

impl fmt::Display for AssetKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// Which of the libraries a folder belongs to; they are searched in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum AssetSource {
    /// The world's own.
    World,
    /// Shared by all worlds beside it.
    Shared,
    /// Fetched earlier.
    Cached,
}

/// A folder of `<domain>/<type>/<name>/`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AssetPlace {
    /// Whose it is.
    pub source: AssetSource,
    /// The folder, which need not exist.
    pub folder: PathBuf,
}

/// A model that was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Bundle {
    /// What it is of.
    pub kind: AssetKind,
    /// Its domain, e.g. `Hospital`.
    pub domain: String,
    /// Its name: that of its folder.
    pub name: String,
    /// Its folder, absolute.
    pub folder: PathBuf,
    /// Which library it came from.
    pub source: AssetSource,
    /// Its SDF file, absolute. Every bundle that [`AssetLibrary::human`] gives has one.
    pub sdf: Option<PathBuf>,
    /// Its `rig.yaml`, absolute, if it has one.
    pub rig: Option<PathBuf>,
    /// What it says about itself.
    pub annotation: Annotation,
    /// Warnings and hints about its files; never an error.
    pub report: Report,
}

impl Bundle {
    /// Read the bundle in a folder.
    ///
    /// # Errors
    /// [`AssetError::Broken`] with every problem of its annotation.
    fn load(kind: AssetKind, domain: &str, folder: &Path, source: AssetSource) -> Result<Self, AssetError> {
        let mut problems = Vec::new();
        let file = folder.join(ANNOTATION_FILE);
        let annotation = if file.is_file() {
            match Annotation::load(&file) {
                Ok(loaded) => {
                    problems.extend(loaded.report.into_problems());
                    loaded.value
                }
                Err(report) => return Err(AssetError::Broken { folder: folder.to_owned(), report }),
            }
        } else {
            let message = "is not there, so the model has no tags, no bounding box and no seats";
            problems.push(Problem::of_file(file, Severity::Warning, message));
            Annotation::silent()
        };
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let sdf = sdf_file(folder, &name, &mut problems);
        let rig = Some(folder.join(RIG_FILE)).filter(|rig| rig.is_file());
        Ok(Self {
            kind,
            domain: domain.to_owned(),
            name,
            folder: folder.to_owned(),
            source,
            sdf,
            rig,
            annotation,
            report: Report::new(problems),
        })
    }
}

/// The SDF file of a folder: the one named like the folder, else `model.sdf`, else the only one or the first of several.
fn sdf_file(folder: &Path, name: &str, problems: &mut Vec<Problem>) -> Option<PathBuf> {
    let customary = [folder.join(format!("{name}.sdf")), folder.join("model.sdf")];
    if let Some(file) = customary.into_iter().find(|file| file.is_file()) {
        return Some(file);
    }
    let is_sdf = |path: &PathBuf| path.extension().is_some_and(|e| e.eq_ignore_ascii_case("sdf"));
    let mut files: Vec<PathBuf> = entries(folder, MAX_FOLDERS).into_iter().filter(is_sdf).collect();
    files.retain(|file| file.is_file());
    let first = files.first()?.clone();
    if files.len() > 1 {
        let message = format!("holds {} SDF files, expected one; {} is taken", files.len(), shown(&first));
        problems.push(Problem::of_file(folder, Severity::Warning, message));
    }
    Some(first)
}

/// Why a name gives no model.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum AssetError {
    /// The text cannot name a model.
    #[error("{model:?} is no model name; expected `name`, `domain/name` or `domain/type/name`")]
    BadName {
        /// What was asked for.
        model: String,
    },
    /// No library has it.
    #[error("no {kind} model is named {model:?}; looked for {}{}", places(tried), suggestion(nearest))]
    NotFound {
        /// What it should be of.
        kind: AssetKind,
        /// What was asked for.
        model: String,
        /// Where it was looked for, in order; `*` stands for any domain.
        tried: Vec<PathBuf>,
        /// The name most like it, with its domain.
        nearest: Option<String>,
    },
    /// It is there and its annotation does not hold.
    #[error("the model in {} does not load:\n{report}", shown(folder))]
    Broken {
        /// Its folder.
        folder: PathBuf,
        /// Every problem, with line and column.
        report: Report,
    },
    /// It is there and a simulator could not show it.
    #[error("the model in {} has no SDF file", shown(folder))]
    NoSdf {
        /// Its folder.
        folder: PathBuf,
    },
}

fn places(tried: &[PathBuf]) -> String {
    if tried.is_empty() {
        return "nothing, since no folder of assets is known".to_owned();
    }
    tried.iter().map(|p| shown(p)).collect::<Vec<_>>().join(", ")
}

fn suggestion(nearest: &Option<String>) -> String {
    nearest.as_ref().map_or_else(String::new, |n| format!("  (try: {n})"))
}

/// A model name in its parts.
struct ModelName<'a> {
    domain: Option<&'a str>,
    folder: Option<&'a str>,
    name: &'a str,
}

impl<'a> ModelName<'a> {
    /// Only plain words between the slashes: a name never leaves the folders it is looked for in.
    fn parse(model: &'a str) -> Option<Self> {
        let is_plain = |part: &str| {
            !matches!(part, "" | "." | "..") && !part.contains(|c: char| c.is_control() || c == '\\')
        };
        let mut parts = model.split('/');
        let (first, second, third) = (parts.next()?, parts.next(), parts.next());
        if parts.next().is_some() || ![Some(first), second, third].into_iter().flatten().all(is_plain) {
            return None;
        }
        Some(match (second, third) {
            (Some(folder), Some(name)) => Self { domain: Some(first), folder: Some(folder), name },
            (Some(name), None) => Self { domain: Some(first), folder: None, name },
            _ => Self { domain: None, folder: None, name: first },
        })
    }

    /// Whether a type folder may hold the model.
    fn fits(&self, kind: AssetKind, folder: &str) -> bool {
        match self.folder {
            Some(wanted) => wanted.eq_ignore_ascii_case(folder),
            None => AssetKind::of_folder(folder) == Some(kind),
        }
    }
}

type Answer = Result<Arc<Bundle>, AssetError>;

/// Models by name, over several folders of assets. Each name is looked up once.
#[derive(Debug)]
pub struct AssetLibrary {
    places: Vec<AssetPlace>,
    answers: Mutex<BTreeMap<(AssetKind, String), Answer>>,
    names: [OnceLock<Vec<String>>; 3],
}

impl AssetLibrary {
    /// A library over these places, searched in order; one that is there twice counts once.
    #[must_use]
    pub fn new(places: impl IntoIterator<Item = AssetPlace>) -> Self {
        let mut seen = BTreeSet::new();
        let absolute = places.into_iter().map(|place| AssetPlace {
            folder: std::path::absolute(&place.folder).unwrap_or(place.folder),
            ..place
        });
        let places = absolute.filter(|place| seen.insert(place.folder.clone())).collect();
        Self { places, answers: Mutex::new(BTreeMap::new()), names: Default::default() }
    }

    /// A library without a place, which knows no model.
    #[must_use]
    pub fn empty() -> Self {
        Self::new([])
    }

    /// The customary places: `assets` in the world's folder; `assets` beside the folder of worlds it lies in and beside each of
    /// `roots`, the folders worlds are looked for in; then `cache`.
    #[must_use]
    pub fn of_world(world: Option<&Path>, roots: &[PathBuf], cache: Option<&Path>) -> Self {
        // `worlds/..` would follow a link; the folder beside is a matter of names.
        let absolute = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let world = world.map(absolute);
        let own_root = world.as_deref().and_then(Path::parent).map(Path::to_owned);
        let beside = own_root.into_iter().chain(roots.iter().map(|root| absolute(root)));
        let shared = beside.filter_map(|root| Some(root.parent()?.join("assets")));
        let place = |source| move |folder| AssetPlace { source, folder };
        Self::new(
            world
                .iter()
                .map(|world| world.join("assets"))
                .map(place(AssetSource::World))
                .chain(shared.map(place(AssetSource::Shared)))
                .chain(cache.map(Path::to_owned).map(place(AssetSource::Cached))),
        )
    }

    /// Where models are looked for, in order; absolute.
    #[must_use]
    pub fn places(&self) -> &[AssetPlace] {
        &self.places
    }

    /// A human by model name: `nurse`, `Hospital/nurse` or `Hospital/human/nurse`. Without a domain the first place that has the
    /// name decides, and in it the first domain in order of the alphabet.
    ///
    /// # Errors
    /// No such model, one whose annotation does not hold, or one without an SDF file.
    pub fn human(&self, model: &str) -> Result<Arc<Bundle>, AssetError> {
        let bundle = self.bundle(AssetKind::Human, model)?;
        if bundle.sdf.is_none() {
            return Err(AssetError::NoSdf { folder: bundle.folder.clone() });
        }
        Ok(bundle)
    }

    /// An object by model name, as [`human`](Self::human) reads it. Its annotation gives its box and its seats.
    ///
    /// # Errors
    /// No such model, or one whose annotation does not hold.
    pub fn object(&self, model: &str) -> Result<Arc<Bundle>, AssetError> {
        self.bundle(AssetKind::Object, model)
    }

    /// A robot by model name, as [`human`](Self::human) reads it. Its annotation may name its base frame.
    ///
    /// # Errors
    /// No such model, or one whose annotation does not hold.
    pub fn robot(&self, model: &str) -> Result<Arc<Bundle>, AssetError> {
        self.bundle(AssetKind::Robot, model)
    }

    /// Every model of a kind as `Domain/name`, in order, each once; at most 20 000. A folder of more than that is not listed, its
    /// models are found by name all the same.
    #[must_use]
    pub fn names(&self, kind: AssetKind) -> &[String] {
        self.names[kind as usize].get_or_init(|| self.all_names(kind))
    }

    /// Whether there are models of a kind besides the shipped fallback. Only then is a missing one worth a word.
    #[must_use]
    pub fn is_stocked(&self, kind: AssetKind) -> bool {
        let is_fallback = |name: &str| name.rsplit('/').next() == Some(FALLBACK_HUMAN);
        self.names(kind).iter().any(|name| kind != AssetKind::Human || !is_fallback(name))
    }

    fn bundle(&self, kind: AssetKind, model: &str) -> Answer {
        let key = (kind, model.to_owned());
        let answers = || self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = answers().get(&key) {
            return known.clone();
        }
        let answer = self.look_up(kind, model).map(Arc::new);
        let mut answers = answers();
        if answers.len() < MAX_CACHED {
            answers.insert(key, answer.clone());
        }
        answer
    }

    fn look_up(&self, kind: AssetKind, model: &str) -> Result<Bundle, AssetError> {
        let Some(wanted) = ModelName::parse(model) else {
            return Err(AssetError::BadName { model: model.to_owned() });
        };
        let mut tried = Vec::with_capacity(self.places.len());
        for place in &self.places {
            for (domain, folder) in type_folders(place, wanted.domain) {
                let bundle = folder.join(wanted.name);
                if wanted.fits(kind, &name_of(&folder)) && bundle.is_dir() {
                    return Bundle::load(kind, &domain, &bundle, place.source);
                }
            }
            let folder = wanted.folder.unwrap_or(kind.word());
            tried.push(place.folder.join(wanted.domain.unwrap_or("*")).join(folder).join(wanted.name));
        }
        let nearest = self.nearest(kind, &wanted);
        Err(AssetError::NotFound { kind, model: model.to_owned(), tried, nearest })
    }

    /// The same name in another domain, else the most similar name.
    fn nearest(&self, kind: AssetKind, wanted: &ModelName<'_>) -> Option<String> {
        let names = self.names(kind);
        let bare = |name: &'_ String| name.rsplit('/').next() == Some(wanted.name);
        if let Some(other) = names.iter().find(|name| bare(name)) {
            return Some(other.clone());
        }
        if let Some(domain) = wanted.domain {
            let full = format!("{domain}/{}", wanted.name);
            if let Some(close) = nearest(&full, names.iter().map(String::as_str)) {
                return Some(close.to_owned());
            }
        }
        let close = nearest(wanted.name, names.iter().filter_map(|name| name.rsplit('/').next()))?;
        names.iter().find(|name| name.rsplit('/').next() == Some(close)).cloned()
    }

    fn all_names(&self, kind: AssetKind) -> Vec<String> {
        let mut names = BTreeSet::new();
        for place in &self.places {
            for (domain, folder) in type_folders(place, None) {
                if AssetKind::of_folder(&name_of(&folder)) != Some(kind) {
                    continue;
                }
                for bundle in folders(&folder, MAX_NAMES) {
                    if names.len() >= MAX_NAMES {
                        return names.into_iter().collect();
                    }
                    names.insert(format!("{domain}/{}", name_of(&bundle)));
                }
            }
        }
        names.into_iter().collect()
    }
}

/// Domains of a place with their type folders, in order: a fixed depth, so a link that leads back cannot go on for ever.
fn type_folders(place: &AssetPlace, domain: Option<&str>) -> Vec<(String, PathBuf)> {
    let domains = match domain {
        Some(domain) => vec![place.folder.join(domain)],
        None => folders(&place.folder, MAX_FOLDERS),
    };
    let types = |domain: PathBuf| {
        let name = name_of(&domain);
        folders(&domain, MAX_FOLDERS).into_iter().map(move |folder| (name.clone(), folder))
    };
    domains.into_iter().flat_map(types).collect()
}

fn name_of(folder: &Path) -> String {
    folder.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// The folders in a folder, sorted.
fn folders(folder: &Path, most: usize) -> Vec<PathBuf> {
    entries(folder, most).into_iter().filter(|path| path.is_dir()).collect()
}

/// What a folder holds, sorted; nothing when it holds more than `most`, since which of them came first would be chance.
fn entries(folder: &Path, most: usize) -> Vec<PathBuf> {
    let Ok(read) = std::fs::read_dir(folder) else {
        return Vec::new();
    };
    let mut paths: Vec<PathBuf> = read.filter_map(Result::ok).map(|e| e.path()).take(most + 1).collect();
    if paths.len() > most {
        return Vec::new();
    }
    paths.sort();
    paths
}
