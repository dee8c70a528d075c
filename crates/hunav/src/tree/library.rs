//! Where trees come from: the program's own, and single files (HuNav specification, section 5.1).

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use promenade_scenario::problem::nearest;
use promenade_scenario::{Loaded, Problem, Report, Severity};

use super::compile::compile;
use super::document::{Forest, MOST_BYTES, Origin};
use super::program::Program;
use crate::{BehaviorKind, Compat, ManagerVersion, Options};

macro_rules! built_in {
    ($($name:literal),* $(,)?) => {
        /// The trees of the program by their names.
        const BUILT_IN: &[(&str, &str)] =
            &[$(($name, include_str!(concat!("../../../../configs/hunav/behavior_trees/", $name)))),*];
    };
}

built_in!(
    "BTCuriousNav.xml",
    "BTRegularNav.xml",
    "BTScaredNav.xml",
    "BTSurprisedNav.xml",
    "BTThreateningNav.xml",
    "default.xml",
    "p1/BTCuriousNav.xml",
    "p1/BTScaredNav.xml",
    "p1/BTSurprisedNav.xml",
    "p1/BTThreateningNav.xml",
);

/// What a tree was asked for by.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    Kind(u8),
    Name(String),
}

/// Finds and compiles trees, each once.
#[derive(Clone, Debug)]
pub struct Library {
    is_strict: bool,
    is_first_manager: bool,
    compiled: BTreeMap<Key, Result<Loaded<Arc<Program>>, Report>>,
}

impl Library {
    /// The trees of the program alone.
    #[must_use]
    pub fn new(options: &Options) -> Self {
        Library {
            is_strict: options.compat == Compat::Strict,
            is_first_manager: options.manager == ManagerVersion::P1,
            compiled: BTreeMap::new(),
        }
    }

    /// Names of the program's own trees.
    pub fn names() -> impl Iterator<Item = &'static str> {
        BUILT_IN.iter().map(|(name, _)| *name)
    }

    /// Forget what was compiled, so that files are read anew.
    pub fn forget(&mut self) {
        self.compiled.clear();
    }

    /// The tree that an agent names, an absolute path or a name of the library; for an empty name that of its behaviour.
    ///
    /// Of a tree that is named the blackboard has `id` and `dt`, in robust mode also what the behaviour says.
    ///
    /// # Errors
    /// All problems of its files.
    pub fn tree(&mut self, name: &str, kind: BehaviorKind) -> Result<Loaded<Arc<Program>>, Report> {
        let key = match name {
            "" => Key::Kind(kind as u8),
            name => Key::Name(name.to_owned()),
        };
        if let Some(known) = self.compiled.get(&key) {
            return known.clone();
        }
        let found = match &key {
            Key::Kind(_) => self.load(Path::new(&self.name_of(kind)), true),
            Key::Name(name) => self.load(Path::new(name), !self.is_strict),
        };
        self.compiled.insert(key, found.clone());
        found
    }

    /// Read a tree from its text, as if it were the file `path`.
    ///
    /// # Errors
    /// All problems of it and of what it includes.
    pub fn parse(&self, text: &str, path: &Path) -> Result<Loaded<Arc<Program>>, Report> {
        self.compile(Origin::File(path.to_owned()), text, !self.is_strict)
    }

    fn name_of(&self, kind: BehaviorKind) -> String {
        let name = match kind {
            BehaviorKind::Regular | BehaviorKind::Impassive => return "BTRegularNav.xml".to_owned(),
            BehaviorKind::Surprised => "BTSurprisedNav.xml",
            BehaviorKind::Scared => "BTScaredNav.xml",
            BehaviorKind::Curious => "BTCuriousNav.xml",
            BehaviorKind::Threatening => "BTThreateningNav.xml",
        };
        // The first manager has fixed numbers.
        format!("{}{name}", if self.is_first_manager { "p1/" } else { "" })
    }

    fn load(&self, path: &Path, provides: bool) -> Result<Loaded<Arc<Program>>, Report> {
        let fails = |message: String, suggestion: Option<String>| {
            let problem = Problem::of_file(path, Severity::Error, message);
            Report::new(vec![problem.with_suggestion(suggestion)])
        };
        let origin = self.find(path).map_err(|nearest| {
            fails("there is no such file, and no such name in the library of trees".to_owned(), nearest)
        })?;
        let text = self.text_of(&origin).map_err(|error| fails(error, None))?;
        self.compile(origin, &text, provides)
    }

    fn compile(&self, origin: Origin, text: &str, provides: bool) -> Result<Loaded<Arc<Program>>, Report> {
        let mut forest = Forest::read(origin, text, self);
        let program = compile(&mut forest, provides);
        let report = Report::new(forest.problems);
        match program {
            Some(program) if !report.has_errors() => Ok(Loaded { value: Arc::new(program), report }),
            _ => Err(report),
        }
    }

    /// The text of a file. Only what is a file and not too long is read: a name may come from a message.
    pub(super) fn text_of(&self, origin: &Origin) -> Result<String, String> {
        match origin {
            Origin::BuiltIn(name) => match BUILT_IN.iter().find(|(known, _)| known == name) {
                Some((_, text)) => Ok((*text).to_owned()),
                None => Err("there is no such tree in the program".to_owned()),
            },
            Origin::File(path) => {
                let metadata = std::fs::metadata(path).map_err(|error| error.to_string())?;
                if !metadata.is_file() {
                    return Err("this is not a file".to_owned());
                }
                let file = std::fs::File::open(path).map_err(|error| error.to_string())?;
                let mut text = String::new();
                file.take(MOST_BYTES + 1).read_to_string(&mut text).map_err(|error| error.to_string())?;
                if text.len() as u64 > MOST_BYTES {
                    return Err(format!("it is longer than {MOST_BYTES} bytes"));
                }
                Ok(text)
            }
        }
    }

    /// What `path` means in the file `from`: beside it, or in the library; else the nearest name.
    pub(super) fn find_beside(&self, from: &Origin, path: &Path) -> Result<Origin, Option<String>> {
        match from {
            Origin::File(file) => {
                let beside = file.parent().unwrap_or(Path::new("")).join(path);
                if beside.is_file() {
                    return Ok(Origin::File(whole(&beside)));
                }
            }
            Origin::BuiltIn(name) => {
                let beside = Path::new(name).parent().unwrap_or(Path::new("")).join(path);
                if let Some(found) = built_in(&beside) {
                    return Ok(found);
                }
            }
        }
        self.find(path)
    }

    /// What a path or a name means: a file as it is, or a name of the program's; else the nearest name.
    fn find(&self, path: &Path) -> Result<Origin, Option<String>> {
        let is_place = path.is_absolute() || path.starts_with(".");
        if is_place {
            return if path.is_file() { Ok(Origin::File(whole(path))) } else { Err(None) };
        }
        built_in(path).ok_or_else(|| nearest(&path.to_string_lossy(), Library::names()).map(str::to_owned))
    }
}

/// One name for one file, so that it is included once.
fn whole(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

/// The program's tree at a path, `..` and `.` resolved.
fn built_in(path: &Path) -> Option<Origin> {
    let mut parts: Vec<&str> = Vec::new();
    for component in path.components() {
        match component {
            Component::Normal(part) => parts.push(part.to_str()?),
            Component::ParentDir => drop(parts.pop()?),
            Component::CurDir => {}
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    let name = parts.join("/");
    BUILT_IN.iter().any(|(known, _)| *known == name).then_some(Origin::BuiltIn(name))
}
