"""The Python side of the benchmark's protocol (../README.md): an engine is an object with load() and an operation a metric.

An engine has `version`, load(command) for files to memory, and compile(), render() or e2e(), whichever it can; e2e() gives bytes.
Begin with serve().
"""

import json
import statistics
import sys
import time

SAMPLE_S = 20e-6
MIN_SAMPLES = 3


def run_batch(operation, count):
    start = time.perf_counter()
    for _ in range(count):
        operation()
    return time.perf_counter() - start


def measure(operation, min_s):
    batch = 1
    while run_batch(operation, batch) < SAMPLE_S:
        batch *= 2
    samples, total = [], 0.0
    while total < min_s or len(samples) < MIN_SAMPLES:
        took = run_batch(operation, batch)
        samples.append(took / batch)
        total += took
    return {"ns_per_op": statistics.median(samples) * 1e9, "ops": batch * len(samples)}


def obey(engine, command):
    name = command["cmd"]
    if name == "hello":
        return {"version": engine.version}
    if name == "load":
        engine.load(command)
    elif name == "bench":
        return measure(getattr(engine, command["metric"]), command.get("min_ms", 50) / 1e3)
    elif name == "output":
        with open(command["to"], "wb") as f:
            f.write(engine.e2e())
    return {"ok": True}


def serve(engine):
    for line in sys.stdin:
        try:
            reply = obey(engine, json.loads(line))
        except Exception as e:  # a template may fail in any way; that is an answer
            reply = {"error": f"{type(e).__name__}: {e}"}
        print(json.dumps(reply), flush=True)
