#!/usr/bin/env python3
"""parlance's renderer in the package `verifiers`, chosen by one line of its configuration. For make long.

    verifiers_oracle.py [--download]

The package's own configuration of a training client is read from TOML, its own pool builds the renderers and loads the tokenizer, and a
turn goes on in another renderer of the pool than the one that rendered its prompt. Without the line the pool has a renderer that never
bridges. Ends with 77 where the package is not in build/python; with --download it is fetched first, once.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import pathlib
import subprocess
import sys
import tempfile
from typing import Any

import tomllib

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from material import ROOT, TOKENIZERS

VERSION = "0.4.0"
FOLDER = ROOT / "build" / "python" / f"verifiers-{VERSION}"
LINE = 'renderer = { name = "custom", import_path = "parlance.renderers.ParlanceRenderer" }'
TEMPLATE = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


def download() -> None:
    part = FOLDER.with_suffix(".part")
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--target", str(part)]
    subprocess.run([*command, f"verifiers=={VERSION}"], check=True, stderr=subprocess.DEVNULL)
    part.rename(FOLDER)


def model(folder: str) -> str:
    """A folder that is loaded as a model's."""
    from transformers import PreTrainedTokenizerFast

    made = PreTrainedTokenizerFast(tokenizer_file=str(TOKENIZERS / "chatml" / "tokenizer.json"), eos_token="<|im_end|>")
    made.chat_template = TEMPLATE
    made.save_pretrained(folder)
    return folder


async def two_turns(name: str, config: Any) -> tuple[list[str], bool]:
    """The kinds of the pool's renderers, and whether the second goes on from what the first rendered."""
    from verifiers.v1.clients.train import ElasticRendererPool

    pool = ElasticRendererPool(name, config.renderer, multiplex=1)
    asked, more = [{"role": "user", "content": "Hi"}], [{"role": "user", "content": "And?"}]
    async with pool.acquire() as first, pool.acquire() as second:
        prompt = await first.run(lambda: first.renderer.render_ids(asked, add_generation_prompt=True))
        reply = first.renderer._tokenizer.encode("Yes<|im_end|>")
        bridge = await second.run(lambda: second.renderer.bridge_to_next_turn(prompt, list(reply), more))
        kinds = [type(slot.renderer).__name__ for slot in (first, second)]
        return kinds, bridge is not None and bridge.token_ids[: len(prompt) + len(reply)] == [*prompt, *reply]


def main() -> int:
    if "--download" in sys.argv and not FOLDER.exists():
        with contextlib.suppress(subprocess.CalledProcessError):
            download()
    if not FOLDER.exists():
        print(f"skipped: verifiers {VERSION} is not in build/python")
        return 77
    sys.path.insert(1, str(FOLDER))
    os.environ["HF_HUB_OFFLINE"] = "1"
    from verifiers.v1.configs.client import TrainClientConfig

    with tempfile.TemporaryDirectory() as folder:
        name = model(folder)
        rows = {
            line: asyncio.run(two_turns(name, TrainClientConfig.model_validate(tomllib.loads(f'type = "train"\n{line}'))))
            for line in (LINE, "")
        }
    for line, (kinds, bridged) in rows.items():
        print(f"{line or 'without it'}\n  {', '.join(kinds)}: {'bridges' if bridged else 'renders the whole conversation again'}")
    ours, theirs = rows[LINE], rows[""]
    return 0 if ours == (["ParlanceRenderer"] * 2, True) and theirs == (["DefaultRenderer"] * 2, False) else 1


if __name__ == "__main__":
    sys.exit(main())
