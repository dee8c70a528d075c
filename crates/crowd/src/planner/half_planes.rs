//! Half-planes of allowed velocities and the linear programmes over them (van den Berg, Guy, Lin & Manocha 2011; the programmes are the
//! incremental ones of de Berg et al., Computational Geometry, chapter 4, without shuffling, so that a result can be repeated).
//!
//! Geometry alone: nothing here knows a pool or a planner.

/// A half-plane: what lies to the left of a line, on which `point` is and along which the unit vector `direction` goes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Line {
    pub(super) point: [f64; 2],
    pub(super) direction: [f64; 2],
}

/// Lines that there is room for from the start, so that a rare tight place does not allocate.
const USUAL: usize = 64;

/// Lines with less than this between their directions are parallel.
const PARALLEL: f64 = 1e-5;

/// z component of the cross product.
#[inline]
pub(super) fn det(a: [f64; 2], b: [f64; 2]) -> f64 {
    a[0] * b[1] - a[1] * b[0]
}

#[inline]
fn dot(a: [f64; 2], b: [f64; 2]) -> f64 {
    a[0] * b[0] + a[1] * b[1]
}

#[inline]
fn minus(a: [f64; 2], b: [f64; 2]) -> [f64; 2] {
    [a[0] - b[0], a[1] - b[1]]
}

/// `a + s * b`.
#[inline]
fn plus(a: [f64; 2], s: f64, b: [f64; 2]) -> [f64; 2] {
    [a[0] + s * b[0], a[1] + s * b[1]]
}

/// Length and direction; where there is none, along x.
#[inline]
fn polar(v: [f64; 2]) -> (f64, [f64; 2]) {
    let length = dot(v, v).sqrt();
    if length > 0.0 { (length, [v[0] / length, v[1] / length]) } else { (0.0, [1.0, 0.0]) }
}

/// Both tangents from the origin to the circle of `radius` around `p`, outside of it: unit vectors to the left and the right of it.
#[inline]
fn tangents(p: [f64; 2], radius: f64) -> ([f64; 2], [f64; 2]) {
    let distance2 = dot(p, p);
    let leg = (distance2 - radius * radius).max(0.0).sqrt();
    let left = [(p[0] * leg - p[1] * radius) / distance2, (p[0] * radius + p[1] * leg) / distance2];
    let right = [(p[0] * leg + p[1] * radius) / distance2, (p[1] * leg - p[0] * radius) / distance2];
    (left, right)
}

/// What somebody at `p` forbids to a person with velocity `v` that moves with `w` relative to it; `reach` are both radii. The person
/// takes half of what has to change. Who overlaps has to be apart after `dt`.
pub(super) fn of_agent(
    p: [f64; 2],
    w: [f64; 2],
    v: [f64; 2],
    reach: f64,
    time_horizon: f64,
    dt: f64,
) -> Line {
    let distance2 = dot(p, p);
    let apart = distance2 > reach * reach;
    let inverse_time = 1.0 / if apart { time_horizon } else { dt };
    // From the centre of the circle that ends the cone.
    let from_end = plus(w, -inverse_time, p);
    let inside = dot(from_end, p);
    let (direction, change) =
        if !apart || (inside < 0.0 && inside * inside > reach * reach * dot(from_end, from_end)) {
            let (length, n) = polar(from_end);
            ([n[1], -n[0]], [n[0], n[1]].map(|axis| axis * (reach * inverse_time - length)))
        } else {
            let (left, right) = tangents(p, reach);
            let direction = if det(p, from_end) > 0.0 { left } else { [-right[0], -right[1]] };
            let along = dot(w, direction);
            (direction, [along * direction[0] - w[0], along * direction[1] - w[1]])
        };
    Line { point: plus(v, 0.5, change), direction }
}

