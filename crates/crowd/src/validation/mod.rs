//! How the engine does against what is published about real crowds (crowd-engine specification, section 31).
//!
//! A [`Case`] builds a scene, runs it and gives [`Row`]s: what was measured, what the literature says, and whether that fits. Cases are
//! deterministic and set nothing that a user could not set; no parameter of a model is fitted to them. A model that cannot pass by its
//! nature fails, and the row says why.

mod bottleneck;
mod evacuation;
mod opposed;
mod ring;
mod stage;
mod streams;
mod walking;
mod wheelchair;

use crate::error::CrowdError;
use crate::settings::Settings;
use crate::trajectory::Trajectory;
use crate::walls::Segment;

/// What became of a figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Within what is published.
    Pass,
    /// Outside it.
    Fail,
    /// There is nothing to pass; the figure is told.
    Documented,
}

impl Verdict {
    /// `pass`, `fail` or `documented`.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail => "fail",
            Self::Documented => "documented",
        }
    }

    const fn of(passes: bool) -> Self {
        if passes { Self::Pass } else { Self::Fail }
    }
}

/// One figure of a case.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// What was measured.
    pub figure: String,
    /// The figure.
    pub measured: f64,
    /// Its unit; empty for a count or a ratio.
    pub unit: &'static str,
    /// What it should be.
    pub expected: String,
    /// Whether it is.
    pub verdict: Verdict,
    /// What has to be known about it; may be empty.
    pub note: String,
}

impl Row {
    fn new(figure: impl Into<String>, measured: f64, unit: &'static str) -> Self {
        Self {
            figure: figure.into(),
            measured,
            unit,
            expected: String::new(),
            verdict: Verdict::Documented,
            note: String::new(),
        }
    }

    /// It should be within these bounds.
    fn within(mut self, least: f64, most: f64) -> Self {
        self.expected = match (least.is_finite(), most.is_finite()) {
            (true, true) => format!("{least} to {most}"),
            (true, false) => format!("at least {least}"),
            _ => format!("at most {most}"),
        };
        self.verdict = Verdict::of((least..=most).contains(&self.measured));
        self
    }

    fn expected(mut self, expected: impl Into<String>, passes: bool) -> Self {
        (self.expected, self.verdict) = (expected.into(), Verdict::of(passes));
        self
    }

    fn published(mut self, expected: impl Into<String>) -> Self {
        self.expected = expected.into();
        self
    }

    fn note(mut self, note: impl Into<String>) -> Self {
        self.note = note.into();
        self
    }
}

/// Points of one kind in a chart.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// What they are.
    pub name: String,
    /// Where they are.
    pub points: Vec<[f64; 2]>,
    /// Whether they are one line.
    pub joined: bool,
}

/// A chart of a case.
#[derive(Debug, Clone, PartialEq)]
pub struct Chart {
    /// Part of a file name, unlike all others of the case.
    pub name: &'static str,
    /// What it shows.
    pub title: String,
    /// What is along x, with its unit.
    pub x: &'static str,
    /// What is along y, with its unit.
    pub y: &'static str,
    /// What is in it.
    pub series: Vec<Series>,
}

/// A run of a case to look at.
#[derive(Debug, Clone, PartialEq)]
pub struct Scene {
    /// Where everybody was, twice a second or more often.
    pub trajectory: Trajectory,
    /// The walls.
    pub walls: Vec<Segment>,
}

/// What came of a case with one planner.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Outcome {
    /// Its figures.
    pub rows: Vec<Row>,
    /// Its charts.
    pub charts: Vec<Chart>,
    /// Its most telling run.
    pub scene: Option<Scene>,
}

/// How much of a case is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Size {
    /// Few people and short times, to see that it runs; the figures mean little.
    Quick,
    /// As published, or as large as it has to be to mean something.
    Full,
}

/// A comparison with what is published.
#[derive(Debug, Clone, Copy)]
pub struct Case {
    /// Its name.
    pub name: &'static str,
    /// What it asks.
    pub question: &'static str,
    /// Where the figures to compare with are from.
    pub source: &'static str,
    /// The planners it is for; empty = any.
    pub planners: &'static [&'static str],
    run: fn(&Settings, Size) -> Result<Outcome, CrowdError>,
}

impl Case {
    /// Run it. Of the settings the local planner counts and whatever a case does not set itself.
    ///
    /// # Errors
    /// Settings that the engine refuses.
    pub fn run(&self, settings: &Settings, size: Size) -> Result<Outcome, CrowdError> {
        (self.run)(settings, size)
    }

    /// Whether the case is for a planner.
    #[must_use]
    pub fn is_for(&self, planner: &str) -> bool {
        self.planners.is_empty() || self.planners.contains(&planner)
    }
}

const RIMEA: &str = "RiMEA guideline, version 3";

