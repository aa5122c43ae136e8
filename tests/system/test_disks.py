# SPDX-License-Identifier: Apache-2.0
"""Two Debian systems, each on its own NVMe disk and with its own network card, and one of them a server for
the other: `examples/disks.yaml` (D3, D6, D7)."""

from __future__ import annotations

import pytest
import yaml

from .harness import EXAMPLES, Run, boot

pytestmark = [pytest.mark.emulator, pytest.mark.timeout(600)]
DEBIANS = ("one", "two")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """The example with a shorter load."""
    directory = tmp_path_factory.mktemp("disks")
    system = yaml.safe_load((EXAMPLES / "disks.yaml").read_text())
    for domain in system["domains"][:2]:
        command = domain["image"]["cmdline"]
        assert "--timeout 60s" in command
        domain["image"]["cmdline"] = command.replace("--timeout 60s", "--timeout 5s")
    path = directory / "disks.yaml"
    path.write_text(yaml.safe_dump(system))
    return boot(path, directory / "run")


@pytest.mark.req("D6", "D7")
def test_both_boot_from_their_disks_to_login(run: Run) -> None:
    assert run.result["verdict"] == "ok", run.result["reasons"]
    for name in DEBIANS:
        text = "\n".join(run.lines(name))
        assert "debian login:" in text and "network and stress: passed" in text
    assert run.domain("witness")["state"] == "running", "it ends at a changed word"


@pytest.mark.req("D6")
def test_each_talks_to_its_own_network(run: Run) -> None:
    for name in DEBIANS:
        assert "network: 256 KiB came back" in "\n".join(run.lines(name))  # perhaps after the prompt


@pytest.mark.req("D3", "F1", "F11")
def test_one_is_a_server_of_its_disk_and_network_for_the_other(run: Run) -> None:
    """The end of flows owns devices: what comes along them has been read from its disk, or sent by its card.
    Nothing but the broker reaches memory of both."""
    text = "\n".join(run.lines("two"))
    assert "disk of one: 1024 KiB came" in text, "with the sum that its owner has computed"
    assert "network of one: 16 KiB came back" in text
    moved = {flow["name"]: flow["bytes"] for flow in run.result["flows"]}
    assert moved["disk.back"] > 1 << 20
    assert moved["net"] == moved["net.back"] == 16 << 10
    assert all(flow["lost"] == 0 for flow in run.result["flows"])
    assert run.result["witnesses"]["tables"]["verdict"] == "held", "also the SMMU's entries of both domains"


@pytest.mark.req("D3")
def test_their_devices_reach_nothing_else(run: Run) -> None:
    for name in DEBIANS:
        assert run.domain(name)["refused_accesses"] == 0
        assert run.domain(name)["unconfined_devices"] == []
    smmu = run.result["hypervisor"]["smmu"]
    assert (smmu["unowned_accesses"], smmu["failed_accesses"]) == (0, 0)
