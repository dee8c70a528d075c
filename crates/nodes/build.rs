//! Finds out which `hunav_msgs` the environment has: the cfgs `hunav_flavour` (HuNav specification, section 1) and `hunav_evaluation`.

use std::path::{Path, PathBuf};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=AMENT_PREFIX_PATH");
    println!("cargo::rustc-check-cfg=cfg(hunav_flavour, values(\"p1\", \"p15\", \"arena\"))");
    println!("cargo::rustc-check-cfg=cfg(hunav_evaluation)");
    if std::env::var_os("CARGO_FEATURE_HUNAV").is_none() {
        return;
    }
    let Some(file) = definition() else {
        println!(
            "cargo::error=the feature hunav needs the ROS package hunav_msgs, which no prefix of AMENT_PREFIX_PATH has; \
             source an environment that has it, or build with --no-default-features"
        );
        return;
    };
    println!("cargo::rerun-if-changed={}", file.display());
    // Only HuNavSim 2 and this repository have the service that begins an evaluation.
    if file.with_file_name("../srv/StartEvaluation.srv").is_file() {
        println!("cargo::rustc-cfg=hunav_evaluation");
    }
    match std::fs::read_to_string(&file) {
        Ok(text) => println!("cargo::rustc-cfg=hunav_flavour=\"{}\"", flavour(&text)),
        Err(error) => println!("cargo::error={}: {error}", file.display()),
    }
}

/// The definition of an agent in the first prefix that has one.
fn definition() -> Option<PathBuf> {
    let prefixes = std::env::var_os("AMENT_PREFIX_PATH")?;
    let file = Path::new("share/hunav_msgs/msg/Agent.msg");
    std::env::split_paths(&prefixes).map(|prefix| prefix.join(file)).find(|path| path.is_file())
}

/// The three incompatible definitions differ in these fields.
fn flavour(definition: &str) -> &'static str {
    let has = |name: &str| {
        definition.lines().any(|line| {
            let field = line.split('#').next().unwrap_or_default();
            field.split_whitespace().nth(1) == Some(name)
        })
    };
    if has("behavior_state") {
        "p1"
    } else if has("behavior_tree") {
        "arena"
    } else {
        "p15"
    }
}
