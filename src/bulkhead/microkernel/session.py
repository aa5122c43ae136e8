# SPDX-License-Identifier: Apache-2.0
"""One run of a system of components on the emulator: from its start until the kernel reports the end.

The kernel halts but cannot switch the emulator off, so this module ends the emulator when that line has come,
after a limit of wall time, or by a signal. No process is left.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from bulkhead.env.child import die_with_parent
from bulkhead.run.console import ConsoleParser
from bulkhead.run.session import View

KERNEL = "kernel"
END, HALTED = "end", "halted"  # lines of the kernel: by a component with the right to it; for any reason
NS_PER_S = 10**9
_TICK_S = 0.25
_AT_ONCE = 65536


@dataclass
class Ending:
    """How the run ended: `end` (by itself), `halted` (by the kernel because of an error), timeout,
    interrupted, died."""

    how: str
    detail: str = ""
    wall_s: float = 0.0


def command_line(binary: Path, machine: str, image: Path, core_hz: int | None) -> list[str]:
    """The command line. Instructions are counted: each takes about a cycle of the platform's core."""
    instruction_ns = NS_PER_S / core_hz if core_hz else 1.0
    shift = max(0, int(instruction_ns).bit_length() - 1)
    return [
        *(str(binary), "-M", machine, "-serial", "stdio"),
        *("-display", "none", "-monitor", "none", "-nic", "none"),
        *("-icount", f"shift={shift},sleep=off", "-kernel", str(image)),
    ]


class Serial:
    """The console's bytes come from the process unchanged."""

    name = "emulator"
    ends_itself = False  # when the kernel has halted

    def decoded(self, data: bytes) -> bytes:
        return data


def run_emulator(
    command: list[str],
    directory: Path,
    parser: ConsoleParser,
    view: View,
    timeout_s: float,
    *,
    serial: Serial | None = None,
    request: Path | None = None,
) -> Ending:
    """Shows lines as they come; all bytes are in console.log. `request`: the input of the process."""
    serial = serial or Serial()
    started = time.monotonic()
    ending = Ending("died")
    errors_log = directory / f"{serial.name}.log"
    with (
        _signals() as received,
        errors_log.open("wb") as errors,
        (directory / "console.log").open("wb") as log,
        (request or Path(os.devnull)).open("rb") as read,
        subprocess.Popen(
            command,
            stdin=read,
            stdout=subprocess.PIPE,
            stderr=errors,
            preexec_fn=die_with_parent,
            start_new_session=True,
        ) as process,
    ):
        try:
            for received_data in _chunks(process, parser, view, received, started + timeout_s, ending):
                data = serial.decoded(received_data)
                log.write(data)
                log.flush()
                parser.feed(data)
                view.raw(data)
                if _has_ended(parser) and not serial.ends_itself:
                    break
        finally:
            process.kill()
    parser.finish()
    ending.wall_s = time.monotonic() - started
    if ending.how == "died" and _has_ended(parser):
        ending.how = END if END in parser.domains[KERNEL].lines else HALTED
    if ending.how == "died":
        words = errors_log.read_text(errors="replace").strip().splitlines()[-1:]
        ending.detail = ": ".join([f"the {serial.name} ended by itself", *words])
    return ending


def _has_ended(parser: ConsoleParser) -> bool:
    console = parser.domains[KERNEL]
    return HALTED in (console.pending, *list(console.lines)[-1:]) or any(
        line.endswith(f"{KERNEL}: {HALTED}") for line in list(parser.untagged)[-1:]
    )


def _chunks(
    process: subprocess.Popen[bytes],
    parser: ConsoleParser,
    view: View,
    received: list[str],
    limit: float,
    ending: Ending,
) -> Iterator[bytes]:
    assert process.stdout is not None
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        while True:
            if received:
                ending.how, ending.detail = "interrupted", f"by {received[0]}"
                return
            if time.monotonic() > limit:
                ending.how, ending.detail = "timeout", "the kernel did not end the run in time"
                return
            view.tick(parser)
            if selector.select(_TICK_S):
                data = os.read(process.stdout.fileno(), _AT_ONCE)
                if not data:
                    return
                yield data


@contextlib.contextmanager
def _signals() -> Iterator[list[str]]:
    """Names of the signals that have come: they end the run regularly."""
    received: list[str] = []

    def note(number: int, _frame: FrameType | None) -> None:
        received.append(signal.Signals(number).name)

    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = {number: signal.signal(number, note) for number in numbers}
    try:
        yield received
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
