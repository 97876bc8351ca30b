# Sourced by the scripts that set Python packages up for tests. `root` is the repository, `python` the interpreter.
#
#   make_venv FOLDER                 a virtual environment, with pip
#   install_packages FOLDER ARGS…    what `pip install ARGS…` says, for the virtual environment FOLDER
#
# uv installs them: it takes a tenth of pip's time, and packages that several folders have are hard links to one copy. It compiles
# nothing to bytecode: tests keep that of what they import in build/pycache. pip fetches uv, and does uv's work where uv cannot
# be had or asks the registry in vain, as behind a mirror that only pip was told of.
uv=$root/build/uv/bin/uv
export UV_PYTHON_DOWNLOADS=never UV_SYSTEM_CERTS=1 UV_NO_CONFIG=1
UV_VERSION=0.13.9

if [ ! -x "$uv" ]; then
  rm -rf "$root/build/uv"
  "$python" -m venv "$root/build/uv"
  "$root/build/uv/bin/pip" install --quiet --disable-pip-version-check "uv==$UV_VERSION" >&2 || echo "no uv: pip installs" >&2
fi

make_venv() {
  rm -rf "$1"
  "$uv" venv --quiet --seed --python "$python" "$1" 2>/dev/null || { rm -rf "$1"; "$python" -m venv "$1"; }
}

install_packages() {
  into=$1
  shift
  "$uv" pip install --quiet --python "$into/bin/python" "$@" >&2 ||
    "$into/bin/python" -m pip install --quiet --disable-pip-version-check --no-compile "$@" >&2
}
