# SPDX-License-Identifier: Apache-2.0
"""F5, F10: `flow_costs_isolated` on the simulated machine. Domains that write to memory without end do not
make a part of the path longer than that section says, as long as colors keep EL2 and the broker apart from
them. The same domains without colors do."""

from __future__ import annotations

from pathlib import Path

import pytest

from bulkhead.bench.flow_isolation import isolated_settings
from bulkhead.bench.flows import most_with_margin
from bulkhead.config.flow_costs import CostPart
from bulkhead.validation.self_test import FlowSelfTest, read_log
from tests.command_line import run_json

from ..platforms import platform

EXAMPLE = Path(__file__).parents[2] / "examples" / "self-test-flows.yaml"
BOARD = "zcu102"
DOMAINS = ("busy", "peer", "self-test")
FEWER_CALLS = "domains.self-test.params.times=20"
WAITS_FOR_ITSELF = ("notify",)  # also the time for which the receiver has its interrupts masked


def longest(directory: Path, *settings: str) -> dict[str, int]:
    """The largest time of each part in ns, by its name in the program's log."""
    options = ("--on", "machine", "--no-page", "--directory", directory)
    given = (f"--set={one}" for one in (f"platform={BOARD}", *settings))
    code, result = run_json("run", EXAMPLE, *options, *given)
    assert code == 0, result["reasons"]
    test, problems = read_log(directory / "console.log")
    assert isinstance(test, FlowSelfTest), problems
    return {name: part.max for name, part in test.parts.by_name().items() if name not in WAITS_FOR_ITSELF}


def stated() -> dict[str, CostPart]:
    costs = platform(BOARD).flow_costs_isolated
    assert costs is not None
    return costs.parts()


def beyond(seen: dict[str, int]) -> set[str]:
    """Parts that were longer than the file says, by more than the margin of a measurement (each change of the
    code moves the largest values)."""
    costs = stated()
    return {name for name, ns in seen.items() if name in costs and ns > most_with_margin(costs[name].max)}


@pytest.mark.req("F5", "F10")
def test_writers_cannot_exceed_the_costs_of_isolated_systems(tmp_path: Path) -> None:
    colors = isolated_settings(platform(BOARD), DOMAINS)
    # Writes between two calls take longer in one color, and the calls have to end before the writers do.
    seen = longest(tmp_path, *colors, "domains.self-test.params.isolated=1", FEWER_CALLS)
    assert beyond(seen) == set()
    assert 2 * seen["finalize"] > stated()["finalize"].max, "nobody wrote meanwhile"


@pytest.mark.req("F5", "F10")
def test_without_colors_the_same_writers_exceed_them(tmp_path: Path) -> None:
    found = beyond(longest(tmp_path, FEWER_CALLS))
    assert "hypervisor_call" in found
    assert len(found) > 1, "which other parts are longer depends on where their code lies"
