//! How long a cycle is: autocorrelation of the left hip, then Gauss-Newton on the rate (human-layer specification,
//! section 11, steps 2 and 4).

use std::f64::consts::TAU;

use super::{
    FitError,
    waves::{normal_matrix, push_row, right_hand_side},
};

/// A hip that moves less than this is standing, radians rms.
const STANDING: f64 = 1e-6;
/// A maximum of the autocorrelation this close to the best is preferred when it is earlier.
const GOOD_ENOUGH: f64 = 0.8;
const STEPS: usize = 50;
/// How far the refined rate may end from where it started.
const DRIFT: f64 = 0.2;

/// The period in frames.
pub(super) fn period(hip: &[f64]) -> Result<f64, FitError> {
    let detrended = detrended(hip);
    let n = detrended.len();
    let rms = (detrended.iter().map(|x| x * x).sum::<f64>() / n as f64).sqrt();
    if rms < STANDING {
        return Err(FitError::Standing);
    }
    let reach = n.saturating_sub(2).min(n / 2 + 1);
    let correlation: Vec<f64> = (0..=reach)
        .map(|lag| {
            let pairs = detrended.iter().zip(&detrended[lag..]);
            pairs.map(|(a, b)| a * b).sum::<f64>() / (n - lag) as f64
        })
        .collect();
    let Some(start) = correlation.iter().position(|value| *value < 0.0) else {
        return Err(FitError::TooFewCycles);
    };
    let peaks: Vec<usize> = (start.max(1)..reach)
        .filter(|&lag| {
            let here = correlation[lag];
            lag <= n / 2 && here > 0.0 && here > correlation[lag - 1] && here >= correlation[lag + 1]
        })
        .collect();
    let best = peaks.iter().map(|lag| correlation[*lag]).fold(0.0, f64::max);
    let Some(&lag) = peaks.iter().find(|lag| correlation[**lag] >= GOOD_ENOUGH * best) else {
        return Err(FitError::TooFewCycles);
    };
    let [before, here, after] = [correlation[lag - 1], correlation[lag], correlation[lag + 1]];
    let bend = before - 2.0 * here + after;
    let refined = if bend < 0.0 { 0.5 * (before - after) / bend } else { 0.0 };
    Ok(lag as f64 + refined)
}

fn detrended(values: &[f64]) -> Vec<f64> {
    let n = values.len() as f64;
    let middle = (n - 1.0) / 2.0;
    let mean = values.iter().sum::<f64>() / n;
    let (mut along, mut across) = (0.0, 0.0);
    for (index, value) in values.iter().enumerate() {
        let t = index as f64 - middle;
        along += t * (value - mean);
        across += t * t;
    }
    let slope = if across > 0.0 { along / across } else { 0.0 };
    values.iter().enumerate().map(|(index, value)| value - mean - slope * (index as f64 - middle)).collect()
}

/// The phase rate in radians per frame that fits the hip best, near `start`.
pub(super) fn refined_rate(hip: &[f64], start: f64, harmonics: usize) -> f64 {
    let middle = (hip.len() as f64 - 1.0) / 2.0;
    let span = middle.max(1.0);
    let width = 2 * harmonics + 2;
    let mut rate = start;
    let mut parts = vec![0.0; 2 * harmonics];
    for _ in 0..STEPS {
        // The waveform at this rate and, in one more column, how it changes with the rate; time in units of `span`
        // keeps the columns alike in size.
        let mut rows = Vec::with_capacity(hip.len() * width);
        for index in 0..hip.len() {
            let t = index as f64 - middle;
            push_row(&mut rows, rate * t, harmonics);
            let waves = &rows[rows.len() - 2 * harmonics..];
            let slope: f64 = (1u32..)
                .zip(waves.chunks_exact(2).zip(parts.chunks_exact(2)))
                .map(|(k, (wave, part))| f64::from(k) * (part[0] * wave[1] - part[1] * wave[0]))
                .sum();
            rows.push(slope * t / span);
        }
        let first = parts.iter().all(|part| *part == 0.0);
        let used = if first { width - 1 } else { width };
        if first {
            rows = rows.chunks_exact(width).flat_map(|row| row[..used].to_vec()).collect();
        }
        let Some(normal) = normal_matrix(&rows, used).cholesky() else { return start };
        let solution = normal.solve(&right_hand_side(&rows, used, hip));
        parts.copy_from_slice(&solution.as_slice()[1..width - 1]);
        if first {
            continue;
        }
        let step = solution[width - 1] / span;
        rate += step;
        if !rate.is_finite() || (rate - start).abs() > DRIFT * start {
            return start;
        }
        if step.abs() < 1e-14 * rate {
            break;
        }
    }
    rate
}

/// Whole cycles of a rate in that many frames. Half a frame may be missing at the end: the rate is never exact, and a clip
/// of six cycles has six.
pub(super) fn whole_cycles(frames: usize, rate: f64) -> usize {
    ((frames as f64 + 0.5) * rate / TAU).floor() as usize
}
