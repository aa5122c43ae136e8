# SPDX-License-Identifier: Apache-2.0
"""Output of `bulkhead run` during a run and at its end: in the terminal, and as a page."""

from __future__ import annotations

from pathlib import Path

from bulkhead.commands.output import complain
from bulkhead.run.watcher import Watcher


class TerminalWatcher(Watcher):
    """For systems of domains. With `as_json`, standard output is kept for the result."""

    def __init__(self, *, as_json: bool, attach: bool, page: bool) -> None:
        self.lines = not as_json
        self.attach = attach and not as_json
        self._page = page

    def say(self, text: str) -> None:
        complain(text)

    def finished(self, directory: Path) -> None:
        """Write the page of the run if wanted; print the result unless JSON is printed."""
        from bulkhead.report.load import load_run
        from bulkhead.report.terminal import show_run

        run_shown = load_run(directory)
        if self._page:
            from bulkhead.report.html import write_html

            write_html([run_shown], directory / "index.html")
        if self.lines:
            show_run(run_shown)


class ComponentsWatcher(Watcher):
    """For systems of components."""

    def __init__(self, *, as_json: bool, page: bool) -> None:
        self.lines = not as_json
        self._page = page

    def say(self, text: str) -> None:
        complain(text)

    def finished(self, directory: Path) -> None:
        from bulkhead.report.components import read_run, show_components_run, write_components_page

        run = read_run(directory)
        if self._page:
            write_components_page([run], directory / "index.html")
        if self.lines:
            show_components_run(directory, run[1])
