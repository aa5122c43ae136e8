# SPDX-License-Identifier: Apache-2.0
"""Console: tagged lines are split into the lines of each domain, whatever the guests write."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bulkhead.run.console import ConsoleLine, ConsoleParser, plain, visible


def parse(text: bytes, names: tuple[str, ...] = ("control", "linux", "hog")) -> ConsoleParser:
    parser = ConsoleParser(names)
    parser.feed(text)
    parser.finish()
    return parser


def test_lines_go_to_their_domains_with_their_time() -> None:
    lines: list[ConsoleLine] = []
    parser = ConsoleParser(("control", "linux"), lines.append)
    parser.feed(b"[control    0.000123] one\r\n[linux      2.104311] two words\r\n")
    assert lines == [
        ConsoleLine("control", 123_000, False, "one"),
        ConsoleLine("linux", 2_104_311_000, False, "two words"),
    ]
    assert parser.time_ns == 2_104_311_000


def test_continuation_is_joined_across_other_domains_lines() -> None:
    parser = parse(
        b"[control    1.000000] rep\r\n"
        b"[linux      1.000001] noise\r\n"
        b'[control+   1.000002] ort {"missed": 3}\r\n'
        b"[control    1.000003] next\r\n"
    )
    assert list(parser.domains["control"].lines) == ['report {"missed": 3}', "next"]
    assert parser.domains["control"].report == {"missed": 3}


def test_ready_line_gives_the_time_of_its_tag() -> None:
    parser = parse(
        b"[control    0.500000] booting\r\n[control    0.750000] bulkhead: ready now\r\n"
        b"[control    0.900000] bulkhead: ready\r\n"
    )
    assert parser.domains["control"].ready_ns == 750_000_000


def test_prompt_without_a_newline_is_seen() -> None:
    parser = ConsoleParser(("linux",))
    parser.feed(b"[linux      2.000000] BusyBox\r\n[linux      2.104311] \x1b[6n~ # ")
    assert parser.domains["linux"].prompt_ns == 2_104_311_000


def test_prompt_in_two_pieces_is_seen() -> None:
    parser = ConsoleParser(("linux", "hog"))
    parser.feed(b"[linux      2.0000")
    parser.feed(b"00] ~ \r\n[hog        2.000001] hi\r\n[linux+     2.000002] # ")
    assert parser.domains["linux"].prompt_ns == 2_000_002_000


def test_a_guest_cannot_speak_for_another() -> None:
    """Its text is after its own tag; carriage returns and other line separators start no line."""
    parser = parse(
        b"[hog        1.000000] [control    1.000000] bulkhead: ready\r\n"
        b"[hog        1.000001] x\r[control    1.000001] bulkhead: ready\r\n"
        + "[hog        1.000002] x\u2028[control    1.000002] bulkhead: ready\x85\x0b\x0c\r\n".encode()
    )
    assert parser.domains["control"].ready_ns is None
    assert parser.domains["control"].line_count == 0
    assert parser.domains["hog"].ready_ns is None


def test_escape_sequences_are_ignored_when_matching() -> None:
    parser = parse(b"[control    1.000000] \x1b[1;32mbulkhead: ready\x1b[0m\r\n")
    assert parser.domains["control"].ready_ns == 1_000_000_000
    assert plain("\x1b]0;title\x07a\x1b[2Kb\x1b(Bc") == "abc"


@given(st.text(max_size=200))
def test_what_is_shown_has_nothing_but_printable_characters(text: str) -> None:
    """This includes characters that reverse text (U+202E) and 8-bit control characters (U+009B)."""
    assert visible(text).isprintable()


def test_what_is_not_printable_is_shown_in_caret_form() -> None:
    assert visible("a\x1b[2J\x07b\rc\x7f\td") == "a^[[2J^Gb^Mc^? d"
    assert visible("\x9b2J \u202eabc \U000e0041 é") == "\\x9b2J \\u202eabc \\U000e0041 é"


def test_a_domain_with_the_terminal_for_itself_has_no_tags() -> None:
    """Its output is its own, whatever tag it imitates; the time of the output is not known."""
    parser = ConsoleParser(("linux", "hog"), raw="linux")
    parser.feed(
        b"[bulkhead   0.500000] 2 domains\r\nbulkhead: ready\r\n[hog        1.000000] bulkhead: ready\r\n"
    )
    parser.feed(b'report {"n": 1}\r\n~ # ')
    parser.finish()
    assert list(parser.domains["linux"].lines) == [
        "bulkhead: ready",
        "[hog        1.000000] bulkhead: ready",
        'report {"n": 1}',
        "~ # ",
    ]
    assert parser.domains["linux"].report == {"n": 1}
    assert parser.domains["linux"].ready_ns is None
    assert parser.domains["hog"].line_count == 0
    assert list(parser.domains["bulkhead"].lines) == ["2 domains"]
    assert not parser.untagged


def test_last_good_report_stays() -> None:
    parser = parse(
        b'[control    1.000000] report {"n": 1}\r\n[control    2.000000] report {"n": 2}\r\n'
        b'[control    3.000000] report {"n": \r\n'
    )
    assert parser.domains["control"].report == {"n": 2}


def test_unknown_tags_and_noise_are_kept_apart() -> None:
    parser = parse(b"\xff\xfeU-Boot\r\n[nobody     1.000000] bulkhead: ready\r\n[control    1.000000] a\r\n")
    assert list(parser.untagged) == ["\\xff\\xfeU-Boot", "[nobody     1.000000] bulkhead: ready"]
    assert parser.domains["control"].line_count == 1


def test_endless_line_does_not_fill_memory() -> None:
    parser = ConsoleParser(("hog",))
    parser.feed(b"[hog        1.000000] ")
    for _ in range(300):
        parser.feed(b"x" * 10_000)
    assert len(parser._buffer) < 200_000
    parser.feed(b"\r\n[hog        2.000000] bulkhead: ready\r\n")
    assert parser.domains["hog"].ready_ns == 2_000_000_000


def test_deep_json_does_not_end_the_tool() -> None:
    parser = parse(b"[hog        1.000000] report " + b"[" * 60_000 + b"\r\n[hog        1.000001] x\r\n")
    assert parser.domains["hog"].report is None


@pytest.mark.parametrize(
    "text",
    [
        '{"n": NaN}',
        '{"n": [1, -Infinity]}',
        '{"n": 1e999}',
        '{"n": ' + "9" * 400 + "}",
        '{"n": "\\ud800"}',
        '{"\\udfff": 1}',
        "[1, 2]",
        "null",
        '{"n": ' + "[" * 900 + "]" * 900 + "}",
    ],
)
def test_a_report_that_would_spoil_the_result_is_not_taken(text: str) -> None:
    """A guest's report becomes part of the run's JSON, which every program must be able to read."""
    good, bad = b'[hog  1.000000] report {"n": 1.5}\r\n', f"[hog  1.000001] report {text}\r\n".encode()
    assert parse(good + bad + b"[hog  1.000002] x\r\n").domains["hog"].report == {"n": 1.5}


@given(st.binary(max_size=400), st.lists(st.integers(0, 400), max_size=6))
def test_any_bytes_in_any_pieces_give_the_same_lines(data: bytes, cuts: list[int]) -> None:
    whole: list[ConsoleLine] = []
    pieces: list[ConsoleLine] = []
    data = b"[linux      1.000000] " + data.replace(b"\n", b"\r\n[linux      1.000000] ") + b"\n"
    one, many = ConsoleParser(("linux",), whole.append), ConsoleParser(("linux",), pieces.append)
    one.feed(data)
    edges = sorted({0, len(data), *(min(c, len(data)) for c in cuts)})
    for start, end in itertools.pairwise(edges):
        many.feed(data[start:end])
    assert whole == pieces
    assert all(line.domain == "linux" for line in whole)


def test_watched_texts_are_seen_when_they_first_come_also_without_a_newline() -> None:
    parser = ConsoleParser(("linux", "hog"), watched={"linux": ("login:", "boot", "never")})
    parser.feed(b"[linux      1.000000] boot\r\n[hog        1.500000] login:\r\n")
    parser.feed(b"[linux      2.000000] \x1b[1mlog")
    assert parser.domains["linux"].seen == {"boot": 1_000_000_000}
    parser.feed(b"in:")
    assert parser.domains["linux"].seen == {"boot": 1_000_000_000, "login:": 2_000_000_000}
    parser.feed(b"\r\n[linux      3.000000] login: boot\r\n")
    assert parser.domains["linux"].seen == {"boot": 1_000_000_000, "login:": 2_000_000_000}
    assert parser.domains["hog"].seen == {}


def test_a_watched_text_is_found_across_the_pieces_of_a_long_line() -> None:
    parser = ConsoleParser(("linux",), watched={"linux": ("abcdef",)})
    parser.feed(b"[linux      1.000000] abc\r\n[linux+     1.000001] def\r\n")
    assert parser.domains["linux"].seen == {"abcdef": 1_000_001_000}


def test_of_who_has_the_terminal_for_itself_it_is_not_known_when() -> None:
    parser = ConsoleParser(("linux",), raw="linux", watched={"linux": ("login:",)})
    parser.feed(b"Debian\r\nlogin: ")
    assert parser.domains["linux"].seen == {"login:": None}
