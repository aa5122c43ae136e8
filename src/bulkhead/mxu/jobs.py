# SPDX-License-Identifier: Apache-2.0
"""The most misses of a component's job in its dynamic regions, and whether its budget is large enough for
them (X8)."""

from __future__ import annotations

from bulkhead.config.components import Component
from bulkhead.config.platform import Platform
from bulkhead.config.problem import Finding, KeyPath
from bulkhead.mxu import native
from bulkhead.mxu.costs import refill_ns
from bulkhead.mxu.hardware import Checker
from bulkhead.mxu.model import Job, PhaseRanges, Served

DATA = "data"  # that a component's code accesses in any phase


def job_of(
    index: int,
    component: Component,
    platform: Platform,
    checker: Checker,
    served: list[Served],
    slots: int,
    at_once: int,
) -> tuple[Job, list[Finding]]:
    """`at_once`: dynamic ranges that one instruction of the component can need."""
    assert component.period is not None
    budget = component.period if component.budget is None else component.budget
    job = Job(component.name, component.period, budget, component.wcet)
    if checker.mmu:
        return job, []
    path: KeyPath = ("components", index)
    phases = _phases(path, component, served, at_once)
    policy = native.mxu()
    dynamic = policy.Dynamic(slots, checker.policy, refill_ns(platform))
    numbers = [_numbers(phase) for phase in phases]
    status, misses, cost, total = policy.admit_job(numbers, dynamic, component.wcet or 0, budget)
    if status not in (native.OK, native.EBUSY):
        unbounded = [
            _unbounded(component, checker, slots, phase)
            for phase, one in zip(phases, numbers, strict=True)
            if policy.admit_job([one], dynamic, 0, native.NO_BOUND)[0] == native.ENOHW
        ]
        return Job(component.name, component.period, budget, component.wcet, slots, phases), unbounded
    job = Job(component.name, component.period, budget, component.wcet, slots, phases, misses, cost, total)
    return job, [_too_long(path, component, job)] if status == native.EBUSY else []


def _phases(
    path: KeyPath, component: Component, served: list[Served], at_once: int
) -> tuple[PhaseRanges, ...]:
    if not component.phases:
        everything = tuple(one.name for one in served)
        return (_phase(path, everything, served, at_once, None),)
    return tuple(
        _phase((*path, "phases", i), tuple(dict.fromkeys((*one.ranges, DATA))), served, at_once, one.changes)
        for i, one in enumerate(component.phases)
    )


def _phase(
    path: KeyPath, names: tuple[str, ...], served: list[Served], at_once: int, changes: int | None
) -> PhaseRanges:
    dynamic = [one for one in served if one.is_dynamic and one.name in names]
    ranges = sum(one.ranges for one in dynamic)
    return PhaseRanges(path, tuple(one.name for one in dynamic), ranges, min(at_once, ranges), changes)


def _numbers(phase: PhaseRanges) -> tuple[int, int, int]:
    return phase.ranges, phase.touch, native.NO_BOUND if phase.changes is None else phase.changes


def _unbounded(component: Component, checker: Checker, slots: int, phase: PhaseRanges) -> Finding:
    what = "a phase" if component.phases else "the job"
    kept = native.mxu().kept(checker.policy, slots)
    cause = (
        f"{what} of '{component.name}' accesses {phase.ranges} dynamic regions ({', '.join(phase.names)}), "
        f"and it has {slots}, of which {checker.policy_name} is sure to keep {kept}: its misses have no bound"
    )
    fewer = f"`phases` of at most {kept}, each" if not component.phases else f"at most {kept} in a phase,"
    return Finding(
        phase.path,
        "misses-unbounded",
        cause,
        f"{fewer} with `data`; `changes` as a bound; or `deterministic` for the memory that is used most",
    )


def _too_long(path: KeyPath, component: Component, job: Job) -> Finding:
    key = "budget" if component.budget is not None else "period"
    wcet = f"{job.wcet_ns} ns and " if job.wcet_ns is not None else ""
    cause = (
        f"of {job.budget_ns} ns is too small for a job of '{component.name}': {wcet}{job.misses} misses of "
        f"{job.cost_ns} ns together are {job.wcet_with_misses_ns} ns"
    )
    return Finding(
        (*path, key), "misses-too-costly", cause, f"at least {job.wcet_with_misses_ns} ns, or fewer misses"
    )
