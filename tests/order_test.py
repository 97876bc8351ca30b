#!/usr/bin/env python3
"""Results in another order than their calls, on every template: what the loss `order` says, and what the pass order-results does.

    order_test.py path/to/parlance [--show N] [--share N] [TEMPLATE...]

Templates: tests/templates/families, formats/, and the corpus (PARLANCE_CORPUS, or ../shared/corpus beside the tree) where there is one,
Go's too. Three calls have their results in each order. A loss is told exactly where two results stand in the wrong order, the prompt
stays the same if they exchange what names their calls, and is another if they change places. With the pass there is no such loss, the
prompt is that of the conversation in order, and each text has the path that the request gives it. Begin reading at faults_of.
"""

import collections
import itertools
import json
import subprocess
import sys

from template_files import law_arguments

ORDERS = list(itertools.permutations(range(3)))
IN_ORDER = ORDERS[0]
FIRST = 2  # the number of the first result's message
WORDS = ["wordzero", "wordone", "wordtwo"]
# What names the calls of each of three results: a name for the call of that number, whether calls have ids, whether results have names.
NAMINGS = {
    "ids": (lambda number: "look", True, False),
    "ids and one name": (lambda number: "look", True, True),
    "ids and names": (lambda number: f"look{number}", True, True),
    "names": (lambda number: f"look{number}", False, True),
    "two of a name": (lambda number: f"look{number // 2}", True, True),
}


def request_of(naming, contents, calls):
    """`contents`: the numbers of the texts, in their order. `calls`: those of the calls that they say to answer."""
    name, has_ids, has_names = NAMINGS[naming]
    made = [{"type": "function", "function": {"name": name(number), "arguments": {"at": str(number)}}} for number in range(3)]
    results = [{"role": "tool", "content": WORDS[number]} for number in contents]
    for result, number in zip(results, calls):
        if has_ids:
            made[number]["id"] = result["tool_call_id"] = f"abcdefgh{number}"
        if has_names:
            result["name"] = name(number)
    tools = [{"type": "function", "function": {"name": one, "description": "d", "parameters": {"type": "object", "properties": {"at": {"type": "string"}}}}}
             for one in sorted({name(number) for number in range(3)})]
    return {"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "", "tool_calls": made}, *results], "tools": tools}


def render(program, path, lines, *options):
    command = [program, "render", "-t", str(path), "--jsonl", "--json", "--now", "2026-03-14", *options]
    done = subprocess.run(command, input="".join(json.dumps(line) + "\n" for line in lines), capture_output=True, text=True)
    return [json.loads(line) for line in done.stdout.split("\n")[:-1]]


def swapped(order, one, other):
    made = list(order)
    made[one], made[other] = made[other], made[one]
    return tuple(made)


def confused(texts, order):
    """Numbers of results that stand in front of one of an earlier call, where the prompt says of neither which call it answers."""
    given = texts[order, order]
    for one, other in itertools.combinations(range(3), 2):
        changed = swapped(order, one, other)
        if order[one] > order[other] and given is not None and texts[order, changed] == given and texts[changed, changed] not in (None, given):
            yield one


def losses_of_order(answer):
    return [loss for loss in answer.get("losses", []) if loss["subject"] == "order"]


def faults_of_pass(order, answer, right):
    """Of a conversation in this order, with the pass; `right` is that in order."""
    if ("error" in answer) != ("error" in right):
        yield f"refused: {answer.get('error')}, and in order: {right.get('error')}"
    if "error" in answer:
        return
    if answer["text"] != right["text"]:
        yield "the prompt is not that of the conversation in order"
    if losses_of_order(answer):
        yield f"told with the pass: {losses_of_order(answer)}"
    moved = {f"messages[{FIRST + place}]: moved, in the order of the calls (order-results)" for place in range(3) if order[place] != place}
    if {note for note in answer["notes"] if "order-results" in note} != moved:
        yield f"notes are {answer['notes']}"
    text = answer["text"].encode()
    for span in answer["spans"]:
        for place in range(3):
            said = text[span["begin"]:span["end"]].decode(errors="replace")
            if span.get("path") == f"messages[{FIRST + place}].content" and WORDS[order[place]] not in said:
                yield f"{said!r} has the path {span['path']}"


def faults_of(program, path, naming, counts):
    pairs = list(itertools.product(ORDERS, ORDERS))
    answers = dict(zip(pairs, render(program, path, [request_of(naming, *pair) for pair in pairs])))
    texts = {pair: answer.get("text") for pair, answer in answers.items()}
    passed = render(program, path, [request_of(naming, order, order) for order in ORDERS], "--pass", "order-results")
    if len(texts) != len(pairs) or len(passed) != len(ORDERS):
        yield "no answers"
        return
    for order, with_pass in zip(ORDERS, passed):
        answer, wrong = answers[order, order], set(confused(texts, order))
        told = losses_of_order(answer)
        counts["conversations"] += 1
        counts["told"] += bool(told)
        if bool(told) != bool(wrong) or len(told) > 1:
            yield f"{order}: told {told}, wrong {wrong}"
        elif told and (told[0]["path"] not in {f"messages[{FIRST + place}]" for place in wrong} or "order-results" not in told[0]["hint"]):
            yield f"{order}: told {told}, wrong {wrong}"
        for fault in faults_of_pass(order, with_pass, answers[IN_ORDER, IN_ORDER]):
            yield f"{order}: {fault}"


def main():
    args = law_arguments(go=True)
    counts, total, telling = collections.Counter(), 0, set()
    for path in args.chosen:
        for naming in NAMINGS:
            before = counts["told"]
            faults = list(faults_of(args.program, path, naming, counts))
            total += len(faults)
            if counts["told"] > before:
                telling.add(path)
            for fault in faults[: args.show]:
                print(f"{path.stem}: {naming}: {fault}")
    print(f"{len(args.chosen)} templates, {counts['conversations']} conversations, {counts['told']} told with {len(telling)} templates; {total} faults")
    return 1 if total or (not telling and not args.templates) else 0


if __name__ == "__main__":
    sys.exit(main())
