# SPDX-License-Identifier: Apache-2.0
"""One run of a system of components on the simulated machine, which executes the image's own code and models
its timing (machine/armv7/runner)."""

from __future__ import annotations

import json
from pathlib import Path

from bulkhead.machine.answer import Armv7Counts
from bulkhead.machine.armv7 import ensure_armv7, executable, request_of
from bulkhead.microkernel.build import ComponentsImage
from bulkhead.microkernel.session import HALTED, KERNEL, Ending, Serial, run_emulator
from bulkhead.run.console import ConsoleParser
from bulkhead.run.session import View

BOOT_NS = 5 * 10**9  # simulated time allowed for the start
PS_PER_NS = 1000


class ComponentMachine(Serial):
    """Lines of the console and, at the end, the machine's counts: JSON objects, one a line."""

    name = "machine"
    ends_itself = True

    def __init__(self) -> None:
        self.answer: Armv7Counts | None = None
        self._rest = b""

    def decoded(self, data: bytes) -> bytes:
        *lines, self._rest = (self._rest + data).split(b"\n")
        console = b""
        for line in lines:
            found = json.loads(line)
            if "console" in found:
                console += str(found["console"]).encode() + b"\n"
            elif "mark" not in found:  # which any component can set (DBG)
                self.answer = found
        return console


def run_machine(
    image: ComponentsImage, run_ns: int, directory: Path, parser: ConsoleParser, view: View, timeout_s: float
) -> tuple[Ending, Armv7Counts | None, list[str]]:
    """How it ended, what the machine counted, its command. Raises NotSimulated."""
    wanted = request_of(
        image.platform,
        image.elf,
        until_ps=(run_ns + BOOT_NS) * PS_PER_NS,
        until_line=rf"^(\[{KERNEL} +[0-9]+\.[0-9]+\]|{KERNEL}:) {HALTED}$",
    )
    ensure_armv7()
    request = directory / "request.json"
    request.write_text(json.dumps(wanted), encoding="utf-8")
    command = [str(executable())]
    serial = ComponentMachine()
    ending = run_emulator(command, directory, parser, view, timeout_s, serial=serial, request=request)
    if ending.how == "died" and serial.answer is not None:
        said = serial.answer.get("error") or serial.answer.get("trouble") or serial.answer.get("ending")
        ending.detail = f"the machine ended: {said}"
    return ending, serial.answer, command
