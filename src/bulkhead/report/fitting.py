# SPDX-License-Identifier: Apache-2.0
"""A console for terminals of any width: a table whose words do not fit beside each other is printed row by
row, each cell on lines of its own behind the name of its column.

Used by all commands. Rich alone would cut words off.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.measure import Measurement
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

_ANY_WIDTH = 10_000
_INDENT = "  "


class FittingConsole(Console):
    """Prints tables as they fit."""

    def print(self, *objects: Any, **how: Any) -> None:
        super().print(*(Fitted(one) if isinstance(one, Table) else one for one in objects), **how)


@dataclass(frozen=True)
class Fitted:
    """A table, or its rows one below the other where the table is too wide."""

    table: Table

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        needed = Measurement.get(console, options.update(max_width=_ANY_WIDTH), self.table).minimum
        if needed <= options.max_width:
            yield self.table
            return
        if self.table.title:
            yield Text.styled(str(self.table.title), "italic")
        yield from self._records(unwrapped=bool(options.no_wrap))

    def _records(self, *, unwrapped: bool) -> Iterator[RenderableType]:
        """For each row its first cell, and below it the others that are not empty."""
        names = [_text(column.header) for column in self.table.columns]
        for row in zip(*(column.cells for column in self.table.columns), strict=True):
            cells = [_named(name, _text(cell)) for name, cell in zip(names, row, strict=True)]
            yield cells[0]
            for cell in filter(None, cells[1:]):
                # A file has lines of any length; a padded text would be cut off there.
                yield (
                    Text.assemble(_INDENT, cell)
                    if unwrapped
                    else Padding(cell, (0, 0, 0, len(_INDENT)), expand=False)
                )


def _named(name: Text, cell: Text) -> Text:
    return Text.assemble((name.plain, "dim"), ": ", cell) if name and cell else cell


def _text(cell: RenderableType) -> Text:
    if isinstance(cell, Text):
        return cell
    return Text.from_markup(cell) if isinstance(cell, str) else Text(str(cell))
