# SPDX-License-Identifier: Apache-2.0
"""`bench flows` (F5): a new measurement is within the values of the platforms' files, because the measured
hypervisor is the one that will run."""

from __future__ import annotations

import pytest

from bulkhead.bench import flows
from bulkhead.bench.flows import beyond, load
from bulkhead.config.flow_costs import LOCKED, OF_EL2
from bulkhead.run.target import MACHINE
from tests.command_line import run_json

from ..platforms import platform


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("board", ["zcu102", "qemu-virt", "mpam4"])
def test_f5_a_fresh_measurement_is_within_the_file(board: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside writers for a third of the time: the limits are those of five rounds of the whole time."""
    monkeypatch.setattr(flows, "BESIDE_WRITERS_NS", flows.BESIDE_WRITERS_NS // 3)
    _, result = run_json("bench", "flows", "--platform", board)
    assert result["verdict"] == "ok", result["reasons"]
    kept = platform(board).flow_costs
    assert kept is not None
    assert beyond(result["flow_costs"], kept) == []
    assert all(part["count"] > 50 for part in result["flow_costs"].values())
    names = {*result["published"], "wake_by_interrupt", *OF_EL2} - set(LOCKED)
    assert set(result["flow_costs"]) == names | ({"between_copies"} if board == "zcu102" else set())


@pytest.mark.parametrize("board", ["zcu102", "qemu-virt", "mpam4"])
def test_f5_copies_are_known_up_to_the_rate_that_is_measured(board: str) -> None:
    loaded = load([f"platform={board}"], MACHINE).flows
    assert loaded.system is not None and loaded.system.broker is not None
    kept = platform(board).flow_costs
    assert kept is not None and kept.copied_rate == loaded.system.broker.rate
