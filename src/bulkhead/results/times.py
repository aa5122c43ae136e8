# SPDX-License-Identifier: Apache-2.0
"""Times of a run's result by which its counts may be divided."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def rated_ns(report: Mapping[str, Any]) -> int | None:
    """Guest time by which counts may be divided. None if no clock was read at the run's end, so that only a
    lower bound is known."""
    found = report.get("guest_ns")
    return found if isinstance(found, int) and report.get("guest_ns_by") != "console" else None
