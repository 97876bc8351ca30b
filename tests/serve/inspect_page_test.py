#!/usr/bin/env python3
"""The inspector's page in a headless Chromium: `inspect_page_test.py PARLANCE [--pictures FOLDER]`. For make long.

Each test opens the page anew, on a gateway whose engine is a script. In all of them nothing may be refused by the page's own policy, and no
script may fail. `--pictures` keeps what the page looks like. Begin reading at main.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import json
import pathlib
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from typing import Any

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from browser import OPTIONS, browser, run_with_playwright
from engine import Engine, Reply
from gateway import Checks, Gateway

TABS = ("prompt", "tokens", "masks", "reply", "events", "grammar", "prefix", "guarded")
TOOLS: Any = [
    {"type": "function", "function": {"name": "look", "parameters": {"type": "object", "properties": {"at": {"type": "string"}}}}}
]
CALL = '<tool_call>\n{"name": "look", "arguments": {"at": "Köln"}}\n</tool_call><|im_end|>'
THOUGHT = "<think>\nHm, let me see.\n</think>\n\nIt is high tide.<|im_end|>"
HOSTILE = (
    "<script>window.hacked = 1</script><img src=x onerror='window.hacked = 2'></style></pre><svg onload='window.hacked = 3'>"
    "<iframe srcdoc='<script>parent.hacked = 4</script>'></iframe>{{hacked}}${hacked}\u202eabc"
)
LONG = 100_000  # tokens
PATIENCE = 20  # seconds


def user(text: str) -> Any:
    return {"role": "user", "content": text}


@dataclasses.dataclass
class Bench:
    """What a test has."""

    parlance: str
    engine: Engine
    gateway: Gateway
    page: Any  # playwright's
    checks: Checks
    pictures: pathlib.Path | None

    def ask(self, session: str, *messages: Any, reply: str = "Yes.<|im_end|>", key: str = "", **request: Any) -> Any:
        self.engine.script = lambda asked: Reply(reply, logprob=-0.5)
        headers = {"x-session-id": session, **({"Authorization": f"Bearer {key}"} if key else {})}
        status, _, answer = self.gateway.post("/v1/chat/completions", {"messages": list(messages), **request}, headers)
        assert status == 200, answer
        return answer["choices"][0]["message"]

    def data(self, path: str) -> Any:
        return json.loads(self.gateway.get("/inspect/api/" + path)[1])

    def open(self, place: str = "") -> None:
        self.page.goto(self.gateway.url + "/inspect" + place)

    def choose(self, session: int = 0, turn: int = 0, tab: str = "") -> None:
        """By their places in the lists."""
        self.page.locator("#sessions .row").nth(session).click()
        name = self.page.locator("#sessions .row").nth(session).locator(".name").inner_text()
        self.waits(f"document.querySelector('#session-head h2').textContent === {json.dumps(name)}", f"session {session} is chosen")
        row = self.page.locator("#turns .row").nth(turn)
        row.click()
        self.page.locator("#turn-head h2", has_text=row.locator(".name").inner_text()).wait_for()
        self.tab(tab or "prompt")

    def tab(self, name: str) -> None:
        self.page.locator(f"#tab-{name}").click()
        self.waits(
            f"location.hash.endsWith('/{name}') && !document.querySelector('#panel [aria-busy]')",
            name,
        )

    def js(self, script: str) -> Any:
        return self.page.evaluate(script)

    def waits(self, script: str, what: str) -> None:
        """Until it holds. The page's policy forbids Playwright's own way, which makes scripts of texts in the page."""
        end = time.monotonic() + PATIENCE
        while not (holds := self.js(script)) and time.monotonic() < end:
            self.page.wait_for_timeout(25)
        self.checks.that(holds, what)

    def texts(self, selector: str) -> list[str]:
        return list(self.js(f"[...document.querySelectorAll({json.dumps(selector)})].map(one => one.textContent)"))

    def shown(self) -> str:
        """The text of the tab, also where it is out of sight."""
        return str(self.js("document.querySelector('#panel').textContent"))

    def picture(self, name: str) -> None:
        if self.pictures:
            self.page.screenshot(path=str(self.pictures / f"{name}.png"))


def appears_live(bench: Bench) -> None:
    """Sessions, turns and events are there without a reload."""
    checks, page = bench.checks, bench.page
    bench.open()
    bench.waits("document.querySelector('#link').dataset.state === 'live'", "the page is connected")
    bench.waits("document.querySelector('#sessions .empty-title')?.textContent === 'No sessions yet'", "no sessions yet")
    bench.ask("first", user("Hi"))
    bench.waits("document.querySelectorAll('#sessions .row').length === 1", "a session appears")
    bench.ask("second", user("Hello"))
    bench.waits("document.querySelector('#sessions .row .name').textContent === 'second'", "the newest comes first")
    bench.ask("first", user("Again"))
    bench.waits("document.querySelector('#sessions .row .name').textContent === 'first'", "the session used last comes first")
    bench.waits("document.querySelector('#sessions .row').textContent.includes('2 turns')", "its figures change")
    wanted = bench.data("sessions")["sessions"][0]
    shown = page.locator("#sessions .row").first.inner_text()
    checks.that(f"{wanted['evaluated_tokens']:,} of {wanted['prompt_tokens']:,} evaluated" in shown, f"figures as after a reload: {shown}")
    streams(bench)


def streams(bench: Bench) -> None:
    """A reply while it is sampled: its events come one by one, and when it ends the page shows the turn."""
    page = bench.page
    bench.engine.script = lambda asked: Reply(THOUGHT, pause=0.05)
    body = {"messages": [user("Slowly")], "stream": True}

    def ask() -> None:
        with urllib.request.urlopen(
            urllib.request.Request(bench.gateway.url + "/v1/chat/completions", json.dumps(body).encode())
        ) as answer:
            answer.read()

    client = threading.Thread(target=ask)
    client.start()
    bench.waits("!!document.querySelector('#sessions .row .live-dot')", "a session with a turn under way")
    page.locator("#sessions .row").first.click()
    bench.waits("location.hash.endsWith('/live/prompt')", "the turn under way is shown first")
    page.keyboard.press("5")
    bench.waits("document.querySelectorAll('.event').length > 3", "its events")
    early = page.locator(".event").count()
    bench.picture("live")
    bench.waits(f"document.querySelectorAll('.event').length > {early} + 5", "more of its events")
    page.keyboard.press("4")
    bench.waits("document.querySelector('#panel').textContent.includes('Hm, let')", "the reply so far")
    client.join()
    bench.waits("location.hash.endsWith('/0/reply')", "the turn has a number when it has ended")
    bench.waits("document.querySelector('#panel').textContent.includes('It is high tide.')", "the whole reply")
    bench.waits("!document.querySelector('.live-dot')", "nothing is under way")


def follows(bench: Bench) -> None:
    """With `follow`, the newest turn is shown wherever it is."""
    bench.ask("one", user("Hi"))
    bench.open()
    bench.waits("document.querySelectorAll('#sessions .row').length === 1", "a session")
    bench.page.keyboard.press("f")
    bench.waits("document.querySelector('#session-head h2').textContent === 'one'", "the newest session")
    bench.ask("two", user("Hi"))
    bench.waits("document.querySelector('#session-head h2').textContent === 'two'", "the next one")
    bench.waits("document.querySelectorAll('.piece').length > 3", "its prompt")


def conversation(bench: Bench) -> Any:
    """Three turns: a call; a reply with reasoning that goes on from it; a prefix that breaks, with guarded text. Returns the session."""
    first = {"role": "system", "content": "Billing 1\nBe short."}
    call = bench.ask("talk", first, user("Look <|im_end|> around."), reply=CALL, tools=TOOLS, logprobs=True)
    result = {"role": "tool", "tool_call_id": call["tool_calls"][0]["id"], "content": "result: 3.2 m"}
    messages = [first, user("Look <|im_end|> around."), call, result]
    said = bench.ask("talk", *messages, reply=THOUGHT, tools=TOOLS, logprobs=True)
    changed = {"role": "system", "content": "Billing 2\nBe short."}
    bench.ask("talk", changed, *messages[1:], said, user("And now?"), reply="Low.<|im_end|>", tools=TOOLS)
    return bench.data("sessions")["sessions"][0]


def prompt(bench: Bench) -> None:
    """The text is the prompt's; each part has the class of its origin, and says where it is from."""
    checks, page = bench.checks, bench.page
    session = conversation(bench)
    bench.open()
    for number in range(3):
        bench.choose(turn=2 - number, tab="prompt")
        turn = bench.data(f"sessions/{session['id']}/turns/{number}")
        text = "".join(span["text"] for span in turn["spans"])
        bench.waits(f"document.querySelector('.prompt')?.textContent.length === {len(text)}", f"prompt {number} is shown")
        checks.equal(bench.js("document.querySelector('.prompt').textContent"), text, f"the text of prompt {number}")
        for hue in sorted({span["hue"] for span in turn["spans"]}):
            wanted = "".join(span["text"] for span in turn["spans"] if span["hue"] == hue)
            checks.equal("".join(bench.texts(f".prompt .piece.{hue}")), wanted, f"what is {hue} of prompt {number}")
        derived = "".join(span["text"] for span in turn["spans"] if span["origin"] == "derived")
        checks.equal("".join(bench.texts(".prompt .piece.derived")), derived, f"what is derived of prompt {number}")
    colours = {
        hue: bench.js(f"getComputedStyle(document.querySelector('.piece.{hue}')).backgroundColor")
        for hue in ("system", "user", "assistant", "tool")
    }
    checks.equal(len({*colours.values(), "rgba(0, 0, 0, 0)"}), 5, f"each origin has a colour of its own: {colours}")
    page.locator(".piece.user", has_text="Look").first.hover()
    checks.that("messages[1].content" in page.locator("#detail").inner_text(), "pointing at a part says its path")
    page.locator(".piece.control").first.hover()
    checks.that("template, line" in page.locator("#detail").inner_text(), "pointing at the template's says its line")
    page.locator(".legend button", has_text="user").click()
    checks.equal(
        bench.js("getComputedStyle(document.querySelector('.piece.user')).backgroundColor"),
        "rgba(0, 0, 0, 0)",
        "a colour that is switched off",
    )
    checks.that(
        bench.texts(".piece[data-cut]") and page.locator(".piece[data-cut='the prefix broke here']").count() == 1, "where the prefix broke"
    )


