# SPDX-License-Identifier: Apache-2.0
"""F4: bounds on the response time of packets compared with the broker's schedule, and with the test of
schedulability."""

from __future__ import annotations

from fractions import Fraction
from random import Random
from typing import Any

import pytest

from bulkhead.config.system import Flow
from bulkhead.flows import analysis
from bulkhead.flows.model import FlowModel
from bulkhead.flows.response import bounds_ns

from . import oracle
from .test_analysis import published

COSTS = published()
CHUNK = 4096
SETS = 60


def any_model(random: Random) -> FlowModel:
    """Flows of two senders; P' is a multiple of 50 us."""
    flows = []
    for number in range(random.randint(1, 4)):
        period = 50_000 * random.randint(2, 20) + 651
        deadline = random.choice((period, random.randint(60_000, period), random.randint(period, 3 * period)))
        ends = random.sample(("alpha", "beta", "gamma"), 2)
        values: dict[str, Any] = {"name": f"f{number}", "port": number, "size": random.randint(1, 30_000)}
        times: dict[str, Any] = {"period": period, "deadline": deadline}
        flows.append(Flow.model_construct(**values, from_=ends[0], receivers=(ends[1],), **times))
    return FlowModel(tuple(flows), COSTS, CHUNK)


def simulated(model: FlowModel, b: int, random: Random) -> list[Fraction]:
    """The longest time of a packet of each flow, over several schedules."""
    declared = [
        oracle.Declared(size, period, deadline, sender)
        for size, period, deadline, _, sender in model.declared()
    ]
    tasks = oracle.transform(declared, len(model.domains), CHUNK)
    data = [model.of_flow(number)[0] for number in range(len(model.flows))]
    longest = [Fraction(0)] * len(data)
    end = Fraction(4 * max(flow.period for flow in model.flows))
    for started in (None, *range(len(tasks))):
        for releases in (oracle.worst_releases(tasks, end), oracle.any_releases(tasks, random, end)):
            others = [one for one in releases if one.task != started]  # it has just arrived
            late = oracle.latest(tasks, b, others, started)
            for number, task in enumerate(data):
                if task in late:
                    took = model.flows[number].deadline + late[task]
                    longest[number] = max(longest[number], took)
    return longest


@pytest.mark.req("F4")
def test_no_schedule_takes_longer_and_some_take_nearly_as_long() -> None:
    random = Random(7)
    near = 0
    flows = 0
    for _ in range(SETS):
        model = any_model(random)
        least = analysis.smallest_bandwidth(model)
        if least is None:
            continue
        b = least * random.choice((1, 2, 4))
        bounds = bounds_ns(model, b)
        for bound, took, flow in zip(bounds, simulated(model, b, random), model.flows, strict=True):
            assert took <= bound <= flow.deadline
            flows += 1
            near += took > bound * 0.8
    assert flows > SETS
    assert near > flows / 4


@pytest.mark.req("F4")
def test_a_later_deadline_lets_others_pass() -> None:
    """With an earlier deadline the log could go first: that is its slack. As it is, it goes last."""
    ends: dict[str, Any] = {"from_": "alpha", "receivers": ("beta",)}
    urgent = Flow.model_construct(name="u", port=1, size=32768, period=20_000_000, deadline=5_000_000, **ends)
    log = Flow.model_construct(name="l", port=2, size=32768, period=99_000_000, deadline=99_000_000, **ends)
    model = FlowModel((urgent, log), COSTS, CHUNK)
    b = 20_000_000
    packet_ns = 32768 * 10**9 // b
    slack = analysis.check(model, b).slack_ns
    bounds = bounds_ns(model, b)
    assert 99_000_000 - slack[1] < 2 * packet_ns + 100_000
    assert 2 * packet_ns < bounds[1] < 2 * packet_ns + 500_000
    assert packet_ns < bounds[0] < packet_ns + CHUNK * 10**9 // b + 200_000
