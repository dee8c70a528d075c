//! Social forces of a whole group whose members may walk together (robot-world specification, section 10.2; Moussaid et al. 2010).
//!
//! All members are evaluated from the same snapshot. Nothing here remembers more than who walks with whom.

use std::sync::Arc;

use super::sfm::{Forces, length, to_command};
use super::surroundings::{Disc, Drive, Ego, Surroundings, View, desired, distance};
use super::{GroupBehavior, GroupBehaviorFactory, Scratch, number, required};
use crate::Point;
use crate::kinematics::Command;
use crate::objects::Objects;
use crate::registry::{Argument, ArgumentError, Arguments, Entry, Kind, MakeGroupBehavior, Parameter};
use crate::world::Scene;

/// Numbers of those who walk together.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Together {
    coherence: f64,
    repulsion: f64,
    /// Metres; `None` = the sum of the radii.
    repulsion_threshold: Option<f64>,
    gaze: f64,
    /// Radians.
    vision_angle: f64,
}

/// The planner's numbers, from which one is made per world.
#[derive(Clone, Debug)]
struct Settings {
    forces: Forces,
    view: View,
    together: Together,
    /// Who walks with whom, as places among the members.
    groups: Vec<Vec<usize>>,
}

impl Settings {
    fn new(arguments: &Arguments, members: usize) -> Result<Self, ArgumentError> {
        let number = |name| required(arguments, name);
        let groups = arguments.groups("social_groups");
        check(groups, members)
            .map_err(|message| ArgumentError { key: "social_groups".to_owned(), message })?;
        Ok(Self {
            forces: Forces::new(arguments)?,
            view: View::new(arguments)?,
            together: Together {
                coherence: number("force_factor_coherence")?,
                repulsion: number("force_factor_group_repulsion")?,
                repulsion_threshold: arguments.number("group_repulsion_threshold"),
                gaze: number("force_factor_gaze")?,
                vision_angle: number("gaze_vision_angle")?.to_radians(),
            },
            groups: groups.to_vec(),
        })
    }
}

/// Whether everybody is in one group at most and belongs to the members.
fn check(groups: &[Vec<usize>], members: usize) -> Result<(), String> {
    let mut taken: Vec<Option<usize>> = vec![None; members];
    for (number, group) in groups.iter().enumerate() {
        for &member in group {
            match taken.get_mut(member) {
                None if members == 0 => return Err("the group has no members".to_owned()),
                None => {
                    return Err(format!(
                        "[{number}] names member {member}; the group's members are 0 to {}",
                        members - 1
                    ));
                }
                Some(Some(first)) => {
                    return Err(format!(
                        "member {member} is in [{first}] and again in [{number}]; each member may be named once"
                    ));
                }
                Some(free) => *free = Some(number),
            }
        }
    }
    Ok(())
}

impl GroupBehaviorFactory for Settings {
    fn name(&self) -> &str {
        "sfm"
    }

    fn reach(&self) -> f64 {
        self.view.threshold
    }

    fn make(&self, _objects: &Objects, members: &[u32]) -> Box<dyn GroupBehavior> {
        let ids =
            |group: &Vec<usize>| group.iter().filter_map(|&place| members.get(place).copied()).collect();
        let mut mates: Vec<(u32, usize)> = Vec::new();
        let groups: Vec<Vec<u32>> = self.groups.iter().map(ids).collect();
        for (number, group) in groups.iter().enumerate() {
            mates.extend(group.iter().map(|&id| (id, number)));
        }
        mates.sort_unstable();
        Box::new(SocialGroups { settings: self.clone(), groups, group_of: mates })
    }
}

/// The planner of a group.
#[derive(Debug)]
struct SocialGroups {
    settings: Settings,
    /// Ids of those who walk together.
    groups: Vec<Vec<u32>>,
    /// The number of everybody's group, by id.
    group_of: Vec<(u32, usize)>,
}

impl GroupBehavior for SocialGroups {
    fn plan(
        &mut self,
        scene: &Scene<'_>,
        members: &[u32],
        scratch: &mut Scratch,
        commands: &mut Vec<Command>,
    ) {
        commands.clear();
        let objects = scene.objects;
        let dt = scene.settings.step_time;
        // Members are seen where their states are, and found where their centroids are.
        let offset = rows(objects, members)
            .map(|row| distance(position(objects, row), objects.centroid[row]))
            .fold(0.0, f64::max);
        for &id in members {
            let Ok(row) = objects.id.binary_search(&id) else {
                commands.push(Command::default());
                continue;
            };
            self.look(scene, members, row, offset, scratch);
            let Surroundings { discs, walls, .. } = &scratch.surroundings;
            let ego = Ego::new(objects, row);
            let forces = &self.settings.forces;
            let drive = Drive::of_row(objects, row);
            let wish = desired(objects, row, drive).unwrap_or_default();
            let alone = forces.acceleration(&ego, forces.at_speed(wish), discs, walls);
            let together = self.together(objects, id, &ego);
            let acceleration = [0, 1].map(|axis| alone[axis] + together[axis]);
            let velocity = forces.velocity(&ego, acceleration, dt);
            commands.push(to_command(objects, row, drive, velocity, dt));
        }
    }
}

