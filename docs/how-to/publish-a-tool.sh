#!/usr/bin/env bash
# Does what publish-a-tool.md says, block by block, and fails where the page is wrong. Needs jp.
# usage: docs/how-to/publish-a-tool.sh [JP-BINARY]
set -euo pipefail
# Others must not be able to change what is made here: `jp doctor` would say so.
umask 022
here=$(cd "$(dirname "$0")" && pwd)
repo=$(cd "$here/../.." && pwd)
page=$here/publish-a-tool.md
work=$(mktemp -d)
server=
stop() {
  if [ -n "$server" ]; then kill "$server" 2> /dev/null || true; fi
  rm -rf "$work"
}
trap stop EXIT
mkdir "$work/bin"
if [ $# -gt 0 ]; then
  [ -x "$1" ] || { echo "no jp at $1; run: cargo build -p jp_cli" >&2; exit 1; }
  ln -s "$(cd "$(dirname "$1")" && pwd)/$(basename "$1")" "$work/bin/jp"
fi
export PATH="$work/bin:$PATH" JP_CONFIG_DIR="$work/config" JP_DATA_DIR="$work/data" JP_CACHE_DIR="$work/cache"
command -v jp > /dev/null || { echo "no jp on PATH; run: cargo build -p jp_cli" >&2; exit 1; }
# A shared directory for what the module depends on, so that a second run is quick.
export CARGO_TARGET_DIR="$repo/target/how-to"

# Prints the block whose opening line has the given word, e.g. `file=greet/src/lib.rs`.
block() { awk -v word="$1" '
  /^```/ && inside { exit }
  inside { print }
  /^```/ { n = split($0, part, " "); for (i = 2; i <= n; i++) if (part[i] == word) inside = 1 }
' "$page"; }

# Waits until a file has something in it.
wait_for() {
  for _ in $(seq 100); do
    if [ -s "$1" ]; then return 0; fi
    sleep 0.1
  done
  echo "nothing came to $1" >&2
  return 1
}

cd "$work"
grep -o '^```[a-z]* file=[^ ]*' "$page" | while IFS== read -r _ file; do
  mkdir -p "$(dirname "$file")"
  block "file=$file" | sed "s|JP_REPO|$repo|" > "$file"
done

while read -r step words; do
  name=${step#step=} expected=0 contains='' background=no
  for word in $words; do
    case $word in
      status=*) expected=${word#status=} ;;
      contains=*) contains=${word#contains=} ;;
      background=*) background=${word#background=} ;;
      *) echo "the page says $word at $name, which means nothing here" >&2; exit 1 ;;
    esac
  done
  command=$(block "$step" | sed "s|target/wasm32-unknown-unknown|$CARGO_TARGET_DIR/wasm32-unknown-unknown|")
  echo "==> $name: $(head -n 1 <<< "$command")"
  if [ "$background" = yes ]; then
    bash -c "exec $command" 2> "$work/err-$name" < /dev/null &
    server=$!
    wait_for address
    continue
  fi
  code=0
  # A shell of its own with -e: every line of a block counts, not the last alone.
  bash -ec "$command" > "$work/out-$name" 2> "$work/err-$name" < /dev/null || code=$?
  found=yes
  if [ -n "$contains" ]; then
    grep -q -- "$contains" "$work/out-$name" "$work/err-$name" || found=no
  fi
  if [ "$code" != "$expected" ] || [ "$found" = no ]; then
    echo "exit $code, expected $expected${contains:+ and the word $contains}" >&2
    cat "$work/out-$name" "$work/err-$name" >&2
    exit 1
  fi
done < <(grep -o '^```console step=.*' "$page" | sed 's/^```console //')
echo "publish-a-tool.md: every step works"
