//! rclpy as a third implementation of a client.

use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result};

#[test]
fn rclpy_sees_and_does_the_same() -> Result<()> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("rclpy_check.py");
    let output = Command::new("python3").arg(script).output().context("cannot start python3")?;
    let said =
        [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    assert!(output.status.success(), "{}:\n{said}", output.status);
    Ok(())
}
