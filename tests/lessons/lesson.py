# SPDX-License-Identifier: Apache-2.0
"""Lessons of `docs/start`: their files and commands, and whether a command prints what the lesson shows.

A lesson is Markdown. A block `yaml` whose first line is a comment with a path is a file that the reader saves
there. A block `console` has commands, each after `$ `, followed by its output. A line `...` stands for any
number of lines. Figures may differ by a factor of two, and the units of times with them; 0 and all words are
compared exactly.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

ANY_LINES = "..."
MOST_FACTOR = 2.0
_GROUP = re.compile(r"(?<=\d)[\u00a0\u202f\u2009,](?=\d{3}(?!\d))")  # between digits of one number
_NUMBER = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?)(?: (ns|us|µs|ms|s)\b|(?!\w))")  # no digit of a name
_NS = {"ns": 1.0, "us": 1e3, "µs": 1e3, "ms": 1e6, "s": 1e9}
_FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_FILE = re.compile(r"# (build/\S+)$")


class BadLesson(ValueError):
    """A block that is neither a file nor commands; the text names it."""


@dataclass(frozen=True)
class File:
    """A file that the reader saves: a path below the repository, and its text."""

    path: str
    text: str


@dataclass(frozen=True)
class Command:
    """A command line for the shell, and its output lines."""

    line: str
    expected: tuple[str, ...]

    @property
    def fails(self) -> bool:
        """Whether the lesson shows that it ends with status 1."""
        return any(line.startswith(("failed:", "error:", "0 of 1 file ok")) for line in self.expected)


def steps(text: str) -> list[File | Command]:
    """The reader's steps, in order. Raises BadLesson."""
    found: list[File | Command] = []
    for language, body in _FENCE.findall(text):
        first, _, _ = body.partition("\n")
        named = _FILE.match(first)
        if language == "yaml" and named:
            found.append(File(named[1], body))
        elif language == "console":
            found.extend(_commands(body))
    return found


def steps_of(page: Path) -> list[File | Command]:
    """The steps of a page. Raises BadLesson."""
    return steps(page.read_text(encoding="utf-8"))


def _commands(body: str) -> list[Command]:
    parts = re.split(r"^\$ ", body, flags=re.MULTILINE)
    if parts[0].strip():
        raise BadLesson(f"output without a command: {parts[0]!r}")
    return [
        Command(line, tuple(rest.splitlines())) for line, _, rest in (p.partition("\n") for p in parts[1:])
    ]


@dataclass(frozen=True)
class Word:
    """A word of a text: its letters, with `#` for a number and `#t` for a time, and the numbers (times in
    ns)."""

    letters: str
    numbers: tuple[float, ...] = ()

    def is_like(self, other: Word) -> bool:
        """Whether it has the same letters, and numbers of the same magnitude."""
        return self.letters == other.letters and all(
            one == two == 0 or (one and two and 1 / MOST_FACTOR <= one / two <= MOST_FACTOR)
            for one, two in zip(self.numbers, other.numbers, strict=True)
        )


def words_of(text: str) -> list[Word]:
    """The words of a text that are compared."""
    numbers: list[float] = []

    def take(found: re.Match[str]) -> str:
        numbers.append(float(found[1]) * _NS.get(found[2], 1.0))
        return "#" if found[2] is None else "#t"

    letters = _NUMBER.sub(take, " ".join(_GROUP.sub("", text).split())).split()
    values = iter(numbers)
    return [Word(word, tuple(islice(values, word.count("#")))) for word in letters]


def _alike(these: list[Word], those: list[Word]) -> bool:
    return len(these) == len(those) and all(
        one.is_like(other) for one, other in zip(these, those, strict=True)
    )


def difference(expected: tuple[str, ...], printed: str) -> str | None:
    """None if the output is as expected, else the first part that is missing or additional.

    Words are compared, not lines, because the terminal wraps long lines.
    """
    words = words_of(printed)
    texts = re.split(r"^\.\.\.$", "\n".join(expected), flags=re.MULTILINE)
    first, *middle, last = [words_of(text) for text in texts] if len(texts) > 1 else [words_of(texts[0]), []]
    if not _alike(first, words[: len(first)] if len(texts) > 1 else words):
        return f"not printed first: {texts[0]}"
    at = len(first)
    for part, text in zip(middle, texts[1:], strict=False):
        found = next((i for i in range(at, len(words) + 1) if _alike(part, words[i : i + len(part)])), None)
        if found is None:
            return f"not printed: {text}"
        at = found + len(part)
    return (
        None
        if _alike(last, words[max(at, len(words) - len(last)) :] if last else [])
        else f"not printed last: {texts[-1]}"
    )
