#!/usr/bin/env python3
"""Tests of -m and of `parlance template`: models of every kind, by path and by name.

    run_model_tests.py path/to/parlance [NAME...]

What is read from each kind of file is checked elsewhere (tests/unit, tests/oracle); here it is the command: which
model is found where, by which variables of the environment, what is printed, and what is said when there is none.
"""

import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import check

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "tests" / "oracle")]
from fuzz_seeds import gguf  # noqa: E402

BINARY = str(pathlib.Path(sys.argv[1]).resolve())
HELLO = json.dumps({"messages": [{"role": "user", "content": "Hi"}]})
JINJA = "{{ bos_token }}{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}"
MODEL = gguf("little", ("general.architecture", "x"), ("tokenizer.ggml.tokens", ["<unk>", "<s>"]),
             ("tokenizer.ggml.bos_token_id", 1), ("tokenizer.ggml.add_bos_token", True), ("tokenizer.chat_template", JINJA))


def manifest(**layers):
    return json.dumps({"layers": [{"mediaType": f"application/vnd.ollama.image.{kind}", "digest": "sha256:" + digit * 64}
                                  for kind, digit in layers.items()]})


FILES = {
    "m.gguf": MODEL,
    "big.gguf": gguf("big", ("tokenizer.chat_template", "default\n"), ("tokenizer.chat_template.rag", "rag")),
    "two.gguf": gguf("little", ("tokenizer.chat_template.a", "A"), ("tokenizer.chat_template.b", "B")),
    "none.gguf": gguf("little", ("general.type", "mmproj")),
    "cut.gguf": MODEL[:-5],
    "Modelfile": "FROM ./m.gguf\nSYSTEM be kind\nMESSAGE user q\nMESSAGE assistant a\nPARAMETER stop \"<|x|> \"\nPARAMETER stop y\n",
    "go.Modelfile": "FROM nowhere\nTEMPLATE \"\"\"{{ .Prompt }}\n\"\"\"\n",
    "template.gotmpl": "{{ .Prompt }}",
    "home/.ollama/models/manifests/registry.ollama.ai/library/small/latest": manifest(model="a", system="b", license="c"),
    "home/.ollama/models/blobs/sha256-" + "a" * 64: MODEL,
    "home/.ollama/models/blobs/sha256-" + "b" * 64: "be kind",
    "home/.cache/huggingface/hub/models--org--name/refs/main": "c1",
    "home/.cache/huggingface/hub/models--org--name/snapshots/c1/tokenizer_config.json":
        json.dumps({"chat_template": JINJA, "bos_token": "<hf>"}),
    "elsewhere/manifests/registry.ollama.ai/library/other/7b": manifest(model="a"),
    "elsewhere/blobs/sha256-" + "a" * 64: MODEL,
    "hub/models--org--other/snapshots/x/chat_template.jinja": "other",
}


class World:
    """A folder of models that goes away, and a home in it."""

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = pathlib.Path(self.folder.name)
        for name, content in FILES.items():
            path = self.path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.encode() if isinstance(content, str) else content)
        return self

    def __exit__(self, *_):
        self.folder.cleanup()

    def run(self, *arguments, stdin="", code=0, **environment):
        kept = {k: v for k, v in os.environ.items() if not re.match("HF_|HUGGINGFACE|XDG|OLLAMA", k)}
        done = subprocess.run([BINARY, *arguments], input=stdin.encode(), capture_output=True, timeout=60, cwd=self.path,
                              env={**kept, "HOME": str(self.path / "home"), **environment})
        out, err = done.stdout.decode(), done.stderr.decode()
        assert done.returncode == code, f"exit {done.returncode}, not {code}\n{out[:2000]}\n{err[:2000]}"
        assert code == 0 or out == "", out
        return out if code == 0 else err

    def render(self, model, *more, request=HELLO, **environment):
        return self.run("render", "-m", model, *more, stdin=request, **environment)

    def facts(self, model, *more, **environment):
        return json.loads(self.run("template", "-m", model, "--json", *more, **environment))


def same(got, want):
    assert got == want, f"\n got {got!r}\nwant {want!r}"


def contains(text, *parts):
    for part in parts:
        assert part in text, f"{part!r} is not in\n{text}"


# ---- special tokens

