# SPDX-License-Identifier: Apache-2.0
"""`bench flows` (F5): a fresh measurement is within what the platforms' files say, for the same hypervisor is
measured as will run."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from bulkhead.bench.flows import beyond
from bulkhead.config.load import load_platform
from bulkhead.config.locate import platform_path


@pytest.mark.slow
@pytest.mark.parametrize("platform", ["zcu102", "qemu-virt"])
def test_f5_a_fresh_measurement_is_within_the_file(platform: str) -> None:
    command = [sys.executable, "-m", "bulkhead.cli", "bench", "flows", "--platform", platform, "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    result = json.loads(done.stdout)
    assert result["verdict"] == "ok", result["reasons"]
    path = platform_path(platform)
    kept = load_platform(path)[0] if path is not None else None
    assert kept is not None and kept.flow_costs is not None
    assert beyond(result["flow_costs"], kept.flow_costs) == []
    assert all(part["count"] > 50 for part in result["flow_costs"].values())
    assert set(result["flow_costs"]) == {*result["published"], "wake_by_interrupt"}
