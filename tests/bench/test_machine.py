# SPDX-License-Identifier: Apache-2.0
"""The machine's speed: the program's answer is parsed, and a peer gets the same requests."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bulkhead.bench import machine_run
from bulkhead.bench.machine import (
    GOALS,
    PROGRAM,
    TARGET,
    MachineError,
    Peer,
    Speeds,
    Spread,
    parse,
    time_peer,
)
from bulkhead.cli import build_app
from bulkhead.env.native import ensure_built
from bulkhead.env.paths import build_dir
from bulkhead.results.bench import SpeedResult
from tests.json_results import parsed

FIGURE: SpeedResult = {
    "min": 1.0,
    "median": 2.0,
    "max": 3.0,
    "accesses": 1000,
    "l1_miss_share": 0.5,
    "dram_read_share": 0.25,
    "simulated_ns": 1_000_000,
}


def test_an_answer_without_a_figure_is_refused() -> None:
    whole = {goal.key: FIGURE for goal in GOALS}
    assert parse(json.dumps(whole))["llc_hits_per_s"]["median"] == 2
    del whole["llc_hits_per_s"]
    with pytest.raises(MachineError, match="llc_hits_per_s"):
        parse(json.dumps(whole))


def test_what_is_too_slow_is_named() -> None:
    fast: dict[str, SpeedResult] = {goal.key: {**FIGURE, "max": float(goal.least or 1)} for goal in GOALS}
    assert Speeds(fast).missed == []
    slow: dict[str, SpeedResult] = {**fast, "dram_random_per_s": {**FIGURE, "max": 3_999_999.0}}
    assert len(Speeds(slow).missed) == 1 and "4,000,000" in Speeds(slow).missed[0]


def test_a_peer_is_compared_by_requests_a_second() -> None:
    peer = Peer("sim", "dramsim3", 1000, Spread.of([0.5, 1.0, 0.25]))
    figures = {goal.key: FIGURE for goal in GOALS}
    figures["dram_random_per_s"] = {**FIGURE, "median": 4000.0}
    against = Speeds(figures, peer).json()["against"]
    assert against is not None and against["ratio"] == 2.0


def test_the_peer_reads_the_requests_that_the_machine_made(tmp_path: Path) -> None:
    ensure_built(["host"], [TARGET])
    program = build_dir() / "host" / PROGRAM
    count = f"{sys.executable} -c 'import sys; print(len(open(sys.argv[1]).readlines()))' {{trace}}"
    lines = {
        "dramsim3": r"0x[0-9a-f]+ (READ|WRITE) [0-9]+",
        "ramulator": r"0x[0-9a-f]+ [RW]",
        "load-store": r"(LD|ST) 0x[0-9a-f]+",
    }
    for name, line in lines.items():
        peer = time_peer(program, count, name, tmp_path, repeat=1, share_percent=1)
        trace = (tmp_path / f"requests.{name}.trace").read_text().splitlines()
        assert int((tmp_path / "against.log").read_text()) == peer.requests == len(trace) > 10_000
        assert all(re.fullmatch(line, one) for one in trace)
    times = [int(one.split()[2]) for one in (tmp_path / "requests.dramsim3.trace").read_text().splitlines()]
    assert times == sorted(times)
    with pytest.raises(MachineError, match="ended with 3: no"):
        failing = f"{sys.executable} -c 'import sys; print(\"no\"); sys.exit(3)' {{trace}}"
        time_peer(program, failing, "ramulator", tmp_path, repeat=1, share_percent=1)


def test_wrong_use_is_refused_before_anything_is_measured() -> None:
    app = build_app()
    for wrong in (["--against", "sim"], ["--trace-format", "xml"]):
        assert CliRunner().invoke(app, ["bench", "machine", *wrong]).exit_code == 2


@pytest.mark.parametrize(("per_s", "code", "words"), [(1.0, 1, "failed: "), (1e12, 0, "ok: no goal missed")])
def test_too_slow_is_no_success(monkeypatch: pytest.MonkeyPatch, per_s: float, code: int, words: str) -> None:
    figure: SpeedResult = {**FIGURE, "min": per_s, "median": per_s, "max": per_s}
    figures = {goal.key: figure for goal in GOALS}
    monkeypatch.setattr(machine_run, "measure_machine", lambda *_: Speeds(figures))
    done = CliRunner().invoke(build_app(), ["bench", "machine"])
    assert done.exit_code == code
    assert words in done.stdout
    as_json = CliRunner().invoke(build_app(), ["bench", "machine", "--json"])
    assert (as_json.exit_code, parsed(as_json.stdout)["verdict"]) == (code, "failed" if code else "ok")
