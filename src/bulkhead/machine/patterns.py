# SPDX-License-Identifier: Apache-2.0
"""Addresses that hurt a DRAM in a chosen way, from its mapping: what benchmarks for boards search for.

The settings of the machine say which address bits choose bank, row and column. A pattern is a list of line
addresses; a generator (machine/generator.h) walks over it.
"""

from __future__ import annotations

from collections.abc import Sequence

from bulkhead.machine.settings import Settings

FIELDS = ("channel", "rank", "group", "bank", "row", "column")


def same_bank(
    settings: Settings, lines: int, *, bank: int = 0, first_row: int = 0, rows: int | None = None
) -> list[int]:
    """Lines of one bank, each in another row than the one before: every access misses the open row.

    `rows`: so many from `first_row` on, again and again in other columns; all that there are if unsaid.
    """
    counts = _counts(settings)
    rows = counts["row"] if rows is None else rows
    base = int(settings["dram"]["base"])
    # Mappings are linear: each bit of a field moves an address by what it does alone.
    moves = {
        field: [address_of(settings, {field: 1 << bit}) - base for bit in range(count.bit_length() - 1)]
        for field, count in counts.items()
    }

    def moved(field: str, value: int) -> int:
        by = 0
        for bit, move in enumerate(moves[field]):
            by ^= move if value >> bit & 1 else 0
        return by

    begin = address_of(settings, {"bank": bank}) - base
    return [
        base
        + (
            begin
            ^ moved("row", (first_row + i % rows) % counts["row"])
            ^ moved("column", (i + i // rows) % counts["column"])
        )
        for i in range(lines)
    ]


def rows_below(settings: Settings, end: int) -> int:
    """How many rows, of a power of two, have addresses below `end` alone."""
    rows = int(settings["dram"]["shape"]["rows"])
    while rows > 1 and address_of(settings, {"row": rows - 1}) >= end:
        rows //= 2
    return rows


def address_of(settings: Settings, place: dict[str, int]) -> int:
    """The address of a place whose other fields are 0. Raises ValueError if the mapping cannot reach it."""
    wanted: list[tuple[int, int]] = []  # mask, parity
    for field in FIELDS:
        value = place.get(field, 0)
        wanted += (
            (mask, (value >> bit) & 1) for bit, mask in enumerate(settings["dram"]["map"].get(field, []))
        )
    return int(settings["dram"]["base"]) + _solved(wanted)


def _solved(equations: Sequence[tuple[int, int]]) -> int:
    """An address with these parities of these masks: Gauss elimination over GF(2)."""
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
