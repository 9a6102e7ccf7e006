# What the scripts of the tests share; sourced by them.

# absolute PATH: from the root; it need not exist
absolute() { case $1 in /*) printf '%s\n' "$1" ;; *) printf '%s\n' "$PWD/$1" ;; esac; }

# need PROGRAM...: ends the script where one of them is missing
need() {
  local name
  for name in "$@"; do
    command -v "$name" >/dev/null || { echo "not ok 1 - ${0##*/tests/} needs $name, which is not installed"; exit 1; }
  done
}
