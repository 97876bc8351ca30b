#!/usr/bin/env python3
"""The example at the top of parlance.h, compiled and run as a user would: installed, and as a subfolder; and the programs of docs/.

    example_test.py --source TREE --build ITS-BUILD --cmake CMAKE --generator G --compiler CXX --flags F --type T --launcher L [--whole]

L is a list with `|` between its words. The build is installed into a folder below it, a project finds it there with find_package(parlance), another with pkg-config, a third
takes the tree with add_subdirectory; the programs must print the prompt and its origins. What pkg-config says is checked with folders
that are absolute, too. The third has targets and macros of names
that a library might want for itself, and a cargo that must not be started. It compiles the library again, without precompiled
headers: with --whole all of it, which takes minutes, else two modules. A program of docs/ is a `cpp` block that has a main; it
runs in the tree and must print what the `text` block below it says. One that opens a tokenizer.json is left out where the build
has no cargo. Begin reading at main.
"""

import argparse
import os
import pathlib
import re
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
FIND_TOKENIZERS = "find_package(parlance {version} REQUIRED CONFIG COMPONENTS tokenizers)"
# What a parent may have: targets of every short name, and flags of its own.
SUBFOLDER = """foreach(name unit_tests runner tests docs check install_all format release asan_tests cli options base value precompiled go_oracle notices pages)
  add_custom_target(${{name}})
endforeach()
add_subdirectory({source} parlance)
get_directory_property(names DIRECTORY {source} BUILDSYSTEM_TARGETS)
get_directory_property(more DIRECTORY {source}/src BUILDSYSTEM_TARGETS)
foreach(name IN LISTS names more)
  if(NOT name MATCHES "^parlance")
    message(FATAL_ERROR "a target of parlance is called ${{name}}")
  endif()
endforeach()
foreach(name PARLANCE_CARGO PARLANCE_CCACHE CPACK_GENERATOR)
  if(DEFINED ${{name}})
    message(FATAL_ERROR "${{name}} is set in a parent's build")
  endif()
endforeach()
if(NOT CMAKE_CXX_FLAGS_RELEASE STREQUAL "{release}")
  message(FATAL_ERROR "the parent's flags are changed: ${{CMAKE_CXX_FLAGS_RELEASE}}")
endif()"""
# Short names, as macros of a platform or a parent; some are Windows' own.
MACROS = ["ERROR", "TYPE", "FIELD", "TOKEN", "OPERATOR", "WORD", "OP", "FORMAT", "VOCABULARY", "IN", "OUT", "OPTIONAL", "CONST", "VOID", "BOOL",
          "DELETE", "PASCAL", "NO_ERROR", "STRICT", "CASE", "NEXT", "VERSION", "DEBUG", "CHECK", "LOG"]
PROGRAM = re.compile(r"^```cpp\n(.*?)^```\n(?:\n*```text\n(.*?)^```$)?", re.DOTALL | re.MULTILINE)
RELEASE = "-O2 -DNDEBUG"
A_PART = ["parlance_base", "parlance_engine"]  # modules that make test compiles as a subfolder
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
    """As the header says it, whose numbers are those of its text."""
    header = (source / "include/parlance/version.h").read_text("utf-8")
    numbers = [re.search(rf"PARLANCE_VERSION_{part} (\d+)", header)[1] for part in ("MAJOR", "MINOR", "PATCH")]
    version = re.search(r'PARLANCE_VERSION "([^"]+)"', header)[1]
    if version != ".".join(numbers):
        raise SystemExit(f"version.h says {version} and {numbers}")
    return version


def check_macros(source):
    """What users include, and what is compiled under a parent's macros, defines no short names of its own."""
    wrong = []
    for folder, patterns in (("include", ("*.h", "*.def")), ("src", ("*.h", "*.def", "*.inc"))):
        for path in [path for pattern in patterns for path in (source / folder).rglob(pattern)]:
            for name in re.findall(r"^\s*#\s*(?:define|undef|ifdef|ifndef)\s+(\w+)", path.read_text("utf-8"), re.MULTILINE):
                if not re.match(r"PARLANCE_|__|NDEBUG", name):
                    wrong.append(f"{path.relative_to(source)}: the macro {name}")
    if wrong:
        raise SystemExit("\n".join(wrong))


def run(*command, **options):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, **options)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


def write_example(folder, options):
    macros = "".join(f"#define {name} (nothing that compiles\n" for name in MACROS)
    (folder / "example.cpp").write_text(macros + example_of(options.source / "include/parlance/parlance.h"), "utf-8")


def pkg_config(folders, *arguments):
    """What pkg-config says where it looks into these folders, as words."""
    return run("pkg-config", *arguments, env={**os.environ, "PKG_CONFIG_PATH": ":".join(map(str, folders))}).split()


