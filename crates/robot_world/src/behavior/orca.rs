//! Optimal reciprocal collision avoidance among the members of a group (robot-world specification, section 10.1; van den Berg, Guy, Lin &
//! Manocha 2011).
//!
//! All members plan from the same snapshot; what one remembers is the velocity it last planned.

use std::sync::Arc;

use super::half_planes::{HalfPlane, cross, dot, minus, nearest, plus, unit};
use super::sfm::length;
use super::surroundings::{Drive, to_goal};
use super::to_diff::{ToDiff, to_omni};
use super::{GroupBehavior, GroupBehaviorFactory, Scratch, number, positive, required};
use crate::Point;
use crate::kinematics::Command;
use crate::objects::Objects;
use crate::registry::{ArgumentError, Arguments, Entry, Kind, MakeGroupBehavior, Parameter};
use crate::world::Scene;

/// An omnidirectional member this near to its goal wants to stand, metres.
const AT_GOAL: f64 = 0.1;

/// Numbers of the planner.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Settings {
    /// Members further away are not seen, metres.
    neighbor_distance: f64,
    /// The nearest of them count.
    most_neighbors: usize,
    /// Seconds without a collision.
    time_horizon: f64,
    /// Added to every radius, metres.
    safe_radius: f64,
    /// m/s.
    most_speed: Option<f64>,
}

impl Settings {
    fn new(arguments: &Arguments) -> Result<Self, ArgumentError> {
        let number = |name| required(arguments, name);
        let most_neighbors = number("maxNeighbors")?;
        if most_neighbors.fract() != 0.0 {
            return Err(ArgumentError {
                key: "maxNeighbors".to_owned(),
                message: format!("expected a whole number, got {most_neighbors}"),
            });
        }
        Ok(Self {
            neighbor_distance: number("neighborDist")?,
            most_neighbors: most_neighbors as usize,
            time_horizon: number("timeHorizon")?,
            safe_radius: number("safe_radius")?,
            most_speed: arguments.number("maxSpeed"),
        })
    }

    /// The speed a member keeps to.
    fn speed(&self, drive: Drive, vel_max: &Command) -> f64 {
        let own = match drive {
            Drive::Diff => vel_max[0],
            Drive::Omni => vel_max[0].min(vel_max[1]),
        };
        self.most_speed.map_or(own, |most| most.min(own)).clamp(0.0, super::surroundings::FASTEST)
    }
}

impl GroupBehaviorFactory for Settings {
    fn name(&self) -> &str {
        "orca"
    }

    fn make(&self, _objects: &Objects, members: &[u32]) -> Box<dyn GroupBehavior> {
        let velocities = members.iter().map(|&id| (id, [0.0; 2])).collect();
        Box::new(Orca { settings: *self, velocities })
    }
}

/// One member in a step.
#[derive(Clone, Copy, Debug)]
struct Agent {
    /// Place among the members.
    member: usize,
    row: usize,
    drive: Drive,
    position: Point,
    velocity: Point,
    wanted: Point,
    speed: f64,
    radius: f64,
}

/// Memory of a step.
#[derive(Debug, Default)]
pub(super) struct Buffers {
    agents: Vec<Agent>,
    /// x coordinates, ascending, and places among the agents.
    by_x: Vec<(f64, usize)>,
    /// Squares of distances, and places among the agents.
    nearest: Vec<(f64, usize)>,
    planes: Vec<HalfPlane>,
    projected: Vec<HalfPlane>,
}

/// The planner of a group.
#[derive(Debug)]
struct Orca {
    settings: Settings,
    /// What was planned last, by id in ascending order.
    velocities: Vec<(u32, Point)>,
}

impl GroupBehavior for Orca {
    fn plan(
        &mut self,
        scene: &Scene<'_>,
        members: &[u32],
        scratch: &mut Scratch,
        commands: &mut Vec<Command>,
    ) {
        commands.clear();
        commands.resize(members.len(), Command::default());
        let Buffers { agents, by_x, nearest: near, planes, projected } = &mut scratch.orca;
        self.keep(members);
        self.gather(scene.objects, agents);
        by_x.clear();
        by_x.extend(agents.iter().enumerate().map(|(place, agent)| (agent.position[0], place)));
        by_x.sort_unstable_by(|(a, _), (b, _)| a.total_cmp(b));
        let dt = scene.settings.step_time;
        for (place, agent) in agents.iter().enumerate() {
            self.find_nearest(agents, place, by_x, near);
            planes.clear();
            planes.extend(
                near.iter()
                    .map(|&(_, other)| half_plane(agent, &agents[other], self.settings.time_horizon, dt)),
            );
            let velocity = nearest(planes, agent.speed, agent.wanted, projected);
            self.velocities[agent.member].1 = velocity;
            commands[agent.member] = command(scene.objects, agent, velocity, dt);
        }
    }
}

