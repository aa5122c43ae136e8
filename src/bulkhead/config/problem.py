# SPDX-License-Identifier: Apache-2.0
"""Errors and notices about a file, as values; every stage of checking makes them.

Nothing here prints or raises: commands decide what to do with them.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bulkhead.results.problem import ProblemResult

KeyPath = tuple[str | int, ...]


@dataclass(frozen=True)
class Problem:
    """One error or notice, at one place."""

    file: str
    line: int  # from 1; 0: no place in a file (a missing file, or `--set`)
    column: int  # from 1
    key: str  # "domains[0].memory[0].size"; empty for the whole file
    code: str  # stable, for programs: "unknown-key"
    cause: str  # what is wrong
    allowed: str | None = None
    nearest: str | None = None

    def text(self) -> str:
        """One line for people."""
        parts = [f"{self.file}:{self.line}:{self.column}: " if self.line else f"{self.file}: "]
        if self.key:
            parts.append(f"{self.key}: ")
        parts.append(self.cause)
        if self.nearest:
            parts.append(f"; did you mean '{self.nearest}'?")
        if self.allowed:
            parts.append(f" (allowed: {self.allowed})")
        return "".join(parts) + f" [{self.code}]"

    def json(self) -> ProblemResult:
        return {
            "file": self.file,
            "line": self.line or None,
            "column": self.column if self.line else None,
            "key": self.key,
            "code": self.code,
            "cause": self.cause,
            "allowed": self.allowed,
            "nearest": self.nearest,
        }


@dataclass(frozen=True)
class Finding:
    """A problem with its key, but without its line and column yet."""

    path: KeyPath
    code: str
    cause: str
    allowed: str | None = None
    nearest: str | None = None


def key_text(path: KeyPath) -> str:
    """`("domains", 0, "name")` as `domains[0].name`."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            text += f".{part}" if text else part
    return text


def nearest_of(name: str, names: Iterable[str]) -> str | None:
    """The valid name that `name` was probably meant to be."""
    if len(name) > 200:
        return None
    exact = {candidate.lower(): candidate for candidate in names}
    found = difflib.get_close_matches(name.lower().replace("-", "_"), list(exact), n=1, cutoff=0.6)
    found = found or difflib.get_close_matches(name.lower(), list(exact), n=1, cutoff=0.6)
    return exact[found[0]] if found else None


def no_such(kind: str, name: str, names: Iterable[str]) -> str:
    """Text of an error: nothing of this kind has this name; adds the nearest name and the known ones."""
    known = list(names)
    near = nearest_of(name, known)
    hint = f"; did you mean '{near}'?" if near else ""
    return f"there is no {kind} {quoted(name)}{hint} (known: {', '.join(known)})"


def quoted(value: str, limit: int = 60) -> str:
    """Text of a user's file in a form that is safe to print: short, without control characters."""
    shown = value if len(value) <= limit else value[:limit] + "..."
    return "'" + "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in shown) + "'"
