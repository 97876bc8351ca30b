#!/usr/bin/env python3
"""Debian's package of a build: made by cpack, unpacked, and its commands run from where they were unpacked.

    packaging_test.py --source TREE --build ITS-BUILD --cpack CPACK

Also that the Dockerfile says what the Makefile knows. Without dpkg (or what cpack needs of it) there is nothing to test: 77.
Begin reading at main.
"""

import argparse
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

WANTED = [r"\./usr/bin/parlance$", r"\./usr/share/doc/parlance/LICENSE$", r"\./usr/share/doc/parlance/THIRD_PARTY$",
          r"\./usr/share/man/man1/parlance-render\.1$", r"\./usr/share/bash-completion/completions/parlance$",
          r"\./usr/share/zsh/vendor-completions/_parlance$", r"\./usr/share/fish/vendor_completions\.d/parlance\.fish$"]
NOT_WANTED = [r"/include/", r"\.a$", r"/tests?/"]


def run(*command, **options):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, **options)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


def check(what, holds, seen=""):
    if not holds:
        raise SystemExit(f"{what}\n{seen}")


def version_of(source):
    return re.search(r'PARLANCE_VERSION "([^"]+)"', (source / "include/parlance/version.h").read_text("utf-8"))[1]


def check_version(source):
    """What the header says in three ways, and the last release of the changelog; parlance.pc is held to it by example_test.py."""
    version = version_of(source)
    header = (source / "include/parlance/version.h").read_text("utf-8")
    parts = [re.search(rf"define PARLANCE_VERSION_{part} (\d+)", header)[1] for part in ("MAJOR", "MINOR", "PATCH")]
    check("the parts of the version", ".".join(parts) == version, parts)
    releases = re.findall(r"^## (\d[^,\n]*), \d{4}-\d\d-\d\d$", (source / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)
    check("the last release of CHANGELOG.md", releases and releases[0] == version, releases)


def package(options, folder):
    run(options.cpack, "-G", "DEB", "-B", folder, "-D", "CPACK_COMPONENTS_ALL=command", "-D", "CPACK_PACKAGE_DIRECTORY=" + str(folder),
        "-D", "CPACK_DEBIAN_COMPRESSION_TYPE=gzip", cwd=options.build)
    found = list(folder.glob("parlance_*.deb"))
    check("one package", len(found) == 1, found)
    return found[0]


def check_package(deb, source):
    listed = run("dpkg-deb", "-c", deb)
    for wanted in WANTED:
        check(f"the package has no {wanted}", re.search(wanted, listed, re.MULTILINE), listed)
    for not_wanted in NOT_WANTED:
        check(f"the package has {not_wanted}", not re.search(not_wanted, listed, re.MULTILINE), listed)
    check("its version", run("dpkg-deb", "-f", deb, "Version").strip() == version_of(source), run("dpkg-deb", "-f", deb))


def check_service(root):
    """What the unit starts is in the package, and takes the options that it gives."""
    unit = (root / "usr/lib/systemd/system/parlance.service").read_text("utf-8")
    command, *options = re.search(r"^ExecStart=(.+)$", unit, re.MULTILINE)[1].split()
    done = subprocess.run([root / command.lstrip("/"), *options], capture_output=True, text=True)
    check("without its file, the service says so", done.returncode == 3 and options[-1] in done.stderr, done)


def check_commands(root, deb, source):
    command = root / "usr/bin/parlance"
    is_dynamic = "/ld-linux" in run("readelf", "-l", command)  # a static program depends on no package
    depends = run("dpkg-deb", "-f", deb, "Depends")
    check("what it depends on", ("libc6" in depends) == is_dynamic, depends)
    for flag in ("--version", "-V"):
        check(flag, run(command, flag) == f"parlance {version_of(source)}\n")
    page = (root / "usr/share/man/man1/parlance.1").read_text("utf-8")
    check("the manual page's version", f'"parlance {version_of(source)}"' in page, page[:200])
    check("a render", "<|im_start|>" in run(command, "render", "-f", "terminal-agent", "--example"))
    check("a grammar", run(command, "grammar", "--syntax", "gbnf", "-f", "terminal-agent").startswith("root"))


def check_notices(text):
    """Whatever else is in there: these are linked into every build, and each comes with a text."""
    heads = re.findall(r"^=+\n(.*?)\n=+\n\n(.*?)(?=^=+\n|\Z)", text, re.DOTALL | re.MULTILINE)
    check("notices have texts", heads and all(len(body.strip()) > 10 for _, body in heads), text[:500])
    names = "\n".join(head for head, _ in heads)
    for part in ("libc6-dev", "libstdc++", "libutf8proc", "libfmt", "libcli11", "libboost"):
        check(f"THIRD_PARTY does not name {part}", part in names, names)
    check("a file of no package", "of no package" not in names, names)


def check_dockerfile(source):
    steps = re.findall(r"^RUN make (\w+)$", (source / "Dockerfile").read_text("utf-8"), re.MULTILINE)
    check("the Dockerfile's steps", steps)
    for target in steps:
        run("make", "-n", target, cwd=source)
    preset = re.search(r"--from=build /parlance/(\S+)/packages/", (source / "Dockerfile").read_text("utf-8"))[1]
    check("where the package is", f"ls {preset}/packages/" in (source / "Makefile").read_text("utf-8"), preset)


def main():
    parser = argparse.ArgumentParser()
    for name in ("source", "build", "cpack"):
        parser.add_argument(f"--{name}", type=pathlib.Path, required=True)
    options = parser.parse_args()
    check_version(options.source)
    check_dockerfile(options.source)
    if not all(map(shutil.which, ("dpkg-deb", "dpkg-shlibdeps"))):
        print("skipped: no dpkg-dev")
        return 77
    with tempfile.TemporaryDirectory() as home:
        folder = pathlib.Path(home)
        deb = package(options, folder)
        check_package(deb, options.source)
        run("dpkg-deb", "-x", deb, folder / "root")
        check_commands(folder / "root", deb, options.source)
        if (options.build / "src/serve").is_dir():
            check_service(folder / "root")
        check_notices((folder / "root/usr/share/doc/parlance/THIRD_PARTY").read_text("utf-8"))
    print("the package is as it should be")
    return 0


if __name__ == "__main__":
    sys.exit(main())
