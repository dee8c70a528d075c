//! Robots, hearing and parameters: what the layer hands on to a backend (human-layer specification, sections 5.6, 19, 20, 24).

use crate::layer::HumanLayer;
use crate::parameter::Parameter;
use crate::robot::{Robot, TrackedRobot};

/// The agent id that means all people.
pub const EVERYBODY: i32 = -1;

impl HumanLayer {
    /// Creates robots: in the simulator, then in the tracker, then in the backend. One success per robot; one that the simulator
    /// refused goes no further.
    pub fn spawn_robots(&mut self, robots: &[Robot]) -> Vec<bool> {
        let in_sim = self.cx.sim.robot_spawn(robots);
        self.hand_on(robots, &in_sim, |backend, cx, robots| backend.spawn_robots(cx, robots))
    }

    /// Teleports robots; they are at rest until their next two transforms. One success per robot.
    pub fn move_robots(&mut self, robots: &[Robot]) -> Vec<bool> {
        let in_sim = self.cx.sim.robot_move(robots);
        self.hand_on(robots, &in_sim, |backend, cx, robots| backend.move_robots(cx, robots))
    }

    /// Removes robots. One success per robot; one that the simulator kept stays tracked.
    pub fn remove_robots(&mut self, robots: &[Robot]) -> Vec<bool> {
        let mut results = self.cx.sim.robot_delete(robots);
        results.resize(robots.len(), false);
        let gone: Vec<Robot> =
            robots.iter().zip(&results).filter(|&(_, &done)| done).map(|(robot, _)| robot.clone()).collect();
        for robot in &gone {
            self.cx.tracker.remove(&robot.name);
        }
        let told = self.backend.0.remove_robots(&mut self.cx, &gone);
        merge(&mut results, &told);
        results
    }

    fn hand_on(
        &mut self,
        robots: &[Robot],
        in_sim: &[bool],
        tell: impl FnOnce(&mut dyn crate::HumanSimulator, &mut crate::layer::LayerCx, &[Robot]) -> Vec<bool>,
    ) -> Vec<bool> {
        let mut results: Vec<bool> =
            (0..robots.len()).map(|i| in_sim.get(i).copied().unwrap_or(false)).collect();
        let there: Vec<Robot> =
            robots.iter().zip(&results).filter(|&(_, &done)| done).map(|(robot, _)| robot.clone()).collect();
        for (robot, _) in robots.iter().zip(&results).filter(|&(_, &done)| !done) {
            tracing::warn!("the simulator did not place robot {:?}", robot.name);
        }
        for robot in &there {
            self.cx.tracker.place(robot, self.cx.now);
        }
        if !there.is_empty() {
            let told = tell(&mut *self.backend.0, &mut self.cx, &there);
            merge(&mut results, &told);
        }
        results
    }

    /// All robots in spawn order, looked up now.
    pub fn tracked_robots(&mut self) -> &[TrackedRobot] {
        self.cx.tracked_robots()
    }

    /// Whether a robot of that name is there.
    #[must_use]
    pub fn tracks_robot(&self, name: &str) -> bool {
        self.cx.tracker.robots().iter().any(|tracked| tracked.robot.name == name)
    }

    /// A hearing source tells how loud `stimulus` is for an agent ([`EVERYBODY`] = all), 0 to 1. The backend is told of the onset only.
    pub fn hear(&mut self, agent_id: i32, stimulus: &str, intensity: f32) {
        if self.cx.hearing.hear(agent_id, stimulus, intensity) {
            self.notify_stimulus(agent_id, stimulus, intensity);
        }
    }

    /// Something happened once: the backend is told. `agent_id` [`EVERYBODY`] = all.
    pub fn notify_stimulus(&mut self, agent_id: i32, stimulus: &str, intensity: f32) {
        let intensity = if intensity.is_finite() { intensity.clamp(0.0, 1.0) } else { 0.0 };
        self.backend.0.notify_stimulus(&mut self.cx, agent_id, stimulus, intensity);
    }

    /// The id under which a person (either spelling of the name) is on the bus, as engines count.
    #[must_use]
    pub fn agent_id(&self, name: &str) -> Option<i32> {
        let id = self.cx.index.ped(self.cx.index.slot(name)?).bus_id?;
        Some(id.cast_signed())
    }

    /// The namespace of the backend's own parameters.
    #[must_use]
    pub fn param_namespace(&self) -> Option<&'static str> {
        self.backend.0.param_namespace()
    }

    /// Hands the backend its own parameters, sorted and without their prefix. Also called without any, since a backend may have
    /// an episode boundary of its own. Answers those it accepted, under their full names.
    pub fn configure(&mut self, params: &[Parameter]) -> Vec<Parameter> {
        let prefix = self.backend.0.param_namespace().map(|namespace| format!("{namespace}."));
        let mut own: Vec<(&Parameter, &str)> = Vec::new();
        for param in params {
            match prefix.as_deref().and_then(|prefix| param.name.strip_prefix(prefix)) {
                Some(stripped) => own.push((param, stripped)),
                None => {
                    tracing::info!("parameter {:?} is not one of this backend and is skipped", param.name)
                }
            }
        }
        own.sort_by(|a, b| a.1.cmp(b.1));
        let stripped: Vec<Parameter> = own
            .iter()
            .map(|(param, name)| Parameter { name: (*name).to_owned(), value: param.value.clone() })
            .collect();
        let accepted = self.backend.0.configure(&mut self.cx, &stripped);
        own.into_iter()
            .filter(|(_, name)| accepted.iter().any(|accepted| accepted == name))
            .map(|(param, _)| param.clone())
            .collect()
    }
}

/// Takes the backend's answers over into those of the robots that reached it.
fn merge(results: &mut [bool], told: &[bool]) {
    let mut told = told.iter();
    for result in results.iter_mut().filter(|done| **done) {
        *result = told.next().copied().unwrap_or(false);
    }
}
