# SPDX-License-Identifier: Apache-2.0
"""Published measurements of boards: the files of validation/, as models.

A file has figures, what each of them measures, and where it was published; never text of others. The board is
the platform of the same name. The command `validate` and tests read them by load_board().
"""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema, model_validator

from bulkhead.config.base import FormatVersion, Model, Name, Text
from bulkhead.config.problem import Problem, nearest_of, quoted
from bulkhead.config.quantity import Bytes, problem
from bulkhead.config.source import read_file
from bulkhead.config.validate import validate
from bulkhead.env.paths import validation_dir
from bulkhead.errors import InvalidInput

Role = Literal["calibration", "validation"]
Pages = Literal["small", "huge"]
RateKind = Literal["fill", "read", "copy", "bcopy", "cp"]
PointKind = Literal["single", "dual", "fill", "read", "copy", "bcopy", "cp"]


def _figure(value: object) -> object:
    """A published figure: a number with the digits that were published."""
    if isinstance(value, bool) or not isinstance(value, (int, Decimal)):
        raise problem("wrong-type", "is not a number", "a number, as 134.0")
    if not 0 <= value < 10**6:
        raise problem("out-of-range", f"{quoted(str(value))} is out of range", "0 to 1000000")
    return float(value)


Figure = Annotated[float, BeforeValidator(_figure), WithJsonSchema({"type": "number", "minimum": 0})]


class Latency(Model):
    """Random reads within a block: the time beyond a hit in L1, in nanoseconds."""

    size: Bytes
    single: Figure  # one read at a time
    dual: Figure  # two at a time, for both


class LatencyCurve(Model):
    pages: Pages  # of 4 KiB, or of 2 MiB if an aligned piece of the block is that large
    ns: tuple[Latency, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _in_order(self) -> LatencyCurve:
        sizes = [one.size for one in self.ns]
        if sizes != sorted(set(sizes)):
            raise problem("conflict", "sizes are not in ascending order, each once")
        return self


class Rate(Model):
    kind: RateKind
    loop: Text  # its name in the published program
    processes: Annotated[int, Field(ge=1, le=64)] = (
        1  # number of processes that do the same at the same time, each on a core
    )
    mb_s: Figure  # rate of bytes that are filled, read, or copied, of all processes together


class NamedPoint(Model):
    """A point of this board's figures. A rate has neither size nor pages."""

    kind: PointKind
    size: Bytes | None = None
    pages: Pages | None = None


class Explanation(Model):
    """Why points of one kind have large errors."""

    points: Text
    why: Text
    beyond_limit: tuple[NamedPoint, ...] = ()  # those of them whose errors exceed the limit of one point


class MeasuredBoard(Model):
    program: Text
    source: Text  # collection, file, date
    kernel: Text
    cpu: Text  # clock, as the publication measured it
    table_levels: Annotated[int, Field(ge=1, le=4)]  # reads of a table walk with small pages
    latency: tuple[LatencyCurve, ...] = ()
    rates: tuple[Rate, ...] = ()


class Board(Model):
    validation: FormatVersion
    board: Name  # the platform
    role: Role
    measured: MeasuredBoard
    explanations: tuple[Explanation, ...] = ()


class NoSuchBoard(InvalidInput):
    """No published figures of this board are known."""


def board_names() -> list[str]:
    return sorted(path.stem for path in validation_dir().glob("*.yaml"))


def board_file(name: str) -> Path:
    names = board_names()
    if name not in names:
        nearest = nearest_of(name, names)
        hint = f" (nearest: {nearest})" if nearest else ""
        raise NoSuchBoard(
            f"there are no published figures of {quoted(name)}{hint} (boards: {', '.join(names)})"
        )
    return validation_dir() / f"{name}.yaml"


def load_board(path: Path) -> tuple[Board | None, list[Problem]]:
    """The file's board; None if it has any problem."""
    source = read_file(path, path.name)
    problems = list(source.problems)
    if source.root is None:
        return None, problems
    board, _, found = validate(source.root, Board, path.name)
    problems += found
    return (board if not problems else None), problems


def boards_of(names: list[str]) -> list[Board]:
    """The boards of these names; without names, all. Raises NoSuchBoard, or ValueError for a file that is not
    valid."""
    found: list[Board] = []
    for name in names or board_names():
        board, problems = load_board(board_file(name))
        if board is None:
            raise ValueError("\n".join(one.text() for one in problems))
        found.append(board)
    return found
