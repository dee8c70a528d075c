//! `dummy_sim`: publishes the simulation clock and nothing else.

use std::time::{Duration, Instant};

use anyhow::Result;
use rclrs::{Context, CreateBasicExecutor, IntoPrimitiveOptions, RclrsErrorFilter, SpinOptions};
use rosgraph_msgs::msg::rmw::Clock;

const PERIOD: Duration = Duration::from_millis(10);

fn main() -> Result<()> {
    let mut executor = Context::default_from_env()?.create_basic_executor();
    let node = executor.create_node("dummy_sim")?;
    let clock = node.create_publisher::<Clock>("/clock".keep_last(10).transient_local())?;

    let start = Instant::now();
    let mut message = Clock::default();
    let _tick = node.create_timer_repeating(PERIOD, move || {
        let elapsed = start.elapsed();
        message.clock.sec = i32::try_from(elapsed.as_secs()).unwrap_or(i32::MAX);
        message.clock.nanosec = elapsed.subsec_nanos();
        if let Err(error) = clock.publish(&message) {
            rclrs::log_error!("dummy_sim", "cannot publish the clock: {error}");
        }
    })?;
    executor.spin(SpinOptions::default()).first_error()?;
    Ok(())
}
