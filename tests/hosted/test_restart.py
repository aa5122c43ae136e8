# SPDX-License-Identifier: Apache-2.0
"""A domain's second life on the simulated machine: it starts again from its images, any number of times, and
its neighbours print the same at the same times."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from bulkhead.machine.hosted import HostedRun, run_hosted
from bulkhead.package.build import Build
from bulkhead.run.console import ConsoleLine, ConsoleParser
from bulkhead.run.status import SystemStatus, read_status

from .systems import MS, built_from, domain

pytestmark = pytest.mark.usefixtures("hosted_built")

CRASHES = 30
TAG_NS = 1000  # lines have time stamps in whole microseconds


def witness(core: int) -> dict[str, Any]:
    """Its memory fits its core's first-level cache, so that no other domain affects the time of a step."""
    params = {"step_us": 500, "memory_kib": 4, "print_every": 4, "seed": 7}
    return domain("witness", "witness", [core], params=params)


def small(name: str, program: str, cpus: list[int], size: str = "1 MiB", **keys: Any) -> dict[str, Any]:
    """A domain with little memory: a restart cleans all of it out of the caches."""
    return domain(name, program, cpus, memory=[{"at": 0x4000_0000, "size": size}], **keys)


def run(build: Build) -> tuple[HostedRun, SystemStatus]:
    done = run_hosted(build, frames=build.status_pages)
    assert done.answer["ending"] == "off", done.answer["trouble"]
    status = read_status(build.layout, [done.frames[pa] for pa in build.status_pages])
    assert isinstance(status, SystemStatus), status
    return done, status


def output(run: HostedRun, name: str) -> list[tuple[int, str]]:
    """Output of a domain, and the time at which each line began."""
    lines: list[tuple[int, str]] = []

    def take(line: ConsoleLine) -> None:
        if line.domain == name and line.continues:
            lines[-1] = (lines[-1][0], lines[-1][1] + line.text)
        elif line.domain == name:
            lines.append((line.time_ns, line.text))

    parser = ConsoleParser([name], take)
    parser.feed(run.console.encode("latin-1"))
    parser.finish()
    return lines


def steps_of(lines: list[tuple[int, str]]) -> tuple[list[int], list[str]]:
    """The time of each step after the first one, and its text: a start happens at the same time as those of
    others."""
    steps = [line for line in lines if line[1].startswith("witness: step")]
    assert len(steps) >= 10
    return [time_ns - steps[0][0] for time_ns, _ in steps], [text for _, text in steps]


def beside_crash(directory: Path, **keys: Any) -> tuple[HostedRun, SystemStatus]:
    """Core 0 has the console, whose output costs it time, so nothing is measured there."""
    crash = small("crash", "crash", [1], params={"kind": 1}, **keys)
    return run(built_from(directory, small("idle", "hello", [0]), witness(2), crash, for_ns=50 * MS))


@pytest.fixture(scope="module")
def crashing(tmp_path_factory: pytest.TempPathFactory, hosted_built: None) -> tuple[HostedRun, SystemStatus]:
    return beside_crash(tmp_path_factory.mktemp("crashing"), restart="on-failure")


def test_a_domain_that_crashes_again_and_again_starts_again_and_again(
    crashing: tuple[HostedRun, SystemStatus],
) -> None:
    done, status = crashing
    idle, quiet, crash = status.domains
    assert crash.restarts >= CRASHES
    assert crash.end == "stage2_data_abort"
    assert (idle.restarts, quiet.restarts) == (0, 0)
    said = [text for _, text in output(done, "crash")]
    assert said.count("bulkhead: ready") >= CRASHES, "each life from its start"
    assert "crash: survived" not in said


def test_a_neighbour_says_the_same_at_the_same_times(
    crashing: tuple[HostedRun, SystemStatus], tmp_path: Path
) -> None:
    """The reference is a run beside a domain that crashes once and stays down."""
    quiet, status = beside_crash(tmp_path, restart="never")
    assert status.domains[2].restarts == 0
    times, texts = steps_of(output(crashing[0], "witness"))
    times_alone, texts_alone = steps_of(output(quiet, "witness"))
    assert texts == texts_alone
    assert times == pytest.approx(times_alone, abs=TAG_NS)


def test_a_system_that_restarts_a_domain_is_the_same_each_time(
    crashing: tuple[HostedRun, SystemStatus], tmp_path: Path
) -> None:
    again, _ = beside_crash(tmp_path, restart="on-failure")
    assert again.digest == crashing[0].digest


def test_a_manager_stops_and_restarts_a_busy_domain_on_two_cores(tmp_path: Path) -> None:
    """It does so at random instants; each life finds its image as it was loaded."""
    rounds = 40
    reaper = small(
        "reaper",
        "reaper",
        [0],
        manager=True,
        params={"victim": 1, "rounds": rounds, "gap_us": 4000, "seed": 42},
    )
    busy = small("busy", "busy", [1, 2], "2 MiB", params={"tick_us": 50})
    done, status = run(built_from(tmp_path, reaper, busy, witness(3), for_ns=1000 * MS))
    assert status.end_reason == "manager_request"
    said = [text for _, text in output(done, "reaper")]
    report = json.loads(said[-1].removeprefix("report "))
    assert report["wrong"] == 0, said
    assert report["restarts"] == report["asked"] - report["taken_back"] >= rounds // 4
    assert [one.restarts for one in status.domains] == [0, report["restarts"], 0]
    assert output(done, "busy") == []
    assert all(status.cores[core].injected > 100 for core in (1, 2)), "both VCPUs, with their timers"
    steps = [time for time, text in output(done, "witness") if text.startswith("witness: step")]
    late = [abs(then - before - 2 * MS) for before, then in pairwise(steps)]
    assert len(late) >= 10
    assert max(late) <= MS // 50
