# SPDX-License-Identifier: Apache-2.0
"""Latency of interrupts under the hosted hypervisor: the platform's `costs.interrupt_latency`, whatever the
core does at that time, plus the architecture's exception entry if there is one."""

from __future__ import annotations

import re

import pytest

from bulkhead.env.native import ensure_built
from bulkhead.env.paths import build_dir
from bulkhead.machine.hosted import ensure_hosted, run_hosted

from ..platforms import platform
from .systems import MS, built_from, domain

LATE = re.compile(r"(guest|wait) on core (\d+): (\d+) ticks late")
EXECUTES, SLEEPS, THROTTLED = 0, 1, 2  # what each core does most of the time


@pytest.fixture(scope="module")
def late(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, int], int]:
    """Latency in ps, by the state in which the interrupt found the core."""
    ensure_hosted()
    ensure_built(["host"], ["hosted_hypervisor_latency"])
    directory = tmp_path_factory.mktemp("latency")
    (directory / "hypervisor").symlink_to(build_dir() / "host" / "hosted-latency" / "hypervisor")
    (directory / "guests").symlink_to(build_dir() / "host" / "hosted" / "guests")
    executes = {"period_us": 50, "working_set_kib": 512}  # its work is never done in time
    sleeps = {"period_us": 50, "working_set_kib": 1}
    budget = {"events": 20, "period": "50 us", "counts": "refills"}
    build = built_from(
        directory / "system",
        domain("executes", "periodic", [EXECUTES], params=executes),
        domain("sleeps", "periodic", [SLEEPS], params=sleeps),
        domain("throttled", "hog", [THROTTLED], bandwidth=budget, params={"buffer_kib": 2048}),
        target_dir=directory,
        for_ns=20 * MS,
    )
    run = run_hosted(build)
    assert run.answer["ending"] == "off", run.answer["trouble"]
    hz = platform("qemu-virt").timers.frequency
    return {(where, int(core)): int(ticks) * 10**12 // hz for where, core, ticks in LATE.findall(run.console)}


@pytest.mark.parametrize(
    ("where", "core", "entered"),
    [("guest", EXECUTES, True), ("guest", SLEEPS, True), ("wait", THROTTLED, False)],
)
def test_it_is_the_same_from_every_context(
    late: dict[tuple[str, int], int], where: str, core: int, entered: bool
) -> None:
    board = platform("qemu-virt")
    costs = board.costs
    assert costs.interrupt_latency is not None
    assert costs.entry is not None
    wanted = costs.interrupt_latency + (costs.entry if entered else 0)
    tick = 10**12 // board.timers.frequency
    instructions = 20_000  # instructions of the handler before it reads the time
    assert wanted - tick <= late[where, core] <= wanted + tick + instructions
