# SPDX-License-Identifier: Apache-2.0
"""The analysis (F4) with the costs that were measured (F5) bounds what happens on the simulated machine: sets
of flows drawn at random, first packets of all at once, then a packet in each period."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from bulkhead.config.load import load_platform
from bulkhead.config.locate import platform_path

from .systems import domain
from .test_flows import CHUNK, run

US = 1000
TOGETHER_MS = 5  # by then all are connected
DOMAINS = ("a", "b", "c")
MOST_LOAD = 0.8


def drawn(seed: int, platform: str) -> dict[str, Any]:
    """A set that the analysis accepts, with deadlines from tight to loose."""
    random_ = random.Random(seed)
    flows: list[dict[str, Any]] = []
    for number in range(random_.randint(1, 6)):
        sender, receiver = random_.sample(DOMAINS, 2)
        size = random_.choice((1, 64, 200, 1024, 4096, 5000, 16384))
        period = random_.randint(400, 2500) + 150 * (size // CHUNK)
        flows.append(
            {
                "name": f"f{number}",
                "from": sender,
                "to": receiver,
                "port": 5000 + number,
                "size": f"{size} B",
                "period": f"{period} us",
                "deadline": f"{round(period * random_.uniform(0.8, 2.0))} us",
            }
        )
    used = {name for flow in flows for name in (flow["from"], flow["to"])}
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
        "broker": {"cpu": 3, "chunk": CHUNK, "rate": f"{random_.choice((80, 200, 400))} MB/s"},
        "flows": flows,
    }


@pytest.mark.parametrize("platform", ["qemu-virt", "zcu102"])
@pytest.mark.parametrize("seed", range(6))
def test_f4_f5_no_packet_is_later_than_the_bound(seed: int, platform: str, tmp_path: Path) -> None:
    """From release to delivery, which is less than from sending to notification: so the bound without what
    comes before and after is to hold."""
    path = platform_path(platform)
    loaded = load_platform(path)[0] if path is not None else None
    assert loaded is not None and loaded.flow_costs is not None
    costs = loaded.flow_costs
    ends_ns = costs.transport.max + costs.notify.max
    result = run(tmp_path, drawn(seed, platform), "40ms")
    for one in result["flows"]:
        assert one["packets"] >= 0.7 * (40 - TOGETHER_MS) * 1000 * US / one["period_ns"]
        assert (one["misses"], one["lost"], one["refused"]) == (0, 0, 0)
        assert one["latency_max_ns"] <= one["bound_ns"] - ends_ns, one
