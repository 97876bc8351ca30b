#!/bin/sh
# Runs every fuzz target for FUZZ_SECONDS, all at once, and fails on a finding: `run.sh BUILD`. Logs are in BUILD/logs. With
# FUZZ_SECONDS=0 each seed is run once and not mutated: without coverage mutants find next to nothing.
set -u
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
mkdir -p "$build/logs" "$build/findings"
targets="gguf_read jinja_compile jinja_render go_compile go_render json_read json_scan modelfile_read reply_feed request_convert jinja_derive grammar_make session_restore"
[ -x "$build/fuzz/fuzz_tokenizer_json" ] && targets="$targets tokenizer_json vocabulary"
[ ! -x "$build/fuzz/fuzz_sentencepiece_model" ] || targets="$targets sentencepiece_model"
[ ! -x "$build/fuzz/fuzz_serve_requests" ] || targets="$targets serve_requests serve_engine serve_capture serve_agent"
for target in $targets; do
  dict=$here/${target%%_*}.dict
  mkdir -p "$build/corpus/$target"
  seeds=$here/seeds/$target  # what was found once; nothing yet for some
  [ -d "$seeds" ] || seeds=
  set -- -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 -artifact_prefix="$build/findings/$target-"
  if [ "${FUZZ_SECONDS:-60}" = 0 ]; then
    find "$build/corpus/$target" ${seeds:+"$seeds"} -type f -print0 |
      xargs -0 -r "$build/fuzz/fuzz_$target" "$@" > "$build/logs/$target.log" 2>&1 &
  else
    "$build/fuzz/fuzz_$target" "$@" -dict="$dict" -max_total_time="${FUZZ_SECONDS:-60}" -max_len=4096 \
      "$build/corpus/$target" ${seeds:+"$seeds"} > "$build/logs/$target.log" 2>&1 &
  fi
  eval "pid_$target=$!"
done
failed=0
for target in $targets; do
  eval "wait \$pid_$target" && result=fine || { result=FINDING; failed=1; }
  runs=$(sed -n 's/stat::number_of_executed_units: *//p' "$build/logs/$target.log" | tail -n 1)
  [ "${FUZZ_SECONDS:-60}" != 0 ] || runs=$(grep -c '^Executed ' "$build/logs/$target.log")
  [ "${runs:-0}" != 0 ] || { result="FINDING (nothing was run)"; failed=1; }
  echo "fuzz $target: $result, ${runs:-0} runs"
  [ "$result" = fine ] || tail -30 "$build/logs/$target.log"
done
exit $failed
