#!/bin/sh
# The tests of the package in a CPython without a GIL: free_threads.sh. For make long; makes the interpreter where there is none, and the
# build. What has no packages for it, such as transformers, is skipped. Ends with 77 where the interpreter is not to be had.
set -eu
cd "$(dirname "$0")/../../.."
root=$PWD
python=$(sh bindings/python/free_threaded.sh --make) || { [ $? -eq 77 ] || exit 1; echo "skipped: no CPython without a GIL is to be had"; exit 77; }
. tools/packages.sh
venv=$root/build/free-threaded/venv
if ! { cmp -s bindings/python/tests/free_threads_requirements.txt "$venv/installed.txt" && "$venv/bin/python" -c ""; }; then
  make_venv "$venv"
  install_packages "$venv" --only-binary :all: -r bindings/python/tests/free_threads_requirements.txt ||
    { echo "skipped: the packages for a CPython without a GIL are not to be had"; exit 77; }
  cp bindings/python/tests/free_threads_requirements.txt "$venv/installed.txt"
fi
cmake --preset free-threads -DPython_EXECUTABLE="$venv/bin/python" > build/configure.log 2>&1 || { cat build/configure.log; exit 1; }
cmake --build --preset free-threads --target parlance_python parlance_cli
export PYTHONPATH=build/free-threads/python
"$venv/bin/python" -W error -c 'import sys, parlance; sys.exit(sys._is_gil_enabled() and "the import has switched the GIL on")'
"$venv/bin/python" -B -X faulthandler -m pytest -q -p no:cacheprovider bindings/python/tests
