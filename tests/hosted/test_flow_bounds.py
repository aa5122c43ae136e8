# SPDX-License-Identifier: Apache-2.0
"""The analysis (F4) with the measured costs (F5) bounds the latencies on the simulated machine: sets of flows
drawn at random, first packets of all at once, then a packet in each period. Also beside a neighbour that
breaks every rule. More sets than in `make test`:

    pytest tests/hosted/test_flow_bounds.py --seeds 1000
"""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
import yaml

from bulkhead.admission.flows import check_flows
from bulkhead.admission.load import load_system
from bulkhead.config.flow_costs import FlowCosts
from bulkhead.config.system import Flow

from ..platforms import platform
from .systems import domain
from .test_flows import CHUNK, run

pytestmark = pytest.mark.slow

US = 1000
TOGETHER_MS = 5  # by then all are connected
DOMAINS = ("a", "b", "c")
NEIGHBOUR = "c"
# A neighbour that misuses its device, and one that sends eight times as often as declared.
NEIGHBOURS: tuple[tuple[str, dict[str, int]], ...] = (
    ("hostile_socket", {}),
    ("traffic", {"hurry": 8, "ahead": 1}),
)
# A flow from one end of the measured flows to the neighbour, and one from the neighbour to the other end.
FLOWS_OF_NEIGHBOUR = [
    {"name": "to", "from": "a", "to": NEIGHBOUR, "port": 4000, "size": "512 B"}
    | {"period": "2 ms", "deadline": "2 ms"},
    {"name": "of", "from": NEIGHBOUR, "to": "b", "port": 4001, "size": "1 KiB"}
    | {"period": "3 ms", "deadline": "4 ms"},
]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    usual = 3 if metafunc.function.__name__.endswith("neighbour") else 6
    metafunc.parametrize("seed", range(metafunc.config.getoption("--seeds") or usual))


def costs_of(board: str) -> FlowCosts:
    costs = platform(board).flow_costs
    assert costs is not None
    return costs


def is_admitted(system: dict[str, Any], directory: Path) -> bool:
    """By the tool, with EL2's own interrupts on the cores of these domains."""
    file = directory / "drawn.yaml"
    file.write_text(yaml.safe_dump(system))
    loaded = load_system(file)
    return loaded.ok and bool(check_flows(loaded).planned)


def drawn(seed: int, platform: str, directory: Path, ends: tuple[str, ...] = DOMAINS) -> dict[str, Any]:
    """A set at the limit of what the analysis accepts: if it is too much, periods are stretched in steps of a
    fifth."""
    random_ = random.Random(seed)
    mb_s = random_.choice((80, 200, 400))
    flows: list[dict[str, Any]] = []
    times: list[tuple[float, float]] = []  # us
    for number in range(random_.randint(1, 6)):
        sender, *others = random_.sample(ends, len(ends))
        receivers = others if len(others) > 1 and random_.random() < 0.3 else others[0]
        size = random_.choice((1, 64, 200, 1024, 4096, 5000, 16384))
        name = {"name": f"f{number}", "from": sender, "to": receivers, "port": 5000 + number}
        flows.append({**name, "size": f"{size} B"})
        times.append((random_.uniform(150, 900), random_.uniform(0.8, 2.0)))
    while True:
        for flow, (period, deadline) in zip(flows, times, strict=True):
            flow |= {"period": f"{round(period)} us", "deadline": f"{round(period * deadline)} us"}
        found = with_flows(FLOWS_OF_NEIGHBOUR * (NEIGHBOUR not in ends) + flows, seed, platform, mb_s)
        if is_admitted(found, directory):
            return found
        times = [(1.2 * period, deadline) for period, deadline in times]


def with_flows(flows: list[dict[str, Any]], seed: int, platform: str, mb_s: int) -> dict[str, Any]:
    used = {name for flow in map(Flow.model_validate, flows) for name in (flow.from_, *flow.receivers)}
    return {
        "bulkhead": 1,
        "name": f"drawn-{seed}",
        "platform": platform,
        "isolation": {"llc": "none"},
        "regulation": {"overcommit": True},
        "domains": [
            domain(name, "traffic", [core], params={"together_ms": TOGETHER_MS})
            for core, name in enumerate(DOMAINS)
            if name in used
        ],
        "broker": {"cpu": 3, "chunk": CHUNK, "rate": f"{mb_s} MB/s"},
        "flows": flows,
    }


@pytest.mark.parametrize("platform", ["qemu-virt", "zcu102"])
def test_f4_f5_no_packet_is_later_than_the_bound(seed: int, platform: str, tmp_path: Path) -> None:
    """The bound is tested from release to delivery, which is shorter than from sending to notification: the
    parts before and after are subtracted."""
    result = run(tmp_path, drawn(seed, platform, tmp_path), "40ms")
    assert_within_bounds(result["flows"], platform, tmp_path)


@pytest.mark.req("F9")
@pytest.mark.parametrize("platform", ["qemu-virt", "zcu102"])
def test_f9_no_packet_is_later_than_the_bound_beside_a_hostile_neighbour(
    seed: int, platform: str, tmp_path: Path
) -> None:
    """The neighbour is at an end of two flows that are not measured. One kind sends invalid packets and
    notifies its device in a loop, gives no receive buffers back for a while, and resets its device."""
    program, params = NEIGHBOURS[seed % len(NEIGHBOURS)]
    system = drawn(seed, platform, tmp_path, ("a", "b"))
    core = DOMAINS.index(NEIGHBOUR)
    system["domains"] = [one for one in system["domains"] if one["name"] != NEIGHBOUR]
    system["domains"].append(domain(NEIGHBOUR, program, [core], params=params))
    result = run(tmp_path, system, "40ms")
    to, of, *measured = result["flows"]
    if program == "traffic":
        assert 0.7 <= of["packets"] * of["period_ns"] / (40 * 1000 * US) <= 1.1, (
            "at its pace, however often it sends"
        )
    else:
        assert to["packets"] > 0, "it has accepted"
        assert to["packets"] <= 0.85 * 40 * 1000 * US / to["period_ns"], "it withholds buffers"
        assert of["packets"] == 0
    assert_within_bounds(measured, platform, tmp_path)


def assert_within_bounds(flows: list[dict[str, Any]], platform: str, directory: Path) -> None:
    costs = costs_of(platform)
    parts_ns = costs.transport.max + costs.notify.max
    ends = check_flows(load_system(directory / "drawn.yaml")).planned[0].model.costs.interrupts.ends
    for one in flows:
        assert one["packets"] >= 0.7 * (40 - TOGETHER_MS) * 1000 * US / one["period_ns"]
        assert (one["misses"], one["lost"], one["refused"]) == (0, 0, 0)
        outside_ns = parts_ns + ends.get(one["from"], 0) + ends.get(one["to"], 0)
        assert one["latency_ns"]["max"] <= one["bound_ns"] - outside_ns, one
