# SPDX-License-Identifier: Apache-2.0
"""Linux with an NVMe disk of its own, behind the SMMU and a mediated configuration space:
`examples/nvme.yaml` (D3, D6)."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from .harness import EXAMPLES, Run, S, boot

pytestmark = [pytest.mark.emulator, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return boot(EXAMPLES / "nvme.yaml", tmp_path_factory.mktemp("nvme") / "run")


@pytest.mark.req("D3", "D6")
def test_linux_reads_what_it_has_written_to_its_disk(run: Run) -> None:
    assert run.result["verdict"] == "ok", run.result["reasons"]
    assert run.domain("linux")["refused_accesses"] == 0
    assert run.domain("linux")["unconfined_devices"] == []
    smmu = run.result["hypervisor"]["smmu"]
    assert (smmu["unowned_accesses"], smmu["failed_accesses"]) == (0, 0)


@pytest.mark.req("D3")
def test_configuration_space_is_the_hypervisors(run: Run) -> None:
    reasons = run.domain("linux")["exit_reasons"]
    assert reasons["pci_access"] > 64, "Linux looks for a function in each slot"
    assert run.domain("witness")["exit_reasons"].get("pci_access", 0) == 0
    assert run.domain("witness")["state"] == "running"


@pytest.mark.req("D3")
def test_a_restarted_linux_uses_its_disk_again(tmp_path: Path) -> None:
    """Linux would find the disk without a reset, too: tests/traps/pci_test.cpp shows the reset."""
    system = yaml.safe_load((EXAMPLES / "nvme.yaml").read_text())
    linux, _ = system["domains"]
    linux["image"]["cmdline"] = linux["image"]["cmdline"].replace("poweroff -f", "reboot -f")
    path = tmp_path / "again.yaml"
    path.write_text(yaml.safe_dump(system | {"expect": {"linux": {"ready": True}}}))
    run = boot(path, tmp_path / "run", for_ns=25 * S)
    assert run.result["verdict"] == "ok", run.result["reasons"]
    assert run.domain("linux")["restarts"] >= 1
    assert len([line for line in run.lines("linux") if "4096 KiB came back" in line]) >= 2
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
