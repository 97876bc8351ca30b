#!/usr/bin/env python3
"""Holds `parlance render --continue` against transformers' continue_final_message.

    continue_oracle.py PARLANCE [--corpus FOLDER]

Templates: the tree's own and those of the corpus where it is there, and two that show the known difference: a template that
trims a message and writes a blank behind it. transformers marks the message's end with a word and a blank, takes the
template's blank for its own, and so keeps white space that the template has cut. Ends with 1 on any other difference, and
where a known one is none any more; with 77 where there is nothing to compare with.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
ENDINGS = ("", " ", "\n", " \n ", "\n\nmore", "\n\nmore\n")
HEAD = "{% for m in messages %}<|{{ m.role }}|>"
TRIMS_AND_WRITES_A_BLANK = HEAD + "{{ m.content | trim + ' <end>' }}{% endfor %}"
OWN = {"blank": TRIMS_AND_WRITES_A_BLANK, "trims": HEAD + "{{ m.content | trim }}<end>{% endfor %}",
       "keeps": HEAD + "{{ m.content }} <end>{% endfor %}"}
try:
    from transformers import __version__ as VERSION
    from transformers.utils.chat_template_utils import render_jinja_template
except ImportError:
    print("skipped: run tests/oracle/setup.sh first")
    sys.exit(77)


def theirs(template, messages):
    try:
        return render_jinja_template(conversations=[messages], chat_template=template, continue_final_message=True,
                                     bos_token="<s>", eos_token="</s>")[0][0]
    except Exception:  # whatever a template does
        return None


def ours(binary, path, messages):
    lines = json.dumps({"messages": messages, "bos_token": "<s>", "eos_token": "</s>", "tools": None, "documents": None,
                        "add_generation_prompt": False})
    done = subprocess.run([binary, "render", "-t", path, "--as-transformers", "--transformers", VERSION, "--continue"], input=lines, capture_output=True, text=True)
    return done.stdout if done.returncode == 0 else None


def is_known(content, mine, other):
    """The same but for white space at the message's end, which the template cut."""
    cut = content.rstrip()
    return mine is not None and mine.endswith(cut) and other == mine + content[len(cut):]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("--corpus", default=os.environ.get("PARLANCE_CORPUS") or ROOT.parent / "shared" / "corpus")
    options = parser.parse_args()
    paths = sorted((ROOT / "formats").glob("*.jinja")) + sorted(pathlib.Path(options.corpus, "templates").glob("*.jinja"))
    compared, wrong, known = 0, 0, set()
    with tempfile.TemporaryDirectory() as folder:
        for name, template in OWN.items():
            paths.append(pathlib.Path(folder, name + ".jinja"))
            paths[-1].write_text(template, "utf-8")
        for path in paths:
            for ending in ENDINGS:
                content = "hello" + ending
                messages = [{"role": "user", "content": "u"}, {"role": "assistant", "content": content}]
                mine, other = ours(options.binary, path, messages), theirs(path.read_text("utf-8"), messages)
                compared += 1
                if mine == other:
                    continue
                if is_known(content, mine, other):
                    known.add(path.stem)
                else:
                    wrong += 1
                    print(f"{path.name} {content!r}: {str(mine)[-80:]!r}, transformers {str(other)[-80:]!r}")
    if "blank" not in known or {"trims", "keeps"} & known:
        wrong += 1
        print("the known difference is another now:", known)
    print(f"{compared} continued messages compared, {wrong} wrong; white space that the template cut is kept by transformers in",
          ", ".join(sorted(known)))
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
