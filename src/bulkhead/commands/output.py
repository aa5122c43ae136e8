# SPDX-License-Identifier: Apache-2.0
"""Output that all commands share: problems, notices, the JSON object with its common keys, the version.

All commands print problems with these functions, so that the form is the same everywhere. Verdicts are
decided elsewhere.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from bulkhead import __version__
from bulkhead.env.paths import checkout, commit_file
from bulkhead.env.versions import used_json
from bulkhead.errors import BulkheadError, EnvironmentLacks

if TYPE_CHECKING:
    from rich.console import Console

    from bulkhead.admission.load import Loaded
    from bulkhead.config.problem import Problem
    from bulkhead.results.envelope import Envelope, Verdict


@cache
def commit() -> str:
    """The commit of this checkout, or the one from which the package was built. `+changes` follows if the
    checkout differs from it; "unknown" if there is no commit.
    """
    root = checkout()
    if root is None:
        recorded = commit_file()
        return recorded.read_text(encoding="utf-8").strip() if recorded.is_file() else "unknown"
    if not (root / ".git").exists():
        return "unknown"
    try:
        head = _git(root, "rev-parse", "--short=12", "HEAD")
        changed = _git(root, "status", "--porcelain", "--untracked-files=no")
    except (OSError, subprocess.SubprocessError):
        return "unknown"
    return head + ("+changes" if changed else "")


def version_text() -> str:
    return f"bulkhead {__version__} ({commit()})"


def result_object(
    command: str,
    *,
    system: str | None = None,
    platform: str | None = None,
    on: str | None = None,
    seed: int | None = None,
    verdict: Verdict,
    reasons: Sequence[str] = (),
    platform_sha256: str | None = None,
) -> Envelope:
    """The common keys of the object that `--json` prints; the command's own follow (bulkhead.results).
    `platform_sha256`: read from the platform's file if it is not given."""
    return {
        "bulkhead": {"version": __version__, "commit": commit()},
        "command": command,
        "system": system,
        "platform": platform,
        "platform_sha256": platform_sha256 or _sha256_of(platform),
        "on": on,
        "seed": seed,
        "verdict": verdict,
        "reasons": list(reasons),
        "fetched": used_json(),
    }


def _sha256_of(platform: str | None) -> str | None:
    """SHA-256 of a platform's text, by name or path; None if there is no such platform."""
    if platform is None:
        return None
    from bulkhead.config.load import load_platform
    from bulkhead.config.locate import platform_path

    path = platform_path(platform)
    text = load_platform(path)[1].text if path is not None else ""
    return hashlib.sha256(text.encode()).hexdigest() if text else None


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


def _git(root: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", "-C", str(root), *arguments], capture_output=True, text=True, check=True, timeout=10
    )
    return done.stdout.strip()