def build_with_pkg_config(folder, prefix, options):
    """The compiler's own command line, from what parlance.pc says; the prefix was moved, so nothing in it is absolute."""
    folder.mkdir(parents=True, exist_ok=True)
    write_example(folder, options)
    found = [path.parent for path in prefix.rglob("parlance.pc")]
    flags = pkg_config(found, "--cflags", "--libs", "parlance")
    if [flag for flag in flags if flag.startswith("-std")]:
        raise SystemExit(f"parlance.pc chooses a standard for who compiles C++23: {flags}")
    if pkg_config(found, "--modversion", "parlance") != [version_of(options.source)]:
        raise SystemExit("parlance.pc has another version")
    run(options.compiler, "-std=c++20", *options.flags.split(), folder / "example.cpp", "-o", folder / "example", *flags)
    return run(folder / "example")


def wrong_programs_with_pkg_config(folder, prefix, options):
    """How many of the programs of docs/ that open a tokenizer print something else when they are linked with what
    parlance-tokenizers.pc says."""
    folder.mkdir(parents=True, exist_ok=True)
    found = [path.parent for path in prefix.rglob("parlance-tokenizers.pc")]
    wrong = 0
    for name, program, wanted in programs_of_docs(options.source, prefix):
        if "open_tokenizer(" not in program:
            continue
        (folder / f"{name}.cpp").write_text(program, "utf-8")
        flags = pkg_config(found, "--cflags", "--libs", "parlance-tokenizers")
        run(options.compiler, "-std=c++20", *options.flags.split(), folder / f"{name}.cpp", "-o", folder / name, *flags)
        wrong += says(f"{name} with pkg-config", run(folder / name, cwd=options.source), wanted)
    return wrong


def reads_json(prefix):
    """Whether the build has the Rust library, and so opens a tokenizer.json."""
    return bool(list(prefix.rglob("*parlance_hf*")))


def check_absolute_folders(folder, prefix, options):
    """Folders that are given as absolute paths stay what they are, in what pkg-config says and in what find_package reads.
    The build is only configured."""
    shutil.rmtree(folder, ignore_errors=True)
    off = [f"-DPARLANCE_{what}=OFF" for what in ("BUILD_CLI", "BUILD_TESTS", *([] if reads_json(prefix) else ["HF_TOKENIZERS"]))]
    run(options.cmake, "-S", options.source, "-B", folder, "-G", options.generator, f"-DCMAKE_CXX_COMPILER={options.compiler}", *off,
        "-DCMAKE_INSTALL_PREFIX=/opt/a", "-DCMAKE_INSTALL_LIBDIR=/opt/b/lib", "-DCMAKE_INSTALL_INCLUDEDIR=/opt/c/include")
    flags = pkg_config([folder], "--cflags", "--libs", "parlance-tokenizers")
    for wanted in ("-I/opt/c/include", "-L/opt/b/lib"):
        if wanted not in flags:
            raise SystemExit(f"pkg-config does not say {wanted} but {flags}")
    read = "".join(path.read_text("utf-8") for path in folder.rglob("parlanceTargets.cmake"))
    if not read or "_IMPORT_PREFIX}//" in read or ("parlance_hf" in read and "/opt/b/lib/libparlance_hf.a" not in read):
        raise SystemExit(f"find_package reads\n{read}")


