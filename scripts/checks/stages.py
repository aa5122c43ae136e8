# SPDX-License-Identifier: Apache-2.0
"""Runs the stages of `make test`, each as soon as those that it needs have ended and the machine has room for
it.

Called by scripts/test.py. Every stage is a process of its own, with its output in a file: it can die, and its
output stays in one piece. This module knows no particular stage.
"""

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import asdict, dataclass
from pathlib import Path

from checks.verdict import Count

Command = Callable[["Stage"], Sequence[str | Path]]


@dataclass(frozen=True)
class Stage:
    """One unit of work; `cores` is how many cores it keeps busy, 0 if it waits for the network."""

    name: str
    run: Callable[[], Count]
    after: tuple[str, ...] = ()
    cores: int = 2


@dataclass(frozen=True)
class Ended:
    """A stage that has ended, with its output."""

    stage: Stage
    count: Count
    output: str
    seconds: float
    cpu_seconds: float  # user and system time of the stage and its children


def run_stages(
    stages: Sequence[Stage], cores: int, command: Command, directory: Path, started: Callable[[Stage], None]
) -> Iterator[Ended]:
    """Run all, in their order unless dependencies decide otherwise. A failure stops none of the others."""
    waiting, done = list(stages), set[str]()
    running: dict[Future[Ended], Stage] = {}
    processes: list[subprocess.Popen[bytes]] = []
    with ThreadPoolExecutor(len(stages)) as pool:
        try:
            while waiting or running:
                for stage in list(waiting):
                    busy = sum(one.cores for one in running.values())
                    if done.issuperset(stage.after) and (not busy or busy + stage.cores <= cores):
                        waiting.remove(stage)
                        started(stage)
                        future = pool.submit(_run, stage, command(stage), directory, processes)
                        running[future] = stage
                if not running:
                    raise ValueError(f"stages that wait for each other: {[one.name for one in waiting]}")
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    done.add(running.pop(future).name)
                    yield future.result()
        finally:
            for process in processes:
                if process.returncode is None:
                    os.kill(process.pid, signal.SIGTERM)


def count_file(directory: Path, name: str) -> Path:
    return directory / f"{name.replace(' ', '-')}.json"


def leave_count(directory: Path, name: str, count: Count) -> None:
    """Called in the stage's process when it has run to its end."""
    count_file(directory, name).write_text(json.dumps(asdict(count)))


def _run(
    stage: Stage, command: Sequence[str | Path], directory: Path, processes: list[subprocess.Popen[bytes]]
) -> Ended:
    log = count_file(directory, stage.name).with_suffix(".log")
    start = time.monotonic()
    with log.open("wb") as output:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT)
        processes.append(process)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    count = _count(count_file(directory, stage.name), process.returncode)
    seconds = time.monotonic() - start
    return Ended(stage, count, log.read_text(errors="replace"), seconds, used.ru_utime + used.ru_stime)


def _count(file: Path, code: int) -> Count:
    """The counts that the stage left; a stage that died, or left nothing, has failed."""
    count = Count(**json.loads(file.read_text())) if file.is_file() else Count(failed=1)
    return count if code == 0 or count.failed else count + Count(failed=1)
