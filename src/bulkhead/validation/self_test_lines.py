# SPDX-License-Identifier: Apache-2.0
"""Lines of a platform file with the figures of a board's self-test, which `self-test --write` writes.

Each value is checked as a part of the platform's own file before it is written.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bulkhead.config.load import load_platform
from bulkhead.config.validate import is_below
from bulkhead.errors import InvalidInput
from bulkhead.validation.self_test_figures import MeasuredFigure

_INDENT = "  "


class NotForThisFile(InvalidInput):
    """A measured figure is not a valid value of its key; each reason is a line."""


@dataclass(frozen=True)
class Lines:
    text: str
    consequences: tuple[str, ...]  # problems of other keys of the platform file if it had these lines


def lines_for(path: Path, figures: Sequence[MeasuredFigure], command: str) -> Lines:
    """Raises NotForThisFile."""
    written = {one.key: one for one in figures if one.key is not None and one.value is not None}
    _, _, problems = load_platform(path, overrides=[f"{key}={one.value}" for key, one in written.items()])
    wrong = [problem.text() for problem in problems if is_below(problem.key, set(written))]
    if wrong:
        raise NotForThisFile("\n".join(wrong))
    comment = f"# Measured on the board; made by `{command}`. Lines to put into the platform file.\n"
    text = comment + "\n".join(_shown(_tree(written), 0)) + "\n"
    return Lines(text, tuple(problem.text() for problem in problems))


def _tree(written: Mapping[str, MeasuredFigure]) -> dict[str, Any]:
    tree: dict[str, Any] = {}
    for key, one in written.items():
        *sections, last = key.split(".")
        place = tree
        for section in sections:
            place = place.setdefault(section, {})
        place[last] = one
    return tree


def _shown(tree: dict[str, Any], depth: int) -> list[str]:
    found = []
    for key, value in tree.items():
        if isinstance(value, MeasuredFigure):
            stated = "" if value.stated is None else f"; stated: {value.stated:g} {value.unit}".rstrip()
            found.append(f"{_INDENT * depth}{key}: {value.value}  # {value.what}{stated}")
        else:
            found += [f"{_INDENT * depth}{key}:", *_shown(value, depth + 1)]
    return found
