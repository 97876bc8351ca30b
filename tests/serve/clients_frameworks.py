"""Frameworks of Python against a gateway: `clients_frameworks.py NAME URL`, run by a Python that has the framework.

Prints a line of JSON for each step; frameworks_of_python.py says what each must be, by the last word of its name: "chat", "stream", "tools"
(two calls at once, and what stands behind their results), "structured", "thought" (the reasoning), "usage", "error" (a prompt that is too
long is known as such). Begin reading at main.
"""

import asyncio
import json
import os
import pathlib
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from typing import Any, Literal

from pydantic import BaseModel

Steps = Iterator[tuple[str, Any]]
ASKED, WATER, AS_JSON, LONG = "How is the tide?", "Where is the water?", "Say it as JSON.", "TOO LONG"
LOOP = asyncio.new_event_loop()


class Tide(BaseModel):
    """A tide."""

    town: str
    metres: float


def look(at: str) -> str:
    """Looks at the water in a town.

    Args:
        at: The town.
    """
    return f"{at}: 3.2 m"


def refused(ask: Callable[[], Any]) -> bool:
    """Does it fail, and say why?"""
    try:
        ask()
    except Exception as failed:
        error: BaseException | None = failed
        while error is not None:
            if "prompt is too long" in str(error):
                return True
            error = error.__cause__ or error.__context__
    return False


def langchain(url: str) -> Steps:
    from langchain.agents import create_agent
    from langchain_anthropic import ChatAnthropic
    from langchain_ollama import ChatOllama
    from langchain_openai import ChatOpenAI

    asked: Any = {"base_url": url + "/v1", "api_key": "none", "model": "mine", "max_retries": 0}
    thinks: Any = {"thinking": {"type": "enabled", "budget_tokens": 1024}, "max_tokens": 2000}
    for name, model in (
        ("openai", ChatOpenAI(**asked, stream_usage=True)),
        ("responses", ChatOpenAI(**asked, use_responses_api=True, reasoning={"summary": "auto"})),
        ("anthropic", ChatAnthropic(**asked | {"base_url": url}, **thinks)),
        ("ollama", ChatOllama(base_url=url, model="mine", reasoning=True)),
    ):
        whole = model.invoke(ASKED)
        yield name + " chat", whole.text
        if name != "openai":  # which reads no reasoning of other servers
            blocks = [block for block in whole.content_blocks if block["type"] == "reasoning"]
            yield name + " thought", "".join(block.get("reasoning") or "" for block in blocks)
        pieces = list(model.stream(ASKED))
        yield name + " stream", "".join(piece.text for piece in pieces)
        yield name + " usage", any((piece.usage_metadata or {}).get("output_tokens") for piece in pieces)
        agent = create_agent(model, tools=[look])
        yield name + " tools", agent.invoke({"messages": [{"role": "user", "content": WATER}]})["messages"][-1].text
        for method in ("function_calling", "json_mode", "json_schema"):
            yield f"{name} {method} structured", model.with_structured_output(Tide, method=method).invoke(AS_JSON).model_dump()
        yield name + " error", refused(lambda model=model: model.invoke(LONG))


def llama_index(url: str) -> Steps:
    from llama_index.core.agent.workflow import FunctionAgent
    from llama_index.core.llms import ChatMessage
    from llama_index.llms.ollama import Ollama
    from llama_index.llms.openai_like import OpenAILike

    openai = OpenAILike(model="mine", api_base=url + "/v1", api_key="none", is_chat_model=True, is_function_calling_model=True)
    asked = [ChatMessage(role="user", content=ASKED)]
    for name, model in (("openai", openai), ("ollama", Ollama(model="mine", base_url=url, thinking=True, is_function_calling_model=True))):
        whole = model.chat(asked).message
        yield name + " chat", whole.content
        yield name + " thought", "".join(block.content for block in whole.blocks if block.block_type == "thinking").strip()
        yield name + " stream", "".join(piece.delta for piece in model.stream_chat(asked))

        async def agent(model: Any = model) -> Any:
            return await FunctionAgent(tools=[look], llm=model).run(WATER)

        yield name + " tools", str(LOOP.run_until_complete(agent()))
        said = [ChatMessage(role="user", content=AS_JSON)]
        yield name + " structured", model.as_structured_llm(Tide).chat(said).raw.model_dump()
        yield name + " error", refused(lambda model=model: model.complete(LONG))


