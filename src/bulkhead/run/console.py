# SPDX-License-Identifier: Apache-2.0
"""Splits the single serial line of a running system into the lines of its domains.

The session feeds it with bytes as they arrive. Guests write the text, so it may be malformed. A tag counts
only at the start of a line, where only the hypervisor can write. The hypervisor replaces characters that are
not printable ASCII (hypervisor/console/console_line.h); bytes of a boot loader, of firmware and of a domain
with a raw console arrive unchanged.
"""

from __future__ import annotations

import contextlib
import json
import math
import re
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from bulkhead.run.attempts import AttemptLog

HYPERVISOR = "bulkhead"
READY = "bulkhead: ready"
TIME_LINE = "this is the time"  # as in hypervisor/console/console.h
_TAG = re.compile(
    r"\[(?P<name>[^\s\[\]+]+)(?P<more>\+?) +(?P<s>\d{1,9})\.(?P<us>\d{6})\] ?(?P<text>.*)", re.DOTALL
)
_ESCAPE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[ -/]*[0-~])")
_PROMPT = re.compile(r"(?:^|\r)[~/] # ?")
_REPORT = "report "
_LINE_LIMIT = 64 * 1024  # longer lines are split: a guest must not fill the tool's memory
_REPORT_DEPTH = 16
_KEPT_LINES = 1000  # the last lines of each domain; console.log has all of them


@dataclass(frozen=True)
class ConsoleLine:
    """One physical line. `domain` is None if it has no tag (firmware, or noise on the line)."""

    domain: str | None
    time_ns: int
    continues: bool
    text: str


@dataclass
class ConsoleLog:
    """The output of one domain so far."""

    lines: deque[str] = field(default_factory=lambda: deque(maxlen=_KEPT_LINES))
    line_count: int = 0
    ready_ns: int | None = None
    prompt_ns: int | None = None
    report: dict[str, object] | None = None
    attempts: AttemptLog = field(default_factory=AttemptLog)
    pending: str = ""  # the last line, which a continuation may extend
    # Watched texts that a line contained, with the time of the first; None: unknown (raw console).
    seen: dict[str, int | None] = field(default_factory=dict)


def plain(text: str) -> str:
    """The text without terminal escape sequences."""
    return _ESCAPE.sub("", text)


def visible(text: str) -> str:
    """Text that is safe to show on a terminal: characters that are not printable appear in the hypervisor's
    form (`^[`, `\\x9b`) or by their code point. A tab becomes a space."""
    return "".join(char if char.isprintable() else _code(ord(char)) for char in text.replace("\t", " "))


def _code(point: int) -> str:
    if point < 0x20 or point == 0x7F:
        return "^" + chr(point ^ 0x40)
    return f"\\x{point:02x}" if point < 0x100 else f"\\u{point:04x}" if point < 1 << 16 else f"\\U{point:08x}"


