#!/usr/bin/env bash
# Every gate of the project, in the order in which they fail fastest. `make test` runs it; it sets up what it needs.
#   tools/test.sh          everything
#   tools/test.sh core     only what needs no ROS
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export CARGO_TERM_COLOR="${CARGO_TERM_COLOR:-never}"
# A machine that builds once has no use for what makes the second build faster.
if [ -n "${CI:-}" ]; then export CARGO_INCREMENTAL=0; fi
part="${1:-all}"
started=$SECONDS

step() { printf '\n=== %s (%d s)\n' "$1" $((SECONDS - started)); }

# The tests of the workspace in the current folder, with nextest where it is installed.
run_tests() {
  if cargo nextest --version >/dev/null 2>&1; then
    cargo nextest run --no-fail-fast "$@"
  else
    cargo test --no-fail-fast "$@"
  fi
}

check_licenses() {
  if cargo deny --version >/dev/null 2>&1; then
    cargo deny check licenses bans
  else
    echo "cargo-deny is not installed: licences are not checked here"
  fi
}

step "format"
cargo fmt --all --check

step "lints"
cargo clippy --workspace --all-targets -- -D warnings

step "documentation"
RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --quiet

step "licences"
check_licenses

step "tests without ROS"
run_tests --workspace
cargo test --workspace --doc --quiet

if [ "$part" = core ]; then
  exit 0
fi

# The nodes are built once, for their own tests and for those over DDS: as a release, but with its checks on and without the passes that
# only make it faster. `make build` builds anew what users run.
export CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_DEBUG=0
export CARGO_PROFILE_RELEASE_DEBUG_ASSERTIONS=true CARGO_PROFILE_RELEASE_OVERFLOW_CHECKS=true

step "ROS 2 environment and nodes"
tools/ros2/setup.sh nodes
# shellcheck source=/dev/null
source tools/ros2/setup.bash

step "nodes: format, lints, documentation, tests"
(
  cd crates/nodes
  cargo fmt --check
  cargo clippy --all-targets -- -D warnings
  RUSTDOCFLAGS="-D warnings" cargo doc --no-deps --quiet
  check_licenses
  # Where colcon built them.
  CARGO_TARGET_DIR="$PWD/../../.ros/build/.cargo_target/crates_nodes" cargo test --release --quiet
)

step "conformance: format and lints"
cd tests/ros
cargo fmt --check
cargo clippy --all-targets -- -D warnings
check_licenses

step "conformance over DDS"
if cargo nextest --version >/dev/null 2>&1; then
  run_tests
else
  # One ROS context per process: without nextest the tests of a file take turns.
  run_tests -- --test-threads=1
fi
