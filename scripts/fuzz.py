# SPDX-License-Identifier: Apache-2.0
"""`make fuzz`: builds the fuzz targets, runs them on all cores, reports coverage and findings.

Seeds are in tests/fuzz/seeds/TARGET, the growing corpus in build/fuzz/corpus/TARGET. A crash is saved,
minimized, and replayed by the command that is printed; once understood, it belongs into
tests/fuzz/findings/TARGET, which `make test` replays. Ends 1 if anything was found.
"""

import argparse
import json
import os
import signal
import subprocess
import sys

from rich.console import Console
from rich.table import Table

from bulkhead.env.errors import BuildFailed, MissingTool
from bulkhead.env.native import ensure_built, install_tools
from bulkhead.env.progress import progress
from checks.common import ROOT
from fuzzing.coverage import Coverage, count_lines
from fuzzing.record import table, with_table
from fuzzing.target import Limits, Outcome, known_targets, program, record, run_all

# All targets together, without options: about a minute on two cores.
DEFAULT_S = 60
DOCUMENT = ROOT / "docs" / "design" / "fuzzing.md"


def positive(text: str) -> int:
    """A number of at least 1; argparse shows the exception's text."""
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"'{text}' is not a whole number of at least 1")
    return int(text)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make fuzz", description=__doc__)
    parser.add_argument(
        "--target", action="append", choices=known_targets(), help="only this one; repeatable"
    )
    parser.add_argument("--runs", type=positive, help="executions of each target instead of a time")
    parser.add_argument(
        "--resume", action="store_true", help="count the executions of earlier starts of the same program"
    )
    parser.add_argument(
        "--record",
        action="store_true",
        help="write what was counted so far into the repository; runs nothing",
    )
    parser.add_argument("--time", type=positive, help="seconds for each target", dest="seconds")
    parser.add_argument("--jobs", type=positive, default=os.cpu_count() or 1, help="targets at a time")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    return parser.parse_args()


def show(outcomes: list[Outcome], coverage: dict[str, Coverage]) -> None:
    table = Table(box=None)
    for name in ("target", "executions", "per second", "corpus", "edges", "lines", "crashes"):
        table.add_column(name, justify="left" if name == "target" else "right")
    for outcome in outcomes:
        lines = coverage.get(outcome.target)
        table.add_row(
            outcome.target,
            f"{outcome.executions:,}",
            f"{outcome.per_second:,}",
            f"{outcome.corpus_files}",
            f"{outcome.edges} of {outcome.edges_total}",
            str(lines.total) if lines else "-",
            f"{len(outcome.crashes)}",
        )
    Console(width=110).print(table)
    if not coverage:
        print("lines: not counted (llvm-cov and llvm-profdata of the package llvm are missing)")
    for outcome in outcomes:
        for crash in outcome.crashes:
            print(f"\n{outcome.target}: {crash.sentence}\n    {crash.replay}")


def as_json(outcomes: list[Outcome], coverage: dict[str, Coverage]) -> dict[str, object]:
    return {
        "schema": "bulkhead-fuzz/1",
        "targets": [
            {
                **outcome.as_json(),
                "lines": coverage[outcome.target].as_json() if outcome.target in coverage else None,
            }
            for outcome in outcomes
        ],
    }


def commit() -> str:
    """The commit that the programs were built from."""
    command = ["git", "describe", "--always", "--dirty", "--abbrev=10", "--exclude=*"]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()


def write_down(targets: list[str]) -> int:
    """`--record`."""
    missing = [target for target in targets if not program(target).exists()]
    if missing:
        print(f"--record: not built: {', '.join(missing)}", file=sys.stderr)
        return 2
    kept = record(targets, commit())
    DOCUMENT.write_text(with_table(DOCUMENT.read_text(), kept))
    print(table(kept), end="")
    return 0


def fuzz(options: argparse.Namespace) -> int:
    if options.resume and not options.runs:
        print("--resume: say how many executions there are to be, with --runs", file=sys.stderr)
        return 2
    targets: list[str] = options.target or known_targets()
    if options.record:
        return write_down(targets)
    install_tools("packages", "lint")
    programs = [f"{kind}_{target}" for target in targets for kind in ("fuzz", "cover")]
    ensure_built(["fuzz"], programs)
    seconds = options.seconds or max(5, DEFAULT_S * options.jobs // len(targets))
    limits = Limits(options.runs, None if options.runs else seconds, resume=options.resume)
    with progress(f"fuzz {', '.join(targets)}") as update:
        outcomes = run_all(targets, limits, options.jobs, update)
    coverage = {target: lines for target in targets if (lines := count_lines(target)) is not None}
    if options.json:
        print(json.dumps(as_json(outcomes, coverage), indent=1))
    else:
        show(outcomes, coverage)
    return 1 if any(outcome.crashes for outcome in outcomes) else 0


def stop(_signal: int, _frame: object) -> None:
    raise KeyboardInterrupt


def main() -> int:
    # A long run in the background is stopped by a signal: its programs end with it.
    signal.signal(signal.SIGTERM, stop)
    try:
        return fuzz(arguments())
    except KeyboardInterrupt:
        print("stopped; with --resume the same command goes on", file=sys.stderr)
        return 130
    except BuildFailed as failure:
        print(failure, file=sys.stderr)
        return 1
    except MissingTool as missing:
        print(missing, file=sys.stderr)
        return 3


if __name__ == "__main__":
    sys.exit(main())
