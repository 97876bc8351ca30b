#!/bin/sh
# What is too long for make test, of a build in release: long.sh BUILD. Each step goes on after one that fails; fails at the end.
#
# WALKS is how many strings are drawn from an engine's masks for each format and tool choice (ten thousand take a night).
set -u
cd "$(dirname "$0")/.."
build=$1
python=build/oracle/venv/bin/python
failed=

step() {
  echo "== $*"
  "$@"
  result=$?
  [ $result -eq 0 ] || [ $result -eq 77 ] || failed=1
}

step $python tests/oracle/real_engines.py "$build/parlance" "$build/tests/grammar_dump" --samples 10 --walks 4
step $python tests/oracle/real_engines.py "$build/parlance" "$build/tests/grammar_dump" --samples 4 --walks "${WALKS:-60}" \
  --formats formats tests/grammars/formats
for seed in 1 2 3; do
  step $python tests/oracle/schema_engines.py "$build/tests/grammar_dump" --samples 12 --seed $seed
done
[ -z "$failed" ]
