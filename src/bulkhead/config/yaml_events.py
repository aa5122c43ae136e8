# SPDX-License-Identifier: Apache-2.0
"""The events of YAML text with their positions, as ruamel.yaml's parser of YAML 1.2 reports them.

source.py builds trees of them. Libyaml, which is written in C and takes a twentieth of the time, reads what
both parsers read alike. Everything else is left to ruamel.yaml: text with an error, so that there is one
wording of errors, and what YAML 1.1 and 1.2 differ in.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum, auto
from functools import lru_cache
from typing import Any, NamedTuple

import yaml


class YamlKind(Enum):
    DOCUMENT = auto()
    MAPPING = auto()
    SEQUENCE = auto()
    END = auto()  # of a mapping or a sequence
    SCALAR = auto()
    ALIAS = auto()


class YamlEvent(NamedTuple):
    """One event. `line` and `column` count from 1 and name its first character; 0 for an end."""

    kind: YamlKind
    line: int
    column: int
    text: str  # of a scalar
    style: str  # of a scalar: `'`, `"`, `|`, `>`, or nothing
    anchor: str | None
    tag: str | None


class NotYaml(Exception):
    """The text stops being YAML. `line` and `column` count from 1; 0 where the parser does not know them."""

    def __init__(self, cause: str, line: int = 0, column: int = 0) -> None:
        super().__init__(cause)
        self.cause, self.line, self.column = cause, line, column


_END = YamlEvent(YamlKind.END, 0, 0, "", "", None, None)
KINDS = {
    "DocumentStartEvent": YamlKind.DOCUMENT,
    "MappingStartEvent": YamlKind.MAPPING,
    "SequenceStartEvent": YamlKind.SEQUENCE,
    "MappingEndEvent": YamlKind.END,
    "SequenceEndEvent": YamlKind.END,
    "ScalarEvent": YamlKind.SCALAR,
    "AliasEvent": YamlKind.ALIAS,
}


@lru_cache(maxsize=64)
def events_of(text: str) -> tuple[list[YamlEvent], Exception | None]:
    """All events, and the exception that ended them, if any: NotYaml, or an error of the parser itself.

    Cached, since campaigns read the same platform files again.
    """
    quick = _by_libyaml(text)
    return (quick, None) if quick is not None else _by_ruamel(text)


def _by_libyaml(text: str) -> list[YamlEvent] | None:
    """None if the parsers could differ, or this PyYAML was built without libyaml."""
    if not yaml.__with_libyaml__:
        return None
    # They differ in line ends besides \n, in tabs, in the mark of the byte order, in directives, and in ends
    # of documents.
    if not all(line.isprintable() and not line.startswith(("%", "...")) for line in text.split("\n")):
        return None
    events: list[YamlEvent] = []
    try:
        _collect(yaml.parse(text, Loader=yaml.CSafeLoader), events)
    except (yaml.YAMLError, ValueError):
        return None
    # They differ in folded lines, in names of tags, and in where a value is that is not there.
    for event in events:
        absent = event.kind is YamlKind.SCALAR and not event.text and not event.style
        if absent or event.style in ("|", ">") or event.anchor is not None or event.tag is not None:
            return None
    return events


def _by_ruamel(text: str) -> tuple[list[YamlEvent], Exception | None]:
    from ruamel.yaml import YAML
    from ruamel.yaml.error import MarkedYAMLError, YAMLError

    events: list[YamlEvent] = []
    try:
        _collect(YAML(typ="rt", pure=True).parse(text), events)
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        cause = " ".join(str(part) for part in (error.context, error.problem) if part) or "is not YAML"
        return events, NotYaml(cause, mark.line + 1, mark.column + 1) if mark else NotYaml(cause)
    except (
        YAMLError,
        ValueError,
        RecursionError,
        AttributeError,
        AssertionError,
        IndexError,
        TypeError,
    ) as error:
        said = str(error).splitlines()[0][:100] if str(error) else type(error).__name__
        return events, NotYaml(f"is not YAML: {said}")
    except Exception as error:  # the caller raises it
        return events, error
    return events, None


def _collect(parsed: Iterable[Any], events: list[YamlEvent]) -> None:
    """Adds the events of either parser; both have the same names for them."""
    for event in parsed:
        kind = KINDS.get(type(event).__name__)
        if kind is YamlKind.END:
            events.append(_END)
        elif kind is not None:
            mark, style = event.start_mark, getattr(event, "style", None)
            anchor, tag = getattr(event, "anchor", None), getattr(event, "tag", None)
            events.append(
                YamlEvent(
                    kind,
                    mark.line + 1,
                    mark.column + 1,
                    getattr(event, "value", ""),
                    style or "",
                    None if anchor is None else str(anchor),
                    None if tag is None else str(tag),
                )
            )
