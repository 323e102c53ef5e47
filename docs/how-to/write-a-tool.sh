#!/usr/bin/env bash
# Does what write-a-tool.md says, block by block, and fails where the page is wrong.
# usage: docs/how-to/write-a-tool.sh [JP-BINARY]
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
repo=$(cd "$here/../.." && pwd)
jp=${1:-$repo/target/debug/jp}
[ -x "$jp" ] || { echo "no jp at $jp; run: cargo build -p jp_cli" >&2; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/bin" && ln -s "$jp" "$work/bin/jp"
export PATH="$work/bin:$PATH" JP_CONFIG_DIR="$work/config" JP_DATA_DIR="$work/data" JP_CACHE_DIR="$work/cache"
# A shared directory for what the tool depends on, so that a second run is quick.
export CARGO_TARGET_DIR="$repo/target/how-to"

# Prints the block whose opening line has the given word, e.g. `file=src/lib.rs`.
block() { awk -v word="$1" '
  /^```/ && inside { exit }
  inside { print }
  /^```/ { n = split($0, part, " "); for (i = 2; i <= n; i++) if (part[i] == word) inside = 1 }
' "$here/write-a-tool.md"; }

cd "$work"
grep -o 'file=[^ ]*' "$here/write-a-tool.md" | while IFS== read -r _ file; do
  mkdir -p "$(dirname "$file")"
  block "file=$file" | sed "s|JP_REPO|$repo|" > "$file"
done

grep -o 'step=.*' "$here/write-a-tool.md" | while read -r step status; do
  name=${step#step=}
  command=$(block "$step" | sed "s|target/wasm32-wasip2|$CARGO_TARGET_DIR/wasm32-wasip2|")
  expected=${status#status=}
  echo "==> $name: $command"
  code=0
  eval "$command" > "$work/out-$name" 2> "$work/err-$name" < /dev/null || code=$?
  if [ "$code" != "${expected:-0}" ]; then
    echo "exit $code, expected ${expected:-0}" >&2
    cat "$work/out-$name" "$work/err-$name" >&2
    exit 1
  fi
  if [ "$name" = check ]; then
    mkdir -p workspace/.jp/tools
    cp "$CARGO_TARGET_DIR/wasm32-wasip2/release/word_count.wasm" workspace/.jp/tools/
  fi
  want=$(block "expect=$name")
  if [ -n "$want" ] && [ "$want" != "$(cat "$work/out-$name")" ]; then
    echo "printed:" >&2
    cat "$work/out-$name" >&2
    exit 1
  fi
done
echo "write-a-tool.md: every step works"
