# SPDX-License-Identifier: Apache-2.0
"""A device that copies to any address reaches its domain's memory alone: `examples/dma-attack.yaml` (D2)."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from .harness import EXAMPLES, Run, S, boot, domain, write_system

pytestmark = [pytest.mark.emulator, pytest.mark.timeout(600)]


PROGRAMS = 5000
IMAGE = 0x4008_0000


@pytest.fixture(scope="module")
def attacked(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return boot(EXAMPLES / "dma-attack.yaml", tmp_path_factory.mktemp("dma") / "run")


@pytest.mark.req("D2")
def test_a_device_reaches_the_colored_memory_of_its_domain(attacked: Run) -> None:
    report = attacked.domain("attacker")["report"]
    assert (report["wrong"], report["unfinished"]) == (0, 0)
    assert attacked.domain("attacker")["unconfined_devices"] == []
    assert attacked.result["verdict"] == "ok", attacked.result["reasons"]


@pytest.mark.req("D2")
def test_it_reaches_nothing_else_and_each_refusal_has_a_domain(attacked: Run) -> None:
    """The witness checks its memory in each step; a change would end it before it ends the machine."""
    assert attacked.domain("attacker")["report"]["leaked"] == 0
    assert attacked.domain("witness")["state"] == "running"
    assert attacked.domain("attacker")["refused_accesses"] >= 16
    assert attacked.domain("witness")["refused_accesses"] == 0
    smmu = attacked.result["hypervisor"]["smmu"]
    assert (smmu["unowned_accesses"], smmu["failed_accesses"], smmu["unanswered"]) == (0, 0, 0)
    about = "SMMU: stream 8 of 'attacker': write of 48000000 is refused"
    assert len([line for line in attacked.lines() if line.startswith(about)]) == 1, attacked.lines()


@pytest.mark.req("D2")
def test_the_table_witness_reads_the_smmus_stream_table(attacked: Run) -> None:
    tables = attacked.result["witnesses"]["tables"]
    assert (tables["verdict"], tables["findings_total"]) == ("held", 0), tables["findings"]
    assert tables["streams_checked"] == 1 << 15, "the ids that the table has a place for"


@pytest.mark.req("D2")
def test_without_the_device_in_the_system_its_accesses_are_nobodys(tmp_path: Path) -> None:
    """The domain gets the pages of the function as if the board had no host bridge, and the manifest has no
    stream for it."""
    run = boot(
        EXAMPLES / "dma-attack.yaml",
        tmp_path / "run",
        overrides=(
            f"platform={_without_host_bridge(tmp_path)}",
            "domains.attacker.dma=trusted",
            "domains.attacker.devices=[edu, edu-config]",
        ),
    )
    assert run.result["hypervisor"]["smmu"]["unowned_accesses"] > 0
    assert run.domain("attacker")["refused_accesses"] == 0
    assert run.domain("attacker")["report"]["wrong"] > 0, "not even the domain's own memory is reached"
    assert run.domain("witness")["state"] == "running"


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return boot(
        EXAMPLES / "hostile-dma.yaml",
        tmp_path_factory.mktemp("hostile") / "run",
        overrides=(f"domains.disk.params.programs={PROGRAMS}",),
    )


@pytest.mark.req("D2", "D6")
def test_random_programs_of_a_disk_reach_nothing_of_others(hostile: Run) -> None:
    """Data, lists of pages and rings at foreign addresses; after them the disk works as before."""
    report = hostile.domain("disk")["report"]
    assert report["programs"] == PROGRAMS == report["done"] + report["refused"]
    assert (report["leaked"], report["wrong"], report["unanswered"]) == (0, 0, 0)
    assert report["refused"] > PROGRAMS / 10 and report["done"] > PROGRAMS / 10
    assert report["restarts"] > PROGRAMS / 100
    assert hostile.domain("witness")["state"] == "running"
    assert hostile.result["verdict"] == "ok", hostile.result["reasons"]


@pytest.mark.req("D2", "D6")
def test_each_refusal_of_random_programs_has_a_domain(hostile: Run) -> None:
    """At least one for each program on average; events that found no room are not among them."""
    assert hostile.domain("disk")["refused_accesses"] > PROGRAMS
    assert hostile.domain("copier")["refused_accesses"] > 0
    assert hostile.domain("witness")["refused_accesses"] == 0
    smmu = hostile.result["hypervisor"]["smmu"]
    assert (smmu["unowned_accesses"], smmu["failed_accesses"], smmu["unanswered"]) == (0, 0, 0)


def test_the_program_notices_memory_that_it_reaches(tmp_path: Path) -> None:
    """Its own image as if it were foreign. The disk stores parts of it in blocks."""
    params = {"programs": 1000, "foreign": IMAGE, "foreign_mib": 1, "only_reads": 1}
    ends = {"step_us": 10000, "memory_kib": 64, "print_every": 0, "watch": 0, "steps": 3000}
    system = write_system(
        tmp_path,
        domain("disk", "hostile_disk", 1, devices=["nvme"], params=params),
        domain("witness", "witness", 2, manager=True, params=ends),
        platform="qemu-virt-smmu",
        expect={"disk": "stopped"},
    )
    run = boot(system, tmp_path / "run")
    report = run.domain("disk")["report"]
    assert report["leaked"] > 0 and report["wrong"] == 0


@pytest.mark.req("C5", "D3")
def test_the_observer_sees_the_end_of_a_domain_with_a_function(tmp_path: Path) -> None:
    """EL2 turns the disk's registers off. The emulator (10.0.2) aborts if the plugin asks for the address of
    the store that did it."""
    params = {"programs": 10, "foreign": IMAGE, "foreign_mib": 1}
    ends = {"step_us": 10000, "memory_kib": 64, "print_every": 0, "watch": 0, "steps": 3000}
    system = write_system(
        tmp_path,
        domain("disk", "hostile_disk", 1, devices=["nvme"], params=params),
        domain("witness", "witness", 2, manager=True, params=ends),
        platform="qemu-virt-smmu",
        isolation={"llc": "coloring"},
        expect={"disk": "stopped"},
    )
    run = boot(system, tmp_path / "run", observe=True)
    observer = run.result["witnesses"]["observer"]
    assert (observer["verdict"], observer["evicted_by_others"]) == ("held", 0), run.result["reasons"]
    assert observer["unseen"] == ["DMA of nvme (disk)"]
    assert run.domain("disk")["state"] == "stopped"


@pytest.mark.req("D2")
def test_a_domain_is_restarted_while_its_device_copies(tmp_path: Path) -> None:
    """A transfer takes a tenth of a second, so most restarts come during one."""
    victim = domain("victim", "edu", 1, devices=["edu"], params={"attempts": 1000})
    watched = {"step_us": 10000, "memory_kib": 256, "print_every": 10, "seed": 7}
    reaper = {"victim": 1, "rounds": 20, "seed": 42, "gap_us": 300_000, "stops": 1}
    system = write_system(
        tmp_path,
        domain("witness", "witness", 0, params=watched),
        victim,
        domain("reaper", "reaper", 3, manager=True, params=reaper),
        platform="qemu-virt-smmu",
        expect={"reaper": "stopped", "witness": "running"},
    )
    run = boot(system, tmp_path / "run", for_ns=120 * S)
    report = run.domain("reaper")["report"]
    assert report is not None, run.lines("reaper")
    assert (report["rounds"], report["wrong"]) == (20, 0)
    assert run.domain("victim")["restarts"] >= 2
    smmu = run.result["hypervisor"]["smmu"]
    assert (smmu["unowned_accesses"], smmu["failed_accesses"], smmu["unanswered"]) == (0, 0, 0)
    assert run.result["verdict"] == "ok", run.result["reasons"]


def _without_host_bridge(directory: Path) -> Path:
    """The platform, whose file says neither that the function is one, nor that it is behind the SMMU."""
    board = yaml.safe_load((EXAMPLES.parent / "platforms" / "qemu-virt-smmu.yaml").read_text())
    del board["pci"], board["interrupt_controller"]["its"]
    board["name"] = "unaware"
    board["emulator"]["options"] += ["-device", "edu,addr=1,dma_mask=0xffffffffff"]
    board["devices"] += [
        {"name": "edu-config", "at": 0x3F00_8000, "size": "4 KiB", "dma": True, "coherent": True},
        {"name": "edu", "at": 0x1000_0000, "size": "1 MiB", "dma": True, "coherent": True},
    ]
    path = directory / "unaware.yaml"
    path.write_text(yaml.safe_dump(board))
    return path
