# SPDX-License-Identifier: Apache-2.0
"""Experiments that are interrupted, killed, or have no disk space: finished points are kept, and no process
is left."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from bulkhead.campaign.engine import Engine
from bulkhead.campaign.points import run_jobs
from bulkhead.env.paths import build_dir, repository
from bulkhead.experiments.seeds import seeded_jobs
from tests.json_results import parsed

pytestmark = pytest.mark.usefixtures("machine_built")

NAME = "interrupted"
# The first point takes a moment, the second one takes hours.
EXPERIMENT = f"""\
experiment: 1
name: {NAME}
title: t
platform: rpi2
sweep: {{ walks: [3, 1000000000] }}
parts: [{{ name: reader, measured: true, core: 0, memory: 64 KiB, kind: read, walks: $walks }}]
result: walk-times
seeds: 1
"""
SOON_S = 10.0


@pytest.fixture
def started(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """The command, after its first point is done."""
    file = tmp_path / "mine.yaml"
    file.write_text(EXPERIMENT)
    first = points() / "3-s1.json"
    first.unlink(missing_ok=True)
    command = [sys.executable, "-m", "bulkhead.cli", "experiment", str(file), "--again", "--json"]
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(repository() / "src")},
        start_new_session=True,
    )
    begin = time.time()
    try:
        while not first.is_file():
            assert process.poll() is None, process.communicate()
            assert time.time() < begin + 100
            time.sleep(0.05)
        yield process
    finally:
        process.kill()
        process.communicate()


def points() -> Path:
    return build_dir() / "run" / "experiments" / NAME / "points"


def below(parent: int) -> set[int]:
    """Child processes of this one, and their children."""
    parents: dict[int, int] = {}
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = status.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        parents[int(status.parent.name)] = int(fields[1])
    found = {parent}
    while more := {pid for pid, above in parents.items() if above in found} - found:
        found |= more
    return found - {parent}


def all_end(processes: set[int]) -> bool:
    end = time.time() + SOON_S
    while time.time() < end:
        if not any(is_running(pid) for pid in processes):
            return True
        time.sleep(0.05)
    return False


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_an_interrupt_ends_it_soon_with_130_and_json(started: subprocess.Popen[str]) -> None:
    workers = below(started.pid)
    assert workers
    started.send_signal(signal.SIGINT)
    output, errors = started.communicate(timeout=SOON_S)
    assert started.returncode == 130
    result = parsed(output)
    assert (result["command"], result["verdict"], result["reasons"]) == (
        "experiment",
        "error",
        ["interrupted"],
    )
    assert "Traceback" not in errors
    assert all_end(workers)


def test_a_killed_one_leaves_no_process_and_goes_on_where_it_was(
    started: subprocess.Popen[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    workers = below(started.pid)
    assert workers
    started.kill()
    started.wait()
    assert all_end(workers)
    done = points() / "3-s1.json"
    kept = json.loads(done.read_text())
    part = {"name": "reader", "core": 0, "kind": "read", "walks": 3, "memory_bytes": 65536}
    written = done.stat().st_mtime_ns
    (result,) = run_jobs(
        seeded_jobs([("3", {"platform": "rpi2", "parts": [part]})], 1), points(), Engine(1), "x"
    )
    assert result == kept["result"]
    assert done.stat().st_mtime_ns == written, "it was not run again"


@pytest.mark.parametrize("how", ["file", "full"])
def test_results_that_cannot_be_kept_end_it_with_3(tmp_path: Path, how: str) -> None:
    """The cause is a file in place of the directory, or a full file system."""
    file = tmp_path / "mine.yaml"
    file.write_text(EXPERIMENT.replace(NAME, f"no-room-{how}").replace("[3, 1000000000]", "[3]"))
    place = build_dir() / "run" / "experiments" / f"no-room-{how}"
    place.mkdir(parents=True, exist_ok=True)
    keep = place / "points"
    if how == "file":
        keep.touch()
    else:
        keep.mkdir(exist_ok=True)
        (keep / "3-s1.json").unlink(missing_ok=True)
    # The command has the process number of the shell, which is in the name of the file for a result.
    link = f"ln -s /dev/full {keep}/3-s1.$$.part; " if how == "full" else ""
    command = [sys.executable, "-m", "bulkhead.cli", "experiment", str(file), "--json"]
    done = subprocess.run(
        ["sh", "-c", f"{link}exec {shlex.join(command)}"],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(repository() / "src")},
    )
    for left in keep.glob("*.part") if keep.is_dir() else ():
        left.unlink()
    assert done.returncode == 3
    reason = parsed(done.stdout)["reasons"][0]
    assert ("points: File exists" if how == "file" else "No space left on device") in reason
    assert "Traceback" not in done.stderr
