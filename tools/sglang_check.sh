#!/bin/sh
# The gateway in front of a real SGLang, for a nightly run: sglang_check.sh [PARLANCE]. Ends as tests/serve/sglang_real.py does.
#
# SGLang, its libraries and torch come from the Python registry into build/sglang: 7 GB, once. It runs on the processor, with plain torch
# in place of its kernels. The model is the one of tools/llama_server.py, its weights written as SGLang reads them. Free memory needed: 6 GB.
set -eu
SGLANG=0.5.23
folder=build/sglang
engine="SGLang $SGLANG"
. "$(dirname "$0")/engine_check.sh"

# What a GPU alone needs is left out of SGLang's requirements, and what only other engines, data sets and media need. dill is one that it
# imports and does not name.
install() {
  new_venv
  pip install --no-deps "sglang==$SGLANG"
  requirements sglang $SGLANG \
    -e '^\(cuda-python\|flash-attn\|flashinfer\|humming\|kernels\|nvidia-cut\|nvidia-math\|nvshmem\|quack\|sgl-\|sglang-kernel\)' \
    -e '^\(tilelang\|torch_memory_saver\|torchaudio\|torchcodec\|datasets\|modelscope\|smg-grpc\|tml-\|deepseek-recipe\|decord\|av=\)'
  pip install -r $folder/requirements.txt accelerate dill
  mkdir -p "$(site_packages)/sgl_kernel"
  cp tools/sglang_kernels.py "$(site_packages)/sgl_kernel/__init__.py"
}

run_check tests/serve/sglang_real.py "${1:-build/release/parlance}"
