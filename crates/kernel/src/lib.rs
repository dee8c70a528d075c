//! The kernel of a Promenade simulation: one integer-nanosecond clock, one world of entities, systems that run every
//! frame, systems that wait for events between frames, and keyed random streams.
//!
//! The kernel is single-threaded and deterministic: a run is a function of its systems, configuration and seed. Only
//! the [pacer](RealtimePacer), which can hold a run back but not change it, reads wall time.
//!
//! ```
//! use promenade_kernel::{FrameCtx, FrameSystem, Simulation, SystemResult, Time};
//!
//! struct Walk;
//!
//! impl FrameSystem for Walk {
//!     fn name(&self) -> &str {
//!         "walk"
//!     }
//!
//!     fn process(&mut self, cx: &mut FrameCtx<'_>) -> SystemResult {
//!         let dt = cx.dt();
//!         cx.ordered::<&mut f64>(|_, x| *x += 1.5 * dt);
//!         Ok(())
//!     }
//! }
//!
//! let mut sim = Simulation::builder().fps(20.0).seed(7).build();
//! let walker = sim.with_world(|world| world.spawn((0.0_f64,)));
//! sim.add_frame(Walk)?;
//! sim.add_event("bell", async |cx| {
//!     cx.until(Time::from_secs_f64(2.0)).await;
//!     cx.kill("time for tea");
//!     Ok(())
//! })?;
//! let report = sim.run()?;
//! assert_eq!((report.frames, report.time), (40, Time::from_secs_f64(2.0)));
//! # sim.with_world(|world| assert!((*world.get::<f64>(walker).unwrap() - 3.0).abs() < 1e-9));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod clock;
mod context;
mod core;
pub mod elementary;
mod error;
mod event;
mod frame;
pub mod generator;
mod pacer;
mod queue;
mod random;
mod record;
mod sim;
mod store;
mod systems;
mod task;
mod world;

pub use hecs;

pub use clock::{FrameRate, Time};
pub use context::{Ctx, EventHandle};
pub use error::{
    BoxError, CleanupError, CleanupFailed, ComponentError, LoadError, NoSuchEntity, Panicked, SimError,
    StoreError, SystemResult, WorldHeld, ZeroTimeLoop,
};
pub use event::{Either, Event, EventWait, Process, Timeout, join, join_all, select, select_all};
pub use frame::{FrameCtx, FrameHandle, FrameSystem, Phase};
pub use pacer::{MonotonicClock, Pacer, RealtimePacer, WallClock};
pub use random::{Key, KeyedStreams, SystemRng, stable_int};
pub use record::{EventTag, Kind, LoggedEvent, Message, Receive, Received, Record};
pub use sim::{Builder, End, Report, Simulation, Status};
pub use store::{Receiving, Store, Subscription, Take, Taking};
pub use systems::OnError;
pub use world::{Entity, Ref, RefMut, SIMULATION, World};