def tokens_and_masks(bench: Bench) -> None:
    checks, page = bench.checks, bench.page
    session = conversation(bench)
    bench.open()
    bench.choose(turn=1, tab="tokens")
    turn = bench.data(f"sessions/{session['id']}/turns/1")
    shown = bench.js(
        "[...document.querySelectorAll('.token')].map(one => [Number(one.dataset.id), one.matches('.is-control'), one.matches('.reused')])"
    )
    checks.equal(
        shown,
        [[one["id"], one.get("control", False), one.get("reused", False)] for one in turn["tokens"]],
        "ids, control tokens, reused tokens",
    )
    look = {
        kind: bench.js(f"getComputedStyle(document.querySelector('.token.{kind}:not(.is-control)')).backgroundColor")
        for kind in ("reused", "new")
    }
    checks.that(look["reused"] != look["new"], "new tokens look other than reused ones")
    checks.that(bench.js("getComputedStyle(document.querySelector('.token.is-control')).boxShadow") != "none", "control tokens are marked")
    page.locator(".toolbar .choice", has_text="ids").click()
    first = json.dumps(str(turn["tokens"][0]["id"]))
    checks.equal(bench.js("getComputedStyle(document.querySelector('.token'), '::after').content"), first, "ids below the tokens")
    page.locator(".token.is-control").first.hover()
    said = page.locator("#detail").inner_text()
    checks.that(f"id {turn['tokens'][0]['id']}" in said and "control token" in said, f"pointing at a token: {said}")
    bench.picture("tokens")
    bench.tab("masks")
    kinds = bench.js("[...document.querySelectorAll('.token')].map(one => one.className.match(/kind-(\\w+)/)[1])")
    checks.equal(kinds, [one["kind"] for one in turn["sampled_tokens"]], "kinds of sampled tokens")
    reasoning = kinds.count("reasoning")
    checks.that(f"learns {len(kinds)} sampled tokens of {len(kinds)}" in page.locator(".said").inner_text(), "what training learns")
    page.locator(".legend button", has_text="reasoning").click()
    checks.that(f"learns {len(kinds) - reasoning} sampled tokens" in page.locator(".said").inner_text(), "what it learns without reasoning")
    page.locator(".token").first.hover()
    checks.that("logprob -0.500" in page.locator("#detail").inner_text(), "pointing at a sampled token says its logprob")
    bench.picture("masks")


