//! The configuration modes of a loader (section 4.3).

use promenade_kernel::generator::Generator;

use crate::agent::{Behavior, Configuration};

/// Range of the extra push away from the robot, in every mode but the custom one.
const OTHER: [f64; 2] = [0.0, 25.0];

/// Sets the factors as the mode of the behaviour says. Draws follow from the seed and the id of the agent, so that an agent is the same
/// whoever else there is.
pub fn configure(behavior: &mut Behavior, seed: u64, id: i32) {
    let mut draw = Generator::named(seed.cast_signed(), &format!("hunav/{id}"));
    let mut normal = |mean: f64, deviation: f64| mean + deviation * draw.standard_normal();
    let [goal, obstacle, social] = match behavior.configuration {
        Configuration::Custom => return,
        Configuration::Default => [2.0, 10.0, 5.0],
        Configuration::RandomNormal => {
            [normal(2.0, 1.5).max(0.5), normal(10.0, 4.0).max(0.5), normal(4.0, 3.5).max(3.0)]
        }
        Configuration::RandomUniform => {
            [draw.uniform(2.0, 5.0), draw.uniform(2.0, 50.0), draw.uniform(4.0, 20.0)]
        }
    };
    behavior.goal_force_factor = goal;
    behavior.obstacle_force_factor = obstacle;
    behavior.social_force_factor = social;
    // The original tests the social factor against the upper end by mistake.
    behavior.other_force_factor = behavior.other_force_factor.clamp(OTHER[0], OTHER[1]);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(configuration: Configuration) -> Vec<Behavior> {
        let draw = |id| {
            let mut behavior = Behavior { configuration, other_force_factor: 99.0, ..Behavior::default() };
            configure(&mut behavior, 7, id);
            behavior
        };
        (1..=1000).map(draw).collect()
    }

    fn factors(behavior: &Behavior) -> [f64; 3] {
        [behavior.goal_force_factor, behavior.obstacle_force_factor, behavior.social_force_factor]
    }

    #[test]
    fn each_mode_keeps_to_its_ranges_and_floors() {
        for behavior in drawn(Configuration::RandomUniform) {
            let [goal, obstacle, social] = factors(&behavior);
            assert!((2.0..=5.0).contains(&goal), "{goal}");
            assert!((2.0..=50.0).contains(&obstacle), "{obstacle}");
            assert!((4.0..=20.0).contains(&social), "{social}");
            assert_eq!(behavior.other_force_factor, 25.0);
        }
        let normal = drawn(Configuration::RandomNormal);
        for behavior in &normal {
            let [goal, obstacle, social] = factors(behavior);
            assert!(goal >= 0.5 && obstacle >= 0.5 && social >= 3.0, "{behavior:?}");
        }
        for (at, floor) in [(0, 0.5), (2, 3.0)] {
            assert!(
                normal.iter().any(|behavior| factors(behavior)[at] == floor),
                "a floor that nobody meets"
            );
        }
        let mean = |at: usize| normal.iter().map(|b| factors(b)[at]).sum::<f64>() / 1000.0;
        // The floors of the goal and social factor push their means up; that of the obstacle factor is 2.4 deviations away.
        assert!((mean(1) - 10.0).abs() < 0.5, "{}", mean(1));
        for behavior in drawn(Configuration::Default) {
            assert_eq!(factors(&behavior), [2.0, 10.0, 5.0]);
        }
        for behavior in drawn(Configuration::Custom) {
            let kept = Behavior {
                configuration: Configuration::Custom,
                other_force_factor: 99.0,
                ..Behavior::default()
            };
            assert_eq!(behavior, kept);
        }
    }

    #[test]
    fn a_draw_follows_from_seed_and_id() {
        let draw = |seed, id| {
            let mut behavior =
                Behavior { configuration: Configuration::RandomUniform, ..Behavior::default() };
            configure(&mut behavior, seed, id);
            factors(&behavior)
        };
        assert_eq!(draw(3, 1), draw(3, 1));
        assert_ne!(draw(3, 1), draw(3, 2));
        assert_ne!(draw(3, 1), draw(4, 1));
    }
}