class ConsoleParser:
    """Takes bytes; the results are in `domains`. `on_line` is called for each physical line that ended.

    `raw`: the domain with a raw console. Lines without a tag are its own, and their time is not known. It can
    imitate the hypervisor's tag. `watched`: for each domain, texts to search for.
    """

    def __init__(
        self,
        names: Iterable[str],
        on_line: Callable[[ConsoleLine], None] | None = None,
        *,
        raw: str | None = None,
        watched: Mapping[str, Iterable[str]] | None = None,
    ) -> None:
        self.domains: dict[str, ConsoleLog] = {name: ConsoleLog() for name in (HYPERVISOR, *names)}
        self._tagged = (HYPERVISOR,) if raw is not None else tuple(self.domains)
        self.untagged: deque[str] = deque(maxlen=_KEPT_LINES)
        self.time_ns = 0  # of the newest tag
        self.told_ns: int | None = None  # the hypervisor's last answer to a question for the time
        self._on_line = on_line
        self._raw = raw
        self._watched = {name: tuple(texts) for name, texts in (watched or {}).items()}
        self._buffer = b""
        self._cut = False  # the buffer continues a line whose beginning was processed already
        self._cut_domain: str | None = None

    def feed(self, data: bytes) -> None:
        """Processes the next bytes of the line, in pieces of any size."""
        *complete, rest = (self._buffer + data).split(b"\n")
        for raw in complete:
            self._take(raw)
            self._cut = False
        while len(rest) > _LINE_LIMIT:
            self._take(rest[:_LINE_LIMIT])
            self._cut, rest = True, rest[_LINE_LIMIT:]
        self._buffer = rest
        self._look_for_prompt(rest)

    def finish(self) -> None:
        """The line has ended: processes what is pending."""
        if self._buffer:
            self._take(self._buffer)
            self._buffer = b""
        for console in self.domains.values():
            self._complete(console)

    def _take(self, raw: bytes) -> None:
        line = self._parse(raw)
        if self._on_line:
            self._on_line(line)
        if line.domain is None:
            self.untagged.append(line.text)
            return
        console = self.domains[line.domain]
        self.time_ns = max(self.time_ns, line.time_ns)
        # A domain with a raw console can write this line, too.
        if line.domain == HYPERVISOR and line.text == TIME_LINE and self._raw is None:
            self.told_ns = line.time_ns
        if not line.continues:
            self._complete(console)
        console.pending = (console.pending + line.text)[:_LINE_LIMIT]
        self._watch(line.domain, plain(console.pending), line.time_ns)
        self._match(console, line.time_ns)

    def _parse(self, raw: bytes) -> ConsoleLine:
        text = raw.decode("utf-8", "backslashreplace").removesuffix("\r")
        if self._cut:
            return ConsoleLine(self._cut_domain, self.time_ns, True, text)
        # Noise or lost bytes before a tag occur only at the start of all output.
        match = _TAG.match(text)
        domain = match["name"] if match and match["name"] in self._tagged else None
        self._cut_domain = domain or self._raw
        if match is None or domain is None:
            return ConsoleLine(self._raw, self.time_ns, False, text)
        time_ns = int(match["s"]) * 10**9 + int(match["us"]) * 1000
        return ConsoleLine(domain, time_ns, match["more"] == "+", match["text"])

    def _look_for_prompt(self, rest: bytes) -> None:
        """A prompt has no newline: examine the incomplete current line."""
        if not rest or self._cut:
            return
        line = self._parse(rest)
        if line.domain is None:
            return
        console = self.domains[line.domain]
        text = plain(console.pending + line.text if line.continues else line.text)
        self._watch(line.domain, text, line.time_ns)
        if line.domain != self._raw and console.prompt_ns is None and _PROMPT.search(text):
            console.prompt_ns = line.time_ns

    def _watch(self, name: str, text: str, time_ns: int) -> None:
        console = self.domains[name]
        for wanted in self._watched.get(name, ()):
            if wanted not in console.seen and wanted in text:
                console.seen[wanted] = None if name == self._raw else time_ns

    def _match(self, console: ConsoleLog, time_ns: int) -> None:
        if console is self.domains.get(self._raw or ""):
            return
        text = plain(console.pending)
        if console.ready_ns is None and text.startswith(READY):
            console.ready_ns = time_ns
        if console.prompt_ns is None and _PROMPT.search(text):
            console.prompt_ns = time_ns

    def _complete(self, console: ConsoleLog) -> None:
        text = plain(console.pending)
        console.pending = ""
        if not text:
            return
        console.line_count += 1
        console.lines.append(text)
        console.attempts.take(text)
        if text.startswith(_REPORT):
            # Not a report, or a damaged one: keep the last good one.
            with contextlib.suppress(ValueError, RecursionError):
                console.report = _report(text.removeprefix(_REPORT))


def _report(text: str) -> dict[str, object]:
    """A guest's report if it can be part of the run's result: an object with finite numbers and valid
    Unicode. Raises ValueError."""
    found = json.loads(text, parse_constant=_refuse, parse_float=_finite)
    if not isinstance(found, dict):
        raise ValueError("a report is an object")
    _check(found, _REPORT_DEPTH)
    return found


def _refuse(text: str) -> None:
    raise ValueError(f"{text} is not a number")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        _refuse(text)
    return number


def _check(value: object, depth: int) -> None:
    """Raises ValueError for what other JSON readers cannot process: deep nesting, huge numbers, lone
    surrogates."""
    if isinstance(value, (dict, list)) and not depth:
        raise ValueError("is nested too deeply")
    if isinstance(value, dict):
        for key, inner in value.items():
            _check(key, 0)
            _check(inner, depth - 1)
    elif isinstance(value, list):
        for inner in value:
            _check(inner, depth - 1)
    elif isinstance(value, str):
        value.encode()
    elif isinstance(value, int) and abs(value) >= 1 << 64:
        raise ValueError("is more than 64 bits")
