# SPDX-License-Identifier: Apache-2.0
"""Release delays of a real-time task that shares its core with an attacker, on the emulator (T7).

Time is counted, so a figure is a number of instructions. docs/design/time.md has figures of longer runs, and
the attacks that the emulator cannot show.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from .harness import EXAMPLES, MS, Run, boot

pytestmark = [pytest.mark.emulator, pytest.mark.timeout(300), pytest.mark.req("T7")]

FOR_NS = 15 * MS
QUIET = "domains.hostile.params.storm_after_us=1000000"
# Of the task that shares its core with a sleeping domain: the switch to it, and instructions of other cores
# in their turns meanwhile.
ALONE_NS = 10_000


@dataclass(frozen=True)
class Attack:
    """An example, and the evidence that the attack took place."""

    example: str
    entries: tuple[str, int]  # exits of the task's core to EL2: reason, and their minimum
    options: tuple[str, ...] = ()
    line: str = ""  # of the hypervisor's


ATTACKS = {
    "restarts": Attack("hostile-restart", ("hvc", 1), line="hostile: restarts"),
    "crashes": Attack("hostile-crash", ("stage2_fault", 2), line="hostile: crashed"),
    "calls": Attack("hostile-crash", ("hvc", 10_000), ("domains.hostile.params.attack=6",)),
    "output": Attack("hostile-crash", ("uart_access", 5_000), ("domains.hostile.params.attack=7",)),
    "interrupts": Attack("hostile-interrupts", ("irq_ipi", 100)),
    "shared interrupts": Attack("hostile-shared-interrupts", ("irq_maintenance", 100)),
}


def run(example: str, directory: Path, *options: str) -> tuple[dict[str, Any], Run]:
    """The task's report, and the whole run."""
    ran = boot(EXAMPLES / f"{example}.yaml", directory, for_ns=FOR_NS, icount=True, overrides=options)
    assert ran.result["reasons"] == [] and ran.result["not_shown"] == []
    # The verdict includes that its longest release delay is within the example's bound.
    judged = {one["what"]: one["met"] for one in ran.result["expectations"] if one["domain"] == "control"}
    assert judged["release_delay"] is True
    report: dict[str, Any] = ran.domain("control")["report"]
    return report, ran


@pytest.mark.parametrize("name", ATTACKS)
def test_t7_an_attack_from_its_own_core_delays_the_task_no_longer_than_the_bound(
    name: str, tmp_path: Path
) -> None:
    attack = ATTACKS[name]
    report, ran = run(attack.example, tmp_path, *attack.options)
    (core,) = ran.result["shared_cores"]
    reason, least = attack.entries
    assert core["exit_reasons"].get(reason, 0) >= least
    assert any(attack.line in line for line in ran.lines())
    assert report["missed"] == 0 and report["releases"] >= 99  # the example leaves the first one out


@pytest.mark.parametrize("example", sorted({attack.example for attack in ATTACKS.values()}))
def test_t7_without_the_attack_the_delay_is_a_switch(example: str, tmp_path: Path) -> None:
    report, _ = run(example, tmp_path, QUIET)
    assert 0 < report["jitter_ns"]["min"] <= report["jitter_ns"]["max"] <= ALONE_NS


def test_t7_flash_that_is_erased_without_end_delays_the_task_no_longer_than_the_bound(tmp_path: Path) -> None:
    ran = boot(EXAMPLES / "hostile-flash.yaml", tmp_path, for_ns=FOR_NS, icount=True)
    assert ran.result["reasons"] == [] and ran.result["not_shown"] == []
    (core,) = ran.result["shared_cores"]
    assert core["exit_reasons"]["flash_access"] > 1000
