# SPDX-License-Identifier: Apache-2.0
"""What a user sees while a system runs: the attached console, dimmed lines, or only progress.

Made by `run_system`, fed by the session. The attached console and, with `--json`, the result use
standard output; everything else goes to standard error.
"""

from __future__ import annotations

import os
import shutil
import sys
from contextlib import AbstractContextManager
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
from rich.text import Text

from bulkhead.run.console import HYPERVISOR, ConsoleLine, ConsoleParser, plain, visible

# Columns before a row that continues a line too long for the terminal: only a tag is in column 0.
_INDENT = 2
# Modes that a guest may have set: soft reset, main screen, no reports of the mouse or of pasted text.
_RESET = b"\x1b[!p\x1b[?1049;1000;1002;1003;1004;1006;2004l"


class Rows:
    """Breaks the hypervisor's output where the terminal would. Otherwise a guest could pad a line so that the
    terminal's next row begins with another domain's tag."""

    def __init__(self) -> None:
        self._column = 0
        self._first = 0  # column that backspaces cannot pass

    def feed(self, data: bytes, width: int) -> bytes:
        """The bytes for a terminal of `width` columns. Bytes that the hypervisor does not write are a boot
        loader's and pass unchanged."""
        out = bytearray()
        for byte in data:
            if byte in b"\r\n":
                self._column = self._first = 0
            elif byte == 0x08:
                if self._column <= self._first:
                    continue
                self._column -= 1
            elif 0x20 <= byte < 0x7F:
                # Break before the last column: after writing it a terminal keeps its cursor there.
                if self._column >= width - 1 > _INDENT:
                    out += b"\r\n" + b" " * _INDENT
                    self._column = self._first = _INDENT
                self._column += 1
            out.append(byte)
        return bytes(out)


class AttachedView(AbstractContextManager["AttachedView"]):
    """The serial line on standard output. `raw`: a domain has a raw console, and all bytes pass unchanged."""

    def __init__(self, *, raw: bool = False) -> None:
        self._rows = None if raw else Rows()

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        """Later output starts on a new line in normal colors; after a raw console, terminal modes are reset,
        too."""
        end = b"\x1b[0m\r\n" if self._rows else _RESET + b"\x1b[0m\r\n"
        self._write(end)

    def line(self, line: ConsoleLine) -> None:
        """Not used: `raw` shows the output as it arrives."""

    def raw(self, data: bytes) -> None:
        self._write(self._rows.feed(data, shutil.get_terminal_size().columns) if self._rows else data)

    @staticmethod
    def _write(data: bytes) -> None:
        while data:
            data = data[os.write(sys.stdout.fileno(), data) :]

    def tick(self, parser: ConsoleParser) -> None:
        """Nothing to update."""


def _rows(text: str, width: int) -> list[str]:
    """Splits a line into rows of a terminal, as Rows does."""
    step = max(width - _INDENT, 1)
    return [
        text[:width],
        *(" " * _INDENT + text[start : start + step] for start in range(width, len(text), step)),
    ]


class WatchingView(AbstractContextManager["WatchingView"]):
    """Shows lines on standard error if `show_lines`, and the progress below them on a terminal."""

    def __init__(self, title: str, for_ns: int | None, show_lines: bool) -> None:
        self._console = Console(stderr=True, highlight=False)
        self._for_s = for_ns / 1e9 if for_ns else None
        self._show_lines = show_lines
        self._in_result: dict[str, bool] = {}  # by domain: its current line is a result
        self._progress: Progress | None = None
        self._task = TaskID(0)
        self._title = title

    def __enter__(self) -> WatchingView:
        if self._console.is_terminal:
            columns = (
                TextColumn("{task.description}"),
                BarColumn(pulse_style="dim"),
                TextColumn("{task.fields[clock]}"),
                TimeElapsedColumn(),
                TextColumn("{task.fields[ready]}", style="dim"),
            )
            self._progress = Progress(*columns, console=self._console, transient=True)
            self._progress.start()
            self._task = self._progress.add_task(self._title, total=self._for_s, clock="starting", ready="")
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        if self._progress:
            self._progress.stop()

    def line(self, line: ConsoleLine) -> None:
        if not self._show_lines or self._is_result(line):
            return
        text = visible(plain(line.text))
        if line.domain is not None:
            name = line.domain + ("+" if line.continues else "")
            text = f"[{name:<12} {line.time_ns / 1e9:11.6f}] {text}"
        width = self._console.width if self._console.is_terminal else len(text)
        self._console.print(Text("\n".join(_rows(text, width)), style="dim"), soft_wrap=True)

    def _is_result(self, line: ConsoleLine) -> bool:
        """Whether the line is a result. Results are shown in the report and in console.log, and would hide
        other lines here."""
        if line.domain is None:
            return False
        if not line.continues:
            self._in_result[line.domain] = line.text.startswith(("report {", "attempt {"))
        return self._in_result.get(line.domain, False)

    def raw(self, data: bytes) -> None:
        """Not used: only whole lines are shown."""

    def tick(self, parser: ConsoleParser) -> None:
        if not self._progress:
            return
        now_s = parser.time_ns / 1e9
        clock = f"{now_s:.1f} s" + (f" of {self._for_s:g} s" if self._for_s else "")
        ready = ", ".join(
            f"{name} {'ready' if console.ready_ns is not None or console.prompt_ns is not None else '…'}"
            for name, console in parser.domains.items()
            if name != HYPERVISOR
        )
        done = min(now_s, self._for_s) if self._for_s else None
        self._progress.update(self._task, completed=done, clock=clock + " guest time", ready=ready)
