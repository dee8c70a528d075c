//! A steady-state tick allocates nothing, whoever gestures.

use promenade_gait::{
    ArticulationBatch, Articulator, GaitBatch, GaitOutput, JOINT_COUNT, Manner, PoseId, PoseProfile,
    PoseTable,
    driver::{Driver, DriverPool},
    gesture::Channel,
};

const PEOPLE: usize = 400;

struct Crowd {
    articulator: Articulator,
    table: PoseTable,
    ids: Vec<u32>,
    kinds: Vec<PoseId>,
    states: Vec<u8>,
    channels: Vec<Vec<Channel<'static>>>,
    positions: Vec<[f64; 3]>,
}

impl Crowd {
    fn new() -> Self {
        let channels = (0..PEOPLE)
            .map(|person| match person % 20 {
                0 => vec![Channel { slot: "arm", at: [3.0, 1.0, 1.0], ..Channel::default() }],
                1 | 2 => vec![Channel { slot: "body", clip: "wave", ..Channel::default() }],
                3 => vec![Channel { slot: "head", at: [3.0, 1.0, 1.0], ..Channel::default() }],
                4 => vec![Channel { slot: "body", clip: "no such clip", ..Channel::default() }],
                _ => Vec::new(),
            })
            .collect();
        Self {
            articulator: Articulator::default(),
            table: PoseTable::default(),
            ids: (0..PEOPLE as u32).map(|n| n * 97).collect(),
            kinds: vec![PoseId::DEFAULT; PEOPLE],
            states: (0..PEOPLE).map(|n| (n % 2) as u8).collect(),
            channels,
            positions: vec![[0.0; 3]; PEOPLE],
        }
    }

    fn ticks(&mut self, count: usize, out: &mut GaitOutput<'_>) {
        const DTS: [f64; PEOPLE] = [0.05; PEOPLE];
        const NONE: [f64; PEOPLE] = [f64::NAN; PEOPLE];
        const SPEEDS: [f64; PEOPLE] = [1.0; PEOPLE];
        for _ in 0..count {
            let batch = ArticulationBatch {
                gait: GaitBatch {
                    ids: &self.ids,
                    states: &self.states,
                    speeds: &SPEEDS,
                    dts: &DTS,
                    phase_overrides: &NONE,
                    poses: &self.kinds,
                },
                positions: &self.positions,
                channels: self.channels.as_slice(),
            };
            assert!(self.articulator.advance(&self.table, &batch, out).is_ok());
        }
    }
}

#[test]
fn gestures_that_go_on_allocate_nothing() {
    let mut crowd = Crowd::new();
    let (mut poses, mut phases) = (vec![[0.0; JOINT_COUNT]; PEOPLE], vec![0.0; PEOPLE]);
    let mut out = GaitOutput { poses: &mut poses, phases: &mut phases };
    crowd.ticks(40, &mut out);
    let counted = allocation_counter::measure(|| crowd.ticks(200, &mut out));
    assert_eq!(counted.count_total, 0, "{counted:?}");
}

#[test]
fn manners_allocate_nothing() {
    let mut crowd = Crowd::new();
    let manner = Some(Manner { turn_lead: 0.2, idle_variety: 1.0, settle: 0.5 });
    let kind = crowd.table.insert(PoseProfile { manner, ..PoseProfile::default() });
    crowd.kinds = vec![kind; PEOPLE];
    // A pointing arm that starts to walk is solved anew, which is not what is counted here.
    crowd.channels.iter_mut().for_each(Vec::clear);
    let (mut poses, mut phases) = (vec![[0.0; JOINT_COUNT]; PEOPLE], vec![0.0; PEOPLE]);
    let mut out = GaitOutput { poses: &mut poses, phases: &mut phases };
    crowd.ticks(40, &mut out);
    let counted = allocation_counter::measure(|| {
        for step in 0..20 {
            crowd.states.fill(step % 2);
            crowd.ticks(10, &mut out);
        }
    });
    assert_eq!(counted.count_total, 0, "{counted:?}");
}

#[test]
fn following_a_target_re_uses_its_memory() {
    let mut crowd = Crowd::new();
    let (mut poses, mut phases) = (vec![[0.0; JOINT_COUNT]; PEOPLE], vec![0.0; PEOPLE]);
    let mut out = GaitOutput { poses: &mut poses, phases: &mut phases };
    let mut walk = |crowd: &mut Crowd, steps: usize| {
        for step in 0..steps {
            for position in &mut crowd.positions {
                position[0] = 0.2 * (step % 2) as f64;
            }
            crowd.ticks(30, &mut out);
        }
    };
    walk(&mut crowd, 8);
    let counted = allocation_counter::measure(|| walk(&mut crowd, 8));
    assert_eq!(counted.count_total, 0, "{counted:?}");
}

#[test]
fn wheels_allocate_nothing() {
    let driver =
        Driver { joint: "w".to_owned(), bone: None, radius: 0.3, lateral: 0.0, axis: [0.0, 1.0, 0.0] };
    let (drivers, mut pool) = (vec![driver; 2], DriverPool::default());
    pool.advance(1, [0.0; 3], &drivers);
    let counted = allocation_counter::measure(|| {
        for step in 0..100 {
            pool.advance(1, [0.1 * f64::from(step), 0.0, 0.0], &drivers);
        }
    });
    assert_eq!(counted.count_total, 0);
}
