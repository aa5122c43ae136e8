# SPDX-License-Identifier: Apache-2.0
"""`make test`: build, lint, unit tests, Python tests, emulator tests; continues after a failing stage.

`make quick` is the same without slow parts (`--quick`); arguments select stages. The last line is the
verdict, counted from the result files of the stages in build/test-results. Ends 1 if anything failed.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from bulkhead.env.errors import BuildFailed, MissingTool
from bulkhead.env.native import ensure_built
from bulkhead.env.qemu import qemu_binary
from bulkhead.fetches import fetches
from bulkhead.microkernel.build import APP_TARGETS
from checks.common import BUILD, ROOT
from checks.leftovers import files_outside, left_behind
from checks.lint import lint, lint_of_changes
from checks.stages import Ended, Stage, leave_count, run_stages
from checks.verdict import Count, count_ctest, count_junit
from fuzzing.target import Limits, known_targets, run_all

RESULTS = BUILD / "test-results"
CORES = 2
# Two stages at a time, each with all cores: builds end with linking, tests wait for guests.
ROOM = 2 * CORES
# Two tests at a time; those of a file one after the other, as many share a booted system. Files are in the
# order of tests/longest.py.
SIDE_BY_SIDE = ("-n", str(CORES), "--dist", "loadfile", "--no-loadscope-reorder", "--durations=8")
FUZZ_RUNS = 3000  # for each target, the same inputs each time: scripts/fuzz.py finds new ones


def build(preset: str, targets: Sequence[str] = ()) -> Count:
    try:
        ensure_built([preset], targets)
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


def check(changes_only: bool = False) -> Count:
    total = Count()
    for result in lint_of_changes() if changes_only else lint():
        print(result.text(), flush=True)
        total += Count(passed=1) if result.passed else Count(failed=1)
    return total


def unit_tests() -> Count:
    summary = RESULTS / "ctest.xml"
    cases = BUILD / "host" / "test-results"
    shutil.rmtree(cases, ignore_errors=True)
    command = ["ctest", "--preset", "host", "-j2", "--timeout", "300", "--output-junit", str(summary)]
    subprocess.run([*command, "--no-tests=error"], cwd=ROOT, check=False)
    return count_ctest(summary, cases)


def fuzz() -> Count:
    """Runs every target briefly, from its seeds; scripts/fuzz.py runs them for long."""
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
    return pytest("python", *SIDE_BY_SIDE, "-m", "not emulator", "--ignore=tests/repo")


def quick_python_tests() -> Count:
    return pytest("python", *SIDE_BY_SIDE, "-m", "not emulator and not slow", "--ignore=tests/repo")


def emulator_tests() -> Count:
    os.environ["BULKHEAD_QEMU"] = str(qemu_binary())  # also for tests that do not use the tool
    return pytest("emulator", *SIDE_BY_SIDE, "-m", "emulator")


BUILT = ("host build", "target build")
STAGES = (
    Stage("downloads", fetch, cores=0),
    Stage("host build", lambda: build("host")),
    Stage("target build", lambda: build("target", ("all", *APP_TARGETS))),  # tests run the applications
    Stage("lint", check, after=BUILT),
    Stage("unit tests", unit_tests, after=("host build",)),
    Stage("fuzz", fuzz, after=("host build",)),
    Stage("Python tests", python_tests, after=BUILT),
    Stage("emulator tests", emulator_tests, after=(*BUILT, "downloads")),
)
QUICK_STAGES = (
    *STAGES[1:3],
    Stage("lint of changes", lambda: check(changes_only=True), after=BUILT),
    Stage("unit tests", unit_tests, after=("host build",)),
    Stage("quick Python tests", quick_python_tests, after=BUILT),
)


def in_this_process(stage: Stage) -> None:
    """Work of the process of one stage; an exception counts as a failure."""
    try:
        count = stage.run()
    except Exception:
        traceback.print_exc()
        count = Count(failed=1)
    leave_count(RESULTS, stage.name, count)


def run_and_show(stages: tuple[Stage, ...], options: list[str]) -> list[Ended]:
    """Prints each stage's whole output when it ends."""
    own = [sys.executable, str(Path(__file__)), *options, "--in-this-process"]
    ended = []
    for one in run_stages(stages, ROOM, lambda stage: [*own, stage.name], RESULTS, announce):
        ended.append(one)
        print(f"\n=== {len(ended)}/{len(stages)} {one.stage.name}\n{one.output.rstrip()}")
        took = f"{one.seconds:.0f} s, {one.cpu_seconds:.0f} s of processors"
        print(f"--- {one.stage.name}: {one.count} ({took})", flush=True)
    return ended


def announce(stage: Stage) -> None:
    print(f"... {stage.name}", flush=True)


def leftovers(before: set[Path], temporary: Path) -> Count:
    """Nothing may be written outside of build/, and no temporary file may stay."""
    left = sorted(files_outside(ROOT) - before) + sorted(left_behind(temporary))
    for path in left:
        print(f"left by the tests: {path}")
    return Count(failed=1) if left else Count(passed=1)


def chosen(arguments: argparse.Namespace) -> tuple[Stage, ...]:
    """The selected stages, in their order; selected ones do not wait for others."""
    stages = QUICK_STAGES if arguments.quick else STAGES
    if unknown := set(arguments.stage) - {stage.name for stage in stages}:
        names = ", ".join(stage.name for stage in stages)
        print(f"no such stage: {', '.join(sorted(unknown))} (there are: {names})", file=sys.stderr)
        sys.exit(2)
    if not arguments.stage:
        return stages
    return tuple(replace(stage, after=()) for stage in stages if stage.name in arguments.stage)


def main() -> int:
    parser = argparse.ArgumentParser(description="The test suite; ends with one line of verdict.")
    parser.add_argument("stage", nargs="*", help="only these, without those before them")
    parser.add_argument("--quick", action="store_true", help="without what takes long")
    parser.add_argument("--in-this-process", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    stages = chosen(arguments)
    if arguments.in_this_process:
        in_this_process(stages[0])
        return 0
    shutil.rmtree(RESULTS, ignore_errors=True)
    RESULTS.mkdir(parents=True)
    start = time.monotonic()
    before, temporary = files_outside(ROOT), Path(tempfile.mkdtemp(prefix="bulkhead-"))
    os.environ["TMPDIR"] = str(temporary)
    ended = run_and_show(stages, ["--quick"] * arguments.quick)
    rest = leftovers(before, temporary)
    shutil.rmtree(temporary, ignore_errors=True)
    total = sum((one.count for one in ended), rest)
    failing = [one.stage.name for one in ended if one.count.failed] + ["leftovers"] * rest.failed
    processors = sum(one.cpu_seconds for one in ended)
    took = f"{time.monotonic() - start:.0f} s, {processors:.0f} s of processors"
    print(f"\n{took}; failing stages: {', '.join(failing) or 'none'}")
    print(total)
    return 1 if total.failed else 0


if __name__ == "__main__":
    sys.exit(main())
