//! The hunav backend: a HuNav engine moves people, this side tells it of the world and shows what it says (HuNav specification, section
//! 8).

mod link;
mod settings;

pub use link::{HunavLink, LinkError};
pub use settings::{EngineChoice, HunavSettings, SettingError};
