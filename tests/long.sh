#!/bin/sh
# What is too long for make test, of a build in release: long.sh BUILD. Each step goes on after one that fails; fails at the end.
#
# WALKS is how many strings are drawn from each engine's masks for each format and tool choice, of which there are three of both: with
# 1,200 they are ten thousand for each format, and take two hours. MUTATIONS and SOAK_MINUTES: how long the gateway is tried.
set -u
cd "$(dirname "$0")/.."
build=$1
python=build/oracle/venv/bin/python
failed=
export PYTHONPYCACHEPREFIX="$PWD/build/pycache"

step() {
  echo "== $*"
  "$@"
  result=$?
  [ $result -eq 0 ] || [ $result -eq 77 ] || failed=1
}

step $python tests/oracle/real_engines.py "$build/parlance" "$build/tests/grammar_dump" --samples 10 --walks 4
for pair in lark:qwen3 gbnf:llama3_2 structural-tag:yi; do
  step $python tests/oracle/real_engines.py "$build/parlance" "$build/tests/grammar_dump" --engines "${pair%:*}" --only "${pair#*:}" \
    --samples 4 --walks "${WALKS:-60}" --formats formats tests/grammars/formats
done
for seed in 1 2 3 4 5 6 7 17 23; do
  for formats in formats tests/replies tests/grammars/formats; do
    step "$build/tests/grammar_law" --formats $formats --tools tests/grammars/tools.json --count 4000 --seed $seed
  done
done
step $python tests/oracle/words_oracle.py "$build/tests/token_dump"
step $python tests/oracle/gguf_tokens_oracle.py "$build/tests/token_dump" --count 400 --real
step $python tests/oracle/rank_tokens_oracle.py "$build/tests/token_dump" --count 400
step $python tests/oracle/model_as_transformers_oracle.py "$build/tests/token_dump" --count 400 --real-json
step python3 tests/check_test.py "$build/parlance" --seeds 5 --count 1000
for seed in 1 2 3; do
  step $python tests/oracle/schema_engines.py "$build/tests/grammar_dump" --samples 12 --seed $seed
done
if [ -x build/python/venv/bin/python ]; then
  export PYTHONPATH="$build/python"
  step sh bindings/python/tests/asan.sh
  step sh bindings/python/tests/free_threads.sh
  step sh bindings/python/tests/torch.sh "$build"
  step sh bindings/python/tests/trl.sh "$build"
  step build/python/venv/bin/python bindings/python/tests/soak.py
  step build/python/venv/bin/python bindings/python/tests/rollout.py
  step build/python/venv/bin/python -W ignore bindings/python/tests/verifiers_oracle.py --download
fi
step python3 tests/serve/attacks_test.py $build/parlance --attacks 200
step python3 tests/serve/more_clients.py $build/parlance
step python3 tests/serve/clients_of_languages.py $build/parlance
step python3 tests/serve/frameworks_of_python.py $build/parlance
step python3 tests/serve/open_responses.py $build/parlance
step python3 tests/serve/shared_sessions_test.py $build/parlance --valkey
step python3 tests/serve/shared_kept_test.py $build/parlance --valkey
step python3 tests/serve/shared_failures_test.py $build/parlance --valkey
step python3 tests/serve/inspect_page_test.py $build/parlance
step python3 tests/serve/mutations.py $build/parlance --requests "${MUTATIONS:-1000000}"
step python3 tests/serve/soak.py $build/parlance --minutes "${SOAK_MINUTES:-10}"
step sh tests/serve/sanitized.sh
step python3 tests/serve/real_model.py $build/parlance
step python3 tests/serve/real_ollama.py $build/parlance
step python3 tests/serve/real_llama_cpp_python.py $build/parlance
step python3 tests/agent/tasks_test.py $build/parlance
step python3 tests/agent/tasks_test.py $build/parlance --formats terminal-agent --sandbox landlock
step python3 tests/agent/resume_test.py $build/parlance --times 20
step python3 tests/agent/mcp_servers_test.py $build/parlance
step python3 tests/agent/overhead.py $build/parlance --most 5
step python3 tests/agent/real_model.py $build/parlance
[ -z "$failed" ]
