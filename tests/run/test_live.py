# SPDX-License-Identifier: Apache-2.0
"""Output of `bulkhead top` (B8): rates of a window during a run, the whole run's means at its end, and that a
run whose process was killed no longer counts as running."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console
from typer.testing import CliRunner

from bulkhead.cli import build_app
from bulkhead.commands import top, top_view
from bulkhead.planning.budgets import Budget
from bulkhead.results.top import LiveSeen, LiveState, RunState
from bulkhead.run import find
from bulkhead.run.directory import run_directory
from bulkhead.run.live import LIVE_FILE, LiveWindow, live_table
from bulkhead.run.status import (
    BudgetStatus,
    CoreStatus,
    DomainStatus,
    FlowStatus,
    SharedVcpu,
    SystemStatus,
)
from bulkhead.run.target import DomainTarget, FlowTarget, Target

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


def shown(table: LiveState, state: RunState) -> str:
    console = Console(width=80, record=True, file=io.StringIO())
    console.print(top_view.table_of({**table, "state": state}))
    return console.export_text()


def test_a_run_that_has_ended_shows_the_means_of_all_of_it(target: Target) -> None:
    """The last window, in which nothing happened, is not used."""
    table = live_table(target, STATUS, LiveWindow(seconds=2.0, clock="guest", guest_s=2.0, ended=True))
    row = table["domains"][0]
    assert (row["exits_per_s"], row["events_per_period"], row["throttled"]) == (2000, 1000, 0.25)
    assert row["mb_per_s"] == pytest.approx(64)
    text = shown(table, "ended")
    assert "means of the whole run" in text and "running" not in text and "ran" in text


def test_while_it_runs_rates_are_of_what_came_since_the_look_before(target: Target) -> None:
    before = replace(CORE, exits={"wfx": 3000}, budget=replace(BUDGET, periods=1000, events=1_500_000))
    table = live_table(target, STATUS, LiveWindow(seconds=1.0, clock="host", guest_s=2.0, before={0: before}))
    row = table["domains"][0]
    assert (row["exits_per_s"], row["events_per_period"]) == (1000, 500)


def test_exits_of_a_shared_core_are_nobodys(target: Target) -> None:
    vcpus = tuple(SharedVcpu(d, 0, "ready", d, 1, 0, 5, 0, 0, None) for d in (0, 1))
    status = replace(STATUS, cores=[replace(CORE, domain=255, shared=vcpus)])
    table = live_table(target, status, LiveWindow(seconds=2.0, clock="guest", guest_s=2.0, ended=True))
    assert [row["exits_per_s"] for row in table["domains"]] == [None, None]


def test_the_table_fits_a_terminal_of_80_columns(target: Target) -> None:
    table = live_table(target, STATUS, LiveWindow(seconds=2.0, clock="guest", guest_s=2.0))
    row = table["domains"][0] | {
        "domain": "navigation-and-control", "cores": [0, 1, 2, 3, 4, 5, 6, 7], "state": "restarting",
        "events_per_period": 12_345_678, "budget": 12_345_678, "period_ns": 999_000, "mb_per_s": 12_345,
        "throttled": 1.0, "exits_per_s": 1_234_567,
    }  # fmt: skip
    text = shown({**table, "domains": [row]}, "running")
    assert "…" not in text
    assert "1\u202f234\u202f567" in text and "100.0 %" in text
    assert max(len(line.rstrip()) for line in text.splitlines()) <= 80


def test_a_run_that_was_killed_no_longer_runs(target: Target, tmp_path: Path) -> None:
    """Its lock ends with its process; while the lock is held, silence is not an end. The same holds for its
    domains."""
    table = live_table(target, STATUS, LiveWindow(seconds=1.0, clock="host", guest_s=2.0))
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
    """Signal 9 cannot be handled by a process, and a child lives on."""
    table = live_table(target, STATUS, LiveWindow(seconds=1.0, clock="host", guest_s=2.0))
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
    """A run without budgets writes its table at its end: whoever asks before is not told to start a run."""
    system = Path(__file__).parents[2] / "examples" / "zcu102.yaml"
    monkeypatch.setattr(find, "build_dir", lambda: tmp_path)
    with run_directory(tmp_path / "run", "zcu102") as place:
        for asked in (system, place):
            with pytest.raises(find.NoRun, match="the run has not ended and has written no"):
                find.find_run(asked, LIVE_FILE)
    with pytest.raises(find.NoRun, match="start a run"):
        find.find_run(system, LIVE_FILE)


def once(directory: Path) -> str:
    done = CliRunner().invoke(build_app(), ["top", str(directory), "--once"], env={"COLUMNS": "120"})
    assert done.exit_code == 0
    return done.stdout


SHARED = SharedVcpu(
    domain=0, vcpu=0, state="running", priority=0, dispatches=3, blocks=1, run_ns=300 * MS, out_of_order=0,
    periods_due=5, budget=None, releases=7, release_mean_ns=9_000, release_max_ns=61_000,
)  # fmt: skip


def tables(seen: LiveSeen, width: int = 80) -> str:
    console = Console(width=width, record=True, file=io.StringIO())
    console.print(top_view.view_of(seen))
    return console.export_text()


def test_a_shared_core_shows_who_has_how_much_of_it_and_the_longest_releases(target: Target) -> None:
    """Shares are of the window; release delays are of the whole run, compared with the platform's bound."""
    other = replace(SHARED, domain=1, vcpu=0, state="ready", priority=1, run_ns=50 * MS, releases=0)
    core = replace(CORE, domain=255, switches=1500, shared=(SHARED, other))
    before = replace(core, switches=500, shared=(replace(SHARED, run_ns=100 * MS), other))
    policy = replace(target.policy, release_bound_ns=50_000)
    domains = (replace(target.domains[0], cpu_ns=(MS, 4 * MS)), target.domains[1])
    target = replace(target, policy=policy, domains=domains)
    window = LiveWindow(seconds=1.0, clock="guest", guest_s=2.0, before={0: before})
    table = live_table(target, replace(STATUS, cores=[core]), window)
    (row,) = table["cores"]
    assert (row["runnable"], row["switches_per_s"]) == (2, 1000)
    assert [one["share"] for one in row["vcpus"]] == [pytest.approx(0.2), 0]
    assert [one["reserved"] for one in row["vcpus"]] == [0.25, None]
    assert [one["release_max_ns"] for one in row["vcpus"]] == [61_000, None]
    text = tables({**table, "state": "running"})
    assert "hog.0" in text and "20.0%" in text and "61.0 us of 50.0 us" in text
    assert "core 0: 2 runnable, 1\u202f000 switches/s, 20.0% used" in text
    console = Console(width=80, file=io.StringIO(), force_terminal=True, color_system="standard")
    with console.capture() as captured:
        console.print(top_view.view_of({**table, "state": "running"}))
    assert "\x1b[31m61.0 us of 50.0 us" in captured.get(), "beyond its bound: red"


