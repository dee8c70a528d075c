use super::*;
use crate::registry::{Argument, Arguments};
use promenade_kernel::generator::Generator;
use std::sync::Arc;

fn model(name: &str, arguments: &Arguments, wheelbase: Option<f64>) -> Arc<dyn Model> {
    let entry = entries().into_iter().find(|entry| entry.name == name).expect("built in");
    (entry.make)(arguments, wheelbase).expect("valid arguments")
}

fn plain(name: &str) -> Arc<dyn Model> {
    model(name, &Arguments::default(), Some(1.6))
}

fn padded<const N: usize>(numbers: &[f64]) -> [f64; N] {
    std::array::from_fn(|i| numbers.get(i).copied().unwrap_or(0.0))
}

fn angular() -> Arc<dyn Model> {
    let mut arguments = Arguments::default();
    arguments.set("mode", Argument::Word("angular".into()));
    arguments.set("wheelbase", Argument::Number(1.6));
    model("acker", &arguments, Some(9.0))
}

#[test]
fn a_step_of_each_model_has_its_published_value() {
    type Case<'a> = (Arc<dyn Model>, &'a [f64], &'a [f64], &'a [f64]);
    let cases: [Case<'_>; 6] = [
        (plain("diff"), &[0.0, 0.0, 0.3], &[1.0, 0.5], &[0.095533649, 0.029552021, 0.35]),
        (plain("diff"), &[1.0, 2.0, 3.1], &[-0.5, 1.0], &[1.049956758, 1.997920967, -3.083185307]),
        (plain("acker"), &[1.0, 2.0, 0.4, 0.1], &[1.5, 0.3], &[1.138159149, 2.058412751, 0.409406376, 0.3]),
        (angular(), &[1.0, 2.0, 0.4, 0.1], &[1.5, 0.3], &[1.138159149, 2.058412751, 0.409406376, 0.13]),
        (plain("omni"), &[1.0, 2.0, 0.7], &[0.5, -0.2], &[1.051126463, 2.016914041, 0.7]),
        (plain("omni_angular"), &[1.0, 2.0, 0.7], &[0.5, -0.2, 0.9], &[1.051126463, 2.016914041, 0.79]),
    ];
    for (model, state, command, expected) in cases {
        let next = model.step(&padded(state), &padded(command), 0.1);
        for (found, expected) in next.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-9, "{}: {next:?}", model.name());
        }
    }
}

#[test]
fn a_wheelbase_of_the_kinematics_comes_before_the_shapes_and_that_before_one_metre() {
    assert_eq!(angular().wheelbase(), Some(1.6));
    assert_eq!(model("acker", &Arguments::default(), Some(2.0)).wheelbase(), Some(2.0));
    assert_eq!(model("acker", &Arguments::default(), None).wheelbase(), Some(1.0));
}

#[test]
fn noise_has_the_published_deviations_and_no_mean() {
    for (name, expected) in [("diff", [0.138, 0.087]), ("omni", [0.173, 0.174]), ("omni_angular", [0.173; 2])]
    {
        let model = plain(name);
        let deviations = model.deviations(&padded(&[0.8, 0.5]), model.default_alpha());
        let mut generator = Generator::seeded(5);
        for (number, expected) in expected.into_iter().enumerate() {
            let draws: Vec<f64> =
                (0..20_000).map(|_| deviations[number] * generator.standard_normal()).collect();
            let mean = draws.iter().sum::<f64>() / 20_000.0;
            let deviation = (draws.iter().map(|z| z * z).sum::<f64>() / 20_000.0).sqrt();
            assert!(mean.abs() < 0.005 && (deviation - expected).abs() < 0.003, "{name} {mean} {deviation}");
        }
    }
}

#[test]
fn a_twist_taken_gives_the_same_twist_back() {
    for model in [plain("diff"), plain("acker"), angular(), plain("omni"), plain("omni_angular")] {
        let sideways = if model.layout().translating == 2 { 0.2 } else { 0.0 };
        let turn = if model.name() == "omni" { 0.0 } else { -0.4 };
        let twist = [0.7, sideways, turn];
        let mut state = [1.0, 2.0, 0.5, 0.1, 0.0, 0.0];
        let velocity = model.take_twist(&mut state, twist);
        for (found, expected) in model.body_twist(&state, &velocity).iter().zip(twist) {
            assert!((found - expected).abs() < 1e-12, "{}", model.name());
        }
    }
    let mut state = [0.0, 0.0, 0.0, 0.3, 0.0, 0.0];
    assert_eq!(plain("acker").take_twist(&mut state, [0.0, 0.0, 1.0]), [0.0, 0.3, 0.0, 0.0]);
    assert!((state[3] - 0.3).abs() < 1e-15, "a car at rest tells nothing of its steering");
}

#[test]
fn a_change_of_velocity_becomes_the_part_a_model_can_follow() {
    let change = [0.3, -0.4];
    let [forward, side, ..] = plain("diff").to_command(0.5, change);
    assert!((forward - (0.3 * 0.5_f64.cos() - 0.4 * 0.5_f64.sin())).abs() < 1e-12 && side == 0.0);
    let omni = plain("omni");
    let command = omni.to_command(0.5, change);
    let back = omni.world_velocity(&padded(&[0.0, 0.0, 0.5]), &command);
    assert!((back[0] - 0.3).abs() < 1e-12 && (back[1] + 0.4).abs() < 1e-12);
}

#[test]
fn only_a_holonomic_body_travels_beside_its_heading() {
    let velocity = padded(&[0.0, 1.0]);
    let state = padded(&[0.0, 0.0, 0.2]);
    assert!(
        (plain("omni").travel_heading(&state, &velocity) - 0.2 - std::f64::consts::FRAC_PI_2).abs() < 1e-12
    );
    assert_eq!(plain("diff").travel_heading(&state, &velocity), 0.2);
    assert_eq!(plain("omni_angular").travel_heading(&state, &velocity), 0.2);
    assert_eq!(plain("omni").max_speed(&padded(&[3.0, 4.0])), 5.0);
}
