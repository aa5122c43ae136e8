# SPDX-License-Identifier: Apache-2.0
"""Two unmodified Linux domains on one core (B2): both reach their prompts and answer, also beside a domain
that computes all the time; the console's escape keys select the domain that gets the input."""

from __future__ import annotations

from pathlib import Path

import pytest

from .harness import EXAMPLES, STAYING, attached

pytestmark = [pytest.mark.emulator, pytest.mark.slow, pytest.mark.timeout(900), pytest.mark.req("B2")]

NEXT_DOMAIN = "\x01n"  # Ctrl-A n
QUESTION = "echo answer $((6 * 7)) of $(nproc)"
ANSWER = "answer 42 of 1"


def test_both_come_to_their_prompts_and_answer(tmp_path: Path) -> None:
    with attached(EXAMPLES / "shared-linux.yaml", tmp_path / "run", *STAYING) as terminal:
        terminal.wait_for_prompt("one")
        assert terminal.ask(QUESTION, "one") == ANSWER
        terminal.child.send(NEXT_DOMAIN)
        terminal.wait_for_prompt("two")
        assert terminal.ask(QUESTION, "two") == ANSWER
        # Each gets its turns, and only its turns, beside an endless loop.
        terminal.ask("(while true; do true; done) & true", "two")
        terminal.child.send(NEXT_DOMAIN)
        assert terminal.ask(QUESTION, "one") == ANSWER
        terminal.child.send(NEXT_DOMAIN)
        assert terminal.ask(QUESTION, "two") == ANSWER
        run = terminal.leave()
    (core,) = run.result["shared_cores"]
    assert {vcpu["domain"] for vcpu in core["vcpus"]} == {"one", "two"}
    for vcpu in core["vcpus"]:
        assert vcpu["blocks"] > 0, "each waits, and is woken, by its own timer"
        assert vcpu["run_ns"] > 0
    assert run.result["witnesses"]["tables"]["verdict"] == "held"
