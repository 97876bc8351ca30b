#!/bin/sh
# Prints a CPython without a GIL (PEP 703): python3.14t or python3.13t of the PATH, or the one in build/ that an earlier call made. With
# --make it makes that where there is none, of CPython's source in Debian's mirror, in some minutes. Ends with 77 where none is to be had.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
release=3.13.5
sha256=93e583f243454e6e9e4588ca2c2662206ad961659863277afcdb96801647d640
mirror=${DEBIAN_MIRROR:-http://deb.debian.org/debian}
made=$(cd "$here/../.." && pwd)/build/free-threaded/cpython-$release
for name in python3.14t python3.13t "$made/bin/python3.13t"; do
  # It may be there and not run, as pyenv's stand-in for a version that is not chosen.
  if "$name" -c 'import sys; sys.exit(sys._is_gil_enabled())' 2> /dev/null; then command -v "$name"; exit; fi
done
[ "${1:-}" = --make ] || exit 77

part=$made.part
rm -rf "$part"
mkdir -p "$part"
curl -fsSL --max-time 300 -o "$part/source.tar.xz" "$mirror/pool/main/p/python3.13/python3.13_$release.orig.tar.xz" >&2 || exit 77
echo "$sha256  $part/source.tar.xz" | sha256sum --check --quiet >&2
tar -C "$part" -xf "$part/source.tar.xz"
(
  cd "$part/Python-$release"
  ./configure --quiet --prefix="$made" --disable-gil --disable-test-modules
  make -s -j "${JOBS:-2}"
  make -s install
) > "$part/make.log" 2>&1 || { tail -n 20 "$part/make.log" >&2; rm -rf "$made"; exit 1; }
rm -rf "$part"
echo "$made/bin/python3.13t"
