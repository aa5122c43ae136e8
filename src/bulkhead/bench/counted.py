# SPDX-License-Identifier: Apache-2.0
"""One emulator run under the counting plugin, until a text appears on the serial line.

Called by benchmarks. Time is counted instructions, so the same machine gives the same numbers every time. It
leaves no emulator behind, whatever happens.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, NamedTuple

from bulkhead.errors import BulkheadError
from bulkhead.run import emulator as emu
from bulkhead.run.emulator import EmulatedMachine, EmulatorError, RunningEmulator

_POLL_S = 0.05
_TAIL_LINES = 3


class CountError(BulkheadError):
    """The text did not appear, or there is no count; the message says why."""


class Visit(NamedTuple):
    """A core's visit to a range of instructions, up to an ERET or WFI there."""

    core: int
    marks: int  # bit i: it executed the i-th marked instruction
    instructions: int


@dataclass(frozen=True)
class Count:
    """What the plugin found."""

    instructions: int
    within: int | None = None  # of them, those at the addresses asked for
    memory: bytes = b""
    visits: tuple[Visit, ...] = ()  # in the order of their ends


@dataclass(frozen=True)
class Events:
    """The events between which instructions are counted, and further options; see docs/design/observer.md."""

    from_: int | None  # virtual address of the first instruction; None: the first after `start`
    match: str  # ends the count
    uart: int
    start: tuple[int, int] | None = None  # (pa, value) of a 32-bit store that must come first
    within: tuple[int, int] | None = None  # (address, bytes)
    read: tuple[int, int] | None = None  # (address, bytes)
    visits: tuple[int, int] | None = None  # (address, bytes)
    marks: tuple[int, ...] = ()  # addresses of instructions in `visits`

    def plugin(self, library: Path, out: Path) -> str:
        """The value for -plugin."""
        texts = {"out": str(out), "match": self.match, "uart": f"{self.uart:#x}"}
        texts |= {"from": f"{self.from_:#x}"} if self.from_ is not None else {}
        texts |= {"marks": ":".join(f"{mark:#x}" for mark in self.marks)} if self.marks else {}
        pairs = {"start": self.start, "within": self.within, "read": self.read, "visits": self.visits}
        texts |= {key: f"{pair[0]:#x}:{pair[1]:#x}" for key, pair in pairs.items() if pair is not None}
        doubled = (f"{key}={text.replace(',', ',,')}" for key, text in texts.items())
        return ",".join([str(library).replace(",", ",,"), *doubled])


def parse_count(text: str) -> Count:
    """The plugin's result file. Raises CountError if it is not valid."""
    try:
        result = json.loads(text)
        started, matched = result["started"], result["matched"]
        count = Count(
            int(result["instructions"]),
            within=result.get("instructions_within"),
            memory=bytes.fromhex(result.get("memory", "")),
            visits=tuple(Visit(*map(int, one)) for one in result.get("visits", [])),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise CountError(f"the counter's result cannot be read: {error}") from error
    if not started:
        raise CountError("the guest was never entered")
    if not matched:
        raise CountError("the text that ends the count did not appear")
    return count


async def count_run(machine: EmulatedMachine, out: Path, directory: Path, timeout_s: float) -> Count:
    """Run `machine`, whose plugin writes `out`, until that file exists. Raises CountError."""
    out.unlink(missing_ok=True)
    console = directory / f"{out.stem}-console.log"
    try:
        async with emu.start(machine.arguments(), directory / f"{out.stem}-emulator.log") as emulator:
            with console.open("wb") as log:
                pump = asyncio.ensure_future(_pump(emulator, log))
                try:
                    await emulator.command("cont")
                    await _wait_for(out, emulator, timeout_s)
                finally:
                    pump.cancel()
                    await asyncio.gather(pump, return_exceptions=True)
        return parse_count(out.read_text())
    except EmulatorError as error:
        raise CountError(f"{out.stem}: {error}") from error
    except CountError as error:
        raise CountError(f"{out.stem}: {error}{_last_lines(console)}") from None


async def _wait_for(out: Path, emulator: RunningEmulator, timeout_s: float) -> None:
    end = time.monotonic() + timeout_s
    while not out.exists():
        if emulator.process.returncode is not None:
            code = emulator.process.returncode
            raise CountError(f"the emulator ended with code {code}{emulator.last_words()}")
        if not emulator.shutdown.empty():
            raise CountError("the machine ended before its prompt")
        if time.monotonic() > end:
            raise CountError(f"no prompt within {timeout_s:.0f} s")
        await asyncio.sleep(_POLL_S)


async def _pump(emulator: RunningEmulator, log: BinaryIO) -> None:
    """The serial line must be read, or the guest waits for it."""
    with contextlib.suppress(OSError):
        while data := await emulator.serial_in.read(65536):
            log.write(data)
            log.flush()


def _last_lines(console: Path) -> str:
    lines = console.read_text(errors="replace").split("\n") if console.exists() else []
    kept = [line.strip() for line in lines if line.strip()][-_TAIL_LINES:]
    return f"; its last lines: {' / '.join(kept)}" if kept else "; it printed nothing"
