# SPDX-License-Identifier: Apache-2.0
"""Each workload computes the same result, bit by bit, in each build, and the result is correct.

The guest with all of them runs once; the Linux program gives the expected output."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from bulkhead.env.native import ensure_built
from bulkhead.env.paths import build_dir

from .conftest import Run

SMALL = {"small": 1, "iterations": 3, "seed": 7}
# Of the result, against what the maker of the input knows; the rest is what the algorithm cannot see.
RIGHT_PERMILLE = 800


@pytest.fixture(scope="module")
def program() -> Path:
    ensure_built(["host"], ["workload"])
    return build_dir() / "host" / "workloads" / "workload"


def run_linux(program: Path, name: str, **params: int) -> subprocess.CompletedProcess[str]:
    given = [f"{key}={value}" for key, value in params.items()]
    return subprocess.run([program, name, *given], capture_output=True, text=True, check=False, timeout=60)


def reports(lines: list[str]) -> dict[str, dict[str, Any]]:
    found = [json.loads(line.removeprefix("report ")) for line in lines if line.startswith("report ")]
    return {report["workload"]: report for report in found}


def names(program: Path) -> list[str]:
    listing = subprocess.run([program], capture_output=True, text=True, check=True).stdout
    return [line.split()[0] for line in listing.splitlines() if not line.startswith(" ")]


def test_results_are_right(program: Path) -> None:
    """Every workload finds sorted keys, exact products, or known displacements."""
    found = reports(run_linux(program, "all", **SMALL).stdout.splitlines())
    assert set(found) == set(names(program))
    wrong = {name: report for name, report in found.items() if report["correct_permille"] < RIGHT_PERMILLE}
    assert not wrong


def test_the_seed_makes_the_input(program: Path) -> None:
    """Another seed gives another checksum if the input is random; the same seed gives the same one."""
    first, again, other = (
        reports(run_linux(program, "all", **{**SMALL, "seed": seed}).stdout.splitlines())
        for seed in (7, 7, 8)
    )
    assert {name: report["checksum"] for name, report in first.items()} == {
        name: report["checksum"] for name, report in again.items()
    }
    alike = {name for name, report in first.items() if report["checksum"] == other[name]["checksum"]}
    assert alike == {"membomb", "stride", "ustress"}  # they only write, always the same


@pytest.mark.emulator
def test_a_guest_computes_what_the_linux_program_does(run: Run, program: Path) -> None:
    """All workloads run in one guest."""
    guest = reports(run("workloads", SMALL, ram="64M").lines)
    expected = reports(run_linux(program, "all", **SMALL).stdout.splitlines())
    shown = {name: (report["checksum"], report["correct_permille"]) for name, report in guest.items()}
    assert shown == {
        name: (report["checksum"], report["correct_permille"]) for name, report in expected.items()
    }
    assert all(report["iteration_ns"]["min"] > 0 for report in guest.values())


@pytest.mark.parametrize("name", ["bandwidth", "ustress", "matmul"])
@pytest.mark.parametrize("value", [0, 1 << 40, (1 << 64) - 1])
def test_impossible_parameters_end_with_a_report(program: Path, name: str, value: int) -> None:
    """They are too large for the memory, or meaningless: the result is a message and exit 1, and no crash."""
    parameter = {"bandwidth": "size_kib", "ustress": "rows", "matmul": "n"}[name]
    done = run_linux(program, name, iterations=1, memory_mib=16, **{parameter: value})
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.startswith(f"{name}: ")


def test_wrong_usage_is_refused(program: Path) -> None:
    assert run_linux(program, "bandwith").returncode == 2
    assert subprocess.run([program, "stride", "seed"], capture_output=True, check=False).returncode == 2
