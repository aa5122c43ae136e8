# SPDX-License-Identifier: Apache-2.0
"""Linux from a virtio disk and with a virtio network card, which are PCI functions behind the SMMU:
`examples/virtio.yaml` (D3, D6)."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from .harness import EXAMPLES, Run, S, boot

pytestmark = [pytest.mark.emulator, pytest.mark.timeout(600)]
DISK, NETWORK = "disk: 4096 KiB came back", "network: 256 KiB came back"


def with_end(directory: Path, end: str) -> Path:
    """The example with `end` in place of Linux's power-off."""
    system = yaml.safe_load((EXAMPLES / "virtio.yaml").read_text())
    image = system["domains"][0]["image"]
    assert image["cmdline"].count("poweroff -f") == 1
    image["cmdline"] = image["cmdline"].replace("poweroff -f", " ".join(end.split()))
    path = directory / "virtio.yaml"
    path.write_text(yaml.safe_dump(system))
    return path


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """The example. Linux shows its interrupts, and what it sees of its functions, at the end."""
    directory = tmp_path_factory.mktemp("virtio")
    show = """cat /proc/interrupts;
        for f in /sys/bus/pci/devices/*; do echo found: ${f##*/} $(cat $f/device)
        $(od -An -v -tx1 -w256 $f/config); done; poweroff -f"""
    return boot(with_end(directory, show), directory / "run")


def capabilities(config: bytes) -> list[tuple[int, int]]:
    """Id of each capability on the list, and its fourth byte, which is the type of virtio's."""
    found: list[tuple[int, int]] = []
    at = config[0x34]
    while at and len(found) < 64:
        found.append((config[at], config[at + 3] if config[at] == 0x09 else 0))
        at = config[at + 1]
    return found


@pytest.mark.req("D3", "D6")
def test_linux_boots_from_its_virtio_disk_and_talks_to_its_network(run: Run) -> None:
    assert run.result["verdict"] == "ok", run.result["reasons"]
    text = "\n".join(run.lines("linux"))
    assert DISK in text and NETWORK in text
    assert run.domain("witness")["state"] == "running", "it ends at a changed word"


@pytest.mark.req("D2", "D3")
def test_its_functions_reach_nothing_else(run: Run) -> None:
    assert run.domain("linux")["refused_accesses"] == 0
    assert run.domain("linux")["unconfined_devices"] == []
    smmu = run.result["hypervisor"]["smmu"]
    assert (smmu["unowned_accesses"], smmu["failed_accesses"]) == (0, 0)
    tables = run.result["witnesses"]["tables"]
    assert (tables["verdict"], tables["findings_total"]) == ("held", 0), tables["findings"]


@pytest.mark.req("D4")
def test_their_interrupts_are_messages(run: Run) -> None:
    taken = re.compile(r"\d+:\s+(\d+)\s+ITS-MSI\s+\d+\s+Edge\s+virtio\d-(req\.0|input\.0|output\.0)$")
    found = {m[2]: int(m[1]) for line in run.lines("linux") if (m := taken.search(line.rstrip()))}
    assert found["req.0"] > 0 and found["input.0"] > 0 and "output.0" in found


@pytest.mark.req("D3")
def test_linux_sees_the_places_of_registers_and_no_window(run: Run) -> None:
    shown = re.compile(r"found: (\S+) 0x(\S+) ((?:[0-9a-f]{2} ?){256})")
    found = {m[2]: bytes.fromhex(m[3]) for line in run.lines("linux") if (m := shown.search(line))}
    assert sorted(found) == ["1041", "1042"], "one bus, without the ports"
    for config in found.values():
        assert capabilities(config) == [(0x10, 0), (0x11, 0), (9, 1), (9, 2), (9, 3), (9, 4)]


@pytest.mark.req("D3", "D4")
def test_a_restarted_linux_uses_them_again(tmp_path: Path) -> None:
    """The disk keeps a file over the restart. tests/traps/pci_bridge_test.cpp shows the buses' reset."""
    end = "if [ -e again ]; then poweroff -f; fi; echo again >again; sync; reboot -f"
    run = boot(with_end(tmp_path, end), tmp_path / "run", for_ns=180 * S)
    assert run.result["verdict"] == "ok", run.result["reasons"]
    assert run.domain("linux")["restarts"] == 1
    text = "\n".join(run.lines("linux"))
    assert (text.count(DISK), text.count(NETWORK)) == (2, 2)
    assert run.domain("linux")["refused_accesses"] == 0
    assert run.result["witnesses"]["tables"]["verdict"] == "held"
