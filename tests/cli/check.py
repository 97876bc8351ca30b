"""What the tests of the command line share: a module's functions test_* are its tests, run by name or all of them."""

import contextlib
import sys
import traceback


def run_tests(module, what, world=None, wanted=None):
    """Runs the tests that `wanted` names, or all; each gets what entering `world()` gives, if that is given. The exit code."""
    tests = {name[5:]: test for name, test in vars(module).items() if name.startswith("test_")}
    wanted = wanted or sys.argv[2:] or tests
    failed = 0
    for name in wanted:
        with world() if world else contextlib.nullcontext() as given:
            try:
                tests[name](*([given] if world else []))
            except Exception:  # every test is reported
                failed += 1
                print(f"FAILED {name}\n{traceback.format_exc()}")
    print(f"{len(wanted) - failed} of {len(wanted)} {what} passed")
    return 1 if failed else 0


class Expectations:
    """For tests that are one list of facts: says each that does not hold, and ends the program."""

    def __init__(self):
        self.faults = 0

    def __call__(self, what, holds, seen):
        if not holds:
            self.faults += 1
            print(f"{what}: {seen}")

    def end(self):
        print(f"{self.faults} faults")
        sys.exit(1 if self.faults else 0)
