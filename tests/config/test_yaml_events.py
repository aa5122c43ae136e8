# SPDX-License-Identifier: Apache-2.0
"""Both parsers of configuration files agree on every text that the fast one is trusted with."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bulkhead.config.yaml_events import NotYaml, YamlKind, _by_libyaml, _by_ruamel, events_of

ROOT = Path(__file__).parents[2]
FILES = sorted(
    [
        *(ROOT / "platforms").glob("*.yaml"),
        *(ROOT / "examples").glob("*.yaml"),
        *ROOT.glob("experiments/*.yaml"),
    ]
)
TEXTS = [path.read_text() for path in FILES]
PUT_IN = ":,{}[]-?#\"'|>%@`!&*~ \t\n\r\\./0aé\x85 "


@pytest.mark.parametrize("text", TEXTS, ids=[f"{path.parent.name}-{path.stem}" for path in FILES])
def test_files_of_the_repository(text: str) -> None:
    events, failure = _by_ruamel(text)
    assert failure is None
    quick = _by_libyaml(text)
    assert quick is None or quick == events


def test_most_files_are_read_by_the_fast_parser() -> None:
    assert sum(_by_libyaml(text) is not None for text in TEXTS) >= 0.9 * len(TEXTS)


@st.composite
def damaged(draw: st.DrawFn) -> str:
    """Some lines of a file, with a few characters put in or replaced."""
    lines = draw(st.sampled_from(TEXTS)).split("\n")
    first = draw(st.integers(0, len(lines) - 1))
    text = "\n".join(lines[first : first + draw(st.integers(1, 12))])
    # One number for all places: they are random, and need not shrink.
    places = random.Random(draw(st.integers(0, 2**32)))
    for _ in range(draw(st.integers(0, 4))):
        at = places.randrange(len(text) + 1)
        text = text[:at] + places.choice(PUT_IN) + text[at + places.choice((0, 0, 1)) :]
    return text


@settings(max_examples=400, deadline=None)
@example("a:\n  b:\nc: 1\n")  # where a value is that is not there
@example("a: |\n  b\n  c\n")
@example("a: >\n  b\n  c\n")
@example("a: &b 1\nc: *b\n")
@example("a: !!str 1\n")
@example("%YAML 1.1\n---\na: 0o7\n")
@example("a: 1\n---\nb: 2\n")
@example("a\tb: 1\n")
@example("a: b\x85c: d\n")
@example('{"a":1,b:2, c : [d,e f]}')
@given(damaged())
def test_what_the_fast_parser_accepts_the_other_reads_alike(text: str) -> None:
    quick = _by_libyaml(text)
    if quick is not None:
        assert _by_ruamel(text) == (quick, None)


def test_errors_are_those_of_one_parser() -> None:
    events, failure = events_of("a: [1,\nb: {c\n")
    assert [event.kind for event in events[:3]] == [YamlKind.DOCUMENT, YamlKind.MAPPING, YamlKind.SCALAR]
    assert isinstance(failure, NotYaml)
    assert (failure.line, failure.column) == (3, 1)
    assert "while parsing a flow mapping" in failure.cause
