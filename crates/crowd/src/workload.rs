//! The crowd that speed is measured on: people on an open square, each heading for the point mirrored through its middle.

use promenade_scenario::AgentTypeLibrary;

use crate::error::CrowdError;
use crate::random::Generator;
use crate::settings::Settings;
use crate::spawn::SpawnRequest;
use crate::step::Crowd;

/// People per square metre.
pub const DENSITY: f64 = 0.25;

/// A crowd of `count` adults, drawn from the seed, on a square at [`DENSITY`]; nobody touches anybody at the start.
///
/// # Errors
/// Settings that the engine refuses.
pub fn mirrored_square(settings: Settings, count: u32) -> Result<Crowd, CrowdError> {
    let mut place = Generator::named(settings.seed, "workload");
    let mut crowd = Crowd::new(settings)?;
    let adult = AgentTypeLibrary::built_in().named("adult").ok().map(|adult| &**adult);
    let side = f64::from(count).sqrt().ceil();
    let spacing = DENSITY.sqrt().recip();
    for number in 0..count {
        let (line, column) = ((f64::from(number) / side).floor(), f64::from(number) % side);
        let mut along = |index: f64| (index - 0.5 * (side - 1.0) + place.uniform(-0.3, 0.3)) * spacing;
        let [x, y] = [along(column), along(line)];
        let pose = [x, y, (-y).atan2(-x)];
        let id = crowd.spawn(&SpawnRequest { pose, ..SpawnRequest::default() }, adult)?;
        crowd.navigate(id, Some([-x, -y]))?;
    }
    Ok(crowd)
}
