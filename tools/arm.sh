#!/bin/sh
# Compiles everything but Python's extension for 64-bit ARM, in build/arm, and runs there what needs no kernel of such a machine, where
# qemu-user-static is installed: arm.sh. For Debian on another processor, with the cross compiler and the libraries of tools/setup.sh for
# arm64; where one is missing it says so, and is skipped. The sandbox itself, seccomp and /proc, qemu does not have.
set -eu
cd "$(dirname "$0")/.."
boost=libboost-dev
[ "$(. /etc/os-release 2> /dev/null; echo "${VERSION_ID:-}")" != 12 ] || boost=libboost1.81-dev # as in setup.sh
packages="$boost libsimdjson-dev libutf8proc-dev libfmt-dev libsqlite3-dev libhiredis-dev libtomlplusplus-dev zlib1g-dev libzstd-dev libgtest-dev"

skip() {
  echo "skipped: aarch64 ($1)"
  exit 0
}

[ "$(uname -m)" != aarch64 ] || skip "this machine is one: make test"
command -v aarch64-linux-gnu-g++ > /dev/null || skip "apt install g++-aarch64-linux-gnu"
missing=
for package in $packages; do
  dpkg-query -W -f '${Status}' "$package:arm64" 2> /dev/null | grep -q '^install ok installed$' || missing="$missing $package:arm64"
done
[ -z "$missing" ] || skip "dpkg --add-architecture arm64; apt update; apt install$missing"
emulator=$(command -v qemu-aarch64-static || command -v qemu-aarch64 || true)
mkdir -p build
cmake --preset release -B build/arm -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=aarch64 -DCMAKE_CXX_COMPILER=aarch64-linux-gnu-g++ \
  "-DCMAKE_CROSSCOMPILING_EMULATOR=$emulator" -DPARLANCE_SERVE=ON -DPARLANCE_AGENT=ON -DPARLANCE_QUICK=ON -DPARLANCE_HF_LTO=OFF \
  -DPARLANCE_TEST_SHARE=100 > build/configure.log 2>&1 ||
  { cat build/configure.log; exit 1; }
cmake --build build/arm -j "${JOBS:-$(nproc)}"
[ -n "$emulator" ] || skip "it compiles; apt install qemu-user-static runs its tests"
ctest --test-dir build/arm --output-on-failure -j "${JOBS:-$(nproc)}" -L 'unit|cases|threads'
ctest --test-dir build/arm --output-on-failure -R 'agent.filter.answers|agent.changes|serve.run_cache|serve.session_store|serve.capture_order'
