//! The engine through its front door: requests, ticks, and what it tells. Names of the tests say what holds.

mod external;
mod flow;
mod parameters;
mod requests;
mod same;
mod storm;
mod ticks;

use promenade_crowd::Engine;
use promenade_crowd::protocol::{AgentState, ParameterValue, Waypoint, Waypoints, mode};

/// An engine with some parameters set.
fn engine(parameters: &[(&str, ParameterValue)]) -> Engine {
    let parameters: Vec<(String, ParameterValue)> =
        parameters.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
    Engine::new(&parameters).expect("parameters hold")
}

/// A way through some places.
fn way(points: &[[f64; 2]], mode: u8) -> Waypoints {
    let point = |[x, y]: &[f64; 2]| Waypoint { pose: [*x, *y, 0.0], radius: 0.0 };
    Waypoints { points: points.iter().map(point).collect(), mode }
}

/// Somebody at a place who stays there.
fn person(id: i32, x: f64, y: f64) -> AgentState {
    AgentState {
        agent_id: id,
        name: format!("env_0/person_{id}"),
        pose: [x, y, 0.0],
        ..AgentState::default()
    }
}

/// Somebody who walks from one place to another.
fn walker(id: i32, from: [f64; 2], to: [f64; 2]) -> AgentState {
    let theta = (to[1] - from[1]).atan2(to[0] - from[0]);
    let waypoints = way(&[to], mode::ONCE);
    AgentState { pose: [from[0], from[1], theta], waypoints, ..person(id, from[0], from[1]) }
}

/// Where somebody is in the last frame.
fn place(engine: &Engine, id: i32) -> [f64; 2] {
    let frame = engine.frame();
    let row = frame.agent_id.iter().position(|other| *other == id).expect("in the frame");
    [frame.x[row], frame.y[row]]
}

/// Run some ticks.
fn run(engine: &mut Engine, ticks: u64) {
    (0..ticks).for_each(|_| engine.tick());
}

/// A sink of a log that can be read while the engine writes.
#[derive(Clone, Default)]
struct Shared(std::sync::Arc<std::sync::Mutex<Vec<u8>>>);

impl std::io::Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().map_err(|_| std::io::ErrorKind::Other)?.write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Shared {
    /// What was written so far.
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().expect("written").clone()).expect("JSON")
    }
}
