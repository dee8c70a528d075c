//! What a robot world looked like over a run: frames, and where everything went.

use std::collections::VecDeque;

use promenade_robot_world::contact::Contact;
use promenade_robot_world::sensor::{LidarSpec, Scan};
use promenade_robot_world::spec::{Goal, WorldSpec};
use promenade_robot_world::{Point, World};

use super::look::{Look, looks};

/// Places of a path that are kept; of a longer run every second one, then every fourth, and so on.
const MOST_PLACES: usize = 2048;
/// Frames that are kept; of a longer run every second one, and so on.
const MOST_FRAMES: usize = 1200;
/// Robots whose names are written when the file says nothing.
const MOST_NAMES: usize = 12;

/// One object at one moment.
#[derive(Debug, Clone)]
pub(crate) struct Body {
    /// x, y, heading, and the steering angle of a car.
    pub(crate) state: [f64; 4],
    /// World frame, m/s.
    pub(crate) velocity: Point,
    pub(crate) goals: VecDeque<Goal>,
    pub(crate) collision: bool,
    pub(crate) arrived: bool,
}

/// A scanner's view at one moment.
#[derive(Debug, Clone)]
pub(crate) struct Sweep {
    pub(crate) spec: LidarSpec,
    pub(crate) scan: Scan,
}

/// A world at one moment.
#[derive(Debug, Clone)]
pub(crate) struct Frame {
    pub(crate) step: u64,
    pub(crate) time: f64,
    pub(crate) status: String,
    pub(crate) bodies: Vec<Body>,
    pub(crate) sweeps: Vec<Sweep>,
    pub(crate) contacts: Vec<Contact>,
    pub(crate) fog: Option<Veil>,
}

/// What nobody has seen.
#[derive(Debug, Clone)]
pub(crate) struct Veil {
    /// Cells in x.
    pub(crate) columns: usize,
    /// Row by row from the bottom.
    pub(crate) revealed: Vec<bool>,
}

impl Frame {
    /// A world as it is now.
    pub(crate) fn of(world: &World, looks: &[Look]) -> Self {
        let objects = world.objects();
        let body = |row: usize| {
            let state = objects.state[row];
            Body {
                state: [state[0], state[1], state[2], state[3]],
                velocity: objects.velocity_xy[row],
                goals: if looks[row].goal.is_some() { objects.goals[row].clone() } else { VecDeque::new() },
                collision: objects.collision[row],
                arrived: objects.arrive[row],
            }
        };
        let sweeps = (0..objects.len()).filter(|row| looks[*row].scans).flat_map(|row| {
            objects.sensors[row]
                .iter()
                .zip(&objects.scans[row])
                .map(|(spec, scan)| Sweep { spec: spec.clone(), scan: scan.clone() })
        });
        Self {
            step: world.count(),
            time: world.time(),
            status: world.status().to_owned(),
            bodies: (0..objects.len()).map(body).collect(),
            sweeps: sweeps.collect(),
            contacts: world.contacts().to_vec(),
            fog: world.fog().map(|fog| Veil { columns: fog.size()[0], revealed: fog.revealed().to_vec() }),
        }
    }
}

/// Where everything was, step by step.
#[derive(Debug, Clone, Default)]
pub(crate) struct Paths {
    every: u64,
    pub(crate) steps: Vec<u64>,
    /// Per object, the pose at each of `steps`.
    pub(crate) places: Vec<Vec<[f32; 3]>>,
}

impl Paths {
    fn record(&mut self, world: &World) {
        let objects = world.objects();
        self.every = self.every.max(1);
        self.places.resize_with(objects.len(), Vec::new);
        if !world.count().is_multiple_of(self.every) {
            return;
        }
        if self.steps.len() >= MOST_PLACES {
            let thin = |index: usize| index.is_multiple_of(2);
            self.every *= 2;
            keep(&mut self.steps, thin);
            self.places.iter_mut().for_each(|places| keep(places, thin));
            if !world.count().is_multiple_of(self.every) {
                return;
            }
        }
        self.steps.push(world.count());
        for (places, state) in self.places.iter_mut().zip(&objects.state) {
            places.push([state[0] as f32, state[1] as f32, state[2] as f32]);
        }
    }

    /// How many of the places are not after a step.
    pub(crate) fn until(&self, step: u64) -> usize {
        self.steps.partition_point(|recorded| *recorded <= step)
    }
}

fn keep<T>(list: &mut Vec<T>, wanted: impl Fn(usize) -> bool) {
    let mut index = 0;
    list.retain(|_| {
        index += 1;
        wanted(index - 1)
    });
}

/// The run so far.
#[derive(Debug)]
pub(crate) struct Film {
    pub(crate) looks: Vec<Look>,
    pub(crate) paths: Paths,
    pub(crate) frames: Vec<Frame>,
    /// Steps from one frame to the next.
    every: u64,
    /// The world's rectangle: left, lower, right, upper edge.
    pub(crate) floor: [f64; 4],
    pub(crate) name: String,
    /// `world.plot`.
    pub(crate) plot: serde_json::Value,
    pub(crate) map: Option<promenade_robot_world::spec::MapGrid>,
}

impl Film {
    /// A film of a world that has not moved yet.
    pub(crate) fn new(spec: &WorldSpec, world: &World) -> Self {
        let settings = world.settings();
        let [left, lower] = settings.offset;
        let robots = world.objects().model.iter().filter(|model| model.is_some()).count();
        let mut film = Self {
            looks: looks(world.objects(), (2..=MOST_NAMES).contains(&robots)),
            paths: Paths::default(),
            frames: Vec::new(),
            every: settings.sample_steps.max(1),
            floor: [left, lower, left + settings.width, lower + settings.height],
            name: settings.name.clone(),
            plot: spec.plot.clone(),
            map: spec.map.clone(),
        };
        film.paths.record(world);
        film
    }

    /// Notes where everything is after a step.
    pub(crate) fn follow(&mut self, world: &World) {
        self.paths.record(world);
    }

    /// The world as it is now.
    pub(crate) fn now(&self, world: &World) -> Frame {
        Frame::of(world, &self.looks)
    }

    /// Keeps a frame of the world as it is, unless it lies between samples.
    pub(crate) fn shoot(&mut self, world: &World) {
        let step = world.count();
        if !step.is_multiple_of(self.every) {
            return;
        }
        if self.frames.len() >= MOST_FRAMES {
            self.every *= 2;
            let every = self.every;
            self.frames.retain(|frame| frame.step.is_multiple_of(every));
            if !step.is_multiple_of(every) {
                return;
            }
        }
        self.frames.push(self.now(world));
    }

    /// Forgets everything but how things look.
    pub(crate) fn restart(&mut self, world: &World) {
        self.paths = Paths::default();
        self.frames.clear();
        self.paths.record(world);
    }
}
