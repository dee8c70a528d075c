//! Where a person's look comes from.
//!
//! Only paths are handled here; an asset must never be opened or executed by the layer.

/// The model that stands in for every missing one.
pub const FALLBACK_MODEL: &str = "arenian";

/// The installed human models.
pub trait HumanModels {
    /// Absolute SDF path of a model, if the model exists and has one.
    fn sdf(&self, model: &str) -> Option<String>;

    /// Whether there are models at all. Without any, nobody is warned about each missing one.
    fn has_any(&self) -> bool;
}

/// No models are installed: everybody is drawn from joints alone.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoModels;

impl HumanModels for NoModels {
    fn sdf(&self, _model: &str) -> Option<String> {
        None
    }

    fn has_any(&self) -> bool {
        false
    }
}
