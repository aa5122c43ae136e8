# SPDX-License-Identifier: Apache-2.0
"""examples/self-test-flows.yaml on the simulated machine: it prints what EL2 and the broker have measured,
the platform file's costs bound it, and its lines for the platform file are costs of that file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from bulkhead.bench.flows import most_with_margin
from bulkhead.config.flow_costs import FlowCosts
from bulkhead.config.load import load_platform
from bulkhead.config.locate import platform_path
from bulkhead.validation.self_test import FlowSelfTest, read_log
from tests.command_line import run_json

from ..platforms import platform

EXAMPLE = Path(__file__).parents[2] / "examples" / "self-test-flows.yaml"
OWN_CORE = 2  # of the program in the example
KINDS = (
    ("zcu102", "cpu-copy", "between_copies"),
    ("zcu102", "zdma", "dma_interrupt"),
    ("qemu-virt", "cpu-copy", "dma_interrupt"),
)


@dataclass(frozen=True)
class Measured:
    board: str
    own_key: str  # of the part that depends on the engine
    log: Path
    test: FlowSelfTest
    run: dict[str, Any]

    @property
    def costs(self) -> FlowCosts:
        costs = platform(self.board).flow_costs
        assert costs is not None
        return costs


@pytest.fixture(scope="module", params=KINDS, ids=lambda kind: "-".join(kind[:2]))
def measured(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Measured:
    board, engine, own_key = request.param
    directory = tmp_path_factory.mktemp("self-test-flows")
    settings = (
        f"platform={board}",
        f"broker.engine={engine}",
        f"domains.self-test.params.engine={int(engine == 'zdma')}",
    )
    options = ("--on", "machine", "--no-page", "--directory", directory)
    code, result = run_json("run", EXAMPLE, *options, *(f"--set={one}" for one in settings))
    assert code == 0, result["reasons"]
    test, problems = read_log(directory / "console.log")
    assert isinstance(test, FlowSelfTest), problems
    return Measured(board, own_key, directory / "console.log", test, result)


def test_it_prints_what_the_cores_have_measured(measured: Measured) -> None:
    """`run` reads the same frames, at the end of the machine, which is a little later."""
    stamped = measured.run["path_costs"]
    own = next(one["parts"] for one in stamped["cores"] if one["core"] == OWN_CORE)
    for name, found in measured.test.parts.by_name().items():
        if name == "hypervisor_call":
            continue
        frame = own[name] if name == "notify" else stamped["parts"][name]
        tick = 20  # ns, at least
        assert 0.9 * frame["count"] <= found.count <= frame["count"], name
        assert frame["min"] - tick <= found.min <= frame["min"] + 100, name
        assert found.max <= frame["max"], name


def test_f5_the_platform_file_bounds_it(measured: Measured) -> None:
    """The costs of `bench flows` are of other flows and other times. As where it measures anew
    (tests/bench/test_flows.py), a part may exceed them by no more than their margin."""
    costs = measured.costs.parts()
    parts = measured.test.parts.by_name()
    for name in set(costs) & set(parts):
        # A notification waits while the program has interrupts masked, which is the program's own time.
        own_time = costs[name].max if name == "notify" else 0
        assert parts[name].max <= most_with_margin(costs[name].max) + own_time, name
    call = parts["hypervisor_call"]
    assert call.max > 2 * call.median, "nobody wrote meanwhile"


def test_its_lines_are_costs_of_the_platform_file(measured: Measured, tmp_path: Path) -> None:
    lines = tmp_path / "lines.yaml"
    code, read = run_json("self-test", measured.board, measured.log, "--write", lines)
    assert code == 0, read["reasons"]
    values = {one["key"]: one["value"] for one in read["figures"] if one["value"] is not None}
    wanted = {f"flow_costs.{name}" for name in measured.test.parts.by_name()} - {"flow_costs.engine"}
    assert set(values) == wanted | {f"flow_costs.{measured.own_key}"}
    assert lines.read_text().count("median: ") == len(values)
    path = platform_path(measured.board)
    assert path is not None
    board, _, problems = load_platform(path, overrides=[f"{key}={value}" for key, value in values.items()])
    assert board is not None and board.flow_costs is not None, problems
    finalize = measured.test.parts.finalize
    assert board.flow_costs.finalize.max >= finalize.max + finalize.max // 8, "with a margin"
