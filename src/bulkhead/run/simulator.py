# SPDX-License-Identifier: Apache-2.0
"""One run of the simulated machine in a process of its own, with the same results as a run of the emulator.

Called by on_machine.py. The same parser and view show its console, and the same witnesses read its
memory; its counts are in the outcome's `simulated`. It leaves no process behind.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import signal
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from bulkhead.evidence.simulated import PS_PER_NS
from bulkhead.run.console import ConsoleParser
from bulkhead.run.memory import FRAME_BYTES, MemoryImage
from bulkhead.run.session import RunOutcome, View

_LINE_LIMIT = 1 << 26  # for the console output of one line of JSON

Json = dict[str, Any]


@dataclass(frozen=True)
class SimulatedPlan:
    """Input for a run of the simulated machine."""

    program: Path  # the built machine/hosted/main.cpp
    request: Json  # machine/hosted/run.h
    directory: Path
    domain_names: tuple[str, ...]
    timeout_s: float | None
    raw_domain: str | None = None  # domain whose output has no tags
    watched: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # texts to search for, by domain


def run_simulation(plan: SimulatedPlan, view: View) -> RunOutcome:
    """Run to the end. Errors are part of the outcome; exceptions are bugs."""
    return run_simulations([plan], view, jobs=1)[0]


def run_simulations(plans: Sequence[SimulatedPlan], view: View, *, jobs: int) -> list[RunOutcome]:
    """Run all, `jobs` at a time; the view shows their output interleaved."""
    return asyncio.run(_run_all([_Simulation(plan, view) for plan in plans], jobs))


async def _run_all(simulations: Sequence[_Simulation], jobs: int) -> list[RunOutcome]:
    room = asyncio.Semaphore(jobs)

    async def run(one: _Simulation) -> RunOutcome:
        async with room:
            return await one.run()

    with _signals_to(simulations):
        return await asyncio.gather(*(run(one) for one in simulations))


@contextlib.contextmanager
def _signals_to(simulations: Sequence[_Simulation]) -> Iterator[None]:
    """The first signal ends the runs regularly, the second one at once."""
    loop = asyncio.get_running_loop()

    def received(number: signal.Signals) -> None:
        for one in simulations:
            one.interrupt(f"by {number.name}")

    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    for number in numbers:
        loop.add_signal_handler(number, received, number)
    try:
        yield
    finally:
        for number in numbers:
            loop.remove_signal_handler(number)


class _Simulation:
    def __init__(self, plan: SimulatedPlan, view: View) -> None:
        self._plan = plan
        self._view = view
        self._parser = ConsoleParser(plan.domain_names, view.line, raw=plan.raw_domain, watched=plan.watched)
        self._process: asyncio.subprocess.Process | None = None
        self._interrupted = ""

    def interrupt(self, how: str) -> None:
        again, self._interrupted = bool(self._interrupted), how
        if self._process is not None and self._process.returncode is None:
            self._process.send_signal(signal.SIGKILL if again else signal.SIGTERM)

    async def run(self) -> RunOutcome:
        outcome = RunOutcome(how="failed", console=self._parser, command=(str(self._plan.program),))
        if self._interrupted:
            outcome.how, outcome.detail = "interrupted", self._interrupted
            return outcome
        started = time.monotonic()
        self._process = process = await asyncio.create_subprocess_exec(
            str(self._plan.program),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            limit=_LINE_LIMIT,
            start_new_session=True,  # Ctrl-C must reach only this program, which ends the machine regularly
        )
        try:
            await asyncio.wait_for(self._drive(process, outcome), self._plan.timeout_s)
        except TimeoutError:
            outcome.how = "timeout"
            outcome.detail = f"nothing ended the run within {self._plan.timeout_s:.0f} s"
        finally:
            if process.returncode is None:
                process.kill()
            await process.wait()
        outcome.wall_s = time.monotonic() - started
        self._parser.finish()
        return outcome

    async def _drive(self, process: asyncio.subprocess.Process, outcome: RunOutcome) -> None:
        assert process.stdin is not None and process.stdout is not None and process.stderr is not None
        complaints = asyncio.ensure_future(process.stderr.read())
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            process.stdin.write(json.dumps(self._plan.request).encode())
            await process.stdin.drain()
            process.stdin.close()
        last: Json = {}
        with (self._plan.directory / "console.log").open("wb") as log:
            async for line in process.stdout:
                last = json.loads(line)
                if "simulated_ps" in last:
                    outcome.simulated_ns = last["simulated_ps"] // PS_PER_NS
                if text := last.get("console"):
                    data = text.encode("latin-1")
                    log.write(data)
                    log.flush()  # so that it can be watched during the run
                    self._parser.feed(data)
                    self._view.raw(data)
                self._view.tick(self._parser)
        await process.wait()
        words = (await complaints).decode(errors="backslashreplace").strip()
        self._conclude(outcome, last, words, process.returncode)

    def _conclude(self, outcome: RunOutcome, last: Json, words: str, code: int | None) -> None:
        if "error" in last:
            outcome.how, outcome.detail = "failed", f"the simulated machine: {last['error']}"
        elif "ending" not in last:
            outcome.how = "died"
            outcome.detail = f"the simulated machine ended by itself (code {code})" + (
                f": {words}" if words else ""
            )
        else:
            outcome.how, outcome.detail = _how(last, self._interrupted)
            outcome.simulated = last
            outcome.image = _frames(self._plan.request)


def _how(last: Json, interrupted: str) -> tuple[str, str]:
    ending = last["ending"]
    if ending == "stopped":
        return "interrupted", interrupted
    if ending == "confused":
        return "failed", f"the simulated machine: {last['trouble']}"
    if ending == "idle":
        return "failed", "the simulated machine: all cores wait for interrupts, and no interrupt will come"
    return "shutdown", ""


def _frames(request: Json) -> MemoryImage:
    content = Path(request["frames_file"]).read_bytes()
    words = np.frombuffer(content, dtype="<u8").reshape(-1, FRAME_BYTES // 8)
    return MemoryImage(dict(zip(request["frames"], words, strict=True)))
