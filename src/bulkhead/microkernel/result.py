# SPDX-License-Identifier: Apache-2.0
"""The result of a run of a system of components: the object that `run --json` prints, with the verdict.

Refills of jobs are counted by the kernel, and compared with what was admitted. Pure: no file, no process.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

from pydantic import TypeAdapter, ValidationError
from typing_extensions import TypedDict

from bulkhead.machine.answer import Armv7Counts
from bulkhead.microkernel.build import ComponentsImage, image_json
from bulkhead.microkernel.session import END, HALTED, KERNEL, Ending
from bulkhead.mxu.hardware import OWN_COMPONENTS
from bulkhead.mxu.layout import SYSTEM_COMPONENTS
from bulkhead.mxu.model import Job
from bulkhead.mxu.result import components_json
from bulkhead.results.components_run import (
    ComponentCounts,
    ComponentOptionsResult,
    ComponentResult,
    ComponentsRunKeys,
    JobCounts,
    JobResult,
    SimulatedKeys,
)
from bulkhead.run.console import ConsoleParser, visible

PS_PER_NS = 1000
SCHEDULER = SYSTEM_COMPONENTS[1]
_REPORT = "report "
_KILLED = re.compile(r"(?P<name>\S+) killed: (?P<why>.*)")
_NO_START = "no start: "
_PERIODS_TO_START = 3  # whole ones: a component that is started late in a run has had fewer
_LONGEST_SAID = 200


@dataclass(frozen=True)
class ComponentFacts:
    image: ComponentsImage
    parser: ConsoleParser
    ending: Ending
    on: str
    timed: bool  # times are those of the platform: of the simulated machine
    run_ns: int
    options: ComponentOptionsResult
    notes: tuple[str, ...]
    counted: Armv7Counts | None  # by the simulated machine; else nothing


def run_result(facts: ComponentFacts) -> tuple[ComponentsRunKeys, list[str]]:
    """The command's own keys, and the reasons why the run failed; none: every promise held."""
    records = _records(facts.parser)
    killed = _killed(facts.parser)
    components = [
        _component(facts, index, records.get(index + OWN_COMPONENTS), killed)
        for index in range(len(facts.image.system.components))
    ]
    simulated = _simulated(facts)
    reasons = [*_ending_reasons(facts), *_component_reasons(facts, components), *_refill_reasons(facts)]
    notes = [*facts.notes, *_untimed_notes(facts, components), *_refill_notes(facts)]
    return {
        "options": facts.options,
        "notices": [],
        "notes": notes,
        "ended": facts.ending.how,
        "guest_ns": simulated.get("simulated_ns", facts.parser.time_ns),
        "guest_ns_by": "machine" if simulated else "kernel",
        "domains": [],
        **simulated,
        "components": components,
        "admitted": components_json(facts.image.admission),
        "image": image_json(facts.image),
        "console": {
            name: list(console.lines) for name, console in facts.parser.domains.items() if console.lines
        },
    }, reasons


def _simulated(facts: ComponentFacts) -> SimulatedKeys:
    """What the machine counted of the whole run, boot included."""
    counted = facts.counted
    if counted is None:
        return {}
    return {
        "digest": counted.get("digest"),
        "simulated_ns": counted.get("simulated_ps", 0) // PS_PER_NS,
        "mpu": counted.get("mpu"),
        "machine": {
            "ending": counted.get("ending"),
            "trouble": counted.get("trouble"),
            "cores": counted.get("cores"),
            "exceptions": counted.get("exceptions"),
            "not_implemented": counted.get("not_implemented"),
        },
    }


@dataclass(frozen=True)
class _Record:
    """What the scheduler reported about a component (microkernel/scheduler/report.c)."""

    killed: bool
    counts: ComponentCounts
    jobs: JobCounts  # empty: it has none


class _Head(TypedDict):
    component: int
    killed: bool


_HEAD = TypeAdapter(_Head)
_COUNTS = TypeAdapter(ComponentCounts)
_JOBS = TypeAdapter(JobCounts)


def _records(parser: ConsoleParser) -> dict[int, _Record]:
    """What the scheduler reported, by number of the component."""
    found = {}
    for line in parser.domains[SCHEDULER].lines:
        if line.startswith(_REPORT):
            text = line.removeprefix(_REPORT)
            with suppress(ValidationError):  # a damaged line
                head = _HEAD.validate_json(text)
                counts, jobs = _COUNTS.validate_json(text), _JOBS.validate_json(text)
                found[head["component"]] = _Record(head["killed"], counts, jobs)
    return found


def _killed(parser: ConsoleParser) -> dict[str, str]:
    """Violations that the kernel reported, by component."""
    found = {}
    for line in parser.domains[KERNEL].lines:
        if (match := _KILLED.fullmatch(line)) is not None:
            found[match["name"]] = match["why"]
    return found


