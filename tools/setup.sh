#!/bin/sh
# Installs what a build needs on Debian 12 or later: `tools/setup.sh` for building, and bubblewrap, the agent's sandbox, `tools/setup.sh test`
# also Rust, without which tokenizer.json is not read, and Python's headers, `tools/setup.sh full` also Clang for the
# fuzz targets, clang-format, the headers of libc++, and what completions and manual pages are tested with; `tools/setup.sh
# browser` a headless Chromium for the inspector's page, 240 MB, and the fonts of its picture. For tests, redis-tools has the
# program of Redis' server under another name, and unlike redis-server starts none. Does nothing, and asks no network, where
# all is there. As root, or with sudo.
set -eu
# Debian 12 has a newer Boost and a newer Rust beside its own ones, under names that no later Debian has: there the plain ones are new enough.
if [ "$(. /etc/os-release 2>/dev/null; echo "${VERSION_ID:-}")" = 12 ]; then
  boost=libboost1.81-dev rust="cargo-web rustc-web"
else
  boost=libboost-dev rust="cargo rustc"
fi
packages="g++ make cmake ninja-build ccache bubblewrap libsimdjson-dev libutf8proc-dev libcli11-dev libfmt-dev $boost libsqlite3-dev libhiredis-dev libtomlplusplus-dev
  zlib1g-dev libzstd-dev libgtest-dev dpkg-dev file pkg-config python3 python3-venv"
if [ "${1:-}" = browser ]; then packages="chromium-headless-shell fonts-inter fonts-jetbrains-mono"; fi
if [ "${1:-}" = full ]; then packages="$packages clang-14 libclang-rt-14-dev clang-format-16 libc++-16-dev zsh fish mandoc groff zstd"; fi

# Cargo 1.85 or later, from anywhere; Debian's package `cargo` is older, its cargo-web is not.
cargo_is_new_enough() {
  PATH="$PATH:${CARGO_HOME:-$HOME/.cargo}/bin" cargo --version 2>/dev/null |
    awk 'BEGIN { old = 1 } { split($2, part, "."); old = !(part[1] > 1 || part[2] >= 85) } END { exit old }'
}
if [ "${1:-}" = full ] || [ "${1:-}" = test ]; then
  packages="$packages python3-dev redis-tools"
  cargo_is_new_enough || packages="$packages $rust"
fi

missing=
for package in $packages; do
  dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q '^install ok installed$' || missing="$missing $package"
done
[ -n "$missing" ] || exit 0
echo "setup: installing$missing"
run=
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || { echo "setup: needs root or sudo" >&2; exit 1; }
  run=sudo
fi
$run env DEBIAN_FRONTEND=noninteractive sh -c "apt-get update -qq && apt-get install -y -qq --no-install-recommends $missing" >/dev/null
