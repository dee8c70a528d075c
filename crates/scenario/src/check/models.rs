//! What a scenario names outside itself: models, agent types and the clips that these play.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::findings::{Findings, Spot};
use super::scene::short;
use super::{FileKind, Surroundings};
use crate::agent_type::{AgentTypeError, AgentTypeLibrary, ResolvedType};
use crate::assets::{
    ANNOTATION_FILE, AssetError, AssetKind, AssetLibrary, BUILT_IN_ROBOTS, Bundle, FALLBACK_HUMAN,
};
use crate::entry::{AgentType, DynamicEntry, StaticEntry};
use crate::place::value_at;
use crate::problem::{Position, Problem, Severity, nearest, shown};
use crate::region::RegionKind;
use crate::scenario::Scenario;
use crate::tree::{Node, join};

/// Names that were not looked up since no model of the kind is installed: where the first stood, and all of them.
pub(super) type Unstocked = BTreeMap<AssetKind, (PathBuf, Position, BTreeSet<String>)>;

pub(super) struct Models<'a> {
    pub(super) surroundings: &'a Surroundings,
    pub(super) library: Option<&'a AssetLibrary>,
    pub(super) unstocked: &'a mut Unstocked,
    /// Agent-type files come across, which are checked once.
    pub(super) types: &'a mut BTreeMap<PathBuf, Option<Arc<ResolvedType>>>,
    pub(super) files: &'a mut Vec<(PathBuf, FileKind)>,
    pub(super) findings: &'a mut Findings,
}

