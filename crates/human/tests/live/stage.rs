//! A small world from a snippet, and people put where a test wants them.

use std::path::Path;

use promenade_human::live::{DoorPhase, Effect, LiveOptions, LiveWorld, Occupant, OccupantKind};
use promenade_kernel::Time;
use promenade_scenario::{Scenario, World};

/// An empty hall of 20 x 20 m around the origin; `rest` are further keys of the zone, two spaces deep.
pub(crate) fn hall(rest: &str) -> World {
    let text = format!(
        "zones:\n- name: hall\n  corners: [{{x: -10, y: -10}}, {{x: 10, y: -10}}, {{x: 10, y: 10}}, {{x: -10, y: 10}}]\n{rest}"
    );
    world(&text)
}

pub(crate) fn world(text: &str) -> World {
    World::parse(text, Path::new("w/world.yaml"), None)
        .unwrap_or_else(|report| panic!("{report}\n{text}"))
        .value
}

pub(crate) fn scenario(text: &str) -> Scenario {
    Scenario::parse(text, Path::new("w/scenarios/s/scenario.yaml"))
        .unwrap_or_else(|report| panic!("{report}\n{text}"))
        .value
}

/// The world without a timeline.
pub(crate) fn live(world: &World) -> LiveWorld {
    LiveWorld::new(world, &scenario("{}"), [0.0; 2], LiveOptions::default())
}

pub(crate) fn live_with(world: &World, of: &str) -> LiveWorld {
    LiveWorld::new(world, &scenario(of), [0.0; 2], LiveOptions::default())
}

pub(crate) fn at(seconds: f64) -> Time {
    Time::from_secs_f64(seconds)
}

pub(crate) fn person(name: &str, x: f64, y: f64) -> Occupant<'_> {
    Occupant {
        name,
        kind: OccupantKind::Person,
        agent_type: "adult",
        position: [x, y],
        radius: 0.3,
        level: None,
    }
}

pub(crate) fn robot(name: &str, x: f64, y: f64) -> Occupant<'_> {
    Occupant { kind: OccupantKind::Robot, agent_type: "", ..person(name, x, y) }
}

pub(crate) fn phase(live: &LiveWorld, door: &str) -> DoorPhase {
    live.door(door).expect("there is such a door").phase
}

/// `+door` opened, `-door` closed, `!name` a stimulus for everybody, `agent!name` one for somebody.
pub(crate) fn told(effects: &[Effect]) -> Vec<String> {
    effects
        .iter()
        .map(|effect| match effect {
            Effect::DoorOpened(door) => format!("+{door}"),
            Effect::DoorClosed(door) => format!("-{door}"),
            Effect::Stimulus { agent, name, .. } => {
                format!("{}!{name}", agent.as_deref().unwrap_or_default())
            }
        })
        .collect()
}

/// Steps every 0.1 s over `[from, to]` with the same occupants; answers what was told and when.
pub(crate) fn run(
    live: &mut LiveWorld,
    from: f64,
    to: f64,
    occupants: &[Occupant<'_>],
) -> Vec<(f64, String)> {
    let ticks = (from * 10.0).round() as i64..=(to * 10.0).round() as i64;
    ticks
        .flat_map(|tick| {
            let effects = told(live.step(Time::from_nanos(tick * 100_000_000), occupants.iter().copied()));
            effects.into_iter().map(move |effect| (tick as f64 / 10.0, effect))
        })
        .collect()
}
