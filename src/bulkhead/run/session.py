# SPDX-License-Identifier: Apache-2.0
"""One run of the emulator, from its start until its memory has been read.

Called by on_emulator.py. It does not judge the run: it returns how the run ended and what was seen. It
leaves no process behind.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, Protocol

from bulkhead.run import emulator as emu
from bulkhead.run import memory
from bulkhead.run.boot import Typist
from bulkhead.run.console import ConsoleLine, ConsoleParser
from bulkhead.run.emulator import EmulatorError, RunningEmulator, how_it_ended
from bulkhead.run.keys import ASK_TIME, KeyFilter, raw_mode
from bulkhead.run.nudge import nudge
from bulkhead.run.registers import read_registers

_DRAIN_QUIET_S = 0.2  # after the shutdown, the serial line counts as empty after this silence
_DRAIN_LIMIT_S = 5.0
_ASK_AGAIN_S = 0.5  # the hypervisor drops a log line if its buffer is full
_ASK_LIMIT_S = 3.0  # a hypervisor that is silent for so long does not run


class View(Protocol):
    """Shows a run to the user."""

    def line(self, line: ConsoleLine) -> None: ...

    def raw(self, data: bytes) -> None: ...

    def tick(self, parser: ConsoleParser) -> None: ...


@dataclass
class RunOutcome:
    """How the run ended and what was seen."""

    how: str  # shutdown, left, interrupted, timeout, died, failed
    detail: str = ""
    image: memory.MemoryImage | None = None
    console: ConsoleParser | None = None
    wall_s: float = 0.0
    qemu_version: str = "unknown"
    command: tuple[str, ...] = ()
    simulated: dict[str, Any] | None = None  # counts of the simulated machine (machine/hosted/run.h)
    simulated_ns: int | None = None  # last known time of the simulated machine since it was switched on
    told_ns: int | None = None  # guest time, as EL2 says, at the end of a run that was stopped
    host_ns: int | None = None  # the same by the host's clock, if the emulator's clock follows it
    registers: dict[int, int] = field(default_factory=dict)  # of devices, by physical address


@dataclass(frozen=True)
class SessionPlan:
    """The session's input, taken from the target."""

    machine: emu.EmulatedMachine
    directory: Path
    domain_names: tuple[str, ...]
    frames: tuple[int, ...]  # to read at the end
    timeout_s: float | None
    attach: bool
    look: Callable[[RunningEmulator], Awaitable[float]] | None = (
        None  # reads the running machine; returns the pause in s
    )
    raw_domain: str | None = None  # domain with a raw console
    watched: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # texts to search for, by domain
    registers: tuple[int, ...] = ()  # of devices, to read at the end: physical addresses


def run_session(plan: SessionPlan, view: View) -> RunOutcome:
    """Run to the end. Errors of the emulator are part of the outcome; other exceptions are bugs."""
    return asyncio.run(_Session(plan, view).run())


