# SPDX-License-Identifier: Apache-2.0
"""The interface with which a caller of `run_system` follows a run. By default it shows nothing.

The command `run` has a watcher that writes to the terminal. A watcher changes nothing about the run.
"""

from __future__ import annotations

from pathlib import Path


class Watcher:
    """Shows nothing."""

    lines = False  # write the consoles' lines while the system runs
    attach = False  # attach the guests' console to this terminal, if there is one

    def say(self, text: str) -> None:
        """Receive a line for the user, before the system starts."""

    def finished(self, directory: Path) -> None:
        """Called when all files of the result are in the directory, which is still reserved for this run."""
