//! Every interface file under `msgs/` against tables typed from the specifications, in `interfaces/<package>.txt`.
//!
//! On the wire a type is its field types and names in their order: one swapped line, and no peer understands
//! us any more. A table has one block per interface: a line `package/kind/Name`, then one indented line per
//! field (`type name`, `type name default value`), constant (`type NAME = value`) or separator (`---`).

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// One line of an interface that reaches the wire or a client's source code.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Row {
    Field { ty: String, name: String, default: Option<String> },
    Constant { ty: String, name: String, value: String },
    Separator,
}

/// Interfaces by `package/kind/Name`.
type Interfaces = BTreeMap<String, Vec<Row>>;

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("the crate is a folder of the repository")
        .to_path_buf()
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Entries of a folder in order of their names; none when there is no such folder.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .map(|entry| entry.expect("readable folder").path())
        .collect();
    paths.sort();
    paths
}

fn file_name(path: &Path) -> &str {
    path.file_name().and_then(|name| name.to_str()).expect("names are UTF-8")
}

/// Folders of interface packages, those for poorer environments included.
fn packages() -> Vec<PathBuf> {
    let messages = repository().join("msgs");
    [messages.clone(), messages.join("fallback")]
        .iter()
        .flat_map(|folder| entries(folder))
        .filter(|folder| folder.join("package.xml").is_file())
        .collect()
}

/// Interface files of a package folder, as `kind/Name.kind`.
fn interface_files(package: &Path) -> Vec<PathBuf> {
    ["msg", "srv", "action"].iter().flat_map(|kind| entries(&package.join(kind))).collect()
}

/// Rows of an interface file, by the grammar of ROS 2 interface definitions.
fn parse_interface(text: &str) -> Vec<Row> {
    let mut rows = Vec::new();
    for line in text.lines() {
        let line = line.split('#').next().unwrap_or_default().trim();
        if line.is_empty() {
            continue;
        }
        if line == "---" {
            rows.push(Row::Separator);
            continue;
        }
        let (ty, rest) =
            line.split_once(char::is_whitespace).unwrap_or_else(|| panic!("not a field: {line}"));
        let ty = ty.to_owned();
        rows.push(match rest.split_once('=') {
            Some((name, value)) => {
                Row::Constant { ty, name: name.trim().to_owned(), value: value.trim().to_owned() }
            }
            None => {
                let mut words = rest.split_whitespace();
                let name = words.next().expect("a field has a name").to_owned();
                // The generator of Rust types wants texts quoted; that changes nothing on the wire.
                let default = words.next().map(|word| word.trim_matches('"').to_owned());
                assert_eq!(words.next(), None, "too many words: {line}");
                Row::Field { ty, name, default }
            }
        });
    }
    rows
}

/// Blocks of a table file.
fn parse_table(text: &str) -> Interfaces {
    let mut interfaces = Interfaces::new();
    let mut current = None;
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        if !line.starts_with(char::is_whitespace) {
            let previous = interfaces.insert(line.trim().to_owned(), Vec::new());
            assert!(previous.is_none(), "two blocks for {line}");
            current = Some(line.trim().to_owned());
            continue;
        }
        let words: Vec<&str> = line.split_whitespace().collect();
        let row = match words.as_slice() {
            ["---"] => Row::Separator,
            [ty, name] => Row::Field { ty: (*ty).to_owned(), name: (*name).to_owned(), default: None },
            [ty, name, "default", value] => Row::Field {
                ty: (*ty).to_owned(),
                name: (*name).to_owned(),
                default: Some((*value).to_owned()),
            },
            [ty, name, "=", value] => {
                Row::Constant { ty: (*ty).to_owned(), name: (*name).to_owned(), value: (*value).to_owned() }
            }
            _ => panic!("not a table row: {line}"),
        };
        let name = current.as_ref().expect("a row belongs to an interface");
        interfaces.get_mut(name).expect("inserted above").push(row);
    }
    interfaces
}