def rendered(tokenizer_config, **files):
    """The special tokens that a template of such a folder gets, and what is said."""
    variables = ["bos_token", "eos_token", "unk_token", "pad_token", "mask_token", "image_token"]
    with tempfile.TemporaryDirectory() as folder:
        for name, content in {"tokenizer_config": tokenizer_config, **files}.items():
            pathlib.Path(folder, name + ".json").write_text(json.dumps(content), "utf-8")
        pathlib.Path(folder, "chat_template.jinja").write_text("|".join(f"{{{{ {name} }}}}" for name in variables), "utf-8")
        done = subprocess.run([BINARY, "render", "-m", folder, "--as-transformers"], input=HELLO, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout, done.stderr


def test_special_tokens_that_only_a_class_has(_world):
    same(rendered({"tokenizer_class": "LlamaTokenizer"})[0], "<s>|</s>|<unk>|||")
    same(rendered({"tokenizer_class": "LlamaTokenizerFast", "bos_token": None, "eos_token": "<e>"})[0], "|<e>|<unk>|||")
    same(rendered({"tokenizer_class": "PreTrainedTokenizerFast"})[0], "|||||")
    same(rendered({}, config={"model_type": "gemma3"})[0], "<bos>|<eos>|<unk>|<pad>|<mask>|")
    # The type counts, whatever class is named.
    same(rendered({"tokenizer_class": "LlamaTokenizer"}, config={"model_type": "mistral"})[0], "|||||")
    # A file with such a part is none of the class.
    same(rendered({"tokenizer_class": "LlamaTokenizer"}, tokenizer={"pre_tokenizer": {"type": "ByteLevel"}})[0], "|||||")


def test_special_tokens_by_name(_world):
    named = {"model_specific_special_tokens": {"image_token": "<i>"}}
    same(rendered(named)[0], "|||||<i>")
    same(rendered(named | {"audio_token": "<a>"})[0], "|||||")
    out, said = rendered({"bos_token": "<s>"}, special_tokens_map={"eos_token": 5, "bos_token": ["x"]})
    same(out, "|||||")
    contains(said, "special_tokens_map.json: eos_token is left out", "special_tokens_map.json: bos_token is left out")
    # A template need not read all tokens of its model; another member that it does not read is a loss.
    for more in ({"image_begin": "<i>"}, {"": "<i>", "b": "<j>"}):
        same(rendered({"model_specific_special_tokens": more})[1], rendered({})[1])


def test_a_broken_config_stops_no_render(_world):
    with tempfile.TemporaryDirectory() as folder:
        for name, text in (("tokenizer_config.json", '{"bos_token": "<b>"}'), ("config.json", "{\n broken"), ("chat_template.jinja", "{{ bos_token }}")):
            pathlib.Path(folder, name).write_text(text, "utf-8")
        done = subprocess.run([BINARY, "render", "-m", folder], input=HELLO, capture_output=True, text=True)
        same((done.returncode, done.stdout), (0, "<b>"))
        contains(done.stderr, "config.json:2:2: Expecting property name", "special tokens that only the tokenizer's class has are not known")


# ---- rendering

def test_every_kind_renders(world):
    for model, prompt in (("m.gguf", "<s><user>Hi"), ("org/name", "<hf><user>Hi"), ("small", "<s><system>be kind<user>Hi"),
                          ("Modelfile", "<s><system>be kind<user>q<assistant>a<user>Hi")):
        same(world.render(model), prompt)
        same(json.loads(world.render(model, "--jsonl"))["text"], prompt)


def test_a_template_of_ones_own_with_a_models_tokens(world):
    (world.path / "own.jinja").write_text("{{ bos_token }}|{{ messages[0].content }}")
    same(world.run("render", "-t", "own.jinja", "-m", "m.gguf", stdin=HELLO), "<s>|" + json.loads(HELLO)["messages"][0]["content"])
    (world.path / "hub/models--org--other/snapshots/x/tokenizer_config.json").write_text(json.dumps({"bos_token": "<bare>"}))
    (world.path / "hub/models--org--other/snapshots/x/chat_template.jinja").unlink()  # a model without a template will do
    contains(world.run("render", "-t", "own.jinja", "-m", "org/other", stdin=HELLO, HF_HUB_CACHE=str(world.path / "hub")), "<bare>|")
    contains(world.run("render", "-t", "own.jinja", "-f", "rnj-1", stdin=HELLO, code=2), "-f excludes -t and -m")


def test_what_a_model_brings_stays_out_of_an_untouched_request(world):
    same(world.render("Modelfile", "--as-is"), "<s><user>Hi")


def test_spans_say_what_the_model_said(world):
    result = json.loads(world.render("Modelfile", "--json"))
    spans = {result["text"][s["begin"]:s["end"]]: (s["path"], s.get("message")) for s in result["spans"] if s.get("path")}
    same(spans["be kind"], ("model.messages[0].content", 0))
    same(spans["Hi"], ("messages[0].content", 3))


def test_named_templates(world):
    same(world.render("big.gguf", "--name", "rag"), "rag")
    contains(world.render("big.gguf", "--name", "ragg", code=3), "'default', 'rag'", "did you mean 'rag'?")
    contains(world.render("two.gguf", code=3), "several chat templates", "--name")


# ---- parlance template

def test_template_for_people(world):
    text = world.run("template", "-m", "m.gguf")
    head, _, body = text.partition("\n\n")
    same(body, JINJA + "\n")
    rows = dict(line.split(None, 1) for line in head.splitlines())
    same(rows["sha256"], hashlib.sha256(JINJA.encode()).hexdigest())
    same((rows["name"], rows["syntax"], rows["origin"]), ("default", "jinja", "m.gguf (tokenizer.chat_template)"))
    same(rows["bos_token"], "<s> (1)")
    contains(head, "adds bos       yes")
    contains(world.run("template", "-m", "Modelfile"), 'parameter      stop "<|x|> "', 'system         "be kind"')


def test_template_text_alone(world):
    same(world.run("template", "-m", "big.gguf", "--text"), "default\n")
    same(world.run("template", "-m", "go.Modelfile", "--text"), "{{ .Prompt }}\n")
    same(world.run("template", "-m", "big.gguf", "--name", "rag", "--text"), "rag")


def test_template_list(world):
    same(world.run("template", "-m", "big.gguf", "--list"), "default\nrag\n")
    rows = json.loads(world.run("template", "-m", "two.gguf", "--list", "--json"))
    same([(r["name"], r["syntax"], r["bytes"]) for r in rows], [("a", "jinja", 1), ("b", "jinja", 1)])
    same(rows[0]["sha256"], hashlib.sha256(b"A").hexdigest())


def test_template_json(world):
    facts = world.facts("Modelfile")
    same(facts["text"], JINJA)
    same(facts["special_tokens"], [{"name": "bos_token", "text": "<s>", "id": 1}])
    same((facts["add_bos_token"], facts["system"], facts["stop"]), (True, "be kind", ["<|x|> ", "y"]))
    same(facts["messages"], [{"role": "user", "content": "q"}, {"role": "assistant", "content": "a"}])
    same(facts["parameters"], [{"name": "stop", "value": "<|x|> "}, {"name": "stop", "value": "y"}])
    same(facts["names"], ["default"])
    facts = world.facts("go.Modelfile")
    same((facts["syntax"], facts["text"]), ("go", "{{ .Prompt }}\n"))
    contains(facts["notes"][0], "FROM was not followed: nowhere")


def test_template_of_files_and_formats(world):
    same(json.loads(world.run("template", "-t", "template.gotmpl", "--json"))["syntax"], "go")
    same(json.loads(world.run("template", "-f", "terminal-agent", "--json"))["origin"], "format terminal-agent")


def test_a_template_of_ones_own_with_what_a_model_has(world):
    both = json.loads(world.run("template", "-t", "template.gotmpl", "-m", "m.gguf", "--json"))
    same((both["syntax"], both["special_tokens"]), ("go", world.facts("m.gguf")["special_tokens"]))


def test_template_usage(world):
    for arguments in ([], ["-m", "m.gguf", "-f", "terminal-agent"], ["-m", "m.gguf", "--text", "--json"], ["--jsn"]):
        world.run("template", *arguments, code=2)


# ---- finding

def test_the_environment_says_where(world):
    same(world.facts("other:7b", OLLAMA_MODELS=str(world.path / "elsewhere"))["text"], JINJA)
    same(world.facts("org/other", HF_HUB_CACHE=str(world.path / "hub"))["text"], "other")
    same(world.facts("org/other", HF_HOME=str(world.path))["text"], "other")
    same(world.facts("org/name", XDG_CACHE_HOME=str(world.path / "home/.cache"), HOME="/nonexistent")["text"], JINJA)


def test_what_is_not_there(world):
    contains(world.run("template", "-m", "smal", code=3), "not in Ollama's store", "'small:latest'", "did you mean 'small'?")
    contains(world.run("template", "-m", "org/nam", code=3), "not in Hugging Face's cache", "did you mean 'org/name'?")
    contains(world.run("template", "-m", "m.guf", code=3), "did you mean 'm.gguf'?")
    contains(world.run("template", "-m", "small", code=3, OLLAMA_MODELS="/nonexistent"), "/nonexistent, which is not there")


def test_a_link_that_leads_nowhere_is_no_missing_file(world):
    """A cache of which blobs were deleted: another template in place of the one that is linked would be a prompt of its own."""
    for name in ("chat_template.jinja", "additional_chat_templates/tool_use.jinja", "tokenizer_config.json", "special_tokens_map.json"):
        folder = world.path / "pruned" / name.replace("/", "-")
        (folder / name).parent.mkdir(parents=True)
        (folder / name).symlink_to("../blobs/gone")
        if name != "tokenizer_config.json":
            (folder / "tokenizer_config.json").write_text('{"chat_template": "OLD"}', "utf-8")
        else:
            (folder / "chat_template.jinja").write_text("NEW", "utf-8")
        contains(world.run("template", "-m", folder, code=3), f"{name}: No such file or directory", "it is a link to '../blobs/gone', which is not there")


def test_files_that_have_none(world):
    contains(world.run("template", "-m", "none.gguf", code=3), "no chat template", "general.type is 'mmproj'")
    contains(world.run("template", "-m", "cut.gguf", code=3), "cut.gguf: damaged model: at byte ", "not downloaded to its end")


if __name__ == "__main__":
    sys.exit(check.run_tests(sys.modules[__name__], "tests of models", World))
