#!/usr/bin/env python3
"""Writes the benchmark's conversations as JSON contexts: `workloads.py FOLDER`.

  S        a system and a user message, 355 bytes or so
  M, M1    an agent at work: 30 messages, 10 tools, about 20 KB
  L, L1    the same for longer: 400 messages, 20 tools, about 1 MB (tool results of some KB)

In the "1" variants a message has one tool call at most, for templates that refuse several. Text is
English, Chinese and program text from a fixed seed; call arguments are objects; floats always have
a fraction, since what becomes of 1.0 is a question of conformance and not of speed. The JSON is
compact UTF-8, as the body of a request arrives. Begin with write_all().
"""

import json
import pathlib
import random
import sys

# A sentence is one entry of each column.
SUBJECTS = [
    "The ferry timetable",
    "Our tide gauge",
    "The harbour master",
    "Each sensor on the pier",
    "The nightly import",
    "A second reading",
    "The old chart",
    "Nobody on the quay",
    "The crane's controller",
    "This week's forecast",
]
ACTIONS = [
    "reports",
    "does not mention",
    "was checked against",
    "depends on",
    "arrived before",
    "disagrees with",
    "still waits for",
    "replaces",
    "will be compared with",
]
OBJECTS = [
    "the water level at noon",
    "two missing samples",
    "the list of berths & moorings",
    "a table nobody had sorted",
    "the message \"gate open\"",
    "wind from the <north-west>",
    "the draught of every ship",
    "the figures for March",
    "a clock that is 40 s late",
    "the settings in harbour.toml",
]
ENDINGS = [
    ".",
    ".",
    ".",
    ", so please look again.",
    "; that's expected.",
    " (see page 12).",
    "?",
    ", which is why the alarm rang.",
    "!",
]
CHINESE = [
    "潮位计每十分钟上报一次数据",
    "第三号泊位今天下午空闲",
    "请核对船舶名单并标出重复项",
    "风速超过警戒值时起重机会自动停机",
    "昨晚的导入任务少了两条记录",
    "附件里是三月份的统计表",
    "如果时钟不准,所有时间戳都要修正",
    "我先查看配置再给出建议",
    "结果已经按吃水深度排序",
]
CODE = [
    "fn level(samples: &[f64]) -> Option<f64> {",
    "    samples.iter().copied().reduce(f64::max)",
    "}",
    "with open(\"tides.csv\", newline=\"\") as rows:",
    "    table = {r[0]: float(r[1]) for r in csv.reader(rows)}",
    "if (!gauge || gauge->state != State::kReady) return -1;",
    "\tlog.Printf(\"berth %d: %s\\n\", id, ship.Name)",
    "UPDATE berths SET ship = NULL WHERE left_at < now() - interval '1 hour';",
    "const late = ships.filter(s => s.eta > s.planned && !s.waived);",
    "echo \"$name\" | tr -d '\\r' >> names.txt",
    "<li data-berth=\"7\">MS Aurora &amp; crew</li>",
    "assert round(depth, 2) == 11.25, f\"depth is {depth!r}\"",
]
OUTPUT = [
    "{a:02d}:{b:02d} gauge-{c} level={d}.{a} m trend=rising",
    "-rw-rw-r-- 1 pilot quay {d:7d} Apr {b:2d} chart_{c}.dat",
    "[{c}/{b}] checking berth {d} ... ok",
    "warning: row {d} of tides.csv has {c} columns, wanted 9",
    "ship {d} \"Aurora {b}\" draught {c}.{a} m berth {a}",
    "    at Harbour.assign (harbour.js:{d}:{b})",
    "{{\"berth\":{c},\"free\":true,\"since\":\"2025-04-{b:02d}T0{c}:00:00Z\"}}",
    "\x1b[32mpass\x1b[0m  berth_{d}_is_free ({c} ms)",
]
TOOL_VERBS = [
    "get",
    "find",
    "book",
    "cancel",
    "measure",
    "plot",
    "notify",
    "convert",
    "sort",
    "archive",
    "open",
    "close",
    "assign",
    "inspect",
    "forecast",
    "count",
    "sample",
    "reserve",
    "lookup",
    "sync",
]
TOOL_THINGS = ["berth", "ship", "tide", "crane", "chart", "pilot", "alarm", "cargo"]
PARAMETERS = [
    "name",
    "since",
    "until",
    "unit",
    "depth",
    "max_rows",
    "dry_run",
    "tags",
    "order",
    "station",
    "reason",
    "verbose",
]
STRINGS = [
    "MS Aurora",
    "ls -l \"charts/April 2025\" | wc -l",
    "三号泊位",
    "north < south && tide > 2",
    "harbour/berths.toml",
]


