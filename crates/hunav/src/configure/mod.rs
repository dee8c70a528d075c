//! How agents are described in files: the template of every agent, the entries of scenarios, and HuNavSim's own loader files (HuNav
//! specification, section 4).
//!
//! Files become typed values and problems with file, line and column. Nothing here moves anybody or opens a file.

mod behavior;
mod entry;
mod loader;
mod mode;

pub use behavior::BehaviorSpec;
pub use entry::{Entry, PoseSpec, Template};
pub use loader::{Loader, LoaderFormat};
pub use mode::configure;

/// What an entry without `behavior:` means (section 4.4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MissingBehavior {
    /// As documented: goal factor 5, the other factors 0; the rest is the template's.
    #[default]
    Documented,
    /// The block of the template.
    Template,
}

impl MissingBehavior {
    /// The words of parameters, the default first.
    pub const WORDS: &[(&str, Self)] = &[("documented", Self::Documented), ("template", Self::Template)];
}