def check_unknown_component(folder, build, options, prefix):
    """find_package with a component that there is not says which there are."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "CMakeLists.txt").write_text(PROJECT.format(door="find_package(parlance REQUIRED CONFIG COMPONENTS tokenisers)"), "utf-8")
    done = subprocess.run([options.cmake, "-S", folder, "-B", build, f"-DCMAKE_PREFIX_PATH={prefix}"], capture_output=True, text=True)
    said = " ".join(done.stderr.split())
    if done.returncode == 0 or "no component `tokenisers`; it has `parlance` and `tokenizers`" not in said:
        raise SystemExit(f"a component that is not there: {said}")


def no_cargo(folder):
    """An environment whose cargo says that it was started."""
    folder.mkdir(parents=True, exist_ok=True)
    for path in (folder / "cargo", folder / "bin" / "cargo"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/sh\ntouch {folder}/started\n", "utf-8")
        path.chmod(0o755)
    (folder / "started").unlink(missing_ok=True)
    return {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}", "CARGO_HOME": str(folder)}


def check_nothing_else(folder, build, options):
    """A parent that takes the library installs nothing of it, tests nothing of it, and starts no cargo."""
    if (folder / "cargo" / "started").exists():
        raise SystemExit("cargo was started in a parent's build")
    run(options.cmake, "--install", build, "--prefix", folder / "nothing")
    installed = [path for path in (folder / "nothing").rglob("*") if path.is_file()]
    if installed:
        raise SystemExit(f"a parent's install has {installed}")
    if "parlance" in (build / "CTestTestfile.cmake").read_text("utf-8") if (build / "CTestTestfile.cmake").exists() else False:
        raise SystemExit("a parent's tests are ours")


def build_and_run(folder, build, door, options, prefix=None):
    """What the example prints; nothing where only a part of the library is compiled."""
    folder.mkdir(parents=True, exist_ok=True)
    write_example(folder, options)
    (folder / "CMakeLists.txt").write_text(PROJECT.format(door=door), "utf-8")
    if not prefix and not options.whole:
        for module in A_PART:
            configure_and_build(folder, build, options, prefix, module)
        return WANTED
    configure_and_build(folder, build, options, prefix, "example")
    return run(build / "example")


def configure_and_build(folder, build, options, prefix, target="all"):
    (build / "CMakeCache.txt").unlink(missing_ok=True)  # what an earlier configuration found is not found again
    configure = [options.cmake, "-S", folder, "-B", build, "-G", options.generator,
                 f"-DCMAKE_BUILD_TYPE={options.type}", "-DPARLANCE_WERROR=ON", f"-DCMAKE_CXX_COMPILER={options.compiler}",
                 f"-DCMAKE_CXX_FLAGS={options.flags}", f"-DCMAKE_CXX_FLAGS_RELEASE={RELEASE}", "-DCMAKE_CXX_COMPILER_LAUNCHER=" + options.launcher.replace("|", ";")]
    run(*configure, *([f"-DCMAKE_PREFIX_PATH={prefix}"] if prefix else []), env=no_cargo(folder / "cargo"))
    run(options.cmake, "--build", build, "--target", target)


def says(name, printed, wanted=WANTED):
    print(f"{name}: {'as it should be' if printed == wanted else 'prints'}\n{printed}")
    return printed != wanted


def programs_of_docs(source, prefix):
    """Page and number, the program, and what it prints; without those that open a tokenizer.json where the build has no cargo."""
    for page in sorted((source / "docs").glob("*.md")):
        blocks = [block for block in PROGRAM.findall(page.read_text("utf-8")) if "int main(" in block[0]]
        for number, (program, wanted) in enumerate(blocks):
            if reads_json(prefix) or "open_tokenizer(" not in program:
                yield f"{page.stem}-{number}", program, wanted


def wrong_programs_of_docs(folder, build, options, prefix):
    """How many of them print something else; all against the installed library."""
    folder.mkdir(parents=True, exist_ok=True)
    programs = list(programs_of_docs(options.source, prefix))
    if not programs:
        raise SystemExit("no page of docs/ has a program")
    lines = ["cmake_minimum_required(VERSION 3.22)", "project(pages LANGUAGES CXX)", FIND_TOKENIZERS.format(version=version_of(options.source))]
    for name, program, _ in programs:
        (folder / f"{name}.cpp").write_text(program, "utf-8")
        library = "parlance::tokenizers" if "open_tokenizer(" in program else "parlance::parlance"
        lines += [f"add_executable({name} {name}.cpp)", f"target_link_libraries({name} PRIVATE {library})"]
    (folder / "CMakeLists.txt").write_text("\n".join(lines) + "\n", "utf-8")
    configure_and_build(folder, build, options, prefix)
    return sum(says(name, run(build / name, cwd=options.source), wanted) for name, _, wanted in programs)


def main():
    parser = argparse.ArgumentParser()
    for name in ("source", "build"):
        parser.add_argument(f"--{name}", type=pathlib.Path, required=True)
    for name in ("cmake", "generator", "compiler", "flags", "type", "launcher"):
        parser.add_argument(f"--{name}", default="")
    parser.add_argument("--whole", action="store_true")
    options = parser.parse_args()
    check_macros(options.source)
    here = options.build / "tests" / "example"
    for prefix in ("prefix", "first-prefix", "subfolder/nothing"):
        shutil.rmtree(here / prefix, ignore_errors=True)
    run(options.cmake, "--install", options.build, "--prefix", here / "first-prefix")
    (here / "first-prefix").rename(here / "prefix")
    doors = {"installed": (FIND.format(version=version_of(options.source)), here / "prefix"),
             "subfolder": (SUBFOLDER.format(source=options.source, release=RELEASE), None)}
    wrong = 0
    for name, (door, prefix) in doors.items():
        # Beside the build itself, as deep: ccache counts paths from where the compiler runs.
        build = options.build.parent / f"{options.build.name}-{name}"
        printed = build_and_run(here / name, build, door, options, prefix)
        wrong += says(name, printed)
        if not prefix:
            check_nothing_else(here / name, build, options)
    wrong += wrong_programs_of_docs(here / "docs", options.build.parent / f"{options.build.name}-docs", options, here / "prefix")
    if shutil.which("pkg-config"):
        wrong += says("pkg-config", build_with_pkg_config(here / "pkg-config", here / "prefix", options))
        wrong += wrong_programs_with_pkg_config(here / "pkg-config", here / "prefix", options)
        check_absolute_folders(here / "absolute", here / "prefix", options)
    check_unknown_component(here / "component", options.build.parent / f"{options.build.name}-component", options, here / "prefix")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
