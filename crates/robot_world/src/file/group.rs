//! Groups of objects: their numbers, how many objects they have, how these are spread over the world (robot-world specification, sections 3.1 and
//! 3.2).

use std::collections::{BTreeMap, BTreeSet};
use std::f64::consts::PI;

use promenade_scenario::decode::Fields;
use promenade_scenario::tree::{Node, Value};

use super::object::OBJECT_KEYS;
use super::settings::WorldBlock;
use super::value::{At, Column, Limit, Strictness, is_vector};
use super::{MAX_OBJECTS, Reader};
use crate::spec::{Distribution, Goal, GroupSpec, ObjectSpec, Role};

const DISTRIBUTION_KEYS: [&str; 8] =
    ["name", "range_low", "range_high", "min_distance", "check_overlap", "center", "radius", "3d"];
const DISTRIBUTIONS: [(&str, Spread); 3] =
    [("manual", Spread::Manual), ("random", Spread::Random), ("circle", Spread::Circle)];
/// Colours that `color: cycle` hands out.
const PALETTE: [&str; 8] =
    ["#009E73", "#0072B2", "#E69F00", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#117733"];
/// Largest group number.
const MAX_GROUP: i64 = 1_000_000_000;
/// Goal of an object whose file gives none.
const DEFAULT_GOAL: Goal = Goal { position: [1.0, 9.0], heading: Some(0.0) };

#[derive(Clone, Copy)]
enum Spread {
    Manual,
    Random,
    Circle,
}

/// A mapping under `robot` or `obstacle` before its objects are read.
pub(super) struct Group<'a> {
    pub(super) fields: Fields<'a>,
    pub(super) role: Role,
    /// Group number.
    pub(super) number: i64,
    /// How many objects.
    pub(super) count: usize,
}

