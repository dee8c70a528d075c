//! Where ROS packages are installed: the prefixes of `AMENT_PREFIX_PATH`.
//!
//! A checkout of this repository stands in for the share folder of `promenade` until it is installed, since both have the same
//! `launch/` and `configs/`. Never searches `PATH` and never builds anything.

use std::path::{Path, PathBuf};

use thiserror::Error;

/// The package that this repository builds.
pub(crate) const PROMENADE: &str = "promenade";

/// A package or executable that is not installed, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub(crate) enum MissingFromPackages {
    #[error(
        "package `{package}`: no ROS 2 environment is sourced (AMENT_PREFIX_PATH is empty). {}",
        how_to_source(package)
    )]
    NothingSourced { package: String },
    #[error(
        "package `{package}` is in none of the {prefixes} prefixes of AMENT_PREFIX_PATH. {}",
        how_to_source(package)
    )]
    Package { package: String, prefixes: usize },
    #[error("package `{package}` has no executable `{executable}`: expected {}", expected.display())]
    Executable { package: String, executable: String, expected: PathBuf },
}

fn how_to_source(package: &str) -> String {
    if package == PROMENADE {
        "Build it with `make ros` and `source tools/ros2/setup.bash` in a Promenade checkout, or with `colcon build` and \
         `source install/setup.bash` in your own workspace"
            .to_owned()
    } else {
        format!(
            "Install `{package}`, then `source tools/ros2/setup.bash` in a Promenade checkout, or `source \
             /opt/ros/$ROS_DISTRO/setup.bash` and `source install/setup.bash` of your workspace"
        )
    }
}

/// The installed packages.
#[derive(Debug, Clone)]
pub(crate) struct Packages {
    prefixes: Vec<PathBuf>,
    checkout: Option<PathBuf>,
}

impl Packages {
    /// Packages below `prefixes`, first match wins; `checkout` is the root of a checkout of this repository.
    pub(crate) fn new(prefixes: Vec<PathBuf>, checkout: Option<PathBuf>) -> Self {
        Self { prefixes, checkout }
    }

    /// The prefixes of `AMENT_PREFIX_PATH`, and the checkout that contains `start`, if any.
    pub(crate) fn from_environment(start: &Path) -> Self {
        let prefixes = std::env::var_os("AMENT_PREFIX_PATH").map_or_else(Vec::new, |value| {
            std::env::split_paths(&value).filter(|path| !path.as_os_str().is_empty()).collect()
        });
        Self::new(prefixes, find_checkout(start))
    }

    /// Install prefix of a package.
    pub(crate) fn prefix(&self, package: &str) -> Result<&Path, MissingFromPackages> {
        self.prefixes
            .iter()
            .find(|prefix| {
                prefix.join("share/ament_index/resource_index/packages").join(package).exists()
                    || prefix.join("share").join(package).join("package.xml").exists()
            })
            .map(PathBuf::as_path)
            .ok_or_else(|| match self.prefixes.len() {
                0 => MissingFromPackages::NothingSourced { package: package.to_owned() },
                prefixes => MissingFromPackages::Package { package: package.to_owned(), prefixes },
            })
    }

    /// Share folder of a package.
    pub(crate) fn share(&self, package: &str) -> Result<PathBuf, MissingFromPackages> {
        match (self.prefix(package), &self.checkout) {
            (Ok(prefix), _) => Ok(prefix.join("share").join(package)),
            (Err(_), Some(checkout)) if package == PROMENADE => Ok(checkout.clone()),
            (Err(missing), _) => Err(missing),
        }
    }

    /// Path of an executable of a package.
    pub(crate) fn executable(&self, package: &str, executable: &str) -> Result<PathBuf, MissingFromPackages> {
        let expected = self.prefix(package)?.join("lib").join(package).join(executable);
        if expected.is_file() {
            Ok(expected)
        } else {
            Err(MissingFromPackages::Executable {
                package: package.to_owned(),
                executable: executable.to_owned(),
                expected,
            })
        }
    }
}

/// Root of the checkout of this repository that contains `start`.
fn find_checkout(start: &Path) -> Option<PathBuf> {
    let start = std::path::absolute(start).ok()?;
    start
        .ancestors()
        .find(|folder| {
            folder.join("launch/demo.launch.xml").is_file() && folder.join("crates/nodes").is_dir()
        })
        .map(Path::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_are_found_in_the_order_of_the_prefixes() {
        let folder = tempfile::tempdir().expect("temporary folder");
        let (first, second) = (folder.path().join("a"), folder.path().join("b"));
        std::fs::create_dir_all(first.join("share/ament_index/resource_index/packages")).expect("folder");
        std::fs::create_dir_all(second.join("share/talk")).expect("folder");
        std::fs::create_dir_all(second.join("lib/talk")).expect("folder");
        std::fs::write(second.join("share/talk/package.xml"), "").expect("file");
        std::fs::write(second.join("lib/talk/talker"), "").expect("file");
        let packages = Packages::new(vec![first.clone(), second.clone()], None);
        assert_eq!(packages.share("talk"), Ok(second.join("share/talk")));
        assert_eq!(packages.executable("talk", "talker"), Ok(second.join("lib/talk/talker")));
        let error = packages.executable("talk", "listener").expect_err("no listener").to_string();
        assert!(error.contains("no executable `listener`") && error.contains("lib/talk/listener"), "{error}");
        let error = packages.share("other").expect_err("no package").to_string();
        assert!(error.contains("none of the 2 prefixes") && error.contains("source"), "{error}");

        std::fs::write(first.join("share/ament_index/resource_index/packages/talk"), "").expect("file");
        assert_eq!(packages.prefix("talk"), Ok(first.as_path()));
    }

    #[test]
    fn a_checkout_is_the_share_folder_until_promenade_is_installed() {
        let packages = Packages::new(Vec::new(), Some(PathBuf::from("/checkout")));
        assert_eq!(packages.share(PROMENADE), Ok(PathBuf::from("/checkout")));
        let error = packages.executable(PROMENADE, "possess").expect_err("not installed").to_string();
        assert!(error.contains("no ROS 2 environment is sourced") && error.contains("make ros"), "{error}");
        assert!(packages.share("rviz2").is_err());
    }
}
