# SPDX-License-Identifier: Apache-2.0
"""Guests whose maintenance EL2 executes work as if they executed it themselves: T5.

The guest `remap` unmaps pages by every instruction that invalidates translations and searches for stale ones;
the emulator keeps stale translations as a core may, so an instruction that EL2 did not execute completely
would be detected.
"""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha1
from pathlib import Path
from typing import Any

import pytest

from bulkhead.run.emulator import EmulatedMachine

from ..bench.test_hypervisor import ALLOWED
from .harness import EXAMPLES, ROOT, STAYING, Run, attached, boot, domain, write_system

pytestmark = [pytest.mark.emulator, pytest.mark.timeout(600)]

BASIC_FORMS = 6  # of the first version of the architecture
ALL_FORMS = 10  # with those of ranges
ROUNDS = 2000
INSTRUCTIONS_OF_A_TICK = 8  # 62.5 MHz, and an instruction is 2 ns


def remap(directory: Path, alter: Any = None, **keys: Any) -> Run:
    guest = domain("guest", "remap", 0, params={"rounds": ROUNDS}, **keys)
    system = write_system(directory, guest, expect={"guest": "stopped"})
    return boot(system, directory / "run", alter=alter, icount=True)


def newest_core(machine: EmulatedMachine) -> EmulatedMachine:
    """Its core has traps of each kind (FEAT_EVT), ranges and outer shareable forms."""
    return replace(machine, cpu="max")


def reported(run: Run) -> dict[str, int]:
    assert run.result["verdict"] == "ok", run.result["reasons"]
    report: dict[str, int] = run.domain("guest")["report"]
    return report


@pytest.mark.parametrize("maintenance", ["direct", "translations", "trapped"])
@pytest.mark.parametrize("cpus", [[0], [0, 1]], ids=["one", "two"])
@pytest.mark.parametrize("alter", [None, newest_core], ids=["cortex-a53", "max"])
def test_t5_nothing_stale_is_seen_behind_maintenance(
    tmp_path: Path, maintenance: str, cpus: list[int], alter: Any
) -> None:
    run = remap(tmp_path, alter, cpus=cpus, maintenance=maintenance)
    report = reported(run)
    forms = 2 * BASIC_FORMS if alter is None else 3 * ALL_FORMS
    readers = forms if len(cpus) == 1 else forms + (forms - forms // (2 if alter is None else 3))
    assert report["vcpus"] == len(cpus)
    assert report["forms"] == forms
    assert report["stale"] == readers, "before each instruction the old page was still seen"
    assert (report["wrong"], report["code_wrong"], report["aborts_wrong"]) == (0, 0, 0)
    # The emulator's own DC CVAU does nothing, so it does not read the tables either.
    assert report["clean_refused"] == (maintenance == "trapped")
    exits = run.domain("guest")["exit_reasons"]
    assert (exits.get("tlb_maintenance", 0) + exits.get("tlb_broadcast", 0) > ROUNDS) == (
        maintenance != "direct"
    )
    assert (exits.get("cache_maintenance", 0) > 0) == (maintenance == "trapped")
    assert ("tlb_broadcast" in exits) == (maintenance != "direct" and cpus == [0, 1])
    assert ("cache_broadcast" in exits) == (maintenance == "trapped" and cpus == [0, 1])


def test_t5_a_page_fault_costs_what_its_trap_costs_more(tmp_path: Path) -> None:
    """examples/remap.yaml: each round has one TLBI; ticks are counted instructions."""
    price = {}
    for maintenance in ("direct", "translations", "trapped"):
        setting = f"domains.guest.maintenance={maintenance}"
        report = reported(
            boot(EXAMPLES / "remap.yaml", tmp_path / maintenance, icount=True, overrides=(setting,))
        )
        assert report["wrong"] == 0
        price[maintenance] = INSTRUCTIONS_OF_A_TICK * report["fault_ticks"] / report["rounds"]
    assert price["direct"] < 120
    assert price["translations"] - price["direct"] < ALLOWED["tlb_maintenance"]
    assert price["trapped"] == pytest.approx(price["translations"], abs=1)


def board_with(cpu: str, directory: Path) -> Path:
    """The emulator's board with another core."""
    text = (ROOT / "platforms" / "qemu-virt.yaml").read_text()
    own = "  cpu: cortex-a53\n"
    assert own in text
    path = directory / f"{cpu}.yaml"
    path.write_text(text.replace(own, f"  cpu: {cpu}\n"))
    return path


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("cpu", ["cortex-a53", "max"])
def test_t5_linux_on_two_cores_works_with_all_its_maintenance_trapped(tmp_path: Path, cpu: str) -> None:
    """Linux boots, runs many short processes on both cores and one that moves between them, and powers
    off."""
    settings = (
        f"platform={board_with(cpu, tmp_path)}",
        "domains.linux.maintenance=trapped",
        "expect.linux=stopped",
    )
    arguments = [word for setting in settings for word in ("--set", setting)]
    with attached(EXAMPLES / "linux-smp.yaml", tmp_path / "run", *STAYING, *arguments) as terminal:
        terminal.wait_for_prompt()
        loop = "for i in $(seq 100); do echo $i | sha1sum; done | sort | sha1sum"
        both = terminal.ask(f"(taskset 1 sh -c '{loop}' & taskset 2 sh -c '{loop}'; wait) | uniq | wc -l")
        free = terminal.ask(f"{loop} | cut -c1-8")
        terminal.type("poweroff -f")
        run = terminal.wait_for_end()
    each = sorted(sha1(b"%d\n" % i).hexdigest() + "  -\n" for i in range(1, 101))
    assert (both, free) == ("1", sha1("".join(each).encode()).hexdigest()[:8])
    assert run.exit_code == 0, run.result["reasons"]
    exits = run.domain("linux")["exit_reasons"]
    assert min(exits[reason] for reason in ("tlb_broadcast", "cache_maintenance", "cache_broadcast")) > 1000