impl<'a> Reader<'_> {
    /// All groups, those of robots first.
    pub(super) fn groups(&mut self, fields: &Fields<'a>, world: &WorldBlock) -> Vec<GroupSpec> {
        let mut groups: Vec<Group<'a>> = Vec::new();
        for (key, role) in [("robot", Role::Robot), ("obstacle", Role::Obstacle)] {
            let first = groups.iter().map(|group| group.number + 1).max().unwrap_or(0);
            for (i, at) in self.mappings(fields, key).into_iter().enumerate() {
                let Some(fields) = self.d.fields(at.node, &at.path, "a group of objects", &[]) else {
                    continue;
                };
                let number = self.value(&fields, "group", |r, n, p| r.count(n, p, 0, MAX_GROUP));
                let count = self
                    .value(&fields, "number", |r, n, p| r.count(n, p, 0, MAX_OBJECTS as i64))
                    .unwrap_or(1);
                let number = number.unwrap_or(first + i as i64);
                if let Some(other) = groups.iter().find(|other| other.number == number && other.role != role)
                {
                    let message = format!(
                        "{number} is the group of {}; a group never mixes roles",
                        other.fields.path()
                    );
                    self.d.error(fields.key_at("group"), &fields.path_of("group"), message);
                }
                groups.push(Group { fields, role, number, count: count as usize });
            }
        }
        self.bound_objects(&mut groups);
        let mut members: BTreeMap<i64, usize> = BTreeMap::new();
        for group in &groups {
            *members.entry(group.number).or_default() += group.count;
        }
        let mut seen = BTreeSet::new();
        let mut cycled = 0;
        let spec = |group: Group<'a>| {
            let is_first = seen.insert(group.number);
            self.group(&group, world, is_first.then(|| members[&group.number]), &mut cycled)
        };
        groups.into_iter().map(spec).collect()
    }

    /// A mapping, or a list of them.
    fn mappings(&mut self, fields: &Fields<'a>, key: &str) -> Vec<At<'a>> {
        let Some(node) = fields.get(key) else { return Vec::new() };
        let path = fields.path_of(key);
        match &node.value {
            Value::Map(_) => vec![At { node, path }],
            Value::List(items) => {
                items.iter().enumerate().map(|(i, node)| At { node, path: format!("{path}[{i}]") }).collect()
            }
            _ => {
                self.d.mismatch(node, &path, "a mapping or a list of mappings");
                Vec::new()
            }
        }
    }

    fn bound_objects(&mut self, groups: &mut [Group<'a>]) {
        let mut left = MAX_OBJECTS;
        for group in groups {
            if group.count > left {
                let message = format!("more than {MAX_OBJECTS} objects in all groups together");
                self.d.error(group.fields.key_at("number"), &group.fields.path_of("number"), message);
                group.count = left;
            }
            left -= group.count;
        }
    }

    /// One group; `members` are those of all mappings of its number, `None` when an earlier mapping has the number.
    fn group(
        &mut self,
        group: &Group<'a>,
        world: &WorldBlock,
        members: Option<usize>,
        cycled: &mut usize,
    ) -> GroupSpec {
        let fields = &group.fields;
        self.finish(fields, &OBJECT_KEYS, Strictness::Lenient);
        let (distribution, check_overlap) = self.distribution(fields, world);
        let shared = self.group_behavior_entry(fields);
        let mut objects = self.objects(group, world, &distribution, shared.as_ref());
        let mut group_behavior = None;
        if let Some(at) = shared {
            let models = objects.iter().map(|object| object.model.as_deref().map(|model| model.name()));
            let models: BTreeSet<Option<&str>> = models.collect();
            let models: Vec<Option<&str>> = models.into_iter().collect();
            let unclear = fields.get("kinematics").is_some() && models.contains(&None);
            match members {
                None => {
                    let message =
                        format!("has no effect: an earlier mapping of group {} decides", group.number);
                    self.d.warning(at.node.at, &at.path, message);
                }
                Some(members) if !unclear => group_behavior = self.group_behavior(&at, &models, members),
                Some(_) => {}
            }
        }
        self.fill(group, &mut objects, cycled);
        GroupSpec {
            group: group.number,
            role: group.role,
            at: fields.at,
            path: fields.path().to_owned(),
            distribution,
            check_overlap,
            group_behavior,
            objects,
        }
    }

    /// The group behaviour of the first object.
    fn group_behavior_entry(&mut self, fields: &Fields<'a>) -> Option<At<'a>> {
        let at = |_: &mut Self, node: &'a Node, path: &str| Some(At { node, path: path.to_owned() });
        self.column(fields, "group_behavior", 1, false, at).get(0).cloned()
    }

    /// As many objects as the group has: what was read, then copies of the last.
    fn fill(&mut self, group: &Group<'a>, objects: &mut Vec<ObjectSpec>, cycled: &mut usize) {
        objects.truncate(group.count);
        if let Some(last) = objects.last() {
            let copies = group.count - objects.len();
            let of = |size: fn(&ObjectSpec) -> usize| {
                objects.iter().map(size).sum::<usize>().saturating_add(copies.saturating_mul(size(last)))
            };
            let goals = of(|object| object.goals.len());
            let beams = of(|object| object.sensors.iter().map(|sensor| sensor.number).sum());
            if goals > self.left.goals || beams > self.left.beams {
                let (goals, beams) = (super::MAX_GOALS, super::MAX_BEAMS);
                let message = format!("more than {goals} goals or {beams} beams in the whole file");
                self.d.error(group.fields.at, group.fields.path(), message);
            } else {
                (self.left.goals, self.left.beams) = (self.left.goals - goals, self.left.beams - beams);
                let last = last.clone();
                objects.resize(group.count, last);
            }
        }
        for object in objects.iter_mut().filter(|object| object.drawing.color.as_deref() == Some("cycle")) {
            object.drawing.color = Some(PALETTE[*cycled % PALETTE.len()].to_owned());
            *cycled += 1;
        }
    }

    fn distribution(&mut self, group: &Fields<'a>, world: &WorldBlock) -> (Distribution, bool) {
        let mut check_overlap = self.flag_or(group, "check_overlap", true);
        let Some(node) = group.get("distribution") else { return (Distribution::Manual, check_overlap) };
        let Some(fields) = self.d.fields(node, &group.path_of("distribution"), "a distribution", &[]) else {
            return (Distribution::Manual, check_overlap);
        };
        self.finish(&fields, &DISTRIBUTION_KEYS, Strictness::Lenient);
        let kind = self.value(&fields, "name", |r, n, p| r.choice(n, p, "distribution", &DISTRIBUTIONS));
        check_overlap = self.flag_or(&fields, "check_overlap", check_overlap);
        if self.flag_or(&fields, "3d", false) {
            self.d.error(
                fields.key_at("3d"),
                &fields.path_of("3d"),
                "is not supported: the world is a plane",
            );
        }
        let settings = &world.settings;
        let ([x, y], [width, height]) = (settings.offset, [settings.width, settings.height]);
        let array = |r: &mut Self, key: &str| r.value(&fields, key, |r, n, p| r.array(n, p, Limit::Any));
        let distribution = match kind.unwrap_or(Spread::Manual) {
            Spread::Manual => Distribution::Manual,
            Spread::Random => Distribution::Random {
                low: array(self, "range_low").unwrap_or([x + 0.5, y + 0.5, -PI]),
                high: array(self, "range_high").unwrap_or([x + width - 0.5, y + height - 0.5, PI]),
                min_distance: self.number_or(&fields, "min_distance", Limit::NonNegative, 1.0),
            },
            Spread::Circle => Distribution::Circle {
                center: self
                    .value(&fields, "center", Self::circle_center)
                    .unwrap_or([x + width / 2.0, y + height / 2.0]),
                radius: self.number_or(&fields, "radius", Limit::NonNegative, width.min(height) / 2.0 - 0.5),
            },
        };
        (distribution, check_overlap)
    }

    /// x and y; a heading after them means nothing.
    fn circle_center(&mut self, node: &'a Node, path: &str) -> Option<[f64; 2]> {
        let numbers = self.numbers(node, path, Limit::Any)?;
        if let [x, y] | [x, y, _] = numbers[..] {
            return Some([x, y]);
        }
        self.d.mismatch(node, path, "a list of 2 numbers");
        None
    }

    /// Goals of each object. With one object a list of poses is its way-points; a list of such lists has one entry per object.
    pub(super) fn goals(&mut self, fields: &Fields<'a>, count: usize) -> Column<Vec<Goal>> {
        let Some(node) = fields.get("goal") else {
            let default = if fields.has("goal") { vec![] } else { vec![DEFAULT_GOAL] };
            return Column::shared(Some(default));
        };
        let is_way = count == 1 && node.items().and_then(<[Node]>::first).is_some_and(is_vector);
        if is_way {
            return Column::shared(self.way(node, &fields.path_of("goal")));
        }
        self.column(fields, "goal", count, false, Self::way)
    }

    /// One pose, or a list of them.
    fn way(&mut self, node: &'a Node, path: &str) -> Option<Vec<Goal>> {
        let Some(items) = node.items() else {
            self.d.mismatch(node, path, "a pose [x, y, heading] or a list of poses");
            return None;
        };
        if items.is_empty() || is_vector(node) {
            return if items.is_empty() {
                Some(vec![])
            } else {
                self.goal(node, path).map(|goal| vec![goal])
            };
        }
        if items.len() > self.left.goals {
            self.d.error(
                node.at,
                path,
                format!("{} poses, at most {} are accepted", items.len(), self.left.goals),
            );
            return None;
        }
        let goals: Vec<Option<Goal>> =
            items.iter().enumerate().map(|(i, item)| self.goal(item, &format!("{path}[{i}]"))).collect();
        goals.into_iter().collect()
    }

    fn goal(&mut self, node: &'a Node, path: &str) -> Option<Goal> {
        if !is_vector(node) || node.items().is_some_and(|items| items.len() < 2) {
            self.d.mismatch(node, path, "a pose [x, y, heading]");
            return None;
        }
        let numbers = self.numbers(node, path, Limit::Any)?;
        Some(Goal { position: [numbers[0], numbers[1]], heading: numbers.get(2).copied() })
    }
}
