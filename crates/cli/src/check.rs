//! `promenade check`: every problem of every file, in one go.
//!
//! It only reads. What a file may hold is decided by the crates that load it, so that a clean check and a run agree.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Result;
use promenade_gait::{ProfileErrors, ProfileFile, ProfileLibrary, ProfileSource};
use promenade_scenario::{FileKind, Severity, check, kind_of};
use serde::Serialize;

/// Validate scenario, world, agent-type and profile files.
///
/// Prints every problem as FILE:LINE:COLUMN with what was found, what was expected and the nearest known word. Exits with 1 if
/// there is an error; warnings and hints alone exit with 0.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  promenade check configs/worlds/clinic
  promenade check worlds/*/scenarios/*/scenario.yaml profiles/*.yaml")]
pub(crate) struct CheckArgs {
    /// Files; a world folder stands for its levels and scenarios, a scenario folder for its file
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// One JSON object per problem, for editors
    #[arg(long)]
    json: bool,
    /// Leave out hints
    #[arg(long, short)]
    quiet: bool,
}

#[derive(Serialize)]
struct Line {
    file: String,
    line: u64,
    column: u64,
    severity: String,
    message: String,
    suggestion: Option<String>,
    #[serde(skip)]
    text: String,
}

pub(crate) fn run(args: &CheckArgs) -> Result<ExitCode> {
    let (profiles, others): (Vec<PathBuf>, Vec<PathBuf>) =
        args.files.iter().cloned().partition(|file| matches!(kind_of(file), Ok(FileKind::Profile)));
    let mut lines: Vec<Line> = profiles.iter().flat_map(|file| profile(file)).collect();
    lines.extend(check(&others).iter().map(|problem| Line {
        file: problem.file.display().to_string(),
        line: problem.at.line.into(),
        column: problem.at.column.into(),
        severity: problem.severity.to_string(),
        message: problem.message.clone(),
        suggestion: problem.suggestion.clone(),
        text: problem.to_string(),
    }));
    let count =
        |severity: Severity| lines.iter().filter(|line| line.severity == severity.to_string()).count();
    let (errors, warnings, hints) = (count(Severity::Error), count(Severity::Warning), count(Severity::Hint));
    let mut out = std::io::stdout().lock();
    for line in lines.iter().filter(|line| !args.quiet || line.severity != Severity::Hint.to_string()) {
        if args.json {
            writeln!(out, "{}", serde_json::to_string(line)?)?;
        } else {
            writeln!(out, "{}", line.text)?;
        }
    }
    if !args.json {
        let counted = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
        let (errors, warnings, hints) =
            (counted(errors, "error"), counted(warnings, "warning"), counted(hints, "hint"));
        writeln!(out, "{errors}, {warnings}, {hints} in {}", counted(args.files.len(), "path"))?;
    }
    Ok(if errors == 0 { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// The problems of one gait profile; all of them are errors.
fn profile(file: &Path) -> Vec<Line> {
    let line = |file: String, line: u64, column: u64, message: String| Line {
        text: format!("{file}:{line}:{column}: error: {message}"),
        file,
        line,
        column,
        severity: Severity::Error.to_string(),
        message,
        suggestion: None,
    };
    match profile_with_bases(file) {
        Err(error) => vec![line(file.display().to_string(), 1, 1, error.to_string())],
        Ok(sources) => match ProfileLibrary::from_sources(sources) {
            Ok(_) => Vec::new(),
            Err(ProfileErrors(errors)) => errors
                .into_iter()
                .map(|error| line(error.file, error.line, error.column, error.problem.to_string()))
                .collect(),
        },
    }
}

/// A profile, and what its `same_as` may name: the shipped profiles and the files beside it, of which those that are named are
/// read.
fn profile_with_bases(file: &Path) -> std::io::Result<Vec<ProfileSource>> {
    let shipped = ProfileLibrary::builtin().iter();
    let mut sources: Vec<ProfileSource> = shipped
        .map(|(stem, entry)| ProfileSource {
            stem: stem.to_owned(),
            file: format!("profiles/{stem}.yaml"),
            text: entry.file.to_yaml(),
        })
        .collect();
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
