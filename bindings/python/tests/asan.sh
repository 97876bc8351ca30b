#!/bin/sh
# The tests of the package with an extension under ASan and UBSan. For make long; makes the build itself.
#
# Python has no sanitizer, so the runtime is loaded before it. Leaks are not looked for: CPython keeps objects until it ends; soak.py
# shows that memory does not grow.
set -eu
cd "$(dirname "$0")/../../.."
python=$PWD/build/python/venv/bin/python
cmake --preset asan-python -DPython_EXECUTABLE="$python" > build/configure.log 2>&1 || { cat build/configure.log; exit 1; }
cmake --build --preset asan-python --target parlance_python
LD_PRELOAD=$(clang++-14 -print-file-name=libclang_rt.asan-$(uname -m).so)
export LD_PRELOAD
export ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 UBSAN_OPTIONS=print_stacktrace=1
export PYTHONPATH=build/asan-python/python PYTHONMALLOC=malloc
"$python" -B -m pytest -q -p no:cacheprovider bindings/python/tests
