//! Driving robots from a terminal: the world runs in real time, one robot follows the keys, the others do as they would.

use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use promenade_robot_world::spec::Role;
use promenade_robot_world::world::ObjectRef;
use promenade_robot_world::{World, WorldSpec};

use super::drive::{Press, Settings, Wheel};
use super::play::Run;
use super::terminal::Terminal;
use crate::draw::world::Film;

/// Pictures per second, at most.
const MOST_PICTURES: f64 = 15.0;
/// Pixels of a metre below which a picture shows the surroundings of the robot only.
const LEAST_SCALE: f64 = 6.0;
const ZOOM: f64 = 1.25;

/// A robot and its wheel.
struct Seat {
    id: u32,
    wheel: Wheel,
}

/// Lets somebody drive until they have enough, or for that many steps.
pub(super) fn run(spec: &WorldSpec, world: &mut World, run: &mut Run, steps: Option<u64>) -> Result<()> {
    let settings = Settings::of(&spec.gui);
    let mut seats = seats(world, settings);
    if seats.is_empty() {
        bail!("--keyboard: the world has no robot with kinematics, so there is nothing to drive");
    }
    let mut driven = seats.iter().position(|seat| seat.id == settings.id).unwrap_or(0);
    let mut terminal = Terminal::open()?;
    let mut zoom = 1.0;
    let mut said = String::new();
    let step_time = Duration::from_secs_f64(world.settings().step_time.clamp(1e-3, 10.0));
    let mut due = Instant::now() + step_time;
    let mut drawn: Option<Instant> = None;
    while steps.is_none_or(|steps| world.count() < steps) {
        while let Some(press) = terminal.press(due.saturating_duration_since(Instant::now())) {
            match press {
                Press::Quit => return Ok(()),
                Press::Next => driven = (driven + 1) % seats.len(),
                Press::Pick(index) => driven = index.min(seats.len() - 1),
                Press::Pause => world.set_paused(!world.is_paused()),
                Press::Reset => {
                    world.reset();
                    run.restart(world);
                    seats.iter_mut().for_each(|seat| _ = seat.wheel.press(Press::Stop));
                }
                Press::Nearer => zoom = (zoom * ZOOM).min(40.0),
                Press::Farther => zoom = (zoom / ZOOM).max(0.2),
                press => _ = seats[driven].wheel.press(press),
            }
        }
        let seat = &seats[driven];
        if !world.is_paused() {
            run.step(world, &[(ObjectRef::Id(seat.id), seat.wheel.command())])?;
        }
        // Who was too slow to keep up does not hurry afterwards.
        due = (due + step_time).max(Instant::now());
        if let Some(news) = run.warnings().last() {
            said.clone_from(news);
        }
        if drawn.is_none_or(|at| at.elapsed().as_secs_f64() > 1.0 / MOST_PICTURES) {
            drawn = Some(Instant::now());
            if let Some(film) = run.film() {
                show(&mut terminal, film, world, seat, zoom, &said)?;
            }
        }
    }
    Ok(())
}

fn seats(world: &World, settings: Settings) -> Vec<Seat> {
    let objects = world.objects();
    let rows = (0..objects.len()).filter(|row| objects.role[*row] == Role::Robot && !objects.is_static[*row]);
    rows.filter_map(|row| {
        let layout = objects.model[row].as_ref()?.layout();
        let wheel = Wheel::new(layout, objects.vel_min[row], objects.vel_max[row], settings);
        Some(Seat { id: objects.id[row], wheel })
    })
    .collect()
}

fn show(
    terminal: &mut Terminal,
    film: &Film,
    world: &World,
    seat: &Seat,
    zoom: f64,
    said: &str,
) -> Result<()> {
    let Some(row) = world.objects().row(seat.id) else { return Ok(()) };
    let [width, height] = terminal.pixels().map(f64::from);
    let [left, lower, right, upper] = film.floor;
    let [wide, high] = [(right - left).max(1e-3), (upper - lower).max(1e-3)];
    let whole = (width / wide).min(height / high);
    let scale = whole.max(LEAST_SCALE) * zoom;
    let [x, y, ..] = world.objects().state[row];
    // The view follows the robot as far as there is more to see on that side.
    let along = |at: f64, low: f64, size: f64, pixels: f64| {
        let seen = (pixels / scale).floor().max(1.0).min(size.max(1.0));
        let begin = (at - 0.5 * seen).clamp(low, low + (size - seen).max(0.0));
        [begin, begin + seen]
    };
    let [x0, x1] = along(x, left, wide, width);
    let [y0, y1] = along(y, lower, high, height);
    let long = (scale * (x1 - x0).max(y1 - y0)) as f32;
    let picture = film.floor_only(&film.now(world), [x0, y0, x1, y1], long)?;
    let objects = world.objects();
    let force = objects.contact[row].force;
    let status = format!(
        "{:.1} s  {}  |  {}: {}  |  at {x:.2}, {y:.2}{}",
        world.time(),
        world.status(),
        objects.name[row],
        seat.wheel.describe(),
        if force == [0.0; 2] {
            String::new()
        } else {
            format!(", pushed by {:.1} N", force[0].hypot(force[1]))
        },
    );
    let keys =
        "w/s faster/slower  a/d left/right  space stop  tab next robot  p pause  r reset  +/- zoom  q end";
    terminal.show(&picture, [&status, if said.is_empty() { keys } else { said }])?;
    Ok(())
}
