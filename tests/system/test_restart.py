# SPDX-License-Identifier: Apache-2.0
"""A manager stops and restarts a busy domain at random instants, thousands of times, and no other domain is
affected.

The reaper checks every answer and that each promised restart happened; the witness checks its own memory and
prints lines that depend only on its parameters. Time is the host's, so that two cores run at the same time.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from .harness import Run, S, boot, domain, write_system

pytestmark = [pytest.mark.emulator, pytest.mark.timeout(600)]

ROUNDS = 2500
VICTIM = 1
MASK = (1 << 64) - 1


def mix(value: int) -> int:
    """The guests' `random_mix`."""
    value = ((value ^ value >> 30) * 0xBF58476D1CE4E5B9) & MASK
    value = ((value ^ value >> 27) * 0x94D049BB133111EB) & MASK
    return value ^ value >> 31


def witness_lines(count: int, seed: int, words: int, every: int) -> list[str]:
    """The output of an undisturbed witness."""
    lines, hashed = [], 0
    for step in range((count - 1) * every + 1):
        for index in range(words):
            hashed = mix(hashed ^ mix(seed ^ step << 40 ^ index))
        if step % every == 0:
            lines.append(f"witness: step {step} hash {hashed:016x}")
    return lines


def reap(tmp_path: Path, victim: dict[str, object], rounds: int, **params: int) -> Run:
    witness = domain(
        "witness", "witness", 0, params={"step_us": 10000, "memory_kib": 1, "print_every": 10, "seed": 7}
    )
    reaper = domain(
        "reaper", "reaper", 3, manager=True, params={"victim": VICTIM, "rounds": rounds, "seed": 42, **params}
    )
    system = write_system(tmp_path, witness, victim, reaper, expect={"reaper": "stopped"})
    return boot(system, tmp_path / "run", for_ns=120 * S)


def test_killed_at_random_thousands_of_times(tmp_path: Path) -> None:
    victim = domain("victim", "busy", 1, params={"tick_us": 50})
    victim["cpus"] = [1, 2]
    run = reap(tmp_path, victim, ROUNDS, gap_us=1500)
    assert run.status is not None
    report = run.domain("reaper")["report"]
    assert report is not None, run.lines("reaper")
    assert report["wrong"] == 0, run.lines("reaper")
    assert report["rounds"] == ROUNDS
    assert report["asked"] + report["stops"] >= ROUNDS, (
        "each is a kill; some hit a domain that gets up just then"
    )
    assert report["restarts"] == report["asked"] - report["taken_back"] >= ROUNDS // 10
    assert run.status.end_reason == "manager_request"
    witness, busy, reaper = run.status.domains
    assert busy.restarts == report["restarts"]
    assert (witness.restarts, reaper.restarts) == (0, 0)
    assert run.lines("victim") == [], "it found its image as it was loaded in each of its lives"
    said = [line for line in run.lines("witness") if line.startswith("witness:")]
    assert len(said) >= 10
    *whole, last = witness_lines(len(said), seed=7, words=128, every=10)
    assert said[:-1] == whole
    assert last.startswith(said[-1]), "only the end of the run may cut a line short"
    assert run.result["verdict"] == "ok", run.result["reasons"]
    assert run.result["witnesses"]["tables"]["verdict"] == "held"
    assert run.result["hypervisor"]["pool_used"] == run.status.pool_used


def test_what_was_loaded_in_place_is_not_started_again(tmp_path: Path) -> None:
    """The call reports that, and the domain continues if it runs."""
    reaper = domain("reaper", "reaper", 1, manager=True, params={"rounds": 1, "seed": 1})
    isolation = {"llc": "none"}
    expect = {"reaper": "stopped"}
    system = write_system(tmp_path, domain("hog", "hog", 0), reaper, isolation=isolation, expect=expect)
    run = boot(system, tmp_path / "run", icount=True, for_ns=S // 5)
    assert "reaper: restart was refused (fffffffffffffffd)" in run.lines("reaper")
    assert run.domain("hog")["restarts"] == 0


def test_a_domain_that_may_not_manage_cannot(tmp_path: Path) -> None:
    other = domain("reaper", "reaper", 1, params={"victim": 0})
    system = write_system(tmp_path, domain("witness", "witness", 0), other, expect={"reaper": "stopped"})
    run = boot(system, tmp_path / "run", icount=True, for_ns=S // 10)
    assert run.lines("reaper") == ["reaper: may not manage (-1)"]
    assert run.domain("witness")["state"] == "running"
