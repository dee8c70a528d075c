//! A set of pose profiles keyed by file stem, with `same_as` followed (human-layer specification, section 10.1).
//!
//! The shipped profiles are part of the crate, so that it works without files.

use std::{
    collections::BTreeMap,
    path::Path,
    sync::{Arc, LazyLock},
};

use crate::{
    error::{LibraryError, ProfileError, ProfileErrors, ProfileProblem},
    gait::Gait,
    nearest::nearest,
    profile::Profile,
    profile_file::ProfileFile,
};

/// Stem of the walk of a person without a pose of their own.
pub const DEFAULT_WALK: &str = "walk_cmu_12_01";
/// Stem of the run of a person without a pose of their own.
pub const DEFAULT_RUN: &str = "run";

const BUILTIN: [(&str, &str); 13] = [
    ("child", include_str!("../../../profiles/child.yaml")),
    ("elder", include_str!("../../../profiles/elder.yaml")),
    ("hurried", include_str!("../../../profiles/hurried.yaml")),
    ("limping", include_str!("../../../profiles/limping.yaml")),
    ("natural", include_str!("../../../profiles/natural.yaml")),
    ("run", include_str!("../../../profiles/run.yaml")),
    ("seated", include_str!("../../../profiles/seated.yaml")),
    ("seated_wheelchair", include_str!("../../../profiles/seated_wheelchair.yaml")),
    ("walk_cmu_12_01", include_str!("../../../profiles/walk_cmu_12_01.yaml")),
    ("walk_creep", include_str!("../../../profiles/walk_creep.yaml")),
    ("walk_fast", include_str!("../../../profiles/walk_fast.yaml")),
    ("walk_level", include_str!("../../../profiles/walk_level.yaml")),
    ("walk_slow", include_str!("../../../profiles/walk_slow.yaml")),
];

/// The text of one profile file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProfileSource {
    /// Library key: the file stem.
    pub stem: String,
    /// The file as errors name it.
    pub file: String,
    /// Its text.
    pub text: String,
}

/// One profile of a library.
#[derive(Debug, Clone)]
pub struct LibraryEntry {
    /// The file as written.
    pub file: ProfileFile,
    /// The profile with `same_as` followed.
    pub profile: Profile,
    /// The profile compiled.
    pub gait: Arc<Gait>,
}

/// Pose profiles by file stem.
#[derive(Debug, Clone, Default)]
pub struct ProfileLibrary {
    entries: BTreeMap<String, LibraryEntry>,
}

impl ProfileLibrary {
    /// The shipped profiles: the four of the contract and ours.
    #[must_use]
    pub fn builtin() -> &'static Self {
        static LIBRARY: LazyLock<ProfileLibrary> = LazyLock::new(|| {
            ProfileLibrary::from_sources(builtin_sources())
                .expect("the shipped profiles are checked by the tests")
        });
        &LIBRARY
    }

    /// Exactly the `*.yaml` files of a directory.
    ///
    /// # Errors
    /// The directory or a file cannot be read, or files do not hold (every problem is listed).
    pub fn load_dir(path: impl AsRef<Path>) -> Result<Self, LibraryError> {
        Ok(Self::from_sources(read_dir(path.as_ref())?)?)
    }

    /// The shipped profiles and the `*.yaml` files of a directory, which win over shipped ones of the same stem.
    ///
    /// # Errors
    /// As [`Self::load_dir`].
    pub fn load_dir_over_builtin(path: impl AsRef<Path>) -> Result<Self, LibraryError> {
        let mut sources = builtin_sources();
        sources.extend(read_dir(path.as_ref())?);
        Ok(Self::from_sources(sources)?)
    }

    /// The shipped profiles and some texts, which win over shipped ones of the same stem.
    ///
    /// # Errors
    /// As [`Self::from_sources`].
    pub fn builtin_and(sources: impl IntoIterator<Item = ProfileSource>) -> Result<Self, ProfileErrors> {
        Self::from_sources(builtin_sources().into_iter().chain(sources))
    }

    /// A library of texts; of two sources with one stem the later wins.
    ///
    /// # Errors
    /// Every problem of every file, in order of stems.
    pub fn from_sources(sources: impl IntoIterator<Item = ProfileSource>) -> Result<Self, ProfileErrors> {
        let sources: BTreeMap<String, ProfileSource> =
            sources.into_iter().map(|source| (source.stem.clone(), source)).collect();
        let mut files = BTreeMap::new();
        let mut errors = Vec::new();
        for (stem, source) in sources {
            match ProfileFile::parse(&stem, &source.file, &source.text) {
                Ok(file) => {
                    files.insert(stem, file);
                }
                Err(ProfileErrors(found)) => errors.extend(found),
            }
        }
        if !errors.is_empty() {
            return Err(ProfileErrors(errors));
        }
        let mut library = Self::default();
        for stem in files.keys() {
            if let Err(ProfileErrors(found)) = library.resolve(stem, &files) {
                errors.extend(found);
            }
        }
        // A profile that several others copy reports its own problem once for each.
        errors.dedup();
        if errors.is_empty() { Ok(library) } else { Err(ProfileErrors(errors)) }
    }

    fn resolve(&mut self, stem: &str, files: &BTreeMap<String, ProfileFile>) -> Result<(), ProfileErrors> {
        // The chain of files from `stem` to the first one that stands alone or is resolved already.
        let mut chain: Vec<&str> = Vec::new();
        let mut next = Some(stem);
        while let Some(stem) = next {
            if self.entries.contains_key(stem) {
                break;
            }
            let found = files.get_key_value(stem);
            let (stem, file) = match found {
                Some((stem, file)) if !chain.contains(&stem.as_str()) => (stem, file),
                Some(_) => return Err(cycle(&chain, stem, files)),
                None => return Err(unknown_profile(&chain, stem, files)),
            };
            chain.push(stem);
            next = file.same_as.as_deref();
        }
        for stem in chain.into_iter().rev() {
            let file = &files[stem];
            let base = if file.speeds.is_empty() {
                file.same_as.as_ref().map(|base| self.entries[base].profile.clone()).unwrap_or_default()
            } else {
                self.with_speeds(file, files)?
            };
            let profile = file.resolve(&base)?;
            let gait = Arc::new(Gait::new(&profile));
            self.entries.insert(stem.to_owned(), LibraryEntry { file: file.clone(), profile, gait });
        }
        Ok(())
    }

    /// The profile of the first speed, with those of all speeds in it.
    fn with_speeds(
        &mut self,
        file: &ProfileFile,
        files: &BTreeMap<String, ProfileFile>,
    ) -> Result<Profile, ProfileErrors> {
        let mut speeds = Vec::with_capacity(file.speeds.len());
        for (speed, stem) in &file.speeds {
            if let Some(nested) = speeds_problem(stem, files) {
                let known: Vec<&str> = files.keys().map(String::as_str).collect();
                let nearest = if nested { None } else { nearest(stem, &known).map(str::to_owned) };
                let problem = ProfileProblem::ProfileOfSpeed { found: stem.clone(), nested, nearest };
                return Err(ProfileErrors(vec![ProfileError::new(&file.file, file.places.speeds, problem)]));
            }
            self.resolve(stem, files)?;
            speeds.push((*speed, self.entries[stem].profile.clone()));
        }
        let mut profile = speeds.first().map(|(_, profile)| profile.clone()).unwrap_or_default();
        profile.speeds = speeds;
        Ok(profile)
    }

    /// The profile of a stem.
    #[must_use]
    pub fn get(&self, stem: &str) -> Option<&LibraryEntry> {
        self.entries.get(stem)
    }

    /// The compiled profile of a stem.
    #[must_use]
    pub fn gait(&self, stem: &str) -> Option<&Arc<Gait>> {
        self.entries.get(stem).map(|entry| &entry.gait)
    }

    /// All stems and profiles in order of stems.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &LibraryEntry)> {
        self.entries.iter().map(|(stem, entry)| (stem.as_str(), entry))
    }

    /// The stem most like `word`, for error messages.
    #[must_use]
    pub fn nearest_stem(&self, word: &str) -> Option<&str> {
        nearest(word, &self.entries.keys().map(String::as_str).collect::<Vec<_>>())
    }
}

