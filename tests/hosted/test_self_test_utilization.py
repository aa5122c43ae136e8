# SPDX-License-Identifier: Apache-2.0
"""examples/self-test-utilization.yaml on the simulated machine: what the memory controller's counters say is
what `limits` says of the same accesses.

Several cores are compared only where the DRAM is saturated: the machine makes the accesses of one domain's
VCPUs in order (docs/design/machine.md)."""

from __future__ import annotations

from pathlib import Path

import pytest

from bulkhead.campaign.points import run_jobs
from bulkhead.commands.options import engine_of
from bulkhead.machine.job import Job
from bulkhead.machine.limits import PATTERNS, job_beside
from bulkhead.machine.native import built_machine
from bulkhead.validation.self_test import PatternName, UtilizationSelfTest, read_log
from bulkhead.validation.self_test_budget_figures import utilization_figures_of
from tests.command_line import run_json

from ..platforms import platform

EXAMPLE = Path(__file__).parents[2] / "examples" / "self-test-utilization.yaml"
CASES: tuple[tuple[PatternName, int], ...] = (
    ("sequential reads", 1),
    ("random writes", 1),
    ("same-bank writes", 1),
    ("same-bank writes", 4),
    ("same-bank updates", 4),
)
TOLERANCE = 0.15  # of one core: the program's loops have other instructions than the machine's jobs
SATURATED_POINTS = 6  # percent of the time: the cores of one domain leave the DRAM idle now and then


@pytest.fixture(scope="module", params=["qemu-virt", "s32v234"])
def measured(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    directory = tmp_path_factory.mktemp("self-test-utilization")
    options = ("--on", "machine", "--no-page", "--directory", directory, "--set", f"platform={request.param}")
    code, result = run_json("run", EXAMPLE, *options)
    assert code == 0, result["reasons"]
    return request.param, directory / "console.log"


def test_b10_the_memory_is_as_busy_as_limits_says(measured: tuple[str, Path]) -> None:
    board = platform(measured[0])
    test, problems = read_log(measured[1])
    assert isinstance(test, UtilizationSelfTest), problems
    found = {(one.pattern, one.cores): one.busy_percent for one in test.utilization}
    jobs: dict[str, Job] = {}
    for pattern, cores in CASES:
        part = {
            **PATTERNS[pattern],
            "instructions": 2 if "updates" in pattern else 1,
            "memory_bytes": 4 << 20,
        }
        jobs[f"{pattern} {cores}"] = job_beside(board, part, 0, part, range(1, cores))
    built_machine()
    answers = run_jobs(list(jobs.items()), None, engine_of(1, None), "self-test")
    for (pattern, cores), answer in zip(CASES, answers, strict=True):
        expected = 100 * answer["dram"]["utilization"]
        tolerance = TOLERANCE * expected if cores == 1 else SATURATED_POINTS
        assert abs(found[pattern, cores] - expected) <= tolerance, (pattern, cores, expected)
    assert max(found.values()) > 90 and min(found.values()) < 60, "idle and busy look alike"


def test_figures_are_shown(measured: tuple[str, Path]) -> None:
    test, _ = read_log(measured[1])
    assert isinstance(test, UtilizationSelfTest)
    names = [one.what for one in utilization_figures_of(test, platform(measured[0]))]
    assert "4 cores: same-bank writes, memory busy" in names


def test_a_platform_without_a_source_is_refused() -> None:
    code, result = run_json("check", EXAMPLE, "--set", "platform=zcu102")
    assert code == 1
    assert any("has no counters of busy cycles" in reason for reason in result["reasons"])
