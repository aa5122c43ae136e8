# SPDX-License-Identifier: Apache-2.0
"""Boots the guests' Linux alone on the emulator, with the module in its RAM disk and a script of checks.

Under counted time an instruction is an event that the emulator's PMU counts, and a run is the same each time.
"""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

from bulkhead.env.linux import busybox, linux_kernel
from bulkhead.env.qemu import qemu_binary
from bulkhead.images.initrd import make_initrd

HERE = Path(__file__).parent
TIMEOUT_S = 300.0
# Additional events of a loop in user mode: from the overflow to the thread that holds the CPU.
OVERSHOOT_EVENTS = 12_000
# The end of an interval and an overflow of the other CPU (docs/guide/linux.md). The emulator counts them on a
# throttled one.
INTERVAL_EVENTS = 8_000
# The longest section of this kernel, which is preemptible only where it says so: a fork, a burst of
# interrupts.
KERNEL_EVENTS = 60_000
SELDOM = 0.05  # of the periods
# A PCI device that is only memory: its second BAR stands in for a memory controller's registers.
DEVICE = ("-object", "memory-backend-ram,id=shared,size=1M", "-device", "ivshmem-plain,memdev=shared")


def are_within(events: Sequence[int], budget: int, overshoot: int = OVERSHOOT_EVENTS) -> bool:
    """Whether the events of periods keep a budget: all but a few within the driver's own overshoot, and none
    beyond the kernel's work before the thread that holds the CPU runs."""
    beyond = [one - budget for one in events if one > budget + overshoot]
    return len(beyond) <= SELDOM * len(events) and all(one <= overshoot + KERNEL_EVENTS for one in beyond)


def make_ramdisk(module: Path, checks: str) -> bytes:
    """A RAM disk whose first program runs `checks` and turns the machine off."""
    init = (HERE / "init.sh").read_text()
    extra = {"/bulkhead.ko": module.read_bytes(), "/checks.sh": checks.encode()}
    return make_initrd(busybox().read_bytes(), init, extra)


def machine(cpus: int) -> list[str]:
    """The emulator and its machine, as it boots."""
    return [
        *(str(qemu_binary()), "-machine", "virt,gic-version=3", "-cpu", "cortex-a53", "-smp", str(cpus)),
        *("-m", "512M", "-display", "none", "-audio", "none", "-nic", "none", "-monitor", "none"),
    ]


def dump_tree(tree: Path, *, cpus: int) -> None:
    """Writes the device tree with which boot() boots, unless it is given another one."""
    subprocess.run(
        [*machine(cpus), "-machine", f"dumpdtb={tree}"], capture_output=True, timeout=TIMEOUT_S, check=True
    )


def boot(ramdisk: bytes, directory: Path, *, cpus: int, arguments: tuple[str, ...] = ()) -> list[str]:
    """The lines of Linux's console until it turned the machine off."""
    initrd = directory / "initrd"
    initrd.write_bytes(ramdisk)
    command = [
        *machine(cpus),
        *("-icount", "shift=1,sleep=off", "-seed", "0", "-no-reboot", "-serial", "stdio"),
        *("-kernel", str(linux_kernel()), "-initrd", str(initrd), *arguments),
        *("-append", "console=ttyAMA0 quiet cryptomgr.notests loglevel=1 panic=-1"),
    ]
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, timeout=TIMEOUT_S, check=False
    )
    console = done.stdout.decode(errors="replace").replace("\r\n", "\n")
    (directory / "console.log").write_text(console)
    assert done.returncode == 0, done.stderr.decode(errors="replace")
    return console.splitlines()


def answers(console: list[str]) -> dict[str, list[str]]:
    """Lines by the question (`@@ name`) that they answer. Checks that the script has ended."""
    found: dict[str, list[str]] = {}
    name = None
    for line in console:
        if line.startswith("@@"):
            name = line.removeprefix("@@").strip()
            assert name not in found, f"asked twice: {name}"
            found[name] = []
        elif name is not None:
            found[name].append(line)
    assert "" in found, f"the checks did not come to their end:\n{chr(10).join(console[-50:])}"
    return found
