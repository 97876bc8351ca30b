#!/bin/sh
# The tests of processors and of tensors, with torch there, in each release of transformers that the oracle has: torch.sh BUILD. Without
# torch those of processors that need it are skipped. Ends with 77 where it is not to be had.
set -u
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
made=$here/../../../build
torch=$(sh "$here/torch_setup.sh") || { echo "skipped: torch is not to be had"; exit 77; }
failed=0
for release in "" "$made"/oracle/transformers-*; do
  [ -z "$release" ] || [ -d "$release" ] || continue
  echo "transformers: ${release:-the newest}"
  PYTHONPATH="$build/python${release:+:$release}:$torch" "$made/python/venv/bin/python" -B -W ignore -m pytest -q \
    -p no:cacheprovider "$here/test_processors.py" "$here/test_torch.py" || failed=1
done
exit $failed
