//! Who is in the crowd, and what clients change of them between two ticks.

use super::{Crowd, Fleet};
use crate::collision::Contacts;
use crate::error::{CrowdError, coordinate, finite, within};
use crate::global::Route;
use crate::planner;
use crate::pool::{Kind, NO_POLICY};
use crate::sampling::AgentParameters;
use crate::settings::Settings;
use crate::spawn::SpawnRequest;

impl Crowd {
    /// Names of the planners, by the index that [`Pool::policy`](crate::Pool::policy) has.
    pub fn planner_names(&self) -> impl Iterator<Item = &'static str> {
        self.planners.iter().map(|fleet| fleet.planner.name())
    }

    /// Let another planner move an agent, or with `None` no planner: then it keeps the velocity that it is given from outside.
    ///
    /// # Errors
    /// An id that nobody has, or a planner there is not.
    pub fn set_planner(&mut self, id: i32, name: Option<&str>) -> Result<(), CrowdError> {
        let row = self.pool.row_of(id).ok_or(CrowdError::NoAgent(id))?;
        let policy = name.map_or(Ok(NO_POLICY), |name| self.policy(name))?;
        self.fleets_stale |= std::mem::replace(&mut self.pool.policy[row], policy) != policy;
        Ok(())
    }

    /// Give an agent other parameters; its pose, goal and planner stay.
    ///
    /// # Errors
    /// An id that nobody has, or numbers that make no body.
    pub fn set_parameters(&mut self, id: i32, parameters: AgentParameters) -> Result<(), CrowdError> {
        let row = self.pool.row_of(id).ok_or(CrowdError::NoAgent(id))?;
        parameters.check(id)?;
        self.pool.set_body(row, &parameters);
        self.planners.iter_mut().for_each(|fleet| fleet.planner.set(row, &parameters));
        if parameters.locomotion != self.agents[row].parameters.locomotion {
            self.locomotion.set(row, parameters.locomotion.as_deref());
        }
        if self.pool.kind[row] == Kind::Human {
            self.pool.class[row] = self.classes.index(&parameters.interaction_class);
        }
        self.pool.gains[row] = self.gains.index(&parameters.kind_gains, &mut self.classes);
        self.agents[row].parameters = parameters;
        self.fit_wall_index(row);
        Ok(())
    }

    /// Put an agent somewhere, from one moment to the next.
    ///
    /// # Errors
    /// An id that nobody has, or numbers that are none.
    pub fn place(&mut self, id: i32, pose: [f64; 3], velocity: [f64; 2]) -> Result<(), CrowdError> {
        let row = self.pool.row_of(id).ok_or(CrowdError::NoAgent(id))?;
        SpawnRequest { id, pose, velocity, ..SpawnRequest::default() }.check()?;
        self.put(row, pose, velocity);
        Ok(())
    }

    /// As [`Crowd::place`], with numbers that were checked.
    pub(crate) fn put(&mut self, row: usize, pose: [f64; 3], velocity: [f64; 2]) {
        [self.pool.x[row], self.pool.y[row], self.pool.theta[row]] = pose;
        [self.pool.vx[row], self.pool.vy[row]] = velocity;
        self.locomotion.forget_overlay(row);
        self.yielding.leave(row);
    }

    /// Change the size of a body.
    ///
    /// # Errors
    /// An id that nobody has, or a radius that is none.
    pub fn set_radius(&mut self, id: i32, radius: f64) -> Result<(), CrowdError> {
        let row = self.pool.row_of(id).ok_or(CrowdError::NoAgent(id))?;
        let what = format!("radius of agent {id}");
        within(&what, radius, "a number above 0 and up to 100", radius > 0.0 && radius <= 100.0)?;
        let body = AgentParameters { radius, ..self.agents[row].parameters.clone() };
        self.pool.set_body(row, &body);
        self.fit_wall_index(row);
        Ok(())
    }

    /// Let go of an arrival, for an agent that is sent on.
    pub(crate) fn release(&mut self, row: usize) {
        self.pool.latched[row] = false;
    }

    /// As [`Crowd::navigate`], to a place that was checked.
    pub(crate) fn send(&mut self, row: usize, target: Option<[f64; 2]>) {
        self.agents[row].target = target;
    }

    /// Take the velocity of an agent that no planner moves.
    pub(crate) fn halt(&mut self, id: i32) {
        if let Some(row) = self.pool.row_of(id).filter(|row| self.pool.policy[*row] == NO_POLICY) {
            [self.pool.vx[row], self.pool.vy[row]] = [0.0; 2];
        }
    }

    /// The path of an agent.
    #[must_use]
    pub fn route(&self, id: i32) -> Option<&Route> {
        self.pool.row_of(id).map(|row| &self.agents[row].route)
    }

    /// Where an agent was sent.
    #[must_use]
    pub fn target(&self, id: i32) -> Option<[f64; 2]> {
        self.pool.row_of(id).and_then(|row| self.agents[row].target)
    }

    /// Take over other settings: paths are planned anew where the way of finding them changed.
    ///
    /// # Errors
    /// A setting out of its range; then everything stays as it was.
    pub fn reconfigure(&mut self, settings: Settings) -> Result<(), CrowdError> {
        settings.check()?;
        planner::named(&settings.local_planner)?;
        let replan = settings.global_planner != self.settings.global_planner
            || settings.occlusion != self.settings.occlusion;
        let before = std::mem::replace(&mut self.settings, settings);
        if replan && let Err(error) = self.set_walls(self.walls.clone()) {
            self.settings = before;
            return Err(error);
        }
        Ok(())
    }

    /// Drop planners that move nobody, other than the default one and those that `keep` names.
    pub fn prune_planners(&mut self, keep: &[&str]) {
        self.fleets_stale = true;
        self.muster();
        let default = self.settings.local_planner.as_str();
        let used = |fleet: &Fleet| {
            let name = fleet.planner.name();
            !fleet.rows.is_empty() || name == default || keep.contains(&name)
        };
        let kept: Vec<bool> = self.planners.iter().map(used).collect();
        let mut number = 0;
        let renumbered: Vec<i16> = kept
            .iter()
            .map(|kept| {
                number += i16::from(*kept);
                number - 1
            })
            .collect();
        for policy in &mut self.pool.policy {
            if let Ok(index) = usize::try_from(*policy) {
                *policy = renumbered[index];
            }
        }
        let mut kept = kept.into_iter();
        self.planners.retain(|_| kept.next().unwrap_or(true));
    }

    /// Count ticks from here.
    pub(crate) fn set_ticks(&mut self, ticks: u64) {
        self.tick = ticks;
    }

    /// Let the next id be 1 again, once everybody has gone.
    pub(crate) fn restart_ids(&mut self) {
        self.largest_id = self.pool.id.iter().fold(0, |most, id| most.max(*id));
    }

    /// The largest id seen.
    #[must_use]
    pub fn largest_id(&self) -> i32 {
        self.largest_id
    }

    /// Give no new id up to this one.
    pub(crate) fn see_id(&mut self, id: i32) {
        self.largest_id = self.largest_id.max(id);
    }

    pub(super) fn fit_wall_index(&mut self, row: usize) {
        if self.pool.radius[row] > Contacts::largest_radius(&self.walls_for_contacts) {
            self.index_walls_for_contacts();
        }
    }

    /// Send an agent to a target, or with `None` take its target away. It sets off at the next decision tick.
    ///
    /// # Errors
    /// An id that nobody has, or a target that is no place.
    pub fn navigate(&mut self, id: i32, target: Option<[f64; 2]>) -> Result<(), CrowdError> {
        let row = self.pool.row_of(id).ok_or(CrowdError::NoAgent(id))?;
        for place in target.iter().flatten() {
            coordinate(format_args!("target of agent {id}"), *place)?;
        }
        self.agents[row].target = target;
        Ok(())
    }

    /// Give an agent a heading to hold, or with `None` let it turn as it walks.
    ///
    /// # Errors
    /// An id that nobody has, or a heading that is no angle.
    pub fn face(&mut self, id: i32, heading: Option<f64>) -> Result<(), CrowdError> {
        let row = self.pool.row_of(id).ok_or(CrowdError::NoAgent(id))?;
        let theta = finite(format_args!("heading of agent {id}"), heading.unwrap_or_default())?;
        (self.pool.has_goal_theta[row], self.pool.goal_theta[row]) = (heading.is_some(), theta);
        Ok(())
    }
}