/// What an edge from `start` to `end`, relative to a person on its right with velocity `v`, forbids within the horizon. `None` beside
/// an end that is touched from behind.
pub(super) fn of_edge(
    start: [f64; 2],
    end: [f64; 2],
    v: [f64; 2],
    radius: f64,
    inverse_time: f64,
) -> Option<Line> {
    let along = minus(end, start);
    let (length, unit) = polar(along);
    let foot = -dot(start, along) / (length * length).max(f64::MIN_POSITIVE);
    let height = plus(start, foot, along);
    let beside = dot(height, height) <= radius * radius;
    let touches = |end: [f64; 2]| dot(end, end) <= radius * radius;
    let away_from = |end: [f64; 2]| {
        let direction = polar([-end[1], end[0]]).1;
        Some(Line { point: [0.0; 2], direction })
    };
    if foot < 0.0 && touches(start) {
        return away_from(start);
    } else if foot > 1.0 && touches(end) {
        return if det(end, [-unit[0], -unit[1]]) >= 0.0 { away_from(end) } else { None };
    } else if (0.0..=1.0).contains(&foot) && beside {
        return Some(Line { point: [0.0; 2], direction: [-unit[0], -unit[1]] });
    }
    // Seen from its end, an edge is that end.
    let (start, end) = match beside {
        true if foot < 0.0 => (start, start),
        true => (end, end),
        false => (start, end),
    };
    let (left, right) = (tangents(start, radius).0, tangents(end, radius).1);
    let (left_end, right_end) = (start.map(|axis| axis * inverse_time), end.map(|axis| axis * inverse_time));
    let cut = minus(right_end, left_end);
    let cut2 = dot(cut, cut);
    let is_point = cut2 == 0.0;
    let t = if is_point { 0.5 } else { dot(minus(v, left_end), cut) / cut2 };
    let (t_left, t_right) = (dot(minus(v, left_end), left), dot(minus(v, right_end), right));
    let around = |end: [f64; 2]| {
        let n = polar(minus(v, end)).1;
        Some(Line { point: plus(end, radius * inverse_time, n), direction: [n[1], -n[0]] })
    };
    if (t < 0.0 && t_left < 0.0) || (is_point && t_left < 0.0 && t_right < 0.0) {
        return around(left_end);
    } else if t > 1.0 && t_right < 0.0 {
        return around(right_end);
    }
    let distance2 = |t: f64, from: [f64; 2], along: [f64; 2], counts: bool| {
        let to = minus(v, plus(from, t, along));
        if counts { dot(to, to) } else { f64::INFINITY }
    };
    let to_cut = distance2(t, left_end, cut, (0.0..=1.0).contains(&t) && !is_point);
    let to_left = distance2(t_left, left_end, left, t_left >= 0.0);
    let to_right = distance2(t_right, right_end, right, t_right >= 0.0);
    let (from, direction) = if to_cut <= to_left && to_cut <= to_right {
        (left_end, [-unit[0], -unit[1]])
    } else if to_left <= to_right {
        (left_end, left)
    } else {
        (right_end, [-right[0], -right[1]])
    };
    let outward = [-direction[1], direction[0]];
    Some(Line { point: plus(from, radius * inverse_time, outward), direction })
}

/// The half-planes of one person: first the walls', which are never given up, then the others'.
#[derive(Debug, Clone, Default)]
pub(super) struct Programme {
    lines: Vec<Line>,
    walls: usize,
    /// The lines of the fallback, kept for its memory.
    projected: Vec<Line>,
}

impl Programme {
    pub(super) fn clear(&mut self) {
        self.lines.clear();
        self.lines.reserve(USUAL);
        self.projected.clear();
        self.projected.reserve(USUAL);
        self.walls = 0;
    }

    pub(super) fn add(&mut self, line: Line) {
        self.lines.push(line);
    }

    /// What is added from here on may be given up.
    pub(super) fn end_of_walls(&mut self) {
        self.walls = self.lines.len();
    }

    /// Work on all lines, to move them to another space and back.
    pub(super) fn lines_mut(&mut self) -> &mut [Line] {
        &mut self.lines
    }

    /// Whether a line that is already there keeps the whole edge away.
    pub(super) fn covers(&self, start: [f64; 2], end: [f64; 2], inverse_time: f64, radius: f64) -> bool {
        self.lines.iter().any(|line| {
            let beyond = |p: [f64; 2]| {
                det(minus(p.map(|axis| axis * inverse_time), line.point), line.direction)
                    - inverse_time * radius
                    >= -PARALLEL
            };
            beyond(start) && beyond(end)
        })
    }

