# SPDX-License-Identifier: Apache-2.0
"""examples/self-test*.yaml in the emulator: their times mean nothing, but the programs run to their end on
all cores, and their output can be read."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.command_line import run_json

EXAMPLE = Path(__file__).parents[2] / "examples" / "self-test.yaml"
FLOWS = EXAMPLE.with_name("self-test-flows.yaml")
BUDGETS = EXAMPLE.with_name("self-test-budgets.yaml")
QUICK = ("largest_kib=1024", "core_kib=256", "window_us=200", "draws=2000")


@pytest.mark.emulator
@pytest.mark.parametrize("platform", ["qemu-virt", "zcu102"])
def test_the_self_test_runs_and_is_read(tmp_path: Path, platform: str) -> None:
    settings = [f"--set=domains.self-test.params.{one}" for one in QUICK]
    options = (*settings, f"--set=platform={platform}", "--no-page", "--no-attach", "--directory", tmp_path)
    code, result = run_json("run", EXAMPLE, *options)
    assert code == 0, result["reasons"]
    code, read = run_json("self-test", platform, tmp_path / "console.log")
    assert code == 0, read["reasons"]
    found = {one["key"]: one for one in read["figures"]}
    assert found["cores.count"]["measured"] == 4
    assert found["caches.l2.size"]["measured"] is None, "the emulator has no caches"


@pytest.mark.emulator
@pytest.mark.parametrize("platform", ["qemu-virt", "zcu102"])
def test_the_self_test_of_flows_runs_and_is_read(tmp_path: Path, platform: str) -> None:
    options = (f"--set=platform={platform}", "--no-page", "--no-attach", "--directory", tmp_path)
    _, result = run_json("run", FLOWS, *options)
    assert all(one["met"] for one in result["expectations"]), result["reasons"]
    code, read = run_json("self-test", platform, tmp_path / "console.log")
    if code != 0:  # cores take turns, so that a part can last longer than a platform file may say
        assert all("[out-of-range]" in reason for reason in read["reasons"]), read["reasons"]
        return
    assert {"flow_costs.parse", "flow_costs.notify"} <= {one["key"] for one in read["figures"]}


@pytest.mark.emulator
@pytest.mark.timeout(600)
def test_the_self_test_of_budgets_runs_and_is_read(tmp_path: Path) -> None:
    """The emulator counts instructions of all cores together, so what holds there means nothing."""
    options = ("--no-page", "--no-attach", "--directory", tmp_path)
    code, result = run_json("run", BUDGETS, *options)
    assert code == 0, result["reasons"]
    code, read = run_json("self-test", "qemu-virt", tmp_path / "console.log")
    if code != 0:  # cores take turns, as above
        assert all("[out-of-range]" in reason for reason in read["reasons"]), read["reasons"]
        return
    found = {one["figure"]: one["measured"] for one in read["figures"]}
    assert found["cores"] == 4
    assert found["interrupt of a period, median"] > 0
