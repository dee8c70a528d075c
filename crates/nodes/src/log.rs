//! `tracing` events of the crates, sent to the ROS log (console and `/rosout`).
//!
//! A message must never reach the C formatter as a format string; `rclrs` passes it as an argument.

use std::fmt::Write as _;

use rclrs::{Logger, log_debug, log_error, log_info, log_warn};
use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::{Context, SubscriberExt};

/// Sends every event of this process to `logger`.
pub(crate) fn install(logger: Logger) {
    let subscriber = tracing_subscriber::registry().with(RosLog { logger });
    if tracing::subscriber::set_global_default(subscriber).is_err() {
        tracing::debug!("a second node of this process shares the log of the first");
    }
}

struct RosLog {
    logger: Logger,
}

impl<S: Subscriber> Layer<S> for RosLog {
    fn on_event(&self, event: &Event<'_>, _context: Context<'_, S>) {
        let mut text = Text(String::new());
        event.record(&mut text);
        let text = text.0;
        match *event.metadata().level() {
            Level::ERROR => log_error!(&self.logger, "{text}"),
            Level::WARN => log_warn!(&self.logger, "{text}"),
            Level::INFO => log_info!(&self.logger, "{text}"),
            Level::DEBUG | Level::TRACE => log_debug!(&self.logger, "{text}"),
        }
    }
}

struct Text(String);

impl Visit for Text {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        let text = &mut self.0;
        // Writing to a string cannot fail.
        let _ = if field.name() == "message" {
            write!(text, "{value:?}")
        } else {
            write!(text, " {}={value:?}", field.name())
        };
    }
}
