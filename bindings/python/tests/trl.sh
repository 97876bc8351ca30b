#!/bin/sh
# TRL's own functions over chat templates, by a tokenizer with and without the installed method: trl.sh BUILD. Ends with 77 where TRL, torch
# or datasets are not to be had.
set -u
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
made=$here/../../../build/python
datasets=5.2.0
trl=$(ls -d "$made"/trl-[0-9]* 2>/dev/null | tail -n 1)
[ -n "$trl" ] || { echo "skipped: TRL is not there"; exit 77; }
torch=$(sh "$here/torch_setup.sh") || { echo "skipped: torch is not to be had"; exit 77; }
needs=$made/trl-needs-$datasets
if [ ! -d "$needs" ]; then
  rm -rf "$needs.part"
  "$made/venv/bin/pip" install --quiet --disable-pip-version-check --target "$needs.part" "datasets==$datasets" >&2 && mv "$needs.part" "$needs" ||
    { echo "skipped: datasets is not to be had"; exit 77; }
fi
HF_HUB_OFFLINE=1 PYTHONPATH="$build/python:$trl:$torch" exec "$made/venv/bin/python" -B -W ignore "$here/trl_oracle.py" "$needs"