def pydantic_ai(url: str) -> Steps:
    from pydantic_ai import Agent, NativeOutput, PromptedOutput, ToolOutput
    from pydantic_ai.models.anthropic import AnthropicModel
    from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
    from pydantic_ai.providers.anthropic import AnthropicProvider
    from pydantic_ai.providers.openai import OpenAIProvider

    openai = OpenAIProvider(base_url=url + "/v1", api_key="none")
    for name, model in (
        ("openai", OpenAIChatModel("mine", provider=openai)),
        ("responses", OpenAIResponsesModel("mine", provider=openai)),
        ("anthropic", AnthropicModel("mine", provider=AnthropicProvider(base_url=url, api_key="none"))),
    ):
        plain: Any = Agent(model)
        whole = plain.run_sync(ASKED)
        yield name + " chat", whole.output
        if name == "openai":
            yield name + " thought", whole.response.thinking

        async def stream(plain: Any = plain) -> tuple[str, int]:
            async with plain.run_stream(ASKED) as result:
                text = "".join([piece async for piece in result.stream_text(delta=True)])
                return text, (result.usage() if callable(result.usage) else result.usage).output_tokens

        text, tokens = LOOP.run_until_complete(stream())
        yield name + " stream", text
        yield name + " usage", tokens > 0
        yield name + " tools", Agent(model, tools=[look]).run_sync(WATER).output
        for form in (ToolOutput(Tide), PromptedOutput(Tide), *([] if name == "anthropic" else [NativeOutput(Tide)])):
            made: Any = Agent(model, output_type=form).run_sync(AS_JSON).output
            yield f"{name} {type(form).__name__} structured", made.model_dump()
        yield name + " error", refused(lambda plain=plain: plain.run_sync(LONG))


def openai_agents(url: str) -> Steps:
    from agents import Agent, OpenAIChatCompletionsModel, OpenAIResponsesModel, Runner, function_tool, set_tracing_disabled
    from openai import AsyncOpenAI

    set_tracing_disabled(True)
    client = AsyncOpenAI(base_url=url + "/v1", api_key="none", max_retries=0)
    for name, kind in (("chat", OpenAIChatCompletionsModel), ("responses", OpenAIResponsesModel)):
        model = kind("mine", openai_client=client)

        def run(asked: str, model: Any = model, **more: Any) -> Any:
            return LOOP.run_until_complete(Runner.run(Agent(name="A", model=model, **more), asked)).final_output

        async def stream(model: Any = model) -> Any:
            result = Runner.run_streamed(Agent(name="A", model=model, tools=[function_tool(look)]), WATER)
            async for _ in result.stream_events():
                pass
            return result.final_output

        yield name + " chat", run(ASKED)
        yield name + " tools", run(WATER, tools=[function_tool(look)])
        yield name + " streamed tools", LOOP.run_until_complete(stream())
        yield name + " structured", run(AS_JSON, output_type=Tide).model_dump()
        boss = {"handoffs": [Agent(name="Sea", model=model, tools=[function_tool(look)])], "instructions": "You hand over."}
        yield name + " handed over, tools", run(WATER, **boss)
        yield name + " error", refused(lambda: run(LONG))


