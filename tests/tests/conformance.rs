//! The conformance page names tests that exist.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

fn file_of(name: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let (place, rest) = name.split_once('/').expect("a place and a file");
    let folder = match place {
        "human" => "crates/human/tests",
        "gait" => "crates/gait/tests",
        "nodes" => "crates/nodes",
        "ros" => "tests/ros/tests",
        other => panic!("no place {other:?}"),
    };
    root.join(folder).join(rest)
}

#[test]
fn every_test_that_the_conformance_page_names_exists() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/conformance.md");
    let page = std::fs::read_to_string(page).expect("the page");
    let mut files: BTreeMap<&str, String> = BTreeMap::new();
    let mut missing = Vec::new();
    let named: Vec<(&str, &str)> =
        page.split('`').skip(1).step_by(2).filter_map(|code| code.split_once("::")).collect();
    for (file, test) in &named {
        let text = files.entry(file).or_insert_with(|| {
            std::fs::read_to_string(file_of(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
        });
        if !text.contains(&format!("fn {test}()")) {
            missing.push(format!("{file}::{test}"));
        }
    }
    assert!(named.len() > 90, "{} tests are named", named.len());
    assert!(missing.is_empty(), "the page names tests that are not there: {missing:#?}");
}
