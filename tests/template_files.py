"""The templates that tests try laws on: tests/templates/families, formats/, and the corpus (PARLANCE_CORPUS, or ../shared/corpus beside
the tree) where there is one."""

import os
import pathlib

ROOT = pathlib.Path(__file__).resolve().parent.parent
CORPUS = pathlib.Path(os.environ.get("PARLANCE_CORPUS") or ROOT.parent / "shared" / "corpus")


def template_files(go=False):
    """Paths, sorted within each folder; with `go` also the templates in Go's language."""
    folders = [ROOT / "tests" / "templates" / "families", ROOT / "formats", CORPUS / "templates"] + [CORPUS / "go_templates"] * go
    endings = ["*.jinja"] + ["*.gotmpl"] * go
    return [path for folder in folders if folder.exists() for path in sorted(path for ending in endings for path in folder.glob(ending))]