def smolagents(url: str) -> Steps:
    from smolagents import OpenAIServerModel, ToolCallingAgent, tool

    model = OpenAIServerModel(model_id="mine", api_base=url + "/v1", api_key="none")
    asked: Any = [{"role": "user", "content": [{"type": "text", "text": ASKED}]}]
    yield "chat", model.generate(asked).content
    pieces = list(model.generate_stream(asked))
    yield "stream", "".join(piece.content or "" for piece in pieces)
    yield "usage", any(piece.token_usage and piece.token_usage.output_tokens for piece in pieces)
    for streams in (False, True):
        agent = ToolCallingAgent(tools=[tool(look)], model=model, max_steps=4, verbosity_level=0, stream_outputs=streams)
        yield f"streams {streams}: tools", agent.run(WATER)
    yield "error", refused(lambda: model.generate([{"role": "user", "content": [{"type": "text", "text": LONG}]}]))


def instructor(url: str) -> Steps:
    import anthropic
    import instructor as package
    import openai

    client = openai.OpenAI(base_url=url + "/v1", api_key="none", max_retries=0)
    others = anthropic.Anthropic(base_url=url, api_key="none", max_retries=0)
    asked: Any = {"model": "mine", "messages": [{"role": "user", "content": AS_JSON}], "max_retries": 1, "response_model": Tide}
    for name in ("TOOLS", "TOOLS_STRICT", "JSON", "JSON_SCHEMA", "RESPONSES_TOOLS", "ANTHROPIC_TOOLS", "ANTHROPIC_JSON"):
        is_anthropic = name.startswith("ANTHROPIC")
        mode = package.Mode[name]
        made: Any = package.from_anthropic(others, mode=mode) if is_anthropic else package.from_openai(client, mode=mode)
        more = {"max_tokens": 2000} if is_anthropic else {}
        yield name + " structured", made.chat.completions.create(**asked, **more).model_dump()
        yield name + " partial structured", list(made.chat.completions.create_partial(**asked, **more))[-1].model_dump()


def dspy(url: str) -> Steps:
    import dspy as package

    for name, base, kind in (
        ("openai/mine", url + "/v1", "chat"),
        ("openai/mine", url + "/v1", "responses"),
        ("anthropic/mine", url, "chat"),
        ("ollama_chat/mine", url, "chat"),
    ):
        lm = package.LM(name, api_base=base, api_key="none", model_type=kind, cache=False, num_retries=0)
        answers = lm(ASKED)
        yield f"{name} {kind} chat", answers[0] if isinstance(answers[0], str) else answers[0]["text"]
        with package.context(lm=lm, track_usage=True):
            made = package.Predict("question -> answer")(question=ASKED)
            yield f"{name} {kind} signature, chat", made.answer
            yield f"{name} {kind} usage", all(usage["completion_tokens"] for usage in made.get_lm_usage().values())
        yield f"{name} {kind} error", refused(lambda lm=lm: lm(LONG))


def haystack(url: str) -> Steps:
    from haystack.components.agents import Agent
    from haystack.components.generators.chat import OpenAIChatGenerator, OpenAIResponsesChatGenerator
    from haystack.dataclasses import ChatMessage
    from haystack.tools import create_tool_from_function
    from haystack.utils import Secret

    tool = create_tool_from_function(look)
    for name, kind, form in (("chat", OpenAIChatGenerator, "response_format"), ("responses", OpenAIResponsesChatGenerator, "text_format")):
        asked: Any = {"api_key": Secret.from_token("none"), "model": "mine", "api_base_url": url + "/v1", "max_retries": 0}

        def run(said: str, kind: Any = kind, asked: Any = asked, **more: Any) -> Any:
            return kind(**asked, **more).run([ChatMessage.from_user(said)])["replies"][0].text

        pieces: list[Any] = []
        yield name + " chat", run(ASKED)
        yield name + " stream", run(ASKED, streaming_callback=pieces.append)
        agent = Agent(chat_generator=kind(**asked), tools=[tool])
        yield name + " tools", agent.run([ChatMessage.from_user(WATER)])["messages"][-1].text
        yield name + " structured", json.loads(run(AS_JSON, generation_kwargs={form: Tide}))
        yield name + " error", refused(lambda run=run: run(LONG))


