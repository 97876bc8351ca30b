#!/bin/sh
# Makes build/oracle/venv, the Python in which the oracle runs; does nothing where it is already as pinned.
# Also trains the small tokenizers of the tests (build/oracle/tokenizers), once.
# Needs CPython 3.11 (PYTHON names another place of it) because answers depend on its Unicode tables and methods.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
venv=$here/../../build/oracle/venv
python=${PYTHON:-python3.11}
"$python" -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' || { echo "setup.sh: $python is not CPython 3.11" >&2; exit 1; }
if ! cmp -s "$here/requirements.txt" "$venv/installed.txt"; then
  rm -rf "$venv"
  mkdir -p "$venv"
  "$python" -m venv "$venv"
  "$venv/bin/pip" install --quiet --disable-pip-version-check -r "$here/requirements.txt"
  cp "$here/requirements.txt" "$venv/installed.txt"
fi
"$venv/bin/python" "$here/train_tokenizers.py"
"$venv/bin/python" -B "$here/train_sentencepiece.py" "$venv/../tokenizers" >&2
cd "$venv/bin"
echo "$(pwd)/python"
