//! A possession publisher in a process of its own, for tests that kill it: `claimer STREAM_TOPIC NAME`.
//!
//! Follows `/clock` and claims one person at (7, 8) at every reading, until it is killed.

use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use futures::{FutureExt as _, StreamExt as _};
use promenade_ros_tests::wire;
use r2r::QosProfile;
use r2r::rosgraph_msgs::msg::Clock;

fn main() -> Result<()> {
    let [topic, name] =
        std::env::args().skip(1).collect::<Vec<_>>().try_into().ok().context("claimer TOPIC NAME")?;
    let mut node = r2r::Node::create(r2r::Context::create()?, "claimer", "/")?;
    let stream = node.create_publisher(&topic, QosProfile::default().keep_last(1))?;
    let mut clocks = node.subscribe::<Clock>("/clock", QosProfile::default())?;
    loop {
        node.spin_once(Duration::from_secs(1));
        while let Some(clock) = clocks.next().now_or_never() {
            let Some(clock) = clock else { bail!("the clock subscription ended") };
            let at = wire::nanos(&clock.clock);
            stream.publish(&wire::people(at, vec![wire::marked(&name, 7.0, 8.0)]))?;
        }
    }
}
