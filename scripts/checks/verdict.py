# SPDX-License-Identifier: Apache-2.0
"""Counts test cases from the result files of pytest, ctest and GoogleTest.

Called by scripts/test.py. It relies on files, not on exit codes: a program that dies without writing its
cases counts as one failure.
"""

from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree


@dataclass(frozen=True)
class Count:
    passed: int = 0
    failed: int = 0
    skipped: int = 0

    def __add__(self, other: "Count") -> "Count":
        return Count(self.passed + other.passed, self.failed + other.failed, self.skipped + other.skipped)

    def __str__(self) -> str:
        skipped = f", {self.skipped} skipped" if self.skipped else ""
        return f"{self.passed} passed, {self.failed} failed{skipped}"


def _cases(file: Path) -> list[ElementTree.Element]:
    return list(ElementTree.parse(file).iter("testcase"))  # noqa: S314 # our own tests wrote it


def count_junit(file: Path) -> Count:
    """Cases of a JUnit file as pytest and GoogleTest write them; a missing file is one failure."""
    if not file.is_file():
        return Count(failed=1)
    failed = skipped = passed = 0
    for case in _cases(file):
        if case.find("failure") is not None or case.find("error") is not None:
            failed += 1
        elif case.find("skipped") is not None or case.get("status") == "notrun":
            skipped += 1
        else:
            passed += 1
    return Count(passed, failed, skipped)


def count_ctest(summary: Path, results: Path) -> Count:
    """Cases of all GoogleTest programs (`results`/NAME.xml) that ctest's own summary names."""
    if not summary.is_file():
        return Count(failed=1)
    total = Count()
    for program in _cases(summary):
        count = count_junit(results / f"{program.get('name')}.xml")
        crashed = program.get("status") != "run" and count.failed == 0
        total += count + Count(failed=1 if crashed else 0)
    return total
