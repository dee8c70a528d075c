//! `promenade bench`: measurements, one JSON object per row with `--json`.
//!
//! A row states what was measured, with which parameters, and the figures. A peer is measured in the same run or not at all.

mod animate;
mod bus;
mod crowd;
mod gait;
mod hunav;
mod report;
mod reset;
mod stage;
mod validate;
mod world;

use std::io::Write;
use std::process::ExitCode;

use anyhow::Result;
use serde_json::{Map, Value};

/// Measure one part.
#[derive(Debug, clap::Args)]
pub(crate) struct BenchArgs {
    #[command(subcommand)]
    bench: Bench,
}

#[derive(Debug, clap::Subcommand)]
enum Bench {
    Animate(animate::AnimateArgs),
    Gait(gait::GaitArgs),
    Bus(bus::BusArgs),
    Hunav(hunav::HunavArgs),
    Crowd(crowd::CrowdArgs),
    Reset(reset::ResetArgs),
    Validate(validate::ValidateArgs),
    World(world::WorldArgs),
}

pub(crate) fn run(args: &BenchArgs) -> Result<ExitCode> {
    match &args.bench {
        Bench::Animate(args) => animate::run(args)?,
        Bench::Gait(args) => gait::run(args)?,
        Bench::Bus(args) => bus::run(args)?,
        Bench::Hunav(args) => hunav::run(args)?,
        Bench::Crowd(args) => crowd::run(args)?,
        Bench::Reset(args) => reset::run(args)?,
        Bench::Validate(args) => validate::run(args)?,
        Bench::World(args) => world::run(args)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Prints a row: JSON, or `key value` pairs for people.
fn print_row(json: bool, row: &Map<String, Value>) -> Result<()> {
    let mut out = std::io::stdout().lock();
    if json {
        writeln!(out, "{}", serde_json::to_string(row)?)?;
    } else {
        let pairs: Vec<String> = row
            .iter()
            .map(|(key, value)| match value {
                Value::String(text) => format!("{key} {text}"),
                value => format!("{key} {value}"),
            })
            .collect();
        writeln!(out, "{}", pairs.join("  "))?;
    }
    Ok(())
}

/// A figure rounded to what a noisy machine can mean.
fn rounded(value: f64) -> Value {
    let scale = 10f64.powf(3.0 - value.abs().max(1e-12).log10().floor());
    Value::from((value * scale).round() / scale)
}
