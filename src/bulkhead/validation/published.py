# SPDX-License-Identifier: Apache-2.0
"""The points of validation/*.yaml as published figures, with what the last `validate` of their board found.

The command `published` shows them with the figures of published/figures.yaml. Nothing is run here.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

from bulkhead.published.beside import FigureBeside
from bulkhead.published.figures import Figure, How, Ours
from bulkhead.units import size_text
from bulkhead.validation.compare import LEAST_NS
from bulkhead.validation.groups import name_of
from bulkhead.validation.measure import BLOCK, DRAWS, ValidationPoint, points
from bulkhead.validation.model import boards_of

_TINYMEMBENCH = "tinymembench"


def figures_of_boards(directory: Path) -> list[FigureBeside]:
    """The points of all boards. `directory`: where `validate` leaves its files. Raises ValueError for a file
    that is not valid."""
    return [
        one
        for board in boards_of([])
        for one in _of_board(list(points(board, LEAST_NS)), directory / points_file(board.board))
    ]


def points_file(board: str) -> str:
    """Name of the file in which `validate` leaves the points of a board."""
    return f"{board}-points.csv"


def _of_board(own: list[ValidationPoint], file: Path) -> Iterator[FigureBeside]:
    kept = _kept(file)
    for point in own:
        ours = kept.get((name_of(point), point.size, point.published))
        command = f"./bulkhead validate {point.board.board}"
        origin = f"not measured yet: {command}" if ours is None else f"last run of {command}"
        yield FigureBeside(_figure(point), ours, origin)


def _kept(file: Path) -> dict[tuple[str, int, float], float]:
    """Predicted values by figure, bytes and published value: a point whose figure has changed is not kept."""
    try:
        with file.open(encoding="utf-8", newline="") as stream:
            rows = list(csv.DictReader(stream))
    except OSError:
        return {}
    return {
        (row["figure"], int(row["bytes"]), float(row["published"])): float(row["machine"]) for row in rows
    }


def _figure(point: ValidationPoint) -> Figure:
    board, name = point.board, name_of(point).rpartition(", ")[0]
    what = f"{name}, block of {size_text(point.size)}" if point.unit == "ns" else name
    theirs, ours = _of_reads(point) if point.unit == "ns" else _of_rate(point)
    return Figure(
        id=point.key,
        board=board.board,
        what=what,
        value=point.published,
        low=None,
        high=None,
        unit=point.unit,
        source=f"{board.measured.program}: {board.measured.source}",
        measured=theirs,
        ours=Ours(missing=f"./bulkhead validate {board.board}", how=ours),
        used="fitted" if board.role == "calibration" else "compared",
    )


def _of_reads(point: ValidationPoint) -> tuple[How, How]:
    """How random reads are measured, there and here."""
    small = point.pages == "small"
    return (
        How(
            statistic="min",
            per="access",
            input="frames of 4 KiB, contiguous in part" if small else "frames of 2 MiB",
            by="the best mean of up to ten tries, less that of a hit in L1",
        ),
        How(
            statistic="mean",
            per="access",
            input="contiguous frames of 4 KiB" if small else "frames of 2 MiB",
            by=f"{DRAWS} reads, less those of one line",
        ),
    )


def _of_rate(point: ValidationPoint) -> tuple[How, How]:
    tinymembench = point.board.measured.program.startswith(_TINYMEMBENCH)
    loops = [rate.loop for rate in point.board.measured.rates if _is(rate.kind, rate.processes, point)]
    return (
        How(
            statistic="not stated",
            way="one way",
            input="32 MiB" if tinymembench else "8 MiB",
            by=loops[0],
        ),
        How(statistic="mean", way="one way", input=size_text(BLOCK), by="a walk after an untimed one"),
    )


def _is(kind: str, processes: int, point: ValidationPoint) -> bool:
    return (kind, processes) == (point.kind, point.processes)