impl Models<'_> {
    pub(super) fn scenario(&mut self, scenario: &Scenario) {
        for (i, e) in scenario.statics.iter().enumerate() {
            self.object(&Spot::new(&scenario.file, e.at, format!("static[{i}]")), e);
        }
        for (i, e) in scenario.dynamics.iter().enumerate() {
            self.person(&Spot::new(&scenario.file, e.at, format!("dynamic[{i}]")), e);
        }
        for (i, robot) in scenario.robots.iter().enumerate() {
            if let Some(model) = &robot.model
                && !BUILT_IN_ROBOTS.contains(&model.as_str())
            {
                let at = value_at(&robot.extra, &["model"]);
                let spot = Spot::new(&scenario.file, at, format!("robots[{i}].model"));
                self.model(AssetKind::Robot, model, &spot);
            }
        }
        for (name, region) in &scenario.regions {
            if let RegionKind::Source(source) = &region.kind
                && let Some(agent_type) = &source.agent.agent_type
            {
                let spot =
                    Spot::new(&scenario.file, region.at, format!("regions.{name}.config.agent.agent_type"));
                self.agent_type(agent_type, &spot);
            }
        }
    }

    pub(super) fn object(&mut self, spot: &Spot<'_>, e: &StaticEntry) {
        self.model(AssetKind::Object, &e.model, &spot.below(value_at(&e.extra, &["model"]), ".model"));
    }

    pub(super) fn person(&mut self, spot: &Spot<'_>, e: &DynamicEntry) {
        let model_spot = spot.below(value_at(&e.extra, &["model"]), ".model");
        let bundle = self.model(AssetKind::Human, &e.model, &model_spot);
        if e.desired_velocity().max <= 0.0 && !e.waypoints.is_empty() {
            let at = value_at(&e.extra, &["velocity"]);
            let message = "has way-points and a velocity of 0, so nobody ever gets there";
            self.findings.warning(&spot.below(at, ".velocity"), message.to_owned(), None);
        }
        let Some(agent_type) = e.agent.as_ref().and_then(|agent| agent.agent_type.as_ref()) else { return };
        let at = e.extra.get("agent").map_or(e.at, |agent| value_at(agent, &["agent_type"]));
        let spot = spot.below(at, ".agent");
        let Some(resolved) = self.agent_type(agent_type, &spot) else { return };
        let wanted = e.agent.as_ref().and_then(|agent| agent.desired_velocity);
        let fastest = resolved
            .distribution("max_velocity")
            .map(|max| if max.std > 0.0 { max.clip_high } else { max.mean });
        if let (Some(wanted), Some(fastest)) = (wanted, fastest)
            && wanted.min > fastest
        {
            let message = format!(
                "wants to walk at {} m/s, and nobody of this agent type is faster than {} m/s",
                short(wanted.min),
                short(fastest)
            );
            self.findings.hint(&spot, message, None);
        }
        let Some(bundle) = bundle else { return };
        for tag in resolved.merged.assets.iter().filter(|tag| !bundle.annotation.has_tag(tag)) {
            let message = format!(
                "the agent type asks for a model tagged `{tag}`, and {}/{} is not",
                bundle.domain, bundle.name
            );
            self.findings.warning(&model_spot, message, None);
        }
    }

    /// A missing model costs its look, not the person. Where none are installed at all, that is told once.
    fn model(&mut self, kind: AssetKind, model: &str, spot: &Spot<'_>) -> Option<Arc<Bundle>> {
        let library = self.library?;
        let answer = match kind {
            AssetKind::Human => library.human(model),
            AssetKind::Object => library.object(model),
            AssetKind::Robot => library.robot(model),
        };
        let (message, meant) = match answer {
            Ok(bundle) => return Some(bundle),
            Err(AssetError::NotFound { .. }) if !library.is_stocked(kind) => {
                let first = || (spot.file.to_owned(), spot.at, BTreeSet::new());
                self.unstocked.entry(kind).or_insert_with(first).2.insert(model.to_owned());
                return None;
            }
            Err(AssetError::NotFound { nearest, .. }) => {
                (format!("no {kind} model is named {model:?}{}", instead(kind)), nearest)
            }
            Err(AssetError::Broken { folder, report }) => {
                let first = report.iter().find(|p| p.severity == Severity::Error);
                let first = first.map_or_else(String::new, |p| {
                    format!(": {ANNOTATION_FILE}:{}: {}: {}", p.at, p.path, p.message)
                });
                (format!("the model {} does not load{}{first}", in_library(&folder), instead(kind)), None)
            }
            Err(AssetError::NoSdf { folder }) => {
                (format!("the model {} has no SDF file{}", in_library(&folder), instead(kind)), None)
            }
            Err(error @ AssetError::BadName { .. }) => (format!("{error}{}", instead(kind)), None),
        };
        self.findings.warning(spot, message, meant);
        None
    }

    /// An agent type that is not there costs its numbers, not the person, so it is a warning.
    fn agent_type(&mut self, agent_type: &AgentType, spot: &Spot<'_>) -> Option<Arc<ResolvedType>> {
        let file = match agent_type {
            AgentType::Named(name) => match AgentTypeLibrary::built_in().named(name) {
                Ok(resolved) => return Some(Arc::clone(resolved)),
                Err(AgentTypeError::Unknown { nearest, .. }) => {
                    let message = format!(
                        "no built-in agent type is named {name:?}, the engine's fallback applies; a file's name ends in `.yaml`"
                    );
                    self.findings.warning(spot, message, nearest);
                    return None;
                }
                Err(_) => return None,
            },
            AgentType::File(file) => file,
        };
        if !file.is_file() {
            let message = format!("there is no agent type {}; the built-in defaults apply", shown(file));
            self.findings.warning(spot, message, beside(file));
            return None;
        }
        self.type_file(file)
    }

    /// An agent-type file, read and checked at the first call.
    pub(super) fn type_file(&mut self, file: &Path) -> Option<Arc<ResolvedType>> {
        if let Some(known) = self.types.get(file) {
            return known.clone();
        }
        self.files.push((file.to_owned(), FileKind::AgentType));
        let resolved = match AgentTypeLibrary::built_in().resolve(&AgentType::File(file.to_owned())) {
            Ok(resolved) => {
                self.findings.problems.extend(resolved.report.iter().cloned());
                self.behaviour(file, &resolved);
                Some(resolved)
            }
            Err(AgentTypeError::Broken(report)) => {
                self.findings.problems.extend(report.into_problems());
                None
            }
            Err(error) => {
                self.findings.problems.push(Problem::of_file(file, Severity::Error, error.to_string()));
                None
            }
        };
        self.types.insert(file.to_owned(), resolved.clone());
        resolved
    }

    /// Clips and sequences that behaviour names. What it does is the engine's business.
    fn behaviour(&mut self, file: &Path, resolved: &ResolvedType) {
        let document = &resolved.merged.document;
        let sequences = document.get("sequences").and_then(Node::entries).unwrap_or_default();
        let names: BTreeSet<&str> = sequences.iter().map(|s| s.key.as_str()).collect();
        for sequence in sequences {
            let path = join("sequences", &sequence.key);
            let spot = |node: &Node, rest: &str| Spot::new(file, node.at, format!("{path}{rest}"));
            self.clip(&sequence.value, &spot(&sequence.value, ""));
            for step in sequence.value.get("steps").and_then(Node::entries).unwrap_or_default() {
                self.clip(&step.value, &spot(&step.value, &format!(".steps.{}", step.key)));
            }
            let transitions = sequence.value.get("transitions").and_then(Node::items).unwrap_or_default();
            let gotos = transitions
                .iter()
                .enumerate()
                .map(|(i, t)| (t.get("goto"), format!(".transitions[{i}].goto")));
            for (node, rest) in gotos.chain([(sequence.value.get("then"), ".then".to_owned())]) {
                let Some((node, name)) = node.and_then(|n| Some((n, n.as_str()?))) else { continue };
                if !names.contains(name) {
                    let meant = self.findings.nearest(name, names.iter().copied());
                    self.findings.warning(
                        &spot(node, &rest),
                        format!("no sequence is named {name:?}"),
                        meant,
                    );
                }
            }
        }
    }

    /// The `clip:` of an attention block, a name or `{name, when}`.
    fn clip(&mut self, block: &Node, spot: &Spot<'_>) {
        let clips = &self.surroundings.clips;
        let Some(node) = block.get("attention").and_then(|a| a.get("clip")) else { return };
        let node = node.get("name").unwrap_or(node);
        let Some(name) = node.as_str().filter(|name| !clips.is_empty() && !clips.iter().any(|c| c == name))
        else {
            return;
        };
        let meant = self.findings.nearest(name, clips.iter().map(String::as_str));
        let message = format!("no clip is named {name:?}, so nothing is played");
        self.findings.warning(&spot.below(node.at, ".attention.clip"), message, meant);
    }
}

