#!/usr/bin/env python3
"""Runs parlance's parsers for vLLM in vLLM's own serving code, and compares them with its parsers by hand.

    vllm_oracle.py [RELEASE]

vLLM's files are those of vllm_setup.sh. For each template of the corpus a reply as the template itself writes it, with reasoning, text and
two calls, is served whole and as a stream, cut at every place and into tokens: all must give the message. Hostile replies must lose
nothing. What differs from a parser by hand stands in KNOWN with its reason. Ends with 1 on any other difference, with 77 where something
is not there.
"""

from __future__ import annotations

import collections
import json
import logging
import pathlib
import re
import sys
import warnings
import zlib
from typing import Any

import vllm_stand_in
from material import CORPUS, SHARE, TOKENIZERS, corpus_template

RELEASE = sys.argv[1] if len(sys.argv) > 1 else "0.33.0"
warnings.simplefilter("ignore")
logging.disable(logging.ERROR)
if not vllm_stand_in.install(RELEASE):
    print(f"skipped: vLLM {RELEASE} is not here (bindings/python/tests/vllm_setup.sh {RELEASE})")
    sys.exit(77)
try:
    import parlance
    import xgrammar
    from parlance import Error, Template, tokenizer_of
    from transformers import PreTrainedTokenizerFast
    from vllm.entrypoints.openai.chat_completion.protocol import ChatCompletionRequest
    from vllm.parser.parser_manager import ParserManager
    from vllm.reasoning import ReasoningParserManager
    from vllm.tool_parsers import ToolParserManager
    from vllm.tool_parsers.tool_strict_level import ToolStrictLevel
except ImportError as error:
    print("skipped:", error)
    sys.exit(77)

try:  # from 0.33 on
    from vllm.entrypoints.openai.chat_completion.stream_processor import ChatStreamProcessor
except ImportError:
    ChatStreamProcessor = None

try:  # from the release on whose parsers are shown all tools of the Responses API
    from vllm.entrypoints.openai.responses.protocol import ResponsesRequest
    from vllm.tool_parsers.utils import get_function_tools  # noqa: F401
except ImportError:
    ResponsesRequest = None

