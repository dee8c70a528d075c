//! Who and what is on the stage: a small world and a scenario, written as files.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Result;

/// An object of the scenario: name, pose `[x, y, yaw]`, and its scale if it says one.
pub type Thing = (&'static str, [f64; 3], Option<[f64; 3]>);

/// What a test puts on the stage.
#[derive(Clone, Debug, Default)]
pub struct Cast {
    /// People: name and place.
    pub people: Vec<(String, [f64; 2])>,
    /// Things.
    pub things: Vec<Thing>,
    /// Walls: start and end.
    pub walls: Vec<([f64; 2], [f64; 2])>,
    /// Doors: name, start and end.
    pub doors: Vec<(&'static str, [f64; 2], [f64; 2])>,
    /// Robots: name and start.
    pub robots: Vec<(String, [f64; 2])>,
    /// Way-points of everybody.
    pub waypoints: Vec<[f64; 2]>,
}

impl Cast {
    /// People by name: the first at (1, 0), the next at (2, 0), and so on.
    #[must_use]
    pub fn people(names: &[&str]) -> Self {
        let people = (1..).zip(names).map(|(i, name)| ((*name).to_owned(), [f64::from(i), 0.0])).collect();
        Self { people, ..Self::default() }
    }

    /// Writes a world folder below `folder` and answers the path of its scenario.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub fn write(&self, folder: &Path) -> Result<PathBuf> {
        let world = folder.join("stage");
        let scenario = world.join("scenarios/play/scenario.yaml");
        std::fs::create_dir_all(world.join("0"))?;
        std::fs::create_dir_all(world.join("scenarios/play"))?;
        std::fs::write(world.join("0/world.yaml"), self.world()?)?;
        std::fs::write(&scenario, self.scenario()?)?;
        Ok(scenario)
    }

    fn world(&self) -> Result<String> {
        let mut text = "zones:\n- name: floor\n  corners:\n".to_owned();
        for (x, y) in [(-50, -50), (50, -50), (50, 50), (-50, 50)] {
            writeln!(text, "  - {{x: {x}, y: {y}, z: 0}}")?;
        }
        if !self.walls.is_empty() {
            writeln!(text, "  walls:")?;
        }
        for ([ax, ay], [bx, by]) in &self.walls {
            writeln!(text, "  - {{start: {{x: {ax}, y: {ay}, z: 0}}, end: {{x: {bx}, y: {by}, z: 0}}}}")?;
        }
        if !self.doors.is_empty() {
            writeln!(text, "  doors:")?;
        }
        for (name, [ax, ay], [bx, by]) in &self.doors {
            writeln!(
                text,
                "  - {{name: {name}, start: {{x: {ax}, y: {ay}, z: 0}}, end: {{x: {bx}, y: {by}, z: 0}}}}"
            )?;
        }
        Ok(text)
    }

    fn scenario(&self) -> Result<String> {
        let mut text = String::new();
        writeln!(text, "static:{}", if self.things.is_empty() { " []" } else { "" })?;
        for (name, pose, scale) in &self.things {
            writeln!(text, "- name: {name}\n  model: box\n  pose: {pose:?}")?;
            if let Some(scale) = scale {
                writeln!(text, "  scale: {scale:?}")?;
            }
        }
        writeln!(text, "dynamic:{}", if self.people.is_empty() { " []" } else { "" })?;
        for (name, [x, y]) in &self.people {
            writeln!(text, "- name: {name}\n  model: adult_casual_01\n  pose: [{x:?}, {y:?}, 0.0]")?;
            if !self.waypoints.is_empty() {
                writeln!(text, "  waypoints: {:?}", self.waypoints)?;
            }
        }
        if !self.robots.is_empty() {
            writeln!(text, "robots:")?;
        }
        for (name, [x, y]) in &self.robots {
            writeln!(text, "- name: {name}\n  start: [{x:?}, {y:?}, 0.0]")?;
        }
        Ok(text)
    }
}