def reply_events_grammar(bench: Bench) -> None:
    checks, page = bench.checks, bench.page
    session = conversation(bench)
    bench.open()
    bench.choose(turn=2, tab="reply")
    said = bench.shown()
    checks.that("look" in said and '"at": "Köln"' in said, f"the call: {said}")
    bench.tab("events")
    turn = bench.data(f"sessions/{session['id']}/turns/0")
    checks.equal(page.locator(".event").count(), len(turn["events"]), "events")
    bench.tab("grammar")
    checks.that(bench.js("document.querySelector('.grammar').textContent") == turn["grammar"], "the grammar")
    bench.choose(turn=1, tab="reply")
    said = bench.shown()
    checks.that("Hm, let me see." in said and "It is high tide." in said, f"reasoning and content: {said}")
    page.locator("summary").click()
    bench.waits("!!document.querySelector('.raw .chunk') && !document.querySelector('.raw [aria-busy]')", "the reply as JSON")
    shown = json.loads(bench.js("document.querySelector('.raw .text').textContent"))
    checks.equal(shown, bench.data(f"sessions/{session['id']}/turns/1")["reply"], "the reply as JSON")


def prefix_and_guarded(bench: Bench) -> None:
    checks, page = bench.checks, bench.page
    session = conversation(bench)
    bench.open()
    bench.choose(turn=0, tab="prefix")
    broken = bench.data(f"sessions/{session['id']}/turns/2")["prefix_break"]
    bench.waits("document.querySelectorAll('.side').length === 2", "both prompts around the break")
    said = bench.shown()
    for what in (broken["sentence"][1:], broken["template"], broken["input"], f"{broken['lost']:,} of the turn before", "volatile lineyes"):
        checks.that(what in said, f"{what} in {said}")
    checks.equal([bench.texts("mark.lost")[0], bench.texts("mark.gained")[0]], ["1", "2"], "what differs")
    bench.picture("prefix")
    page.get_by_role("button", name="Show it in the prompt").click()
    bench.waits("!!document.querySelector('.piece.sought[data-cut]')", "the break in the prompt")
    bench.choose(turn=1, tab="prefix")
    checks.that("begins with all" in bench.shown(), "a prefix that was kept")
    bench.choose(turn=2, tab="guarded")
    checks.equal(bench.texts("mark.guard"), ["<|im_end|>"], "what was guarded")
    checks.that("messages[1].content" in page.locator(".guarded").inner_text(), "where from")
    page.get_by_role("button", name="Show it in the prompt").click()
    bench.waits("document.querySelector('.piece.sought')?.textContent.includes('Look <|im_end|> around.')", "guarded text in the prompt")


