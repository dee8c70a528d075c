//! What comes from outside is refused by name or carried out; nothing panics and no state becomes something that is no number.

use promenade_crowd::{AgentParameters, Crowd, CrowdError, Settings, SpawnRequest, Wall};
use proptest::prelude::*;

fn number() -> impl Strategy<Value = f64> {
    prop_oneof![
        4 => -5.0..5.0_f64,
        1 => prop::num::f64::ANY,
        1 => Just(f64::NAN),
        1 => Just(1e7),
        1 => Just(0.0),
    ]
}

#[derive(Debug, Clone)]
enum Request {
    Spawn { id: i32, pose: [f64; 3], radius: f64, strength: f64, planner: usize },
    Navigate(i32, [f64; 2]),
    Remove(i32),
    Wall([f64; 4]),
    Step,
}

fn request() -> impl Strategy<Value = Request> {
    let id = -2..6_i32;
    prop_oneof![
        3 => (id.clone(), [number(), number(), number()], number(), number(), 0..6_usize).prop_map(
            |(id, pose, radius, strength, planner)| Request::Spawn { id, pose, radius, strength, planner }
        ),
        2 => (id.clone(), [number(), number()]).prop_map(|(id, target)| Request::Navigate(id, target)),
        1 => id.prop_map(Request::Remove),
        1 => [-5.0..5.0_f64, -5.0..5.0_f64, -5.0..5.0_f64, -5.0..5.0_f64].prop_map(Request::Wall),
        4 => Just(Request::Step),
    ]
}

fn carry_out(crowd: &mut Crowd, request: &Request) -> Result<(), CrowdError> {
    match request {
        Request::Spawn { id, pose, radius, strength, planner } => {
            let name = ["sfm", "hsfm", "helbing", "johansson", "straight", "none such"][*planner];
            let request = SpawnRequest {
                id: *id,
                pose: *pose,
                planner: Some(name.to_owned()),
                ..SpawnRequest::default()
            };
            let mut parameters = AgentParameters { radius: *radius, ..AgentParameters::unknown_type() };
            parameters.set_planner_value("repulsion_strength", *strength);
            crowd.spawn_with(&request, parameters).map(|_| ())
        }
        Request::Navigate(id, target) => crowd.navigate(*id, Some(*target)),
        Request::Remove(id) => crowd.remove(*id),
        Request::Wall([a, b, c, d]) => {
            crowd.add_walls([Wall { name: "wall".to_owned(), start: [*a, *b], end: [*c, *d] }])
        }
        Request::Step => {
            crowd.step();
            Ok(())
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn any_sequence_of_requests_leaves_numbers_behind(requests in prop::collection::vec(request(), 1..60)) {
        let mut crowd = Crowd::new(Settings::default()).expect("defaults hold");
        for request in &requests {
            if let Err(error) = carry_out(&mut crowd, request) {
                prop_assert!(!error.to_string().is_empty());
            }
        }
        (0..10).for_each(|_| crowd.step());
        let pool = crowd.pool();
        for column in [&pool.x, &pool.y, &pool.vx, &pool.vy, &pool.theta] {
            prop_assert!(column.iter().all(|value| value.is_finite()), "{column:?}");
        }
        for (row, id) in pool.id.iter().enumerate() {
            prop_assert_eq!(pool.row_of(*id), Some(row));
        }
    }
}
