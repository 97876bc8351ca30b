#!/bin/sh
# Makes build/python/torch-…, what processors of transformers need that decode images and videos with torch; for torch.sh. The Python
# registry has torch with all of CUDA's libraries, which it links: several GB, fetched once.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=$here/../../../build/python
folder=$build/torch-2.15.0
[ -d "$folder" ] && exit 0
rm -rf "$folder.part"
"$build/venv/bin/pip" install --quiet --disable-pip-version-check --target "$folder.part" -r "$here/torch_requirements.txt"
mv "$folder.part" "$folder"