impl Orca {
    /// Forgets who is gone; who is new begins at rest.
    fn keep(&mut self, members: &[u32]) {
        if self.velocities.iter().map(|(id, _)| id).eq(members) {
            return;
        }
        let known = std::mem::take(&mut self.velocities);
        let velocity = |id| known.binary_search_by_key(&id, |(id, _)| *id).map_or([0.0; 2], |at| known[at].1);
        self.velocities = members.iter().map(|&id| (id, velocity(id))).collect();
    }

    fn gather(&self, objects: &Objects, agents: &mut Vec<Agent>) {
        agents.clear();
        agents.extend(self.velocities.iter().enumerate().filter_map(|(member, &(id, velocity))| {
            let row = objects.id.binary_search(&id).ok()?;
            let drive = Drive::of_row(objects, row);
            let speed = self.settings.speed(drive, &objects.vel_max[row]);
            let wanted = match to_goal(objects, row) {
                Some((distance, bearing)) if drive == Drive::Diff || distance > AT_GOAL => {
                    let (sine, cosine) = bearing.sin_cos();
                    [speed * cosine, speed * sine]
                }
                _ => [0.0; 2],
            };
            Some(Agent {
                member,
                row,
                drive,
                position: [objects.state[row][0], objects.state[row][1]],
                velocity,
                wanted,
                speed,
                radius: objects.shape[row].radius + self.settings.safe_radius,
            })
        }));
    }

    /// The nearest other members, nearest first, those of equal distance in their order. `by_x` are all members from left to right.
    fn find_nearest(
        &self,
        agents: &[Agent],
        place: usize,
        by_x: &[(f64, usize)],
        near: &mut Vec<(f64, usize)>,
    ) {
        near.clear();
        let most = self.settings.most_neighbors;
        let here = agents[place].position;
        let mut range = self.settings.neighbor_distance * self.settings.neighbor_distance;
        let middle = by_x.partition_point(|&(x, _)| x < here[0]);
        let (mut left, mut right) =
            (by_x[..middle].iter().rev().peekable(), by_x[middle..].iter().peekable());
        loop {
            let gap = |side: Option<&&(f64, usize)>| side.map_or(f64::INFINITY, |(x, _)| (x - here[0]).abs());
            let (left_gap, right_gap) = (gap(left.peek()), gap(right.peek()));
            let nearer = if left_gap < right_gap { left.next() } else { right.next() };
            let Some(&(x, other)) = nearer else { return };
            if (x - here[0]) * (x - here[0]) > range {
                return;
            }
            let to = minus(agents[other].position, here);
            let square = dot(to, to);
            let after = near.partition_point(|known| *known < (square, other));
            if other == place || after == most || (near.len() < most && square >= range) {
                continue;
            }
            near.truncate(most - 1);
            near.insert(after, (square, other));
            if near.len() == most {
                range = near[most - 1].0;
            }
        }
    }
}

/// The command that takes up `velocity` as well as the drive can.
fn command(objects: &Objects, agent: &Agent, velocity: Point, dt: f64) -> Command {
    let heading = objects.state[agent.row][2];
    match agent.drive {
        Drive::Omni => to_omni(heading, velocity),
        Drive::Diff => {
            let most_yaw_rate = objects.vel_max[agent.row][1];
            ToDiff { most_yaw_rate, horizon: dt, tolerance: 0.1 }.command(heading, velocity)
        }
    }
}

/// What `other` forbids to `agent`, which takes half of what has to change.
fn half_plane(agent: &Agent, other: &Agent, time_horizon: f64, dt: f64) -> HalfPlane {
    let p = minus(other.position, agent.position);
    let q = minus(agent.velocity, other.velocity);
    let radius = agent.radius + other.radius;
    let apart = dot(p, p) > radius * radius;
    let horizon = if apart { time_horizon } else { dt };
    let w = plus(q, -1.0 / horizon, p);
    let inward = dot(w, p);
    let (direction, change) = if !apart || (inward < 0.0 && inward * inward > radius * radius * dot(w, w)) {
        let outward = unit(w);
        let share = radius / horizon - length(w);
        ([outward[1], -outward[0]], outward.map(|axis| axis * share))
    } else {
        let square = dot(p, p);
        let leg = (square - radius * radius).sqrt();
        let direction = if cross(p, w) > 0.0 {
            [(p[0] * leg - p[1] * radius) / square, (p[0] * radius + p[1] * leg) / square]
        } else {
            [-(p[0] * leg + p[1] * radius) / square, -(-p[0] * radius + p[1] * leg) / square]
        };
        let along = dot(q, direction);
        (direction, [0, 1].map(|axis| along * direction[axis] - q[axis]))
    };
    HalfPlane { point: plus(agent.velocity, 0.5, change), direction }
}

