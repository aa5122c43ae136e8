# SPDX-License-Identifier: Apache-2.0
"""State of the emulated processors at EL2: a client of the emulator's debugger stub.

Tests read what no program of the system can report: registers of EL2, and translations of both stages with
the resulting memory type. The hypervisor is the shipped one, and continues undisturbed. The remote serial
protocol is that of GDB's manual, appendix E.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import re
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

from bulkhead.run.emulator import EmulatedMachine

PATIENCE_S = 120.0
_numbers = itertools.count()
_SYNC_FROM_GUEST, _INTERRUPT_FROM_GUEST = 0x400, 0x480  # in the table of VBAR_EL2
_X0, _X1, _PC = 0, 1, 32  # numbers of registers in the stub's core description
_INSTRUCTION = 4
_AT_S12E1R_X0 = 0xD50C7880  # AT S12E1R, X0: what EL1 would read at the address in X0, by both stages
_ISB = 0xD5033FDF
_MRS_X1_PAR = 0xD5387401  # MRS X1, PAR_EL1
_PAR_FAILED, _PAR_ATTR_SHIFT = 1, 56  # DDI 0487, D24.2: PAR_EL1.F and .ATTR, which is as a byte of MAIR


class NotMapped(AssertionError):
    """The guest has no memory at an address, or none yet: pages are mapped at the first access."""


class Debugger:
    """A connected stub. The machine stands still between two calls of `go_on_to`."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._connection.settimeout(PATIENCE_S)
        self._buffer = b""
        self.ask("qSupported:xmlRegisters=aarch64")
        self.thread = self._stopped(self.ask("?"))  # connecting has stopped the machine
        self._numbers = dict(self._registers("target.xml"))

    def ask(self, request: str) -> str:
        data = request.encode()
        self._connection.sendall(b"$" + data + b"#%02x" % (sum(data) & 0xFF))
        return self._packet()

    def register(self, name: str) -> int:
        """A system register of the core that stopped last, by its name in the manual."""
        return self._read(self._numbers[name])

    def go_on_to_el2(self) -> None:
        """Continues until a guest has exited to EL2, for any reason, once more."""
        places = [self.register("VBAR_EL2") + at for at in (_SYNC_FROM_GUEST, _INTERRUPT_FROM_GUEST)]
        if self._read(_PC) in places:
            self._step()
        for place in places:
            assert self.ask(f"Z1,{place:x},{_INSTRUCTION}") == "OK"
        self.thread = self._stopped(self.ask("vCont;c"))
        for place in places:
            assert self.ask(f"z1,{place:x},{_INSTRUCTION}") == "OK"
        assert self._read(_PC) in places

    def stop_at(self, address: int, thread: int) -> int:
        """Continues until this thread is at an address; other threads that reach it continue. Returns the
        thread."""
        assert self.ask(f"Z1,{address:x},{_INSTRUCTION}") == "OK"
        for _ in range(100):
            self.thread = self._stopped(self.ask("vCont;c"))
            number = int(self.thread.rpartition(".")[2], 16)
            assert self._read(_PC) == address
            if number == thread:
                assert self.ask(f"z1,{address:x},{_INSTRUCTION}") == "OK"
                return number
            self._step()
        raise AssertionError("it never comes there")

    def memory_type(self, address: int) -> int:
        """The attributes, as in MAIR, that the guest which exited to EL2 would get at an address.

        Raises NotMapped.
        """
        here = self._read(_PC)
        before = [(number, self._read(number)) for number in (_X0, _X1, _PC)]
        code = [_AT_S12E1R_X0, _ISB, _MRS_X1_PAR]
        kept = self.ask(f"m{here:x},{len(code) * _INSTRUCTION:x}")
        self._store(here, b"".join(word.to_bytes(_INSTRUCTION, "little") for word in code).hex())
        self._write(_X0, address)
        for _ in code:
            self._step()
        result = self._read(_X1)
        self._store(here, kept)
        for number, value in before:
            self._write(number, value)
        if result & _PAR_FAILED:
            raise NotMapped(f"{address:#x}: PAR_EL1 {result:#x}")
        return result >> _PAR_ATTR_SHIFT

    def _step(self) -> None:
        """One instruction of the thread that stopped last, and is not idle (its step would wait for an
        interrupt). The stub steps off a breakpoint, but does not continue from one: the thread would stop
        there again at once."""
        self._stopped(self.ask(f"vCont;s:{self.thread}"))

    def _read(self, number: int) -> int:
        self.ask(f"Hg{self.thread}")
        return int.from_bytes(bytes.fromhex(self.ask(f"p{number:x}")), "little")

    def _write(self, number: int, value: int) -> None:
        assert self.ask(f"P{number:x}={value.to_bytes(8, 'little').hex()}") == "OK"

    def _store(self, address: int, data: str) -> None:
        assert self.ask(f"M{address:x},{len(data) // 2:x}:{data}") == "OK"

    def _stopped(self, answer: str) -> str:
        found = re.fullmatch(r"T[0-9a-f]{2}thread:([^;]+);.*", answer)
        assert found, answer
        return found[1]

    def _registers(self, name: str) -> Iterator[tuple[str, int]]:
        """Names and numbers of registers, as the stub describes them, part by part."""
        number = 0
        for attributes in re.findall(r"<reg ([^>]*)>", self._description(name)):
            given = dict(re.findall(r"(\w+)=[\"']([^\"']*)[\"']", attributes))
            number = int(given.get("regnum", number))
            yield given["name"], number
            number += 1

    def _description(self, name: str) -> str:
        text = ""
        while (piece := self.ask(f"qXfer:features:read:{name}:{len(text):x},800"))[0] == "m":
            text += piece[1:]
        text += piece[1:]
        return text + "".join(
            self._description(other) for other in re.findall(r'include href="([^"]*)"', text)
        )

    def _packet(self) -> str:
        while not (found := re.search(rb"\$([^#]*)#[0-9a-f]{2}", self._buffer, re.DOTALL)):
            data = self._connection.recv(1 << 16)
            assert data, "the emulator has gone away"
            self._buffer += data
        self._buffer = self._buffer[found.end() :]
        self._connection.sendall(b"+")
        return _unescaped(found[1]).decode("latin-1")


def _unescaped(data: bytes) -> bytes:
    return re.sub(rb"\}(.)", lambda found: bytes([found[1][0] ^ 0x20]), data, flags=re.DOTALL)


@contextlib.contextmanager
def debugged(machine: EmulatedMachine, directory: Path, until: str) -> Iterator[Debugger]:
    """The machine, after its console has printed `until`."""
    console, stub = directory / "console.log", f"bulkhead-{os.getpid()}-{next(_numbers)}"
    arguments = [*machine.arguments(), "-serial", f"file:{console}", "-monitor", "none"]
    # A name without a file, of any length.
    listens = f"socket,path={stub},abstract=on,server=on,wait=off,id=stub"
    arguments += ["-chardev", listens, "-gdb", "chardev:stub"]
    process = subprocess.Popen(arguments, stdin=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + PATIENCE_S
        while not console.exists() or until not in console.read_text(errors="replace"):
            assert process.poll() is None, "the emulator has ended"
            assert time.monotonic() < deadline, console.read_text(errors="replace")
            time.sleep(0.05)
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(f"\0{stub}")
            yield Debugger(connection)
    finally:
        process.kill()
        process.wait()
