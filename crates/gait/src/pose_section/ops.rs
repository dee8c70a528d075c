//! `joints:` operations of a gait section: finding what a target names, and transforming signals.
//!
//! A gait is taken apart into one signal per joint, since an operation may part what one key held together, and put
//! together again at the end. It must never see a file: positions are the caller's.

use std::f64::consts::PI;

use super::section::Op;
use crate::{
    error::ProfileProblem,
    joint::{Joint, Side},
    nearest::nearest,
    profile::{Binding, Harmonic, Profile, Signal},
};

/// Between a key and the first joint whose signal is no longer the key's.
const PARTED: &str = "_of_";

/// A joint with its own copy of the signal that its key names.
#[derive(Debug, Clone)]
struct Bound {
    joint: Joint,
    key: String,
    signal: Signal,
    shift: f64,
}

/// A gait open for operations.
#[derive(Debug)]
pub(crate) struct OpenGait {
    symmetric: bool,
    bound: Vec<Bound>,
}

impl OpenGait {
    /// Takes a profile's signals apart.
    pub(crate) fn of(profile: &Profile) -> Self {
        let bound = profile
            .bindings
            .iter()
            .map(|binding| {
                let (key, signal) = &profile.signals[binding.signal];
                Bound { joint: binding.joint, key: key.clone(), signal: signal.clone(), shift: binding.shift }
            })
            .collect();
        Self { symmetric: profile.symmetric, bound }
    }

    /// Applies operations to a target in order.
    pub(crate) fn apply(
        &mut self,
        gait: &'static str,
        target: &str,
        ops: &[Op],
    ) -> Result<(), ProfileProblem> {
        let targets = self.targets(gait, target)?;
        for op in ops {
            if self.symmetric {
                let Some(first) = targets.first() else { continue };
                let signal = transformed(&self.bound[*first].signal, op);
                for index in &targets {
                    self.bound[*index].signal.clone_from(&signal);
                }
            } else {
                for index in &targets {
                    self.bound[*index].signal = transformed(&self.bound[*index].signal, op);
                }
            }
        }
        Ok(())
    }

    /// Writes signals and bindings back. Joints of one key keep sharing it while their signals are equal; one that
    /// parted gets a key of its own.
    pub(crate) fn close(self, profile: &mut Profile) {
        profile.signals.clear();
        profile.bindings.clear();
        for Bound { joint, key, signal, shift } in self.bound {
            let known = profile.signals.iter().position(|(other, held)| {
                let of_key = *other == key || other.starts_with(&format!("{key}{PARTED}"));
                of_key && *held == signal
            });
            let index = known.unwrap_or_else(|| {
                let free = profile.signals.iter().all(|(other, _)| *other != key);
                let key = if free { key } else { format!("{key}{PARTED}{joint}") };
                profile.signals.push((key, signal));
                profile.signals.len() - 1
            });
            profile.bindings.push(Binding { joint, signal: index, shift });
        }
    }

    /// What a target names, first match wins: a signal key, a pair, a joint. Unbound joints are created at rest.
    fn targets(&mut self, gait: &'static str, target: &str) -> Result<Vec<usize>, ProfileProblem> {
        let of_key: Vec<usize> =
            (0..self.bound.len()).filter(|index| self.bound[*index].key == target).collect();
        if !of_key.is_empty() {
            return Ok(of_key);
        }
        let side = |prefix: &str| Joint::parse(&format!("{prefix}{target}"));
        // `r_wrist` is a joint and a pair (l_r_wrist, r_r_wrist); the pair wins.
        if let (Some(left), Some(right)) = (side("l_"), side("r_")) {
            return Ok(vec![self.bind(left, target, 0.0), self.bind(right, target, PI)]);
        }
        let Some(joint) = Joint::parse(target) else {
            let signals = self.keys();
            let mut known: Vec<&str> = signals.iter().map(String::as_str).collect();
            for joint in Joint::ALL {
                known.push(if joint.side() == Side::Left { pair_name(joint) } else { joint.name() });
            }
            let nearest = nearest(target, &known).map(str::to_owned);
            return Err(ProfileProblem::UnknownTarget { gait, found: target.to_owned(), nearest, signals });
        };
        if self.symmetric && joint.side() != Side::Middle {
            return Err(ProfileProblem::OneSided { gait, joint: joint.name(), pair: pair_name(joint) });
        }
        Ok(vec![self.bind(joint, target, 0.0)])
    }