/// The planner, as a file may name it.
pub(super) fn entry() -> Entry<MakeGroupBehavior> {
    Entry {
        name: "orca",
        kinematics: &["diff", "omni"],
        parameters: vec![
            number("neighborDist", 15.0, 0.0, f64::MAX),
            number("maxNeighbors", 10.0, 0.0, 1e6),
            positive("timeHorizon", 20.0),
            positive("timeHorizonObst", 10.0),
            number("safe_radius", 0.1, 0.0, f64::MAX),
            Parameter {
                name: "maxSpeed",
                kind: Kind::Number { min: 0.0, max: f64::MAX, above: false },
                default: None,
            },
        ],
        make: Arc::new(|arguments, _, _| Ok(Arc::new(Settings::new(arguments)?))),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn agent(member: usize, position: Point, velocity: Point) -> Agent {
        let (wanted, drive) = ([1.0, 0.0], Drive::Omni);
        Agent { member, row: member, drive, position, velocity, wanted, speed: 1.0, radius: 0.5 }
    }

    fn settings(neighbor_distance: f64, most_neighbors: usize) -> Orca {
        let settings = Settings {
            neighbor_distance,
            most_neighbors,
            time_horizon: 4.0,
            safe_radius: 0.1,
            most_speed: None,
        };
        Orca { settings, velocities: Vec::new() }
    }

    proptest! {
        #[test]
        fn the_nearest_members_are_those_of_a_plain_search(
            places in prop::collection::vec([-3i8..4, -3i8..4], 1..40),
            most in 0usize..12,
            range in 0.0..5.0,
        ) {
            let agents: Vec<_> = places
                .iter()
                .enumerate()
                .map(|(member, place)| agent(member, place.map(f64::from), [0.0; 2]))
                .collect();
            let mut by_x: Vec<_> = agents.iter().map(|agent| (agent.position[0], agent.member)).collect();
            by_x.sort_by(|(a, _), (b, _)| a.total_cmp(b));
            let mut found = Vec::new();
            for place in 0..agents.len() {
                settings(range, most).find_nearest(&agents, place, &by_x, &mut found);
                let mut expected: Vec<_> = agents
                    .iter()
                    .filter(|agent| agent.member != place)
                    .map(|agent| {
                        let to = minus(agent.position, agents[place].position);
                        (dot(to, to), agent.member)
                    })
                    .filter(|(square, _)| *square < range * range)
                    .collect();
                expected.sort_by(|a, b| a.partial_cmp(b).unwrap());
                expected.truncate(most);
                prop_assert_eq!(&found, &expected);
            }
        }

        #[test]
        fn two_that_take_their_halves_of_the_change_do_not_meet_within_the_horizon(
            p in [-4.0..4.0, -4.0..4.0f64],
            velocities in [[-1.0..1.0, -1.0..1.0f64], [-1.0..1.0, -1.0..1.0f64]],
        ) {
            prop_assume!(length(p) > 1.05);
            let (a, b) = (agent(0, [0.0; 2], velocities[0]), agent(1, p, velocities[1]));
            let planes = [half_plane(&a, &b, 4.0, 0.1), half_plane(&b, &a, 4.0, 0.1)];
            let taken = [0, 1].map(|who| nearest(&planes[who..=who], 10.0, velocities[who], &mut Vec::new()));
            let relative = minus(taken[0], taken[1]);
            let along = (dot(p, relative) / dot(relative, relative).max(1e-12)).clamp(0.0, 4.0);
            let closest = length(minus(p, relative.map(|axis| axis * along)));
            prop_assert!(closest > 1.0 - 1e-9, "{closest}");
        }
    }

    #[test]
    fn those_who_overlap_are_apart_after_a_step() {
        let (a, b) = (agent(0, [0.0; 2], [0.0; 2]), agent(1, [0.8, 0.0], [0.0; 2]));
        let velocity = nearest(&[half_plane(&a, &b, 4.0, 0.1)], 10.0, [0.0; 2], &mut Vec::new());
        // 0.2 m too near, half of it each, in 0.1 s.
        assert!((velocity[0] + 1.0).abs() < 1e-12 && velocity[1].abs() < 1e-12, "{velocity:?}");
    }

    #[test]
    fn one_who_stands_exactly_in_another_gets_a_finite_velocity() {
        let a = agent(0, [0.0; 2], [0.0; 2]);
        let velocity = nearest(&[half_plane(&a, &a, 4.0, 0.1)], 1.0, [0.5, 0.5], &mut Vec::new());
        assert!(velocity.iter().all(|axis| axis.is_finite()), "{velocity:?}");
    }
}
