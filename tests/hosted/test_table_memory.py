# SPDX-License-Identifier: Apache-2.0
"""Stage-2 tables with a specification under the hosted hypervisor (X5): the guest runs on them, and its walks
read them at their place."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bulkhead.machine.hosted import HostedRun, run_hosted
from bulkhead.package.build import Build

from .systems import built_from, domain

pytestmark = pytest.mark.usefixtures("hosted_built")

PAGES = 768  # more than the main TLB of a Cortex-A53 has


def walker(directory: Path, spec: str | None = None, **keys: Any) -> Build:
    """Accesses its pages in order, repeatedly; they are mapped at the first access."""
    params = {"step_us": 1000, "memory_kib": 4 * PAGES, "print_every": 0, "steps": 8}
    region: dict[str, Any] = {"at": 0x4000_0000, "size": "8 MiB"}
    memory = [region | ({"spec": spec} if spec else {})]
    one = domain("witness", "witness", [0], params=params, memory=memory, **keys)
    return built_from(directory, one, platform="zcu102", isolation={"llc": "coloring"})


def walk_ps(run: HostedRun) -> int:
    assert run.answer["ending"] == "off", run.answer["trouble"]
    return int(run.answer["cores"][0]["stall_ps"]["walk"])


def test_x5_walks_on_the_chip_take_its_way_each_time_and_in_colors_that_to_l2(tmp_path: Path) -> None:
    pool, colors, chip = (
        walk_ps(run_hosted(walker(tmp_path / name, **keys)))
        for name, keys in (
            ("pool", {}),
            ("colors", {"spec": "l2"}),
            ("chip", {"table_placement": "ocm"}),
        )
    )
    assert colors < 1.1 * pool, "alone the hypervisor's color is as good"
    assert chip > 2 * colors, "past the caches"
