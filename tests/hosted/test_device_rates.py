# SPDX-License-Identifier: Apache-2.0
"""Admission of a manager's change at EL2 beside a device that masters memory (D5, T4): the charge of the
device is not left for budgets."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.command_line import run_json

from .systems import domain

BUDGET = {"budget": "64 MB/s", "period": "1 ms"}
GUARANTEED_MB_S = 960  # of the platform
LINES_OF_A_MB_S = 10**6 // 64 / 1000  # in a period


def admitted(directory: Path, **device: Any) -> tuple[int, dict[str, Any]]:
    """Runs a manager that asks for the largest budget that is admitted for another domain. Returns that
    budget in lines of a period, and the other domain's result."""
    hog = domain("hog", "hog", [1], bandwidth=BUDGET, **device)
    params = {"victim": 0, "after_ms": 2, "factor": 0, "end_ms": 6}
    governor = domain("governor", "governor", [0], bandwidth=BUDGET, manager=True, params=params)
    system = {"bulkhead": 1, "name": "system", "platform": "zcu102", "domains": [hog, governor]}
    directory.mkdir()
    path = directory / "system.yaml"
    path.write_text(json.dumps({**system, "isolation": {"llc": "none", "premap": "all"}}))
    options = ("--on", "machine", "--for", "10ms", "--no-page", "--directory", directory / "run")
    _, result = run_json("run", path, *options)
    first, second = result["domains"]
    assert second["report"] is not None and second["report"]["wrong"] == 0, result["reasons"]
    return second["report"]["after"], first


@pytest.mark.req("D5", "T4")
@pytest.mark.usefixtures("hosted_built")
def test_a_change_at_run_time_gets_what_budgets_and_devices_leave(tmp_path: Path) -> None:
    alone, hog = admitted(tmp_path / "alone")
    assert alone == (GUARANTEED_MB_S - 64) * LINES_OF_A_MB_S
    assert hog["device_rates"] == []
    device = {"devices": ["adma"], "dma": "trusted", "device_rates": {"adma": "320 MB/s"}}
    beside, hog = admitted(tmp_path / "beside", **device)
    assert beside == int((GUARANTEED_MB_S - 312.5 - 64) * LINES_OF_A_MB_S), "what the regulator allows"
    (rate,) = hog["device_rates"]
    assert (rate["charged_bytes_per_s"], rate["regulated"]) == (312_500_000, True)
