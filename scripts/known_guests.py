# SPDX-License-Identifier: Apache-2.0
"""Boots guests written by others, each unchanged as a domain on the emulator, and prints a table of results:
Debian's kernels of several releases, U-Boot, EDK2, and guests in a directory.

    make guests                                              what Debian has
    make guests GUESTS="--kvm-unit-tests DIRECTORY"          and kvm-unit-tests, built there for arm64
    make guests GUESTS="--freertos DIRECTORY --zephyr DIRECTORY"
                                                             and our programs for these kernels
    make guests GUESTS="--described DIRECTORY"               and what its NAME.guest.yaml describe
    make guests GUESTS="--only sid --only U-Boot"            cases whose names have one of these texts

Ends 1 if one of them does not work. `--markdown FILE` writes the table for the documents.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "scripts")]

from rich.console import Console  # noqa: E402
from rich.table import Table  # noqa: E402

from checks.common import BUILD  # noqa: E402
from guests import debian, described, firmware, kvm_unit_tests, real_time_kernels  # noqa: E402
from guests.case import Verdict  # noqa: E402

WORKS = {True: "works", False: "fails", None: "skipped"}


class Guest(Protocol):
    """A guest that can be booted."""

    @property
    def suite(self) -> str: ...

    @property
    def name(self) -> str: ...

    def run(self, directory: Path) -> Verdict:
        """Boots it; files of the run are left in `directory`."""


@dataclass(frozen=True)
class Row:
    """One case with its result."""

    case: Guest
    verdict: Verdict

    def cells(self) -> tuple[str, ...]:
        return self.case.suite, self.case.name, WORKS[self.verdict.works], self.verdict.says


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kvm-unit-tests", type=Path, metavar="DIRECTORY", help="a checkout that was built")
    parser.add_argument("--freertos", type=Path, metavar="DIRECTORY", help="a checkout of its kernel")
    parser.add_argument("--zephyr", type=Path, metavar="DIRECTORY", help="a checkout")
    parser.add_argument(
        "--described", type=Path, metavar="DIRECTORY", help="of NAME.guest.yaml, with the keys of a domain"
    )
    parser.add_argument("--no-debian", action="store_true", help="only what directories have")
    parser.add_argument("--only", action="append", default=[], metavar="TEXT", help="in the case's name")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write the table there, too")
    options = parser.parse_args(arguments)
    progress = Console(stderr=True)
    rows: list[Row] = []
    for case in _cases(options):
        if options.only and not any(text in case.name for text in options.only):
            continue
        with progress.status(f"{case.suite}: {case.name}"):
            directory = BUILD / "guests" / case.suite / case.name.replace(" ", "-").replace("/", "-")
            rows.append(Row(case, case.run(directory)))
        progress.print(*rows[-1].cells(), sep="  ", highlight=False)
    _show(rows)
    if options.markdown is not None:
        options.markdown.write_text(_markdown(rows), encoding="utf-8")
    return 0 if rows and all(row.verdict.works is not False for row in rows) else 1


def _cases(options: argparse.Namespace) -> Iterator[Guest]:
    if not options.no_debian:
        yield from firmware.cases()
        yield from debian.cases()
    if options.kvm_unit_tests is not None:
        yield from kvm_unit_tests.cases(options.kvm_unit_tests.resolve())
    if options.freertos is not None:
        yield from real_time_kernels.freertos(options.freertos.resolve())
    if options.zephyr is not None:
        yield from real_time_kernels.zephyr(options.zephyr.resolve())
    if options.described is not None:
        yield from described.cases(options.described.resolve())


def _show(rows: Sequence[Row]) -> None:
    table = Table("from", "guest", "", "")
    for row in rows:
        table.add_row(*row.cells())
    Console().print(table)


def _markdown(rows: Sequence[Row]) -> str:
    lines = ["| from | guest | | |", "| --- | --- | --- | --- |"]
    lines += [f"| {' | '.join(cell.replace('|', '/') for cell in row.cells())} |" for row in rows]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