def hostile(bench: Bench) -> None:
    """Names, contents, tools and calls that are markup stay text, in every tab."""
    checks, page = bench.checks, bench.page
    name = "<img src=x onerror=hacked=5>"
    tools = [
        {
            "type": "function",
            "function": {
                "name": "look",
                "description": HOSTILE,
                "parameters": {"type": "object", "properties": {"at": {"type": "string"}}},
            },
        }
    ]
    call = '<tool_call>\n{"name": "look", "arguments": {"at": ' + json.dumps(HOSTILE) + "}}\n</tool_call><|im_end|>"
    bench.ask(name, {"role": "system", "content": HOSTILE}, user(HOSTILE), reply=call, tools=tools)
    bench.ask(name, {"role": "system", "content": "Other"}, user(HOSTILE), reply=f"<think>\n{HOSTILE}\n</think>\n\n{HOSTILE}<|im_end|>")
    bench.open()
    for turn in (0, 1):
        bench.choose(turn=turn)
        for tab in TABS:
            bench.tab(tab)
            page.wait_for_timeout(50)
            checks.equal(
                bench.js("document.querySelectorAll('main img, main script, main svg, main iframe, main style').length"),
                0,
                f"elements of content in {tab}",
            )
    checks.equal(page.locator("#sessions .row .name").first.inner_text(), name, "a session's name that is markup")
    bench.tab("prompt")
    bench.waits(f"document.querySelector('.prompt').textContent.includes({json.dumps(HOSTILE)})", "markup as text")
    checks.equal(bench.js("window.hacked ?? null"), None, "nothing has run")
    refused = bench.js("""() => { try { document.body.innerHTML = '<b>x</b>'; return 'made'; } catch { return 'refused'; } }""")
    checks.equal(refused, "refused", "markup of a text is refused by the browser itself")
    bench.js("window.refused.length = 0")


