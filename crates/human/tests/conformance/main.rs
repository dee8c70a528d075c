//! The human layer against its conformance checklist, with recording ports instead of ROS.

mod arena;
mod bookkeeping;
mod clock;
mod episodes;
mod hunav;
mod possession;
mod random;
mod robots;
mod stage;
