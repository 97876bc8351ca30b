"""The text that the small tokenizers of the tests are trained on: sources and documents of packages that requirements.txt pins.

Text of this tree would do as well, but then each change of a document would make other tokenizers, and a test could fail for that alone.
"""

import importlib.metadata
import importlib.util
import pathlib

DOCUMENTED = ("transformers", "tokenizers", "jinja2")  # each package's METADATA has its README


def folder_of(package):
    return pathlib.Path(importlib.util.find_spec(package).origin).parent


def training_lines():
    texts = [importlib.metadata.distribution(package).read_text("METADATA") for package in DOCUMENTED]
    texts += [path.read_text("utf-8") for path in sorted(folder_of("jinja2").glob("*.py"))]
    return "\n".join(texts).split("\n")