PARAMETERS = {"type": "object", "properties": {"at": {"type": "string"}, "times": {"type": "integer"}}}
TOOLS = [{"type": "function", "function": {"name": name, "description": "Looks.", "parameters": PARAMETERS}} for name in ("look", "find")]
ASKED = [{"role": "user", "content": "Hi"}]
DEEPSEEK = " ".join(
    f"<\uff5ctool\u2581{part}\uff5c>" for part in ("calls\u2581begin", "calls\u2581end", "call\u2581begin", "call\u2581end", "sep")
)
# (template, reasoning parser by hand, tool parser by hand, special tokens of the model)
FAMILIES = [
    ("trl--qwen3", "qwen3", "hermes", "<think> </think> <tool_call> </tool_call>"),
    ("trl--qwen3_6", "qwen3", "qwen3_coder", "<think> </think> <tool_call> </tool_call>"),
    (
        "llama.cpp--GLM-4.7-Flash",
        "glm47",
        "glm47",
        "<think> </think> <tool_call> </tool_call> <arg_key> </arg_key> <arg_value> </arg_value>",
    ),
    ("llama.cpp--MiniMax-M2", "minimax_m2", "minimax_m2", "<think> </think> <minimax:tool_call> </minimax:tool_call>"),
    (
        "llama.cpp--moonshotai-Kimi-K2",
        None,
        "kimi_k2",
        "<|tool_calls_section_begin|> <|tool_calls_section_end|> <|tool_call_begin|> <|tool_call_end|> <|tool_call_argument_begin|>",
    ),
    ("llama.cpp--meta-llama-Llama-3.2-3B-Instruct", None, "llama3_json", "<|python_tag|> <|eot_id|>"),
    ("llama.cpp--ibm-granite-granite-4.0", None, "granite4", "<tool_call> </tool_call>"),
    ("llama.cpp--Kimi-K3", "kimi_k3", "kimi_k3", "<|open|> <|close|> <|sep|> <|end_of_msg|>"),
    ("trl--glm4moe", "glm45", "glm45", "<think> </think> <tool_call> </tool_call> <arg_key> </arg_key> <arg_value> </arg_value>"),
    ("llama.cpp--StepFun3.5-Flash", "step3p5", "step3p5", "<think> </think> <tool_call> </tool_call>"),
    ("trl--nemotron_3_super", "nemotron_v3", "qwen3_coder", "<think> </think> <tool_call> </tool_call>"),
    ("llama.cpp--LFM2.5-8B-A1B", None, "lfm2", "<think> </think> <|tool_call_start|> <|tool_call_end|>"),
    ("llama.cpp--GigaChat3.1-10B-A1.8B", None, "gigachat3", "<|role_sep|> <|message_sep|> <|function_call|>"),
    ("axolotl--deepseek_v3", "deepseek_v3", "deepseek_v3", "<think> </think> " + DEEPSEEK),
    ("llama.cpp--deepseek-ai-DeepSeek-V4-Flash-0731", "deepseek_v4", "deepseek_v4", "<think> </think>"),
    ("llama.cpp--poolside-Laguna-S-2.1", "poolside_v1", "poolside_v1", "<think> </think> <tool_call> </tool_call> <assistant>"),
    ("ollama--gemma4_e2b_chat_template", "gemma4", "gemma4", '<|channel> <channel|> <|tool_call> <tool_call|> <|"|> <|tool_response>'),
    ("llama.cpp--MiMo-VL", None, "hermes", "<tool_call> </tool_call>"),
    ("llama.cpp--Apertus-8B-Instruct", None, "apertus", "<|tools_prefix|> <|tools_suffix|> <|inner_prefix|> <|inner_suffix|>"),
    ("axolotl--jamba", None, "jamba", "<tool_calls> </tool_calls>"),
    ("huggingface.js--MadeAgents_Hammer2.1", None, "hermes", "<tool_call> </tool_call>"),
]
# (template, reply): why the two differ.
KNOWN: dict[tuple[str, str], str] = {
    ("axolotl--jamba", f"{case}, streamed"): "by hand the arguments lose a quote" for case in ("reasoning and a call", "text and two calls")
}
KNOWN["ollama--gemma4_e2b_chat_template", "text and two calls, whole"] = "by hand the text behind the calls is lost"
for _case in ("text", "reasoning and text", "text and two calls"):
    KNOWN["llama.cpp--deepseek-ai-DeepSeek-V4-Flash-0731", f"{_case}, whole"] = "by hand all is reasoning, which the prompt has closed"
for _case in ("text", "reasoning and text", "reasoning and a call", "text and two calls"):
    KNOWN["llama.cpp--poolside-Laguna-S-2.1", _case] = "by hand there is no reasoning unless the request asks, but the template opens it"
failed: list[str] = []


def call(name: str, **arguments: Any) -> dict[str, Any]:
    return {"id": "call00001", "type": "function", "function": {"name": name, "arguments": arguments}}


SAID: dict[str, dict[str, Any]] = {
    "text": {"content": "Fine. \U0001f600"},
    "reasoning and text": {"content": "Fine.", "reasoning_content": "Hm, ä."},
    "reasoning and a call": {"content": "", "reasoning_content": "Hm.", "tool_calls": [call("look", at="Köln", times=2)]},
    "text and two calls": {"content": "Let me see.", "tool_calls": [call("look", at="it"), call("find", at="<x>", times=1)]},
}


def tokenizer_for(template: str, more: str = "") -> Any:
    """A small tokenizer, with the token that ends the template's turns."""
    made = PreTrainedTokenizerFast(tokenizer_file=str(TOKENIZERS / "chatml" / "tokenizer.json"))
    compiled = Template.from_string(template)
    ends = [text for _, text, _ in compiled.stop_tokens(tokenizer_of(made))] + json.loads(compiled.reply_format().to_json()).get("end", [])
    stop = re.search(r"(<[^<>]*>|[^\s<>]+)$", str(ends[0]).strip()) if ends else None
    made.add_special_tokens({"eos_token": stop.group() if stop else "<|im_end|>", "additional_special_tokens": more.split()})
    made.chat_template = template
    return made


def request(**members: Any) -> Any:
    return ChatCompletionRequest.model_validate({"model": "m", "messages": ASKED, "tools": TOOLS, "tool_choice": "auto", **members})


