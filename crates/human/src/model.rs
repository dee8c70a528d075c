//! Where a person's look comes from, and what objects say about themselves.
//!
//! Only paths are handled here; an asset must never be opened or executed by the layer.

use std::sync::Arc;

use promenade_scenario::{Annotation, AssetKind, AssetLibrary};

/// The model that stands in for every missing one.
pub const FALLBACK_MODEL: &str = promenade_scenario::FALLBACK_HUMAN;

/// The installed models of people, and what those of objects say about themselves.
pub trait HumanModels {
    /// Absolute SDF path of a model.
    ///
    /// # Errors
    /// A sentence for the user: why there is none, and what was tried.
    fn sdf(&self, model: &str) -> Result<String, String>;

    /// Whether there are models besides the fallback. Without any, nobody is warned about each missing one.
    fn has_any(&self) -> bool;

    /// What the model of an object says about itself.
    ///
    /// # Errors
    /// A sentence for the user: why there is nothing, and what was tried.
    fn object(&self, model: &str) -> Result<Annotation, String> {
        Err(format!("no model {model:?}: no models of objects are installed"))
    }

    /// The human models whose annotation carries all of these tags, in order of their names.
    fn humans_with(&self, _tags: &[String]) -> Vec<String> {
        Vec::new()
    }
}

/// No models are installed: everybody is drawn from joints alone.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoModels;

impl HumanModels for NoModels {
    fn sdf(&self, _model: &str) -> Result<String, String> {
        Err("no human models are installed".to_owned())
    }

    fn has_any(&self) -> bool {
        false
    }
}

impl HumanModels for Arc<AssetLibrary> {
    fn sdf(&self, model: &str) -> Result<String, String> {
        let bundle = self.human(model).map_err(|error| error.to_string())?;
        let sdf = bundle.sdf.as_ref().map(|file| file.to_string_lossy().into_owned());
        sdf.ok_or_else(|| format!("the model {model:?} has no SDF"))
    }

    fn has_any(&self) -> bool {
        self.is_stocked(AssetKind::Human)
    }

    fn object(&self, model: &str) -> Result<Annotation, String> {
        AssetLibrary::object(self, model)
            .map(|bundle| bundle.annotation.clone())
            .map_err(|error| error.to_string())
    }

    fn humans_with(&self, tags: &[String]) -> Vec<String> {
        let carries = |name: &&String| {
            self.human(name).is_ok_and(|bundle| tags.iter().all(|tag| bundle.annotation.has_tag(tag)))
        };
        self.names(AssetKind::Human).iter().filter(carries).cloned().collect()
    }
}
