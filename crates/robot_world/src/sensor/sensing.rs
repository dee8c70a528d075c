//! All scanners of a world, run once per step.

use std::collections::BTreeMap;

use promenade_kernel::generator::Generator;

use super::beams::Beams;
use super::cast::{Eye, Hits, NOTHING};
use super::targets::Targets;
use super::{LidarSpec, Scan};
use crate::objects::Objects;
use crate::shape::{dot, minus, rotate};
use crate::wrap;

/// Renews scans. It keeps its buffers and nothing that lasts.
#[derive(Debug, Default)]
pub struct Sensing {
    targets: Targets,
    hits: Hits,
    /// Beams without errors of angle, by the bits of the angle range and the number of beams.
    nominal: BTreeMap<(u64, usize), Beams>,
}

impl Sensing {
    /// Renews the scans of all objects from the scene as it is, in id order; noise is drawn from `generator`.
    pub fn sense(&mut self, objects: &mut Objects, exact_circles: bool, generator: &mut Generator) {
        if objects.sensors.iter().all(Vec::is_empty) {
            return;
        }
        self.targets.renew(objects);
        for row in 0..objects.len() {
            let mut scans = std::mem::take(&mut objects.scans[row]);
            scans.resize_with(objects.sensors[row].len(), Scan::default);
            for (spec, scan) in objects.sensors[row].iter().zip(&mut scans) {
                self.scan(objects, row, spec, scan, exact_circles, generator);
            }
            objects.scans[row] = scans;
        }
    }

    fn scan(
        &mut self,
        objects: &Objects,
        row: usize,
        spec: &LidarSpec,
        scan: &mut Scan,
        exact_circles: bool,
        generator: &mut Generator,
    ) {
        let state = &objects.state[row];
        let [dx, dy] = rotate(objects.rotation[row], [spec.offset[0], spec.offset[1]]);
        scan.origin = [state[0] + dx, state[1] + dy, wrap(state[2] + spec.offset[2])];
        let blurred;
        let beams = if spec.std.is_some() && spec.angle_std > 0.0 {
            blurred = Beams::blurred(spec, generator);
            &blurred
        } else {
            let key = (spec.angle_range.to_bits(), spec.number);
            self.nominal.entry(key).or_insert_with(|| Beams::nominal(spec))
        };
        let (sin, cos) = scan.origin[2].sin_cos();
        let eye = Eye {
            position: [scan.origin[0], scan.origin[1]],
            rotation: [sin, cos],
            range: spec.range_max,
            carrier: row as u32,
        };
        self.hits.cast(&eye, beams, &self.targets, objects, exact_circles);
        measure(
            objects,
            row,
            spec,
            &self.hits,
            |beam| rotate(eye.rotation, beams.directions[beam]),
            scan,
            generator,
        );
    }
}

/// What the scanner makes of its hits: noise, limits of range, velocities.
fn measure(
    objects: &Objects,
    carrier: usize,
    spec: &LidarSpec,
    hits: &Hits,
    direction: impl Fn(usize) -> [f64; 2],
    scan: &mut Scan,
    generator: &mut Generator,
) {
    for column in [&mut scan.ranges, &mut scan.radial_velocity] {
        column.clear();
    }
    scan.valid.clear();
    scan.velocity.clear();
    for (beam, (distance, row)) in hits.distance.iter().zip(&hits.row).enumerate() {
        let hit = *row != NOTHING;
        let noise = if hit { spec.std.map_or(0.0, |std| std * generator.standard_normal()) } else { 0.0 };
        let range = if hit { distance + noise } else { spec.range_max };
        let valid = hit && (spec.range_min..=spec.range_max).contains(&range);
        // Not `clamp`: that panics when the limits are the wrong way round.
        scan.ranges.push(range.max(spec.range_min).min(spec.range_max));
        scan.valid.push(valid);
        if let Some(fmcw) = &spec.fmcw {
            scan.radial_velocity.push(if valid {
                let own = if fmcw.motion_compensate { [0.0; 2] } else { objects.velocity_xy[carrier] };
                let noise = if fmcw.velocity_noise_std > 0.0 {
                    fmcw.velocity_noise_std * generator.standard_normal()
                } else {
                    0.0
                };
                dot(minus(objects.velocity_xy[*row as usize], own), direction(beam)) + noise
            } else {
                0.0
            });
        } else if spec.has_velocity {
            scan.velocity.push(if hit { objects.velocity_xy[*row as usize] } else { [0.0; 2] });
        }
    }
}
