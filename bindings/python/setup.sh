#!/bin/sh
# Makes build/python/venv, the Python for which the extension of make test is built and in which its tests run; does nothing where it is
# as pinned. It sees the packages of the oracle's Python too (transformers, tokenizers, numpy), if that is there.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$here/../..
build=$root/build
venv=$build/python/venv
python=${PYTHON:-python3.11}
. "$root/tools/packages.sh"
if ! cmp -s "$here/requirements.txt" "$venv/installed.txt"; then
  make_venv "$venv"
  install_packages "$venv" -r "$here/requirements.txt"
  cp "$here/requirements.txt" "$venv/installed.txt"
fi
# In a folder of its own, since what it asks for and what transformers asks for need not agree.
renderers=$build/python/renderers-0.1.12
if [ ! -d "$renderers" ]; then
  rm -rf "$renderers.part"
  install_packages "$venv" --target "$renderers.part" renderers==0.1.12 httpx
  mv "$renderers.part" "$renderers"
fi
# Only for its templates, which are models' own.
trl=$build/python/trl-1.16.0
if [ ! -d "$trl" ]; then
  rm -rf "$trl.part"
  install_packages "$venv" --no-deps --target "$trl.part" trl==1.16.0
  mv "$trl.part" "$trl"
fi
# 330 MB, of which only the Python files are kept. Without it the test of the parsers for vLLM says that it was skipped.
sh "$here/tests/vllm_setup.sh" 2>/dev/null || echo "vLLM is not to be had"
packages=$("$venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
oracle=$build/oracle/venv/lib/$(basename "$(dirname "$packages")")/site-packages
[ ! -d "$oracle" ] || echo "$(cd "$oracle" && pwd)" > "$packages/oracle.pth"
