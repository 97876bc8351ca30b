#!/bin/sh
# Installs what the benchmark compares with, all of it under build/bench: Jinja2 in a virtual
# environment, the Rust and JavaScript peers, the C++ programs of this folder. Running it again is
# quick. A tool that is missing leaves its peer out; run.py then says so.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
out=$here/../build/bench
mkdir -p "$out"
out=$(cd "$out" && pwd)

have() {
  command -v "$1" >/dev/null 2>&1 || { echo "setup: no $1, so no $2" >&2; return 1; }
}

# The versions that define what is right; tests use the same.
wanted="jinja2==3.1.6 transformers==5.22.0"
if [ "$wanted" != "$(cat "$out/venv/installed.txt" 2>/dev/null)" ]; then
  python3 -m venv "$out/venv"
  "$out/venv/bin/pip" install --quiet --disable-pip-version-check $wanted
  echo "$wanted" > "$out/venv/installed.txt"
fi

if have cargo minijinja; then
  cargo build --quiet --release --locked --manifest-path "$here/peers/minijinja/Cargo.toml" \
    --target-dir "$out/minijinja"
fi
if have cargo openai-harmony; then
  cargo build --quiet --release --locked --manifest-path "$here/peers/harmony/Cargo.toml" \
    --target-dir "$out/harmony"
fi

if have node hf-jinja && have npm hf-jinja; then
  mkdir -p "$out/hf-jinja"
  if ! cmp -s "$here/peers/hf-jinja/package.json" "$out/hf-jinja/package.json" ||
    [ ! -d "$out/hf-jinja/node_modules" ]; then
    cp "$here/peers/hf-jinja/package.json" "$out/hf-jinja/package.json"
    (cd "$out/hf-jinja" && npm install --no-package-lock --no-audit --no-fund --silent)
  fi
fi

if have cmake "hand-written renderer"; then
  cmake -S "$here" -B "$out/cpp" -DCMAKE_BUILD_TYPE=Release >/dev/null
  cmake --build "$out/cpp" --parallel 2 >/dev/null
fi
echo "setup: done, in $out"
