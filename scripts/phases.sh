# Sourced by ./quickstart and ./test: the phases that both have, each with the time it took.
# Sets $root (the checkout) and $jobs.
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
jobs=$(nproc)

# phase NAME COMMAND...: runs the command, says how long it took, and ends the script with its status where it fails.
phase() {
  local name=$1 start=$SECONDS status=0
  shift
  echo "== $name"
  "$@" || status=$?
  if [ $status != 0 ]; then
    echo "== $name FAILED after $((SECONDS - start)) s" >&2
    exit $status
  fi
  echo "== $name: $((SECONDS - start)) s"
}

# configure_and_build PRESET [TARGET]: everything, or one target. On a terminal Ninja shows its progress line; elsewhere
# only what fails is printed.
configure_and_build() {
  local preset=$1 log=$root/build/$1.configure.log quiet=()
  mkdir -p "$root/build"
  if ! (cd "$root" && cmake --preset "$preset") >"$log" 2>&1; then
    sed -n '/CMake Error/,/^$/p' "$log" >&2
    echo "cmake --preset $preset failed; its whole output is in build/$preset.configure.log" >&2
    return 1
  fi
  [ -t 1 ] || quiet=(-- --quiet)
  (cd "$root" && cmake --build --preset "$preset" --parallel "$jobs" ${2:+--target "$2"} "${quiet[@]}")
}
