//! The node library: which nodes a tree may hold, which ports each has, and how many children (HuNav specification, section 5.4).
//!
//! One table, so that the compiler, the messages about mistakes, and the page for users cannot disagree. It must not know what a node does.

/// What a node does when it is ticked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Op {
    // Controls.
    Sequence,
    SequenceWithMemory,
    ReactiveSequence,
    Fallback,
    ReactiveFallback,
    // Decorators.
    Inverter,
    ForceSuccess,
    ForceFailure,
    Repeat,
    Retry,
    KeepRunningUntilFailure,
    RunOnce,
    Timeout,
    Delay,
    TimeDelay,
    // Of the format.
    AlwaysSuccess,
    AlwaysFailure,
    SetBlackboard,
    // The walkers of 2024.
    IsGoalReached,
    IsRobotVisible,
    TimeExpired,
    UpdateGoal,
    RegularNav,
    SurprisedNav,
    ScaredNav,
    CuriousNav,
    ThreateningNav,
    // Conditions of 2025.
    RandomChance,
    IsRobotFacingAgent,
    IsRobotClose,
    IsAgentVisible,
    IsAgentClose,
    IsAtPosition,
    IsAnyoneSpeaking,
    IsSpeaking,
    IsAnyoneLookingAtMe,
    IsLookingAtMe,
    // Actions of 2025.
    FindNearestAgent,
    SaySomething,
    SetGroupId,
    SetGoal,
    StopMovement,
    ResumeMovement,
    StopAndWait,
    GoTo,
    ApproachAgent,
    ApproachRobot,
    BlockRobot,
    BlockAgent,
    FollowAgent,
    SetGroupWalk,
    ConversationFormation,
    LookAtAgent,
    LookAtRobot,
    LookAtPoint,
    FollowVelocityField,
}

/// What kind of node it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeKind {
    /// Ticks its children by a rule.
    Control,
    /// Changes what its one child does or answers.
    Decorator,
    /// Answers a question.
    Condition,
    /// Does something.
    Action,
}

/// What a port takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PortType {
    /// A whole number: an id, a count.
    Int,
    /// A number.
    Float,
    /// `true` or `false`, `1` or `0`.
    Bool,
    /// Any text.
    Text,
    /// Ids with commas, semicolons or spaces between.
    Ids,
    /// An entry of the blackboard that the node writes.
    Out,
}

/// What holds if a port is not written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Absent {
    /// The tree is wrong.
    Required,
    /// The node has a rule for it.
    Allowed,
    /// This number.
    Is(f64),
}

/// One port of a node.
#[derive(Clone, Copy, Debug)]
pub struct PortSpec {
    /// Name of the attribute.
    pub name: &'static str,
    /// What it takes.
    pub takes: PortType,
    /// What holds without it.
    pub absent: Absent,
}

/// One node of the library.
#[derive(Clone, Copy, Debug)]
pub struct NodeSpec {
    /// Name of the element.
    pub id: &'static str,
    /// What kind it is.
    pub kind: NodeKind,
    /// Its ports, in a fixed order.
    pub ports: &'static [PortSpec],
    pub(super) op: Op,
}

/// The node of this name.
pub(super) fn find(id: &str) -> Option<&'static NodeSpec> {
    NODES.iter().find(|node| node.id == id)
}

const fn port(name: &'static str, takes: PortType, absent: Absent) -> PortSpec {
    PortSpec { name, takes, absent }
}

const fn needed(name: &'static str) -> PortSpec {
    port(name, PortType::Float, Absent::Required)
}

const fn number(name: &'static str, absent: f64) -> PortSpec {
    port(name, PortType::Float, Absent::Is(absent))
}

const fn maybe(name: &'static str) -> PortSpec {
    port(name, PortType::Float, Absent::Allowed)
}

const fn int(name: &'static str) -> PortSpec {
    port(name, PortType::Int, Absent::Required)
}

const fn out(name: &'static str) -> PortSpec {
    port(name, PortType::Out, Absent::Allowed)
}

const fn node(id: &'static str, kind: NodeKind, op: Op, ports: &'static [PortSpec]) -> NodeSpec {
    NodeSpec { id, kind, ports, op }
}

/// Half the field of view of somebody, radians: what `IsRobotVisible` allows.
const VIEW: f64 = std::f64::consts::FRAC_PI_2 + 0.17;

const AGENT: PortSpec = int("agent_id");
const OBSERVER: PortSpec = int("observer_id");
const MAIN: PortSpec = int("main_agent_id");
const TARGET: PortSpec = int("target_agent_id");
const OTHERS: PortSpec = port("non_main_agent_ids", PortType::Ids, Absent::Required);
/// Absent: the length of the tick.
const STEP: PortSpec = maybe("time_step");
const DURATION: PortSpec = number("duration", 5.0);
const TOLERANCE: PortSpec = number("tolerance", 0.1);
/// A place: a global goal, or both coordinates.
const GOAL_ID: PortSpec = port("goal_id", PortType::Int, Absent::Allowed);
const X: PortSpec = maybe("target_x");
const Y: PortSpec = maybe("target_y");
const HEARS: PortSpec = number("distance_threshold", 5.0);
const ANGLE: PortSpec = number("angle_threshold", 0.2);

use NodeKind::{Action, Condition, Control, Decorator};

/// All nodes, as the page for users lists them.
pub const NODES: &[NodeSpec] = &[
    node("Sequence", Control, Op::Sequence, &[]),
    node("SequenceWithMemory", Control, Op::SequenceWithMemory, &[]),
    node("SequenceStar", Control, Op::SequenceWithMemory, &[]),
    node("ReactiveSequence", Control, Op::ReactiveSequence, &[]),
    node("Fallback", Control, Op::Fallback, &[]),
    node("ReactiveFallback", Control, Op::ReactiveFallback, &[]),
    node("Inverter", Decorator, Op::Inverter, &[]),
    node("ForceSuccess", Decorator, Op::ForceSuccess, &[]),
    node("ForceFailure", Decorator, Op::ForceFailure, &[]),
    node("Repeat", Decorator, Op::Repeat, &[int("num_cycles")]),
    node("RetryUntilSuccessful", Decorator, Op::Retry, &[int("num_attempts")]),
    node("KeepRunningUntilFailure", Decorator, Op::KeepRunningUntilFailure, &[]),
    node("RunOnce", Decorator, Op::RunOnce, &[port("then_skip", PortType::Bool, Absent::Is(1.0))]),
    node("Timeout", Decorator, Op::Timeout, &[needed("msec")]),
    node("Delay", Decorator, Op::Delay, &[needed("delay_msec")]),
    node(
        "TimeDelay",
        Decorator,
        Op::TimeDelay,
        &[number("duration", 1.0), STEP, port("agent_id", PortType::Int, Absent::Allowed)],
    ),
    node("AlwaysSuccess", Action, Op::AlwaysSuccess, &[]),
    node("AlwaysFailure", Action, Op::AlwaysFailure, &[]),
    node(
        "SetBlackboard",
        Action,
        Op::SetBlackboard,
        &[
            port("value", PortType::Text, Absent::Required),
            port("output_key", PortType::Out, Absent::Required),
        ],
    ),
    node("IsGoalReached", Condition, Op::IsGoalReached, &[AGENT]),
    node("IsRobotVisible", Condition, Op::IsRobotVisible, &[AGENT, needed("distance")]),
    node(
        "TimeExpiredCondition",
        Condition,
        Op::TimeExpired,
        &[needed("seconds"), maybe("ts"), port("only_once", PortType::Bool, Absent::Is(1.0))],
    ),
    node("UpdateGoal", Action, Op::UpdateGoal, &[AGENT]),
    node("RegularNav", Action, Op::RegularNav, &[AGENT, STEP]),
    node("SurprisedNav", Action, Op::SurprisedNav, &[AGENT, STEP]),
    node(
        "ScaredNav",
        Action,
        Op::ScaredNav,
        &[AGENT, STEP, needed("runaway_vel"), needed("scary_force_factor")],
    ),
    node("CuriousNav", Action, Op::CuriousNav, &[AGENT, STEP, needed("stop_distance"), needed("agent_vel")]),
    node("ThreateningNav", Action, Op::ThreateningNav, &[AGENT, STEP, needed("goal_dist")]),
    node(
        "RandomChanceCondition",
        Condition,
        Op::RandomChance,
        &[number("probability", 0.3), port("agent_id", PortType::Int, Absent::Allowed)],
    ),
    node("IsRobotFacingAgent", Condition, Op::IsRobotFacingAgent, &[AGENT]),
    node("IsRobotClose", Condition, Op::IsRobotClose, &[AGENT, number("threshold", 1.0)]),
    node(
        "IsAgentVisible",
        Condition,
        Op::IsAgentVisible,
        &[OBSERVER, AGENT, number("distance", 5.0), number("field_of_view", VIEW)],
    ),
    node("IsAgentClose", Condition, Op::IsAgentClose, &[OBSERVER, TARGET, number("threshold", 1.0)]),
    node("IsAtPosition", Condition, Op::IsAtPosition, &[AGENT, GOAL_ID, X, Y, TOLERANCE]),
    node(
        "IsAnyoneSpeaking",
        Condition,
        Op::IsAnyoneSpeaking,
        &[AGENT, STEP, HEARS, DURATION, out("speaker_id")],
    ),
    node("IsSpeaking", Condition, Op::IsSpeaking, &[AGENT, STEP, HEARS, DURATION, int("target_id")]),
    node(
        "IsAnyoneLookingAtMe",
        Condition,
        Op::IsAnyoneLookingAtMe,
        &[AGENT, STEP, HEARS, DURATION, ANGLE, out("observer_id")],
    ),
    node(
        "IsLookingAtMe",
        Condition,
        Op::IsLookingAtMe,
        &[AGENT, STEP, HEARS, DURATION, ANGLE, int("target_id")],
    ),
    node("FindNearestAgent", Action, Op::FindNearestAgent, &[AGENT, out("target_agent_id")]),
    node(
        "SaySomething",
        Action,
        Op::SaySomething,
        &[AGENT, port("message", PortType::Text, Absent::Required)],
    ),
    node("SetGroupId", Action, Op::SetGroupId, &[AGENT, int("group_id")]),
    node("SetGoal", Action, Op::SetGoal, &[AGENT, GOAL_ID, X, Y]),
    node("StopMovement", Action, Op::StopMovement, &[AGENT]),
    node("ResumeMovement", Action, Op::ResumeMovement, &[AGENT]),
    node("StopAndWaitTimerAction", Action, Op::StopAndWait, &[AGENT, STEP, number("wait_duration", 3.0)]),
    node("GoTo", Action, Op::GoTo, &[AGENT, STEP, GOAL_ID, X, Y, TOLERANCE]),
    node(
        "ApproachAgent",
        Action,
        Op::ApproachAgent,
        &[AGENT, STEP, DURATION, TARGET, number("closest_dist", 0.5), number("max_vel", 1.0)],
    ),
    node(
        "ApproachRobot",
        Action,
        Op::ApproachRobot,
        &[AGENT, STEP, DURATION, number("closest_dist", 1.5), number("max_vel", 1.8)],
    ),
    node("BlockRobot", Action, Op::BlockRobot, &[AGENT, STEP, DURATION, number("front_dist", 1.0)]),
    node("BlockAgent", Action, Op::BlockAgent, &[AGENT, STEP, DURATION, TARGET, number("front_dist", 1.0)]),
    node("FollowAgent", Action, Op::FollowAgent, &[AGENT, STEP, needed("duration"), TARGET]),
    node("SetGroupWalk", Action, Op::SetGroupWalk, &[MAIN, STEP, DURATION, OTHERS]),
    node(
        "ConversationFormation",
        Action,
        Op::ConversationFormation,
        &[MAIN, STEP, number("conversation_duration", 10.0), OTHERS, GOAL_ID, X, Y],
    ),
    node("LookAtAgent", Action, Op::LookAtAgent, &[OBSERVER, STEP, int("target_id")]),
    node("LookAtRobot", Action, Op::LookAtRobot, &[OBSERVER, STEP]),
    node("LookAtPoint", Action, Op::LookAtPoint, &[OBSERVER, STEP, GOAL_ID, X, Y]),
    node(
        "FollowVelocityField",
        Action,
        Op::FollowVelocityField,
        &[AGENT, STEP, int("velocity_field_group_id"), TOLERANCE],
    ),
];