/// A bundle's folder as seen from its library: `<domain>/<type>/<name>`.
fn in_library(folder: &Path) -> String {
    let parts: Vec<_> = folder.components().rev().take(3).collect();
    shown(&parts.into_iter().rev().collect::<PathBuf>())
}

const fn instead(kind: AssetKind) -> &'static str {
    match kind {
        AssetKind::Human => ", so the fallback stands in",
        AssetKind::Object => ", so the object has no box",
        AssetKind::Robot => ", so in the robot world service_robot stands in",
    }
}

/// The agent type most like a missing one, in its folder.
fn beside(file: &Path) -> Option<String> {
    let wanted = file.file_name()?.to_str()?;
    let files = super::sorted_entries(file.parent()?);
    let names: Vec<&str> = files
        .iter()
        .filter(|path| path.extension().is_some_and(|e| e == "yaml"))
        .filter_map(|path| path.file_name()?.to_str())
        .collect();
    nearest(wanted, names).map(str::to_owned)
}

/// One hint per kind of model that is not installed.
pub(super) fn unstocked_hints(unstocked: Unstocked) -> impl Iterator<Item = Problem> {
    unstocked.into_iter().map(|(kind, (file, at, names))| {
        let named = match names.len() {
            1 => "the name was".to_owned(),
            n => format!("{n} names were"),
        };
        let so = match kind {
            AssetKind::Human => format!("everybody looks like `{FALLBACK_HUMAN}`"),
            AssetKind::Object => "objects have no boxes and no seats but declared ones".to_owned(),
            AssetKind::Robot => "their looks are the simulator's business".to_owned(),
        };
        Problem {
            file,
            at,
            severity: Severity::Hint,
            path: String::new(),
            message: format!("no {kind} models are installed, so {named} not looked up; {so}"),
            suggestion: None,
        }
    })
}
