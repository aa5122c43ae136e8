# SPDX-License-Identifier: Apache-2.0
"""Makes the emulated GICv2 evaluate its inputs regularly, so that no timer interrupt is lost.

QEMU 10.0.2 misses one case (hw/intc/arm_gic.c, gic_complete_irq()): when a guest's end of interrupt
deactivates a physical interrupt by a list register, QEMU does not check whether that input is still, or
again, asserted. A timer that expired before the guest had ended its last interrupt then stays unnoticed until
any other input of the GIC changes. If all other cores are idle, no input changes, and the guest sleeps
forever.

Hardware evaluates its inputs continuously. In QEMU, each change of an input makes the GIC evaluate all of
them. The input used here is the last shared interrupt, which is not enabled and which no device of these
machines drives. Only for runs that follow the host's time: a run with counted instructions must not depend on
it.
"""

from __future__ import annotations

import asyncio
import contextlib

from bulkhead.run.emulator import EmulatorError, RunningEmulator

PAUSE_S = 0.1  # the most that a timer interrupt may be late
_PLACES = ("soc", "unattached")  # parts of the machine in which QEMU's boards keep their devices
_GIC = "child<arm_gic>"
_OTHER_HOLDER = "child<bcm2838-peripherals>"  # hw/arm/bcm2838.c passes the inputs of its GIC to this device
_PRIVATE = 32  # interrupts before the first shared one; inputs are numbered from there


async def nudge(emulator: RunningEmulator) -> None:
    """Runs until it is cancelled. `emulator` was started with `lines`. Raises EmulatorError."""
    assert emulator.lines is not None
    answers, orders = emulator.lines
    path, holder = await _gic_and_holder(emulator)
    count = await emulator.command("qom-get", {"path": path, "property": "num-irq"})
    assert isinstance(count, int)
    order = f"set_irq_in {holder} unnamed-gpio-in {count - _PRIVATE - 1}"
    with contextlib.suppress(OSError):  # the emulator has ended
        while True:
            await asyncio.sleep(PAUSE_S)
            for level in (1, 0):
                orders.write(f"{order} {level}\n".encode())
                if not await answers.readline():
                    return


async def _gic_and_holder(emulator: RunningEmulator) -> tuple[str, str]:
    """Paths of the GIC and of the device that has its inputs."""
    for place in await _children(emulator, "/machine"):
        if place["name"] in _PLACES:
            top = f"/machine/{place['name']}"
            paths = {child["type"]: f"{top}/{child['name']}" for child in await _children(emulator, top)}
            if _GIC in paths:
                return paths[_GIC], paths.get(_OTHER_HOLDER, paths[_GIC])
    raise EmulatorError("the emulator has no GICv2 where its boards keep their devices")


async def _children(emulator: RunningEmulator, path: str) -> list[dict[str, str]]:
    children = await emulator.command("qom-list", {"path": path})
    assert isinstance(children, list)
    return children
