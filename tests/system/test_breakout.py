# SPDX-License-Identifier: Apache-2.0
"""A guest that tries to break out gets nowhere, and its neighbours do not notice: `examples/breakout.yaml`.

Time is counted instructions, so the task's jitter with and without the attacker can be compared to the tick;
only some steps of each attempt are tried, so that the test takes seconds.
"""

from __future__ import annotations

import math

import pytest

from .harness import EXAMPLES, Run, boot
from .test_restart import witness_lines

pytestmark = [pytest.mark.emulator, pytest.mark.timeout(600)]

SETTINGS = (
    "domains.attacker.params.every=16",
    "domains.attacker.params.storm_ms=5",
    "domains.attacker.params.still_ms=250",
    "domains.control.params.before_us=200000",
    "domains.control.params.margin_us=60000",
    "domains.control.params.period_us=2000",
    "domains.control.params.report_every=200",
    "domains.witness.params.memory_kib=1",
    "domains.witness.params.print_every=10",
)
JITTER_MAY_DIFFER_BY_NS = 100  # six instructions: depends on the position of the counter's tick
CLASSES = {"memory", "devices", "registers", "instructions", "calls", "gic", "partitions", "storms"}


@pytest.fixture(scope="module")
def attacked(tmp_path_factory: pytest.TempPathFactory) -> Run:
    directory = tmp_path_factory.mktemp("breakout")
    return boot(EXAMPLES / "breakout.yaml", directory / "run", icount=True, overrides=SETTINGS)


def test_no_attempt_gets_through(attacked: Run) -> None:
    attempts = attacked.result["attempts"]
    assert {attempt["class"] for attempt in attempts} == CLASSES
    assert {attempt["domain"] for attempt in attempts} == {"attacker"}
    assert [attempt for attempt in attempts if attempt["through"]] == []
    assert sum(attempt["count"] for attempt in attempts) > 10_000
    assert attacked.result["verdict"] == "ok", attacked.result["reasons"]
    assert attacked.result["witnesses"]["tables"]["verdict"] == "held"


def test_each_attempt_that_ends_the_domain_is_told_by_its_next_life(attacked: Run) -> None:
    """So memory outside of the images is kept across a restart."""
    attempts = attacked.result["attempts"]
    ended = sum(attempt["count"] for attempt in attempts if attempt["outcome"] == "ended")
    assert attacked.domain("attacker")["restarts"] == ended > 20
    assert attacked.domain("attacker")["end"] == "system_off"


def test_a_crash_loop_leaves_the_log_readable(attacked: Run) -> None:
    """In a second there are eight lines on its life and the registers of one crash."""
    assert attacked.result["guest_ns"] is not None
    seconds = math.ceil(attacked.result["guest_ns"] / 1e9)
    of_its_life = [line for line in attacked.lines() if line.startswith("attacker: crashed")]
    registers = [line for line in attacked.lines() if line.startswith("attacker: pc ")]
    assert 1 <= len(of_its_life) <= 8 * seconds
    assert 1 <= len(registers) <= seconds


def test_the_task_is_released_as_without_the_attacker(attacked: Run) -> None:
    (found,) = attacked.result["interference"]
    assert found["domain"] == "control"
    assert found["held"] is True
    assert found["exits_per_release"]["irq_timer"]["after"] == pytest.approx(1, abs=0.02)
    assert found["before"]["releases"] >= 90
    assert found["after"]["releases"] >= 90
    for part in ("mean", "max"):
        before, after = (found[window]["jitter_ns"][part] for window in ("before", "after"))
        assert after <= before + JITTER_MAY_DIFFER_BY_NS
    assert attacked.domain("control")["report"]["missed"] == 0


def test_the_quiet_domain_says_what_it_would_say_alone(attacked: Run) -> None:
    said = [line for line in attacked.lines("witness") if line.startswith("witness:")]
    assert len(said) >= 5
    assert said == witness_lines(len(said), seed=1, words=128, every=10)
