# SPDX-License-Identifier: Apache-2.0
"""Progress of work that takes longer than a moment, on standard error so that `--json` stays clean.

On a terminal a bar that vanishes when done; elsewhere one line, and only if the work takes over two seconds.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

SHOWN_AFTER_S = 2.0

# update(fraction between 0 and 1, what is being done now)
Update = Callable[[float, str], None]


def notice(text: str) -> None:
    """Something that is worth knowing and stops nothing."""
    Console(stderr=True, highlight=False, markup=False, soft_wrap=True).print(f"notice: {text}")


@contextmanager
def progress(title: str) -> Iterator[Update]:
    """Show `title` while the block runs; the block calls what it gets with the fraction done."""
    console = Console(stderr=True)
    with _bar(console, title) if console.is_terminal else _line(console, title) as update:
        yield update


@contextmanager
def _bar(console: Console, title: str) -> Iterator[Update]:
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[step]}", style="dim"),
    )
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(title, total=1.0, step="")
        yield lambda fraction, step: bar.update(task, completed=fraction, step=step)


@contextmanager
def _line(console: Console, title: str) -> Iterator[Update]:
    timer = threading.Timer(SHOWN_AFTER_S, lambda: console.print(f"{title} …"))
    timer.daemon = True
    timer.start()
    try:
        yield lambda _fraction, _step: None
    finally:
        timer.cancel()