class Server:
    """What vLLM's server does with a reply, for one choice of parsers."""

    def __init__(self, tokenizer: Any, reasoning: str | None, tool: str | None):
        self.tokenizer, self.template = tokenizer, Template.from_string(tokenizer.chat_template)
        self.parser_cls: Any = ParserManager.get_parser(tool, reasoning, enable_auto_tools=True, model_name="m")

    def new(self, asked: Any) -> Any:
        return self.parser_cls(self.tokenizer, asked.tools, chat_template_kwargs={})

    def whole(self, reply: str, prompt: list[int], asked: Any) -> Any:
        parser = self.new(asked)
        if hasattr(parser, "set_prompt_token_ids"):
            parser.set_prompt_token_ids(prompt)
        reasoning, content, calls = parser.parse(reply, asked, enable_auto_tools=True, model_output_token_ids=())
        return reasoning or "", content or "", [(call.name, call.arguments) for call in calls or ()]

    def stepper(self, asked: Any) -> Any:
        """What the endpoint of chat completions calls for each piece."""
        parser = self.new(asked)
        if ChatStreamProcessor is None:
            return lambda text, ids, is_last, prompt: parser.parse_delta(text, ids, asked, prompt, finished=is_last)
        processor = ChatStreamProcessor(asked, parser, enable_auto_tools=True, parser_cls=self.parser_cls)
        return lambda text, ids, is_last, prompt: processor.step(text, ids, "stop" if is_last else None, prompt)[0]

    def stream(self, pieces: list[tuple[str, list[int]]], prompt: list[int], asked: Any) -> Any:
        reasoning, content = "", ""
        step = self.stepper(asked)
        calls: list[list[str]] = []
        for number, (text, ids) in enumerate(pieces):
            delta = step(text, ids, number == len(pieces) - 1, prompt)
            if delta is None:
                continue
            reasoning, content = reasoning + (delta.reasoning or ""), content + (delta.content or "")
            for call in delta.tool_calls:
                if call.index == len(calls):
                    assert call.id, "a call begins without an id"
                    calls.append([call.function.name, ""])
                calls[call.index][1] += call.function.arguments or ""
        return reasoning, content, [tuple(call) for call in calls]

    def token_pieces(self, reply: str) -> list[tuple[str, list[int]]]:
        """Text and ids as the detokenizer hands them out: a character comes with its last token."""
        pieces, ids = [], list[int]()
        for id in self.tokenizer.encode(reply, add_special_tokens=False):
            ids.append(id)
            whole = self.tokenizer.decode(ids)
            if not whole.endswith("\ufffd"):
                pieces.append((whole, ids))
                ids = []
        return pieces


def reply_of(template: Template, said: dict[str, Any], stop: str) -> tuple[Any, str] | None:
    """(prompt, reply up to the stop token) as the template writes them; None where it cannot."""
    try:
        prompt = template.render(ASKED, TOOLS, add_generation_prompt=True)
        rendered = template.render([*ASKED, {"role": "assistant", **said}], TOOLS).text
    except Error:
        return None
    if not rendered.startswith(prompt.text):
        return None
    reply = rendered[len(prompt.text) :]
    return prompt, reply.split(stop, 1)[0].rstrip("\n")


def plain(message: Any) -> Any:
    """To compare: white space around texts aside, arguments as values."""
    reasoning, content, calls = message

    def value(arguments: str) -> Any:
        try:
            return json.loads(arguments)
        except ValueError:
            return arguments

    return reasoning.strip(), content.strip(), [(name, value(arguments)) for name, arguments in calls]


def check(is_right: object, *sentence: object) -> None:
    if not is_right:
        failed.append(" ".join(map(str, sentence)))


def streams_as_whole(server: Server, name: str, reply: str, prompt: list[int], asked: Any) -> Any:
    """The message of a reply; any stream of it gives the same. Of the cuts in two, make test tries a share, which begins elsewhere in
    each reply."""
    whole = server.whole(reply, prompt, asked)
    first = 1 + zlib.crc32(name.encode()) % min(SHARE, max(1, len(reply) - 1))
    ways = [[(reply[:cut], [0]), (reply[cut:], [0])] for cut in range(first, len(reply), SHARE)]
    ways += [[(one, [0]) for one in reply], server.token_pieces(reply), [(reply, [0])], [(reply, [0]), ("", [])]]
    for way in ways:
        streamed = server.stream(way, prompt, asked)
        if streamed != whole:
            check(False, f"{name}: cut as {[text for text, _ in way][:4]}\n  streamed {streamed}\n  whole    {whole}")
            break
    return whole


