#!/usr/bin/env bash
# Follows a page of the documentation as a reader would: starts in the checkout, with a home directory of its own, writes
# the files and types the commands in the order in which the page shows them, to the letter.
# usage: docs/follow-page.sh PAGE.md [JP-BINARY]       (without JP-BINARY: the jp on PATH)
#
# What the page says behind the three backticks of a block:
#   file=PATH      the block is that file
#   step=NAME      the block is typed; what follows it on the line:
#     status=N     exit code (0)          contains=WORD   is printed
#     needs=A,B    programs without which it is left out
#   expect=NAME    the block is what that step printed, to the letter
# A block of commands without a step would not be run, and is refused.
set -euo pipefail
# Others must not be able to change what is made here: `jp doctor` would say so.
umask 022
repo=$(cd "$(dirname "$0")/.." && pwd)
page=$(realpath "$1")
work=$(mktemp -d)
mkdir "$work/bin" "$work/home" "$work/state"
stop() {
  if [ -s "$work/state/jobs" ]; then xargs kill < "$work/state/jobs" 2> /dev/null || true; fi
  rm -rf "$work"
}
trap stop EXIT
if [ $# -gt 1 ]; then ln -s "$(realpath "$2")" "$work/bin/jp"; fi
export PATH="$work/bin:$PATH"
command -v jp > /dev/null || { echo "no jp on PATH; run: cargo build -p jp_cli" >&2; exit 1; }
# The reader's home directory is not ours; the tools of this machine stay where they are.
export CARGO_HOME=${CARGO_HOME:-$HOME/.cargo} RUSTUP_HOME=${RUSTUP_HOME:-$HOME/.rustup} HOME="$work/home"
unset CARGO_TARGET_DIR JP_CONFIG_DIR JP_DATA_DIR JP_CACHE_DIR XDG_CONFIG_HOME XDG_DATA_HOME XDG_CACHE_HOME
export JP_KEYRING=off

fail() { echo "$(basename "$page"): $*" >&2; exit 1; }

# Prints the block whose opening line has the given word, e.g. `file=src/lib.rs`.
block() { awk -v word="$1" '
  /^```/ && inside { exit }
  inside { print }
  /^```/ { n = split($0, part, " "); for (i = 2; i <= n; i++) if (part[i] == word) inside = 1 }
' "$page"; }

# Types a block in a shell that goes on where the last one stopped: same directory, same exported variables.
type_block() {
  {
    echo 'set -e; . "$STATE/exports"; cd "$(cat "$STATE/directory")"'
    echo 'trap '\''export -p > "$STATE/exports"; pwd > "$STATE/directory"; jobs -p >> "$STATE/jobs"'\'' EXIT'
    block "step=$1"
  } > "$work/state/block"
  STATE=$work/state bash "$work/state/block" > "$work/out" 2> "$work/err" < /dev/null
}

run_step() {
  local name=$1 expected=0 contains='' code=0 word program
  shift
  for word; do
    case $word in
      status=*) expected=${word#status=} ;;
      contains=*) contains=${word#contains=} ;;
      needs=*) for program in $(tr , ' ' <<< "${word#needs=}"); do
          command -v "$program" > /dev/null || { echo "==> $name: left out, $program is not installed"; return; }
        done ;;
      *) fail "unknown word \`$word\` at step $name" ;;
    esac
  done
  echo "==> $name: $(block "step=$name" | head -n 1)"
  keep_targets
  type_block "$name" || code=$?
  if [ "$code" != "$expected" ]; then
    cat "$work/out" "$work/err" >&2
    fail "step $name: exit $code, expected $expected"
  fi
  if [ -n "$contains" ] && ! grep -q -- "$contains" "$work/out" "$work/err"; then
    cat "$work/out" "$work/err" >&2
    fail "step $name did not print $contains"
  fi
  block "expect=$name" > "$work/expected"
  # A terminal shows no difference between text with and without a last newline.
  if [ -s "$work/expected" ] && [ "$(cat "$work/expected")" != "$(cat "$work/out")" ]; then
    cat "$work/out" >&2
    fail "step $name printed something else"
  fi
}

write_file() {
  local path
  path=$(cat "$work/state/directory")/$1
  mkdir -p "$(dirname "$path")"
  block "file=$1" > "$path"
}

# What cargo builds for the reader is kept in the checkout, so that a second run is quick.
keep_targets() {
  local manifest
  mkdir -p "$repo/target/how-to"
  find "$HOME" -maxdepth 3 -name Cargo.toml | while read -r manifest; do
    ln -sfn "$repo/target/how-to" "$(dirname "$manifest")/target"
  done
}

export -p > "$work/state/exports"
echo "$repo" > "$work/state/directory"
# shellcheck disable=SC2086 # the words of a line are words
while read -r _ words; do
  set -- $words
  case ${1:-} in
    step=*) run_step "${1#step=}" "${@:2}" ;;
    file=*) write_file "${1#file=}" ;;
    expect=*) ;;
    *) fail "a block of commands without a step: \`\`\`console $words" ;;
  esac
done < <(grep -E '^```[a-z]+ (file|step|expect)=|^```console' "$page" | sed 's/^```//')
echo "$(basename "$page"): every step works"
