# What vllm_check.sh and sglang_check.sh share: how an engine is installed into a folder, and how its test is run with the small model.
# Each says first where it is ($folder), what it is called ($engine, for people), and what installs it (install).
cd "$(dirname "$0")/.."
python=$folder/venv/bin/python

pip() { $python -m pip --disable-pip-version-check --quiet "$@"; }

new_venv() {
  rm -rf $folder/venv
  python3 -m venv $folder/venv
}

# requirements NAME VERSION [GREP'S OPTIONS]: those of an installed package, but for its extras and what the options match.
requirements() {
  about=$(site_packages)/$1-$2.dist-info/METADATA
  shift 2
  sed -n 's/^Requires-Dist: //p' "$about" | grep -v -e 'extra ==' "$@" > $folder/requirements.txt
}

site_packages() { $python -c 'import site; print(site.getsitepackages()[0])'; }

# run_check TEST PARLANCE: its weights as 32-bit floats take 600 MB, once.
run_check() {
  mkdir -p $folder
  if [ ! -e $folder/installed ]; then
    set +e  # a shell goes on behind a failure in what it is asked about by || or if
    (set -e; install)
    [ $? -eq 0 ] || { echo "skipped: $engine cannot be had" >&2; exit 77; }
    set -e
    touch $folder/installed
  fi
  gguf=$(python3 tools/llama_server.py --fetch) || exit $?
  [ -d $folder/model ] || $python tools/vllm_model.py "$gguf" $folder/model
  exec python3 -B "$1" "$2" --python $python --model $folder/model
}
