//! What came of a run, for people.

use std::fmt::Write;
use std::time::Duration;

use promenade_robot_world::World;
use promenade_robot_world::spec::{CollisionMode, Role};

/// Robots that get a row of their own, at most.
const MOST_ROWS: usize = 24;

/// What is counted of one object.
#[derive(Debug, Clone, Default)]
struct Count {
    arrivals: u32,
    first_arrival: Option<f64>,
    collisions: u32,
    way: f64,
    arrived: bool,
    collided: bool,
    at: [f64; 2],
    touching: u64,
}

/// What is counted while a world runs.
#[derive(Debug, Clone)]
pub(super) struct Tally {
    counts: Vec<Count>,
    steps: u64,
    contacts: u64,
    /// The largest force with the names of the two.
    strongest: Option<(f64, String, String)>,
}

impl Tally {
    pub(super) fn new(world: &World) -> Self {
        let counts =
            world.objects().state.iter().map(|state| Count { at: [state[0], state[1]], ..Count::default() });
        Self { counts: counts.collect(), steps: 0, contacts: 0, strongest: None }
    }

    /// Counts what happened in a step.
    pub(super) fn note(&mut self, world: &World) {
        let objects = world.objects();
        self.steps += 1;
        for (row, count) in self.counts.iter_mut().enumerate() {
            let at = [objects.state[row][0], objects.state[row][1]];
            count.way += (at[0] - count.at[0]).hypot(at[1] - count.at[1]);
            count.at = at;
            if objects.arrive[row] && !count.arrived {
                count.arrivals += 1;
                count.first_arrival.get_or_insert(world.time());
            }
            count.arrived = objects.arrive[row];
            count.collisions += u32::from(objects.collision[row] && !count.collided);
            count.collided = objects.collision[row];
            count.touching += u64::from(objects.contact[row].in_contact);
        }
        self.contacts += u64::from(!world.contacts().is_empty());
        for contact in world.contacts() {
            if contact.force > self.strongest.as_ref().map_or(0.0, |(force, ..)| *force) {
                let name = |id: u32| {
                    let row = objects.id.binary_search(&id).unwrap_or_default();
                    objects.name[row].to_string()
                };
                self.strongest = Some((contact.force, name(contact.a), name(contact.b)));
            }
        }
    }

    /// Says it; `stepping` is what the steps took.
    pub(super) fn describe(&self, world: &World, stepping: Duration) -> String {
        let mut text = String::new();
        let settings = world.settings();
        let took = stepping.as_secs_f64();
        let _ = write!(
            text,
            "{}: {} steps of {} s, {:.1} s, in {}",
            settings.name,
            self.steps,
            settings.step_time,
            self.steps as f64 * settings.step_time,
            seconds(took),
        );
        if took > 0.0 && self.steps > 0 {
            let factor = self.steps as f64 * settings.step_time / took;
            let _ = write!(text, " ({} times real time)", grouped(factor));
        }
        let _ = writeln!(text, "; {}", world.status());
        let objects = world.objects();
        let robots: Vec<usize> = (0..objects.len()).filter(|row| objects.role[*row] == Role::Robot).collect();
        if !robots.is_empty() && robots.len() <= MOST_ROWS {
            self.table(&mut text, world, &robots);
        }
        let count = |what: &dyn Fn(&usize) -> bool| robots.iter().filter(|row| what(row)).count();
        let arrived = count(&|row| objects.arrive[*row]);
        let stopped = count(&|row| objects.stop[*row]);
        let collided = count(&|row| self.counts[*row].collisions > 0);
        let mut parts = vec![format!("{} arrived", arrived)];
        if stopped > 0 {
            parts.push(format!("{stopped} stopped by a collision"));
        }
        parts.push(format!("{collided} collided"));
        let _ = writeln!(text, "{}: {}", plural(robots.len(), "robot"), parts.join(", "));
        if settings.collision_mode == CollisionMode::Contact {
            let _ = write!(text, "contacts in {} of {} steps", self.contacts, self.steps);
            if let Some((force, a, b)) = &self.strongest {
                let _ = write!(text, ", the strongest {force:.3} N between {a} and {b}");
            }
            text.push('\n');
        }
        if let Some(fog) = world.fog() {
            let _ = writeln!(text, "{:.1} % of the fog lifted", 100.0 * fog.explored_ratio());
        }
        text
    }

    fn table(&self, text: &mut String, world: &World, robots: &[usize]) {
        let objects = world.objects();
        let longest = robots.iter().map(|row| objects.name[*row].chars().count()).max().unwrap_or(0).max(5);
        let _ = writeln!(
            text,
            "  {:longest$}  {:12}  {:>9}  {:>9}  {:>10}  {:>10}  ends at",
            "robot", "model", "arrived", "way", "goals left", "collisions"
        );
        for row in robots {
            let count = &self.counts[*row];
            let arrived = count.first_arrival.map_or("-".to_owned(), |time| format!("{time:.1} s"));
            let model = objects.model[*row].as_ref().map_or("passive", |model| model.name());
            let [x, y, heading, ..] = objects.state[*row];
            let left = if objects.arrive[*row] { 0 } else { objects.goals[*row].len() };
            let _ = writeln!(
                text,
                "  {:longest$}  {model:12}  {arrived:>9}  {:>7.2} m  {left:>10}  {:>10}  {x:.2}, {y:.2}, {:.0}\u{b0}{}",
                objects.name[*row],
                count.way,
                count.collisions,
                heading.to_degrees() + 0.0,
                if objects.stop[*row] { "  stopped" } else { "" },
            );
        }
    }
}

fn plural(count: usize, word: &str) -> String {
    if count == 1 { format!("1 {word}") } else { format!("{count} {word}s") }
}

fn seconds(took: f64) -> String {
    if took < 1.0 { format!("{:.3} s", took) } else { format!("{took:.1} s") }
}

/// A number of three digits with its thousands apart.
fn grouped(value: f64) -> String {
    if value < 10.0 {
        return format!("{value:.1}");
    }
    let scale = 10_f64.powf((value.log10().floor() - 2.0).max(0.0));
    let digits = ((value / scale).round() * scale).to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        assert_eq!(grouped(2.34), "2.3");
        assert_eq!(grouped(123.4), "123");
        assert_eq!(grouped(45_678.0), "45 700");
        assert_eq!(grouped(1_234_567.0), "1 230 000");
        assert_eq!((plural(1, "robot"), plural(3, "robot")), ("1 robot".to_owned(), "3 robots".to_owned()));
    }
}
