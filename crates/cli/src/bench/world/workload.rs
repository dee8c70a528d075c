//! The worlds that are measured, as text of a world file, so that a peer reads the very same.
//!
//! Everything goes on for ever: goals loop, and nothing stops at a touch. What a step costs does not depend on how many came before.

use std::f64::consts::TAU;
use std::fmt::Write;

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Case {
    /// Differential robots that dash back and forth through each other
    Dash,
    /// The same with reciprocal velocity obstacles
    Rvo,
    /// Robots that dash, each with a scanner of 180 beams all around, and a fifth as many obstacles
    Lidar,
    /// One robot with 360 beams among 100 obstacles
    Scan,
    /// Contact mode: every robot pushes a box of half its mass
    Push,
}

/// A world to be measured.
pub(super) struct Workload {
    /// The file.
    pub(super) text: String,
    /// Robots in it.
    pub(super) robots: u32,
    /// Beams of each robot.
    pub(super) beams: u32,
    /// Obstacles in it, boxes included.
    pub(super) obstacles: u32,
}

impl Case {
    pub(super) const ALL: [Self; 5] = [Self::Dash, Self::Rvo, Self::Lidar, Self::Scan, Self::Push];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Dash => "dash",
            Self::Rvo => "rvo",
            Self::Lidar => "lidar",
            Self::Scan => "scan",
            Self::Push => "push",
        }
    }

    fn robots(self) -> u32 {
        match self {
            Self::Dash | Self::Rvo => 1000,
            Self::Lidar | Self::Push => 100,
            Self::Scan => 1,
        }
    }

    /// The world of this case with that many robots; of its own number without.
    pub(super) fn workload(self, robots: Option<u32>) -> Workload {
        let robots = robots.unwrap_or(self.robots());
        let (text, beams, obstacles) = match self {
            Self::Dash => (wandering(robots, "dash", ""), 0, 0),
            Self::Rvo => (wandering(robots, "rvo", ""), 0, 0),
            Self::Lidar => {
                let obstacles = robots.div_ceil(5);
                let mut text = wandering(robots, "dash", &lidar(180));
                let side = lattice(robots) * SPACING;
                push_obstacles(&mut text, obstacles, side / lattice(obstacles));
                (text, 180, obstacles)
            }
            Self::Scan => {
                let mut text = wandering(robots, "dash", &lidar(360));
                push_obstacles(&mut text, 100, 2.0);
                (text, 360, 100)
            }
            Self::Push => (pushing(robots), 0, robots),
        };
        Workload { text, robots, beams, obstacles }
    }
}

/// Metres between robots.
const SPACING: f64 = 3.0;

/// Places along a side.
fn lattice(count: u32) -> f64 {
    f64::from(count).sqrt().ceil()
}

/// A number in [0, 1) that looks random: additive recurrence, evenly spread in every dimension.
fn spread(index: u32, dimension: i32) -> f64 {
    /// The plastic-number generalisation of the golden ratio for four dimensions.
    const BASE: f64 = 1.167_303_978_261_418_7;
    (0.5 + f64::from(index + 1) * BASE.powi(-dimension)).fract()
}

/// Places on a lattice around the origin, each moved by up to a third of the spacing.
fn place(index: u32, count: u32, spacing: f64) -> [f64; 2] {
    let side = lattice(count) as u32;
    let along = |step: u32, dimension| {
        (f64::from(step) + 0.5 - 0.5 * f64::from(side) + 0.66 * (spread(index, dimension) - 0.5)) * spacing
    };
    [along(index % side, 1), along(index / side, 2)]
}

fn header(mode: &str, side: f64) -> String {
    format!(
        "world: {{width: {side:.1}, height: {side:.1}, offset: [{0:.1}, {0:.1}], step_time: 0.1, collision_mode: {mode}}}\n",
        -0.5 * side
    )
}

fn lidar(beams: u32) -> String {
    format!(", sensors: [{{name: lidar2d, number: {beams}, angle_range: {TAU}, range_max: 10.0}}]")
}

