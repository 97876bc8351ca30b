#!/usr/bin/env python3
"""Importing parlance pulls in neither numpy nor transformers nor torch nor jinja2, and no module that takes long.

The bar is 20 ms. Machines are noisy, so what is tested is which modules come; the time is printed.
"""

import subprocess
import sys

CODE = """
import sys, time
before = set(sys.modules)
begin = time.perf_counter()
import parlance
took = time.perf_counter() - begin
print(f"{took * 1e3:.1f} ms", file=sys.stderr)
print(" ".join(sorted(name for name in set(sys.modules) - before if "." not in name)))
"""
runs = [subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True) for _ in range(5)]
print("import parlance:", ", ".join(sorted(run.stderr.strip() for run in runs)))
LARGE = ["numpy", "transformers", "torch", "jinja2", "tokenizers", "asyncio", "logging", "subprocess", "typing", "inspect", "re", "json"]
large = set(LARGE) & set(runs[0].stdout.split())
if large:
    print("imports", *sorted(large))
sys.exit(1 if large else 0)
