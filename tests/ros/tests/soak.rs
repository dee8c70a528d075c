//! Resets in a row do not leave anything behind. `PROMENADE_SOAK_RESETS` says how many; a thousand take a minute.

use anyhow::{Context as _, Result};
use promenade_ros_tests::soak::{Load, run};

/// Enough to see a leak of a few hundred bytes per person, few enough for every run of the tests.
const RESETS: u32 = 100;

/// Resets after which every buffer has its size.
const WARM: usize = 20;

/// Growth from then on that is noise of the allocator, KiB: 100 resets of 50 people at 200 bytes each would be more.
const NOISE_KIB: u64 = 1024;

#[test]
fn resets_in_a_row_keep_roster_ids_publishers_threads_and_memory() -> Result<()> {
    soak(false)
}

#[test]
fn resets_in_a_row_keep_the_simulator_outside_the_process_as_it_is_too() -> Result<()> {
    soak(true)
}

fn soak(has_simulator: bool) -> Result<()> {
    let resets = match std::env::var("PROMENADE_SOAK_RESETS") {
        Ok(text) => text.parse().context("PROMENADE_SOAK_RESETS is a number of resets")?,
        Err(_) => RESETS,
    };
    let samples = run(Load { resets, people: 50, robots: 5, has_simulator })?;
    let warm = samples.get(WARM).context("more resets than it takes to warm up")?;
    for sample in &samples[WARM..] {
        assert_eq!(sample.people, 50);
        assert_eq!((sample.threads, sample.publishers), (warm.threads, warm.publishers), "{sample:?}");
        assert!(
            sample.rss_kib <= warm.rss_kib + NOISE_KIB,
            "memory grows: {} KiB after {WARM} resets, {} KiB after {}",
            warm.rss_kib,
            sample.rss_kib,
            sample.episode
        );
    }
    Ok(())
}
