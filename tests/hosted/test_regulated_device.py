# SPDX-License-Identifier: Apache-2.0
"""A DMA engine that the regulator of cores changes, on the simulated machine (B11): compared with a constant
rate, the engine moves more, and the real-time task reads faster."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.command_line import run_json

EXAMPLE = Path(__file__).parents[2] / "examples" / "regulated-device.yaml"
NOT_REGULATED = "--set=regulation.policy=none"
pytestmark = [pytest.mark.usefixtures("hosted_built"), pytest.mark.req("B11")]


def run(directory: Path, *options: str) -> dict[str, Any]:
    shorter = (
        "--set=domains.control.params.iterations=4",
        "--set=domains.copier.params.ms=200",
        "--for=320ms",
    )
    where = ("--on", "machine", "--no-page", "--directory", directory)
    code, result = run_json("run", EXAMPLE, *where, *shorter, *options)
    assert code == 0, result["reasons"]
    return result


def read_ns(result: dict[str, Any]) -> float:
    """Mean time that the real-time task's reads of a period take."""
    return float(result["domains"][0]["report"]["work_ns"]["mean"])


def moved_mb_s(result: dict[str, Any]) -> float:
    """Reads and writes of the engine."""
    report = result["domains"][1]["report"]
    assert (report["errors"], report["wrong"]) == (0, 0)
    return float(2 * report["bytes"] / report["elapsed_ns"] * 1e3)


def test_the_engine_gets_what_the_real_time_task_leaves(tmp_path: Path) -> None:
    held = "--set=domains.copier.device_rates={ adma: 320 MB/s }"
    alone = run(tmp_path / "alone", NOT_REGULATED, "--set=domains.copier.params={ bytes: 4096 }")
    free = run(tmp_path / "free", NOT_REGULATED)
    constant = run(tmp_path / "constant", NOT_REGULATED, held)
    dynamic = run(tmp_path / "dynamic")
    assert read_ns(free) > 1.2 * read_ns(alone)
    assert read_ns(dynamic) < 1.08 * read_ns(alone)
    assert read_ns(dynamic) < read_ns(constant)
    assert moved_mb_s(constant) < 312.5 < 1.2 * moved_mb_s(constant)
    assert moved_mb_s(dynamic) > 1.25 * moved_mb_s(constant)
    judge_regulation(dynamic)


def judge_regulation(result: dict[str, Any]) -> None:
    """The report has the engine's budgets: its floor while the task reads, more than the threshold never for
    long."""
    (engine,) = result["regulation"]["devices"]
    assert engine["name"] == "adma"
    rates = engine["bytes_per_s"]
    assert rates["min"] == 31_360_000, "245 lines in 500 us: a unit of its registers"
    assert rates["max"] < 1.5 * 900e6, "a step of 50 % beyond the threshold, at most"
    assert moved_mb_s(result) <= rates["mean"] / 1e6 * 1.05
    assert 20 < engine["rate_changes"] < result["regulation"]["intervals"]
    assert result["regulation"]["missed"] == 0
    (rate,) = result["domains"][1]["device_rates"]
    assert rate["regulated"] and rate["dynamic"] and rate["charged_bytes_per_s"] == 50_000_000
