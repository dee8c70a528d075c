//! Many resets in a row, as `tests/soak.rs` but as many as one likes: `soak --resets 1000 --people 50 --robots 5 --csv soak.csv`.
//!
//! Prints one line of JSON: what changed, memory at the beginning and at the end, and how long a reset takes.

use std::fs::File;
use std::io::BufWriter;
use std::path::PathBuf;

use anyhow::{Context as _, Result};
use clap::Parser;
use promenade_ros_tests::soak::{Load, run, write_csv};

/// Resets a `human_simulator` again and again and looks at it from outside.
#[derive(Parser)]
struct Arguments {
    /// Resets in a row.
    #[arg(long, default_value_t = 1000)]
    resets: u32,
    /// People of the scenario; half of them are possessed.
    #[arg(long, default_value_t = 50)]
    people: usize,
    /// Robots of the scenario, followed by TF.
    #[arg(long, default_value_t = 5)]
    robots: usize,
    /// Where a line per reset goes.
    #[arg(long)]
    csv: Option<PathBuf>,
}

fn main() -> Result<()> {
    let Arguments { resets, people, robots, csv } = Arguments::parse();
    let samples = run(Load { resets, people, robots }, |sample| {
        if sample.episode % 100 == 0 {
            eprintln!("{} resets, {} KiB", sample.episode, sample.rss_kib);
        }
    })?;
    if let Some(path) = csv {
        let file = File::create(&path).with_context(|| format!("cannot write {}", path.display()))?;
        write_csv(&samples, BufWriter::new(file))?;
    }
    let (first, last) = (samples.first().context("no reset")?, samples.last().context("no reset")?);
    let quantile = |of: fn(&promenade_ros_tests::soak::Sample) -> f64, q: f64| {
        let mut values: Vec<f64> = samples.iter().map(of).collect();
        values.sort_by(f64::total_cmp);
        values[((values.len() - 1) as f64 * q) as usize]
    };
    println!(
        "{}",
        serde_json::json!({
            "bench": "soak",
            "resets": resets,
            "people": people,
            "robots": robots,
            "threads": [first.threads, last.threads],
            "publishers": [first.publishers, last.publishers],
            "rss_kib": [first.rss_kib, last.rss_kib],
            "answer_ms_p50": quantile(|s| s.answer_ms, 0.5),
            "answer_ms_p99": quantile(|s| s.answer_ms, 0.99),
            "first_tick_ms_p50": quantile(|s| s.first_tick_ms, 0.5),
            "first_tick_ms_p99": quantile(|s| s.first_tick_ms, 0.99),
        })
    );
    Ok(())
}
