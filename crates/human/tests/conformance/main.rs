//! The human layer against its conformance checklist, with recording ports instead of ROS.

mod bookkeeping;
mod clock;
mod possession;
mod random;
mod stage;
