//! The `promenade` command: a thin dispatcher, one module per subcommand.

mod bench;
mod check;
mod crowd;
mod draw;
mod fit;
mod hunav;
mod metrics;
mod pose;
mod run;
mod rviz;
mod up;
mod world;

use std::io::Write;
use std::process::ExitCode;

use clap::Parser;

/// Promenade: people, robots and tasks in one 2-D world, on ROS 2 and without it.
#[derive(Debug, Parser)]
#[command(name = "promenade", version)]
enum Command {
    Run(run::RunArgs),
    Check(check::CheckArgs),
    Up(up::UpArgs),
    Rviz(rviz::RvizArgs),
    Pose(pose::PoseArgs),
    Fit(fit::FitArgs),
    Crowd(crowd::CrowdArgs),
    Hunav(hunav::HunavArgs),
    World(world::WorldArgs),
    Metrics(metrics::MetricsArgs),
    Bench(bench::BenchArgs),
}

fn main() -> ExitCode {
    tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .with_max_level(tracing::Level::WARN)
        .without_time()
        .init();
    let result = match Command::parse() {
        Command::Run(args) => run::run(&args),
        Command::Check(args) => check::run(&args),
        Command::Pose(args) => pose::run(&args),
        Command::Fit(args) => fit::run(&args),
        Command::Crowd(args) => crowd::run(&args),
        Command::Hunav(args) => hunav::run(&args),
        Command::World(args) => world::run(&args),
        Command::Metrics(args) => metrics::run(&args),
        Command::Bench(args) => bench::run(&args),
        Command::Up(args) => up::run(&args),
        Command::Rviz(args) => rviz::run(&args),
    };
    result.unwrap_or_else(|error| {
        if is_closed_pipe(&error) {
            return ExitCode::SUCCESS;
        }
        // Without a terminal to complain to, the exit code has to say it alone.
        let _ = writeln!(std::io::stderr(), "error: {error:#}");
        ExitCode::FAILURE
    })
}

/// Whoever reads the output, such as `head`, has seen enough.
fn is_closed_pipe(error: &anyhow::Error) -> bool {
    let io = error.downcast_ref::<std::io::Error>();
    io.is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
}