/// Robots that go to a place six to twelve metres off and back, for ever.
fn wandering(robots: u32, behavior: &str, more: &str) -> String {
    let mut text = header("unobstructed", lattice(robots) * SPACING + 24.0);
    text.push_str("robot:\n");
    for index in 0..robots {
        let [x, y] = place(index, robots, SPACING);
        let (sin, cos) = (TAU * spread(index, 3)).sin_cos();
        let far = 6.0 + 6.0 * spread(index, 4);
        let heading = std::f64::consts::PI * (2.0 * spread(index, 4) - 1.0);
        let _ = writeln!(
            text,
            "  - {{kinematics: {{name: diff}}, shape: {{name: circle, radius: 0.2}}, state: [{x:.3}, {y:.3}, {heading:.3}], \
             goal: [{:.3}, {:.3}, 0], goal_threshold: 0.3, vel_max: [1.5, 2.5], vel_min: [-1.5, -2.5], \
             behavior: {{name: {behavior}, loop: true}}{more}}}",
            x + far * cos,
            y + far * sin,
        );
    }
    text
}

fn push_obstacles(text: &mut String, count: u32, spacing: f64) {
    text.push_str("obstacle:\n");
    for index in 0..count {
        let [x, y] = place(index, count, spacing);
        let shape = match index % 4 {
            0 => "{name: circle, radius: 0.4}",
            1 => "{name: rectangle, length: 0.9, width: 0.5}",
            2 => {
                "{name: polygon, vertices: [[-0.5, -0.4], [0.5, -0.5], [0.6, 0.3], [0.0, 0.6], [-0.4, 0.3]]}"
            }
            _ => "{name: linestring, vertices: [[-0.8, -0.2], [0.0, 0.2], [0.8, 0.0]]}",
        };
        let heading = TAU * spread(index, 3);
        let _ = writeln!(text, "  - {{shape: {shape}, state: [{x:.3}, {y:.3}, {heading:.3}]}}");
    }
}

/// Rows of a robot and a box before it, on their way to a goal that nobody reaches.
fn pushing(robots: u32) -> String {
    let side = lattice(robots) as u32;
    let mut text = header("contact", f64::from(side) * 6.0);
    let row = |index: u32| {
        let along = |step: u32| f64::from(step) + 0.5 - 0.5 * f64::from(side);
        [4.0 * along(index % side), 1.5 * along(index / side)]
    };
    text.push_str("robot:\n");
    for index in 0..robots {
        let [x, y] = row(index);
        let _ = writeln!(
            text,
            "  - {{kinematics: {{name: diff}}, shape: {{name: circle, radius: 0.3}}, state: [{x:.3}, {y:.3}, 0], \
             goal: [1000000, {y:.3}, 0], behavior: {{name: dash}}}}",
        );
    }
    text.push_str("obstacle:\n");
    for index in 0..robots {
        let [x, y] = row(index);
        let _ = writeln!(
            text,
            "  - {{shape: {{name: rectangle, length: 0.6, width: 0.8}}, state: [{:.3}, {y:.3}, 0], mass: 0.5}}",
            x + 1.0,
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_case_has_the_robots_and_obstacles_it_says() {
        for case in Case::ALL {
            for robots in [None, Some(7)] {
                let world = case.workload(robots);
                let lines = world.text.lines().filter(|line| line.starts_with("  - ")).count();
                assert_eq!(lines, (world.robots + world.obstacles) as usize, "{}", case.name());
            }
        }
    }

    #[test]
    fn nobody_starts_inside_another() {
        for count in [100, 1000] {
            let places: Vec<_> = (0..count).map(|index| place(index, count, SPACING)).collect();
            for (index, a) in places.iter().enumerate() {
                let nearest = places[..index].iter().map(|b| (a[0] - b[0]).hypot(a[1] - b[1]));
                assert!(nearest.fold(f64::INFINITY, f64::min) > 0.9);
            }
        }
    }
}
