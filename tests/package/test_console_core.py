# SPDX-License-Identifier: Apache-2.0
"""The core that has the console, on systems in which each core has a real-time domain: EL2's interrupts there
make packets late."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bulkhead.check.files import check_file
from bulkhead.planning.console import console_core

PLAIN: dict[str, Any] = {
    "criticality": "rt",
    "image": {"elf": "guests/traffic.elf"},
    "memory": [{"at": 0x4000_0000, "size": "16 MiB"}],
}


def core_with(directory: Path, broker: int, flows: list[tuple[str, str]], relaxed: str = "") -> int:
    """With the real-time domains `core-0` to `core-3` on all cores but the broker's; `relaxed` is not one."""
    domains = [{"name": f"core-{core}", "cpus": [core], **PLAIN} for core in range(4) if core != broker]
    for domain in domains:
        if domain["name"] == relaxed:
            domain["criticality"] = "best-effort"
    timing = {"size": "64 B", "period": "10 ms", "deadline": "10 ms"}
    rows = [
        {"name": f"flow-{at}", "from": one, "to": other, "port": 5000 + at, **timing}
        for at, (one, other) in enumerate(flows)
    ]
    system = {"bulkhead": 1, "name": "system", "platform": "qemu-virt", "domains": domains, "flows": rows}
    system["broker"] = {"cpu": broker, "rate": "100 MB/s"}
    file = directory / "system.yaml"
    file.write_text(json.dumps(system))
    checked = check_file(str(file))
    assert checked.plan is not None, [one.cause for one in checked.problems]
    return console_core(checked.plan.system, checked.plan.platform)


@pytest.mark.req("F9")
def test_the_console_is_on_no_core_of_a_flow_if_it_can_be(tmp_path: Path) -> None:
    assert core_with(tmp_path, 0, [("core-1", "core-2")]) == 3
    assert core_with(tmp_path, 3, [("core-0", "core-2")]) == 1


@pytest.mark.req("F9")
def test_it_is_on_no_broker_s_core(tmp_path: Path) -> None:
    assert core_with(tmp_path, 0, [("core-1", "core-2"), ("core-3", "core-1")]) == 1


def test_a_core_without_a_real_time_domain_comes_first(tmp_path: Path) -> None:
    assert core_with(tmp_path, 0, [("core-1", "core-2")], relaxed="core-2") == 2
