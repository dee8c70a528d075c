//! `promenade check`: every problem of every file, in one go.
//!
//! It only reads. What a file may hold is decided by the crates that load it, so that a clean check and a run agree: scenarios,
//! worlds, agent types and assets by `scenario`, what happens in a world by `human`, agents of HuNav and behaviour trees by `hunav`, profiles, poses, rigs and clips by `gait`, worlds of robots
//! by `robot_world`.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Result;
use promenade_gait::clip::{Annotations, ClipLibrary, KeyFrames, Limits};
use promenade_gait::driver::RigFile;
use promenade_gait::{
    DocumentError, PoseTypeError, PoseTypes, ProfileErrors, ProfileFile, ProfileLibrary, ProfileSource,
};
use promenade_human::BuiltInTypes;
use promenade_human::episode::{asset_cache, world_roots};
use promenade_human::live::{LiveOptions, LiveWorld};
use promenade_hunav::configure::{Entry, Loader};
use promenade_hunav::tree::Library;
use promenade_hunav::{BehaviorKind, ManagerVersion, Options};
use promenade_kernel::generator::Generator;
use promenade_robot_world::place::place;
use promenade_robot_world::{ReadOptions, Registry, WorldSpec};
use promenade_scenario::locate::enclosing_world;
use promenade_scenario::{
    Checked, DynamicEntry, FileKind, Problem, Report, Scenario, Severity, Surroundings, World, check, kind_of,
};
use serde::Serialize;

use crate::up::packages::{PROMENADE, Packages};

