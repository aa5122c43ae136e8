# SPDX-License-Identifier: Apache-2.0
"""A debugger for one guest: the emulator's GDB stub, and a script with which GDB shows that domain only.

Called by `prepare` for `run --gdb DOMAIN[:PORT]`. The stub shows the emulator's cores as threads. An address
refers to the current mapping of the core that executes it, so guests with equal addresses are distinguished
by thread.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bulkhead.errors import InvalidInput

DEBUGGER = "gdb-multiarch"
DEFAULT_PORT = 1234
_HOST = "127.0.0.1"  # local only: a debugger has full control of the machine


class BadDebugger(InvalidInput):
    """The value of `--gdb` is not valid."""


@dataclass(frozen=True)
class Debugger:
    """The domain and port that `--gdb` names."""

    domain: str
    port: int = DEFAULT_PORT

    @property
    def stub(self) -> str:
        """Value for the emulator's `-gdb`."""
        return f"tcp:{_HOST}:{self.port}"


@dataclass(frozen=True)
class DebugProgram:
    """A domain's ELF file with its symbols, and the offset by which it was moved."""

    path: Path
    moved: int = 0


def parse_debugger(text: str) -> Debugger:
    """`DOMAIN` or `DOMAIN:PORT`. Raises BadDebugger."""
    domain, colon, port = text.partition(":")
    if not colon:
        return Debugger(domain)
    if not port.isdecimal() or not 1 <= int(port) <= 65535:
        raise BadDebugger(f"'{port[:20]}' is not a port (allowed: 1 to 65535)")
    return Debugger(domain, int(port))


def gdb_script(debugger: Debugger, cores: Sequence[int], entry: int, program: DebugProgram | None) -> str:
    """The script for GDB's `-x`: connects, defines `guest-break`, and stops at the guest's first instruction.

    `cores`: cores of the domain's VCPUs, in the order of VCPUs.
    """
    threads = [core + 1 for core in cores]
    here = " || ".join(f"$_thread == {thread}" for thread in threads)
    shown = f"Threads of the domain: {', '.join(map(str, threads))}."
    lines = [
        f"# Domain '{debugger.domain}' in GDB; written by `bulkhead run --gdb`.",
        "set architecture aarch64",
        *([] if program is None else _symbols(program)),
        f"target extended-remote {_HOST}:{debugger.port}",
        "define guest-break",
        f"  break $arg0 if {here}",
        "end",
        "document guest-break",
        f"Break only when domain '{debugger.domain}' reaches the place: guest-break FUNCTION or *ADDRESS.",
        "end",
        f"tbreak *{entry:#x} if $_thread == {threads[0]}",
        f"thread {threads[0]}",
        f"echo {shown} `continue` goes to its first instruction.\\n",
    ]
    return "\n".join(lines) + "\n"


def _symbols(program: DebugProgram) -> list[str]:
    path = shlex.quote(str(program.path))
    return [f"symbol-file {path} -o {program.moved:#x}"] if program.moved else [f"file {path}"]


def gdb_command(script: Path) -> str:
    """The command that the user types."""
    return f"{DEBUGGER} -x {shlex.quote(str(script))}"
