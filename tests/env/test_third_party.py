# SPDX-License-Identifier: Apache-2.0
"""docs/reference/third-party.md names everything that is locked or installed, with version and licence."""

from __future__ import annotations

from importlib.metadata import distribution

import pytest

import third_party
from bulkhead.env.lock import read_lock
from bulkhead.env.paths import repository

ADVICE = "`make notices` writes the page anew"


def rows(title: str) -> list[list[str]]:
    """Cells of the table below a heading."""
    text = (repository() / third_party.PAGE).read_text()
    section = text.partition(f"## {title}\n")[2].partition("\n## ")[0]
    table = [line for line in section.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table[2:]]


def test_every_fetched_package_is_there() -> None:
    locked = {(one.name, one.version) for entry in read_lock().values() for one in entry}
    assert {(name, version) for name, version, _ in rows("Fetched Debian packages")} == locked, ADVICE


def test_every_package_to_build_with_is_there() -> None:
    installed = third_party.installed_debian((repository() / "scripts/setup").read_text())
    assert {"gcc", "libgtest-dev", "clang-tidy"} <= set(installed)
    assert [name for name, _ in rows("Debian packages to build and check with")] == installed, ADVICE


def test_every_python_package_is_there() -> None:
    locked = third_party.locked_python((repository() / "constraints.txt").read_text())
    assert len(locked) > 50
    shown = rows("Python packages")
    assert [(name, version) for name, version, _ in shown] == locked, ADVICE
    assert [licence for *_, licence in shown] == [
        third_party.python_licence(distribution(name).metadata).replace("|", "or") for name, _ in locked
    ], ADVICE


def test_every_row_has_a_licence() -> None:
    for title in ("Fetched Debian packages", "Debian packages to build and check with", "Python packages"):
        for row in rows(title):
            assert row[-1], f"{row[0]}: {ADVICE}"


@pytest.mark.parametrize(
    ("text", "licences"),
    [
        ("Format: x\nLicense: GPL-2+\n text\n\nFiles: *\nLicense: MIT\n", ["GPL-2+", "MIT"]),
        ("Format: x\nLicense:\n  in /usr/share/common-licenses/GPL-2.\n", ["GPL-2"]),
        ("It is released under the GNU Lesser General Public\nLicense, version 2.1.", ["LGPL-2.1"]),
        ("License: BSD3-1\nLicense: BSD3-12\nLicense: Other-7\nLicense: GPL-2\n", ["BSD3", "GPL-2", "Other"]),
        ("nothing of the kind", []),
    ],
)
def test_licences_of_debian_packages_are_read(text: str, licences: list[str]) -> None:
    assert third_party.debian_licences(text) == licences
