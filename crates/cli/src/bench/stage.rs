//! What benchmarks over ROS stand on: nodes of this installation, a probe of this checkout, a scenario of any size.

use std::fs;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::up::packages::{PROMENADE, Packages};

/// Namespace of the environment.
pub(super) const ENV: &str = "/arena/env_0";

/// A child that does not outlive the benchmark.
pub(super) struct Process {
    pub(super) name: &'static str,
    child: Child,
}

impl Process {
    pub(super) fn start(name: &'static str, path: &Path, arguments: &[String]) -> Result<Self> {
        let child = Command::new(path)
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .with_context(|| format!("cannot start {}", path.display()))?;
        Ok(Process { name, child })
    }

    /// The same, with its standard output to read.
    pub(super) fn start_talking(
        name: &'static str,
        path: &Path,
        arguments: &[String],
    ) -> Result<(Self, BufReader<ChildStdout>)> {
        let mut child = Command::new(path)
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start {}", path.display()))?;
        let lines = child.stdout.take().with_context(|| format!("{name} has no output"))?;
        Ok((Process { name, child }, BufReader::new(lines)))
    }

    /// A number of `/proc/<pid>/status`, such as `Threads` or, in kB, `VmRSS`.
    pub(super) fn status(&self, key: &str) -> Result<u64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id()))
            .with_context(|| format!("{} has ended", self.name))?;
        let line = status.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':'));
        let number = line.and_then(|rest| rest.split_whitespace().next()?.parse().ok());
        number.with_context(|| format!("no number {key} of {}", self.name))
    }

    /// CPU time used so far.
    pub(super) fn cpu(&self) -> Result<Duration> {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.child.id()))
            .with_context(|| format!("{} has ended", self.name))?;
        cpu_time(&stat).with_context(|| format!("cannot read the CPU time of {}", self.name))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// User and system time of a `/proc/<pid>/stat` line. Linux counts in hundredths of a second on every supported machine.
fn cpu_time(stat: &str) -> Option<Duration> {
    // The name in parentheses may hold anything, spaces included.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks = fields.get(11)?.parse::<u64>().ok()? + fields.get(12)?.parse::<u64>().ok()?;
    Some(Duration::from_millis(ticks * 10))
}

/// Starts a node as a launch file would.
pub(super) fn node(packages: &Packages, name: &'static str, parameters: &[String]) -> Result<Process> {
    let path = packages.executable(PROMENADE, name)?;
    let mut arguments = ["--ros-args", "--log-level", "warn"].map(str::to_owned).to_vec();
    if name != "dummy_sim" {
        let namespace = format!("__ns:={ENV}");
        arguments.extend(["-r".to_owned(), namespace, "-p".to_owned(), "use_sim_time:=true".to_owned()]);
    }
    arguments.extend(parameters.iter().flat_map(|p| ["-p".to_owned(), p.clone()]));
    Process::start(name, &path, &arguments)
}

/// The r2r client of this checkout, built if it is not there or not fresh.
pub(super) fn build_probe(name: &str) -> Result<PathBuf> {
    let manifest = Path::new("tests/ros/Cargo.toml");
    if !manifest.is_file() {
        bail!("no {}: run this in a checkout of Promenade, or pass --probe", manifest.display());
    }
    let target = Path::new("tests/ros/target");
    let status = Command::new("cargo")
        .args(["build", "--release", "--quiet", "--bin", name, "--target-dir"])
        .arg(target)
        .arg("--manifest-path")
        .arg(manifest)
        .status()
        .context("cannot run cargo to build the probe")?;
    if !status.success() {
        bail!(
            "the probe does not build: {status}; is the ROS environment sourced (source tools/ros2/setup.bash)?"
        );
    }
    Ok(target.join("release").join(name))
}

/// A scenario with people `p0..` on a grid, two metres apart, and robots in a row below them.
pub(super) fn crowd(people: u32, robots: u32) -> String {
    let columns = f64::from(people).sqrt().ceil() as u32;
    let mut text = "dynamic:\n".to_owned();
    for i in 0..people {
        let (x, y) = (2 * (i % columns), 2 * (i / columns));
        text += &format!("- {{name: p{i}, model: arenian, pose: [{x}.0, {y}.0, 0.0]}}\n");
    }
    if robots > 0 {
        text += "robots:\n";
    }
    for i in 0..robots {
        text += &format!("- {{start: [{}.0, -4.0, 0.0]}}\n", 2 * i);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpu_time_is_read_past_a_hostile_process_name() {
        let stat = "77 (a ) b) S 1 77 77 0 -1 4194560 10 0 0 0 150 50 0 0 20 0 5 0 100 0 0";
        assert_eq!(cpu_time(stat), Some(Duration::from_secs(2)));
        assert_eq!(cpu_time("77 (short) S 1"), None);
    }

    #[test]
    fn the_crowd_is_a_scenario() {
        let loaded =
            promenade_scenario::Scenario::parse(&crowd(7, 2), Path::new("scenario.yaml")).expect("loads");
        assert_eq!((loaded.value.dynamics.len(), loaded.value.robots.len()), (7, 2));
    }
}
