# SPDX-License-Identifier: Apache-2.0
"""Each file of examples/bad states its errors: check reports exactly these, at their places.

A comment `# expect: LINE KEY CODE` per error; KEY is `-` for the whole file, %20 is a blank.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from bulkhead.check.files import check_file

BAD = Path(__file__).parents[2] / "examples" / "bad"
FILES = sorted(BAD.glob("*.yaml"))


def expected(path: Path) -> list[tuple[int, str, str]]:
    found = []
    for line in path.read_bytes().decode("utf-8", "replace").split("\n"):
        if line.startswith("# expect: "):
            number, key, code = line.removeprefix("# expect: ").split()
            found.append(
                (int(number), key.replace("%20", " ").replace("-", "", 1) if key == "-" else key, code)
            )
    return sorted((line, key.replace("%20", " "), code) for line, key, code in found)


def test_there_are_enough_bad_files() -> None:
    assert len(FILES) >= 60


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_bad_file_gives_exactly_its_errors(path: Path) -> None:
    problems = check_file(str(path)).problems
    got = sorted((problem.line, problem.key, problem.code) for problem in problems)
    assert got == expected(path), "\n".join(problem.text() for problem in problems)
    assert all(problem.cause for problem in problems)
