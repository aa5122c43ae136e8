# SPDX-License-Identifier: Apache-2.0
"""Attempts of a hostile guest: its reports are checked like all of its output, and decide the verdict."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bulkhead.run.attempts import AttemptLog
from bulkhead.run.interference import interference, interference_reasons

from .made_up import CONSOLE, MadeUp

GOOD = {"class": "memory", "what": "load", "count": 3, "outcome": "ended", "through": False}
THROUGH = {**GOOD, "outcome": "through", "through": True, "evidence": "4f"}
FINAL = {"planned": 1, "tried": 1, "records": 1, "tries": 3, "through": 0, "lives": 4}


def log(*lines: str) -> AttemptLog:
    found = AttemptLog()
    for line in lines:
        found.take(line)
    return found


def attempt(**changes: Any) -> str:
    return "attempt " + json.dumps({**GOOD, **changes})


def plan(**numbers: Any) -> str:
    return "attempts " + json.dumps(numbers)


def test_a_guest_that_was_contained() -> None:
    found = log(plan(planned=1), attempt(), plan(**FINAL))
    assert found.reasons("attacker") == []
    assert [entry.as_json("attacker") for entry in found.attempts] == [{"domain": "attacker", **GOOD}]


def test_a_guest_without_attempts_has_no_say() -> None:
    assert log("report {}", "attempting nothing", "attempt").reasons("linux") == []


def test_what_got_through_is_a_reason_with_its_evidence() -> None:
    found = log(plan(planned=1), "attempt " + json.dumps(THROUGH), plan(**{**FINAL, "through": 3}))
    assert found.reasons("attacker") == ["domain attacker: memory/load got through, 3 times (evidence 4f)"]


def test_a_guest_that_did_not_finish_has_shown_nothing() -> None:
    assert log(plan(planned=58)).reasons("a") == ["domain a did not finish: it reported 0 of 58 attempts"]
    assert log(plan(planned=58), attempt(), attempt(outcome="fault")).reasons("a") == [
        "domain a did not finish: it reported 1 of 58 attempts"
    ]


@pytest.mark.parametrize(
    "changes", [{"tried": 0}, {"records": 2}, {"tries": 4}, {"through": 1}, {"planned": 2}], ids=str
)
def test_what_it_says_at_its_end_must_fit(changes: dict[str, int]) -> None:
    found = log(plan(planned=1), attempt(), plan(**{**FINAL, **changes}))
    assert len(found.reasons("a")) == 1
    assert "differ from the summary at its end" in found.reasons("a")[0]


@pytest.mark.parametrize(
    "line",
    [
        "attempt {",
        "attempt []",
        "attempt " + "[" * 300,
        "attempt {}",
        attempt(count=0),
        attempt(count=-1),
        attempt(count=True),
        attempt(count=1.5),
        attempt(count=1 << 63),
        attempt(what="x" * 41),
        attempt(what="\u001b[2J"),
        attempt(what="<script>"),
        attempt(outcome=None),
        attempt(through="no"),
        attempt(through=True),
        attempt(outcome="through"),
        attempt(evidence="xyz"),
        attempt(evidence=4),
        attempt(more=1),
        attempt(what="load") + " " * 400,
        plan(planned="58"),
        plan(planned=1, tried=1),
        plan(planned=-1),
    ],
)
def test_what_is_not_as_expected_is_damaged_and_not_believed(line: str) -> None:
    found = log(line)
    assert found.attempts == []
    assert found.damaged == 1
    assert any("damaged" in reason for reason in found.reasons("attacker"))


def test_a_flood_of_attempts_ends_somewhere() -> None:
    found = log(*[attempt()] * 2500)
    assert len(found.attempts) == 2000
    assert found.damaged == 500


@given(st.text() | st.binary().map(lambda data: data.decode("latin-1")))
def test_any_text_is_taken(text: str) -> None:
    found = log("attempt " + text, "attempts " + text, text)
    assert found.attempts == [] or found.attempts[0].count > 0


def test_attempts_are_in_the_result_with_their_domain(tmp_path: Path) -> None:
    lines = (plan(planned=1), attempt(), plan(**FINAL))
    console = b"".join(b"[hog          1.000000] " + line.encode() + b"\r\n" for line in lines)
    result = MadeUp(tmp_path, console=console + CONSOLE).result()
    assert result["attempts"] == [{"domain": "hog", **GOOD}]
    assert result["verdict"] == "ok"
    unfinished = MadeUp(tmp_path, console=console.split(b"\r\n")[0] + b"\r\n" + CONSOLE).result()
    assert unfinished["verdict"] == "failed"
    assert unfinished["reasons"] == ["domain hog did not finish: it reported 0 of 1 attempts"]


def window(releases: int, *exits: int) -> dict[str, Any]:
    summary = {"min": 1, "mean": 2, "max": 3}
    return {
        "releases": releases,
        "jitter_ns": summary,
        "work_ns": summary,
        "exits_of_releases": releases,
        "exits": list(exits),
    }


NAMES = ("hvc", "uart_access", "irq_timer", "irq_ipi")


def test_the_same_exits_per_release_are_no_interference() -> None:
    report = {"before": window(600, 25, 900, 601, 0), "after": window(38016, 9000, 70000, 38015, 1)}
    found = interference("control", report, NAMES)
    assert found is not None
    assert found["held"] is True
    assert interference_reasons(found) == []


def test_more_exits_during_the_attack_are() -> None:
    report = {"before": window(600, 25, 900, 600, 0), "after": window(1000, 25, 900, 1000, 40)}
    found = interference("control", report, NAMES)
    assert found is not None
    assert found["differing"] == ["irq_ipi"]
    assert interference_reasons(found) == [
        "domain control: its core entered the hypervisor for `irq_ipi` 0.000 times per release before and "
        "0.040 times during the attack"
    ]


@pytest.mark.parametrize(
    "damage",
    [
        {},
        {"before": 1},
        {"before": window(0, 0, 0, 0, 0)},
        {"before": window(5, 1, 2, 3)},
        {"before": window(5, 1, 2, 3, -1)},
        {"before": {**window(5, 1, 2, 3, 4), "jitter_ns": {}}},
        {"before": {**window(5, 1, 2, 3, 4), "exits": "1234"}},
    ],
    ids=str,
)
def test_a_report_that_does_not_compare_is_left_alone(damage: dict[str, Any]) -> None:
    report = {"after": window(5, 1, 2, 3, 4), **damage}
    assert interference("control", report, NAMES) is None
    assert interference("control", None, NAMES) is None