def keyboard(bench: Bench) -> None:
    checks, page = bench.checks, bench.page
    for name in ("a", "b", "c"):
        bench.ask(name, user(f"I am {name}"))
    bench.ask("c", user("I am c"), user("Again"))
    bench.open()
    bench.waits("document.querySelectorAll('#sessions .row').length === 3", "three sessions")
    chosen = "document.querySelector('#sessions [aria-selected=true] .name')?.textContent"
    for keys, wanted in (("j", "c"), ("j", "b"), ("ArrowDown", None), ("j", "a"), ("j", "a"), ("k", "b"), ("k", "c")):
        page.keyboard.press(keys)
        if wanted:
            bench.waits(f"{chosen} === '{wanted}'", f"{keys} chooses {wanted}")
    page.keyboard.press("Escape")
    checks.equal(bench.js("document.activeElement.getAttribute('aria-label')"), "Sessions", "Escape goes to the sessions")
    page.keyboard.press("ArrowDown")
    bench.waits(f"{chosen} === 'b'", "an arrow in the list")
    page.keyboard.press("Home")
    bench.waits(f"{chosen} === 'c'", "Home in the list")
    page.keyboard.press("Enter")
    checks.equal(bench.js("document.activeElement.getAttribute('aria-label')"), "Turns", "Enter goes to the turns")
    bench.waits("document.querySelectorAll('#turns .row').length === 2", "its turns")
    page.keyboard.press("j")
    bench.waits("location.hash.endsWith('/0/prompt')", "j chooses the next turn")
    bench.waits("document.querySelector('.prompt')?.textContent.includes('I am c')", "its prompt")
    page.keyboard.press("Enter")
    checks.that(bench.js("document.activeElement.matches('.prompt')"), "Enter goes into the prompt")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    checks.that(
        bench.js("document.querySelectorAll('.pointed').length === 1 && document.querySelector('#detail').textContent !== ''"),
        "arrows go from part to part",
    )
    for number, tab in enumerate(TABS):
        page.keyboard.press(str(number + 1))
        bench.waits(
            f"document.querySelector('#tab-{tab}').getAttribute('aria-selected') === 'true' && location.hash.endsWith('/{tab}')",
            f"{number + 1} is {tab}",
        )
    page.locator("#tab-guarded").focus()
    page.keyboard.press("ArrowRight")
    bench.waits("document.activeElement.id === 'tab-prompt'", "an arrow between tabs")
    page.keyboard.press("/")
    checks.equal(bench.js("document.activeElement.id"), "filter", "/ goes to the filter")
    page.keyboard.type("b")
    bench.waits("document.querySelectorAll('#sessions .row').length === 1", "the filter")
    page.keyboard.press("Escape")
    bench.waits("document.querySelectorAll('#sessions .row').length === 3", "Escape ends it")
    page.keyboard.press("?")
    checks.that(page.locator("#help").is_visible(), "? shows the keys")
    page.keyboard.press("j")
    page.keyboard.press("Escape")
    checks.that(not page.locator("#help").is_visible(), "Escape closes them")
    by_tab_alone(bench)


