# SPDX-License-Identifier: Apache-2.0
"""Message interrupts that domains attack and that domains do not have: `examples/hostile-messages.yaml` (D4).
Those of Linux are in test_pci.py, of which these tests need no further run."""

from __future__ import annotations

from pathlib import Path

import pytest

from .harness import EXAMPLES, Run, boot, domain, write_system

pytestmark = [pytest.mark.emulator, pytest.mark.timeout(600)]

ATTACKS, STEPS = 4000, 600
MESSAGES_OF_A_DISK = 8


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return boot(
        EXAMPLES / "hostile-messages.yaml",
        tmp_path_factory.mktemp("messages") / "run",
        overrides=(
            f"domains.hostile.params.attacks={ATTACKS}",
            f"domains.victim.params.steps={STEPS}",
            f"expect.victim.report.arrived={STEPS}",
        ),
    )


@pytest.mark.req("D4")
def test_random_commands_registers_and_messages_change_nothing_of_others(hostile: Run) -> None:
    """Each message of the victim's disk arrives once, and no other interrupt does."""
    victim = hostile.domain("victim")["report"]
    assert victim == {"steps": STEPS, "arrived": STEPS, "lost": 0, "refused": 0, "foreign": 0}
    assert hostile.domain("victim")["refused_accesses"] == 0
    assert hostile.domain("witness")["state"] == "running", "it ends at a changed word"
    assert hostile.result["verdict"] == "ok", hostile.result["reasons"]


@pytest.mark.req("D4")
def test_messages_that_the_guest_has_not_mapped_are_dropped(hostile: Run) -> None:
    report = hostile.domain("hostile")["report"]
    assert report["attacks"] == ATTACKS and report["wrong"] == 0
    for kind in ("commands", "registers", "writes", "messages"):
        assert report[kind] > ATTACKS / 5
    assert report["arrived"] > ATTACKS / 64, "one in each check"
    assert hostile.domain("hostile")["refused_accesses"] > ATTACKS / 100, "messages to foreign addresses"


@pytest.mark.req("D4")
def test_the_table_witness_reads_the_tables_of_the_its(hostile: Run) -> None:
    tables = hostile.result["witnesses"]["tables"]
    assert (tables["verdict"], tables["findings_total"]) == ("held", 0), tables["findings"]
    assert tables["messages_checked"] == 2 * MESSAGES_OF_A_DISK


@pytest.mark.req("D4")
def test_a_domain_that_shares_its_core_has_no_message_interrupts(tmp_path: Path) -> None:
    """Its function does not show MSI-X, and the ITS maps none of its messages."""
    ends = {"step_us": 10000, "memory_kib": 64, "print_every": 0, "watch": 0, "steps": 1000}
    system = write_system(
        tmp_path,
        domain("disk", "messages", 1, devices=["nvme"], params={"steps": 1}),
        domain("beside", "hello", 1),
        domain("witness", "witness", 2, manager=True, params=ends),
        platform="qemu-virt-smmu",
        expect={"disk": "stopped", "beside": "stopped"},
    )
    run = boot(system, tmp_path / "run")
    assert any("no NVMe disk with message interrupts" in line for line in run.lines("disk"))
    assert run.result["verdict"] == "ok", run.result["reasons"]
    assert run.result["witnesses"]["tables"]["messages_checked"] == 0
