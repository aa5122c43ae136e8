# SPDX-License-Identifier: Apache-2.0
"""The Linux module in a domain that has performance monitors (B9): the same functions twice.

The hypervisor limits the domain by its own counter, and Linux in the domain its CPU by another one.
"""

from __future__ import annotations

from pathlib import Path
from statistics import mean

import pytest

from bulkhead.package.linux_module import build_linux_module

from ..system.harness import boot, write_system
from .harness import HERE, answers, are_within, make_ramdisk
from .samples import busy

pytestmark = [pytest.mark.emulator, pytest.mark.slow, pytest.mark.timeout(900)]

BUDGET_EVENTS = 200_000  # of the module, as guest.sh has it
DOMAIN_EVENTS = 400_000  # of the domain


def test_b9_the_module_limits_a_cpu_of_a_domain(tmp_path: Path) -> None:
    ramdisk = tmp_path / "initrd"
    ramdisk.write_bytes(make_ramdisk(build_linux_module(), (HERE / "guest.sh").read_text()))
    linux = {
        "name": "linux",
        "cpus": [0],
        "image": {
            "kernel": "linux:debian",
            "initrd": str(ramdisk),
            "cmdline": "console=ttyAMA0 quiet cryptomgr.notests loglevel=1",
        },
        "memory": [{"at": 0x4000_0000, "size": "512 MiB"}],
        "pmu": True,
        "bandwidth": {"events": DOMAIN_EVENTS, "period": "1 ms"},
    }
    system = write_system(
        tmp_path, linux, run={"icount": True}, isolation={"premap": "all"}, expect={"linux": "stopped"}
    )
    run = boot(system, tmp_path / "run", icount=True)
    assert run.result["verdict"] == "ok", run.result["reasons"]
    asked = answers(run.lines("linux"))
    limited = [sample for sample in busy(asked["samples"]) if sample.limit == BUDGET_EVENTS]
    assert are_within([sample.events for sample in limited], BUDGET_EVENTS)
    assert mean(sample.events for sample in limited) >= BUDGET_EVENTS
    assert asked["removed"] == ["no more"]
    assert asked["complaints"] == []
    assert run.domain("linux")["events"]["throttled_periods"] > 0, "it had to boot within its own budget"
