# SPDX-License-Identifier: Apache-2.0
"""What a user sees while a system runs: the attached console, dimmed lines, or progress alone.

Made by the command `run`, fed by the session. Standard output belongs to the attached console and, with
`--json`, to the result; everything else goes to standard error.
"""

from __future__ import annotations

import os
import sys
from contextlib import AbstractContextManager
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
from rich.text import Text

from bulkhead.run.console import HYPERVISOR, ConsoleParser, Line, printable


class AttachedView(AbstractContextManager["AttachedView"]):
    """Raw bytes to standard output, as a serial terminal shows them."""

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        """What follows starts on a line of its own, in normal colors; the session resets the terminal."""
        self.raw(b"\x1b[0m\r\n")

    def line(self, line: Line) -> None:
        """Lines are shown as they come, by `raw`."""

    def raw(self, data: bytes) -> None:
        while data:
            data = data[os.write(sys.stdout.fileno(), data) :]

    def tick(self, parser: ConsoleParser) -> None:
        """Nothing to update."""


class WatchingView(AbstractContextManager["WatchingView"]):
    """Lines on standard error if `show_lines`, and below them, on a terminal, how far the run is."""

    def __init__(self, title: str, for_ns: int | None, show_lines: bool) -> None:
        self._console = Console(stderr=True, highlight=False)
        self._for_s = for_ns / 1e9 if for_ns else None
        self._show_lines = show_lines
        self._in_result: dict[str, bool] = {}  # by domain: its current line is one
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

    def line(self, line: Line) -> None:
        if not self._show_lines or self._is_result(line):
            return
        text = printable(line.text)
        if line.domain is not None:
            name = line.domain + ("+" if line.continues else "")
            text = f"[{name:<12} {line.time_ns / 1e9:11.6f}] {text}"
        self._console.print(Text(text, style="dim"), soft_wrap=True)

    def _is_result(self, line: Line) -> bool:
        """Results are for the report, and in console.log: a screen full of them hides what is news."""
        if line.domain is None:
            return False
        if not line.continues:
            self._in_result[line.domain] = line.text.startswith(("report {", "attempt {"))
        return self._in_result.get(line.domain, False)

    def raw(self, data: bytes) -> None:
        """Only whole lines are shown."""

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
