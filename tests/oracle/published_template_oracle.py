"""-f chatglm3 against the chat template that is published with the model's tokenizer, asked through transformers.

    published_template_oracle.py PARLANCE [--count N]

Random conversations of text. The two differ in one thing, which docs/formats.md names: the format begins each turn on a line of its own,
as its specification does, and the template does not. Skipped (77) where the tokenizer's package cannot be had. Begin reading at main.
"""
import argparse
import json
import random
import re
import subprocess
import sys

import real_tokenizers

WORDS = ["Hello", "日本", "a\nb", " x ", "", "1 < 2", "\n", "é 🙂"]
ROLE = re.compile(r"(?<!^\[gMASK\]sop)(?=<\|(?:system|user|assistant)\|>)")


def conversation(source):
    messages = [{"role": "system", "content": source.choice(WORDS)}] if source.random() < 0.5 else []
    for _ in range(source.randrange(1, 4)):
        messages += [{"role": role, "content": source.choice(WORDS)} for role in ("user", "assistant")]
    return messages[:-1]


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("parlance")
    arguments.add_argument("--count", type=int, default=300)
    options = arguments.parse_args()
    try:
        folder = real_tokenizers.tokenizer_folder("chatglm3")
    except real_tokenizers.Unavailable as error:
        print(f"skipped: {error}")
        return 77
    import transformers
    published = transformers.PreTrainedTokenizerFast.from_pretrained(folder)
    source = random.Random(20260314)
    chats = [conversation(source) for _ in range(options.count)]
    lines = "".join(json.dumps({"messages": chat, "add_generation_prompt": True}) + "\n" for chat in chats)
    done = subprocess.run([options.parlance, "render", "-f", "chatglm3", "--jsonl"], input=lines, capture_output=True, text=True, check=True)
    faults = 0
    for chat, line in zip(chats, done.stdout.splitlines(), strict=True):
        theirs = published.apply_chat_template(chat, tokenize=False, add_generation_prompt=True)
        wanted, ours = ROLE.sub("\n", theirs), json.loads(line).get("text")
        if ours != wanted:
            faults += 1
            print(f"{chat}\n  ours   {ours!r}\n  wanted {wanted!r}")
    print(f"{len(chats)} conversations, {faults} differ")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