def _component(
    facts: ComponentFacts, index: int, record: _Record | None, killed: dict[str, str]
) -> ComponentResult:
    component = facts.image.system.components[index]
    job = next((one for one in facts.image.admission.jobs if one.component == component.name), None)
    counts: ComponentCounts = {} if record is None else record.counts
    return {
        "name": component.name,
        "priority": facts.image.priorities[component.name],
        "violation": killed.get(component.name),
        "expected": component.expect,
        "report": facts.parser.domains[component.name].report,
        **counts,
        "killed": None if record is None else record.killed,
        "job": None if job is None else _job(job, record),
    }


def _job(job: Job, record: _Record | None) -> JobResult:
    jobs: JobCounts = {} if record is None else record.jobs
    return {
        **jobs,
        "period_ns": job.period_ns,
        "budget_ns": job.budget_ns,
        "misses_admitted": job.misses,
    }


def _ending_reasons(facts: ComponentFacts) -> Iterator[str]:
    ending = facts.ending
    kernel = facts.parser.domains[KERNEL].lines
    if ending.how == END:
        for line in _refusals(facts):
            yield f"the memory manager did not start the system: {line.removeprefix(_NO_START)}"
            yield from (other for other in _manager(facts) if other != line)
        return
    if ending.how == HALTED:
        why = [line for line in (*facts.parser.untagged, *kernel) if not line.endswith(HALTED)]
        yield f"the kernel halted: {why[-1] if why else 'it gave no reason'}"
    else:
        yield f"{ending.how}: {ending.detail}"


def _manager(facts: ComponentFacts) -> list[str]:
    return list(facts.parser.domains[SYSTEM_COMPONENTS[0]].lines)


def _refusals(facts: ComponentFacts) -> list[str]:
    return [line for line in _manager(facts) if line.startswith(_NO_START)]


def _component_reasons(facts: ComponentFacts, components: list[ComponentResult]) -> Iterator[str]:
    has_run = facts.ending.how == END and not _refusals(facts)
    for one in components:
        name, job = one["name"], one["job"]
        if one["report"] is not None and "error" in one["report"]:
            yield f"component '{name}' failed: {said(one['report']['error'])}"
        if has_run:
            yield from _not_shown(one)
        if one["violation"] and one["expected"] != "killed":
            yield f"component '{name}' was killed: {one['violation']}"
        if one["expected"] == "killed" and not one["violation"] and has_run:
            yield f"component '{name}' was not killed, although `expect` says so"
        if job is None or "most_refills" not in job:
            continue
        admitted = job["misses_admitted"]
        if admitted is not None and job["most_refills"] > admitted:
            yield (
                f"promise broken: a job of '{name}' had {job['most_refills']} refills, but only {admitted} "
                "were admitted"
            )
        if facts.timed:
            yield from _late(name, job)


def _not_shown(one: ComponentResult) -> Iterator[str]:
    """What a run has to have for its other promises to be known as kept."""
    name, job = one["name"], one["job"]
    if one["killed"] is None:
        yield f"the scheduler has not reported on '{name}', so its promises could not be checked"
    elif one["killed"] != bool(one["violation"]):
        yield f"kernel and scheduler do not agree on whether '{name}' was killed"
    elif job and not one["killed"] and not job["ended"] and job["starting"] >= _PERIODS_TO_START:
        yield (
            f"'{name}' has had {job['starting']} periods without a call of `rt_end_job()`, so none of its "
            "jobs was counted"
        )


def said(value: object) -> str:
    """Text of a component, on one line and limited in length, for a message of the tool."""
    text = visible(str(value))
    return text if len(text) <= _LONGEST_SAID else text[:_LONGEST_SAID] + " ..."


def _late(name: str, job: JobResult) -> Iterator[str]:
    if job["overruns"]:
        yield f"{job['overruns']} jobs of '{name}' were stopped because their budget was spent"
    if job["late"]:
        yield f"{job['late']} jobs of '{name}' had not ended when the next one was released"


def _refill_notes(facts: ComponentFacts) -> Iterator[str]:
    """The number of refills with which jobs were admitted, if it is not a promised bound."""
    mpu, longest = facts.image.platform.cores.mpu, _longest_refill(facts)
    if mpu is not None and mpu.bound is None and longest > mpu.fault:
        yield (f"a refill took {longest} cycles, but jobs were admitted with {mpu.fault} (`cores.mpu.fault`)")


def _refill_reasons(facts: ComponentFacts) -> Iterator[str]:
    mpu, longest = facts.image.platform.cores.mpu, _longest_refill(facts)
    if mpu is not None and mpu.bound is not None and longest > mpu.bound:
        yield (
            f"promise broken: a refill took {longest} cycles, but jobs were admitted with the bound "
            f"{mpu.bound} (`cores.mpu.bound`)"
        )


def _longest_refill(facts: ComponentFacts) -> int:
    """Of any component; on the emulator nobody knows."""
    mpu = None if facts.counted is None else facts.counted.get("mpu")
    return 0 if mpu is None else mpu["longest_miss_cycles"]


def _untimed_notes(facts: ComponentFacts, components: list[ComponentResult]) -> Iterator[str]:
    """The emulator counts instructions as time: no promise of time is tried."""
    if facts.timed:
        return
    for one in components:
        job = one["job"]
        if job is not None and "overruns" in job:
            yield from (f"{text} (in counted time, which is no evidence)" for text in _late(one["name"], job))