def autogen(url: str) -> Steps:
    from autogen_agentchat.agents import AssistantAgent
    from autogen_core.models import UserMessage
    from autogen_ext.models.ollama import OllamaChatCompletionClient
    from autogen_ext.models.openai import OpenAIChatCompletionClient

    facts: Any = {"vision": False, "function_calling": True, "json_output": True, "family": "unknown", "structured_output": True}
    openai = OpenAIChatCompletionClient(model="mine", base_url=url + "/v1", api_key="none", model_info=facts, max_retries=0)
    run = LOOP.run_until_complete
    for name, client in (("openai", openai), ("ollama", OllamaChatCompletionClient(model="mine", host=url, model_info=facts))):

        async def create(said: str, client: Any = client, **more: Any) -> Any:
            return await client.create([UserMessage(content=said, source="user")], **more)

        async def stream(client: Any = client) -> Any:
            return [piece async for piece in client.create_stream([UserMessage(content=ASKED, source="user")])][-1]

        async def agent(client: Any = client) -> Any:
            helper = AssistantAgent("helper", model_client=client, tools=[look], max_tool_iterations=3)
            return (await helper.run(task=WATER)).messages[-1].content

        yield name + " chat", run(create(ASKED)).content
        yield name + " stream", run(stream()).content
        yield name + " tools", run(agent())
        yield name + " structured", json.loads(run(create(AS_JSON, json_output=Tide)).content)
        yield name + " error", refused(lambda create=create: run(create(LONG)))


def ag2(url: str) -> Steps:
    from ag2 import Agent, config, tool

    base: Any = {"base_url": url + "/v1", "api_key": "none"}
    for name, made in (
        ("openai", config.OpenAIConfig("mine", **base)),
        ("streaming", config.OpenAIConfig("mine", streaming=True, **base)),
        ("responses", config.OpenAIResponsesConfig("mine", **base)),
        ("anthropic", config.AnthropicConfig("mine", base_url=url, api_key="none")),
    ):

        def ask(said: str, made: Any = made, **more: Any) -> Any:
            return LOOP.run_until_complete(Agent("helper", "Be short.", config=made, **more).ask(said)).body

        yield name + " chat", ask(ASKED)
        yield name + " tools", ask(WATER, tools=[tool(look)])
        yield name + " structured", json.loads(ask(AS_JSON, response_schema=Tide))
        yield name + " error", refused(lambda ask=ask: ask(LONG))


def crewai(url: str) -> Steps:
    os.environ |= {"CREWAI_DISABLE_TELEMETRY": "true", "OTEL_SDK_DISABLED": "true", "CREWAI_TRACING_ENABLED": "false"}
    from crewai import LLM, Agent, Crew, Task
    from crewai.tools import tool

    asked: Any = {"api_key": "none", "base_url": url + "/v1"}
    for name, more in (
        ("openai", {"model": "openai/mine"}),
        ("responses", {"model": "openai/mine", "api": "responses"}),
        ("anthropic", {"model": "anthropic/claude-mine", "base_url": url, "max_tokens": 2000}),
        ("ollama", {"model": "ollama/mine", "base_url": url}),
    ):
        made: Any = asked | more
        yield name + " chat", LLM(**made).call(ASKED)
        streamed = LLM(**made, stream=True)
        yield name + " stream", streamed.call(ASKED)
        yield name + " usage", streamed.get_token_usage_summary().completion_tokens > 0
        agent = Agent(role="r", goal="g", backstory="b", llm=LLM(**made), tools=[tool("look")(look)], max_iter=4)
        task = Task(description=WATER, expected_output="text", agent=agent)
        yield name + " tools", Crew(agents=[agent], tasks=[task], verbose=False).kickoff().raw
        structured = LLM(**made, response_format=Tide).call(AS_JSON)
        yield name + " structured", json.loads(structured) if isinstance(structured, str) else structured.model_dump()


