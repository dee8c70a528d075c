//! The `pose:` section of an agent type, resolved into the gaits of a person (human-layer specification, section
//! 10.3).
//!
//! [`PoseTypes`] answers for a type string and remembers the answer; a type that does not hold gives the default
//! person and one warning. Of a type's other keys only `extends` and `locomotion.phase_warp.split` are read; what else
//! may stand in an agent type is none of this module's business.
//!
//! Beside `walk`, `run` and `idle` a section may have `manner: {turn_lead, idle_variety, settle}`, a key of ours: see
//! [`Manner`].

mod build;
mod ops;
mod section;

use std::{
    collections::BTreeMap,
    fmt, io,
    path::{Path, PathBuf},
    sync::Arc,
};

use crate::{
    document::DocumentProblem,
    error::{ProfileError, ProfileErrors, ProfileProblem},
    library::ProfileLibrary,
    manner::Manner,
    nearest::nearest,
    pool::{PoseId, PoseProfile, PoseTable},
    profile::Profile,
    yaml,
};
use section::TypeSection;

/// Type strings remembered at most; they can come from a message. Later ones are the default person.
const MOST_TYPES: usize = 4096;

/// The three gaits of an agent type before they are compiled.
#[derive(Debug, Clone, PartialEq)]
pub struct PoseSection {
    /// Walking.
    pub walk: Profile,
    /// Running.
    pub run: Profile,
    /// A held or cyclic idle pose; `None` is the built-in sway.
    pub idle: Option<Profile>,
    /// What goes beyond the gaits.
    pub manner: Option<Manner>,
}

impl PoseSection {
    /// The gaits ready for evaluation.
    #[must_use]
    pub fn compile(&self) -> PoseProfile {
        let gait = |profile: &Profile| Arc::new(crate::Gait::new(profile));
        let idle = self.idle.as_ref().map(gait);
        PoseProfile { walk: gait(&self.walk), run: gait(&self.run), idle, manner: self.manner }
    }
}

/// Why an agent type gives no gaits.
#[derive(Debug, thiserror::Error)]
pub enum PoseTypeError {
    /// No such agent type.
    #[error("agent type {name:?} not found: no file {path}{}", nearest.as_ref().map_or_else(String::new, |word| format!(", did you mean {word:?}?")), path = path.display())]
    NotFound {
        /// The type string.
        name: String,
        /// Where it was looked for.
        path: PathBuf,
        /// The built-in type most like it.
        nearest: Option<String>,
    },
    /// A file that cannot be read.
    #[error("{path}: {source}", path = path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Files that do not hold.
    #[error(transparent)]
    Problems(#[from] ProfileErrors),
}

/// A type string that was answered with the default person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PoseTypeWarning {
    /// The type string.
    pub agent_type: String,
    /// What is wrong, one problem a line.
    pub message: String,
}

/// The agent types that a plain name can mean. A directory with one `<name>.yaml` each is one.
pub trait NamedTypes: fmt::Debug + Send + Sync {
    /// The text of a type's file, `None` when there is no such type.
    ///
    /// # Errors
    /// The file is there and cannot be read.
    fn text(&self, name: &str) -> io::Result<Option<String>>;

    /// The type's file as errors name it, there or not.
    fn file(&self, name: &str) -> PathBuf;

    /// All names, ascending.
    fn names(&self) -> Vec<String>;
}

impl NamedTypes for PathBuf {
    fn text(&self, name: &str) -> io::Result<Option<String>> {
        read_if_there(&self.file(name))
    }

    fn file(&self, name: &str) -> PathBuf {
        self.join(format!("{name}.yaml"))
    }

    fn names(&self) -> Vec<String> {
        let mut stems: Vec<String> = std::fs::read_dir(self)
            .into_iter()
            .flatten()
            .filter_map(|entry| {
                let path = entry.ok()?.path();
                let yaml = path.extension().is_some_and(|extension| extension == "yaml");
                yaml.then(|| path.file_stem()?.to_str().map(str::to_owned)).flatten()
            })
            .collect();
        stems.sort();
        stems
    }
}

