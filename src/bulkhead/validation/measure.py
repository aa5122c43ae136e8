# SPDX-License-Identifier: Apache-2.0
"""The measuring programs of the published figures, as runs of the machine.

tinymembench reads random bytes of a block, one at a time or two at a time, and prints by how much a read is
slower than one that always hits L1; and it times loops that fill, read and copy 32 MiB. The machine walks
over fewer bytes and reads fewer places, as many as the means need to converge. lmbench's bw_mem copies 8 MiB,
by the C library or word by word, in one or several processes. Jobs: machine/point.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from bulkhead.machine.answer import PointAnswer
from bulkhead.machine.job import Job, JobPart
from bulkhead.validation.model import Board, NamedPoint, Pages, PointKind

KIB, MIB = 1 << 10, 1 << 20
PS_PER_NS = 1000
PS_PER_US = 10**6
PAGE = 4 * KIB
LINE = 64
DRAWS = 60_000  # timed random reads, after as many that warm caches and TLBs
WALKS_BESIDE = 3  # walks of each of several processes, of which the second is timed
BLOCK = 4 * MIB  # bytes that are filled, read or copied; once untimed, then timed
# The program places its destination this much further into a MiB than its source, so that the two do not
# alias.
APART = 0xAA000
VECTOR = 32  # bytes of a pair of vector registers
WORDS = 16  # of a pair of general registers, or of four words

# Instructions of the loop for each place, as in the program's source. Each iteration of the random reads
# depends on the previous read, so that its instructions take the same time in each block.
_WALKS: dict[PointKind, JobPart] = {
    "single": {"kind": "random", "instructions": 12, "access_bytes": 1, "draws": DRAWS},
    "dual": {"kind": "random-pair", "instructions": 20, "access_bytes": 1, "draws": DRAWS},
    "fill": {"kind": "write", "instructions": 2, "access_bytes": VECTOR, "stride_bytes": VECTOR},
    "read": {"kind": "read", "instructions": 2, "access_bytes": VECTOR, "stride_bytes": VECTOR},
    "copy": {"kind": "copy", "instructions": 3, "access_bytes": VECTOR, "stride_bytes": VECTOR},
    # The C library's memcpy moves pairs of general registers; the loop over words accesses every fourth word.
    "bcopy": {"kind": "copy", "instructions": 3, "access_bytes": WORDS, "stride_bytes": WORDS},
    "cp": {"kind": "copy", "instructions": 2, "access_bytes": 4, "stride_bytes": WORDS},
}
_COPIES = ("copy", "bcopy", "cp")


@dataclass(frozen=True)
class ValidationPoint:
    """A published figure, and how the machine produces its own."""

    board: Board
    kind: PointKind
    pages: Pages
    size: int  # bytes of the block
    published: float
    unit: Literal["ns", "MB/s"]
    processes: int = 1

    @property
    def key(self) -> str:
        return f"{self.board.board}-{self.kind}-{self.pages}-{self.size // KIB}KiB-{self.processes}"

    @property
    def job(self) -> Job:
        return _job(self.board, self.kind, self.pages, self.size, self.processes)

    @property
    def base(self) -> Job | None:
        """The run whose time is subtracted: the same reads of one line."""
        return _job(self.board, self.kind, self.pages, LINE) if self.unit == "ns" else None

    def is_named(self, named: NamedPoint) -> bool:
        """Whether it is the point that the board's file names."""
        own = (self.size, self.pages) if self.unit == "ns" else (None, None)
        return (self.kind, *own) == (named.kind, named.size, named.pages)

    def value(self, result: PointAnswer, base: PointAnswer | None) -> float:
        """The value in the unit of the published figure."""
        times = _last_walks(result)
        if base is not None:
            return (times[0] - _last_walks(base)[0]) / DRAWS / PS_PER_NS
        return sum(self.size * PS_PER_US / time for time in times)


def points(board: Board, least_ns: float) -> Iterator[ValidationPoint]:
    """All figures of a board. Latencies below `least_ns` are left out: that close to a hit in L1, the
    published figure has one digit."""
    for curve in board.measured.latency:
        for one in curve.ns:
            for kind, published in (("single", one.single), ("dual", one.dual)):
                if published >= least_ns:
                    yield ValidationPoint(board, kind, curve.pages, one.size, published, "ns")  # type: ignore[arg-type]
    for rate in board.measured.rates:
        yield ValidationPoint(board, rate.kind, "small", BLOCK, rate.mb_s, "MB/s", rate.processes)


def _job(board: Board, kind: PointKind, pages: Pages, size: int, processes: int = 1) -> Job:
    """Processes beside each other continue until all have been timed."""
    parts = [
        _part(board, kind, pages, size) | {"name": f"{kind}-{core}", "core": core}
        for core in range(processes)
    ]
    if processes > 1:
        parts = [part | {"walks": WALKS_BESIDE} for part in parts]
    return {"platform": board.board, "parts": parts}


def _part(board: Board, kind: PointKind, pages: Pages, size: int) -> JobPart:
    span = 2 * (size + APART) if kind in _COPIES else max(size, PAGE)
    part: JobPart = {"memory_bytes": span, "walks": 2, **_WALKS[kind]}
    if size < PAGE:
        part["bytes"] = size
    # A process of Linux without a hypervisor.
    part["translation"] = "pages" if pages == "small" else "blocks"
    part |= {"table_stages": 1, "table_levels": board.measured.table_levels}
    return part


def _last_walks(result: PointAnswer) -> list[int]:
    """The time of each core's second walk: the first one warms its caches, and others run during both."""
    return [int(walk["walk_ps"][1]) for walk in result["walks"]]
