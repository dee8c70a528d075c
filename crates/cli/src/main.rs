//! The `promenade` command: a thin dispatcher, one module per subcommand.

mod rviz;
mod up;

use std::process::ExitCode;

use clap::Parser;

/// Promenade, a ROS 2 pedestrian simulation.
#[derive(Debug, Parser)]
#[command(name = "promenade", version)]
enum Command {
    Up(up::UpArgs),
    Rviz(rviz::RvizArgs),
}

fn main() -> anyhow::Result<ExitCode> {
    match Command::parse() {
        Command::Up(args) => up::run(&args),
        Command::Rviz(args) => rviz::run(&args),
    }
}
