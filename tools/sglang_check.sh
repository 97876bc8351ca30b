#!/bin/sh
# The gateway in front of a real SGLang, for a nightly run: sglang_check.sh [PARLANCE]. Ends as tests/serve/sglang_real.py does.
#
# SGLang, its libraries and torch come from the Python registry into build/sglang: 7 GB, once. It runs on the processor, with plain torch
# in place of its kernels. The model is the one of tools/llama_server.py, its weights written as SGLang reads them. Free memory needed: 6 GB.
set -eu
SGLANG=0.5.23
cd "$(dirname "$0")/.."
parlance=${1:-build/release/parlance}
folder=build/sglang
python=$folder/venv/bin/python

pip() { $python -m pip --disable-pip-version-check --quiet "$@"; }

# What a GPU alone needs is left out of SGLang's requirements, and what only other engines, data sets and media need. dill is one that it
# imports and does not name.
install() {
  rm -rf $folder/venv
  python3 -m venv $folder/venv
  pip install --no-deps "sglang==$SGLANG"
  packages=$($python -c 'import site; print(site.getsitepackages()[0])')
  sed -n 's/^Requires-Dist: //p' "$packages/sglang-$SGLANG.dist-info/METADATA" | grep -v -e 'extra ==' \
    -e '^\(cuda-python\|flash-attn\|flashinfer\|humming\|kernels\|nvidia-cut\|nvidia-math\|nvshmem\|quack\|sgl-\|sglang-kernel\)' \
    -e '^\(tilelang\|torch_memory_saver\|torchaudio\|torchcodec\|datasets\|modelscope\|smg-grpc\|tml-\|deepseek-recipe\|decord\|av=\)' \
    > $folder/requirements.txt
  pip install -r $folder/requirements.txt accelerate dill
  mkdir -p "$packages/sgl_kernel"
  cp tools/sglang_kernels.py "$packages/sgl_kernel/__init__.py"
  touch $folder/installed
}

mkdir -p $folder
[ -e $folder/installed ] || install || { echo "skipped: SGLang $SGLANG cannot be had" >&2; exit 77; }
gguf=$(python3 tools/llama_server.py --fetch) || exit $?
[ -d $folder/model ] || $python tools/vllm_model.py "$gguf" $folder/model
exec python3 -B tests/serve/sglang_real.py "$parlance" --python $python --model $folder/model
