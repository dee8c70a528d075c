//! What people are like when they enter a HuNav engine: the template, what their entry says instead, and what the scenario says in its
//! own words (HuNav specification, sections 4.3 and 4.4).

use promenade_hunav::configure::{Entry, Template, configure};
use promenade_hunav::{Agent, BehaviorKind, Configuration, Point};
use promenade_kernel::generator::Generator;
use promenade_scenario::WaypointMode;

use super::settings::HunavSettings;
use crate::entity::DynamicObstacle;

/// How people of files become agents.
pub(super) struct Maker<'a> {
    pub(super) template: &'a Template,
    pub(super) settings: &'a HunavSettings,
    /// The authored origin in `map`.
    pub(super) offset: [f64; 2],
    /// Of the episode.
    pub(super) seed: u64,
    /// Whether an agent without a tree gets the name of one.
    pub(super) names_trees: bool,
}

/// The tree of a behaviour in the library of HuNavSim.
fn tree_of(kind: BehaviorKind) -> &'static str {
    match kind {
        BehaviorKind::Regular | BehaviorKind::Impassive => "BTRegularNav.xml",
        BehaviorKind::Surprised => "BTSurprisedNav.xml",
        BehaviorKind::Scared => "BTScaredNav.xml",
        BehaviorKind::Curious => "BTCuriousNav.xml",
        BehaviorKind::Threatening => "BTThreateningNav.xml",
    }
}

/// What the entry of a person says in HuNav's own keys; what is wrong in it is warned about.
pub(super) fn entry_of(person: &DynamicObstacle) -> Entry {
    let Some(entry) = &person.entry else { return Entry::default() };
    let (said, report) = Entry::read(&entry.extra, &entry.file, &person.name);
    for problem in report.iter() {
        tracing::warn!("{problem}");
    }
    said
}

impl Maker<'_> {
    /// The agent of a person, at the place where they begin.
    pub(super) fn agent(&self, person: &DynamicObstacle, said: &Entry, id: i32) -> Agent {
        let mut agent = self.template.agent(said, self.settings.missing_behavior);
        let [x, y, floor] = person.pose.position;
        agent.id = id;
        agent.name.clone_from(&person.name);
        agent.position = said.pose.position.map_or([x, y], |place| self.to_map(place));
        agent.yaw = said.pose.yaw.unwrap_or_else(|| person.pose.yaw());
        agent.z += floor;
        let entry = person.entry.as_deref();
        let has_speed =
            entry.is_none_or(|entry| entry.agent.is_some() || entry.extra.get("velocity").is_some());
        if said.desired_velocity.is_none() && has_speed && person.velocity > 0.0 {
            agent.desired_velocity = person.velocity;
        }
        if let (None, Some(radius)) = (said.radius, entry.and_then(|entry| entry.agent.as_ref()?.radius)) {
            agent.radius = radius;
        }
        if said.goals.is_some() || person.waypoints.is_empty() {
            agent.goals.iter_mut().for_each(|goal| *goal = self.to_map(*goal));
        } else {
            agent.goals = self.route(person);
            if said.cyclic_goals.is_none()
                && entry.is_none_or(|entry| entry.extra.get("waypoint_mode").is_some())
            {
                agent.cyclic_goals = person.waypoint_mode != WaypointMode::Once;
            }
        }
        if self.names_trees && agent.behavior_tree.is_empty() {
            tree_of(agent.behavior.kind).clone_into(&mut agent.behavior_tree);
        }
        // Values are forwarded as they are written; only a mode that asks for draws gets them.
        if matches!(agent.behavior.configuration, Configuration::RandomNormal | Configuration::RandomUniform)
        {
            configure(&mut agent.behavior, self.seed, id);
        }
        agent
    }

    /// Way-points as goals. An engine has no modes: there and back is a longer circle, and "any other next" one order drawn for all rounds.
    fn route(&self, person: &DynamicObstacle) -> Vec<Point> {
        let mut goals = person.waypoints.clone();
        match person.waypoint_mode {
            WaypointMode::Repeat | WaypointMode::Once => {}
            WaypointMode::Reverse => {
                let back = 1..goals.len().saturating_sub(1);
                let back: Vec<Point> = goals.get(back).unwrap_or_default().iter().rev().copied().collect();
                goals.extend(back);
            }
            WaypointMode::Random => {
                let mut draw =
                    Generator::named(self.seed.cast_signed(), &format!("hunav/goals/{}", person.name));
                for end in (1..goals.len()).rev() {
                    let other = draw.choice(u32::try_from(end + 1).unwrap_or(u32::MAX)) as usize;
                    goals.swap(end, other.min(end));
                }
            }
        }
        goals
    }

    fn to_map(&self, place: Point) -> Point {
        [place[0] + self.offset[0], place[1] + self.offset[1]]
    }
}
