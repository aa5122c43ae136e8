# SPDX-License-Identifier: Apache-2.0
"""The instrumented build against the AArch64 build: the same result, nearly the same accesses, and an error
of the instructions that stays within what docs/workloads.md says."""

from __future__ import annotations

import pytest

from bulkhead.recording.compare import build, compare

pytestmark = pytest.mark.emulator

NAMES = ("bandwidth", "edges", "matmul", "qsort", "stride")


def test_builds_compare() -> None:
    build()
    for row in compare(NAMES, {"small": 1, "iterations": 1}):
        assert row.same_checksum, row
        assert abs(row.error("reads")) < 0.05, row
        assert abs(row.error("writes")) < 0.05, row
        assert -0.05 < row.error("instructions") < 0.6, row
