#!/bin/sh
# vllm_setup.sh [VERSION …]: puts the Python files of vLLM, and what its parsers import, into build/python/vllm-VERSION; by default the
# newest of VERSIONS. The wheels come from the Python registry once (330 MB each, kept by pip); their compiled parts are left out.
set -eu
VERSIONS="0.33.0 0.32.0 0.31.0"
here=$(cd "$(dirname "$0")" && pwd)
root=$here/../../..
build=$root/build/python
mkdir -p "$build"
python=$build/venv/bin/python
. "$root/tools/packages.sh"
libraries=$build/vllm-libraries
if [ ! -d "$libraries" ]; then
  rm -rf "$libraries.part"
  install_packages "$build/venv" --no-deps --target "$libraries.part" -r "$here/vllm_requirements.txt"
  mv "$libraries.part" "$libraries"
fi
[ $# -gt 0 ] || set -- "${VERSIONS%% *}"
for version; do
  folder=$build/vllm-$version
  [ ! -d "$folder" ] || continue
  rm -rf "$folder.part" "$folder.wheel"
  "$python" -m pip download --quiet --disable-pip-version-check --no-deps --only-binary :all: --dest "$folder.wheel" "vllm==$version"
  mkdir -p "$folder.part"
  (cd "$folder.part" && "$python" -c '
import sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as wheel:
    wheel.extractall(members=[name for name in wheel.namelist() if name.endswith(".py") or ".dist-info/" in name])
' "$folder.wheel"/*.whl)
  rm -rf "$folder.wheel"
  mv "$folder.part" "$folder"
done
