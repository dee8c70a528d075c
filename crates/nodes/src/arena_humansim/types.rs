//! Agent types that a request names by their file.

use std::path::Path;
use std::sync::Arc;

use promenade_scenario::{AgentTypeLibrary, ResolvedType};

/// Longest file that is read, bytes.
const LONGEST: u64 = 1 << 20;

/// Reads a type from a file when the name is a path: it holds a `/` or ends in `.yaml`. Other names are left to the built-in types.
pub(crate) fn load(name: &str) -> Option<Result<Arc<ResolvedType>, String>> {
    (name.contains('/') || name.ends_with(".yaml")).then(|| read(Path::new(name)))
}

fn read(file: &Path) -> Result<Arc<ResolvedType>, String> {
    let fault = |error: std::io::Error| format!("agent type {}: {error}", file.display());
    let length = std::fs::metadata(file).map_err(fault)?.len();
    if length > LONGEST {
        return Err(format!(
            "agent type {}: expected at most {LONGEST} bytes, found {length}",
            file.display()
        ));
    }
    let text = std::fs::read_to_string(file).map_err(fault)?;
    AgentTypeLibrary::built_in().parse(&text, file).map(Arc::new).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_paths_are_read() {
        assert!(load("adult").is_none());
        let missing = load("/nowhere/visitor.yaml").expect("a path").expect_err("there is no such file");
        assert!(missing.contains("/nowhere/visitor.yaml"), "{missing}");
        assert!(load("visitor.yaml").expect("a path").is_err());
        assert!(load("/dev/null").expect("a path").is_err(), "a file without a type");
    }
}
