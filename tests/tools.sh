# Functions that the scripts of the tests share; sourced by them. What only GNU has stands here, with a replacement.

# absolute PATH: from the root; it need not exist
absolute() { case $1 in /*) printf '%s\n' "$1" ;; *) printf '%s\n' "$PWD/$1" ;; esac; }

# need PROGRAM...: ends the script if one of them is missing
need() {
  local name
  for name in "$@"; do
    command -v "$name" >/dev/null || { echo "not ok 1 - ${0##*/tests/} needs $name, which is not installed"; exit 1; }
  done
}

# size FILE: its length in bytes; 0 if it does not exist
size() { if [ -e "$1" ]; then wc -c <"$1" | tr -d ' '; else echo 0; fi; }

# edit FILE ARGUMENT...: changes the file by sed with these arguments
edit() {
  local file=$1
  shift
  sed "$@" "$file" >"$file.edited" && cat "$file.edited" >"$file" && rm "$file.edited"
}

# Time limits: by timeout of GNU, which some systems call gtimeout; else by Python. Exported for shells in name spaces.
limiter=$(command -v timeout || command -v gtimeout)
limiter_python='
import signal, subprocess, sys
name, code, seconds, *command = sys.argv[1:]
run = subprocess.Popen(command)
try:
    status, late = run.wait(float(seconds)), ""
except subprocess.TimeoutExpired:
    run.send_signal(getattr(signal, "SIG" + name))
    status, late = run.wait(), code
sys.exit(int(late) if late else status if status >= 0 else 128 - status)'

# limited SECONDS COMMAND...: its exit code; 124 if it was ended after that time
limited() {
  if [ -n "$limiter" ]; then "$limiter" "$@"; else python3 -c "$limiter_python" TERM 124 "$@"; fi
}

# signalled SIGNAL SECONDS COMMAND...: sends it a signal after that time; its own exit code
signalled() {
  if [ -n "$limiter" ]; then
    "$limiter" --foreground --preserve-status -s "$@"
  else
    local name=$1
    shift
    python3 -c "$limiter_python" "$name" "" "$@"
  fi
}
export limiter limiter_python
export -f limited
