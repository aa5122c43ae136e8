# SPDX-License-Identifier: Apache-2.0
"""Boots systems of microkernel/systems on a board, emulated with counted instructions or on the simulated
machine; reads their lines.

A system never ends: it is stopped when it has printed a line that the caller waits for.
"""

from __future__ import annotations

import re
import subprocess
import threading
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from bulkhead.config.load import load_platform
from bulkhead.config.locate import platform_path
from bulkhead.env.native import ensure_built
from bulkhead.env.paths import build_dir
from bulkhead.env.qemu import qemu_binary
from bulkhead.machine import armv7

ICOUNT_SHIFT = 6
HUNG_S = 60.0  # wall time: allows for a busy machine
LONGEST_PS = 10**12  # simulated time: none of the systems takes a fifth of it
_VALUE = re.compile(r"(\w+): +(.*) = (\d+)")


@dataclass(frozen=True)
class Board:
    """A directory of microkernel/board, and where its images run."""

    name: str
    clock_ns: float  # of programs' clock_read()
    emulated: tuple[str, ...] = ()  # options of the emulator; none: on the simulated machine
    instruction_ns: float | None = None  # where each instruction takes the same time
    timed: bool = True  # on the simulated machine: as the platform states, if it does

    def __str__(self) -> str:
        where = "emulated" if self.emulated else "machine" if self.timed else "untimed"
        return f"{self.name}-{where}"


_ICOUNT_NS = float(1 << ICOUNT_SHIFT)
MPS2 = Board("mps2-an500", 40.0, ("-M", "mps2-an500", "-serial", "stdio"), _ICOUNT_NS)
ZYNQ = Board("xilinx-zynq-a9", 1.0, ("-M", "xilinx-zynq-a9", "-serial", "stdio"), _ICOUNT_NS)
MPS2_MACHINE = Board("mps2-an500", 40.0, instruction_ns=40.0)  # its machine makes no claim about time
STM32_MACHINE = Board("stm32f767", 1000.0 / 108.0)
ZYNQ_MACHINE = Board("xilinx-zynq-a9", 1000.0 / 767.0)  # the simulated Zynq-7020
ZYNQ_UNTIMED = Board("xilinx-zynq-a9", 1.0, instruction_ns=1.0, timed=False)  # its clock counts instructions
M_BOARDS = (MPS2, MPS2_MACHINE, STM32_MACHINE)
A_BOARDS = (ZYNQ, ZYNQ_MACHINE)
BOARDS = (*M_BOARDS, *A_BOARDS)


@dataclass(frozen=True)
class Output:
    """Output of a system."""

    lines: tuple[str, ...]

    def value(self, component: str, what: str) -> int:
        """The last number that a component printed for this name."""
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
def image_of(board: Board, system: str) -> Path:
    ensure_built(["target"], ["microkernel"])
    return build_dir() / "target" / "microkernel" / "board" / board.name / f"{system}.elf"


@cache
def run(board: Board, system: str, last: str) -> Output:
    """The lines of a system, up to one that matches `last`."""
    lines = _emulated(board, system, last) if board.emulated else simulated(board, system, last).console
    assert lines and re.search(last, lines[-1]), f"{system} did not print {last!r}:\n" + "\n".join(lines)
    return Output(tuple(lines))


@cache
def simulated(board: Board, system: str, last: str) -> armv7.Armv7Run:
    """The same on the simulated machine, with its counts."""
    armv7.ensure_armv7()
    return armv7.run(request_of(board, system, last))


def request_of(board: Board, system: str, last: str) -> armv7.Json:
    path = platform_path(board.name)
    assert path is not None
    platform, _, problems = load_platform(path)
    assert platform is not None, problems
    return armv7.request_of(
        platform, image_of(board, system), until_ps=LONGEST_PS, until_line=last, timed=board.timed
    )


def _emulated(board: Board, system: str, last: str) -> list[str]:
    command = [
        str(qemu_binary()),
        *board.emulated,
        *("-display", "none", "-monitor", "none", "-nic", "none"),
        *("-icount", f"shift={ICOUNT_SHIFT},sleep=off", "-kernel", str(image_of(board, system))),
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
    return lines


def instructions(board: Board, clocks: float) -> float:
    """Converts ticks of the programs' clock to instructions: a tick is not a whole number of them."""
    assert board.instruction_ns is not None
    return clocks * board.clock_ns / board.instruction_ns
