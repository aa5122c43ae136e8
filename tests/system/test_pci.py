# SPDX-License-Identifier: Apache-2.0
"""Linux with an NVMe disk of its own, behind the SMMU and a mediated configuration space, with message
interrupts: `examples/nvme.yaml` (D3, D4, D6)."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from .harness import EXAMPLES, Run, S, boot

pytestmark = [pytest.mark.emulator, pytest.mark.timeout(600)]

# The queue of commands for the controller has a message that Linux lets the user move to another CPU. Each
# other queue has a message that stays on the CPU of the queue. The counts are shown before and after.
MOVE = """
cat /proc/interrupts;
n=$(grep nvme0q0 /proc/interrupts | cut -d: -f1); echo 2 >/proc/irq/$((n))/smp_affinity;
echo 1 >/sys/class/nvme/nvme0/rescan_controller;
taskset 1 dd if=/dev/nvme0n1 of=/dev/null bs=64k count=64 skip=64 2>/dev/null;
taskset 2 dd if=/dev/nvme0n1 of=/dev/null bs=64k count=64 skip=128 2>/dev/null;
cat /proc/interrupts; poweroff -f"""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """The example with two cores for Linux, which moves a message interrupt to the second one."""
    directory = tmp_path_factory.mktemp("nvme")
    system = yaml.safe_load((EXAMPLES / "nvme.yaml").read_text())
    linux, _ = system["domains"]
    linux["cpus"] = [1, 3]
    assert "poweroff -f" in linux["image"]["cmdline"]
    linux["image"]["cmdline"] = linux["image"]["cmdline"].replace("poweroff -f", MOVE.replace("\n", " "))
    path = directory / "nvme.yaml"
    path.write_text(yaml.safe_dump(system))
    return boot(path, directory / "run")


def messages_of(run: Run, queue: int) -> list[list[int]]:
    """How many message interrupts of a queue each CPU has taken, for each time that Linux showed it."""
    shown = re.compile(rf"\d+:((?:\s+\d+)+)\s+ITS-MSI\s+\d+\s+Edge\s+nvme0q{queue}$")
    found = (shown.search(line.rstrip()) for line in run.lines("linux"))
    return [[int(count) for count in match[1].split()] for match in found if match]


@pytest.mark.req("D3", "D6")
def test_linux_reads_what_it_has_written_to_its_disk(run: Run) -> None:
    assert run.result["verdict"] == "ok", run.result["reasons"]
    assert run.domain("linux")["refused_accesses"] == 0
    assert run.domain("linux")["unconfined_devices"] == []
    smmu = run.result["hypervisor"]["smmu"]
    assert (smmu["unowned_accesses"], smmu["failed_accesses"]) == (0, 0)


@pytest.mark.req("D4")
def test_interrupts_of_the_disk_are_messages_on_the_cpu_of_their_queue(run: Run) -> None:
    (_, (on_first, none)), (_, (others, on_second)) = messages_of(run, 1), messages_of(run, 2)
    assert on_first > 0 and none == 0
    assert on_second > 0 and others == 0


@pytest.mark.req("D4")
def test_a_message_that_linux_has_moved_arrives_on_the_other_cpu(run: Run) -> None:
    before, after = messages_of(run, 0)
    assert before[0] > 0 and before[1] == 0
    assert after[0] == before[0] and after[1] > 0


@pytest.mark.req("D3")
def test_configuration_space_is_the_hypervisors(run: Run) -> None:
    reasons = run.domain("linux")["exit_reasons"]
    assert reasons["pci_access"] > 64, "Linux looks for a function in each slot"
    assert run.domain("witness")["exit_reasons"].get("pci_access", 0) == 0
    assert run.domain("witness")["state"] == "running"


@pytest.mark.req("D3", "D4")
def test_a_restarted_linux_uses_its_disk_again(tmp_path: Path) -> None:
    """Linux would find the disk without a reset, too: tests/traps/pci_test.cpp shows the reset."""
    system = yaml.safe_load((EXAMPLES / "nvme.yaml").read_text())
    linux, _ = system["domains"]
    again = (
        "cat /proc/interrupts; "
        "if dd if=/dev/nvme0n1 bs=1M skip=8 count=1 2>/dev/null | grep -q again; then poweroff -f; fi; "
        "echo again | dd of=/dev/nvme0n1 bs=1M seek=8 conv=fsync 2>/dev/null; reboot -f"
    )
    linux["image"]["cmdline"] = linux["image"]["cmdline"].replace("poweroff -f", again)
    path = tmp_path / "again.yaml"
    path.write_text(yaml.safe_dump(system | {"expect": {"linux": "stopped"}}))
    run = boot(path, tmp_path / "run", for_ns=120 * S)
    assert run.result["verdict"] == "ok", run.result["reasons"]
    assert run.domain("linux")["restarts"] == 1
    assert len([line for line in run.lines("linux") if "4096 KiB came back" in line]) == 2
    taken = messages_of(run, 1)
    assert len(taken) == 2 and all(count > 0 for (count,) in taken)
    assert run.domain("linux")["refused_accesses"] == 0


@pytest.mark.req("D3")
def test_a_function_that_is_another_one_is_no_start(tmp_path: Path) -> None:
    board = yaml.safe_load((EXAMPLES.parent / "platforms" / "qemu-virt-smmu.yaml").read_text())
    board["name"] = "another"
    board["pci"]["functions"][1]["bars"][0]["size"] = "32 KiB"
    path = tmp_path / "another.yaml"
    path.write_text(yaml.safe_dump(board))
    run = boot(EXAMPLES / "nvme.yaml", tmp_path / "run", overrides=(f"platform={path}",), for_ns=5 * S)
    assert run.result["verdict"] == "failed"
    text = "\n".join(run.lines())
    assert "PCI: function 00:02.0 of 'linux': a BAR has another size or kind" in text
