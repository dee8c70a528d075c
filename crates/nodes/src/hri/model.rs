//! What a person's model says about its body: how far the root lies above the hips' place.
//!
//! `rig.yaml` beside the model is data from outside: bounded, read once per model, never more than numbers.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use serde::Deserialize;
use serde_saphyr::options::{DuplicateKeyPolicy, MergeKeyPolicy};

/// Largest `rig.yaml` that is read, bytes.
const LARGEST: u64 = 64 * 1024;
/// Models remembered; a stream that invents more pays by reading again.
const MOST_MODELS: usize = 256;

#[derive(Deserialize)]
struct RigFile {
    #[serde(default)]
    root_offset: [f64; 3],
}

/// The models seen so far.
#[derive(Debug, Default)]
pub(crate) struct Models {
    root_drops: BTreeMap<String, f64>,
}

impl Models {
    /// What a body's root is lifted by, metres; 0 when the model says nothing.
    pub(crate) fn root_drop(&mut self, model_uri: &str) -> f64 {
        if model_uri.is_empty() {
            return 0.0;
        }
        if let Some(drop) = self.root_drops.get(model_uri) {
            return *drop;
        }
        let drop = read(Path::new(model_uri)).unwrap_or_else(|problem| {
            tracing::warn!("rig.yaml of model {model_uri:?} is not used: {problem}");
            0.0
        });
        if self.root_drops.len() >= MOST_MODELS {
            self.root_drops.clear();
        }
        self.root_drops.insert(model_uri.to_owned(), drop);
        drop
    }
}

fn read(model: &Path) -> Result<f64, String> {
    let Some(folder) = model.parent() else { return Ok(0.0) };
    let path = folder.join("rig.yaml");
    // A model without the file is the usual case. A pipe of that name would block the node.
    if !path.is_file() {
        return Ok(0.0);
    }
    let mut text = String::new();
    let read = File::open(&path).and_then(|file| file.take(LARGEST + 1).read_to_string(&mut text));
    match read {
        Ok(length) if length as u64 <= LARGEST => parse(&text),
        Ok(_) => Err(format!("it is larger than {LARGEST} bytes")),
        Err(error) => Err(error.to_string()),
    }
}

fn parse(text: &str) -> Result<f64, String> {
    let options = serde_saphyr::options! {
        with_snippet: false,
        duplicate_keys: DuplicateKeyPolicy::Error,
        merge_keys: MergeKeyPolicy::Error,
        reject_unsupported_tags: true,
    };
    let file: RigFile = serde_saphyr::from_str_with_options(text, options)
        .map_err(|error| format!("{error}; expected for example root_offset: [0.0, 0.0, 0.1]"))?;
    let [_, _, z] = file.root_offset;
    if z.is_finite() { Ok(z) } else { Err("root_offset is not finite".to_owned()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_height_of_the_root_counts() {
        assert_eq!(parse("skeleton: cmu\nroot_offset: [0.1, 0.2, -0.03]\n"), Ok(-0.03));
        assert_eq!(parse("skeleton: cmu\ndrivers: {l_wheel: {bone: W}}\n"), Ok(0.0));
        for wrong in ["root_offset: [1, 2]", "root_offset: high", "[", "root_offset: [0, 0, .nan]"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_model_without_the_file_says_nothing() {
        let mut models = Models::default();
        for uri in ["", "actor.sdf", "/", "model://person/model.sdf", "/no/such/model.sdf\u{0}x"] {
            assert_eq!(models.root_drop(uri), 0.0, "{uri:?}");
        }
    }
}