/// Validate scenario, world, agent-type, asset, profile, clip and robot-world files, and behaviour trees.
///
/// Prints every problem as FILE:LINE:COLUMN with what was found, what was expected and the nearest known word. An error is what
/// cannot work, a warning what very likely was not meant, a hint what may be good to know. Exits with 1 if there is an error.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  promenade check configs/worlds/clinic
  promenade check --strict worlds/*/scenarios/*/scenario.yaml profiles/*.yaml
  promenade check --json configs/assets | jq '.problems[].message'")]
pub(crate) struct CheckArgs {
    /// Files; a world folder stands for its levels, scenarios and assets, a scenario folder for its file, a folder of assets for
    /// all of them
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// One JSON object for editors: `problems`, and the numbers of `errors`, `warnings` and `hints`
    #[arg(long)]
    json: bool,
    /// Leave out hints
    #[arg(long, short)]
    quiet: bool,
    /// Exit with 1 on warnings too
    #[arg(long)]
    strict: bool,
    /// Folder of pose profiles of your own, which agent types may name like the shipped ones
    #[arg(long, value_name = "DIR")]
    profiles: Option<PathBuf>,
    /// Folder of clips of your own, which agent types may name like the shipped ones
    #[arg(long, value_name = "DIR")]
    clips: Option<PathBuf>,
}

/// One problem, whoever found it. Sorted by place.
#[derive(Serialize, PartialEq, Eq, PartialOrd, Ord)]
struct Finding {
    file: String,
    line: u64,
    column: u64,
    #[serde(serialize_with = "as_text")]
    severity: Severity,
    path: String,
    message: String,
    suggestion: Option<String>,
    #[serde(skip)]
    text: String,
}

fn as_text<S: serde::Serializer>(severity: &Severity, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(severity)
}

#[derive(Serialize)]
struct Output<'a> {
    problems: Vec<&'a Finding>,
    errors: usize,
    warnings: usize,
    hints: usize,
}

impl From<Problem> for Finding {
    fn from(problem: Problem) -> Self {
        Self {
            text: problem.to_string(),
            file: problem.file.display().to_string(),
            line: problem.at.line.into(),
            column: problem.at.column.into(),
            severity: problem.severity,
            path: problem.path,
            message: problem.message,
            suggestion: problem.suggestion,
        }
    }
}

impl Finding {
    /// An error of a crate that has no suggestions of its own.
    fn error(file: String, line: u64, column: u64, message: String) -> Self {
        Self {
            text: format!("{file}:{line}:{column}: error: {message}"),
            file,
            line,
            column,
            severity: Severity::Error,
            path: String::new(),
            message,
            suggestion: None,
        }
    }
}

impl From<DocumentError> for Finding {
    fn from(error: DocumentError) -> Self {
        Self::error(error.file, error.line, error.column, error.problem.to_string())
    }
}

pub(crate) fn run(args: &CheckArgs) -> Result<ExitCode> {
    let share = Packages::from_environment(&std::env::current_dir()?).share(PROMENADE).ok();
    let profiles = match &args.profiles {
        Some(folder) => ProfileLibrary::load_dir_over_builtin(folder)?,
        None => ProfileLibrary::builtin().clone(),
    };
    let (clips, unread) = match &args.clips {
        Some(folder) => ClipLibrary::over_directory(folder, Limits::default()),
        None => (ClipLibrary::builtin(), Vec::new()),
    };
    let surroundings = Surroundings {
        models: true,
        roots: world_roots(share.as_deref()),
        cache: asset_cache(),
        clips: clips.names().map(str::to_owned).collect(),
    };
    let checked = check(&args.files, &surroundings);
    let mut findings: Vec<Finding> = checked.report.iter().cloned().map(Finding::from).collect();
    let folder = args.clips.as_ref().map(|folder| folder.display().to_string()).unwrap_or_default();
    findings.extend(unread.iter().map(|error| Finding::error(folder.clone(), 1, 1, error.to_string())));
    findings.extend(in_motion(&checked).into_iter().map(Finding::from));
    findings.extend(of_agents(&checked).into_iter().map(Finding::from));
    for (file, _) in checked.files.iter().filter(|(_, kind)| *kind == FileKind::RobotWorld) {
        findings.extend(of_robots(file).into_iter().map(Finding::from));
    }
    let types = PoseTypes::new(profiles, BuiltInTypes);
    for (file, kind) in &checked.files {
        // Of an agent type that does not hold as a whole both would say the same.
        let is_broken = |p: &Problem| p.severity == Severity::Error && p.file == *file;
        if *kind != FileKind::AgentType || !checked.report.iter().any(is_broken) {
            findings.extend(of_gait(file, *kind, &types));
        }
    }
    findings.sort();
    findings.dedup();

    let count = |severity| findings.iter().filter(|finding| finding.severity == severity).count();
    let (errors, warnings, hints) = (count(Severity::Error), count(Severity::Warning), count(Severity::Hint));
    let shown = findings.iter().filter(|finding| !args.quiet || finding.severity != Severity::Hint);
    let mut out = std::io::stdout().lock();
    if args.json {
        let output = Output { problems: shown.collect(), errors, warnings, hints };
        writeln!(out, "{}", serde_json::to_string_pretty(&output)?)?;
    } else {
        for finding in shown {
            writeln!(out, "{}", finding.text)?;
        }
        let counted = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
        let (errors, warnings, hints) =
            (counted(errors, "error"), counted(warnings, "warning"), counted(hints, "hint"));
        writeln!(out, "{errors}, {warnings}, {hints} in {}", counted(args.files.len(), "path"))?;
    }
    let fails = errors > 0 || (args.strict && warnings > 0);
    Ok(if fails { ExitCode::from(1) } else { ExitCode::SUCCESS })
}

/// What a running world would refuse: timelines, conditions, regimes. Of a world that several scenarios share only that counts which
/// none of them can do without.
fn in_motion(checked: &Checked) -> Vec<Problem> {
    let mut told = Vec::new();
    let mut in_world: BTreeMap<PathBuf, Vec<Problem>> = BTreeMap::new();
    for (file, _) in checked.files.iter().filter(|(_, kind)| *kind == FileKind::Scenario) {
        let Ok(scenario) = Scenario::load(file) else { continue };
        let root = enclosing_world(file);
        let world = match &root {
            Some(root) => World::load(root).map(|loaded| loaded.value),
            None => continue,
        };
        let Ok(world) = world else { continue };
        let problems = problems_of(&world, &scenario.value);
        let (own, others): (Vec<_>, Vec<_>) = problems.into_iter().partition(|problem| problem.file == *file);
        told.extend(own);
        if let Some(root) = root {
            in_world
                .entry(root)
                .and_modify(|known| known.retain(|problem| others.contains(problem)))
                .or_insert(others);
        }
    }
    for root in &checked.worlds {
        if !in_world.contains_key(root) {
            let problems = World::load(root).map(|loaded| problems_of(&loaded.value, &Scenario::empty()));
            in_world.insert(root.clone(), problems.unwrap_or_default());
        }
    }
    let is_checked = |problem: &Problem| checked.files.iter().any(|(file, _)| *file == problem.file);
    told.extend(in_world.into_values().flatten().filter(is_checked));
    told
}

/// What the engine finds in a behaviour tree, and hints at what only its robust mode knows.
fn of_tree(file: &Path) -> Vec<Problem> {
    let text = match std::fs::read_to_string(file) {
        Ok(text) => text,
        Err(error) => return vec![Problem::of_file(file, Severity::Error, error.to_string())],
    };
    let parsed = |options: &Options| Library::new(options).parse(&text, file);
    if let Err(report) = parsed(&Options::default()) {
        return report.into_problems();
    }
    let strict = parsed(&Options::strict(ManagerVersion::P15)).err().unwrap_or_default();
    let hint = |problem: Problem| Problem {
        severity: Severity::Hint,
        message: format!("{} in strict mode and in HuNavSim 2", problem.message),
        ..problem
    };
    strict.into_problems().into_iter().map(hint).collect()
}

/// What the hunav backend finds in trees and in the keys of its own that people have.
fn of_agents(checked: &Checked) -> Vec<Problem> {
    let mut told = Vec::new();
    for (file, _) in checked.files.iter().filter(|(_, kind)| *kind == FileKind::HunavLoader) {
        let read = std::fs::read_to_string(file).ok().map(|text| Loader::read(&text, file));
        let (Ok(report) | Err(report)) =
            read.unwrap_or_else(|| Err(Report::default())).map(|loaded| loaded.report);
        told.extend(report.into_problems());
    }
    for (file, _) in checked.files.iter().filter(|(_, kind)| *kind == FileKind::BehaviorTree) {
        told.extend(of_tree(file));
    }
    let mut library = Library::new(&Options::default());
    let mut look_at = |entry: &DynamicEntry, path: String| {
        let (said, report) = Entry::read(&entry.extra, &entry.file, &path);
        told.extend(report.into_problems());
        let tree = said.behavior_tree.unwrap_or_default();
        for problem in
            library.tree(&tree, BehaviorKind::Regular).err().into_iter().flat_map(Report::into_problems)
        {
            if problem.file != Path::new(&tree) || Path::new(&tree).is_file() {
                told.push(problem);
                continue;
            }
            // There is no such tree: that is a problem of who names it.
            let at = entry.extra.get("behavior_tree").map_or(entry.at, |node| node.at);
            let message = format!("there is no file {tree}, and no tree of the library has this name");
            let named = Problem::of_file(&entry.file, Severity::Warning, message);
            let named = named.with_suggestion(problem.suggestion);
            told.push(Problem { at, path: format!("{path}.behavior_tree"), ..named });
        }
    };
    for (file, _) in checked.files.iter().filter(|(_, kind)| *kind == FileKind::Scenario) {
        let Ok(scenario) = Scenario::load(file) else { continue };
        for (i, entry) in scenario.value.dynamics.iter().enumerate() {
            look_at(entry, format!("dynamic[{i}]"));
        }
    }
    for root in &checked.worlds {
        let Ok(world) = World::load(root) else { continue };
        for (i, zone) in world.value.levels.iter().flat_map(|level| level.zones.iter().enumerate()) {
            for (j, entry) in zone.dynamics.iter().enumerate() {
                look_at(entry, format!("zones[{i}].entities.dynamic[{j}]"));
            }
        }
    }
    told
}

fn problems_of(world: &World, scenario: &Scenario) -> Vec<Problem> {
    LiveWorld::new(world, scenario, [0.0, 0.0], LiveOptions::default()).problems().to_vec()
}

/// What the robot world finds in a file, and whether everybody found a place in one draw.
fn of_robots(file: &Path) -> Vec<Problem> {
    let loaded = match WorldSpec::read(file, &Registry::built_in(), &ReadOptions::default()) {
        Ok(loaded) => loaded,
        Err(report) => return report.into_problems(),
    };
    let mut problems = loaded.report.into_problems();
    if let Err(error) = place(&loaded.value, &mut Generator::seeded(0)) {
        let message = format!("with seed 0: {error}");
        problems.push(Problem { at: error.at(), ..Problem::of_file(file, Severity::Warning, message) });
    }
    problems
}

/// What the gait finds in a file of its own.
fn of_gait(file: &Path, kind: FileKind, types: &PoseTypes) -> Vec<Finding> {
    let name = file.display().to_string();
    let text = match kind {
        FileKind::Profile => return profile(file),
        FileKind::AgentType | FileKind::Rig | FileKind::ClipAnnotations | FileKind::KeyFrames => {
            std::fs::read_to_string(file)
        }
        _ => return Vec::new(),
    };
    let text = match text {
        Ok(text) => text,
        Err(error) => return vec![Finding::error(name, 1, 1, error.to_string())],
    };
    if kind == FileKind::AgentType {
        return match types.read(&name, file, &text) {
            Err(PoseTypeError::Problems(errors)) => of_profiles(errors),
            _ => Vec::new(),
        };
    }
    let one = |outcome: std::result::Result<(), DocumentError>| outcome.err().into_iter().collect();
    let errors: Vec<DocumentError> = match kind {
        FileKind::Rig => one(RigFile::parse(&name, &text).map(drop)),
        FileKind::KeyFrames => one(KeyFrames::parse(&name, &text).map(drop)),
        _ => Annotations::parse(&name, &text).1,
    };
    errors.into_iter().map(Finding::from).collect()
}

/// The problems of one gait profile; all of them are errors.
fn profile(file: &Path) -> Vec<Finding> {
    match profile_with_bases(file) {
        Err(error) => vec![Finding::error(file.display().to_string(), 1, 1, error.to_string())],
        Ok(sources) => match ProfileLibrary::builtin_and(sources) {
            Ok(_) => Vec::new(),
            Err(errors) => of_profiles(errors),
        },
    }
}

fn of_profiles(ProfileErrors(errors): ProfileErrors) -> Vec<Finding> {
    let finding = |error: promenade_gait::ProfileError| {
        Finding::error(error.file, error.line, error.column, error.problem.to_string())
    };
    errors.into_iter().map(finding).collect()
}

/// A profile, and of the files beside it those that its `same_as` leads to.
fn profile_with_bases(file: &Path) -> std::io::Result<Vec<ProfileSource>> {
    let mut sources = Vec::new();
    let mut seen = BTreeSet::new();
    let mut next = Some(file.to_owned());
    while let Some(path) = next.take() {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let name = path.display().to_string();
        let text = std::fs::read_to_string(&path)?;
        let base = ProfileFile::parse(&stem, &name, &text).ok().and_then(|parsed| parsed.same_as);
        seen.insert(stem.clone());
        sources.push(ProfileSource { stem, file: name, text });
        next = base
            .filter(|base| !seen.contains(base) && Path::new(base).file_name() == Some(base.as_ref()))
            .map(|base| path.with_file_name(base + ".yaml"))
            .filter(|path| matches!(kind_of(path), Ok(FileKind::Profile)));
    }
    Ok(sources)
}
