#!/bin/sh
# The gateway under ASan and UBSan, and under TSan: `sanitized.sh`, from the project's folder. Builds the command twice, by GCC, since
# Clang 14 has no coroutines of the standard library, and drives it by the tests beside this file, which fail where it ends with a finding.
set -eu
cd "$(dirname "$0")/../.."
failed=
python=build/oracle/apis/bin/python  # which has the clients' packages
[ -x $python ] || python=python3
for kind in asan tsan; do
  mkdir -p build
  cmake --preset "$kind-serve" > "build/$kind-serve.log" || { cat "build/$kind-serve.log"; exit 1; }
  cmake --build --preset "$kind-serve" -j "${JOBS:-$(nproc)}" --target parlance_cli
  for test in http errors sessions lineages broken_replies inspect capture engines continuations stream odd_requests reasoning_limit shared_sessions shared_failures; do
    echo "== $kind: $test"
    $python -B "tests/serve/${test}_test.py" "build/$kind-serve/parlance" || [ $? -eq 77 ] || failed="$failed $kind:$test"
  done
  echo "== $kind: mutations, soak"
  python3 -B tests/serve/mutations.py "build/$kind-serve/parlance" --requests "${SANITIZED_MUTATIONS:-20000}" || failed="$failed $kind:mutations"
  python3 -B tests/serve/soak.py "build/$kind-serve/parlance" --minutes "${SANITIZED_MINUTES:-2}" --sanitized || failed="$failed $kind:soak"
done
[ -z "$failed" ] || { echo "failed:$failed"; exit 1; }
