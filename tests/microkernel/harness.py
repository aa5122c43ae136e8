# SPDX-License-Identifier: Apache-2.0
"""Boots systems of microkernel/systems on an emulated board, with counted instructions; reads their lines.

A system never ends: it is stopped when it has printed a line that the caller waits for.
"""

from __future__ import annotations

import re
import subprocess
import threading
from dataclasses import dataclass
from functools import cache

from bulkhead.env.native import ensure_built
from bulkhead.env.paths import build_dir
from bulkhead.env.qemu import qemu_binary

ICOUNT_SHIFT = 6
INSTRUCTION_NS = 1 << ICOUNT_SHIFT
HUNG_S = 60.0  # wall time: allows for a busy machine
_VALUE = re.compile(r"(\w+): +(.*) = (\d+)")


@dataclass(frozen=True)
class Board:
    """A directory of microkernel/board, and how the emulator calls it."""

    name: str
    machine: tuple[str, ...]
    clock_ns: float  # of programs' clock_read()

    def __str__(self) -> str:
        return self.name


MPS2 = Board("mps2-an500", ("-M", "mps2-an500", "-serial", "stdio"), 40.0)
ZYNQ = Board("xilinx-zynq-a9", ("-M", "xilinx-zynq-a9", "-serial", "stdio"), 1.0)
BOARDS = (MPS2, ZYNQ)


@dataclass(frozen=True)
class Output:
    """What a system printed."""

    lines: tuple[str, ...]

    def value(self, component: str, what: str) -> int:
        """The number that a component printed for something; the last one."""
        values = self.values(component, what)
        assert values, f"{component} did not say {what!r}:\n" + "\n".join(self.lines)
        return values[-1]

    def values(self, component: str, what: str) -> list[int]:
        found = filter(None, map(_VALUE.fullmatch, self.lines))
        return [int(match[3]) for match in found if (match[1], match[2]) == (component, what)]

    def reports(self, component: str) -> list[str]:
        """The kernel's lines about a component that it killed."""
        start = f"kernel: {component} killed: "
        return [line.removeprefix(start) for line in self.lines if line.startswith(start)]


@cache
def _built() -> None:
    ensure_built(["target"], ["microkernel"])


@cache
def run(board: Board, system: str, last: str) -> Output:
    """The lines of a system, up to one that matches `last`."""
    _built()
    image = build_dir() / "target" / "microkernel" / "board" / board.name / f"{system}.elf"
    command = [
        str(qemu_binary()),
        *board.machine,
        *("-display", "none", "-monitor", "none", "-nic", "none"),
        *("-icount", f"shift={ICOUNT_SHIFT},sleep=off", "-kernel", str(image)),
    ]
    lines: list[str] = []
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True) as emulator:
        watchdog = threading.Timer(HUNG_S, emulator.kill)
        watchdog.start()
        assert emulator.stdout is not None
        for line in emulator.stdout:
            lines.append(line.rstrip())
            if re.search(last, lines[-1]):
                break
        watchdog.cancel()
        emulator.kill()
    output = Output(tuple(lines))
    assert lines and re.search(last, lines[-1]), f"{system} did not print {last!r}:\n" + "\n".join(lines)
    return output


def instructions(board: Board, clocks: float) -> float:
    """That many of the programs' clock, in instructions: a clock is not a whole number of them."""
    return clocks * board.clock_ns / INSTRUCTION_NS
