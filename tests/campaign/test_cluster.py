# SPDX-License-Identifier: Apache-2.0
"""`--cluster`: a Dask scheduler with workers, of which one is killed. The files are those of a local run."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from tests.json_results import parsed

from bulkhead.env.paths import build_dir, platforms_dir, repository

pytestmark = pytest.mark.usefixtures("machine_built")

EXPERIMENT = """\
experiment: 1
name: NAME
title: t
platform: PLATFORM
sweep: { walks: 2000..2009 }
parts: [{ name: reader, measured: true, core: 0, memory: 64 KiB, kind: read, walks: $walks }]
result: walk-times
seeds: 1
"""
SOON_S = 60


@dataclass
class Cluster:
    place: Path
    address: str = ""
    scheduler: subprocess.Popen[bytes] | None = None
    workers: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def start(self, program: str, *arguments: str) -> subprocess.Popen[bytes]:
        """Starts a process as a user without Bulkhead would: no PYTHONPATH, another directory."""
        environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
        environment["DASK_TEMPORARY_DIRECTORY"] = str(self.place)  # its files stay, since it is killed
        log = (self.place / f"{len(self.workers)}-{program}.log").open("wb")
        return subprocess.Popen(
            [sys.executable, "-m", f"distributed.cli.dask_{program}", *arguments, "--no-dashboard"],
            cwd=self.place,
            env=environment,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )

    def begin(self, workers: int) -> None:
        file = self.place / "scheduler.json"
        options = ("--host", "127.0.0.1", "--port", "0", "--scheduler-file", str(file))
        self.scheduler = self.start("scheduler", *options)
        until(lambda: address_in(file) is not None)
        self.address = str(address_in(file))
        for _ in range(workers):
            self.add_worker()

    def add_worker(self) -> None:
        place = self.place / f"worker-{len(self.workers)}"
        self.workers.append(
            self.start("worker", self.address, "--nthreads", "1", "--local-directory", str(place))
        )

    def end(self) -> None:
        for process in (*self.workers, self.scheduler):
            if process is not None:
                kill(process)


def address_in(file: Path) -> str | None:
    """The scheduler's address; None: the scheduler has not yet written the whole file."""
    try:
        return str(json.loads(file.read_text())["address"])
    except (FileNotFoundError, json.JSONDecodeError):
        return None


def kill(process: subprocess.Popen[bytes]) -> None:
    """Kills the process with all its children."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def until(true: Callable[[], bool]) -> None:
    end = time.time() + SOON_S
    while not true():
        assert time.time() < end
        time.sleep(0.02)


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    made = Cluster(tmp_path)
    try:
        yield made
    finally:
        made.end()


def command(file: Path, *more: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "bulkhead.cli", "experiment", str(file), "--again", "--json", *more],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=file.parent,
        env={**os.environ, "PYTHONPATH": str(repository() / "src")},
    )


def experiment(directory: Path, name: str) -> Path:
    """An experiment on a user's platform, given by a relative path."""
    (directory / "own.yaml").write_text((platforms_dir() / "rpi2.yaml").read_text())
    file = directory / "experiment.yaml"
    file.write_text(EXPERIMENT.replace("PLATFORM", "./own.yaml").replace("NAME", name))
    return file


def points_of(name: str) -> Path:
    return build_dir() / "run" / "experiments" / name / "points"


def written(points: Path) -> dict[str, bytes]:
    files = [*points.glob("*.json"), points.parent / "rows.csv", points.parent / "rows.parquet"]
    return {file.name: file.read_bytes() for file in files}


@pytest.mark.timeout(240)
def test_a_cluster_that_loses_a_worker_gives_the_bytes_of_a_local_run(
    tmp_path: Path, cluster: Cluster
) -> None:
    file, points = experiment(tmp_path, "clustered"), points_of("clustered")
    process = command(file)
    output, errors = process.communicate()
    assert process.returncode == 0, errors
    rows = parsed(output)["rows"]
    local = written(points)
    assert len(local) == len(rows) + 2 == 12
    shutil.rmtree(points)

    cluster.begin(2)
    process = command(file, "--cluster", cluster.address)
    until(lambda: any(points.glob("*.json")) or process.poll() is not None)
    kill(cluster.workers[0])
    cluster.add_worker()
    done = len(list(points.glob("*.json")))
    output, errors = process.communicate()
    assert process.returncode == 0, errors
    assert 0 < done < len(rows), "it was killed in the middle"
    assert parsed(output)["rows"] == rows
    assert written(points) == local


@pytest.mark.timeout(240)
def test_a_scheduler_that_ends_is_reported(tmp_path: Path, cluster: Cluster) -> None:
    file, points = experiment(tmp_path, "without-scheduler"), points_of("without-scheduler")
    shutil.rmtree(points, ignore_errors=True)
    cluster.begin(1)
    process = command(file, "--cluster", cluster.address)
    until(lambda: any(points.glob("*.json")) or process.poll() is not None)
    assert cluster.scheduler is not None
    kill(cluster.scheduler)
    output, errors = process.communicate()
    assert process.returncode == 3
    assert f"there is no Dask scheduler at {cluster.address}" in parsed(output)["reasons"][0]
    assert "Traceback" not in errors


@pytest.mark.timeout(240)
def test_points_that_the_scheduler_gives_up_are_dispatched_again(
    tmp_path: Path, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """This scheduler gives a point up when a worker dies with it: joblib alone would then wait for ever."""
    monkeypatch.setenv("DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES", "0")
    file, points = experiment(tmp_path, "given-up"), points_of("given-up")
    shutil.rmtree(points, ignore_errors=True)
    cluster.begin(1)
    process = command(file, "--cluster", cluster.address)
    until(lambda: any(points.glob("*.json")) or process.poll() is not None)
    kill(cluster.workers[0])
    cluster.add_worker()
    output, errors = process.communicate()
    assert process.returncode == 0, errors
    assert len(parsed(output)["rows"]) == 10
    assert "workers were lost (KilledWorker" in errors


@pytest.mark.parametrize(
    ("options", "code", "text"),
    [
        (("--cluster", "nowhere"), 2, "'nowhere' is not the address"),
        (("--cluster", "tcp://127.0.0.1:8786", "--jobs", "2"), 2, "one of the two"),
    ],
)
def test_wrong_usage(tmp_path: Path, options: tuple[str, ...], code: int, text: str) -> None:
    process = command(experiment(tmp_path, "unused"), *options)
    _, errors = process.communicate()
    assert process.returncode == code
    assert text in re.sub(r"[\s│]+", " ", errors)