fn interfaces_in_files() -> Interfaces {
    let mut interfaces = Interfaces::new();
    for package in packages() {
        for file in interface_files(&package) {
            let kind = file_name(file.parent().expect("in a kind folder"));
            assert_eq!(
                file.extension().and_then(|e| e.to_str()),
                Some(kind),
                "{} in a {kind} folder",
                file.display()
            );
            let stem = file.file_stem().and_then(|stem| stem.to_str()).expect("names are UTF-8");
            interfaces
                .insert(format!("{}/{kind}/{stem}", file_name(&package)), parse_interface(&read(&file)));
        }
    }
    interfaces
}

fn interfaces_in_tables() -> Interfaces {
    entries(&repository().join("tests/tests/interfaces"))
        .iter()
        .flat_map(|path| parse_table(&read(path)))
        .collect()
}

#[test]
fn every_interface_file_equals_its_table() {
    let files = interfaces_in_files();
    let tables = interfaces_in_tables();
    assert!(files.len() > 80, "only {} interface files found", files.len());

    let mut problems = Vec::new();
    for (name, rows) in &tables {
        match files.get(name) {
            None => problems.push(format!("{name}: no file")),
            Some(found) if found != rows => {
                let at = found
                    .iter()
                    .zip(rows)
                    .position(|(a, b)| a != b)
                    .unwrap_or_else(|| found.len().min(rows.len()));
                problems.push(format!(
                    "{name}: row {at} is {:?}, should be {:?}",
                    found.get(at),
                    rows.get(at)
                ));
            }
            Some(_) => {}
        }
    }
    problems.extend(
        files.keys().filter(|name| !tables.contains_key(*name)).map(|name| format!("{name}: no table")),
    );
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn a_different_order_type_name_default_or_constant_is_seen() {
    let original = parse_interface("uint8 A=1\nuint8 kind 0  # comment\nstring name\n---\nbool success\n");
    for changed in [
        "uint8 A=1\nstring name\nuint8 kind 0\n---\nbool success\n",
        "uint8 A=1\nuint16 kind 0\nstring name\n---\nbool success\n",
        "uint8 A=1\nuint8 sort 0\nstring name\n---\nbool success\n",
        "uint8 A=1\nuint8 kind 1\nstring name\n---\nbool success\n",
        "uint8 A=1\nuint8 kind\nstring name\n---\nbool success\n",
        "uint8 A=2\nuint8 kind 0\nstring name\n---\nbool success\n",
        "uint8 A=1\nuint8 kind 0\nstring name\nbool success\n",
    ] {
        assert_ne!(parse_interface(changed), original, "{changed}");
    }
    let table =
        "p/srv/S\n    uint8 A = 1\n    uint8 kind default 0\n    string name\n    ---\n    bool success\n";
    assert_eq!(parse_table(table)["p/srv/S"], original);
}

/// The CMake file of a package names each of its files, so that none is left out of the build.
#[test]
fn every_interface_file_is_built() {
    for package in packages() {
        let cmake = read(&package.join("CMakeLists.txt"));
        let built: BTreeSet<&str> = cmake
            .lines()
            .map(str::trim)
            .filter(|line| [".msg", ".srv", ".action"].iter().any(|end| line.ends_with(end)))
            .collect();
        let name = file_name(&package);
        let expected: BTreeSet<String> = if name == "human_navigation_msgs" {
            // Same types under a second package name: the files are those of the first.
            let first = package.with_file_name("human_navigation");
            let prefix = "${CMAKE_CURRENT_SOURCE_DIR}/../human_navigation:msg/";
            interface_files(&first).iter().map(|file| format!("{prefix}{}", file_name(file))).collect()
        } else {
            interface_files(&package)
                .iter()
                .map(|file| file.strip_prefix(&package).expect("inside the package").display().to_string())
                .collect()
        };
        assert!(!expected.is_empty(), "{name} has no interface files");
        assert_eq!(built, expected.iter().map(String::as_str).collect(), "{name}/CMakeLists.txt");
    }
}
