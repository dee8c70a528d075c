//! Whatever a client sends, nothing panics, and robust mode answers with numbers.

use promenade_hunav::{
    Agent, Behavior, BehaviorKind, Configuration, Manager, ManagerVersion, ObstacleRule, Options, Request,
    Robot,
};
use proptest::prelude::*;

fn number() -> impl Strategy<Value = f64> {
    prop_oneof![
        8 => -4.0..4.0_f64,
        1 => Just(0.0),
        1 => Just(f64::NAN),
        1 => Just(f64::INFINITY),
        1 => Just(-1e300),
        1 => any::<f64>(),
    ]
}

fn point() -> impl Strategy<Value = [f64; 2]> {
    [number(), number()]
}

fn kind() -> impl Strategy<Value = BehaviorKind> {
    use BehaviorKind::*;
    prop::sample::select(vec![Regular, Impassive, Surprised, Scared, Curious, Threatening])
}

fn behavior() -> impl Strategy<Value = Behavior> {
    (kind(), 0_u8..3, any::<bool>(), prop::array::uniform7(number())).prop_map(
        |(kind, state, once, numbers)| {
            let [duration, vel, dist, social, goal, obstacle, other] = numbers;
            Behavior {
                kind,
                state,
                configuration: Configuration::Default,
                duration,
                once,
                vel,
                dist,
                social_force_factor: social,
                goal_force_factor: goal,
                obstacle_force_factor: obstacle,
                other_force_factor: other,
            }
        },
    )
}

fn agent() -> impl Strategy<Value = Agent> {
    let heads = (0..6_i32, -2..3_i8, any::<bool>(), behavior());
    let lists = (prop::collection::vec(point(), 0..3), prop::collection::vec(point(), 0..12));
    (heads, point(), point(), prop::array::uniform5(number()), lists).prop_map(
        |((id, group_id, cyclic_goals, behavior), position, velocity, numbers, (goals, closest_obs))| {
            let [yaw, desired_velocity, radius, angular_vel, goal_radius] = numbers;
            Agent {
                id,
                group_id,
                position,
                velocity,
                yaw,
                desired_velocity,
                radius,
                angular_vel,
                goal_radius,
                cyclic_goals,
                goals,
                closest_obs,
                behavior,
                ..Agent::default()
            }
        },
    )
}

fn robot() -> impl Strategy<Value = Robot> {
    (0..8_i32, -2..3_i8, point(), point(), prop::array::uniform4(number())).prop_map(
        |(id, group_id, position, velocity, [yaw, angular_vel, desired_velocity, radius])| Robot {
            id,
            name: String::new(),
            group_id,
            position,
            yaw,
            velocity,
            angular_vel,
            desired_velocity,
            radius,
        },
    )
}

#[derive(Clone, Debug)]
enum Call {
    Compute,
    Move(i32),
    Again(i32),
    Reset,
    Clear,
}

fn call() -> impl Strategy<Value = (Call, i64, Vec<Agent>, Robot)> {
    let call = prop_oneof![
        8 => Just(Call::Compute),
        2 => (0..7_i32).prop_map(Call::Move),
        2 => (0..7_i32).prop_map(Call::Again),
        1 => Just(Call::Reset),
        1 => Just(Call::Clear),
    ];
    let stamp = prop_oneof![6 => 0..2_000_000_000_i64, 1 => any::<i64>()];
    (call, stamp, prop::collection::vec(agent(), 0..7), robot())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 192, ..ProptestConfig::default() })]

    #[test]
    fn nothing_panics_and_robust_answers_are_numbers(
        calls in prop::collection::vec(call(), 1..12),
        strict in any::<bool>(),
        first in any::<bool>(),
        mean in any::<bool>(),
        most in number(),
    ) {
        let manager = if first { ManagerVersion::P1 } else { ManagerVersion::P15 };
        let obstacle = if mean { ObstacleRule::Mean } else { ObstacleRule::Sum };
        let base = if strict { Options::strict(manager) } else { Options { manager, ..Options::default() } };
        let mut manager = Manager::new(Options { obstacle, integrator_dt_max: most, ..base });
        let (mut answer, mut one) = (Vec::new(), Agent::default());
        for (call, stamp_ns, agents, robot) in &calls {
            let request = Request { stamp_ns: *stamp_ns, agents, robot };
            match call {
                Call::Compute => manager.compute_agents(&request, &mut answer),
                Call::Move(id) => assert!(manager.move_agent(&request, *id, &mut one) || manager.world().row_of(*id).is_none()),
                Call::Again(id) => assert!(manager.compute_agent(*id, &mut one) || manager.world().row_of(*id).is_none()),
                Call::Reset => manager.reset_agents(&request),
                Call::Clear => manager.clear_agents(),
            }
            if strict {
                continue;
            }
            for row in 0..manager.world().len() {
                let mut agent = Agent::default();
                manager.world().agent_into(row, &mut agent);
                let numbers = [agent.yaw, agent.linear_vel, agent.angular_vel];
                let all = agent.position.iter().chain(&agent.velocity).chain(&numbers);
                prop_assert!(all.clone().all(|value| value.is_finite()), "{agent:?}");
            }
        }
    }
}
