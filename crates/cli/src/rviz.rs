//! `promenade rviz`: writes an rviz2 configuration for one environment.
//!
//! Fills the two templates of `configs/rviz/`. The one with the ROS4HRI skeletons is chosen when the `hri_rviz` plugin is installed,
//! the one with plain markers otherwise. Starts nothing.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;

use crate::up::packages::Packages;

const WITH_SKELETONS: &str = include_str!("../../../configs/rviz/humans_hri.rviz");
const WITH_MARKERS: &str = include_str!("../../../configs/rviz/humans_markers.rviz");

/// Writes an rviz2 configuration that shows the people of an environment.
#[derive(Debug, clap::Args)]
pub(crate) struct RvizArgs {
    /// Namespace of the environment.
    #[arg(long, value_name = "NAMESPACE", default_value = "/arena/env_0", value_parser = namespace)]
    env: String,

    /// Frame that everything is shown in.
    #[arg(long, value_name = "FRAME", default_value = "map", value_parser = frame)]
    fixed_frame: String,

    /// File to write; standard output without it.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

fn namespace(text: &str) -> Result<String, String> {
    let name = |part: &str| {
        part.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && part.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    match text.strip_prefix('/') {
        Some(parts) if parts.split('/').all(name) => Ok(text.to_owned()),
        _ => Err("expected an absolute ROS namespace such as /arena/env_0".to_owned()),
    }
}

fn frame(text: &str) -> Result<String, String> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || "_-./".contains(c);
    if !text.is_empty() && text.chars().all(allowed) {
        Ok(text.to_owned())
    } else {
        Err("expected a frame name of letters, digits and _ - . /".to_owned())
    }
}

fn fill(template: &str, env: &str, fixed_frame: &str) -> String {
    template.replace("{env}", env).replace("{fixed_frame}", fixed_frame)
}

/// Runs `promenade rviz`.
pub(crate) fn run(args: &RvizArgs) -> anyhow::Result<ExitCode> {
    let has_plugin = Packages::from_environment(Path::new(".")).prefix("hri_rviz").is_ok();
    let template = if has_plugin { WITH_SKELETONS } else { WITH_MARKERS };
    let config = fill(template, &args.env, &args.fixed_frame);
    let mut stderr = std::io::stderr();
    if !has_plugin {
        writeln!(stderr, "hri_rviz is not installed: people are shown as markers")
            .context("cannot write to the terminal")?;
    }
    match &args.out {
        None => std::io::stdout().write_all(config.as_bytes()).context("cannot write the configuration")?,
        Some(path) => {
            std::fs::write(path, config).with_context(|| format!("cannot write {}", path.display()))?;
            let (env, path) = (&args.env, path.display());
            writeln!(
                std::io::stdout(),
                "rviz2 -d {path} --ros-args -r __ns:={env} -r /tf:={env}/humans/tf -r /tf_static:={env}/humans/tf_static \
                 -p use_sim_time:=true"
            )
            .context("cannot write to the terminal")?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_templates_are_filled_completely() {
        for template in [WITH_SKELETONS, WITH_MARKERS] {
            let config = fill(template, "/arena/env_3", "env_3/map");
            assert!(!config.contains("{env}") && !config.contains("{fixed_frame}"));
            let config: serde_json::Value = serde_saphyr::from_str(&config).expect("YAML");
            assert_eq!(config["Visualization Manager"]["Global Options"]["Fixed Frame"], "env_3/map");
            let pedestrians = &config["Visualization Manager"]["Displays"][3]["Displays"];
            let topics: Vec<_> = pedestrians
                .as_array()
                .expect("displays")
                .iter()
                .filter_map(|d| d["Topic"]["Value"].as_str())
                .collect();
            assert_eq!(topics, ["/arena/env_3/humans/markers", "/arena/env_3/pedestrian_markers/extra"]);
        }
    }

    #[test]
    fn names_that_would_break_the_file_are_refused() {
        assert!(namespace("/arena/env_0").is_ok() && frame("env_0/map").is_ok());
        for wrong in ["", "arena", "/", "/a//b", "/a b", "/a\"", "/1a"] {
            assert!(namespace(wrong).is_err(), "{wrong}");
        }
        for wrong in ["", "a b", "a\"", "a\n"] {
            assert!(frame(wrong).is_err(), "{wrong}");
        }
    }
}
