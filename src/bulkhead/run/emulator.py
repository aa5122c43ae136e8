# SPDX-License-Identifier: Apache-2.0
"""One emulator process: its command line, its channels (serial line, QMP, optionally qtest) and its end.

The session uses it as an asynchronous context. No process is left in any case: the channels are inherited
descriptors without names in the file system, and the kernel ends the emulator together with its parent.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

from qemu.qmp import EventListener, ExecInterruptedError, ExecuteError, QMPClient, QMPError

from bulkhead.env.child import die_with_parent
from bulkhead.errors import BulkheadError
from bulkhead.run.boot import Answer

ANSWER_TIMEOUT_S = 60.0  # for one QMP command; with a plugin the emulator is slow, but not that slow
_CONNECT_TIMEOUT_S = 60.0
_QUIT_TIMEOUT_S = 120.0  # the observer writes its results when the emulator exits

# The emulator's arguments for each channel.
_USES = {
    "serial": ("-serial", "chardev:serial"),
    "control": ("-mon", "chardev=control,mode=control"),
    "lines": ("-qtest", "chardev:lines", "-qtest-log", "none"),
}


class EmulatorError(BulkheadError):
    """The emulator did not start, died, or does not answer; the message is for the user."""


@dataclass(frozen=True)
class EmulatedMachine:
    """The emulator's configuration, without its channels."""

    binary: Path
    machine: str  # value of -machine
    cpu: str | None
    cores: int
    ram_bytes: int
    kernel: Path
    observer: str | None = None  # value of -plugin
    icount: bool = False
    seed: int = 0
    start: tuple[str, ...] = ()  # arguments in place of `-kernel`, for other ways to boot
    answers: tuple[Answer, ...] = ()  # text to type on the serial line, for a boot loader
    wires: tuple[tuple[str, str], ...] = ()  # to be connected before it starts: paths of output and input
    gicv2: bool = False  # it has a GICv2 (see nudge.py)
    debugger: str | None = None  # value of -gdb; the emulator then waits for a debugger

    def arguments(self) -> list[str]:
        """The command line without the channels, which a user can repeat."""
        # The plugin's memory callbacks report the right core only with one thread per core.
        threads = "multi" if self.observer and not self.icount else None
        return [
            str(self.binary),
            *("-machine", self.machine),
            *(("-cpu", self.cpu) if self.cpu else ()),
            *("-smp", str(self.cores)),
            *("-m", f"{self.ram_bytes >> 20}M"),
            *(("-accel", f"tcg,thread={threads}") if threads else ()),
            *("-display", "none", "-audio", "none", "-nic", "none", "-no-shutdown", "-seed", str(self.seed)),
            *(("-icount", "shift=1,sleep=off") if self.icount else ()),
            *(("-plugin", self.observer) if self.observer else ()),
            *(("-gdb", self.debugger) if self.debugger else ()),
            *(self.start or ("-kernel", str(self.kernel))),
        ]


@dataclass
class RunningEmulator:
    """A started emulator. Made by `start`."""

    process: asyncio.subprocess.Process
    serial_in: asyncio.StreamReader
    serial_out: asyncio.StreamWriter
    qmp: QMPClient
    shutdown: EventListener
    log: Path
    # Sets inputs of devices by QEMU's qtest protocol; None if not requested.
    lines: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def command(self, name: str, arguments: dict[str, object] | None = None) -> object:
        """Executes one QMP command. Raises EmulatorError if it does not return a result."""
        try:
            # Not wait_for: if it is cancelled just when the answer arrives, the cancellation is lost
            # (bpo-37658).
            async with asyncio.timeout(ANSWER_TIMEOUT_S):
                return await self.qmp.execute(name, arguments)
        except TimeoutError:
            message = f"the emulator did not answer `{name}` within {ANSWER_TIMEOUT_S:.0f} s"
            raise EmulatorError(message) from None
        except ExecuteError as error:
            raise EmulatorError(f"the emulator refused `{name}`: {error}") from error
        except (ExecInterruptedError, QMPError, OSError) as error:
            raise EmulatorError(f"the emulator ended during `{name}`{self.last_words()}") from error

    async def connect(self, output: str, to: str) -> None:
        """Connects an output line of a device with an input of another. Raises EmulatorError."""
        device, _, line = output.rpartition("/")
        await self.command("qom-set", {"path": device, "property": line, "value": to})

    async def version(self) -> str:
        answer = await self.command("query-version")
        numbers = answer.get("qemu") if isinstance(answer, dict) else None
        return ".".join(str(numbers[k]) for k in ("major", "minor", "micro")) if numbers else "unknown"

    async def quit(self) -> None:
        """End the emulator regularly, so that its plugin can write its results."""
        with contextlib.suppress(EmulatorError):
            await self.command("quit")
        try:
            await asyncio.wait_for(self.process.wait(), _QUIT_TIMEOUT_S)
        except TimeoutError:
            raise EmulatorError(
                f"the emulator did not end within {_QUIT_TIMEOUT_S:.0f} s of `quit`"
            ) from None

    def kill(self) -> None:
        """Kill the emulator at once, in any state; may also be called from a signal handler of the loop."""
        with contextlib.suppress(ProcessLookupError):
            self.process.kill()

    def last_words(self) -> str:
        """The end of the emulator's standard error, as the end of a sentence."""
        return _last_words(self.log)