def all_templates() -> None:
    counts: collections.Counter[str] = collections.Counter()
    for path in sorted((CORPUS / "templates").glob("*.jinja")):
        text = corpus_template(f"templates/{path.name}")
        template = Template.from_string(text)
        try:
            server = Server(tokenizer_for(text), "parlance", "parlance")
        except Exception as error:
            check(False, path.name, repr(error))
            continue
        for name, said in SAID.items():
            written = reply_of(template, said, server.tokenizer.eos_token)
            if written is None:
                counts["not rendered"] += 1
                continue
            prompt, reply = written
            ids = server.tokenizer.encode(prompt.text, add_special_tokens=False)
            whole = plain(streams_as_whole(server, f"{path.name}, {name}", reply, ids, request()))
            wanted = plain(
                (
                    said.get("reasoning_content", ""),
                    said["content"],
                    [(one["function"]["name"], json.dumps(one["function"]["arguments"])) for one in said.get("tool_calls", ())],
                )
            )
            reader = prompt.reader()
            reader.feed(reply)
            reader.finish()
            read = reader.message
            plain_read = plain((read.reasoning, read.content, [(one.name, one.arguments) for one in read.calls]))
            check(whole == plain_read, f"{path.name}, {name}: {reply!r}\n  served {whole}\n  read   {plain_read}")
            counts["the message" if whole == wanted else "not the message"] += 1
            if whole != wanted and "-v" in sys.argv:
                print(path.name, name, "\n  ", repr(reply), "\n  ", whole, "\n  ", wanted)
    print("replies of all templates:", dict(counts))


def answer(server: Server, way: str, reply: str, prompt: list[int]) -> Any:
    """The message that a server makes of a reply, or the exception that it ends with."""
    asked = request(stream=way == "streamed")
    try:
        return plain(server.whole(reply, prompt, asked) if way == "whole" else server.stream(server.token_pieces(reply), prompt, asked))
    except Exception as error:
        return type(error).__name__, str(error)[:100]


def by_hand() -> None:
    """The same replies through the parsers that vLLM's recipes name for these models."""
    for name, reasoning, tool, special in FAMILIES:
        counts: collections.Counter[str] = collections.Counter()
        text = corpus_template(f"templates/{name}.jinja")
        template, tokenizer = Template.from_string(text), tokenizer_for(text, special)
        hand, ours = Server(tokenizer, reasoning, tool), Server(tokenizer, "parlance" if reasoning else None, "parlance")
        for case, said in SAID.items():
            written = reply_of(template, said, tokenizer.eos_token)
            if written is None:
                continue
            ids = tokenizer.encode(written[0].text, add_special_tokens=False)
            for way in ("whole", "streamed"):
                theirs, own = (answer(server, way, written[1], ids) for server in (hand, ours))
                known = next((KNOWN[key] for key in ((name, case), (name, f"{case}, {way}")) if key in KNOWN), None)
                counts["equal" if theirs == own else known or "different"] += 1
                explained = theirs == own or known is not None
                check(explained, f"{name}, {case}, {way}: {written[1]!r}\n  by hand  {theirs}\n  parlance {own}")
        check(counts, name, "gives nothing to compare")
        print(f"  {name}, by hand {reasoning}, {tool}:", "; ".join(f"{count} {word}" for word, count in counts.items()))


def hostile() -> None:
    """Replies that no template writes: no exception, streams as the whole, and no word of them is lost."""
    count = 0
    for name in ("trl--qwen3", "trl--qwen3_6", "llama.cpp--GLM-4.7-Flash", "llama.cpp--moonshotai-Kimi-K2", "seed--underscore-bot"):
        text = corpus_template(f"templates/{name}.jinja")
        template, server = Template.from_string(text), Server(tokenizer_for(text), "parlance", "parlance")
        _, reply = reply_of(template, SAID["text and two calls"], server.tokenizer.eos_token) or (None, "")
        prompt = template.render(ASKED, TOOLS, add_generation_prompt=True).text
        ids = server.tokenizer.encode(prompt, add_special_tokens=False)
        stop = server.tokenizer.eos_token
        replies = [reply[:cut] for cut in range(1, len(reply), 7)]
        replies += [reply + " behind", f"before {stop} behind", f"{stop}{reply}", reply + reply, reply.replace("}", ""), "</think>" * 3]
        replies += [
            f"<think>one</think>two<think>three</think>{reply}",
            "<think>never closed",
            "<tool_call>" * 3 + "x",
            "\ufffd\x00<",
            "{" * 50,
        ]
        for hostile in replies:
            count += 1
            reasoning, content, calls = streams_as_whole(server, f"{name}, hostile {hostile[-80:]!r}", hostile, ids, request())
            said = reasoning + content + "".join(name + arguments for name, arguments in calls)
            for word in ("before", "behind", "two", "one", "three", "never closed", "Köln", "Let me see"):
                check(word not in hostile or word in said, f"{name}: {word!r} of {hostile!r} is lost in {said!r}")
    print(f"{count} hostile replies")


