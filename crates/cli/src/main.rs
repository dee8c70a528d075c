//! The `promenade` command: a thin dispatcher, one module per subcommand.

mod rviz;
mod up;

use std::io::Write;
use std::process::ExitCode;

use clap::Parser;

/// Promenade, a ROS 2 pedestrian simulation.
#[derive(Debug, Parser)]
#[command(name = "promenade", version)]
enum Command {
    Up(up::UpArgs),
    Rviz(rviz::RvizArgs),
}

fn main() -> ExitCode {
    let result = match Command::parse() {
        Command::Up(args) => up::run(&args),
        Command::Rviz(args) => rviz::run(&args),
    };
    result.unwrap_or_else(|error| {
        // Without a terminal to complain to, the exit code has to say it alone.
        let _ = writeln!(std::io::stderr(), "error: {error:#}");
        ExitCode::FAILURE
    })
}
