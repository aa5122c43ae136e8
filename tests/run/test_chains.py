# SPDX-License-Identifier: Apache-2.0
"""Longest times of chains beside their bounds, in the result and the report of a run (D3)."""

from __future__ import annotations

import pytest

from bulkhead.report.sentences import chain_text
from bulkhead.run.chains import START_NS, chain_reasons, chains_json, chains_not_measured
from bulkhead.run.target import MACHINE, QEMU, ChainTarget

DISK = ChainTarget("disk", "client", "server", number=1, bound_ns=2_000_000, deadline_ns=2_500_000)
pytestmark = pytest.mark.req("D3", "F7")


def reported(longest_ns: object, answered: object = 7) -> dict[str, dict[str, object] | None]:
    return {"client": {"answered0": 9, "longest0_ns": 1, "answered1": answered, "longest1_ns": longest_ns}}


def test_a_time_at_the_bound_keeps_it_and_one_beyond_it_fails_the_run() -> None:
    kept = chains_json([DISK], reported(2_000_000))
    assert kept[0]["longest_ns"] == 2_000_000 and kept[0]["answered"] == 7
    assert chain_reasons(kept, MACHINE, {}) == []
    late = chains_json([DISK], reported(2_000_001))
    (reason,) = chain_reasons(late, MACHINE, {})
    assert reason.startswith("chain disk: the longest time") and "2 ms" in reason
    assert chain_reasons(late, QEMU, {}) == [], "times of the emulator follow the host"


@pytest.mark.parametrize(
    "reports", [{}, {"client": None}, {"client": {}}, reported(0, answered=0), reported("1", answered="7")]
)
def test_a_chain_without_an_answer_was_not_tested(reports: dict[str, dict[str, object] | None]) -> None:
    found = chains_json([DISK], reports)
    assert found[0]["longest_ns"] is None
    assert chain_reasons(found, MACHINE, {}) == []
    (remark,) = chains_not_measured(found)
    assert "'client' reported no answer" in remark


def test_the_age_of_a_request_without_an_answer_counts() -> None:
    waits = chains_json([DISK], reported(2_000_001, answered=0))
    assert len(chain_reasons(waits, MACHINE, {})) == 1
    assert "no answer, 2 ms after a request" in chain_text(dict(waits[0]))


def test_a_client_that_ran_and_reports_nothing_fails_the_run() -> None:
    silent = chains_json([DISK], {"client": None})
    enough = DISK.deadline_ns + START_NS
    assert chain_reasons(silent, MACHINE, {"client": enough}) == []
    (reason,) = chain_reasons(silent, MACHINE, {"client": enough + 1})
    assert reason == "chain disk: 'client' reported no answer, although it ran for 27.5 ms"
    assert chain_reasons(silent, QEMU, {"client": enough + 1}) == []


def test_the_report_has_the_longest_time_beside_the_bound() -> None:
    text = chain_text(dict(chains_json([DISK], reported(1_230_000))[0]))
    assert "7 answers, at most 1.23 ms after the request; bound 2 ms, deadline 2.5 ms" in text
    assert "no answer was reported" in chain_text(dict(chains_json([DISK], {})[0]))