def ids_and_prompts() -> None:
    """What vLLM asks by ids: the scheduler whether the reasoning is over, the counts of usage, prompts that begin a reply."""
    text = corpus_template("templates/trl--qwen3.jinja")
    tokenizer = tokenizer_for(text, "<think> </think>")
    new = ReasoningParserManager.get_reasoning_parser("parlance")

    def ids(written: str) -> list[int]:
        return list(tokenizer.encode(written, add_special_tokens=False))

    prompt = ids("<|im_start|>user\nHi </think><|im_end|>\n<|im_start|>assistant\n")
    reply = ids("<think>\nHm, ä.\n</think>\n\nFine.")
    close = reply.index(tokenizer.convert_tokens_to_ids("</think>"))
    for behind, is_over in (("", False), ("<think>\n", False), ("<think>\n\n</think>\n\n", True), ("Sure", True), ("<think>\nHm", False)):
        check(new(tokenizer).is_reasoning_end(prompt + ids(behind)) is is_over, "is_reasoning_end behind", repr(behind))
    parser = new(tokenizer)
    for count in range(1, len(reply) + 1):
        for drafts in (1, 3):  # of drafts all but one are refused
            so_far = prompt + reply[: count - 1 + drafts]
            over = parser.is_reasoning_end_streaming(so_far, so_far[len(prompt) + count - 1 :])
            check(over is (count - 1 + drafts > close), "is_reasoning_end_streaming at", count, drafts)
    check(new(tokenizer).extract_content_ids(reply) == reply[close + 1 :], "extract_content_ids")
    counted = new(tokenizer).count_reasoning_tokens(reply)
    said = ids("<think>\nHm, ä.\n")[2:-1]
    check(counted == len(said), "count_reasoning_tokens", counted, len(said))
    check((parser.reasoning_start_str, parser.reasoning_end_str) == ("<think>", "</think>"), "the marks of reasoning")
    server = Server(tokenizer, "parlance", "parlance")
    for behind, said in (("<think>\nA", ("B", "C")), ("<think>\n\n</think>\n\n", ("", "B</think>C")), ("Sure", ("", "B</think>C"))):
        begun = prompt + ids(behind)
        streamed = server.stream([(one, [0]) for one in "B</think>C"], begun, request())
        check(streamed[:2] == said, "behind", repr(behind), streamed)
        if RELEASE >= "0.33":  # the first that tells a whole reply's parser its prompt
            check(server.whole("B</think>C", begun, request())[:2] == said, "whole behind", repr(behind))