fn builtin_sources() -> Vec<ProfileSource> {
    BUILTIN
        .into_iter()
        .map(|(stem, text)| ProfileSource {
            stem: stem.to_owned(),
            file: format!("profiles/{stem}.yaml"),
            text: text.to_owned(),
        })
        .collect()
}

fn read_dir(path: &Path) -> Result<Vec<ProfileSource>, LibraryError> {
    let io = |path: &Path| {
        let path = path.to_owned();
        move |source| LibraryError::Io { path, source }
    };
    let mut sources = Vec::new();
    for entry in std::fs::read_dir(path).map_err(io(path))? {
        let file = entry.map_err(io(path))?.path();
        if file.extension().is_none_or(|extension| extension != "yaml") || !file.is_file() {
            continue;
        }
        let Some(stem) = file.file_stem().and_then(|stem| stem.to_str()) else { continue };
        let text = std::fs::read_to_string(&file).map_err(io(&file))?;
        sources.push(ProfileSource { stem: stem.to_owned(), file: file.display().to_string(), text });
    }
    Ok(sources)
}

/// Whether a profile cannot stand for a speed, and if so whether it is there: neither it nor what it copies may have
/// speeds. Circles of `same_as` are found elsewhere.
fn speeds_problem(stem: &str, files: &BTreeMap<String, ProfileFile>) -> Option<bool> {
    let Some(mut file) = files.get(stem) else { return Some(false) };
    for _ in 0..files.len() {
        if !file.speeds.is_empty() {
            return Some(true);
        }
        match file.same_as.as_ref().and_then(|base| files.get(base)) {
            Some(base) => file = base,
            None => break,
        }
    }
    None
}

fn cycle(chain: &[&str], stem: &str, files: &BTreeMap<String, ProfileFile>) -> ProfileErrors {
    let start = chain.iter().position(|visited| *visited == stem).unwrap_or(0);
    let mut stems: Vec<String> = chain[start..].iter().map(|stem| (*stem).to_owned()).collect();
    // Every member reports the same circle, so that the duplicates fall away.
    let first = stems.iter().enumerate().min_by_key(|(_, stem)| *stem).map_or(0, |(index, _)| index);
    stems.rotate_left(first);
    let file = &files[&stems[0]];
    stems.push(stems[0].clone());
    ProfileErrors(vec![ProfileError::new(&file.file, file.places.same_as, ProfileProblem::Cycle { stems })])
}

fn unknown_profile(chain: &[&str], stem: &str, files: &BTreeMap<String, ProfileFile>) -> ProfileErrors {
    let nearest = nearest(stem, &files.keys().map(String::as_str).collect::<Vec<_>>()).map(str::to_owned);
    let problem = ProfileProblem::UnknownProfile { found: stem.to_owned(), nearest };
    let errors = chain
        .last()
        .and_then(|user| files.get(*user))
        .map(|file| ProfileError::new(&file.file, file.places.same_as, problem));
    ProfileErrors(errors.into_iter().collect())
}
