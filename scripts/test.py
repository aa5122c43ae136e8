# SPDX-License-Identifier: Apache-2.0
"""`make test`: build, lint, unit tests, Python tests, emulator tests; goes on after a failing stage.

The last line is the verdict, counted from the result files that the stages leave in build/test-results.
Ends 1 if anything failed.
"""

import os
import shutil
import subprocess
import sys
import time
import traceback
from collections.abc import Callable

from bulkhead.env.errors import BuildFailed, MissingTool
from bulkhead.env.native import ensure_built
from bulkhead.env.qemu import qemu_binary
from bulkhead.fetches import fetches
from checks.common import BUILD, ROOT
from checks.lint import lint
from checks.verdict import Count, count_ctest, count_junit
from fuzzing.target import Limits, known_targets, run_all

RESULTS = BUILD / "test-results"
FUZZ_RUNS = 3000  # of each target, the same inputs each time: new ones are for scripts/fuzz.py


def build(preset: str) -> Count:
    try:
        ensure_built([preset])
    except (BuildFailed, MissingTool) as failure:
        print(failure)
        return Count(failed=1)
    return Count(passed=1)


def fetch() -> Count:
    try:
        for name, fetch_one in fetches().items():
            print(f"{name}: {fetch_one()}")
    except MissingTool as missing:
        print(missing)
        return Count(failed=1)
    return Count(passed=1)


def check() -> Count:
    total = Count()
    for result in lint():
        print(result.text(), flush=True)
        total += Count(passed=1) if result.passed else Count(failed=1)
    return total


def unit_tests() -> Count:
    summary = RESULTS / "ctest.xml"
    cases = BUILD / "host" / "test-results"
    shutil.rmtree(cases, ignore_errors=True)
    command = ["ctest", "--preset", "host", "-j2", "--timeout", "120", "--output-junit", str(summary)]
    subprocess.run([*command, "--no-tests=error"], cwd=ROOT, check=False)
    return count_ctest(summary, cases)


def fuzz() -> Count:
    """Every target for a moment, from its seeds; scripts/fuzz.py runs them for long."""
    targets = known_targets()
    try:
        ensure_built(["fuzz"], [f"fuzz_{target}" for target in targets])
    except (BuildFailed, MissingTool) as failure:
        print(failure)
        return Count(failed=1)
    total = Count()
    limits = Limits(runs=FUZZ_RUNS, seconds=None, seed=1)
    for outcome in run_all(targets, limits, 2, lambda _fraction, _step: None):
        print(f"{outcome.target}: {outcome.executions} executions, {outcome.edges} edges")
        for crash in outcome.crashes:
            print(f"    {crash.sentence}\n    {crash.replay}")
        total += Count(failed=1) if outcome.crashes else Count(passed=1)
    return total


def pytest(name: str, *arguments: str) -> Count:
    file = RESULTS / f"{name}.xml"
    command = [sys.executable, "-m", "pytest", f"--junitxml={file}", "-o", "junit_family=xunit2", *arguments]
    code = subprocess.run(command, cwd=ROOT, check=False).returncode
    count = count_junit(file)
    unexplained = code != 0 and count.failed == 0  # an internal error, or no test at all
    return count + Count(failed=1 if unexplained else 0)


def python_tests() -> Count:
    return pytest("python", "-n", "2", "-m", "not emulator", "--ignore=tests/repo")


def emulator_tests() -> Count:
    os.environ["BULKHEAD_QEMU"] = str(qemu_binary())  # also for the tests that know nothing of the tool
    return pytest("emulator", "-m", "emulator", "--durations=5")


def attempt(stage: Callable[[], Count]) -> Count:
    """A stage that breaks has failed; the next ones go on."""
    try:
        return stage()
    except Exception:
        traceback.print_exc()
        return Count(failed=1)


STAGES: dict[str, Callable[[], Count]] = {
    "host build": lambda: build("host"),
    "target build": lambda: build("target"),
    "lint": check,
    "unit tests": unit_tests,
    "fuzz": fuzz,
    "Python tests": python_tests,
    "emulator and guests": fetch,
    "emulator tests": emulator_tests,
}


def main() -> int:
    shutil.rmtree(RESULTS, ignore_errors=True)
    RESULTS.mkdir(parents=True)
    start = time.monotonic()
    counts: dict[str, Count] = {}
    for number, (name, stage) in enumerate(STAGES.items(), 1):
        print(f"\n=== {number}/{len(STAGES)} {name}", flush=True)
        begun = time.monotonic()
        counts[name] = attempt(stage)
        print(f"--- {name}: {counts[name]} ({time.monotonic() - begun:.0f} s)", flush=True)
    total = sum(counts.values(), Count())
    failing = [name for name, count in counts.items() if count.failed]
    print(f"\n{time.monotonic() - start:.0f} s; failing stages: {', '.join(failing) or 'none'}")
    print(total)
    return 1 if total.failed else 0


if __name__ == "__main__":
    sys.exit(main())