def test_a_shared_core_of_which_no_time_is_known_shows_no_share(target: Target) -> None:
    core = replace(CORE, domain=255, shared=(SHARED,))
    table = live_table(target, replace(STATUS, cores=[core]), LiveWindow(None, "host", None))
    assert table["cores"][0]["vcpus"][0]["share"] is None
    assert "– used" in tables({**table, "state": "running"})


def test_flows_show_the_packets_of_the_window_and_the_longest_latency_of_all(target: Target) -> None:
    flow = FlowTarget("video", "hog", "idle", 5000, 4096, 10 * MS, 5 * MS)
    now = FlowStatus(
        packets=300, bytes=1_200_000, control_packets=0, misses=2, latency_min_ns=MS, latency_max_ns=6 * MS,
        latency_sum_ns=600 * MS, lost=0, refused=0, source=0, destination=1, port=5000,
    )  # fmt: skip
    before = replace(now, packets=100, bytes=400_000)
    window = LiveWindow(2.0, "guest", 4.0, flows_before=[before])
    table = live_table(replace(target, flows=(flow,)), replace(STATUS, flows=[now]), window)
    (row,) = table["flows"]
    assert (row["packets_per_s"], row["bytes_per_s"], row["misses"]) == (100, 400_000, 2)
    assert (row["latency_max_ns"], row["deadline_ns"]) == (6 * MS, 5 * MS)
    assert "6 ms of 5 ms" in tables({**table, "state": "running"})
    # Another flow has taken the place of the one before: what it has is all of the window.
    fresh = replace(now, packets=10, bytes=4096)
    table = live_table(replace(target, flows=(flow,)), replace(STATUS, flows=[fresh]), window)
    assert table["flows"][0]["packets_per_s"] == 5


def test_all_tables_fit_80_columns(target: Target) -> None:
    core = replace(CORE, domain=255, switches=10**6, shared=(SHARED, replace(SHARED, domain=1)))
    target = replace(target, policy=replace(target.policy, release_bound_ns=50_000))
    table = live_table(target, replace(STATUS, cores=[core]), LiveWindow(1.0, "guest", 2.0))
    text = tables({**table, "state": "running"}, width=80)
    assert "…" not in text
    assert max(len(line.rstrip()) for line in text.splitlines()) <= 80
