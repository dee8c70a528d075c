//! `tracing` events of the crates, sent to the ROS log (console and `/rosout`).
//!
//! A message must never reach the C formatter as a format string; `rclrs` passes it as an argument.

use std::cell::RefCell;
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

thread_local! {
    static OWN: RefCell<Option<Logger>> = const { RefCell::new(None) };
}

/// Sends what this thread has to say to `logger`, the one of its own node.
pub(crate) fn use_on_this_thread(logger: Logger) {
    OWN.with_borrow_mut(|own| *own = Some(logger));
}

struct RosLog {
    logger: Logger,
}

impl<S: Subscriber> Layer<S> for RosLog {
    fn on_event(&self, event: &Event<'_>, _context: Context<'_, S>) {
        let mut text = Text(String::new());
        event.record(&mut text);
        let text = text.0;
        OWN.with_borrow(|own| write(own.as_ref().unwrap_or(&self.logger), *event.metadata().level(), &text));
    }
}

fn write(logger: &Logger, level: Level, text: &str) {
    match level {
        Level::ERROR => log_error!(logger, "{text}"),
        Level::WARN => log_warn!(logger, "{text}"),
        Level::INFO => log_info!(logger, "{text}"),
        Level::DEBUG | Level::TRACE => log_debug!(logger, "{text}"),
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
