# SPDX-License-Identifier: Apache-2.0
"""Progress of longer work, on standard error so that the output of `--json` is not affected.

On a terminal a bar that disappears at the end; else one line, and only if the work takes over two seconds.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

SHOWN_AFTER_S = 2.0

# update(fraction between 0 and 1, current step)
Update = Callable[[float, str], None]


def notice(text: str) -> None:
    """Prints a notice that does not stop the command."""
    Console(stderr=True, highlight=False, markup=False, soft_wrap=True).print(f"notice: {text}")


@contextmanager
def progress(title: str) -> Iterator[Update]:
    """Show `title` while the block runs. The block reports its progress by calling the yielded function."""
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