def by_tab_alone(bench: Bench) -> None:
    checks, page = bench.checks, bench.page
    bench.open()
    bench.waits("document.querySelectorAll('#sessions .row').length === 3", "three sessions")
    page.keyboard.press("j")
    bench.waits("!!document.querySelector('.prompt')", "a prompt")
    page.locator("#skip").focus()
    reached, outlined = [], True
    for _ in range(24):
        reached.append(
            bench.js("document.activeElement.id || document.activeElement.getAttribute('aria-label') || document.activeElement.className")
        )
        outlined = outlined and bench.js(
            "document.activeElement === document.body || getComputedStyle(document.activeElement).outlineStyle !== 'none'"
        )
        page.keyboard.press("Tab")
    for wanted in ("skip", "follow", "theme", "help-button", "filter", "Sessions", "Turns", "tab-prompt"):
        checks.that(wanted in reached, f"Tab reaches {wanted}: {reached}")
    checks.that(any(one.startswith("The prompt.") for one in reached), f"Tab reaches the prompt: {reached}")
    checks.that(outlined, "what has the focus is outlined")
    checks.equal(bench.js("namelessControls()"), [], "each control has a name")


def looks(bench: Bench) -> None:
    """Contrast in both modes, in every tab; the mode that was chosen is kept; narrow screens; reduced motion."""
    checks, page = bench.checks, bench.page
    conversation(bench)
    bench.ask("broken", user("Hi"), reply='<tool_call>\n{"name": "look", "arguments": {"at"}}\n</tool_call><|im_end|>', tools=TOOLS)
    grounds = {}
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        bench.open()
        grounds[scheme] = bench.js("getComputedStyle(document.querySelector('.pane')).backgroundColor")
        for session, turn in ((0, 0), (1, 0), (1, 1)):
            bench.choose(session, turn)
            for tab in TABS:
                bench.tab(tab)
                page.wait_for_timeout(80)
                pale = bench.js("paleTexts()")
                checks.that(pale["seen"] > 30 and not pale["pale"], f"contrast in {tab}, {scheme}: {pale}")
                bench.picture(f"{scheme}_{session}{turn}_{tab}")
    checks.that(grounds["light"] != grounds["dark"], f"the system's mode: {grounds}")
    page.emulate_media(color_scheme="light")
    page.locator("#theme").click()
    page.locator("#theme").click()
    checks.equal(bench.js("getComputedStyle(document.querySelector('.pane')).backgroundColor"), grounds["dark"], "the mode that was chosen")
    page.reload()
    bench.waits("document.documentElement.dataset.theme === 'dark'", "it is kept")
    page.emulate_media(reduced_motion="reduce")
    checks.equal(
        bench.js("animationOf('live-dot')"),
        "none",
        "reduced motion",
    )
    narrow(bench)


def narrow(bench: Bench) -> None:
    checks, page = bench.checks, bench.page
    page.set_viewport_size({"width": 390, "height": 780})
    bench.open()
    page.locator("#sessions .row").nth(1).click()
    checks.equal(
        [page.locator(f"#{one}-pane").is_visible() for one in ("sessions", "turns", "turn")], [False, True, False], "one pane at a time"
    )
    page.locator("#turns .row").first.click()
    for tab in TABS:
        bench.tab(tab)
        checks.that(bench.js("document.documentElement.scrollWidth <= innerWidth"), f"{tab} fits a narrow screen")
        bench.picture(f"narrow_{tab}")
    page.locator("#back").click()
    page.locator("#back").click()
    checks.that(page.locator("#sessions-pane").is_visible(), "and back")


