# SPDX-License-Identifier: Apache-2.0
"""`make coverage`: which lines of C, C++ and Python the tests run; a table, and pages in build/coverage.

C and C++: the unit tests, built without sanitizers (preset `coverage`), counted by gcov. Python: the tests
that need no emulator, with the commands that they start. A low number is no failure: the table helps to find
code without tests.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from rich.console import Console
from rich.table import Table

from bulkhead.env.progress import progress
from checks.common import ROOT

TREE = ROOT / "build" / "coverage"
COUNTED = ("core", "hypervisor", "machine", "microkernel", "guests", "workloads")  # directories of C and C++
PACKAGE = ROOT / "src" / "bulkhead"
LOG = ROOT / "build" / "logs" / "coverage.log"


class Lines(NamedTuple):
    """Lines of a directory that can run, and those that did."""

    place: str
    all: int
    run: int


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", choices=("c", "python"), help="measure one of the two")
    only = parser.parse_args().only
    LOG.parent.mkdir(parents=True, exist_ok=True)
    LOG.write_text("")
    found: list[Lines] = []
    if only != "python":
        found += _native()
    if only != "c":
        found += _python()
    _show(found)
    return 0


def _native() -> list[Lines]:
    with progress("coverage of C and C++: build and run the unit tests") as update:
        _run("cmake", "--preset", "coverage", f"-DBULKHEAD_PYTHON={sys.executable}")
        programs = _programs()
        _run("cmake", "--build", str(TREE), "--target", *programs)
        update(0.8, "run")
        for old in TREE.rglob("*.gcda"):
            old.unlink()
        # Failing tests are reported by `make test`, which runs them with sanitizers.
        _run("ctest", "--test-dir", str(TREE), "-j", str(os.cpu_count() or 1), check=False)
        update(0.9, "count")
        summary, page = TREE / "native.json", TREE / "native"
        page.mkdir(exist_ok=True)
        filters = [word for place in COUNTED for word in ("--filter", f"{ROOT}/{place}/")]
        _run(
            sys.executable, "-m", "gcovr", "--root", str(ROOT), "--object-directory", str(TREE), *filters,
            "--json-summary", str(summary), "--html-nested", str(page / "index.html"),
            "--gcov-ignore-parse-errors=all", "--merge-mode-functions=separate", str(TREE),
        )  # fmt: skip
    files = json.loads(summary.read_text())["files"]
    return _by_place((file["filename"], file["line_total"], file["line_covered"]) for file in files)


def _programs() -> list[str]:
    """Targets of the unit tests' programs."""
    built = re.findall(
        r"^build (tests/\S+): C(?:XX)?_EXECUTABLE_LINKER", (TREE / "build.ninja").read_text(), re.MULTILINE
    )
    return sorted(set(built))


def _python() -> list[Lines]:
    summary, page = TREE / "python.json", TREE / "python"
    TREE.mkdir(parents=True, exist_ok=True)
    with progress("coverage of Python: run the tests that need no emulator"):
        _run(
            sys.executable, "-m", "pytest", "-n", str(os.cpu_count() or 1), "-m", "not emulator", "-q",
            f"--cov={PACKAGE}", f"--cov-report=json:{summary}", f"--cov-report=html:{page}",
            "--cov-config=pyproject.toml", check=False,
        )  # fmt: skip
    files = json.loads(summary.read_text())["files"]
    counted = (
        (name, one["summary"]["num_statements"], one["summary"]["covered_lines"])
        for name, one in files.items()
    )
    return _by_place(counted)


def _by_place(files: Iterator[tuple[str, int, int]]) -> list[Lines]:
    """Sums of the directories that have files, in the order of their names."""
    sums: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for name, lines, run in files:
        place = sums[str(Path(name).parent)]
        place[0] += lines
        place[1] += run
    return [Lines(place, lines, run) for place, (lines, run) in sorted(sums.items())]


def _run(*command: str, check: bool = True) -> None:
    with LOG.open("a") as log:
        done = subprocess.run(command, cwd=ROOT, stdout=log, stderr=subprocess.STDOUT, check=False)
    if check and done.returncode != 0:
        sys.exit(f"`{' '.join(command[:4])} …` failed: {LOG.relative_to(ROOT)} says why")


def _show(found: list[Lines]) -> None:
    table = Table(box=None)
    table.add_column("directory")
    for name in ("lines", "run", "%"):
        table.add_column(name, justify="right")
    for one in found:
        share = f"{100 * one.run / one.all:.0f}" if one.all else "–"
        table.add_row(one.place, f"{one.all:,}", f"{one.run:,}", share)
    lines, run = sum(one.all for one in found), sum(one.run for one in found)
    table.add_row("all", f"{lines:,}", f"{run:,}", f"{100 * run / max(1, lines):.0f}", style="bold")
    console = Console(width=max(80, Console().width))
    console.print(table)
    for page in ("native", "python"):
        if (TREE / page / "index.html").is_file():
            console.print(f"lines: build/coverage/{page}/index.html")


if __name__ == "__main__":
    sys.exit(main())
