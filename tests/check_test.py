#!/usr/bin/env python3
"""What `parlance check` says of every template: check_test.py PARLANCE [--seeds N] [--count N] [--every N]

Of the formats, of tests/templates/families and of the corpus (where there is one): a format that is said to be verified breaks no law.
Prints what is broken, with the request and the reply. Begin reading at main.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import written_replies

ROOT = pathlib.Path(__file__).resolve().parent.parent


def check(program, template, seed, count):
    done = subprocess.run([program, "check", *template, "--seed", str(seed), "--count", str(count), "--json"], capture_output=True, text=True)
    return json.loads(done.stdout) if done.stdout else {"verdict": "error", "laws": [], "missing": [done.stderr]}


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("program")
    arguments.add_argument("--seeds", type=int, default=1)
    arguments.add_argument("--count", type=int, default=200)
    arguments.add_argument("--every", type=int, default=1, help="take one template in so many")
    options = arguments.parse_args()
    corpus = pathlib.Path(os.environ.get("PARLANCE_CORPUS", ROOT.parent / "shared" / "corpus"))
    trials = [(name, told, seed) for name, told in list(written_replies.templates(ROOT, corpus))[::options.every] for seed in range(1, options.seeds + 1)]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        reports = list(pool.map(lambda trial: check(options.program, trial[1], trial[2], options.count), trials))
    faults, verified = [], set()
    for (name, _, seed), report in zip(trials, reports):
        if report["verdict"] == "error":
            faults.append(f"{name}: {report['missing'][0]}")
        if report["verdict"] != "verified":
            continue
        verified.add(name)
        faults += [f"{name}, seed {seed}: {law['law']}: {law['example']}" for law in report["laws"] if law["outcome"] == "broken"]
    for fault in faults:
        print(fault)
    print(f"{len({name for name, _, _ in trials})} templates, {len(verified)} verified, {len(faults)} laws broken")
    sys.exit(1 if faults or not verified else 0)


if __name__ == "__main__":
    main()
