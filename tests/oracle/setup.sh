#!/bin/sh
# Makes build/oracle/venv, the Python in which the oracle runs, and beside it build/oracle/transformers-VERSION for each release of
# requirements_releases.txt, a folder for PYTHONPATH, and build/oracle/apis, a Python with the clients of APIs; does nothing where all is already as pinned.
# Also fetches the official JSON Schema test suite, which comes with the sources of jsonschema, and trains the small tokenizers of the tests (build/oracle/tokenizers), once.
# Needs CPython 3.11 (PYTHON names another place of it) because answers depend on its Unicode tables and methods.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$here/../..
venv=$root/build/oracle/venv
python=${PYTHON:-python3.11}
"$python" -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' || { echo "setup.sh: $python is not CPython 3.11" >&2; exit 1; }
. "$root/tools/packages.sh"
wanted=$(cat "$here/requirements.txt" "$here/requirements_alone.txt")
if [ "$wanted" != "$(cat "$venv/installed.txt" 2>/dev/null)" ]; then
  make_venv "$venv"
  install_packages "$venv" -r "$here/requirements.txt"
  install_packages "$venv" --no-deps -r "$here/requirements_alone.txt"
  echo "$wanted" > "$venv/installed.txt"
fi
sed -n 's/^transformers==//p' "$here/requirements_releases.txt" | while read -r version; do
  release=$venv/../transformers-$version
  [ -d "$release/transformers" ] && continue
  rm -rf "$release.part"
  install_packages "$venv" --no-deps --target "$release.part" "transformers==$version"
  rm -rf "$release"
  mv "$release.part" "$release"
done
# In a folder of their own, so that what they ask for and what transformers asks for need not agree.
apis=$venv/../apis
if [ "$(cat "$here/requirements_apis.txt")" != "$(cat "$apis/installed.txt" 2>/dev/null)" ]; then
  make_venv "$apis"
  install_packages "$apis" -r "$here/requirements_apis.txt"
  cp "$here/requirements_apis.txt" "$apis/installed.txt"
fi
suite=$venv/../json-schema-suite
if [ ! -d "$suite/draft2020-12" ]; then
  mkdir -p "$suite"
  "$venv/bin/pip" download --quiet --disable-pip-version-check --no-deps --no-binary :all: -d "$suite" \
    "$(grep '^jsonschema==' "$here/requirements.txt")"
  tar -xzf "$suite"/jsonschema-*.tar.gz -C "$suite" --strip-components=3 --wildcards '*/json/tests/draft2020-12'
  rm "$suite"/jsonschema-*.tar.gz
fi
"$venv/bin/python" "$here/train_tokenizers.py"
"$venv/bin/python" -B "$here/train_sentencepiece.py" "$venv/../tokenizers" >&2
"$venv/bin/python" -B "$here/write_vocabularies.py" "$venv/../tokenizers" >&2
cd "$venv/bin"
echo "$(pwd)/python"