def google_adk(url: str) -> Steps:
    from google.adk.agents import LlmAgent
    from google.adk.agents.run_config import RunConfig, StreamingMode
    from google.adk.models.lite_llm import LiteLlm
    from google.adk.runners import InMemoryRunner
    from google.genai import types

    wait = LOOP.run_until_complete
    for name, base in (("openai/mine", url + "/v1"), ("anthropic/mine", url), ("ollama_chat/mine", url)):
        model = LiteLlm(model=name, api_base=base, api_key="none")

        async def run(said: str, model: Any = model, mode: Any = StreamingMode.NONE, **more: Any) -> str:
            runner = InMemoryRunner(agent=LlmAgent(name="helper", model=model, **more), app_name="app")
            session = await runner.session_service.create_session(app_name="app", user_id="u")
            asked = types.Content(role="user", parts=[types.Part(text=said)])
            config = RunConfig(streaming_mode=mode)
            events = runner.run_async(user_id="u", session_id=session.id, new_message=asked, run_config=config)
            last: Any = [event async for event in events][-1]
            return "".join(part.text or "" for part in last.content.parts if not part.thought)

        yield name + " chat", wait(run(ASKED))
        yield name + " stream", wait(run(ASKED, mode=StreamingMode.SSE))
        yield name + " tools", wait(run(WATER, tools=[look]))
        yield name + " structured", json.loads(wait(run(AS_JSON, output_schema=Tide)))
        yield name + " error", refused(lambda run=run: wait(run(LONG)))


def strands(url: str) -> Steps:
    from strands import Agent, tool
    from strands.models.anthropic import AnthropicModel
    from strands.models.ollama import OllamaModel
    from strands.models.openai import OpenAIModel
    from strands.models.openai_responses import OpenAIResponsesModel

    asked = {"base_url": url + "/v1", "api_key": "none", "max_retries": 0}
    others: Any = {"client_args": asked | {"base_url": url}, "model_id": "mine", "max_tokens": 2000}
    kinds: dict[str, Callable[[], Any]] = {
        "openai": lambda: OpenAIModel(client_args=asked, model_id="mine"),
        "responses": lambda: OpenAIResponsesModel(client_args=asked, model_id="mine"),
        "anthropic": lambda: AnthropicModel(**others),
        "ollama": lambda: OllamaModel(url, model_id="mine"),
    }
    for name, kind in kinds.items():  # a model of its own for each agent, since each runs in a loop of its own

        def ask(said: str, kind: Any = kind, **more: Any) -> Any:
            return Agent(model=kind(), callback_handler=None, **more)(said)

        whole = ask(ASKED)
        yield name + " stream", str(whole).strip()
        yield name + " usage", whole.metrics.accumulated_usage["outputTokens"] > 0
        yield name + " tools", str(ask(WATER, tools=[tool(look)])).strip()
        yield name + " structured", ask(AS_JSON, structured_output_model=Tide).structured_output.model_dump()
        yield name + " error", refused(lambda ask=ask: ask(LONG))


