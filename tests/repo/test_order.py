# SPDX-License-Identifier: Apache-2.0
"""Files that `make test` begins with exist, each once."""

from __future__ import annotations

from pathlib import Path

from ..longest import LONGEST

TESTS = Path(__file__).parents[1]


def test_files_that_take_longest_are_there() -> None:
    assert [file for file in LONGEST if not (TESTS / file).is_file()] == []
    assert len(set(LONGEST)) == len(LONGEST)