def how_it_ended(code: int) -> str:
    """A process's exit code in words."""
    return f"killed by signal {-code}" if code < 0 else f"code {code}"


def _last_words(log: Path) -> str:
    try:
        text = log.read_text(errors="replace").strip()
    except OSError:
        return ""
    return ": " + " / ".join(text.splitlines()[-3:]) if text else ""


@contextlib.asynccontextmanager
async def start(arguments: list[str], log: Path, lines: bool = False) -> AsyncIterator[RunningEmulator]:
    """Start the emulator with halted processors (`cont` starts them), connected to its channels.

    `lines`: add the channel that sets inputs of devices.
    """
    channels = ["serial", "control", *(["lines"] if lines else [])]
    ends = [socket.socketpair() for _ in channels]
    far = tuple(end.fileno() for _, end in ends)
    command = [*arguments, "-S"]
    for name, number in zip(channels, far, strict=True):
        command += ["-chardev", f"socket,id={name},fd={number}", *_USES[name]]
    try:
        process = await _spawn(command, far, log)
    except BaseException:
        for near, _ in ends:
            near.close()
        raise
    finally:
        for _, end in ends:
            end.close()
    writers: list[asyncio.StreamWriter] = []
    try:
        serial, control, *more = (near for near, _ in ends)
        streams = [await asyncio.open_connection(sock=near) for near in (serial, *more)]
        writers += [writer for _, writer in streams]
        qmp = QMPClient("bulkhead")
        shutdown = EventListener(("SHUTDOWN", "GUEST_PANICKED", "RESET"))
        qmp.register_listener(shutdown)
        await _connect(qmp, control, process, log)
        yield RunningEmulator(process, *streams[0], qmp, shutdown, log, streams[1] if lines else None)
    finally:
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
        await process.wait()
        for writer in writers:
            with contextlib.suppress(Exception):
                writer.close()
        with contextlib.suppress(Exception):
            await asyncio.wait_for(qmp.disconnect(), 5)
        for near, _ in ends:
            near.close()


async def _spawn(command: list[str], far: tuple[int, ...], log: Path) -> asyncio.subprocess.Process:
    with log.open("wb") as stderr:
        try:
            return await asyncio.create_subprocess_exec(
                *command,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=stderr,
                stderr=stderr,
                pass_fds=far,
                preexec_fn=die_with_parent,
                start_new_session=True,  # Ctrl-C is for this program only, which ends the emulator
            )
        except OSError as error:
            raise EmulatorError(f"cannot start {command[0]}: {error.strerror}") from error


async def _connect(
    qmp: QMPClient, control: socket.socket, process: asyncio.subprocess.Process, log: Path
) -> None:
    connecting = asyncio.ensure_future(qmp.connect(control))
    dying = asyncio.ensure_future(process.wait())
    try:
        await asyncio.wait(
            {connecting, dying}, timeout=_CONNECT_TIMEOUT_S, return_when=asyncio.FIRST_COMPLETED
        )
        if connecting.done() and connecting.exception() is None:
            return
        with contextlib.suppress(TimeoutError):  # its exit code says more than a closed channel
            await asyncio.wait_for(asyncio.shield(dying), 2)
        if process.returncode is not None:
            raise EmulatorError(
                f"the emulator ended at its start ({how_it_ended(process.returncode)}){_last_words(log)}"
            )
        raise EmulatorError(f"the emulator did not open its control channel{_last_words(log)}")
    finally:
        for task in (connecting, dying):
            task.cancel()
        await asyncio.gather(connecting, dying, return_exceptions=True)
