#!/usr/bin/env bash
# Does what write-a-module.md says, block by block, and fails where the page is wrong.
# Steps that need a program which is not installed are skipped, and said to be: `jp` and a C compiler.
# usage: docs/how-to/write-a-module.sh [JP-BINARY]
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
repo=$(cd "$here/../.." && pwd)
page=$here/write-a-module.md
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/bin"
if [ $# -gt 0 ]; then
  [ -x "$1" ] || { echo "no jp at $1; run: cargo build -p jp_cli" >&2; exit 1; }
  ln -s "$(cd "$(dirname "$1")" && pwd)/$(basename "$1")" "$work/bin/jp"
fi
export PATH="$work/bin:$PATH" JP_CONFIG_DIR="$work/config" JP_DATA_DIR="$work/data" JP_CACHE_DIR="$work/cache"
# A shared directory for what the module depends on, so that a second run is quick.
export CARGO_TARGET_DIR="$repo/target/how-to"

# Prints the block whose opening line has the given word, e.g. `file=note/src/lib.rs`.
block() { awk -v word="$1" '
  /^```/ && inside { exit }
  inside { print }
  /^```/ { n = split($0, part, " "); for (i = 2; i <= n; i++) if (part[i] == word) inside = 1 }
' "$page"; }

# Prints the ids of a module's sections, one per line.
sections() {
  local -a bytes
  read -r -d '' -a bytes < <(od -An -v -tu1 "$1") || true
  local at=8 len shift byte
  while [ "$at" -lt "${#bytes[@]}" ]; do
    echo "${bytes[at]}"
    len=0 shift=0 byte=255
    while [ "$byte" -gt 127 ]; do
      at=$((at + 1)) byte=${bytes[at]}
      len=$((len | (byte & 127) << shift)) shift=$((shift + 7))
    done
    at=$((at + 1 + len))
  done
}

# Fails unless the file is a core module that imports nothing and exports what the ABI wants.
speaks_the_abi() {
  [ "$(od -An -N8 -tx1 "$1" | tr -d ' ')" = 0061736d01000000 ] || { echo "$1 is no core module" >&2; return 1; }
  # Section 2 holds the imports.
  if sections "$1" | grep -qx 2; then echo "$1 imports something" >&2; return 1; fi
  # In the section of exports a name stands after its length and before its kind: 0 a function, 2 a memory.
  for export in '\x06memory\x02' '\x05alloc\x00' '\x07dealloc\x00' '\x07execute\x00'; do
    LC_ALL=C grep -qaP "$export" "$1" || { echo "$1 does not export $export" >&2; return 1; }
  done
  echo "    $(basename "$1"): $(wc -c < "$1") bytes, no imports, all exports"
}

cd "$work"
grep -o 'file=[^ ]*' "$page" | while IFS== read -r _ file; do
  mkdir -p "$(dirname "$file")"
  block "file=$file" | sed "s|JP_REPO|$repo|" > "$file"
done
mkdir -p workspace/wasm

skipped=
while read -r step words; do
  name=${step#step=} expected=0 contains='' missing=''
  for word in $words; do
    case $word in
      status=*) expected=${word#status=} ;;
      contains=*) contains=${word#contains=} ;;
      needs=*) for program in $(tr , ' ' <<< "${word#needs=}"); do
          command -v "$program" > /dev/null || missing="$missing $program"
        done ;;
      *) echo "the page says $word at $name, which means nothing here" >&2; exit 1 ;;
    esac
  done
  if [ -n "$missing" ]; then
    echo "==> $name: skipped, not installed:$missing"
    skipped="$skipped $name"
    # A tool whose file was not made must not be configured; it is the last one of the page.
    if [ "$name" = build-c ]; then sed -i '/^\[conversation\.tools\.now\]/,$d' workspace/.jp/config.toml; fi
    continue
  fi
  command=$(block "$step" | sed "s|target/wasm32-unknown-unknown|$CARGO_TARGET_DIR/wasm32-unknown-unknown|")
  echo "==> $name: $command"
  code=0
  eval "$command" > "$work/out-$name" 2> "$work/err-$name" < /dev/null || code=$?
  found=yes
  if [ -n "$contains" ]; then
    grep -q -- "$contains" "$work/out-$name" "$work/err-$name" || found=no
  fi
  if [ "$code" != "$expected" ] || [ "$found" = no ]; then
    echo "exit $code, expected $expected${contains:+ and the word $contains}" >&2
    cat "$work/out-$name" "$work/err-$name" >&2
    exit 1
  fi
  case $name in
    build-rust) built=$CARGO_TARGET_DIR/wasm32-unknown-unknown/release/note_tool.wasm ;;
    build-c) built=$work/now_tool.wasm ;;
    *) continue ;;
  esac
  speaks_the_abi "$built"
  cp "$built" workspace/wasm/
done < <(grep -o 'step=.*' "$page")
echo "write-a-module.md: every step works${skipped:+, except those skipped:$skipped}"
