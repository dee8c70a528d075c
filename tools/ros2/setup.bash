# Sourced, not run: `source tools/ros2/setup.bash` makes a shell see ROS 2 and Promenade's packages.
#
# A ROS 2 that is already sourced stays; otherwise the one `make ros` put into `.ros/venv` is used. Either
# way the packages built into `.ros/install` come on top. Sourcing it twice changes nothing.

_promenade_ros="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)/.ros"

# Puts $2 in front of the colon-separated list named $1, once.
_promenade_prepend() {
  local -n list="$1"
  case ":${list:-}:" in
    *":$2:"*) ;;
    *) list="$2${list:+:$list}" ;;
  esac
  export "${1?}"
}

# True when another ROS 2 than ours is sourced: it must be able to run nodes (rcl) and build interfaces.
promenade_has_sourced_ros() {
  [ -n "${ROS_DISTRO:-}" ] || return 1
  local prefix rcl="" rosidl="" IFS=:
  for prefix in ${AMENT_PREFIX_PATH:-}; do
    case "$prefix" in "$_promenade_ros"/*) continue ;; esac
    [ -e "$prefix/share/ament_index/resource_index/packages/rcl" ] && rcl=1
    [ -e "$prefix/share/ament_index/resource_index/packages/rosidl_default_generators" ] && rosidl=1
  done
  [ -n "$rcl" ] && [ -n "$rosidl" ]
}

# The folder of the libclang that r2r's build script loads, from the `libclang` wheel of the virtual environment $1.
_promenade_libclang() {
  local folder
  for folder in "$1"/lib/python3.*/site-packages/clang/native; do
    if [ -e "$folder/libclang.so" ]; then
      export LIBCLANG_PATH="$folder"
      # The wheel has no compiler headers (stddef.h ...): take those of the C compiler.
      export BINDGEN_EXTRA_CLANG_ARGS="-I$(gcc -print-file-name=include 2>/dev/null)"
    fi
  done
}

if promenade_has_sourced_ros; then
  if [ -d "$_promenade_ros/tools/bin" ]; then
    _promenade_prepend PATH "$_promenade_ros/tools/bin"
    _promenade_libclang "$_promenade_ros/tools"
  fi
elif [ -d "$_promenade_ros/venv/bin" ]; then
  _promenade_prepend PATH "$_promenade_ros/venv/bin"
  _promenade_prepend AMENT_PREFIX_PATH "$_promenade_ros/venv"
  _promenade_prepend CMAKE_PREFIX_PATH "$_promenade_ros/venv"
  _promenade_prepend LD_LIBRARY_PATH "$_promenade_ros/venv/lib"
  export ROS_DISTRO=jazzy ROS_VERSION=2 ROS_PYTHON_VERSION=3
  # The wheels re-execute every Python to set LD_LIBRARY_PATH unless told that it is set.
  export _ROS_WHEELS_BOOTSTRAP_COMPLETE=1
  _promenade_libclang "$_promenade_ros/venv"
else
  echo "promenade: no ROS 2 here; run 'make ros' first" >&2
fi

if [ -f "$_promenade_ros/install/local_setup.bash" ]; then
  # The generated script reads variables that may be unset.
  case $- in *u*) _promenade_u=1; set +u ;; *) _promenade_u= ;; esac
  source "$_promenade_ros/install/local_setup.bash"
  [ -n "$_promenade_u" ] && set -u
  unset _promenade_u
fi
:
