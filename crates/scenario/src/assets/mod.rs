//! Installed models: human bundles, objects and robots, found by name (human-layer specification, sections 5.3 and 24).
//!
//! [`AssetLibrary`] answers where a model's folder is and what its annotation says. It opens `annotation.yaml` and nothing else: a
//! model file is only looked at from outside, and nothing here reads the environment.

mod annotation;
mod library;

pub use annotation::{Annotation, BoundingBox, Face, Tag};
pub use library::{
    ANNOTATION_FILE, AssetError, AssetKind, AssetLibrary, AssetPlace, AssetSource, BUILT_IN_ROBOTS, Bundle,
    DEFAULT_ROBOT, FALLBACK_HUMAN, RIG_FILE,
};
