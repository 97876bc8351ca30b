#!/usr/bin/env python3
"""Writes THIRD_PARTY: the licenses of what is inside the programs, which is not parlance's own.

    notices.py OUTPUT --compiler CXX --source TREE --linked DEPFILE... [--cargo CARGO --manifest Cargo.toml]

Nothing is listed by hand. The archives that the linker read stand in its --dependency-file; the headers that end in the programs
are those that the compiler opens for the `#include <...>` of the sources; the crates are cargo's. Debian knows the package of a file,
and its copyright; cargo the folder of a crate. Shared libraries come with the system and are not in the programs. A file
that no package owns is named as such. Begin reading at main.
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys

LICENSE_FILES = re.compile(r"^(license|licence|copying|copyright|notice|unlicense)", re.IGNORECASE)


def output_of(command, **options):
    return subprocess.run([str(part) for part in command], capture_output=True, text=True, check=True, **options).stdout


def paths_in(depfile):
    text = re.sub(r"\\\n", " ", depfile)
    return [pathlib.Path(word.replace("\\ ", " ")) for word in re.split(r"(?<!\\)\s+", text.partition(":\n")[0].partition(": ")[2]) if word]


def linked_files(depfiles, ours):
    """The archives and start files that the linker read and that are not of this build."""
    found = set()
    for depfile in depfiles:
        for path in paths_in(depfile.read_text("utf-8")):
            if path.suffix in (".a", ".o") and path.is_absolute() and not any(path.is_relative_to(folder) for folder in ours):
                found.add(path.resolve())
    return found


def included_files(tree, compiler):
    """Every header behind the angle includes of the sources, as the compiler finds them."""
    names = set()
    for folder in ("src", "include"):
        for path in (tree / folder).rglob("*"):
            if path.suffix in (".h", ".cpp", ".inc") and path.is_file():
                names.update(re.findall(r"^#include <([^>]+)>", path.read_text("utf-8"), re.MULTILINE))
    unit = "".join(f"#if __has_include(<{name}>)\n#include <{name}>\n#endif\n" for name in sorted(names) if not name.startswith("parlance/"))
    return {path.resolve() for path in paths_in(output_of([compiler, "-std=c++20", "-M", "-x", "c++", "-"], input=unit)) if path.is_absolute()}


def packages_of(files):
    """Debian's packages by name, with their files of these; under None those that no package owns."""
    listed = subprocess.run(["dpkg-query", "-S", *map(str, sorted(files))], capture_output=True, text=True).stdout
    owners = {}
    for line in listed.splitlines():
        names, _, path = line.rpartition(": ")
        for name in names.split(", "):
            owners.setdefault(path, set()).add(name.partition(":")[0])
    packages = {}
    for path in sorted(files):
        for name in owners.get(str(path), {None}):
            packages.setdefault(name, []).append(path)
    return packages


def version_of(package):
    return output_of(["dpkg-query", "-W", "-f", "${Version}", package])


def license_of_package(package):
    path = pathlib.Path("/usr/share/doc") / package / "copyright"
    return path.read_text("utf-8", "replace") if path.is_file() else "(the package has no copyright file)\n"


def crates(cargo, manifest):
    """(name, version, license, folder) of each crate in the library, without what only builds it."""
    platform = re.search(r"^host: (.*)$", output_of([cargo, "-vV"]), re.MULTILINE)[1]
    common = ["--offline", "--locked", "--manifest-path", manifest]
    metadata = json.loads(output_of([cargo, "metadata", "--format-version", "1", "--filter-platform", platform, *common]))
    tree = output_of([cargo, "tree", "--edges", "normal", "--prefix", "none", "--format", "{p}", "--target", platform, *common])
    inside = {tuple(line.split()[:2]) for line in tree.splitlines() if line}
    for package in metadata["packages"]:
        if package["source"] and (package["name"], "v" + package["version"]) in inside:
            yield package["name"], package["version"], package["license"] or "as in its files", pathlib.Path(package["manifest_path"]).parent


def license_of_crate(folder):
    """Its own, and that of what it brings along in a folder."""
    files = sorted(path for pattern in ("*", "*/*") for path in folder.glob(pattern) if path.is_file() and LICENSE_FILES.match(path.name) and path.suffix != ".html")
    return "\n".join(path.read_text("utf-8", "replace").strip() + "\n" for path in files)


def rust_library(cargo):
    """The name and the license of Rust's own library, which is in whatever crates are."""
    rustc = pathlib.Path(cargo).with_name("rustc")
    rustc = rustc if rustc.exists() else "rustc"
    version = output_of([rustc, "--version"]).split()[1]
    sysroot = pathlib.Path(output_of([rustc, "--print", "sysroot"]).strip())
    places = [sysroot / "share/doc/rust", *map(pathlib.Path, sorted(str(path) for path in pathlib.Path("/usr/share/doc").glob("rustc*")))]
    texts = [license_of_crate(place) for place in places if place.is_dir()]
    name = f"Rust's standard library {version}: MIT OR Apache-2.0"
    return name, next(filter(None, texts), "MIT OR Apache-2.0; no text of it is installed here")


class Notices:
    """Texts, each once, with the names that it is the license of."""

    def __init__(self):
        self.names_by_text = {}

    def add(self, name, text):
        self.names_by_text.setdefault(text.strip(), []).append(name)

    def text(self):
        rule = "=" * 100
        parts = [f"{rule}\n{chr(10).join(names)}\n{rule}\n\n{text}\n" for text, names in self.names_by_text.items()]
        return "\n".join(parts)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("output", type=pathlib.Path)
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--source", type=pathlib.Path, required=True)
    parser.add_argument("--linked", type=pathlib.Path, nargs="+", required=True)
    parser.add_argument("--cargo")
    parser.add_argument("--manifest", type=pathlib.Path)
    options = parser.parse_args()
    notices = Notices()
    ours = [options.source, options.linked[0].resolve().parent]
    files = linked_files(options.linked, ours) | included_files(options.source, options.compiler)
    packages = packages_of(files)
    for path in packages.pop(None, []):
        notices.add(f"{path} (of no package)", "(its license is not known to this machine)")
    for package in sorted(packages):
        notices.add(f"{package} {version_of(package)} (Debian)", license_of_package(package))
    if options.cargo:
        notices.add(*rust_library(options.cargo))
        for name, version, license_name, folder in sorted(crates(options.cargo, options.manifest)):
            notices.add(f"{name} {version} (crate): {license_name}", license_of_crate(folder) or f"{license_name}; the crate has no text of it")
    head = "The program `parlance` holds code of others. What follows is whose, and under which terms.\n" \
           "tools/notices.py wrote it from what compiler, linker and cargo read.\n\n"
    options.output.write_text(head + notices.text(), "utf-8")
    print(f"{options.output.name}: {sum(map(len, notices.names_by_text.values()))} parts, {len(notices.names_by_text)} texts")


if __name__ == "__main__":
    sys.exit(main())