class _Session:
    def __init__(self, plan: SessionPlan, view: View) -> None:
        self._plan = plan
        self._view = view
        self._parser = ConsoleParser(plan.domain_names, view.line, raw=plan.raw_domain, watched=plan.watched)
        self._stop: asyncio.Future[tuple[str, str]] | None = None
        self._signals = 0
        self._last_data = 0.0
        self._guest_start: float | None = None  # start of guest time by the host's clock; never too early

    async def run(self) -> RunOutcome:
        outcome = RunOutcome(
            how="failed", console=self._parser, command=tuple(self._plan.machine.arguments())
        )
        started = time.monotonic()
        loop = asyncio.get_running_loop()
        self._stop = loop.create_future()
        try:
            log = self._plan.directory / "emulator.log"
            async with emu.start(list(outcome.command), log, lines=self._needs_nudges()) as emulator:
                with self._signals_to(emulator):
                    await self._drive(emulator, outcome)
        except EmulatorError as error:
            outcome.how, outcome.detail = "failed", str(error)
        outcome.wall_s = time.monotonic() - started
        self._parser.finish()
        return outcome

    async def _drive(self, emulator: RunningEmulator, outcome: RunOutcome) -> None:
        outcome.qemu_version = await emulator.version()
        for output, to in self._plan.machine.wires:
            await emulator.connect(output, to)
        with (self._plan.directory / "console.log").open("wb") as log:
            pump = asyncio.ensure_future(self._pump(emulator, log))
            ended = asyncio.Event()
            looking = asyncio.ensure_future(self._look(emulator, ended))
            side = [asyncio.ensure_future(self._tick()), looking]
            if self._needs_nudges():
                side.append(asyncio.ensure_future(self._nudge(emulator)))
            try:
                with self._keyboard(emulator):
                    if self._plan.machine.debugger is None:  # else the debugger starts the machine
                        await emulator.command("cont")
                    outcome.how, outcome.detail = await self._wait_for_end(emulator)
                ended_at = time.monotonic()
                if outcome.how == "died":
                    await asyncio.wait({pump}, timeout=_DRAIN_LIMIT_S)
                    outcome.host_ns = self._guest_ns_at(ended_at)
                    return
                if outcome.how != "shutdown":
                    outcome.told_ns = await self._ask_time(emulator, pump)
                    await emulator.command("stop")
                    outcome.host_ns = self._guest_ns_at(time.monotonic())
                await self._drain(pump)
                ended.set()
                await looking
                scratch = self._plan.directory / "memory.tmp"
                outcome.image = await memory.fetch(emulator, self._plan.frames, scratch)
                outcome.registers = await read_registers(emulator, self._plan.registers)
                await emulator.quit()
            finally:
                for task in (pump, *side):
                    task.cancel()
                await asyncio.gather(pump, *side, return_exceptions=True)

    def _needs_nudges(self) -> bool:
        return self._plan.machine.gicv2 and not self._plan.machine.icount

    async def _ask_time(self, emulator: RunningEmulator, pump: asyncio.Future[None]) -> int | None:
        """Current guest time by the hypervisor's own clock, in ns; None if it does not answer."""
        self._parser.told_ns = None
        end = time.monotonic() + _ASK_LIMIT_S
        ask_at = 0.0
        while self._parser.told_ns is None and time.monotonic() < end and not pump.done():
            if time.monotonic() >= ask_at:
                ask_at = time.monotonic() + _ASK_AGAIN_S
                emulator.serial_out.write(ASK_TIME)
            await asyncio.sleep(0.005)
        return self._parser.told_ns

    def _guest_ns_at(self, moment: float) -> int | None:
        """Guest time by the host's clock, in ns. A tag arrives after the time that it shows, so the result is
        never too large."""
        if self._plan.machine.icount or self._guest_start is None:
            return None
        return max(self._parser.time_ns, int((moment - self._guest_start) * 1e9))

    async def _wait_for_end(self, emulator: RunningEmulator) -> tuple[str, str]:
        assert self._stop is not None
        tasks = {
            asyncio.ensure_future(self._machine_ended(emulator)),
            asyncio.ensure_future(self._process_ended(emulator)),
            self._stop,
        }
        try:
            done, _ = await asyncio.wait(
                tasks, timeout=self._plan.timeout_s, return_when=asyncio.FIRST_COMPLETED
            )
            if not done:
                return "timeout", f"nothing ended the run within {self._plan.timeout_s:.0f} s"
            # A regular shutdown is preferred over other ends at the same time.
            results = [task.result() for task in done]
            return min(results, key=lambda r: r[0] != "shutdown")
        finally:
            for task in tasks - {self._stop}:
                task.cancel()
            await asyncio.gather(*(tasks - {self._stop}), return_exceptions=True)

    async def _machine_ended(self, emulator: RunningEmulator) -> tuple[str, str]:
        async for event in emulator.shutdown:
            if event["event"] == "SHUTDOWN":
                data = event.get("data")
                return "shutdown", str(data.get("reason", "")) if isinstance(data, dict) else ""
            if event["event"] == "GUEST_PANICKED":
                return "failed", "the emulator reports a panic"
        await asyncio.Event().wait()  # the channel is gone; the end of the process says more
        raise AssertionError("unreachable")

    async def _process_ended(self, emulator: RunningEmulator) -> tuple[str, str]:
        code = await emulator.process.wait()
        return "died", f"the emulator ended by itself ({how_it_ended(code)}){emulator.last_words()}"

    async def _pump(self, emulator: RunningEmulator, log: BinaryIO) -> None:
        """Passes the serial line to log, parser and view until it is closed; answers a boot loader's
        questions."""
        typist = Typist(self._plan.machine.answers)
        while data := await emulator.serial_in.read(65536):
            self._last_data = time.monotonic()
            log.write(data)
            log.flush()  # so that it can be watched during the run
            self._parser.feed(data)
            if self._parser.time_ns:
                start = self._last_data - self._parser.time_ns / 1e9
                self._guest_start = min(start, self._guest_start or start)
            self._view.raw(data)
            if typed := typist.feed(data):
                emulator.serial_out.write(typed)

    async def _drain(self, pump: asyncio.Future[None]) -> None:
        """Wait until all output of the machine has arrived."""
        end = time.monotonic() + _DRAIN_LIMIT_S
        quiet_from = time.monotonic()
        while not pump.done() and time.monotonic() < end:
            if time.monotonic() - max(self._last_data, quiet_from) > _DRAIN_QUIET_S:
                return
            await asyncio.sleep(0.02)

    async def _tick(self) -> None:
        while True:
            self._view.tick(self._parser)
            await asyncio.sleep(0.25)

    async def _look(self, emulator: RunningEmulator, ended: asyncio.Event) -> None:
        """Reads the machine until it has ended. A read that has begun is finished, so that no answer arrives
        later."""
        pause_s = 0.0
        with contextlib.suppress(EmulatorError, OSError):  # the code that ends the run reports the error
            while self._plan.look is not None:
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(pause_s):
                        await ended.wait()
                        return
                pause_s = await self._plan.look(emulator)

    async def _nudge(self, emulator: RunningEmulator) -> None:
        try:
            await nudge(emulator)
        except EmulatorError as error:
            if emulator.process.returncode is None:  # else the code that waits for the process reports it
                self._end("failed", str(error))

    def _end(self, how: str, detail: str) -> None:
        if self._stop is not None and not self._stop.done():
            self._stop.set_result((how, detail))

    @contextlib.contextmanager
    def _signals_to(self, emulator: RunningEmulator) -> Iterator[None]:
        """The first signal ends the run regularly, the second one at once."""
        loop = asyncio.get_running_loop()

        def received(number: signal.Signals) -> None:
            self._signals += 1
            self._end("interrupted", f"by {number.name}")
            if self._signals > 1:
                emulator.kill()

        numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
        for number in numbers:
            loop.add_signal_handler(number, received, number)
        try:
            yield
        finally:
            for number in numbers:
                loop.remove_signal_handler(number)

    @contextlib.contextmanager
    def _keyboard(self, emulator: RunningEmulator) -> Iterator[None]:
        """Attach standard input, if requested."""
        if not self._plan.attach:
            yield
            return
        loop = asyncio.get_running_loop()
        fd = sys.stdin.fileno()
        keys = KeyFilter()

        def readable() -> None:
            data = os.read(fd, 4096)
            typed = keys.feed(data)
            if typed.to_guest:
                emulator.serial_out.write(typed.to_guest)
            if typed.leave or not data:
                loop.remove_reader(fd)
                self._end("left", "")

        with raw_mode(fd):
            loop.add_reader(fd, readable)
            try:
                yield
            finally:
                loop.remove_reader(fd)