def claude_agent_sdk(url: str) -> Steps:
    """Brings Claude Code."""
    from claude_agent_sdk import ClaudeAgentOptions, ResultMessage, create_sdk_mcp_server, query, tool

    @tool("look", "Looks at the water in a town.", {"at": str})
    async def seen(given: Any) -> Any:
        return {"content": [{"type": "text", "text": look(given["at"])}]}

    with tempfile.TemporaryDirectory() as home:
        quiet = {"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "CLAUDE_CONFIG_DIR": home + "/claude", "HOME": home}
        environment = {"ANTHROPIC_BASE_URL": url, "ANTHROPIC_AUTH_TOKEN": "none"} | quiet

        async def last(asked: str, **more: Any) -> Any:
            options = ClaudeAgentOptions(cwd=home, model="mine", env=environment, **more)
            return [one async for one in query(prompt=asked, options=options) if isinstance(one, ResultMessage)][-1]

        yield "chat", LOOP.run_until_complete(last(ASKED, system_prompt="Be short.")).result
        server: Any = {"sea": create_sdk_mcp_server("sea", tools=[seen])}
        yield "tools", LOOP.run_until_complete(last(WATER, mcp_servers=server, allowed_tools=["mcp__sea__look"])).result
        schema = {"type": "json_schema", "schema": Tide.model_json_schema()}
        yield "structured", LOOP.run_until_complete(last(AS_JSON, output_format=schema)).structured_output


def outlines(url: str) -> Steps:
    import openai
    import outlines as package
    from outlines.types import Regex

    client = openai.OpenAI(base_url=url + "/v1", api_key="none", max_retries=0)
    for name in ("openai", "vllm", "sglang"):
        model: Any = getattr(package, "from_" + name)(client, "mine")
        yield name + " chat", model(ASKED)
        yield name + " stream", "".join(model.stream(ASKED))
        yield name + " structured", json.loads(model(AS_JSON, Tide))
        if name != "openai":
            yield name + " pattern, structured", json.loads(model(AS_JSON, Regex(r"\{.*\}")))
            yield name + " choice, chat", model(ASKED, Literal["It is high tide in Köln 🌊.", "no"])
        yield name + " error", refused(lambda model=model: model(LONG))


def guidance(url: str) -> Steps:
    """It reads the text of a streamed chat from its logprobs."""
    from guidance import assistant, gen, user
    from guidance import json as as_json
    from guidance.models import OpenAI

    def run(said: str, part: Any) -> Any:
        model: Any = OpenAI("mine", api_key="none", base_url=url + "/v1", echo=False)
        with user():
            model += said
        with assistant():
            model += part
        return model["a"]

    yield "in ASCII, stream", run("How is the tide, in ASCII?", gen("a", max_tokens=100))
    yield "in ASCII, structured", json.loads(run("Say it in ASCII, as JSON.", as_json("a", schema=Tide)))
    yield "error", refused(lambda: run(LONG, gen("a", max_tokens=100)))


def mirascope(url: str) -> Steps:
    from mirascope import llm

    llm.register_provider("openai", scope="openai/", base_url=url + "/v1", api_key="none")
    llm.register_provider("anthropic", scope="anthropic/", base_url=url, api_key="none")
    llm.register_provider("ollama", scope="ollama/", base_url=url + "/v1")
    for name in ("openai/mine:completions", "openai/mine:responses", "anthropic/mine", "ollama/mine"):
        model: Any = llm.Model(name, max_tokens=2000)
        yield name + " chat", model.call(ASKED).content[0].text
        yield name + " stream", "".join(model.stream(ASKED).text_stream()).rstrip("\n")
        first = model.call(WATER, tools=[llm.tool(look)])
        yield name + " tools", first.resume(first.execute_tools()).content[0].text
        for mode in ("tool", "json", "strict"):
            made = model.call(AS_JSON, format=llm.format(Tide, mode=mode)).parse()
            yield f"{name} {mode} structured", made.model_dump()
        yield name + " error", refused(lambda model=model: model.call(LONG))


def magentic(url: str) -> Steps:
    from magentic import OpenaiChatModel, StreamedStr, prompt

    asked: Any = prompt("{said}", model=OpenaiChatModel("mine", base_url=url + "/v1", api_key="none"))

    @asked
    def text(said: str) -> str: ...
    @asked
    def pieces(said: str) -> StreamedStr: ...
    @asked
    def tide(said: str) -> Tide: ...

    yield "chat", text(ASKED)
    yield "stream", "".join(pieces(ASKED))
    yield "structured", tide(AS_JSON).model_dump()
    yield "error", refused(lambda: text(LONG))


def inspect_ai(url: str) -> Steps:
    from inspect_ai import Task
    from inspect_ai import eval as evaluate
    from inspect_ai.dataset import Sample
    from inspect_ai.model import GenerateConfig, ResponseSchema, get_model
    from inspect_ai.scorer import includes
    from inspect_ai.solver import generate, use_tools
    from inspect_ai.tool import tool
    from inspect_ai.util import json_schema

    @tool(name="look")
    def seen() -> Any:
        async def execute(at: str) -> str:
            """Looks at the water in a town.

            Args:
                at: The town.
            """
            return look(at)

        return execute

    for name, base, more in (
        ("openai/mine", "/v1", {"responses_api": False}),
        ("openai/mine", "/v1", {"responses_api": True}),
        ("anthropic/claude-mine", "", {}),
        ("vllm/mine", "/v1", {}),
    ):
        said = f"{name} {more}"

        def model(name: str = name, base: str = base, more: Any = more) -> Any:
            return get_model(name, base_url=url + base, api_key="none", memoize=False, **more)

        async def ask(asked: str, model: Any = model, **config: Any) -> Any:
            return (await model().generate(asked, config=GenerateConfig(max_retries=0, **config))).completion

        run = LOOP.run_until_complete
        yield said + " chat", run(ask(ASKED))
        schema = ResponseSchema(name="tide", json_schema=json_schema(Tide))
        yield said + " structured", json.loads(run(ask(AS_JSON, response_schema=schema)))
        with tempfile.TemporaryDirectory() as folder:
            task = Task([Sample(input=WATER, target="high tide")], solver=[use_tools(seen()), generate()], scorer=includes())
            log = evaluate(task, model=model(), display="none", log_dir=folder)[0]
            yield said + " tools", log.samples[0].output.completion if log.samples else log.status


def lm_eval(url: str) -> Steps:
    """By the engine's own rule of logprobs; the lengths are those by which the rule gives them."""
    from lm_eval.api.instance import Instance
    from lm_eval.models.openai_completions import LocalCompletionsAPI

    tokenizer = str(pathlib.Path(__file__).resolve().parents[1] / "tokenizers" / "chatml")
    lm = LocalCompletionsAPI(model="mine", base_url=url + "/v1/completions", tokenizer=tokenizer, max_retries=1)
    given = [("The water is", " high"), ("The water", " is low, and the ships wait")]
    asked = [Instance("loglikelihood", {}, pair, number) for number, pair in enumerate(given)]
    lengths = [(len(lm.tok_encode(before)), len(lm.tok_encode(before + behind))) for before, behind in given]
    yield "loglikelihood", [[*likely, *length] for likely, length in zip(lm.loglikelihood(asked), lengths, strict=True)]
    until = Instance("generate_until", {}, ("The water", {"until": ["\n"], "max_gen_toks": 20}), 0)
    yield "generated", lm.generate_until([until])[0]


def evalscope(url: str) -> Steps:
    program = str(pathlib.Path(sys.executable).parent / "evalscope")
    tokenizer = str(pathlib.Path(__file__).resolve().parents[1] / "tokenizers" / "chatml")
    for path in ("/v1/chat/completions", "/v1/completions"):
        with tempfile.TemporaryDirectory() as folder:
            command = [program, "perf", "--url", url + path, "--api", "openai", "--model", "mine", "--api-key", "none", "--number", "4",
                       "--parallel", "2", "--prompt", ASKED, "--tokenizer-path", tokenizer, "--outputs-dir", folder]  # fmt: skip
            done = subprocess.run(command, capture_output=True, text=True, timeout=200)
            yield path + " usage", done.returncode == 0 and "4 / 4 / 0" in done.stdout + done.stderr


def main() -> None:
    steps: Callable[[str], Steps] = globals()[sys.argv[1]]
    for name, result in steps(sys.argv[2]):
        sys.__stdout__.write(json.dumps([name, result]) + "\n")


if __name__ == "__main__":
    main()
