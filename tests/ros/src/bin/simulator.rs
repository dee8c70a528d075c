//! A simulator in a process of its own, for tests that kill it: `simulator NAMESPACE`. Writes a line per call.

use anyhow::{Context as _, Result};
use promenade_ros_tests::{Call, Simulator};

fn main() -> Result<()> {
    let [namespace] =
        std::env::args().skip(1).collect::<Vec<_>>().try_into().ok().context("simulator NAMESPACE")?;
    let told = |call: &Call| {
        println!("{:?} {}", call.verb, call.names.join(" "));
        for (name, [x, y]) in call.names.iter().zip(&call.places) {
            println!("  {name} at {x} {y}");
        }
    };
    Simulator::start_with(&r2r::Context::create()?, &namespace, told)?.join()
}
