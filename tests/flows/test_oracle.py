# SPDX-License-Identifier: Apache-2.0
"""F4: core/'s verdicts compared with three others: every point in fractions, the broker's schedule, and a
public analysis.

The library `response-time-analysis` implements the response-time analysis of EDF that the PROSA project
proved. It treats jitter differently: there an arrival is late by up to J and its deadline counts from the
arrival; here it counts from the release, so that a packet is due D' - J' after its arrival. A sporadic task
with that deadline is the same in both.
"""

from __future__ import annotations

from fractions import Fraction
from random import Random

import pytest
from response_time_analysis import edf
from response_time_analysis.model import (
    WCET,
    Deadline,
    FloatingNonPreemptive,
    IdealProcessor,
    Priority,
    Sporadic,
    taskset,
)
from response_time_analysis.model import Task as RtaTask

from bulkhead.flows.native import FlowSet, analysis

from ..platforms import platform
from . import oracle

CHUNK = 4096


def costs() -> dict[str, int]:
    published = platform("zcu102-published")
    assert published.flow_costs is not None
    return published.flow_costs.analyzed()


COSTS = costs()


def made(flows: list[oracle.Declared]) -> FlowSet:
    declared = [(one.size, one.period, one.deadline, 0, one.sender) for one in flows]
    return analysis().FlowSet(declared, COSTS, 3, CHUNK)


def sets(seed: int, count: int) -> list[tuple[Random, list[oracle.Declared], list[oracle.Task], int]]:
    """Sets that can be transformed, and a bandwidth."""
    random = Random(seed)
    found: list[tuple[Random, list[oracle.Declared], list[oracle.Task], int]] = []
    while len(found) < count:
        flows = oracle.any_flows(random)
        tasks = oracle.transform(flows, 3, CHUNK)
        if all(task.first > 0 for task in tasks):
            found.append((random, flows, tasks, 10**6 * random.choice((20, 50, 100, 200, 400, 1000, 4000))))
    return found


@pytest.mark.req("F4", "F5")
def test_tasks_are_those_of_the_formulas() -> None:
    for _, flows, tasks, _ in sets(1, 200):
        for got, task in zip(made(flows).tasks(), tasks, strict=True):
            period, first, fixed, size, last_fixed, last_size, several = got
            assert period == 2 * task.period
            assert first == 2 * task.first
            assert fixed == 2 * (task.transfers * task.dma + task.packet)
            assert (size, last_size) == (task.size, task.last)
            assert last_fixed == 2 * (task.dma + task.packet)
            assert several == (task.transfers > 1)


@pytest.mark.req("F4")
def test_the_verdict_is_that_of_every_point() -> None:
    counted = {True: 0, False: 0}
    for _, flows, tasks, b in sets(2, 1500):
        verdict = made(flows).check(b).verdict == "schedulable"
        assert verdict == oracle.schedulable(tasks, b), flows
        counted[verdict] += 1
    assert min(counted.values()) > 300


@pytest.mark.req("F4")
def test_a_schedulable_set_is_never_late_and_a_late_one_is() -> None:
    """With a schedulable set no sporadic releases make the broker late; with another set, the worst releases
    do."""
    never, late = 0, 0
    for random, flows, tasks, b in sets(3, 800):
        outcome = made(flows).check(b)
        if outcome.verdict == "schedulable":
            end = 4 * max(task.period for task in tasks)
            for _ in range(3):
                started = random.choice((None, random.randrange(len(tasks))))
                releases = oracle.any_releases(tasks, random, end)
                releases = [one for one in releases if one.task != started]
                assert not oracle.missed(tasks, b, releases, started), flows
            never += 1
        elif outcome.verdict == "late":
            at = Fraction(outcome.at, 2)
            later = [number for number, task in enumerate(tasks) if task.first > at]
            blocker = max(later, key=lambda number: tasks[number].longest(b), default=None)
            assert oracle.missed(tasks, b, oracle.worst_releases(tasks, at), blocker), flows
            late += 1
    assert min(never, late) > 30


@pytest.mark.req("F4")
def test_the_verdict_is_that_of_a_public_analysis() -> None:
    """Its time is discrete, so blocking is one unit shorter: its unit is 1/1000 of ours."""
    counted = {True: 0, False: 0}
    for _, flows, tasks, b in sets(4, 800):
        if oracle.load(tasks, b) >= 1:
            continue
        verdict = made(flows).check(b).verdict == "schedulable"
        assert verdict == public_verdict(tasks, b), flows
        counted[verdict] += 1
    assert min(counted.values()) > 60


def public_verdict(tasks: list[oracle.Task], b: int) -> bool:
    scale = 1000 * 2 * b // oracle.gcd_of_rate(b)
    made_of = []
    for number, task in enumerate(tasks):
        values = [task.cost(b), task.longest(b), task.first, task.period]
        cost, longest, first, period = (int(value * scale) for value in values)
        assert [cost, longest, first, period] == [value * scale for value in values], "all are whole"
        model = FloatingNonPreemptive(WCET(cost), longest)
        made_of.append(RtaTask(Sporadic(period), model, Deadline(first), Priority(number)))
    together = taskset(made_of)
    for one in made_of:
        solution = edf.rta(together, one, IdealProcessor())
        assert solution.bound_found()
        assert solution.response_time_bound is not None and one.deadline is not None
        if solution.response_time_bound > one.deadline.value:
            return False
    return True


@pytest.mark.req("F4")
def test_the_smallest_bandwidth_passes_and_one_byte_less_does_not() -> None:
    found = 0
    for _, flows, tasks, _ in sets(5, 600):
        flow_set = made(flows)
        outcome = flow_set.smallest_bandwidth()
        if outcome.verdict == "impossible":
            assert not oracle.schedulable(tasks, analysis().MAX_BYTES_PER_S)
            continue
        assert outcome.verdict == "schedulable"
        b = outcome.bytes_per_s
        assert flow_set.check(b).verdict == "schedulable"
        assert flow_set.check(b - 1).verdict != "schedulable"
        if oracle.load(tasks, b) < Fraction(999, 1000):  # else there are too many points for fractions
            assert oracle.schedulable(tasks, b)
            assert not oracle.schedulable(tasks, b - 1)
            found += 1
    assert found > 250
