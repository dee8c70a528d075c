//! Joint contract, pose profiles, gait synthesis and the body rig of a pedestrian.
//!
//! * [`Joint`]: the 40 joints every posture speaks of, in wire order.
//! * [`ProfileLibrary`]: pose profiles from YAML; the shipped ones are built in.
//! * [`GaitPool`]: everybody's gait phase, advanced together into [`Pose40`]s.
//! * [`clip`]: recorded and authored motion, from files that are never trusted.
//! * [`animation`]: base animations with crossfades, and overlays; [`gesture`]: looking, pointing, playing clips.
//! * [`Articulator`]: gait, clips and gestures of everybody in one call.
//! * [`driver`]: wheels that roll with the way a person goes.
//! * [`rig`]: the body as a URDF describes it, with forward kinematics.
//!
//! The crate must never know of ROS, of a world or of a clock: callers pass time steps.

pub mod animation;
mod articulate;
pub mod clip;
mod document;
pub mod driver;
mod error;
pub mod fit;
mod gait;
pub mod gesture;
mod joint;
mod joint_set;
mod library;
mod manner;
mod nearest;
mod pool;
mod pose_section;
mod profile;
mod profile_file;
pub mod quality;
pub mod rig;
mod yaml;

pub use articulate::{ArticulationBatch, Articulator};
pub use document::{DocumentError, DocumentProblem};
pub use error::{LibraryError, ProfileError, ProfileErrors, ProfileProblem};
pub use gait::{Gait, IDLE_HZ, sway};
pub use joint::{Axis, JOINT_COUNT, Joint, Pose40, Side};
pub use joint_set::JointSet;
pub use library::{DEFAULT_RUN, DEFAULT_WALK, LibraryEntry, ProfileLibrary, ProfileSource};
pub use manner::Manner;
pub use pool::{
    BatchError, GaitBatch, GaitInput, GaitOutput, GaitPool, GaitReport, KNOWN_STATES, Motion, PoseId,
    PoseProfile, PoseTable, initial_phase,
};
pub use pose_section::{NamedTypes, PoseSection, PoseTypeError, PoseTypeWarning, PoseTypes};
pub use profile::{Binding, CadenceLaw, GainLaw, Harmonic, MAX_HARMONICS, PhaseWarp, Profile, Signal};
pub use profile_file::{LawFields, ProfileFile};