def deep_links(bench: Bench) -> None:
    checks, page = bench.checks, bench.page
    session = conversation(bench)
    bench.open(f"#{session['id']}/1/masks")
    bench.waits(
        "document.querySelector('#tab-masks')?.getAttribute('aria-selected') === 'true' && document.querySelectorAll('.token').length > 9",
        "a link to a tab",
    )
    checks.equal(page.locator("#turns [aria-selected=true] .name").inner_text(), "Turn 2", "of a turn")
    bench.js(f"void (location.hash = '#{session['id']}/0/reply')")
    bench.waits(
        "document.querySelector('#turn-head h2').textContent === 'Turn 1' && document.querySelector('#panel').textContent.includes('look')",
        "another link",
    )
    bench.open("#none/7/prompt")
    page.reload()
    bench.waits("document.querySelector('#panel').textContent.includes('not kept any more')", "a session that is not there")
    bench.open(f"#{session['id']}/99/prompt")
    page.reload()
    bench.waits("document.querySelector('#panel').textContent.includes('not kept any more')", "a turn that is not there")
    bench.open("#%E0%A4%A/x/y")
    page.reload()
    bench.waits("document.querySelectorAll('#sessions .row').length === 1", "a link that is none")


def long_prompt(bench: Bench) -> None:
    """A prompt of 100,000 tokens, line by line and in one line."""
    checks, page = bench.checks, bench.page
    many = LONG * 11 // 10  # the tokenizer has some longer tokens
    line = "All work and no play makes 🌊 a dull boy.\n"
    bench.ask("lines", user(line * (many // len(line.encode()))))
    bench.ask("one line", user(line.strip() * (many // len(line.encode()))))
    bench.open()
    for place, session in enumerate(bench.data("sessions")["sessions"]):
        turn = bench.data(f"sessions/{session['id']}/turns/0")
        checks.that(len(turn["tokens"]) >= LONG, f"{len(turn['tokens'])} tokens")
        begun = time.monotonic()
        bench.choose(session=place, tab="prompt")
        size = sum(len(span["text"].encode("utf-16-le")) // 2 for span in turn["spans"])
        bench.waits(f"document.querySelector('.prompt')?.textContent.length === {size}", f"the prompt in {session['session']}")
        middle = time.monotonic()
        checks.equal(bench.js("document.querySelector('.prompt').textContent"), "".join(span["text"] for span in turn["spans"]), "its text")
        page.keyboard.press("2")
        bench.waits(f"document.querySelectorAll('.token').length === {len(turn['tokens'])}", "its tokens")
        shown = time.monotonic()
        page.keyboard.press("1")
        bench.waits("!!document.querySelector('.prompt')", "back")
        print(
            f"{session['session']}: {len(turn['tokens'])} tokens; "
            f"the prompt in {middle - begun:.1f} s, its tokens in {shown - middle:.1f} s"
        )


def reconnects(bench: Bench) -> None:
    """The server goes and another one comes at its address."""
    checks, page = bench.checks, bench.page
    bench.ask("before", user("Hi"))
    bench.open()
    bench.choose()
    bench.waits("document.querySelectorAll('.piece').length > 3", "a prompt")
    port = int(bench.gateway.url.rsplit(":", 1)[1])
    bench.gateway.end()
    bench.waits("document.querySelector('#link').dataset.state === 'lost'", "the page says that the server is gone")
    checks.that(page.locator(".piece").count() > 3, "what was shown stays meanwhile")
    bench.picture("lost")
    with Gateway(bench.parlance, bench.engine.url, "--inspect", port=port) as bench.gateway:
        bench.waits("document.querySelector('#link').dataset.state === 'live'", "it connects again")
        bench.waits("document.querySelectorAll('#sessions .row').length === 0", "and shows what the new server has")
        bench.ask("after", user("Hello"))
        bench.waits("document.querySelector('#sessions .row .name')?.textContent === 'after'", "and its news")


def keys(bench: Bench) -> None:
    """A server with keys: the page asks for one, keeps it in the tab, and shows the sessions of this key."""
    checks, page = bench.checks, bench.page
    with tempfile.NamedTemporaryFile("w") as file:
        file.write("first-key\nsecond-key\n")
        file.flush()
        bench.gateway.end()
        with Gateway(bench.parlance, bench.engine.url, "--inspect", "--api-key-file", file.name) as bench.gateway:
            bench.ask("mine", user("Hi"), key="first-key")
            bench.ask("theirs", user("Hi"), key="second-key")
            bench.open()
            page.locator("#key-dialog").wait_for()
            page.keyboard.press("Escape")
            page.get_by_role("button", name="Enter it").click()
            checks.equal(page.locator("#sessions .row").count(), 0, "sessions without a key")
            page.keyboard.type("wrong")
            page.keyboard.press("Enter")
            bench.waits("document.querySelector('#key-wrong').textContent !== ''", "a wrong key")
            bench.picture("key")
            page.keyboard.type("first-key")
            page.keyboard.press("Enter")
            bench.waits("document.querySelectorAll('#sessions .row').length === 1", "the sessions of the key")
            checks.equal(page.locator("#sessions .name").inner_text(), "mine", "one's own alone")
            bench.ask("theirs", user("More"), key="second-key")
            bench.ask("mine too", user("More"), key="first-key")
            bench.waits("document.querySelectorAll('#sessions .row').length === 2", "one's own while they begin")
            checks.equal(bench.texts("#sessions .name"), ["mine too", "mine"], "one's own alone, live")
            bench.choose()
            bench.waits("document.querySelectorAll('.piece').length > 3", "a prompt")
            page.reload()
            bench.waits("document.querySelectorAll('#sessions .row').length === 2", "the tab keeps the key")
            checks.equal(
                bench.js("Object.values(localStorage).concat(document.cookie).join().includes('key')"), False, "nothing else keeps it"
            )
            page.locator("#key-button").click()
            page.keyboard.type("second-key")
            page.keyboard.press("Enter")
            bench.waits(
                "[...document.querySelectorAll('#sessions .name')].map(one => one.textContent).join() === 'theirs'",
                "another key",
            )
            checks.that("mine too" not in bench.js("document.querySelector('main').textContent"), "nothing of the first key is left")


TESTS: tuple[Callable[[Bench], None], ...] = (
    appears_live, follows, prompt, tokens_and_masks, reply_events_grammar, prefix_and_guarded, hostile, keyboard, looks, deep_links,
    long_prompt, reconnects, keys,
)  # fmt: skip


@contextlib.contextmanager
def opened(chromium: Any, checks: Checks, name: str) -> Iterator[Any]:
    """A page whose scripts must not fail."""
    context = chromium.new_context(viewport={"width": 1360, "height": 850})
    page = context.new_page()
    page.add_init_script(path=str(pathlib.Path(__file__).parent / "inspect_page.js"))
    said: list[str] = []
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("console", lambda message: said.append(message.text) if "Security" in message.text or "Trusted" in message.text else None)
    page.on("dialog", lambda dialog: said.append(dialog.message))
    yield page
    if name != "hostile":  # which makes the browser refuse something
        checks.equal(said, [], f"{name}: what scripts and the browser say")
    checks.equal(page.evaluate("window.refused"), [], f"{name}: what the page's policy refused")
    context.close()


def main() -> int:
    run_with_playwright()
    from playwright.sync_api import sync_playwright

    parser = argparse.ArgumentParser()
    parser.add_argument("parlance")
    parser.add_argument("--pictures", type=pathlib.Path)
    parser.add_argument("--only", nargs="*", default=[], help="names of tests")
    options = parser.parse_args()
    if options.pictures:
        options.pictures.mkdir(parents=True, exist_ok=True)
    checks = Checks()
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=browser(), args=OPTIONS)
        for test in TESTS:
            if options.only and test.__name__ not in options.only:
                continue
            with (
                Engine() as engine,
                Gateway(options.parlance, engine.url, "--inspect") as gateway,
                opened(chromium, checks, test.__name__) as page,
            ):
                before = len(checks.failed)
                try:
                    test(Bench(options.parlance, engine, gateway, page, checks, options.pictures))
                except Exception as error:  # something is not there to be looked at
                    checks.that(False, f"{test.__name__}: {error}")
                print(f"{test.__name__}: {'failed' if len(checks.failed) > before else 'ok'}", flush=True)
        chromium.close()
    return checks.end()


if __name__ == "__main__":
    sys.exit(main())
