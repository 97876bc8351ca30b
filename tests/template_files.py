"""The templates that tests try laws on: tests/templates/families, formats/, and the corpus (PARLANCE_CORPUS, or ../shared/corpus beside
the tree) where there is one."""

import argparse
import os
import pathlib

ROOT = pathlib.Path(__file__).resolve().parent.parent
CORPUS = pathlib.Path(os.environ.get("PARLANCE_CORPUS") or ROOT.parent / "shared" / "corpus")


def template_files(go=False):
    """Paths, sorted within each folder; with `go` also the templates in Go's language."""
    folders = [ROOT / "tests" / "templates" / "families", ROOT / "formats", CORPUS / "templates"] + [CORPUS / "go_templates"] * go
    endings = ["*.jinja"] + ["*.gotmpl"] * go
    return [path for folder in folders if folder.exists() for path in sorted(path for ending in endings for path in folder.glob(ending))]


def law_arguments(go=False):
    """What a law over templates is given: the program, how many faults to show, and the templates; `chosen` are those that are
    named, or else one in so many of all."""
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--show", type=int, default=3)
    parser.add_argument("--share", type=int, default=1, help="one template in so many")
    parser.add_argument("templates", nargs="*", type=pathlib.Path)
    args = parser.parse_args()
    args.chosen = args.templates or template_files(go)[:: args.share]
    return args
