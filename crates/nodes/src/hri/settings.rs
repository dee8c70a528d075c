//! What a user may choose, as typed values. An unknown word is refused with the words that are known.

use anyhow::{Result, bail};
use promenade_gait::rig::Rig;

/// How bodies are named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum IdStyle {
    /// `<tag>_agent_<n>`.
    Arena,
    /// A letter and four hexadecimal digits, for viewers that compare the last five characters of a frame.
    Short5,
}

/// How bodies are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MarkerStyle {
    /// Cylinders with round ends.
    Capsules,
    /// One line list and one ball list.
    Lines,
    /// Not at all.
    Off,
}

/// Whether the outputs are repeated under the absolute `/humans`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum GlobalAlias {
    /// While no other producer runs.
    Auto,
    /// Always.
    On,
    /// Never.
    Off,
}

/// The parameters of the node (ROS4HRI projection, section 6.3).
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    /// Most bodies at a time, 0 = unlimited.
    pub(crate) max_bodies: usize,
    /// The rig of a model that says nothing else.
    pub(crate) rig: Rig,
    /// Horizontal field of view of a face, radians.
    pub(crate) view_fov: f64,
    /// Near clipping distance of a face's view, metres.
    pub(crate) view_clip_near: f64,
    pub(crate) id_style: IdStyle,
    /// Whether the node sends frames (`tf_source: self`).
    pub(crate) sends_frames: bool,
    /// Most frame messages per second of message time, 0 = one per message.
    pub(crate) tf_rate: f64,
    pub(crate) marker_style: MarkerStyle,
    pub(crate) marker_labels: bool,
    pub(crate) global_alias: GlobalAlias,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            max_bodies: 0,
            rig: Rig::default(),
            view_fov: 60.0_f64.to_radians(),
            view_clip_near: 0.15,
            id_style: IdStyle::Arena,
            sends_frames: true,
            tf_rate: 20.0,
            marker_style: MarkerStyle::Capsules,
            marker_labels: true,
            global_alias: GlobalAlias::Auto,
        }
    }
}

/// The value that a word stands for.
///
/// # Errors
/// A word that is not known; the error lists those that are.
pub(crate) fn choice<T: Copy>(parameter: &str, word: &str, known: &[(&str, T)]) -> Result<T> {
    if let Some((_, value)) = known.iter().find(|(name, _)| *name == word) {
        return Ok(*value);
    }
    let known: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
    bail!("parameter {parameter}: {word:?} is not known; it is one of {}", known.join(", "))
}

/// Refuses a value of section 6.3 that this node does not do.
///
/// # Errors
/// When `word` is `unsupported`; the error says why.
pub(crate) fn refuse(parameter: &str, word: &str, unsupported: &str, why: &str) -> Result<()> {
    if word == unsupported {
        bail!("parameter {parameter}: {unsupported:?} is not supported: {why}");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_word_names_the_known_ones() {
        let known = [("arena", IdStyle::Arena), ("short5", IdStyle::Short5)];
        assert_eq!(choice("id_style", "short5", &known).unwrap(), IdStyle::Short5);
        let error = choice("id_style", "long", &known).unwrap_err().to_string();
        assert_eq!(error, "parameter id_style: \"long\" is not known; it is one of arena, short5");
        assert!(refuse("engagement", "animation", "gaze", "no robots").is_ok());
        assert!(
            refuse("engagement", "gaze", "gaze", "no robots").unwrap_err().to_string().contains("no robots")
        );
    }
}
