# SPDX-License-Identifier: Apache-2.0
"""Markdown tables of predicted beside published figures, one section for each validation board.

The command `validate --markdown` prints them, and docs/results/validation.md contains them as they are
printed. A board's curve is shown at a few sizes of the block; its rates are shown completely.
"""

from __future__ import annotations

from collections.abc import Sequence

from bulkhead.units import size_text
from bulkhead.validation.compare import Compared, of_role
from bulkhead.validation.groups import PointGroup, grouped
from bulkhead.validation.measure import KIB, MIB

# Within L2, as large as the two usual sizes of L2, just beyond, and within DRAM with few and many TLB misses.
SIZES = (64 * KIB, 256 * KIB, 512 * KIB, MIB, 4 * MIB, 64 * MIB)
_NOTHING = "–"


def markdown(compared: Sequence[Compared]) -> str:
    """A heading and tables for each validation board, in the order of the points."""
    by_board: dict[str, list[PointGroup]] = {}
    for group in grouped(of_role(compared, "validation")):
        by_board.setdefault(group.board, []).append(group)
    return "\n".join(f"### {board}\n\n{_board(groups)}" for board, groups in by_board.items())


def _board(groups: Sequence[PointGroup]) -> str:
    curves = [group for group in groups if group.compared[0].point.unit == "ns"]
    rates = [group for group in groups if group.compared[0].point.unit != "ns"]
    tables = []
    if curves:
        tables.append(_table(["figure", *map(size_text, SIZES)], [_curve(group) for group in curves]))
    if rates:
        tables.append(_table(["figure", "published", "machine", "error"], [_rate(group) for group in rates]))
    return "\n".join(tables)


def _curve(group: PointGroup) -> list[str]:
    at = {one.point.size: one for one in group.compared}
    return [group.name, *(_cell(at[size]) if size in at else _NOTHING for size in SIZES)]


def _cell(one: Compared) -> str:
    return f"{one.point.published:.1f}, {one.predicted:.1f} ({_error(one)})"


def _rate(group: PointGroup) -> list[str]:
    (one,) = group.compared
    return [group.name, f"{one.point.published:.0f}", f"{one.predicted:.0f}", _error(one)]


def _error(one: Compared) -> str:
    return f"{100 * one.error:+.0f} %"


def _table(heading: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [heading, ["---"] * len(heading), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)
