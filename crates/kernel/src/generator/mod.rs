//! The generator of worlds and crowds that were first run in Python: NumPy's PCG64, seeded by number or by the name of a stream
//! (crowd-engine specification, section 24; robot-world specification, section 15).
//!
//! The seed of a stream is a digest of the run's seed and the stream's name, so the order in which streams are made does not matter.
//! The generator is PCG64 seeded through NumPy's `SeedSequence`. Nothing here may take entropy from the machine.

mod ziggurat;

use blake2::digest::consts::U8;
use blake2::{Blake2b, Digest};
use rand_pcg::Pcg64;
use rand_pcg::rand_core::Rng;

/// Seed of the stream `name` in the run seeded with `seed`.
#[must_use]
pub fn stream_seed(seed: i64, name: &str) -> u64 {
    let digest: [u8; 8] = Blake2b::<U8>::digest(format!("{seed}/{name}")).into();
    u64::from_le_bytes(digest)
}

/// A stream of random numbers.
#[derive(Debug, Clone)]
pub struct Generator {
    pcg: Pcg64,
    /// The upper half of a 64-bit draw of which the lower half was used.
    spare: Option<u32>,
}

impl Generator {
    /// The stream `name` of the run seeded with `seed`, at its start.
    #[must_use]
    pub fn named(seed: i64, name: &str) -> Self {
        Self::seeded(stream_seed(seed, name))
    }

    /// The generator of a stream seed.
    #[must_use]
    pub fn seeded(seed: u64) -> Self {
        let [state_high, state_low, stream_high, stream_low] = seed_sequence(seed);
        let wide = |high: u64, low: u64| (u128::from(high) << 64) | u128::from(low);
        Self { pcg: Pcg64::new(wide(state_high, state_low), wide(stream_high, stream_low)), spare: None }
    }

    fn next_u64(&mut self) -> u64 {
        self.pcg.next_u64()
    }

    fn next_u32(&mut self) -> u32 {
        self.spare.take().unwrap_or_else(|| {
            let bits = self.pcg.next_u64();
            self.spare = Some((bits >> 32) as u32);
            bits as u32
        })
    }

    /// Uniform in [0, 1).
    pub fn random(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Uniform in [`low`, `high`).
    pub fn uniform(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.random()
    }

    /// Normal with mean 0 and deviation 1.
    pub fn standard_normal(&mut self) -> f64 {
        ziggurat::standard_normal(self)
    }

    /// Uniform in `0..count`; 0 for an empty range, without a draw.
    ///
    /// Lemire's method (2019, ACM Trans. Model. Comput. Simul. 29(1)) on 32-bit halves of the draws.
    pub fn choice(&mut self, count: u32) -> u32 {
        if count <= 1 {
            return 0;
        }
        let threshold = count.wrapping_neg() % count;
        loop {
            let product = u64::from(self.next_u32()) * u64::from(count);
            if product as u32 >= threshold {
                return (product >> 32) as u32;
            }
        }
    }

    /// Poisson with a mean in [0, 10); a mean outside is taken as the nearest one inside.
    ///
    /// Knuth's product of uniforms, the reference's method below 10, which is far above what one tick of a source asks for.
    pub fn poisson(&mut self, mean: f64) -> u32 {
        if mean.is_nan() || mean <= 0.0 {
            return 0;
        }
        let limit = (-mean.min(10.0)).exp();
        let (mut count, mut product) = (0, self.random());
        while product > limit {
            count += 1;
            product *= self.random();
        }
        count
    }
}

/// Four words of NumPy's `SeedSequence(seed)`: a hash of the entropy into a pool of four 32-bit words, read out twice over.
fn seed_sequence(seed: u64) -> [u64; 4] {
    let mut hash = Hash { constant: 0x43b0_d7e5, multiplier: 0x931e_8875 };
    let mut pool = [seed as u32, (seed >> 32) as u32, 0, 0].map(|word| hash.apply(word));
    for source in 0..4 {
        for target in (0..4).filter(|target| *target != source) {
            let hashed = hash.apply(pool[source]);
            let mixed = pool[target].wrapping_mul(0xca01_f9dd).wrapping_sub(hashed.wrapping_mul(0x4973_f715));
            pool[target] = mixed ^ (mixed >> 16);
        }
    }
    let mut hash = Hash { constant: 0x8b51_f9dd, multiplier: 0x58f3_8ded };
    let words: [u32; 8] = std::array::from_fn(|i| hash.apply(pool[i % 4]));
    std::array::from_fn(|i| u64::from(words[2 * i]) | (u64::from(words[2 * i + 1]) << 32))
}

struct Hash {
    constant: u32,
    multiplier: u32,
}

impl Hash {
    fn apply(&mut self, word: u32) -> u32 {
        let word = word ^ self.constant;
        self.constant = self.constant.wrapping_mul(self.multiplier);
        let word = word.wrapping_mul(self.constant);
        word ^ (word >> 16)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stream_seeds_have_their_published_values() {
        assert_eq!(stream_seed(42, "agent_7_params"), 9_688_537_454_485_785_280);
        assert_eq!(stream_seed(42, "spawn_scheduler/source_0/event/0"), 18_098_674_888_770_636_599);
        assert_eq!(stream_seed(0, "waypoint_advance"), 7_055_759_726_132_910_836);
    }

    #[test]
    fn normal_variates_have_mean_zero_deviation_one_and_a_tail() {
        let mut generator = Generator::seeded(1);
        let draws: Vec<f64> = (0..200_000).map(|_| generator.standard_normal()).collect();
        let count = draws.len() as f64;
        let mean = draws.iter().sum::<f64>() / count;
        let deviation = (draws.iter().map(|z| z * z).sum::<f64>() / count).sqrt();
        assert!(mean.abs() < 0.01 && (deviation - 1.0).abs() < 0.01, "{mean} {deviation}");
        assert!(draws.iter().any(|z| *z > TAIL_EDGE) && draws.iter().any(|z| *z < -TAIL_EDGE));
    }

    const TAIL_EDGE: f64 = 3.66;

    #[test]
    fn degenerate_requests_draw_nothing() {
        let mut generator = Generator::seeded(1);
        assert_eq!((generator.choice(0), generator.choice(1)), (0, 0));
        assert_eq!((generator.poisson(0.0), generator.poisson(-1.0), generator.poisson(f64::NAN)), (0, 0, 0));
        assert_eq!(generator.random(), Generator::seeded(1).random());
    }
}