fn read_if_there(path: &Path) -> io::Result<Option<String>> {
    match yaml::read(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Agent types by type string, each read once.
#[derive(Debug)]
pub struct PoseTypes {
    library: ProfileLibrary,
    types: Box<dyn NamedTypes>,
    table: PoseTable,
    known: BTreeMap<String, PoseId>,
    warnings: Vec<PoseTypeWarning>,
}

impl PoseTypes {
    /// Types over a profile library; `types` are those that have a plain name.
    #[must_use]
    pub fn new(library: ProfileLibrary, types: impl NamedTypes + 'static) -> Self {
        Self {
            library,
            types: Box::new(types),
            table: PoseTable::default(),
            known: BTreeMap::new(),
            warnings: Vec::new(),
        }
    }

    /// The gaits of a type string, read at the first call: one with a `/` or ending in `.yaml` is a path, any other is one of
    /// the named types. The empty string, a missing type and one that does not hold are the default person; the
    /// last two leave one warning.
    pub fn resolve(&mut self, agent_type: &str) -> PoseId {
        if agent_type.is_empty() {
            return PoseId::DEFAULT;
        }
        if let Some(id) = self.known.get(agent_type) {
            return *id;
        }
        if self.known.len() >= MOST_TYPES {
            return PoseId::DEFAULT;
        }
        let id = match self.load(agent_type) {
            Ok(Some(section)) => self.table.insert(section.compile()),
            Ok(None) => PoseId::DEFAULT,
            Err(error) => {
                let message = error.to_string();
                self.warnings.push(PoseTypeWarning { agent_type: agent_type.to_owned(), message });
                PoseId::DEFAULT
            }
        };
        self.known.insert(agent_type.to_owned(), id);
        if self.known.len() == MOST_TYPES {
            let message = format!("more than {MOST_TYPES} agent types; further ones get the default pose");
            self.warnings.push(PoseTypeWarning { agent_type: agent_type.to_owned(), message });
        }
        id
    }

    /// The gaits of all handles given out.
    #[must_use]
    pub fn table(&self) -> &PoseTable {
        &self.table
    }

    /// Takes the warnings since the last call, in order; each is given once.
    pub fn take_warnings(&mut self) -> Vec<PoseTypeWarning> {
        std::mem::take(&mut self.warnings)
    }

    /// Reads a type without remembering it. `None` when neither it nor a parent says anything about poses.
    ///
    /// # Errors
    /// The file is missing or unreadable, or problems of the file and its parents.
    pub fn load(&self, agent_type: &str) -> Result<Option<PoseSection>, PoseTypeError> {
        let (path, text) = self.text(agent_type)?;
        let Some(text) = text else {
            let nearest = self.nearest_type(agent_type);
            return Err(PoseTypeError::NotFound { name: agent_type.to_owned(), path, nearest });
        };
        self.read(agent_type, &path, &text)
    }

    /// As [`Self::load`] for a text already read; `file` is the name errors carry.
    ///
    /// # Errors
    /// As [`Self::load`].
    pub fn read(
        &self,
        agent_type: &str,
        file: &Path,
        text: &str,
    ) -> Result<Option<PoseSection>, PoseTypeError> {
        let mut names = vec![agent_type.to_owned()];
        let mut merged = parse(file, text)?;
        while let Some((parent, from)) = merged.extends.take() {
            let refuse = |problem| ProfileErrors(vec![ProfileError::new(&from.file, from.at, problem)]);
            if is_path(&parent) {
                return Err(refuse(ProfileProblem::ExtendsPath { found: parent }).into());
            }
            if let Some(start) = names.iter().position(|name| *name == parent) {
                let mut types = names.split_off(start);
                types.push(parent);
                return Err(refuse(ProfileProblem::ExtendsCycle { types }).into());
            }
            let (path, text) = self.text(&parent)?;
            let Some(text) = text else {
                let nearest = self.nearest_type(&parent);
                let path = path.display().to_string();
                return Err(refuse(ProfileProblem::UnknownParent { found: parent, path, nearest }).into());
            };
            merged = parse(&path, &text)?.extended_by(merged);
            names.push(parent);
        }
        if merged.is_silent() {
            return Ok(None);
        }
        Ok(Some(build::build(&merged, &self.library)?))
    }

    /// The file of a type string and its text, if it is there.
    fn text(&self, agent_type: &str) -> Result<(PathBuf, Option<String>), PoseTypeError> {
        let (path, text) = if is_path(agent_type) {
            let path = PathBuf::from(agent_type);
            let text = read_if_there(&path);
            (path, text)
        } else {
            (self.types.file(agent_type), self.types.text(agent_type))
        };
        match text {
            Ok(text) => Ok((path, text)),
            Err(source) => Err(PoseTypeError::Io { path, source }),
        }
    }

    fn nearest_type(&self, name: &str) -> Option<String> {
        let names = self.types.names();
        nearest(name, &names.iter().map(String::as_str).collect::<Vec<_>>()).map(str::to_owned)
    }
}

fn is_path(agent_type: &str) -> bool {
    agent_type.contains('/') || agent_type.ends_with(".yaml")
}

fn parse(path: &Path, text: &str) -> Result<TypeSection, ProfileErrors> {
    let file: Arc<str> = path.display().to_string().into();
    match yaml::parse(text) {
        Ok(node) => TypeSection::of(&file, &node),
        Err(error) => Err(ProfileErrors(vec![ProfileError::new(
            &file,
            error.at,
            DocumentProblem::Syntax(error.message),
        )])),
    }
}
