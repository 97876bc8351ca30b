#!/bin/sh
# Compiles the library, syntax only, for pointers of 32 bits and with libc++, then as C++23 with libc++: portable.sh BUILD, a build
# folder, which has the headers that the build generates. Needs no run time of such a machine, but Clang 14 and libc++'s headers,
# which tools/setup.sh full installs. Fails if a file has an error.
set -eu
cd "$(dirname "$0")/.."
build=$1
work=$build/portable
mkdir -p "$work/gnu"
: > "$work/gnu/stubs-32.h" # of glibc: which functions a machine lacks; for syntax, none
folders="-Iinclude -Isrc -Iformats -Idata -I$build/src/embedded -I$build/src/embedded_quirks"
narrow=-m32
[ "$(uname -m)" != aarch64 ] || narrow=--target=arm-linux-gnueabihf # there -m32 is a machine that Clang does not know
flags="-std=c++20 $narrow -fno-exceptions -fno-rtti -Wall -Wextra -Wno-missing-field-initializers -Werror
  -D_LIBCPP_ENABLE_CXX17_REMOVED_UNARY_BINARY_FUNCTION
  -nostdinc++ -isystem /usr/lib/llvm-16/include/c++/v1 -idirafter /usr/include/$(uname -m)-linux-gnu -isystem $work
  $folders"
# What most files include is read once.
clang++-14 $flags -include algorithm -include functional -include charconv -x c++-header include/parlance/parlance.h -o "$work/parlance.pch"
# The library's own, as the build compiles them: several files together, but for those with flags of their own.
python3 - "$build/compile_commands.json" <<'EOF' | xargs -P "$(nproc)" -n 4 clang++-14 -fsyntax-only -include-pch "$work/parlance.pch" $flags
import json, re, sys

units = sorted({unit["file"] for unit in json.load(open(sys.argv[1]))})
own = [unit for unit in units if re.search(r"/src/(CMakeFiles/parlance_\w+\.dir/Unity/|[\w/]+\.cpp$)", unit)]
others = re.compile(r"/src/(agent|cli|serve|tokenizers)/|/bindings/|/site-packages/|/fuzz/|/bench/")
print(*(unit for unit in own if not others.search(unit)), sep="\n")
EOF
# As C++23 libc++'s headers include less of each other. Each file alone: of files that are compiled together one includes for all.
newer="-std=c++2b -fno-exceptions -fno-rtti -D_LIBCPP_ENABLE_CXX17_REMOVED_UNARY_BINARY_FUNCTION
  -nostdinc++ -isystem /usr/lib/llvm-16/include/c++/v1 $folders"
clang++-14 $newer -x c++-header include/parlance/parlance.h -o "$work/newer.pch"
find src -name '*.cpp' | grep -vE '^src/(agent|cli|serve)/' |
  xargs -P "$(nproc)" -n 4 clang++-14 -fsyntax-only -include-pch "$work/newer.pch" $newer
