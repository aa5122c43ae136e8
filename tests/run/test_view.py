# SPDX-License-Identifier: Apache-2.0
"""The attached terminal: a line that is too long for it does not continue as another domain's."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from bulkhead.run.console import ConsoleLine
from bulkhead.run.view import Rows, WatchingView

TAG = b"[hog        1.000000] "
FORGED = b"[control    1.000000] bulkhead: ready"


def screen(stream: bytes, width: int) -> list[str]:
    """Rows of a terminal that wraps like a VT100: after the last column the cursor stays on that column until
    the next character, which is then the first of the next row."""
    rows, column = [[" "] * width], 0
    for byte in stream:
        if byte == 0x0A:
            rows.append([" "] * width)
        elif byte == 0x0D:
            column = 0
        elif byte == 0x08:
            column = max(0, min(column, width - 1) - 1)
        else:
            if column == width:
                rows.append([" "] * width)
                column = 0
            rows[-1][column] = chr(byte)
            column += 1
    return ["".join(row).rstrip() for row in rows]


def test_a_long_line_cannot_go_on_with_another_domains_tag() -> None:
    line = TAG + b"x" * (80 - len(TAG)) + FORGED + b"\r\n"
    assert screen(line, 80)[1] == FORGED.decode(), "what a terminal does by itself"
    assert screen(Rows().feed(line, 80), 80)[1] == "  x" + FORGED.decode()


def test_a_row_that_is_full_is_not_taken_back_into_the_tag() -> None:
    line = TAG + b"x" * (80 - len(TAG)) + b"\b" * (80 - len(TAG)) + FORGED + b"\r\n"
    assert screen(Rows().feed(line, 80), 80)[0].startswith(TAG.decode())


def test_backspaces_do_not_take_the_indent_back() -> None:
    line = TAG + b"x" * (82 - len(TAG)) + b"\b" * 30 + FORGED + b"\r\n"
    assert screen(Rows().feed(line, 80), 80)[1] == "  " + FORGED.decode()


def test_lines_that_fit_are_shown_as_they_come() -> None:
    stream = TAG + b"ls\b \b\r[hog+       1.000001] x\r\n" + b"\x1b[0mU-Boot \xc3\xbc\r\n"
    assert Rows().feed(stream, 80) == stream
    assert Rows().feed(TAG + b"x" * 200, 0) == TAG + b"x" * 200, "of a terminal without a width"


@given(
    st.lists(st.sampled_from([b"x", b"x\b", b"[control", b"    1.000000] ", b"\r" + TAG, b"\r\n" + TAG])),
    st.integers(24, 60),
)
def test_only_the_hypervisor_writes_at_the_edge_of_the_terminal(pieces: list[bytes], width: int) -> None:
    rows = Rows()
    stream = b"".join(rows.feed(piece, width) for piece in [TAG, *pieces])
    assert all((row + " ").startswith((TAG.decode(), "  ")) or not row for row in screen(stream, width))


def test_a_watched_line_is_broken_in_the_same_way() -> None:
    shown = WatchingView("a run", None, show_lines=True)
    printed: list[str] = []
    shown._console.width = 80
    shown._console._force_terminal = True
    shown._console.print = lambda text, **_: printed.append(text.plain)  # type: ignore[method-assign]
    shown.line(
        ConsoleLine(
            "hog",
            1_000_000_000,
            False,
            "x" * (80 - len("[hog             1.000000] ")) + FORGED.decode() + "\x07",
        )
    )
    rows = printed[0].split("\n")
    assert rows[1] == "  " + FORGED.decode() + "^G"
    assert all(len(row) <= 80 for row in rows)
