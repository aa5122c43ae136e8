# SPDX-License-Identifier: Apache-2.0
"""Output that all commands share: problems, notices, the JSON object.

All commands print problems with these functions, so that the form is the same everywhere. Verdicts are
decided elsewhere.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import typer

from bulkhead.envelope import result_object
from bulkhead.errors import BulkheadError, EnvironmentLacks

if TYPE_CHECKING:
    from rich.console import Console

    from bulkhead.admission.load import Loaded
    from bulkhead.config.problem import Problem
    from bulkhead.results.envelope import Envelope


def print_json(result: Envelope) -> None:
    typer.echo(json.dumps(result, indent=2))


def console() -> Console:
    """The console for people, with the colors and width of the terminal."""
    from bulkhead.report.fitting import FittingConsole

    return FittingConsole(highlight=False, soft_wrap=not sys.stdout.isatty())


def complain(text: str) -> None:
    typer.echo(text, err=True)


def complain_of(error: object) -> None:
    """Print an exception's text; each line is printed as an error of its own."""
    for line in str(error).splitlines():
        complain(f"error: {line}")


@contextmanager
def reported(
    command: str, *, as_json: bool, platform: str | None = None, on: str | None = None
) -> Iterator[None]:
    """If the block refuses its input, end the command with exit code 1 and the reasons, as text or as one
    object that begins with `facts`. EnvironmentLacks passes on to `bulkhead.cli`."""
    try:
        yield
    except EnvironmentLacks:
        raise
    except (BulkheadError, ValueError) as error:
        if as_json:
            reasons = str(error).splitlines() or [type(error).__name__]
            print_json(result_object(command, platform=platform, on=on, verdict="error", reasons=reasons))
        else:
            complain_of(error)
        raise typer.Exit(1) from error


def print_problems(problems: Iterable[Problem], *, kind: str = "error") -> None:
    """Print each problem as one line on standard error."""
    for problem in problems:
        complain(f"{kind}: {problem.text()}")


def require(loaded: Loaded) -> None:
    """If the system file has problems, print all of them and end the command; else print its notices."""
    print_problems(loaded.notices, kind="notice")
    if not loaded.ok:
        print_problems(loaded.problems)
        count = len(loaded.problems)
        complain(f"{loaded.file}: {count} error{'s' if count != 1 else ''}")
        raise typer.Exit(1)