def constraints() -> None:
    """What adjust_request makes of a request: calls that are required have the model's own form, and xgrammar takes the grammar."""
    for name in (
        "trl--qwen3",
        "trl--qwen3_6",
        "llama.cpp--MiniMax-M2",
        "llama.cpp--Kimi-K3",
        "llama.cpp--meta-llama-Llama-3.2-3B-Instruct",
    ):
        text = corpus_template(f"templates/{name}.jinja")
        server = Server(tokenizer_for(text), "parlance", "parlance")
        named = {"type": "function", "function": {"name": "find"}}
        strict = [{**tool, "function": {**tool["function"], "strict": True}} for tool in TOOLS]
        for members, is_bound in (
            ({"tool_choice": "required"}, True),
            ({"tool_choice": named, "parallel_tool_calls": False}, True),
            ({"tool_choice": "auto"}, False),
            ({"tool_choice": "auto", "tools": strict}, True),
            ({"tool_choice": "none"}, False),
        ):
            asked = request(**members)
            asked = server.new(asked).adjust_request(asked)
            check(asked.skip_special_tokens is False, name, "special tokens are skipped")
            tag = asked.structured_outputs and asked.structured_outputs.structural_tag
            check(bool(tag) is is_bound, name, members, "gives", str(tag)[:100])
            if tag:
                bound = xgrammar.Grammar.from_structural_tag(tag)
                wanted = "find" if members["tool_choice"] is named else "look"
                said = {**SAID["reasoning and a call"], "tool_calls": [call(wanted, at="Köln", times=2)]}
                _, reply = reply_of(server.template, said, server.tokenizer.eos_token) or (None, "")
                _, rest = server.new(asked).extract_reasoning(reply, asked)
                for end in json.loads(server.template.reply_format().to_json()).get("end", []):  # which no grammar writes
                    rest = rest.split(end, 1)[0]
                takes = xgrammar.testing._is_grammar_accept_string
                check(takes(bound, rest), name, members, "does not take", repr(rest), "\n", tag)
                if members["tool_choice"] != "auto":
                    check(not takes(bound, "Fine."), name, members, "takes a reply without a call")
    free = request(tool_choice="none")
    whole = Server(tokenizer_for(corpus_template("templates/trl--qwen3.jinja")), "parlance", "parlance").whole(
        'A<tool_call>{"name": "look", "arguments": {}}</tool_call>', [], free
    )
    check(whole[1].endswith("</tool_call>") and not whole[2], "calls that are not wanted are text, not", whole)


def tools_of_responses() -> None:
    """The kinds of tools that the Responses API has are read, and constrained, as vLLM's own parser for the template does it."""
    if ResponsesRequest is None:
        print("skipped: this vLLM has no tools of other kinds than functions")
        return
    tokenizer = tokenizer_for(corpus_template("templates/trl--qwen3_instruct_2507.jinja"), "<tool_call> </tool_call>")
    state = {"type": "function", "name": "state", "parameters": {"type": "object", "properties": {}}}
    namespace = {"type": "namespace", "name": "app", "description": "An app.", "tools": [state]}
    custom = {"type": "custom", "name": "patch", "description": "Changes files."}
    allowed = {"type": "allowed_tools", "mode": "required", "tools": [{"type": "custom", "name": "patch"}]}
    for tools, choice, name, arguments in (
        ([namespace], "required", "app__state", {}),
        ([custom], "required", "patch", {"input": "x"}),
        ([namespace, custom], {"type": "custom", "name": "patch"}, "patch", {"input": "x"}),
        ([namespace, custom], allowed, "patch", {"input": "x"}),
    ):
        asked = ResponsesRequest.model_validate({"input": "hi", "tools": tools, "tool_choice": choice})
        reply = f"<tool_call>\n{json.dumps({'name': name, 'arguments': arguments})}\n</tool_call>"
        read = []
        for parser in (ToolParserManager.get_tool_parser("hermes"), ToolParserManager.get_tool_parser("parlance")):
            one = parser(tokenizer, asked.tools)
            got = one.extract_tool_calls(reply, asked)
            read.append((got.content or "", [(call.function.name, json.loads(call.function.arguments)) for call in got.tool_calls]))
        check(read[1] == read[0] == ("", [(name, arguments)]), name, "is read as", read[1], "by hand", read[0])
        tag = one.get_structural_tag(asked, strict_level=ToolStrictLevel.PARAMETER)
        check(tag is not None, name, "is not constrained")
        if tag is not None:
            bound = xgrammar.Grammar.from_structural_tag(tag)
            takes = xgrammar.testing._is_grammar_accept_string
            check(takes(bound, reply), name, choice, "does not take", repr(reply), "\n", tag)
            check(not takes(bound, reply.replace(name, "other")), name, "takes another tool")


def main() -> int:
    if not CORPUS.exists():
        print("skipped: the templates of the families are of the corpus, which is not there")
        return 77
    ReasoningParserManager.import_reasoning_parser(str(pathlib.Path(parlance.__file__).with_name("vllm_reasoning_parser.py")))
    ToolParserManager.import_tool_parser("parlance.vllm_tool_parser")
    all_templates()
    by_hand()
    hostile()
    ids_and_prompts()
    constraints()
    tools_of_responses()
    print(f"vLLM {RELEASE}: {len(failed)} differences", *failed[:20], sep="\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
