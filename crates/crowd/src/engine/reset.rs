//! Parameters that wait, and the reset that lets them act (crowd-engine specification, section 23).

use super::Engine;
use super::error::EngineError;
use super::parameters::ParameterRule;
use crate::protocol::ParameterValue;
use crate::sampling::AgentParameters;
use promenade_kernel::generator::Generator;

impl Engine {
    /// Set parameters, all of them or none. They act at the next reset, but for `contact_mode`, `locomotion_standing_distance` and
    /// `gesture_mode`, which act at once.
    ///
    /// # Errors
    /// A name that is not declared, one that is fixed, or a value out of its range.
    pub fn set_parameters(&mut self, batch: &[(String, ParameterValue)]) -> Result<(), EngineError> {
        self.parameters.set(batch)
    }

    /// All declared parameters with the values that are set, sorted by name.
    pub fn parameters(&self) -> impl Iterator<Item = (&str, ParameterValue)> {
        self.parameters.iter()
    }

    /// The value of a parameter that holds now, which until the next reset may be another than the one that is set.
    #[must_use]
    pub fn parameter(&self, name: &str) -> Option<&ParameterValue> {
        self.parameters.value(name)
    }

    /// What to know before setting a parameter; `None` for a name that is not declared.
    #[must_use]
    pub fn parameter_rule(&self, name: &str) -> Option<ParameterRule> {
        self.parameters.rule(name)
    }

    /// Begin an episode: parameters that were set take hold, and agents that follow them change over. `soft` keeps agents, world, time
    /// and streams; otherwise all of them are wiped first, ids begin at 1, ticks and time at 0.
    ///
    /// # Errors
    /// Settings that the walls there are do not allow; then those before stay.
    pub fn reset(&mut self, soft: bool) -> Result<(), EngineError> {
        if !soft {
            self.wipe()?;
        }
        let before = self.parameters.clone();
        self.parameters.settle();
        let settled = self.parameters.crowd_settings();
        if let Err(error) = settled.and_then(|settings| Ok(self.crowd.reconfigure(settings)?)) {
            self.parameters = before;
            return Err(error);
        }
        self.note_settings();
        self.reseat();
        self.output.meta_stale = true;
        Ok(())
    }

    fn wipe(&mut self) -> Result<(), EngineError> {
        self.remove_everybody();
        self.flow.clear();
        self.remove_walls(&[])?;
        self.remove_obstacles(&[])?;
        self.remove_world_objects(&[])?;
        self.waypoint_stream = Generator::named(self.crowd.settings().seed, super::WAYPOINT_STREAM);
        self.epoch_ns = 0;
        Ok(())
    }

    /// Everybody who follows the defaults gets the current planner and its current means, at the offsets that were drawn. Then planners
    /// without users go.
    fn reseat(&mut self) {
        for row in 0..self.crowd.pool().len() {
            let id = self.crowd.pool().id[row];
            if !self.people.published[row] {
                continue;
            }
            let person = &self.people.persons[row];
            let planner = self.planner_of(&person.request, person.resolved.as_deref());
            match self.parameters_of(&person.request, person.resolved.as_deref()) {
                Ok(drawn) => self.take_over(id, drawn),
                Err(error) => {
                    self.warnings.say(format!("agent {id} keeps its planner's numbers: {error}"));
                }
            }
            let bound = self.feed.is_bound(id);
            if bound {
                self.feed.set_own_planner(id, planner);
            } else if self.crowd.set_planner(id, planner.as_deref()).is_err() {
                self.warnings.say(format!("agent {id} keeps its planner"));
            }
        }
        let kept: Vec<String> = self.feed.own_planners().map(str::to_owned).collect();
        let kept: Vec<&str> = kept.iter().map(String::as_str).collect();
        self.crowd.prune_planners(&kept);
    }

    /// Give an agent what was drawn anew for its planner; all else it keeps.
    fn take_over(&mut self, id: i32, drawn: AgentParameters) {
        let Some(has) = self.crowd.parameters(id) else { return };
        if drawn.planner == has.planner && drawn.kind_gains == has.kind_gains {
            return;
        }
        let AgentParameters { planner, kind_gains, .. } = drawn;
        match self.crowd.set_parameters(id, AgentParameters { planner, kind_gains, ..has.clone() }) {
            Ok(()) => self.note_change(id),
            Err(error) => self.warnings.say(format!("agent {id} keeps its planner's numbers: {error}")),
        }
    }
}
