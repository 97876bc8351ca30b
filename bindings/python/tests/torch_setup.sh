#!/bin/sh
# Makes build/python/torch-…, what processors of transformers need that decode images and videos with torch, and prints where it is; for
# torch.sh. The Python registry has torch with all of CUDA's libraries, which it links: several GB, fetched once.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=$here/../../../build/python
folder=$build/torch-$(sed -n 's/^torch==//p' "$here/torch_requirements.txt")
if [ ! -d "$folder" ]; then
  rm -rf "$folder.part"
  "$build/venv/bin/pip" install --quiet --disable-pip-version-check --target "$folder.part" -r "$here/torch_requirements.txt" >&2
  mv "$folder.part" "$folder"
fi
echo "$folder"
