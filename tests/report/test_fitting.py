# SPDX-License-Identifier: Apache-2.0
"""Tables in terminals of any width: nothing that a table says is cut off."""

from __future__ import annotations

import io

import pytest
from rich.table import Table
from rich.text import Text

from bulkhead.report.fitting import Fitted, FittingConsole

ROWS = (("control", "0-2", "4,308,112", Text("held")), ("infotainment", "", "17", "lost"))


def table() -> Table:
    made = Table("domain", "colors", "evictions", "", title="isolation")
    for row in ROWS:
        made.add_row(*row)
    return made


def printed(width: int, shown: object) -> str:
    stream = io.StringIO()
    FittingConsole(file=stream, width=width, highlight=False).print(shown)
    return stream.getvalue()


@pytest.mark.parametrize("width", [20, 40, 60, 120])
def test_no_word_is_cut_off(width: int) -> None:
    for shown in (table(), Fitted(table())):
        text = printed(width, shown)
        for row in ROWS:
            for cell in row:
                assert str(cell) in text, f"{cell} in {width} columns"
        assert max(map(len, text.splitlines())) <= width


def test_a_table_that_fits_stays_a_table() -> None:
    assert "│ control" in printed(60, table())


def test_a_table_that_does_not_fit_is_printed_row_by_row() -> None:
    assert printed(30, table()).split("\n") == [
        "isolation",
        "domain: control",
        "  colors: 0-2",
        "  evictions: 4,308,112",
        "  held",
        "domain: infotainment",
        "  evictions: 17",
        "  lost",
        "",
    ]
