# SPDX-License-Identifier: Apache-2.0
"""What `bulkhead top` shows (B8): rates of a window while a run goes on, the whole run's means at its end,
and that a run whose process was killed no longer counts as running."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from typer.testing import CliRunner

from bulkhead.cli import build_app
from bulkhead.commands import top
from bulkhead.planning.budgets import Budget
from bulkhead.run import find
from bulkhead.run.directory import run_directory
from bulkhead.run.live import LIVE_FILE, Window, live_table
from bulkhead.run.status import BudgetStatus, CoreStatus, DomainStatus, SharedVcpu, SystemStatus
from bulkhead.run.target import DomainTarget, Target

from .made_up import NAMES, MadeUp

MS = 10**6
BUDGET = BudgetStatus(
    events=2_000_000, periods=2000, late_periods=0, throttled_periods=2000, throttled_ns=500 * MS,
    overshoot_periods=0, overshoot_events=0, overshoot_max=0, max_per_period=1000, limit=1000, period_ns=MS,
    changes=0,
)  # fmt: skip
CORE = CoreStatus(0, 0, 0, False, {"wfx": 4000}, 0, 0, BUDGET)
STATUS = SystemStatus(
    phase="ended", end_reason="run_limit", refusal=0, refusal_name=None, refusal_offset=0,
    guest_ns=2000 * MS, ttbr0_el2=0, pool_frames=0, pool_used=0, counter_hz=10**6, started_at=1,
    domains=[DomainStatus("running", "none", 0, 0, 0, None, 0, 0, 0, 0)] * 2, cores=[CORE],
)  # fmt: skip


@pytest.fixture
def target(tmp_path: Path) -> Target:
    made = MadeUp(tmp_path)._target({name: [] for name in NAMES}, [], [])
    limited = Budget(events=1000, period_ns=MS, chunk_events=0)
    domains = (
        DomainTarget("hog", (0,), budget=limited, event="X", event_bytes=64),
        DomainTarget("idle", (0,)),
    )
    return replace(made, domains=domains)


def shown(table: dict[str, Any], state: str) -> str:
    console = Console(width=80, record=True, file=io.StringIO())
    console.print(top.table_of(table | {"state": state}))
    return console.export_text()


def test_a_run_that_has_ended_shows_the_means_of_all_of_it(target: Target) -> None:
    """Not of the moment after the last look, in which nothing happened."""
    table = live_table(target, STATUS, Window(seconds=2.0, clock="guest", guest_s=2.0, ended=True))
    row = table["domains"][0]
    assert (row["exits_per_s"], row["events_per_period"], row["throttled"]) == (2000, 1000, 0.25)
    assert row["mb_per_s"] == pytest.approx(64)
    text = shown(table, "ended")
    assert "means of the whole run" in text and "running" not in text and "ran" in text


def test_while_it_runs_rates_are_of_what_came_since_the_look_before(target: Target) -> None:
    before = replace(CORE, exits={"wfx": 3000}, budget=replace(BUDGET, periods=1000, events=1_500_000))
    table = live_table(target, STATUS, Window(seconds=1.0, clock="host", guest_s=2.0, before={0: before}))
    row = table["domains"][0]
    assert (row["exits_per_s"], row["events_per_period"]) == (1000, 500)


def test_exits_of_a_shared_core_are_nobodys(target: Target) -> None:
    vcpus = tuple(SharedVcpu(d, 0, "ready", d, 1, 0, 5, 0, 0, None) for d in (0, 1))
    status = replace(STATUS, cores=[replace(CORE, domain=255, shared=vcpus)])
    table = live_table(target, status, Window(seconds=2.0, clock="guest", guest_s=2.0, ended=True))
    assert [row["exits_per_s"] for row in table["domains"]] == [None, None]


def test_the_table_fits_a_terminal_of_80_columns(target: Target) -> None:
    table = live_table(target, STATUS, Window(seconds=2.0, clock="guest", guest_s=2.0))
    row = table["domains"][0] | {
        "domain": "navigation-and-control", "cores": [0, 1, 2, 3, 4, 5, 6, 7], "state": "restarting",
        "events_per_period": 12_345_678, "budget": 12_345_678, "period_ns": 999_000, "mb_per_s": 12_345,
        "throttled": 1.0, "exits_per_s": 1_234_567,
    }  # fmt: skip
    text = shown(table | {"domains": [row]}, "running")
    assert "…" not in text
    assert "1\u202f234\u202f567" in text and "100.0 %" in text
    assert max(len(line.rstrip()) for line in text.splitlines()) <= 80


def test_a_run_that_was_killed_no_longer_runs(target: Target, tmp_path: Path) -> None:
    """Its lock goes with its process; while it is held, silence is only silence. So do its domains."""
    table = live_table(target, STATUS, Window(seconds=1.0, clock="host", guest_s=2.0))
    with run_directory(tmp_path, "run") as place:
        file = place / LIVE_FILE
        file.write_text(json.dumps(table))
        seen = top._look(file)
        assert (seen["state"], seen["domains"][0]["state"]) == ("running", "running")
        os.utime(file, (0, 0))
        assert top._look(file)["state"] == "running"
    seen = top._look(file)
    assert (seen["state"], seen["domains"][0]["state"]) == ("killed", "ran")
    assert "killed" in shown(seen, seen["state"])
    file.write_text(json.dumps(table | {"ended": True}))
    assert top._look(file)["state"] == "ended"


def test_top_says_that_a_run_was_killed_as_soon_as_it_was(target: Target, tmp_path: Path) -> None:
    """With signal 9, which no process can answer, and a child that lives on."""
    table = live_table(target, STATUS, Window(seconds=1.0, clock="host", guest_s=2.0))
    program = (
        "import subprocess, sys, time; from pathlib import Path\n"
        "from bulkhead.run.directory import run_directory\n"
        "with run_directory(Path(sys.argv[1]), 'run') as place:\n"
        "    child = subprocess.Popen(['sleep', '60'])\n"
        "    (place / 'live.json').write_text(sys.argv[2])\n"
        "    print(child.pid, flush=True)\n"
        "    time.sleep(60)\n"
    )
    command = [sys.executable, "-c", program, str(tmp_path), json.dumps(table)]
    source = str(Path(top.__file__).parents[2])
    run = subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": source}
    )
    assert run.stdout is not None
    child = int(run.stdout.readline())
    try:
        assert "running" in once(tmp_path / "run")
        run.kill()
        run.wait()
        assert "killed: its process ended without a result" in once(tmp_path / "run")
    finally:
        os.kill(child, signal.SIGKILL)
        run.stdout.close()


def test_top_tells_a_run_that_goes_on_without_a_table_from_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run without budgets writes its table at its end: whoever asks before is not told to start one."""
    system = Path(__file__).parents[2] / "examples" / "zcu102.yaml"
    monkeypatch.setattr(find, "build_dir", lambda: tmp_path)
    with run_directory(tmp_path / "run", "zcu102") as place:
        for asked in (system, place):
            with pytest.raises(find.NoRun, match="the run goes on and has written no"):
                find.find_run(asked, LIVE_FILE)
    with pytest.raises(find.NoRun, match="start one"):
        find.find_run(system, LIVE_FILE)


def once(directory: Path) -> str:
    done = CliRunner().invoke(build_app(), ["top", str(directory), "--once"], env={"COLUMNS": "120"})
    assert done.exit_code == 0
    return done.stdout