    fn bind(&mut self, joint: Joint, key: &str, shift: f64) -> usize {
        if let Some(index) = self.bound.iter().position(|bound| bound.joint == joint) {
            return index;
        }
        self.bound.push(Bound { joint, key: key.to_owned(), signal: Signal::default(), shift });
        self.bound.len() - 1
    }

    fn keys(&self) -> Vec<String> {
        let mut keys: Vec<String> = Vec::new();
        for bound in &self.bound {
            if !keys.contains(&bound.key) {
                keys.push(bound.key.clone());
            }
        }
        keys
    }
}

/// Name of the pair a one-sided joint belongs to.
fn pair_name(joint: Joint) -> &'static str {
    &joint.name()[2..]
}

fn transformed(signal: &Signal, op: &Op) -> Signal {
    match op {
        Op::Set(new) => new.clone(),
        Op::Scale(factor) => Signal {
            mean: signal.mean * factor,
            harmonics: signal
                .harmonics
                .iter()
                .map(|harmonic| Harmonic { amplitude: harmonic.amplitude * factor, ..*harmonic })
                .collect(),
        },
        Op::Offset(added) => sum(signal, added),
    }
}

/// The sum of two signals. What adds nothing changes nothing, bit for bit.
fn sum(signal: &Signal, added: &Signal) -> Signal {
    let still = Harmonic { amplitude: 0.0, phase: 0.0 };
    let reach = added.harmonics.iter().rposition(|harmonic| harmonic.amplitude != 0.0).map_or(0, |at| at + 1);
    let harmonics = (0..signal.harmonics.len().max(reach))
        .map(|k| {
            let a = signal.harmonics.get(k).copied().unwrap_or(still);
            let b = added.harmonics.get(k).copied().unwrap_or(still);
            match (a.amplitude == 0.0, b.amplitude == 0.0) {
                (_, true) => a,
                (true, false) => b,
                (false, false) => {
                    let (sin_a, cos_a) = a.phase.sin_cos();
                    let (sin_b, cos_b) = b.phase.sin_cos();
                    let across = a.amplitude * sin_a + b.amplitude * sin_b;
                    let along = a.amplitude * cos_a + b.amplitude * cos_b;
                    Harmonic { amplitude: along.hypot(across), phase: across.atan2(along) }
                }
            }
        })
        .collect();
    let mean = if added.mean == 0.0 { signal.mean } else { signal.mean + added.mean };
    Signal { mean, harmonics }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn signal(mean: f64, harmonics: &[[f64; 2]]) -> Signal {
        let harmonics =
            harmonics.iter().map(|[amplitude, phase]| Harmonic { amplitude: *amplitude, phase: *phase });
        Signal { mean, harmonics: harmonics.collect() }
    }

    #[test]
    fn sums_are_the_sums_of_the_values() {
        let a = signal(0.2, &[[0.5, 0.3], [0.0, 1.0], [0.1, -2.0]]);
        let b = signal(-0.1, &[[0.2, 2.9], [0.3, 0.7], [0.0, 4.0], [0.05, 1.0]]);
        let c = sum(&a, &b);
        for step in 0..100 {
            let angle = f64::from(step) * 0.1;
            assert!((c.at(angle) - a.at(angle) - b.at(angle)).abs() < 1e-15);
        }
        assert_eq!(c.harmonics[1], b.harmonics[1]);
        assert_eq!(c.harmonics[2], a.harmonics[2]);
    }

    #[test]
    fn nothing_added_changes_no_bit() {
        let a = signal(-0.0, &[[0.5, 0.3], [0.0, 1.0]]);
        for nothing in [signal(0.0, &[]), signal(-0.0, &[[0.0, 9.0], [0.0, 0.0], [0.0, 1.0]])] {
            let c = sum(&a, &nothing);
            assert_eq!(c, a);
            assert!(c.mean.is_sign_negative());
        }
        assert_eq!(transformed(&a, &Op::Scale(1.0)), a);
    }
}
