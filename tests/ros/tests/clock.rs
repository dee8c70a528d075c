//! The dummy simulator drives `/clock`.

use anyhow::{Context as _, Result};
use futures::StreamExt as _;
use promenade_ros_tests::{Client, Node, own_domain};
use r2r::rosgraph_msgs::msg::Clock;

#[test]
fn dummy_sim_publishes_a_clock_that_advances() -> Result<()> {
    own_domain();
    let mut client = Client::new("clock_test", "/")?;
    let mut clocks = client.node.subscribe::<Clock>("/clock", r2r::QosProfile::default())?;
    let mut node = Node::start("dummy_sim", &[])?;

    let nanoseconds =
        |clock: &Clock| i64::from(clock.clock.sec) * 1_000_000_000 + i64::from(clock.clock.nanosec);
    let first = client.wait("clock message", clocks.next())?.context("subscription ended")?;
    let second = client.wait("second clock message", clocks.next())?.context("subscription ended")?;
    assert!(nanoseconds(&second) > nanoseconds(&first), "{first:?} then {second:?}");

    node.check_alive()?;
    node.interrupt()?;
    Ok(())
}