class Writer:
    """Draws everything from one random sequence."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def fill(self, piece, size, joint):
        """Pieces until there are `size` bytes."""
        pieces, have = [], 0
        while have < size:
            pieces.append(piece())
            have += len(pieces[-1].encode()) + len(joint)
        return joint.join(pieces)

    def sentence(self):
        pick = self.random.choice
        return f"{pick(SUBJECTS)} {pick(ACTIONS)} {pick(OBJECTS)}{pick(ENDINGS)}"

    def english(self, size):
        return self.fill(self.sentence, size, " ")

    def chinese(self, size):
        return self.fill(
            lambda: self.random.choice(CHINESE) + self.random.choice("。。!?"), size, ""
        )

    def code(self, size):
        return self.fill(lambda: self.random.choice(CODE), size, "\n")

    def output(self, size):
        def line():
            r = self.random.randint
            return self.random.choice(OUTPUT).format(
                a=r(0, 23), b=r(1, 28), c=r(1, 9), d=r(100, 99999)
            )

        return self.fill(line, size, "\n")

    def rows(self, size):
        def row():
            r = self.random.randint
            return json.dumps(
                {
                    "ship": f"Aurora {r(1, 99)}",
                    "berth": r(1, 40),
                    "depth": r(20, 99) + 0.5,
                    "note": self.sentence(),
                    "flags": ["late", "pilot"],
                }
            )

        return "[" + self.fill(row, size, ",\n ") + "]"

    def speech(self, size):
        kind = self.random.randrange(10)
        if kind < 6:
            return self.english(size)
        if kind < 8:
            return self.chinese(size)
        return f"{self.english(size // 2)}\n\n```\n{self.code(size // 2)}\n```\n\n好的 👍"

    def result(self, size):
        kind = self.random.randrange(10)
        make = (
            self.output
            if kind < 5
            else self.code if kind < 7 else self.rows if kind < 9 else self.chinese
        )
        return make(size)

    def parameter(self, kind):
        schema = {"type": kind, "description": self.sentence()}
        if kind == "string" and self.random.random() < 0.3:
            schema["enum"] = ["asc", "desc", "none"]
        elif kind == "array":
            schema["items"] = {"type": "string"}
        elif kind == "integer":
            schema["default"] = self.random.randint(1, 500)
        elif kind == "number":
            schema["maximum"] = self.random.randint(1, 60) + 0.75
        return schema

    def tool(self, index):
        names = self.random.sample(PARAMETERS, self.random.randint(3, 5))
        kinds = ["string"] + [
            self.random.choice(["string", "integer", "number", "boolean", "array"])
            for _ in names[1:]
        ]
        properties = {name: self.parameter(kind) for name, kind in zip(names, kinds)}
        remark = "仅限港口人员使用。" if self.random.random() < 0.3 else self.sentence()
        return {
            "type": "function",
            "function": {
                "name": f"{TOOL_VERBS[index]}_{self.random.choice(TOOL_THINGS)}",
                "description": f"{self.sentence()} {remark}",
                "parameters": {"type": "object", "properties": properties, "required": names[:2]},
            },
        }

    def argument(self, kind):
        r = self.random
        values = {
            "string": lambda: r.choice(STRINGS + [self.sentence()]),
            "integer": lambda: r.randint(0, 9999),
            "number": lambda: r.randint(0, 300) + 0.125,
            "boolean": lambda: r.random() < 0.5,
            "array": lambda: ["夜班", "pier 4"],
        }
        return values[kind]()

    def call(self, tools, number):
        function = self.random.choice(tools)["function"]
        properties = list(function["parameters"]["properties"].items())
        used = properties[: self.random.randint(1, len(properties))]
        arguments = {name: self.argument(schema["type"]) for name, schema in used}
        return {
            "id": f"call_{number:06d}",
            "type": "function",
            "function": {"name": function["name"], "arguments": arguments},
        }

    def step(self, tools, number, sizes, parallel):
        """An assistant message with calls, and their results."""
        count = 2 if parallel and self.random.random() < 0.2 else 1
        calls = [self.call(tools, number + i) for i in range(count)]
        message = {
            "role": "assistant",
            "content": self.sentence() if self.random.random() < 0.4 else "",
            "tool_calls": calls,
        }
        if self.random.random() < 0.5:
            message["reasoning_content"] = self.english(sizes["speech"])
        factors = [self.random.choice([0.25, 0.5, 1, 1, 1.5]) for _ in calls]
        results = [
            {
                "role": "tool",
                "tool_call_id": call["id"],
                "name": call["function"]["name"],
                "content": self.result(int(sizes["result"] * factor)),
            }
            for call, factor in zip(calls, factors)
        ]
        return [message] + results

    def answer(self, size):
        thought = (
            f"<think>\n{self.english(size)}\n</think>\n\n" if self.random.random() < 0.3 else ""
        )
        return {"role": "assistant", "content": thought + self.speech(size)}

    def chat(self, messages, tools, sizes, parallel):
        """A system message, rounds of question, steps and answer, and a last question."""
        tools = [self.tool(i) for i in range(tools)]
        chat = [
            {
                "role": "system",
                "content": "You look after a harbour and answer with care.\n" + self.english(220),
            }
        ]
        number = 0
        while len(chat) < messages - 1:
            chat.append({"role": "user", "content": self.speech(sizes["speech"])})
            for _ in range(self.random.randint(3, 6)):
                if len(chat) < messages - 5:
                    step = self.step(tools, number, sizes, parallel)
                    number += len(step) - 1
                    chat += step
            chat.append(self.answer(sizes["speech"]))
        chat = chat[: messages - 1] + [{"role": "user", "content": self.speech(sizes["speech"])}]
        return context(chat, tools)


def context(messages, tools=()):
    return {
        "messages": messages,
        **({"tools": list(tools)} if tools else {}),
        "add_generation_prompt": True,
        "bos_token": "<|bos|>",
        "eos_token": "<|eos|>",
    }


def small():
    return context(
        [
            {
                "role": "system",
                "content": "You answer questions about the harbour. "
                "Be short, and stay with the facts.",
            },
            {
                "role": "user",
                "content": "When is the next \"spring tide\"? 请同时用中文回答。 "
                "Give the time & the height in metres, and say where you've got it from.",
            },
        ]
    )


def write_all(folder):
    workloads = {"S": small()}
    for suffix, parallel in (("", True), ("1", False)):
        workloads["M" + suffix] = Writer(11).chat(30, 10, {"result": 420, "speech": 240}, parallel)
        workloads["L" + suffix] = Writer(12).chat(
            400, 20, {"result": 5300, "speech": 500}, parallel
        )
    folder.mkdir(parents=True, exist_ok=True)
    for name, value in workloads.items():
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
        (folder / f"{name}.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: workloads.py FOLDER")
    write_all(pathlib.Path(sys.argv[1]))
