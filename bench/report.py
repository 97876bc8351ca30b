"""Measured times as Markdown: a table for each metric and workload, ratios, and what differs.

Used by run.py. `times` is {(metric, size, template label, engine): [µs of each round]}; a figure is
the median over the rounds. Begin with markdown().
"""

import math
import statistics

TITLES = {
    "compile": "Compile a template",
    "render": "Render, context in the engine's own value form",
    "e2e": "End to end: JSON text in, prompt bytes out",
}
BASES = ["jinja2", "limit"]  # what the last rows compare with
HAND_WRITTEN = "hand-written"


def number(us):
    """Three digits at most: more is not in a measurement of this kind."""
    for least, digits in ((100, 0), (10, 1), (1, 2), (0.1, 3)):
        if us >= least:
            return f"{us:,.{digits}f}"
    return f"{us:.2g}"


def table(head, rows, rule="---:|"):
    lines = ["| " + " | ".join(head) + " |", "|---|" + rule * (len(head) - 1)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


class Report:
    def __init__(self, versions, cells, times):
        self.engines, self.cells = list(versions), cells
        self.median = {key: statistics.median(values) for key, values in times.items()}
        self.times = times

    def figure(self, metric, cell, engine):
        us = self.median.get((metric, cell.size, cell.label, engine))
        if us is None:
            return "–"
        return number(us) + (" ≠" if engine in cell.differs else "")

    def ratio(self, metric, cells, engine, base):
        """Geometric mean over the templates on which both are right."""
        logs = []
        for cell in cells:
            pair = [self.median.get((metric, cell.size, cell.label, e)) for e in (engine, base)]
            if None not in pair and engine not in cell.differs:
                logs.append(math.log(pair[0] / pair[1]))
        return f"**{number(math.exp(statistics.fmean(logs)))}**" if logs else "–"

    def section(self, metric, size):
        cells = [c for c in self.cells if c.size == size]
        engines = [
            e for e in self.engines if any((metric, size, c.label, e) in self.median for c in cells)
        ]
        if not engines:
            return []
        rows = []
        for cell in cells:
            name = cell.label if cell.workload == size else f"{cell.label} ({cell.workload})"
            rows.append([name] + [self.figure(metric, cell, e) for e in engines])
        for base in BASES:
            if base in engines:
                rows.append(
                    [f"**× {base}**"] + [self.ratio(metric, cells, e, base) for e in engines]
                )
        title = f"### {TITLES[metric]} (µs)" + (f": {size}" if metric != "compile" else "")
        return [title, table(["template"] + engines, rows)]

    def times_hand(self, cell, engine, base):
        us = self.median.get(("e2e", cell.size, cell.label, engine))
        return "–" if us is None else f"{self.figure('e2e', cell, engine)} ({us / base:.2f} ×)"

    def against_hand(self):
        """End to end on the one format that is written by hand."""
        rows = []
        for cell in self.cells:
            base = self.median.get(("e2e", cell.size, cell.label, HAND_WRITTEN))
            if base is not None:
                rows.append([cell.size] + [self.times_hand(cell, e, base) for e in self.engines])
        if not rows:
            return []
        return [
            "### End to end against the hand-written renderer (µs)",
            table(["workload"] + self.engines, rows),
        ]

    def differences(self):
        lines = []
        for cell in self.cells:
            for kind, what in (("fails", cell.failed), ("differs", cell.differs)):
                for engine, sentence in what.items():
                    # One format is the whole job of the hand-written renderer.
                    if engine != HAND_WRITTEN or "by hand" not in sentence:
                        first = sentence.splitlines()[0][:120].replace("|", "\\|")
                        lines.append([engine, f"{cell.label}, {cell.workload}", kind, first])
        if not lines:
            return ["Every output is byte-equal to Jinja2's."]
        return [
            "### What differs from Jinja2 (≠) or fails (–)",
            table(["engine", "template, workload", "", "what"], lines, "---|"),
        ]

    def spread(self):
        """How far the rounds lie apart: half of their range, as a share of the median."""
        shares = sorted(
            (max(v) - min(v)) / 2 / self.median[k] for k, v in self.times.items() if len(v) > 1
        )
        if not shares:
            return []
        return [
            "Spread of the rounds (half their range): "
            f"{shares[len(shares) // 2]:.1%} in the middle, "
            f"{shares[int(len(shares) * 0.9)]:.1%} at the 90th percentile."
        ]


def markdown(about, versions, cells, times):
    report = Report(versions, cells, times)
    parts = [about, table(["engine", "version"], [[e, v] for e, v in versions.items()], "---|")]
    sizes = list(dict.fromkeys(c.size for c in cells))
    for metric in TITLES:
        for size in sizes:
            parts += report.section(metric, size)
    parts += report.against_hand() + report.differences() + report.spread()
    return "\n\n".join(parts)
