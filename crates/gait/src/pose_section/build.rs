//! A merged pose section over a library: bases, laws, limits, operations, in that order.

use std::sync::Arc;

use super::{
    PoseSection,
    ops::OpenGait,
    section::{GaitSection, Placed, Spot, TypeSection},
};
use crate::{
    error::{ProfileError, ProfileErrors, ProfileProblem},
    library::{DEFAULT_RUN, DEFAULT_WALK, ProfileLibrary},
    profile::{PhaseWarp, Profile},
    profile_file::{LawFields, Reader},
    yaml::Position,
};

/// The base that means the built-in sway.
const SWAY: &str = "idle";
const WALK: &str = "walk";

/// Builds the gaits of a type.
pub(crate) fn build(section: &TypeSection, library: &ProfileLibrary) -> Result<PoseSection, ProfileErrors> {
    let mut builder = Builder { library, problems: Vec::new() };
    let mut walk_section = section.walk.clone().unwrap_or_default();
    let run_section = section.run.clone().unwrap_or_default();
    if let (None, Some(warp)) = (&walk_section.phase_warp, section.locomotion_split) {
        walk_section.phase_warp = Some((warp, Spot { file: Arc::from(""), at: Position::START }));
    }
    builder.refuse_same_as("walk", &walk_section);
    let walk = builder.gait("walk", &walk_section, DEFAULT_WALK);
    let run = match &run_section.same_as {
        Some((found, _)) if found == WALK => builder.run_like_walk(&run_section, walk.as_ref()),
        Some(_) => {
            builder.refuse_same_as("run", &run_section);
            None
        }
        None => builder.gait("run", &run_section, DEFAULT_RUN),
    };
    let idle = section.idle.as_ref().and_then(|idle| builder.idle(idle));
    match (walk, run) {
        (Some(walk), Some(run)) if builder.problems.is_empty() => {
            Ok(PoseSection { walk, run, idle, manner: section.manner() })
        }
        _ => Err(ProfileErrors(builder.problems)),
    }
}

struct Builder<'a> {
    library: &'a ProfileLibrary,
    problems: Vec<ProfileError>,
}

impl Builder<'_> {
    fn report(&mut self, spot: &Spot, problem: ProfileProblem) {
        self.problems.push(ProfileError::new(&spot.file, spot.at, problem));
    }

    fn refuse_same_as(&mut self, gait: &'static str, section: &GaitSection) {
        if let Some((found, spot)) = &section.same_as {
            self.report(spot, ProfileProblem::SameAsOfGait { gait, found: found.clone() });
        }
    }

    /// A library profile with laws, limits and operations over it.
    fn gait(&mut self, gait: &'static str, section: &GaitSection, default: &str) -> Option<Profile> {
        let stem = section.base.as_ref().map_or(default, |(stem, _)| stem.as_str());
        // A library without the defaults still has a default person.
        let entry = self.library.get(stem).or_else(|| match &section.base {
            None => ProfileLibrary::builtin().get(stem),
            Some(_) => None,
        });
        let Some(entry) = entry else {
            if let Some((found, spot)) = &section.base {
                let nearest = self.library.nearest_stem(found).map(str::to_owned);
                self.report(spot, ProfileProblem::UnknownBase { gait, found: found.clone(), nearest });
            }
            return None;
        };
        let mut profile = entry.profile.clone();
        profile.change(&mut |profile| self.change(gait, section, profile));
        // The profiles of several speeds report what is wrong with all of them once for each.
        self.problems.dedup();
        Some(profile)
    }

    /// Laws, limits and operations over one profile.
    fn change(&mut self, gait: &'static str, section: &GaitSection, profile: &mut Profile) {
        if let Some((symmetric, _)) = section.symmetric {
            profile.symmetric = symmetric;
        }
        self.laws(section, profile);
        let mut open = OpenGait::of(profile);
        for (target, (ops, spot)) in &section.joints {
            if let Err(problem) = open.apply(gait, target, ops) {
                self.report(spot, problem);
            }
        }
        if !section.joints.is_empty() {
            open.close(profile);
        }
    }

    /// `run: {same_as: walk}`: the walk as it came out, with the library run's factor.
    fn run_like_walk(&mut self, section: &GaitSection, walk: Option<&Profile>) -> Option<Profile> {
        let mut refuse = |key, spot: Option<&Spot>| {
            if let Some(spot) = spot {
                self.problems.push(ProfileError::new(
                    &spot.file,
                    spot.at,
                    ProfileProblem::NextToWalk { key },
                ));
            }
        };
        refuse("base", section.base.as_ref().map(spot_of));
        refuse("symmetric", section.symmetric.as_ref().map(spot_of));
        refuse("joints", section.joints.first().map(|(_, placed)| spot_of(placed)));
        let mut profile = walk?.clone();
        let run = self.library.get(DEFAULT_RUN).or_else(|| ProfileLibrary::builtin().get(DEFAULT_RUN))?;
        profile.change(&mut |profile| {
            profile.gain.factor = run.profile.gain.factor;
            self.laws(section, profile);
        });
        self.problems.dedup();
        Some(profile)
    }

    fn idle(&mut self, section: &GaitSection) -> Option<Profile> {
        self.refuse_same_as("idle", section);
        if section.base.as_ref().is_some_and(|(base, _)| base != SWAY) {
            return self.gait("idle", section, SWAY);
        }
        for (key, spot) in [
            ("symmetric", section.symmetric.as_ref().map(spot_of)),
            ("phase_warp", section.phase_warp.as_ref().map(spot_of)),
            ("cadence", section.cadence.as_ref().map(spot_of)),
            ("gain", section.gain.as_ref().map(spot_of)),
            ("limits", section.limits.as_ref().map(spot_of)),
            ("joints", section.joints.first().map(|(_, placed)| spot_of(placed))),
        ] {
            if let Some(spot) = spot {
                self.report(spot, ProfileProblem::SwayOverride { key });
            }
        }
        None
    }

    fn laws(&mut self, section: &GaitSection, profile: &mut Profile) {
        let fields = |law: &Option<Placed<[Option<f64>; 4]>>| law.as_ref().map_or([None; 4], |(law, _)| *law);
        let laws = LawFields {
            phase_warp: section.phase_warp.as_ref().map(|(warp, _): &Placed<PhaseWarp>| *warp),
            cadence: fields(&section.cadence),
            gain: fields(&section.gain),
        };
        laws.apply(profile);
        if let Some((limits, _)) = &section.limits {
            profile.limits.extend(limits.iter().map(|(joint, range)| (*joint, *range)));
        }
        if let Some((_, Spot { file, at })) = &section.cadence {
            let mut reader = Reader { file, problems: Vec::new() };
            reader.check_cadence(*at, profile);
            self.problems.append(&mut reader.problems);
        }
        if let Some((_, Spot { file, at })) = &section.gain {
            let mut reader = Reader { file, problems: Vec::new() };
            reader.check_gain(*at, profile);
            self.problems.append(&mut reader.problems);
        }
    }
}

fn spot_of<T>((_, spot): &Placed<T>) -> &Spot {
    spot
}