    /// The allowed velocity of at most `most` nearest to the wanted one. If there is none, the one that breaks the lines behind the
    /// walls' least.
    pub(super) fn nearest_allowed(&mut self, wanted: [f64; 2], most: f64) -> [f64; 2] {
        match nearest(&self.lines, most, wanted) {
            Ok(velocity) => velocity,
            Err((failed, velocity)) => self.least_bad(failed, most, velocity),
        }
    }

    /// The three-dimensional programme: the smallest distance by which all lines from `failed` on have to be broken.
    fn least_bad(&mut self, failed: usize, most: f64, mut velocity: [f64; 2]) -> [f64; 2] {
        let mut distance = 0.0;
        for number in failed..self.lines.len() {
            let line = self.lines[number];
            if det(line.direction, minus(line.point, velocity)) <= distance {
                continue;
            }
            self.projected.clear();
            self.projected.extend_from_slice(&self.lines[..self.walls]);
            for other in self.lines[self.walls.min(number)..number].iter() {
                let sine = det(line.direction, other.direction);
                let point = if sine.abs() > PARALLEL {
                    let t = det(other.direction, minus(line.point, other.point)) / sine;
                    plus(line.point, t, line.direction)
                } else if dot(line.direction, other.direction) > 0.0 {
                    continue;
                } else {
                    plus(line.point, 0.5, minus(other.point, line.point))
                };
                let direction = polar(minus(other.direction, line.direction)).1;
                self.projected.push(Line { point, direction });
            }
            // Where rounding leaves nothing allowed, what there was stays.
            if let Ok(better) = furthest(&self.projected, most, [-line.direction[1], line.direction[0]]) {
                velocity = better;
            }
            distance = det(line.direction, minus(line.point, velocity));
        }
        velocity
    }
}

/// The two-dimensional programme: the allowed velocity nearest to `wanted`, or the number of the line at which there was none left and
/// the best one before it.
fn nearest(lines: &[Line], most: f64, wanted: [f64; 2]) -> Result<[f64; 2], (usize, [f64; 2])> {
    let (speed, direction) = polar(wanted);
    let start = if speed > most { direction.map(|axis| axis * most) } else { wanted };
    incremental(lines, most, start, |line| dot(line.direction, minus(wanted, line.point)))
}

/// As [`nearest`], of the velocity furthest along a unit vector.
fn furthest(lines: &[Line], most: f64, along: [f64; 2]) -> Result<[f64; 2], (usize, [f64; 2])> {
    let start = along.map(|axis| axis * most);
    incremental(lines, most, start, |line| {
        if dot(along, line.direction) > 0.0 { f64::INFINITY } else { f64::NEG_INFINITY }
    })
}

/// Go through the lines; where the result breaks one, the new one is on it, as near as possible to what `best` says of the line.
fn incremental(
    lines: &[Line],
    most: f64,
    start: [f64; 2],
    best: impl Fn(&Line) -> f64,
) -> Result<[f64; 2], (usize, [f64; 2])> {
    let mut result = start;
    for (number, line) in lines.iter().enumerate() {
        if det(line.direction, minus(line.point, result)) > 0.0 {
            let Some((low, high)) = allowed(lines, number, most) else {
                return Err((number, result));
            };
            result = plus(line.point, best(line).clamp(low, high), line.direction);
        }
    }
    Ok(result)
}

/// The one-dimensional programme: which part of a line is within the speed and allowed by the lines before it.
fn allowed(lines: &[Line], number: usize, most: f64) -> Option<(f64, f64)> {
    let line = lines[number];
    let middle = -dot(line.point, line.direction);
    let square = middle * middle + most * most - dot(line.point, line.point);
    if square < 0.0 {
        return None;
    }
    let (mut low, mut high) = (middle - square.sqrt(), middle + square.sqrt());
    for earlier in &lines[..number] {
        let (sine, offset) = (
            det(line.direction, earlier.direction),
            det(earlier.direction, minus(line.point, earlier.point)),
        );
        if sine.abs() <= PARALLEL {
            if offset < 0.0 {
                return None;
            }
            continue;
        }
        let t = offset / sine;
        if sine >= 0.0 {
            high = high.min(t);
        } else {
            low = low.max(t);
        }
        if low > high {
            return None;
        }
    }
    (low <= high).then_some((low, high))
}
