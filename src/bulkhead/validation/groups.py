# SPDX-License-Identifier: Apache-2.0
"""Points that belong together: the curve of one board, or one of its rates. Tables and pages are grouped by
them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bulkhead.validation.compare import Compared
from bulkhead.validation.measure import ValidationPoint

_NAMES = {
    "single": "random reads",
    "dual": "random reads, two at a time",
    "fill": "fill",
    "read": "read",
    "copy": "copy",
    "bcopy": "copy by the C library",
    "cp": "copy of words",
}


@dataclass(frozen=True)
class PointGroup:
    board: str
    role: str
    name: str  # with its unit
    compared: tuple[Compared, ...]  # by size


def grouped(compared: Sequence[Compared]) -> list[PointGroup]:
    """In the order of the points."""
    found: dict[tuple[str, str], list[Compared]] = {}
    for one in compared:
        found.setdefault((one.point.board.board, name_of(one.point)), []).append(one)
    return [
        PointGroup(board, group[0].point.board.role, name, tuple(group))
        for (board, name), group in found.items()
    ]


def name_of(point: ValidationPoint) -> str:
    name = _NAMES[point.kind]
    if point.unit == "ns":
        return f"{name}, {'4 KiB' if point.pages == 'small' else '2 MiB'} pages, ns"
    beside = f", {point.processes} processes" if point.processes > 1 else ""
    return f"{name}{beside}, {point.unit}"
