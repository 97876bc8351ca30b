#!/usr/bin/env python3
"""Holds images, as four APIs spell them, against what transformers renders of the same chat in the template's own parts.

    images_oracle.py PARLANCE

Templates: the tree's own and those of the corpus where it is there. A prompt must be the one that transformers gives for some form of
the parts; and where parlance refuses an image, no form may show one. Ends with 1 where that does not hold, with 77 where there is
nothing to compare with. Begin reading at fault.
"""

import json
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from template_files import CORPUS, template_files

try:
    from transformers.utils.chat_template_utils import render_jinja_template
except ImportError:
    print("skipped: run tests/oracle/setup.sh first")
    sys.exit(77)

TOKENS = {"bos_token": "<s>", "eos_token": "</s>"}
IMAGES = ["QUJDRA==", "RUZHSA=="]
QUESTION, ANSWER, NEXT = "What are these?", "Two cats.", "Sure?"


def url(data):
    return f"data:image/png;base64,{data}"


def chat(content, words=lambda text: text, **more):
    return [{"role": "user", "content": content, **more}, {"role": "assistant", "content": words(ANSWER)}, {"role": "user", "content": words(NEXT)}]


def requests():
    """The same chat in each API."""
    said = {"type": "text", "text": QUESTION}
    yield "openai", {"messages": chat([*({"type": "image_url", "image_url": {"url": url(data)}} for data in IMAGES), said])}
    yield "ollama", {"messages": chat(QUESTION, images=IMAGES)}
    source = [{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}} for data in IMAGES]
    yield "anthropic", {"max_tokens": 9, "messages": chat([*source, said])}
    given = [{"type": "input_image", "image_url": url(data)} for data in IMAGES]
    yield "responses", {"input": chat([*given, {"type": "input_text", "text": QUESTION}])}


def theirs(template, with_images):
    """What transformers makes of each form of the parts."""
    for kind in ("image", "image_url"):
        for words in (lambda text: text, lambda text: [{"type": "text", "text": text}]):
            images = [{"type": kind, kind: {"url": url(data)} if kind == "image_url" else url(data)} for data in IMAGES] if with_images else []
            try:
                yield render_jinja_template(conversations=[chat([*images, {"type": "text", "text": QUESTION}], words)], chat_template=template,
                                            add_generation_prompt=True, **TOKENS)[0][0]
            except Exception:  # whatever a template does
                yield None


def shows(image, bare):
    """Does something come in with the images that is not their data?"""
    return None not in (image, bare) and "".join(image.split()) != "".join(bare.split()) and QUESTION in image and "base64" not in image


def fault(done, with_images, bare):
    if done.returncode == 0:
        return None if done.stdout in with_images else f"no form gives {done.stdout!r}, but {with_images[0]!r}"
    if any(shows(image, other) for image, other in zip(with_images, bare)):
        return "refused, and a form shows the images: " + done.stderr.strip()
    return None


def main():
    binary, faults, equal, refused = sys.argv[1], 0, 0, 0
    for path in template_files():
        template = path.read_text("utf-8")
        with_images, bare = list(theirs(template, True)), list(theirs(template, False))
        for api, request in requests():
            done = subprocess.run([binary, "render", "-q", "-t", path], input=json.dumps({**request, **TOKENS}), capture_output=True, text=True)
            equal, refused = equal + (done.returncode == 0), refused + (done.returncode != 0)
            wrong = fault(done, with_images, bare)
            if wrong:
                faults += 1
                print(f"{path.stem}, {api}: {wrong}")
    print(f"{equal + refused} requests with images: {equal} prompts, {refused} refused, {faults} faults")
    if not equal and not CORPUS.exists():
        print("skipped: no template here shows images, and the corpus is not there")
        sys.exit(1 if faults else 77)
    sys.exit(1 if faults or not equal else 0)


if __name__ == "__main__":
    main()