/// All cases, in the order they are told in.
pub const CASES: [Case; 23] = [
    Case {
        name: "fundamental_diagram",
        question: "How fast do people walk at a density, in a ring corridor of 3 m?",
        source: "Weidmann 1993; RiMEA case 4",
        planners: &[],
        run: ring::fundamental_diagram,
    },
    Case {
        name: "single_file",
        question: "How much room does somebody take at a speed, one behind the other?",
        source: "Seyfried, Steffen, Klingsch, Boltes 2005, J. Stat. Mech. P10002",
        planners: &[],
        run: ring::single_file,
    },
    Case {
        name: "bottleneck",
        question: "How does the flow grow with the width of an opening?",
        source: "Seyfried et al. 2009, Transportation Science 43, 395",
        planners: &[],
        run: bottleneck::flow,
    },
    Case {
        name: "lanes",
        question: "Do two streams in a corridor of 4 m sort themselves into lanes?",
        source: "Helbing, Molnar 1995, Phys. Rev. E 51, 4282; bound of our own",
        planners: &[],
        run: streams::lanes,
    },
    Case {
        name: "crossing",
        question: "Do two streams that cross at a right angle pass in stripes, and without a deadlock?",
        source: "Helbing, Buzna, Johansson, Werner 2005, Transportation Science 39, 1; bound of our own",
        planners: &[],
        run: streams::crossing,
    },
    Case {
        name: "faster_is_slower",
        question: "Is there a desired speed above which a room empties more slowly?",
        source: "Helbing, Farkas, Vicsek 2000, Nature 407, 487",
        planners: &["helbing"],
        run: bottleneck::faster_is_slower,
    },
    Case {
        name: "circle",
        question: "Do 50 people on a circle all get to the opposite side?",
        source: "bound of our own",
        planners: &[],
        run: opposed::circle,
    },
    Case {
        name: "head_on",
        question: "Do two people who walk straight at each other get past?",
        source: "bound of our own",
        planners: &[],
        run: opposed::head_on,
    },
    Case {
        name: "door_counterflow",
        question: "Does a door of 1.2 m with people on both sides keep working?",
        source: "Helbing, Molnar 1995, Phys. Rev. E 51, 4282; bound of our own",
        planners: &[],
        run: opposed::door,
    },
    Case {
        name: "overlap",
        question: "Do bodies overlap, and do they get into walls?",
        source: "bound of our own",
        planners: &[],
        run: streams::overlap,
    },
    Case {
        name: "wheelchair",
        question: "Does somebody in a wheelchair get along nearly as an adult does?",
        source: "crowd-engine specification, section 27: medians of ten published runs",
        planners: &["sfm"],
        run: wheelchair::gate,
    },
    Case {
        name: "rimea_1",
        question: "Does somebody keep a prescribed speed along a corridor of 40 m?",
        source: RIMEA,
        planners: &[],
        run: walking::prescribed_speed,
    },
    Case {
        name: "rimea_5",
        question: "Do ten people set off at the times they were given?",
        source: RIMEA,
        planners: &[],
        run: walking::setting_off,
    },
    Case {
        name: "rimea_6",
        question: "Do 20 people get around a corner without going through walls?",
        source: RIMEA,
        planners: &[],
        run: walking::corner,
    },
    Case {
        name: "rimea_7",
        question: "Do the speeds of 50 people lie within the range of their group?",
        source: "RiMEA guideline, version 3, after Weidmann 1993",
        planners: &[],
        run: walking::groups,
    },
    Case {
        name: "rimea_8",
        question: "Does a room empty sooner when people want to walk faster?",
        source: RIMEA,
        planners: &[],
        run: evacuation::speeds,
    },
    Case {
        name: "rimea_9",
        question: "Does a hall take about twice as long to empty with half of its exits?",
        source: RIMEA,
        planners: &[],
        run: evacuation::exits,
    },
    Case {
        name: "rimea_10",
        question: "Does everybody leave by the exit they were given?",
        source: RIMEA,
        planners: &[],
        run: evacuation::assigned,
    },
    Case {
        name: "rimea_11",
        question: "Which exit do people choose?",
        source: RIMEA,
        planners: &[],
        run: evacuation::choice,
    },
    Case {
        name: "rimea_12",
        question: "Room, corridor, room: is there a jam before the first opening only?",
        source: RIMEA,
        planners: &[],
        run: bottleneck::two_openings,
    },
    Case {
        name: "rimea_14",
        question: "Which of two ways do people take, the short or the long one?",
        source: RIMEA,
        planners: &[],
        run: evacuation::two_ways,
    },
    Case {
        name: "rimea_15",
        question: "Is the flow of a large crowd around a corner that of a straight corridor?",
        source: RIMEA,
        planners: &[],
        run: walking::crowd_around_a_corner,
    },
    Case {
        name: "free_speed",
        question: "How fast do adults walk when nobody is near?",
        source: "Weidmann 1993",
        planners: &[],
        run: walking::free_speed,
    },
];

/// A case by name.
///
/// # Errors
/// A name that is none of [`CASES`].
pub fn named(name: &str) -> Result<&'static Case, CrowdError> {
    CASES.iter().find(|case| case.name == name).ok_or_else(|| CrowdError::Unknown {
        kind: "case",
        name: name.to_owned(),
        known: CASES.map(|case| case.name).to_vec(),
    })
}
