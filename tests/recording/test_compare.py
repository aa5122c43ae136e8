# SPDX-License-Identifier: Apache-2.0
"""The instrumented build compared with the AArch64 build: the same result, nearly the same accesses, and an
error of the instructions within the limits of docs/guide/workloads.md."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from bulkhead.env.paths import repository
from bulkhead.recording.compare import build, compare
from tests.json_results import parsed

pytestmark = pytest.mark.emulator

NAMES = ("bandwidth", "edges", "matmul", "points2image", "qsort", "stitch", "stride")


def test_builds_compare() -> None:
    build()
    for row in compare(NAMES, {"small": 1, "iterations": 1}):
        assert row.same_checksum, row
        assert abs(row.error("reads")) < 0.05, row
        assert abs(row.error("writes")) < 0.05, row
        assert -0.05 < row.error("instructions") < 0.6, row


def test_a_workload_without_an_end_is_compared_over_some_iterations() -> None:
    """`membomb` writes forever unless limited: three iterations here."""
    command = [sys.executable, "-m", "bulkhead.cli", "workloads", "compare", "membomb", "--json", "--set"]
    environment = {**os.environ, "PYTHONPATH": str(repository() / "src")}

    def compared(setting: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*command, setting], capture_output=True, text=True, check=False, timeout=60, env=environment
        )

    answer = parsed(compared("size_kib=64").stdout)
    assert answer["verdict"] == "ok"
    assert answer["rows"][0]["aarch64"]["writes"] >= 3 * 64 * 1024 // 16
    refused = compared("iterations=0")
    assert refused.returncode == 2
    assert "runs without end" in refused.stderr
