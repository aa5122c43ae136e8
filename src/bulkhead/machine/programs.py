# SPDX-License-Identifier: Apache-2.0
"""Workloads as parts of a job: starts them on cores with their memory, and measures the times of their
iterations.

`point` uses this to start them and to decide when enough iterations are done, rows.py to select the counted
ones. Marks are those of workloads/hosts/machine.c; the contents of a workload do not matter here.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import NamedTuple, TypedDict

from bulkhead.errors import InvalidInput
from bulkhead.machine.answer import ProgramAnswer
from bulkhead.machine.job import JobPart
from bulkhead.machine.native import SimulatedMachine, workload_image
from bulkhead.machine.placement import PlacedMemory
from bulkhead.machine.spaces import AddressSpace, runs_of

MARK_BEGIN, MARK_END = 1, 2
LOOK_PS = 1_000_000_000  # simulated time between two checks of the iterations


class ProgramReport(TypedDict):
    """As the machine reports it (machine/python/programs.cpp)."""

    core: int
    ended: bool
    status: int
    output: str
    trouble: str | None
    marks: list[list[int]]  # mark and time


class ProgramFailed(InvalidInput):
    """A workload failed or ended too early."""


class Iteration(NamedTuple):
    begin_ps: int
    time_ps: int


def start_program(
    machine: SimulatedMachine,
    part: JobPart,
    region: PlacedMemory,
    space: AddressSpace | None,
    *,
    endless: bool,
) -> None:
    """Puts a part's workload on its core. `endless`: it iterates as long as the machine runs. `space`: its
    translation tables.

    An iteration of a recorded program is the whole trace; its only parameter is `iterations`.
    """
    text = json.dumps(space) if space is not None else ""
    params = {**part.get("params", {}), **({"iterations": 0} if endless else {})}
    goes_on, start = part.get("endless", False), int(part.get("start_ps", 0))
    if "trace" in part:
        times = int(params.get("iterations", 1))
        machine.trace(part["core"], part["trace"]["file"], region.pages, times, goes_on, start, text)
        return
    arguments = ["workload", part["workload"], *(f"{key}={value}" for key, value in params.items())]
    runs = runs_of(region.pages)
    machine.program(part["core"], str(workload_image()), runs, arguments, goes_on, start, text)


def iterations_in(marks: Sequence[Sequence[int]]) -> list[Iteration]:
    """The completed iterations, in their order."""
    found: list[Iteration] = []
    begin: int | None = None
    for mark, when in marks:
        if mark == MARK_BEGIN:
            begin = when
        elif mark == MARK_END and begin is not None:
            found.append(Iteration(begin, when - begin))
            begin = None
    return found


def counted(programs: Sequence[ProgramAnswer], leave_out: int) -> list[list[Iteration]]:
    """For each program, the iterations that began after all programs had begun theirs, without its first
    `leave_out`."""
    iterations = [[Iteration(*one) for one in program["iterations"]] for program in programs]
    begun = [program["first_ps"] for program in programs if program["first_ps"] is not None]
    if len(begun) < len(programs):
        return [[] for _ in programs]
    together = max(begun, default=0)
    return [[one for one in own[leave_out:] if one.begin_ps >= together] for own in iterations]


def run_preparations(machine: SimulatedMachine, until_ps: int) -> int:
    """Runs until each program iterates or has ended. Returns the time in ps at which that was seen."""
    now = 0
    while now < until_ps:
        now = min(until_ps, now + LOOK_PS)
        if machine.run(now) != "reached":
            break
        if all(program["marks"] or program["ended"] for program in json.loads(machine.results())["programs"]):
            break
    return now


def run_iterations(
    machine: SimulatedMachine,
    names: Sequence[str],
    wanted: int,
    leave_out: int,
    until_ps: int,
    now: int = 0,
    waited_for: Sequence[str] = (),
) -> str:
    """Runs until each program has `wanted` counted iterations. Raises ProgramFailed if a program ends before.

    `waited_for`: only these programs, if any.
    """
    while now < until_ps:
        now = min(until_ps, now + LOOK_PS)
        ending = machine.run(now)
        programs = described(json.loads(machine.results())["programs"], names)
        for program in programs:
            if program["ended"] or program["trouble"]:
                raise ProgramFailed(f"'{program['name']}' ended: {reason(program)}")
        done = [len(own) >= wanted for own in counted(programs, leave_out)]
        if all(one for one, name in zip(done, names, strict=True) if not waited_for or name in waited_for):
            return "iterated"
        if ending != "reached":
            return ending
    return "reached"


def described(programs: Sequence[ProgramReport], names: Sequence[str]) -> list[ProgramAnswer]:
    """Programs in the form of results: with names, and with iterations in place of marks."""
    found: list[ProgramAnswer] = []
    for program, name in zip(programs, names, strict=True):
        begins = [when for mark, when in program["marks"] if mark == MARK_BEGIN]
        found.append(
            {
                "core": program["core"],
                "ended": program["ended"],
                "status": program["status"],
                "output": program["output"],
                "trouble": program["trouble"],
                "name": name,
                "first_ps": begins[0] if begins else None,
                "iterations": iterations_in(program["marks"]),
            }
        )
    return found


def reason(program: ProgramAnswer) -> str:
    """Why a program ended, in its own words or the machine's."""
    return str(program["trouble"] or program["output"].strip() or f"status {program['status']}")
