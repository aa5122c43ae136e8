# SPDX-License-Identifier: Apache-2.0
"""Every example states how to run it and what its run has to show, and a test runs it.

The tests that run them are listed here: an example that no test runs is not reliable.
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from bulkhead.admission.load import load_system
from bulkhead.config.system import Expectation
from bulkhead.machine.request import board_of

ROOT = Path(__file__).parents[2]
# Systems of components are not run yet: tests/mxu/test_check.py checks them.
FILES = sorted(file for file in (ROOT / "examples").glob("*.yaml") if not file.name.startswith("mxu-"))
RUN_BY = {
    "admission": "tests/hosted/test_flows.py",
    "banks": "tests/hosted/test_examples.py",
    "breakout": "tests/system/test_breakout.py",
    "budget-refused": "tests/hosted/test_examples.py",
    "dma-attack": "tests/system/test_smmu.py",
    "hostile-dma": "tests/system/test_smmu.py",
    "counting": "tests/system/test_budget.py",
    "cpu-time": "tests/hosted/test_examples.py",
    "flow-calls": "src/bulkhead/bench/flows.py",
    "flow-interrupts": "src/bulkhead/bench/flows.py",
    "flow-paths": "src/bulkhead/bench/flows.py",
    "flows": "tests/hosted/test_flows.py",
    "flows-both-ways": "tests/hosted/test_flows.py",
    "flows-iommu": "tests/system/test_broker_engine.py",
    "flows-many": "tests/hosted/test_examples.py",
    "flows-pool": "tests/hosted/test_socket_pool.py",
    "flows-zdma": "tests/hosted/test_flow_engine.py",
    "hostile-connections": "tests/hosted/test_examples.py",
    "hostile-crash": "tests/hosted/test_examples.py",
    "hostile-shared-interrupts": "tests/hosted/test_examples.py",
    "hostile-device": "tests/hosted/test_examples.py",
    "hostile-interrupts": "tests/hosted/test_examples.py",
    "hostile-maintenance": "tests/hosted/test_examples.py",
    "hostile-messages": "tests/system/test_messages.py",
    "hostile-packets": "tests/hosted/test_examples.py",
    "hostile-partitions": "tests/hosted/test_examples.py",
    "hostile-receiver": "tests/hosted/test_examples.py",
    "hostile-restart": "tests/hosted/test_examples.py",
    "hostile-uncached": "tests/hosted/test_examples.py",
    "linux-smp": "tests/system/test_linux.py",
    "u-boot": "tests/system/test_images.py",
    "delay": "tests/hosted/test_examples.py",
    "disks": "tests/system/test_disks.py",
    "virtio": "tests/system/test_virtio.py",
    "server": "tests/hosted/test_server.py",
    "edk2": "tests/system/test_images.py",
    "hostile-flash": "tests/system/test_hostile.py",
    "managed": "tests/hosted/test_examples.py",
    "mixed-criticality": "tests/hosted/test_run.py",
    "multicast": "tests/hosted/test_flows.py",
    "mpam": "tests/hosted/test_examples.py",
    "mpam-budgets": "tests/hosted/test_examples.py",
    "bridges": "tests/system/test_bridges.py",
    "nvme": "tests/system/test_pci.py",
    "passthrough": "tests/system/test_linux.py",
    "paths": "src/bulkhead/bench/hypervisor.py",
    "paths-regulated": "src/bulkhead/bench/regulators.py",
    "paths-shared": "src/bulkhead/bench/hypervisor.py",
    "regulated": "tests/hosted/test_examples.py",
    "regulated-device": "tests/hosted/test_regulated_device.py",
    "remap": "tests/system/test_maintenance.py",
    "shared-core": "tests/hosted/test_run.py",
    "shared-linux": "tests/system/test_shared_linux.py",
    "throttled": "tests/hosted/test_examples.py",
    "tuned": "tests/hosted/test_run.py",
    "two-brokers": "tests/hosted/test_two_brokers.py",
    "imx8mp": "tests/system/test_kernel_trees.py",
    "imx8mp-linux": "tests/system/test_boards.py",
    "rpi4": "tests/system/test_kernel_trees.py",
    "self-test": "tests/hosted/test_self_test.py",
    "self-test-budgets": "tests/hosted/test_self_test_budgets.py",
    "self-test-flows": "tests/hosted/test_self_test_flows.py",
    "self-test-utilization": "tests/hosted/test_self_test_utilization.py",
    "rpi4-linux": "tests/system/test_boards.py",
    "zcu102": "tests/hosted/test_run.py",
    "zcu102-linux": "tests/system/test_boards.py",
}
JUDGED_BY_BENCH = ("paths", "paths-regulated")  # which fails if a row is missing


def first_comment(file: Path) -> list[str]:
    lines = file.read_text().splitlines()
    return [line[1:] for line in lines[: lines.index("bulkhead: 1")]]


def test_each_example_is_run_by_a_test() -> None:
    assert {file.stem for file in FILES} == set(RUN_BY)
    for name, test in RUN_BY.items():
        assert re.search(rf"\b{name}\b", (ROOT / test).read_text()), f"{test} does not name {name}"


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_its_first_comment_has_a_command_that_it_can_be_run_with(file: Path) -> None:
    """Examples with a command for the emulator or the simulated machine can run there."""
    loaded = load_system(file)
    assert loaded.ok and loaded.platform is not None, loaded.problems
    shown = [line.strip() for line in first_comment(file) if line.strip().startswith("./bulkhead")]
    commands = [shlex.split(re.split(r"  +", line)[0]) for line in shown]
    assert commands, "no command"
    for _, command, *arguments in commands:
        if command != "run":
            assert command in ("bench", "check")
            continue
        if not arguments[0].startswith("examples/"):
            continue  # a file that a command of the comment has made of this one
        assert arguments[0] == f"examples/{file.name}"
        if "--on" in arguments:
            board_of(loaded.platform)  # raises if the machine does not have the board
        else:
            assert loaded.platform.emulator is not None


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_run_of_linux_ends_by_itself(file: Path) -> None:
    """A shell waits at its prompt for ever. So if no domain is expected to end, the file has a duration, or
    each command of its first comment."""
    system = load_system(file).system
    assert system is not None
    if not any(domain.image.kernel is not None for domain in system.domains):
        return
    if any(one.state != "running" for one in system.expect.values()):
        return
    runs = [line for line in first_comment(file) if line.strip().startswith("./bulkhead run")]
    for line in runs:
        limited = "--for" in re.split(r"  +", line.strip())[0]
        assert limited or system.run.duration(simulated="--on machine" in line), f"only Ctrl-A x ends:{line}"


@pytest.mark.parametrize("file", [f for f in FILES if f.stem not in JUDGED_BY_BENCH], ids=lambda f: f.stem)
def test_its_run_can_fail(file: Path) -> None:
    """An example needs an expectation: a run without crashes proves no claim."""
    system = load_system(file).system
    assert system is not None
    wanted = system.expect.values()
    asked = [one for one in wanted if one != Expectation(state=one.state)]
    assert asked, "`expect` has nothing that the run has to show"
    if any(not domain.bandwidth.unlimited for domain in system.domains):
        assert any(one.throttled is not None for one in wanted), "nobody looks whether a budget bites"
