//! Linear least squares of harmonics: a mean and sine and cosine pairs at given phases.

use nalgebra::{Cholesky, DMatrix, DVector, Dyn};

use crate::profile::{Harmonic, Signal};

/// Amplitudes and means below this are nothing, radians.
const NOTHING: f64 = 1e-6;

/// A fitted waveform: `mean + sum of a_k sin(k psi) + b_k cos(k psi)`.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Wave {
    pub(super) mean: f64,
    /// `[a_k, b_k]` from the fundamental up.
    pub(super) parts: Vec<[f64; 2]>,
}

impl Wave {
    pub(super) fn zero(harmonics: usize) -> Self {
        Self { mean: 0.0, parts: vec![[0.0; 2]; harmonics] }
    }

    /// Value and derivative at a phase.
    pub(super) fn at(&self, psi: f64) -> [f64; 2] {
        let (sin, cos) = psi.sin_cos();
        let [mut s, mut c] = [sin, cos];
        let [mut value, mut slope] = [self.mean, 0.0];
        for ([a, b], k) in self.parts.iter().zip(1u32..) {
            value += a * s + b * c;
            slope += f64::from(k) * (a * c - b * s);
            [s, c] = [s * cos + c * sin, c * cos - s * sin];
        }
        [value, slope]
    }

    /// Phase of the fundamental as a sine, radians.
    pub(super) fn fundamental_phase(&self) -> f64 {
        self.parts.first().map_or(0.0, |[a, b]| b.atan2(*a))
    }

    /// The waveform half a cycle later: odd harmonics change sign.
    pub(super) fn half_a_cycle_later(&self) -> Self {
        let parts = self
            .parts
            .iter()
            .enumerate()
            .map(|(index, [a, b])| if index % 2 == 0 { [-a, -b] } else { [*a, *b] })
            .collect();
        Self { mean: self.mean, parts }
    }

    pub(super) fn combined(&self, other: &Self, of_self: f64, of_other: f64) -> Self {
        let parts = self
            .parts
            .iter()
            .zip(&other.parts)
            .map(|([a, b], [c, d])| [of_self * a + of_other * c, of_self * b + of_other * d])
            .collect();
        Self { mean: of_self * self.mean + of_other * other.mean, parts }
    }

    /// Root of the energy of the harmonics, without the mean.
    pub(super) fn rms_amplitude(&self) -> f64 {
        self.parts.iter().map(|[a, b]| 0.5 * (a * a + b * b)).sum::<f64>().sqrt()
    }

    /// Root mean square of the whole waveform.
    pub(super) fn rms(&self) -> f64 {
        self.mean.hypot(self.rms_amplitude())
    }

    /// As a signal, without what is nothing.
    pub(super) fn signal(&self) -> Signal {
        let mut harmonics: Vec<Harmonic> = self
            .parts
            .iter()
            .map(|[a, b]| {
                let amplitude = a.hypot(*b);
                let phase = if amplitude < NOTHING { 0.0 } else { b.atan2(*a) };
                Harmonic { amplitude: if amplitude < NOTHING { 0.0 } else { amplitude }, phase }
            })
            .collect();
        while harmonics.last().is_some_and(|harmonic| harmonic.amplitude == 0.0) {
            harmonics.pop();
        }
        Signal { mean: if self.mean.abs() < NOTHING { 0.0 } else { self.mean }, harmonics }
    }
}

/// The harmonics at a set of phases, ready to fit any number of columns of values.
pub(super) struct Harmonics {
    count: usize,
    /// Row by row: 1, sin psi, cos psi, sin 2 psi, ...
    rows: Vec<f64>,
    normal: Cholesky<f64, Dyn>,
}

impl Harmonics {
    /// `None` when the phases do not tell that many harmonics apart.
    pub(super) fn at(phases: &[f64], count: usize) -> Option<Self> {
        let width = 2 * count + 1;
        let mut rows = Vec::with_capacity(phases.len() * width);
        for psi in phases {
            push_row(&mut rows, *psi, count);
        }
        let normal = normal_matrix(&rows, width).cholesky()?;
        Some(Self { count, rows, normal })
    }

    /// The least-squares waveform of values at the phases.
    pub(super) fn fit(&self, values: &[f64]) -> Wave {
        let solution = self.normal.solve(&right_hand_side(&self.rows, 2 * self.count + 1, values));
        let parts = (0..self.count).map(|k| [solution[2 * k + 1], solution[2 * k + 2]]).collect();
        Wave { mean: solution[0], parts }
    }

    /// Sum of squared differences between values and a waveform at the phases.
    pub(super) fn residual(&self, wave: &Wave, values: &[f64]) -> f64 {
        let width = 2 * self.count + 1;
        let mut coefficients = vec![wave.mean];
        coefficients.extend(wave.parts.iter().flatten());
        self.rows
            .chunks_exact(width)
            .zip(values)
            .map(|(row, value)| {
                let fitted: f64 = row.iter().zip(&coefficients).map(|(x, c)| x * c).sum();
                (value - fitted) * (value - fitted)
            })
            .sum()
    }
}

/// Appends 1, sin psi, cos psi, sin 2 psi, cos 2 psi, ...
pub(super) fn push_row(rows: &mut Vec<f64>, psi: f64, count: usize) {
    let (sin, cos) = psi.sin_cos();
    let [mut s, mut c] = [sin, cos];
    rows.push(1.0);
    for _ in 0..count {
        rows.extend([s, c]);
        [s, c] = [s * cos + c * sin, c * cos - s * sin];
    }
}

/// The product of the transposed rows with themselves.
pub(super) fn normal_matrix(rows: &[f64], width: usize) -> DMatrix<f64> {
    let mut normal = DMatrix::zeros(width, width);
    for row in rows.chunks_exact(width) {
        for i in 0..width {
            for j in 0..=i {
                normal[(i, j)] += row[i] * row[j];
            }
        }
    }
    for i in 0..width {
        for j in i + 1..width {
            normal[(i, j)] = normal[(j, i)];
        }
    }
    normal
}

/// The product of the transposed rows with a column.
pub(super) fn right_hand_side(rows: &[f64], width: usize, values: &[f64]) -> DVector<f64> {
    let mut side = DVector::zeros(width);
    for (row, value) in rows.chunks_exact(width).zip(values) {
        for (sum, x) in side.iter_mut().zip(row) {
            *sum += x * value;
        }
    }
    side
}
