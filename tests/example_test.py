#!/usr/bin/env python3
"""The example at the top of parlance.h, compiled and run as a user would: installed, and as a subfolder.

    example_test.py --source TREE --build ITS-BUILD --cmake CMAKE --generator G --compiler CXX --flags F --type T --launcher L

L is a list with `|` between its words. The build is installed into a folder below it, a project finds it there with find_package(parlance), another takes the
tree with add_subdirectory; both programs must print the prompt and its origins. The second compiles the library again, under
the same flags as the build did, so that ccache knows most of it. Begin reading at main.
"""

import argparse
import pathlib
import shutil
import subprocess
import sys

WANTED = """<|user|>What is 2 + 2?<|end|><|assistant|>
  0-2   template
  2-6   messages[0].role
  6-8   template
  8-22  messages[0].content
 22-29  template
 29-42  template
"""

FIND = "find_package(parlance {version} REQUIRED CONFIG)"
SUBFOLDER = "add_subdirectory({source} parlance)"
PROJECT = """cmake_minimum_required(VERSION 3.22)
project(example LANGUAGES CXX)
{door}
add_executable(example example.cpp)
target_link_libraries(example PRIVATE parlance::parlance)
"""


def example_of(header):
    """The indented lines of the first comment."""
    lines = []
    for line in header.read_text("utf-8").split("\n"):
        if not line.startswith("//"):
            break
        if line.startswith("//     ") or line == "//":
            lines.append(line[7:])
    return "\n".join(lines).strip() + "\n"


def version_of(source):
    for line in (source / "CMakeLists.txt").read_text("utf-8").split("\n"):
        if line.startswith("project(parlance VERSION "):
            return line.split()[2]
    raise SystemExit("CMakeLists.txt names no version")


def run(*command, **options):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, **options)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


def build_and_run(folder, build, door, options, prefix=None):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "example.cpp").write_text(example_of(options.source / "include/parlance/parlance.h"), "utf-8")
    (folder / "CMakeLists.txt").write_text(PROJECT.format(door=door), "utf-8")
    configure = [options.cmake, "-S", folder, "-B", build, "-G", options.generator,
                 f"-DCMAKE_BUILD_TYPE={options.type}", "-DPARLANCE_WERROR=ON", f"-DCMAKE_CXX_COMPILER={options.compiler}",
                 f"-DCMAKE_CXX_FLAGS={options.flags}", "-DCMAKE_CXX_COMPILER_LAUNCHER=" + options.launcher.replace("|", ";")]
    run(*configure, *([f"-DCMAKE_PREFIX_PATH={prefix}"] if prefix else []))
    run(options.cmake, "--build", build, "--target", "example")
    return run(build / "example")


def main():
    parser = argparse.ArgumentParser()
    for name in ("source", "build"):
        parser.add_argument(f"--{name}", type=pathlib.Path, required=True)
    for name in ("cmake", "generator", "compiler", "flags", "type", "launcher"):
        parser.add_argument(f"--{name}", default="")
    options = parser.parse_args()
    here = options.build / "tests" / "example"
    shutil.rmtree(here / "prefix", ignore_errors=True)
    run(options.cmake, "--install", options.build, "--prefix", here / "prefix")
    doors = {"installed": (FIND.format(version=version_of(options.source)), here / "prefix"),
             "subfolder": (SUBFOLDER.format(source=options.source), None)}
    wrong = 0
    for name, (door, prefix) in doors.items():
        # Beside the build itself, as deep: ccache counts paths from where the compiler runs.
        build = options.build.parent / f"{options.build.name}-{name}"
        printed = build_and_run(here / name, build, door, options, prefix)
        wrong += printed != WANTED
        print(f"{name}: {'as it should be' if printed == WANTED else 'prints'}\n{printed}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
