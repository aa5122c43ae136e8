# SPDX-License-Identifier: Apache-2.0
"""Addresses that stress a DRAM in a chosen way, computed from its mapping; benchmarks on boards have to
search them.

The machine's settings state which address bits select bank, row and column. A pattern is a list of line
addresses, which a generator (machine/generator.h) accesses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from bulkhead.machine.settings import Settings

PAGE_BYTES = 4096
FIELD_BITS = 8  # most bits of a field's number
FIELDS = ("channel", "rank", "group", "bank", "row", "column")


def same_bank(
    settings: Settings, lines: int, *, bank: int = 0, first_row: int = 0, rows: int | None = None
) -> list[int]:
    """Lines of one bank, each in another row than the previous one, so that every access misses the open row.

    `rows`: number of rows from `first_row` on, used repeatedly with other columns; None: all rows.
    """
    counts = _counts(settings)
    rows = counts["row"] if rows is None else rows
    address = _in_bank(settings, bank)
    return [
        address((first_row + i % rows) % counts["row"], (i + i // rows) % counts["column"])
        for i in range(lines)
    ]


def one_bank(settings: Settings, pages: Sequence[int], line_bytes: int) -> list[int]:
    """Lines of these pages in the bank of the first one, each in another row than the previous one: the
    stress on one bank that an owner of only these pages can cause."""
    base = int(settings["dram"]["base"])
    within = np.arange(0, PAGE_BYTES, line_bytes, dtype=np.uint64)
    lines = (np.array(pages, dtype=np.uint64)[:, None] - np.uint64(base) + within[None, :]).reshape(-1)
    bank = np.zeros(lines.shape, dtype=np.uint64)
    for field in ("channel", "rank", "group", "bank"):
        bank = (bank << np.uint64(FIELD_BITS)) | field_of(settings, lines, field)
    lines = lines[bank == bank[0]]
    rows = field_of(settings, lines, "row")
    order = np.argsort(rows, kind="stable")
    lines, rows = lines[order], rows[order]
    begins = np.flatnonzero(np.concatenate(([True], rows[1:] != rows[:-1])))
    lengths = np.diff(np.append(begins, rows.size))
    number = np.arange(rows.size) - np.repeat(begins, lengths)  # number of a line within its row
    return [int(line) + base for line in lines[np.lexsort((rows, number))]]


def field_of(settings: Settings, offsets: NDArray[np.uint64], field: str) -> NDArray[np.uint64]:
    """The field's value (bank, row, ...) for these offsets from the beginning of memory."""
    found = np.zeros(offsets.shape, dtype=np.uint64)
    for bit, mask in enumerate(settings["dram"]["map"].get(field, [])):
        parity = offsets & np.uint64(mask)
        for shift in (32, 16, 8, 4, 2, 1):
            parity = parity ^ (parity >> np.uint64(shift))
        found |= (parity & np.uint64(1)) << np.uint64(bit)
    return found


def beginnings(settings: Settings, rows: Iterable[int], *, bank: int = 0) -> list[int]:
    """Addresses of the beginnings of these rows of one bank."""
    address = _in_bank(settings, bank)
    return [address(row, 0) for row in rows]


def row_bytes(settings: Settings) -> int:
    """Bytes from the beginning of a row that are contiguous in that row."""
    others = (field for field in FIELDS if field != "column")
    masks = [mask for field in others for mask in settings["dram"]["map"].get(field, [])]
    return min(int(mask) & -int(mask) for mask in masks)


def rows_of_core(settings: Settings, core: int) -> range:
    """The rows of a core: an equal part of a bank's rows for each core. Rows beyond the memory belong to
    none."""
    dram = settings["dram"]
    share = rows_below(settings, int(dram["base"]) + int(dram["bytes"])) // len(settings["cores"])
    return range(share * core, share * (core + 1))


def rows_below(settings: Settings, end: int) -> int:
    """The largest power of two of rows that have all their addresses below `end`."""
    rows = int(settings["dram"]["shape"]["rows"])
    while rows > 1 and address_of(settings, {"row": rows - 1}) >= end:
        rows //= 2
    return rows


def address_of(settings: Settings, place: dict[str, int]) -> int:
    """The address of a place; fields that are not given are 0. Raises ValueError if the mapping cannot reach
    it."""
    wanted: list[tuple[int, int]] = []  # mask, parity
    for field in FIELDS:
        value = place.get(field, 0)
        wanted += (
            (mask, (value >> bit) & 1) for bit, mask in enumerate(settings["dram"]["map"].get(field, []))
        )
    return int(settings["dram"]["base"]) + _solved(wanted)


def _in_bank(settings: Settings, bank: int) -> Callable[[int, int], int]:
    """A function from row and column to an address in this bank."""
    base = int(settings["dram"]["base"])
    begin = address_of(settings, {"bank": bank})
    # Mappings are linear: the bits of fields move an address independently of each other.
    moves = {
        field: [address_of(settings, {field: 1 << bit}) - base for bit in range(count.bit_length() - 1)]
        for field, count in _counts(settings).items()
    }

    def moved(field: str, value: int) -> int:
        by = 0
        for bit, move in enumerate(moves[field]):
            by ^= move if value >> bit & 1 else 0
        return by

    return lambda row, column: base + ((begin - base) ^ moved("row", row) ^ moved("column", column))


def _solved(equations: Sequence[tuple[int, int]]) -> int:
    """An address whose bits under each mask have the given parity: Gauss elimination over GF(2)."""
    pivots: list[tuple[int, int, int]] = []  # pivot bit, mask, parity
    for mask, parity in equations:
        for pivot, other, other_parity in pivots:
            if mask >> pivot & 1:
                mask, parity = mask ^ other, parity ^ other_parity
        if mask == 0:
            if parity:
                raise ValueError("the mapping has no address for this place")
            continue
        low = (mask & -mask).bit_length() - 1
        pivots = [(p, m ^ mask, q ^ parity) if m >> low & 1 else (p, m, q) for p, m, q in pivots]
        pivots.append((low, mask, parity))
    return sum(1 << pivot for pivot, _, parity in pivots if parity)


def _counts(settings: Settings) -> dict[str, int]:
    shape = settings["dram"]["shape"]
    return {"row": int(shape["rows"]), "column": int(shape["columns"])}
