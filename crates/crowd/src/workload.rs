//! The crowds that speed is measured on: people on an open square or a disc, each heading for the other side, and people in a
//! maze whose doors open and close.

use promenade_scenario::AgentTypeLibrary;

use crate::error::CrowdError;
use crate::settings::Settings;
use crate::spawn::SpawnRequest;
use crate::step::Crowd;
use crate::walls::{DOOR_PREFIX, Wall};
use promenade_kernel::generator::Generator;

/// People per square metre.
pub const DENSITY: f64 = 0.25;

/// A crowd of `count` adults, drawn from the seed, on a square at [`DENSITY`]; nobody touches anybody at the start.
///
/// # Errors
/// Settings that the engine refuses.
pub fn mirrored_square(settings: Settings, count: u32) -> Result<Crowd, CrowdError> {
    let mut place = Generator::named(settings.seed, "workload");
    let mut crowd = Crowd::new(settings)?;
    let adult = AgentTypeLibrary::built_in().named("adult").ok().map(|adult| &**adult);
    let side = f64::from(count).sqrt().ceil();
    let spacing = DENSITY.sqrt().recip();
    for number in 0..count {
        let (line, column) = ((f64::from(number) / side).floor(), f64::from(number) % side);
        let mut along = |index: f64| (index - 0.5 * (side - 1.0) + place.uniform(-0.3, 0.3)) * spacing;
        let [x, y] = [along(column), along(line)];
        let pose = [x, y, (-y).atan2(-x)];
        let id = crowd.spawn(&SpawnRequest { pose, ..SpawnRequest::default() }, adult)?;
        crowd.navigate(id, Some([-x, -y]))?;
    }
    Ok(crowd)
}

/// Radius of the disc, metres.
const DISC: f64 = 20.0;

/// A crowd of `count` adults, drawn from the seed, anywhere on a disc of 20 m, each heading for the point of its edge that lies opposite.
///
/// # Errors
/// Settings that the engine refuses.
pub fn crossed_disc(settings: Settings, count: u32) -> Result<Crowd, CrowdError> {
    let mut place = Generator::named(settings.seed, "workload");
    let mut crowd = Crowd::new(settings)?;
    let adult = AgentTypeLibrary::built_in().named("adult").ok().map(|adult| &**adult);
    for _ in 0..count {
        let (radius, angle) =
            (DISC * place.uniform(0.0, 1.0).sqrt(), place.uniform(0.0, std::f64::consts::TAU));
        let (sin, cos) = angle.sin_cos();
        let pose = [radius * cos, radius * sin, angle + std::f64::consts::PI];
        let id = crowd.spawn(&SpawnRequest { pose, ..SpawnRequest::default() }, adult)?;
        crowd.navigate(id, Some([-DISC * cos, -DISC * sin]))?;
    }
    Ok(crowd)
}

/// Edge of a cell of a maze, metres.
pub const CELL: f64 = 2.0;

/// A maze of `side` x `side` cells of [`CELL`] with its low corner at the origin, which a walk in depth opened (benchmark `maze(N)`): its
/// walls, and the openings between its cells, each as the wall that would close it.
#[must_use]
pub fn maze_walls(seed: i64, side: u32) -> (Vec<Wall>, Vec<Wall>) {
    let mut random = Generator::named(seed, "maze");
    let count = side * side;
    let beside = |cell: u32| {
        let (column, line) = (cell % side, cell / side);
        let down = (line > 0).then(|| cell - side);
        let left = (column > 0).then(|| cell - 1);
        let right = (column + 1 < side).then(|| cell + 1);
        let up = (line + 1 < side).then(|| cell + side);
        [down, left, right, up].into_iter().flatten()
    };
    let mut seen = vec![false; count as usize];
    // Whether a cell is open to the right, and upward.
    let mut open = vec![[false; 2]; count as usize];
    let mut path: Vec<u32> = (count > 0).then_some(0).into_iter().collect();
    while let Some(cell) = path.last().copied() {
        seen[cell as usize] = true;
        let next: Vec<u32> = beside(cell).filter(|next| !seen[*next as usize]).collect();
        if next.is_empty() {
            path.pop();
            continue;
        }
        let next = next[random.choice(next.len() as u32) as usize];
        open[cell.min(next) as usize][usize::from(cell.abs_diff(next) != 1)] = true;
        path.push(next);
    }
    let edge = f64::from(side) * CELL;
    let wall = |name: String, start, end| Wall { name, start, end };
    let corners = [[0.0, 0.0], [edge, 0.0], [edge, edge], [0.0, edge]];
    let outer = |n: usize| wall(format!("outer_{n}"), corners[n], corners[(n + 1) % 4]);
    let (mut walls, mut openings): (Vec<Wall>, Vec<Wall>) = ((0..4).map(outer).collect(), Vec::new());
    for cell in 0..count {
        let (column, line) = (cell % side, cell / side);
        let [right, up] = [column, line].map(|at| f64::from(at + 1) * CELL);
        let sides = [(column + 1 < side, [right, up - CELL]), (line + 1 < side, [right - CELL, up])];
        for (number, (_, start)) in sides.into_iter().enumerate().filter(|(_, (is_inside, _))| *is_inside) {
            match open[cell as usize][number] {
                true => {
                    let name = format!("{DOOR_PREFIX}{}", openings.len());
                    openings.push(wall(name, start, [right, up]));
                }
                false => walls.push(wall(format!("inner_{cell}_{number}"), start, [right, up])),
            }
        }
    }
    (walls, openings)
}

/// A crowd of `count` adults in a maze with about a cell for each, heading for cells of their own, and `doors` of its openings as doors. All
/// of them are known to the crowd and open: [`Crowd::add_walls`] closes one, and [`Crowd::remove_walls`] opens it.
///
/// # Errors
/// Settings that the engine refuses.
pub fn maze(settings: Settings, count: u32, doors: usize) -> Result<(Crowd, Vec<Wall>), CrowdError> {
    let side = (f64::from(count).sqrt().ceil() as u32).max(2);
    let (walls, mut openings) = maze_walls(settings.seed, side);
    let mut place = Generator::named(settings.seed, "workload");
    let mut crowd = Crowd::new(settings)?;
    // Any of the openings: the first ones of a random order.
    for at in 0..doors.min(openings.len()) {
        let other = at + place.choice((openings.len() - at) as u32) as usize;
        openings.swap(at, other);
    }
    openings.truncate(doors);
    crowd.add_walls(walls.into_iter().chain(openings.iter().cloned()))?;
    let names: Vec<String> = openings.iter().map(|door| door.name.clone()).collect();
    if !names.is_empty() {
        crowd.remove_walls(&names)?;
    }
    let adult = AgentTypeLibrary::built_in().named("adult").ok().map(|adult| &**adult);
    for number in 0..count {
        let cell = [number % side, number / side];
        let [x, y] = cell.map(|at| (f64::from(at) + 0.5 + place.uniform(-0.2, 0.2)) * CELL);
        let goal = [0, 1].map(|_| (f64::from(place.choice(side)) + 0.5) * CELL);
        let pose = [x, y, place.uniform(-std::f64::consts::PI, std::f64::consts::PI)];
        let id = crowd.spawn(&SpawnRequest { pose, ..SpawnRequest::default() }, adult)?;
        crowd.navigate(id, Some(goal))?;
    }
    Ok((crowd, openings))
}
