# SPDX-License-Identifier: Apache-2.0
"""Runs of the simulated machine's process: its output goes where the emulator's console goes, and however it
ends, the run reports that and leaves no process behind. The program is fake_machine.py."""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from bulkhead.run.session import RunOutcome
from bulkhead.run.simulator import SimulatedPlan, run_simulation, run_simulations
from bulkhead.run.view import WatchingView

FAKE = Path(__file__).with_name("fake_machine.py")


def plan(directory: Path, script: str, timeout_s: float | None = 20, **more: Any) -> SimulatedPlan:
    directory.mkdir(parents=True, exist_ok=True)
    request = {"script": script, "frames": [0x1000, 0x3000], "frames_file": str(directory / "memory.bin")}
    return SimulatedPlan(FAKE, request | more, directory, ("one",), timeout_s)


def run(directory: Path, script: str, **more: Any) -> RunOutcome:
    with WatchingView("test", None, show_lines=False) as view:
        return run_simulation(plan(directory, script, **more), view)


def test_console_pieces_and_frames_arrive_whole(tmp_path: Path) -> None:
    outcome = run(tmp_path, "run")
    assert outcome.how == "shutdown"
    assert outcome.console is not None and outcome.image is not None
    assert outcome.console.domains["one"].ready_ns == 500_000_000
    assert (tmp_path / "console.log").read_bytes().endswith(b"ready\n\xe9\n")
    assert outcome.image.bytes_at(0x3000) == b"\x07" * 4096
    assert outcome.image.bytes_at(0x2000) is None
    assert outcome.simulated is not None and outcome.simulated["started_ps"] == 1


@pytest.mark.parametrize(
    ("ending", "how", "said"),
    [("confused", "failed", "EL2 writes 0x0"), ("idle", "failed", "no interrupt will come")],
)
def test_an_end_that_is_none_has_its_reason(tmp_path: Path, ending: str, how: str, said: str) -> None:
    outcome = run(tmp_path, "run", ending=ending)
    assert outcome.how == how
    assert said in outcome.detail


def test_a_refusal_and_a_death_are_told_apart(tmp_path: Path) -> None:
    refused = run(tmp_path / "refused", "refuse")
    assert (refused.how, refused.image) == ("failed", None)
    assert "no such platform" in refused.detail
    died = run(tmp_path / "died", "die")
    assert died.how == "died"
    assert "assertion failed" in died.detail


def test_a_run_that_hangs_is_ended_when_its_time_is_over(tmp_path: Path) -> None:
    for timeout_s in (1, 4, 16):  # on a loaded host the process may start later than 1 s
        outcome = run(tmp_path / str(timeout_s), "hang", timeout_s=timeout_s)
        assert outcome.how == "timeout"
        assert f"within {timeout_s} s" in outcome.detail
        if outcome.simulated_ns is not None:
            break
    assert outcome.simulated_ns == 2, "as far as it has said"


def test_a_signal_ends_all_runs_in_order(tmp_path: Path) -> None:
    def interrupt() -> None:
        """Interrupts when the first two hang, or at the limit."""
        late = time.monotonic() + 15
        while time.monotonic() < late and len(list(tmp_path.glob("*/*.hangs"))) < 2:
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGTERM)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with WatchingView("test", None, show_lines=False) as view:
        outcomes = run_simulations(
            [plan(tmp_path / str(number), "hang") for number in range(3)], view, jobs=2
        )
    thread.join()
    assert [outcome.how for outcome in outcomes] == ["interrupted"] * 3
    assert outcomes[0].image is not None  # in order: its memory could still be read
    assert outcomes[0].simulated_ns == 7  # and its last time is known
    assert outcomes[2].image is None  # it had not begun