fn position(objects: &Objects, row: usize) -> Point {
    [objects.state[row][0], objects.state[row][1]]
}

fn rows<'a>(objects: &'a Objects, ids: &'a [u32]) -> impl Iterator<Item = usize> + 'a {
    ids.iter().filter_map(|id| objects.id.binary_search(id).ok())
}

impl SocialGroups {
    fn look(&self, scene: &Scene<'_>, members: &[u32], row: usize, offset: f64, scratch: &mut Scratch) {
        let objects = scene.objects;
        let view = &self.settings.view;
        let Scratch { neighbors, surroundings, .. } = scratch;
        let from = position(objects, row);
        scene.neighbors_within(from, view.threshold + offset, neighbors);
        surroundings.discs.clear();
        for neighbor in neighbors.iter().map(|&neighbor| neighbor as usize) {
            let is_member = members.binary_search(&objects.id[neighbor]).is_ok();
            if neighbor == row || !(is_member || view.takes_disc(objects, neighbor)) {
                continue;
            }
            let mut disc = Disc::new(objects, neighbor);
            if is_member {
                disc.center = position(objects, neighbor);
            }
            if distance(disc.center, from) <= view.threshold {
                surroundings.discs.push(disc);
            }
        }
        surroundings.look_for_walls(scene, view, row);
    }

    /// Acceleration by those who walk with `id`, m/s^2.
    fn together(&self, objects: &Objects, id: u32, ego: &Ego) -> Point {
        let mut acceleration = [0.0; 2];
        let Ok(place) = self.group_of.binary_search_by_key(&id, |(id, _)| *id) else {
            return acceleration;
        };
        let Together { coherence, repulsion, repulsion_threshold, gaze, vision_angle } =
            self.settings.together;
        let (mut sum, mut mates) = ([0.0; 2], 0.0);
        for row in rows(objects, &self.groups[self.group_of[place].1]) {
            if objects.id[row] == id {
                continue;
            }
            let mate = position(objects, row);
            let threshold =
                repulsion_threshold.unwrap_or_else(|| ego.radius + Disc::new(objects, row).radius);
            if distance(mate, ego.position) < threshold {
                for axis in [0, 1] {
                    acceleration[axis] += repulsion * (ego.position[axis] - mate[axis]);
                }
            }
            sum = [0, 1].map(|axis| sum[axis] + mate[axis]);
            mates += 1.0;
        }
        if mates == 0.0 {
            return acceleration;
        }
        let to_center =
            [0, 1].map(|axis| (sum[axis] + ego.position[axis]) / (mates + 1.0) - ego.position[axis]);
        let pull = coherence * ((length(to_center) - mates / 2.0).tanh() + 1.0) / 2.0;
        let to_mates = [0, 1].map(|axis| sum[axis] / mates - ego.position[axis]);
        let velocity = ego.velocity;
        let angle = (velocity[0] * to_mates[1] - velocity[1] * to_mates[0])
            .atan2(velocity[0] * to_mates[0] + velocity[1] * to_mates[1])
            .abs();
        let slowing = if angle > vision_angle { gaze * (angle - vision_angle) } else { 0.0 };
        [0, 1].map(|axis| acceleration[axis] + pull * to_center[axis] - slowing * velocity[axis])
    }
}

/// The planner, as a file may name it.
pub(super) fn entry() -> Entry<MakeGroupBehavior> {
    const ANY: f64 = f64::MAX;
    let mut parameters = Forces::parameters();
    parameters.extend(View::parameters(10.0));
    parameters.extend([
        Parameter { name: "social_groups", kind: Kind::Groups, default: Some(Argument::Groups(Vec::new())) },
        number("force_factor_coherence", 2.0, -ANY, ANY),
        number("force_factor_group_repulsion", 1.0, -ANY, ANY),
        Parameter {
            name: "group_repulsion_threshold",
            kind: Kind::Number { min: 0.0, max: ANY, above: false },
            default: None,
        },
        number("force_factor_gaze", 3.0, -ANY, ANY),
        Parameter {
            kind: Kind::Number { min: 0.0, max: 180.0, above: true },
            ..number("gaze_vision_angle", 90.0, 0.0, 0.0)
        },
    ]);
    Entry {
        name: "sfm",
        kinematics: &["diff", "omni"],
        parameters,
        make: Arc::new(|arguments, _, members| Ok(Arc::new(Settings::new(arguments, members)?))),
    }
}
