# SPDX-License-Identifier: Apache-2.0
"""Parses YAML text into plain values with their positions.

load.py calls this for every file and every `--set`. It accepts a subset of YAML 1.2 (mappings, lists,
scalars) and reports the rest as errors, so that a configuration means what it looks like. It must not raise
on any input, and it expands nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from bulkhead.config.problem import KeyPath, Problem, key_text, quoted
from bulkhead.config.quantity import Empty
from bulkhead.config.yaml_events import NotYaml, YamlEvent, YamlKind, events_of

MAX_FILE_BYTES = 256 * 1024
MAX_DEPTH = 24
MAX_NUMBER_CHARS = 40

_FOLD = "\a"  # mark of ruamel's round-trip scanner; files cannot contain it, since it is not printable

_INT = re.compile(r"[-+]?[0-9]+|0x[0-9a-fA-F]+|0o[0-7]+|0b[01]+", re.ASCII)
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]{1,3})?", re.ASCII)
_NOT_FINITE = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
_NOT_UTF_8 = range(0xDC80, 0xDD00)  # characters for bytes that could not be decoded ("surrogateescape")


class Broken:
    """Placeholder for a value that was already reported; later checks ignore it."""


@dataclass
class Node:
    """A value and its place. `value` is a scalar, or a dict or list of nodes."""

    value: Any
    file: str
    line: int
    column: int
    key_line: int = 0  # line of the value's key; 0: it has none
    key_column: int = 0

    def plain(self) -> Any:
        """The value alone: lists as tuples, numbers exact, `Empty` for a key without a value."""
        if isinstance(self.value, dict):
            return {key: node.plain() for key, node in self.value.items()}
        if isinstance(self.value, list):
            return tuple(node.plain() for node in self.value)
        return self.value

    def at(self, path: KeyPath) -> tuple[Node, int]:
        """The deepest existing node on the way to `path`, and the number of parts that lead to it."""
        node = self
        for depth, part in enumerate(path):
            below = _children(node.value).get(part)
            if below is None:
                return node, depth
            node = below
        return node, len(path)


def _children(value: Any) -> dict[str | int, Node]:
    """The nodes directly below a value, by key or position."""
    if isinstance(value, list):
        return dict(enumerate(value))
    return value if isinstance(value, dict) else {}


@dataclass
class Source:
    """A file that was read: its tree, if it could be parsed, and the problems of its text."""

    file: str
    root: Node | None = None
    text: str = ""
    problems: list[Problem] = field(default_factory=list)


def read_file(path: Path, shown: str) -> Source:
    """Read and parse a file; all failures become problems of the source."""
    text, source = read_text(path, shown)
    return source if text is None else parse_text(text, source)


def read_text(path: Path, shown: str, errors: str = "strict") -> tuple[str | None, Source]:
    """The text of a file, or None and the reason in the source. `errors`: "surrogateescape" if parse_text()
    shall report bytes that are not UTF-8, so that they may be in a part that it does not get."""
    source = Source(shown)

    def whole(code: str, cause: str, allowed: str | None = None) -> tuple[None, Source]:
        source.problems.append(Problem(shown, 0, 0, "", code, cause, allowed))
        return None, source

    try:
        if path.is_dir():
            return whole("not-a-file", "is a directory", "a YAML file")
        if path.exists() and not path.is_file():
            return whole("not-a-file", "is not a regular file", "a YAML file")
        with path.open("rb") as stream:
            data = stream.read(MAX_FILE_BYTES + 1)
    except FileNotFoundError:
        return whole("missing-file", "no such file")
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else "not a usable file name"
        return whole("unreadable-file", f"cannot be read: {reason}")
    if len(data) > MAX_FILE_BYTES:
        return whole("too-large", "is too large", f"at most {MAX_FILE_BYTES} bytes")
    try:
        text = data.decode("utf-8", errors)
    except UnicodeDecodeError as error:
        before = data[: error.start]
        line, column = before.count(b"\n") + 1, error.start - (before.rfind(b"\n") + 1) + 1
        cause = f"byte 0x{data[error.start]:02x} is not UTF-8 text"
        source.problems.append(Problem(shown, line, column, "", "encoding", cause, "a UTF-8 text file"))
        return None, source
    return text, source


def parse_text(text: str, source: Source, *, line: int | None = None) -> Source:
    """Parse `text` into `source`. `line`: line number of everything in text that is not from a file (0)."""
    source.text = text
    builder = _Builder(source, line)
    for number, content in enumerate(text.split("\n")):
        if content.isprintable():
            continue
        for column, char in enumerate(content):
            if not (char.isprintable() or char in "\t\r\ufeff\x85\xa0\u3000" or char.isspace()):
                what = f"character U+{ord(char):04X} is not text"
                if ord(char) in _NOT_UTF_8:
                    what = f"byte 0x{ord(char) & 0xFF:02x} is not UTF-8 text"
                builder.problem(number + 1, column + 1, "encoding", what)
                return source
    events, failure = events_of(text)
    for event in events:
        if not builder.feed(event):
            return source
    if isinstance(failure, NotYaml):
        builder.problem(failure.line or 1, failure.column or 1, "syntax", failure.cause, "YAML 1.2")
        return source
    if failure is not None:
        raise failure.with_traceback(None)  # the exception is cached: drop its traceback, which would grow
    if builder.root is None or isinstance(builder.root.value, Empty):
        builder.problem(1, 1, "empty-file", "is empty", "a mapping of keys to values")
        return source
    source.root = builder.root
    return source


class _Builder:
    """Builds the tree from parser events, without recursion, and reports what is not allowed."""

    def __init__(self, source: Source, line: int | None) -> None:
        self.source = source
        self.fixed_line = line
        self.last_line = source.text.count("\n") + (0 if source.text.endswith("\n") else 1)
        self.root: Node | None = None
        self.stack: list[Node] = []
        self.keys: list[tuple[str, Node] | None] = []  # for each open mapping: the key waiting for its value
        self.parts: list[str | int] = []  # path to the innermost open collection
        self.depths: list[int] = []  # for each open collection: length of `parts` before it
        self.documents = 0

    def problem(self, line: int, column: int, code: str, cause: str, allowed: str | None = None) -> None:
        path = [*self.parts, *self._next_part()]
        line = self._line(line)
        self.source.problems.append(
            Problem(self.source.file, line, column, key_text(tuple(path)), code, cause, allowed)
        )

    def feed(self, event: YamlEvent) -> bool:
        """Process one event. Returns False to stop reading."""
        line, column = event.line, event.column
        if event.kind is YamlKind.DOCUMENT:
            self.documents += 1
            if self.documents > 1:
                self.problem(line, column, "many-documents", "a second document starts here", "one document")
                return False
        elif event.kind is YamlKind.ALIAS:
            self.problem(
                line,
                column,
                "alias",
                f"alias {quoted(f'*{event.anchor}')} is not supported",
                "the value itself",
            )
            self._put(self._node(Broken(), line, column))
        elif event.kind is YamlKind.SCALAR:
            self._check_markers(event, line, column)
            value = self._scalar(event, line, column)
            self._put(self._node(value, line, column), text=event.text)
        elif event.kind is YamlKind.END:
            self.stack.pop()
            self.keys.pop()
            del self.parts[self.depths.pop() :]
        else:
            return self._open(event, line, column)
        return True

    def _open(self, event: YamlEvent, line: int, column: int) -> bool:
        """Begin a mapping or a sequence. Returns False to stop reading."""
        self._check_markers(event, line, column)
        if len(self.stack) >= MAX_DEPTH:
            self.problem(line, column, "too-deep", "is nested too deeply", f"at most {MAX_DEPTH} levels")
            return False
        node = self._node({} if event.kind is YamlKind.MAPPING else [], line, column)
        below = self._next_part()
        self._put(node)
        self.depths.append(len(self.parts))
        self.parts += below
        self.stack.append(node)
        self.keys.append(None)
        return True

    def _next_part(self) -> list[str | int]:
        """The last part of the next value's path: one element, or none if a key is expected."""
        if not self.stack:
            return []
        if isinstance(self.stack[-1].value, list):
            return [len(self.stack[-1].value)]
        key = self.keys[-1]
        return [key[0]] if key is not None else []

    def _node(self, value: Any, line: int, column: int) -> Node:
        return Node(value, self.source.file, self._line(line), column)

    def _line(self, line: int) -> int:
        """An existing line: YAML also ends lines where editors do not, for example at a lone carriage
        return."""
        return max(1, min(line, self.last_line)) if self.fixed_line is None else self.fixed_line

    def _check_markers(self, event: YamlEvent, line: int, column: int) -> None:
        if event.anchor is not None:
            self.problem(
                line,
                column,
                "alias",
                f"anchor {quoted('&' + event.anchor)} is not supported",
                "no anchors",
            )
        if event.tag is not None:  # also one of the core schema: nothing converts values by their tags
            self.problem(line, column, "tag", f"tag {quoted(event.tag)} is not supported", "no tags")

    def _scalar(self, event: YamlEvent, line: int, column: int) -> Any:
        """The value of a scalar by the core schema of YAML 1.2; numbers stay exact."""
        text = event.text
        if event.style in ("|", ">"):
            # The parser marks folded lines. The last line end belongs to the block and not to the text.
            return text.replace(_FOLD, "").rstrip("\n")
        if event.style in ("'", '"'):
            return text
        if text in ("", "~", "null", "Null", "NULL"):
            return Empty()
        if text in ("true", "True", "TRUE", "false", "False", "FALSE"):
            return text.lower() == "true"
        if _NOT_FINITE.fullmatch(text):
            self.problem(
                line, column, "not-finite", f"{quoted(text)} is not a finite number", "a finite number"
            )
            return Broken()
        is_int = _INT.fullmatch(text) is not None
        if not is_int and not _FLOAT.fullmatch(text):
            return text
        if len(text) > MAX_NUMBER_CHARS:
            self.problem(line, column, "out-of-range", f"{quoted(text, 20)} is too large a number", "64 bits")
            return Broken()
        if is_int:
            return int(text, 0) if text[:2] in ("0x", "0o", "0b") else int(text)
        try:
            return Decimal(text)
        except InvalidOperation:
            return text

    def _put(self, node: Node, text: str | None = None) -> None:
        """Add a node to the open collection: as an element, a key, or a key's value."""
        if not self.stack:
            self.root = node if self.root is None else self.root
            return
        parent = self.stack[-1]
        if isinstance(parent.value, list):
            parent.value.append(node)
            return
        key = self.keys[-1]
        if key is None:
            self._take_key(parent, node, text)
            return
        name, key_node = key
        node.key_line, node.key_column = key_node.line, key_node.column
        if name and name not in parent.value:
            parent.value[name] = node
        self.keys[-1] = None

    def _take_key(self, parent: Node, node: Node, text: str | None) -> None:
        """Remember the key of the next node. The value of an unusable key is dropped."""
        name = node.value if isinstance(node.value, str) and node.value.isprintable() else ""
        if not name:
            shown = "of this entry" if text is None else quoted(text)
            self.problem(
                node.line, node.column, "wrong-type", f"the key {shown} is not a name", "keys that are names"
            )
        self.keys[-1] = (name, node)
        if name and name in parent.value:
            line = parent.value[name].key_line
            cause = f"the key {quoted(name)} is already given" + (f" in line {line}" if line else "")
            self.problem(node.line, node.column, "duplicate-key", cause, "each key once")
