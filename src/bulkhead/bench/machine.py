# SPDX-License-Identifier: Apache-2.0
"""Speed of the simulated machine on one host processor, and of another DRAM simulator on the same requests.

Called by `bulkhead bench machine`. The measuring itself is a native program (machine/bench), so that the
figures contain no time of Python; this runs it, reads its answer and compares.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from pydantic import TypeAdapter

from bulkhead.errors import BulkheadError
from bulkhead.results.bench import PeerSpeedResult, SpeedGoalResult, SpeedResult, SpeedsKeys, SpreadResult

PROGRAM = Path("machine") / "bench" / "machine_bench"
TARGET = "machine_bench"
TRACE = "{trace}"
FORMATS = ("dramsim3", "ramulator", "load-store")
KERNEL_OF_TRACE = "dram_random_per_s"


class MachineError(BulkheadError):
    """Nothing was measured; the message says why."""


@dataclass(frozen=True)
class Goal:
    """One figure: the intended number of accesses a second, and the least acceptable one."""

    key: str
    what: str
    aim: int | None = None
    least: int | None = None


GOALS = (
    Goal("private_hits_per_s", "loads that hit the first level", 300_000_000, 150_000_000),
    Goal("llc_hits_per_s", "loads that hit the shared level", 30_000_000, 15_000_000),
    Goal("dram_random_per_s", "loads from DRAM at random", 10_000_000, 4_000_000),
    Goal("dram_sequential_per_s", "loads from DRAM in order"),
)


@dataclass(frozen=True)
class Spread:
    """Of several measurements."""

    min: float
    median: float
    max: float

    @classmethod
    def of(cls, values: list[float]) -> Spread:
        return cls(min(values), median(values), max(values))

    def json(self) -> SpreadResult:
        return {"min": round(self.min, 3), "median": round(self.median, 3), "max": round(self.max, 3)}


@dataclass(frozen=True)
class Peer:
    """Another program on the requests of `dram_random_per_s`."""

    command: str
    format: str
    requests: int
    cpu_s: Spread

    @property
    def per_s(self) -> float:
        return self.requests / self.cpu_s.median

    def json(self, ours_per_s: float) -> PeerSpeedResult:
        return {
            "command": self.command,
            "format": self.format,
            "requests": self.requests,
            "cpu_s": self.cpu_s.json(),
            "requests_per_s": round(self.per_s),
            "ratio": round(ours_per_s / self.per_s, 2),
        }


@dataclass(frozen=True)
class Speeds:
    """All figures, as the program reports them."""

    figures: dict[str, SpeedResult]
    peer: Peer | None = None

    @property
    def missed(self) -> list[str]:
        """Figures below their limit, each as a sentence. The best run counts: other programs use the host
        too."""
        return [
            f"{goal.what}: {self.figures[goal.key]['max']:,.0f} per second, but the goal is at least "
            f"{goal.least:,}"
            for goal in GOALS
            if goal.least is not None and self.figures[goal.key]["max"] < goal.least
        ]

    def json(self) -> SpeedsKeys:
        goals: dict[str, SpeedGoalResult] = {
            goal.key: {"aim": goal.aim, "least": goal.least, "met": self.figures[goal.key]["max"] >= goal.aim}
            for goal in GOALS
            if goal.aim is not None
        }
        ours_per_s = self.figures[KERNEL_OF_TRACE]["median"]
        return {
            "private_hits_per_s": self.figures["private_hits_per_s"],
            "llc_hits_per_s": self.figures["llc_hits_per_s"],
            "dram_random_per_s": self.figures["dram_random_per_s"],
            "dram_sequential_per_s": self.figures["dram_sequential_per_s"],
            "goals": goals,
            "against": None if self.peer is None else self.peer.json(ours_per_s),
        }


def parse(text: str) -> dict[str, SpeedResult]:
    """The program's answer. Raises MachineError for one that is none."""
    try:
        answer = TypeAdapter(dict[str, SpeedResult]).validate_json(text)
        return {goal.key: answer[goal.key] for goal in GOALS}
    except (KeyError, ValueError) as error:
        raise MachineError(f"the benchmark's answer cannot be read: {error}") from error


def measure(program: Path, *, repeat: int, share_percent: int, done: Callable[[int], None]) -> Speeds:
    """Run the program; calls `done` with the number of finished measurements. Raises MachineError."""
    command = [str(program), "--repeat", str(repeat), "--share", str(share_percent)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        assert running.stderr is not None and running.stdout is not None
        try:
            said = []
            for line in running.stderr:
                word, _, rest = line.partition(" ")
                if word == "progress":
                    done(int(rest.split()[0]))
                else:
                    said.append(line.strip())
            answer = running.stdout.read()
        except BaseException:
            running.kill()
            raise
    if running.returncode != 0:
        raise MachineError(f"{program.name} ended with {running.returncode}: {' '.join(said)}")
    return Speeds(parse(answer))


def time_peer(
    program: Path, command: str, trace_format: str, directory: Path, *, repeat: int, share_percent: int
) -> Peer:
    """Export the requests and time `command` on them. Raises MachineError."""
    trace = directory / f"requests.{trace_format}.trace"
    export = [program, "--kernel", KERNEL_OF_TRACE, "--export", trace_format, "--to", trace]
    written = subprocess.run(
        [*map(str, export), "--share", str(share_percent)], capture_output=True, text=True, check=False
    )
    if written.returncode != 0:
        raise MachineError(f"the requests were not exported: {written.stderr.strip()}")
    requests = int(json.loads(written.stdout)["requests"])
    words = [word.replace(TRACE, str(trace)) for word in shlex.split(command)]
    return Peer(command, trace_format, requests, Spread.of([_cpu_s(words, directory) for _ in range(repeat)]))


def _cpu_s(words: list[str], directory: Path) -> float:
    """Processor time of one run of a command, with what it started and waited for."""
    log = directory / "against.log"
    try:
        with log.open("w") as output:
            before = os.times()
            ended = subprocess.run(
                words, cwd=directory, stdin=subprocess.DEVNULL, stdout=output, stderr=output, check=False
            )
            after = os.times()
    except OSError as error:
        raise MachineError(f"{words[0]}: {error.strerror}") from error
    if ended.returncode != 0:
        last = log.read_text(errors="replace").strip().splitlines()[-1:]
        raise MachineError(f"'{words[0]}' ended with {ended.returncode}{': ' if last else ''}{''.join(last)}")
    spent = after.children_user + after.children_system - before.children_user - before.children_system
    return max(spent, 1e-3)  # the clock's resolution
