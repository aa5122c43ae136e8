# SPDX-License-Identifier: Apache-2.0
"""F4, F6: the tool's analysis of a set: slack, the smallest bandwidth and period, the proposed changes."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from bulkhead.config.flow_costs import FlowCosts
from bulkhead.config.system import Flow
from bulkhead.flows import analysis
from bulkhead.flows.model import FlowModel

from ..platforms import platform
from . import oracle

EASY = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])


def published() -> FlowCosts:
    costs = platform("zcu102-published").flow_costs
    assert costs is not None
    return costs


COSTS = published()
DOMAINS = ("alpha", "beta", "gamma")


@st.composite
def models(draw: st.DrawFn, late: bool = False) -> FlowModel:
    """Systems with a few flows whose deadlines are within their periods."""
    flows = []
    for number in range(draw(st.integers(1, 4))):
        source, sink = draw(st.permutations(DOMAINS))[:2]
        period = draw(st.integers(100_000, 20_000_000))
        deadline = draw(st.integers(40_000 if late else 80_000, period))
        values: dict[str, Any] = {"name": f"f{number}", "from": source, "receivers": (sink,), "port": number}
        times: dict[str, Any] = {"period": period, "deadline": deadline}
        flows.append(Flow.model_construct(**values, from_=source, size=draw(st.integers(1, 40_000)), **times))
    return FlowModel(tuple(flows), COSTS, draw(st.sampled_from([1024, 4096, 16384])))


@pytest.mark.req("F6")
def test_the_smallest_period_is_what_the_formulas_give_by_hand() -> None:
    """For one flow of one transfer, D' - J' must be at least C', where D' = P - Os_max - O_r."""
    dma = 71 + 949 + 949 + 828 + 2646
    packet = (142 + 101 + 30) + (142 + 40)
    lost = Fraction(949, 2) + 757 + 1460 - Fraction(949, 2) + 1161 + packet
    exact = lost + dma + packet + Fraction(4096 * 10**9, 148_000_000)
    assert analysis.smallest_period(COSTS, 4096, 148_000_000) == -(-exact // 1) == 37407


@pytest.mark.req("F6")
@pytest.mark.parametrize(
    ("size", "chunk", "senders"), [(1, 4096, 1), (4096, 512, 4), (65536, 4096, 2), (9000, 4096, 8)]
)
def test_a_flow_of_the_smallest_period_is_schedulable_and_of_one_ns_less_is_not(
    size: int, chunk: int, senders: int
) -> None:
    b = 200_000_000
    period = analysis.smallest_period(COSTS, size, b, chunk_bytes=chunk, senders=senders)
    assert period is not None
    for value, expected in ((period, True), (period - 1, False)):
        tasks = oracle.transform([oracle.Declared(size, value, value, 0)], senders, chunk)
        assert oracle.schedulable(tasks, b) == expected


@pytest.mark.req("F2")
def test_each_flow_reserves_a_header_in_both_directions() -> None:
    flow = Flow.model_validate(
        {
            "name": "f",
            "from": "alpha",
            "to": "beta",
            "port": 1,
            "size": 4096,
            "period": "1 ms",
            "deadline": "1 ms",
        }
    )
    model = FlowModel((flow,), COSTS, 4096)
    assert model.declared() == [
        (4096, 10**6, 10**6, 0, 0),
        (44, 10**6, 10**6, 1, 0),
        (44, 10**6, 10**6, 1, 1),
    ]
    assert model.domains == ("alpha", "beta")


@pytest.mark.req("F11")
def test_a_way_back_is_a_flow_and_control_packets_of_both_are_as_frequent_as_the_faster_one() -> None:
    given = {
        "name": "f",
        "from": "alpha",
        "to": "beta",
        "port": 1,
        "size": 4096,
        "period": "4 ms",
        "deadline": "3 ms",
        "back": {"size": 100, "period": "1 ms", "deadline": "2 ms", "transfers": 7},
    }
    model = FlowModel((Flow.model_validate(given),), COSTS, 4096)
    assert model.declared() == [
        (4096, 4 * 10**6, 3 * 10**6, 0, 0),
        (44, 10**6, 3 * 10**6, 1, 0),
        (100, 10**6, 2 * 10**6, 7, 1),
        (44, 10**6, 2 * 10**6, 1, 1),
    ]
    assert [(way.name, way.from_, way.to, way.key) for way in model.ways] == [
        ("f", "alpha", "beta", ("flows", 0)),
        ("f.back", "beta", "alpha", ("flows", 0, "back")),
    ]
    changed = model.with_flow(1, deadline=5 * 10**6)
    assert [way.deadline for way in changed.ways] == [3 * 10**6, 5 * 10**6]
    assert [member.kind for member in model.members] == ["data", "control of the sender"] * 2


@pytest.mark.req("F7")
def test_each_receiver_of_a_multicast_flow_is_a_flow() -> None:
    times = {"period": "4 ms", "deadline": "3 ms"}
    scan = {"name": "scan", "from": "alpha", "to": ["beta", "gamma"], "port": 1, "size": 4096, **times}
    back = {"size": 100, **times}
    ask = {"name": "ask", "from": "beta", "to": "gamma", "port": 2, "size": 64, **times, "back": back}
    model = FlowModel((Flow.model_validate(scan), Flow.model_validate(ask)), COSTS, 4096)
    assert model.domains == ("alpha", "beta", "gamma")
    assert [(way.name, way.from_, way.to, way.key, way.group, way.other) for way in model.ways] == [
        ("scan.beta", "alpha", "beta", ("flows", 0), 0, None),
        ("scan.gamma", "alpha", "gamma", ("flows", 0), 0, None),
        ("ask", "beta", "gamma", ("flows", 1), None, 3),
        ("ask.back", "gamma", "beta", ("flows", 1, "back"), None, 2),
    ]
    alone = [
        FlowModel((Flow.model_validate({**scan, "to": to}),), COSTS, 4096).declared()
        for to in ("beta", "gamma")
    ]
    of_beta, of_gamma = model.declared()[:3], model.declared()[3:6]
    assert of_beta == alone[0]
    assert [row[:4] for row in of_gamma] == [row[:4] for row in alone[1]]
    assert [row[4] for row in of_gamma] == [0, 0, 2], "control packets of gamma are gamma's"


@pytest.mark.req("F7")
def test_a_change_of_a_multicast_flow_is_proposed_once_and_counts_for_all_receivers() -> None:
    given = {"name": "scan", "from": "alpha", "to": ["beta", "gamma"], "port": 1, "size": 65536}
    flow = Flow.model_validate({**given, "period": "4 ms", "deadline": "1 ms"})
    one = FlowModel((flow.model_copy(update={"receivers": ("beta",)}),), COSTS, 4096)
    model = FlowModel((flow,), COSTS, 4096)
    least, least_of_one = analysis.smallest_bandwidth(model), analysis.smallest_bandwidth(one)
    assert least is not None
    assert least_of_one is not None
    assert least > 1.9 * least_of_one, "each packet is transferred twice"
    rate, change = analysis.changes(model, least // 2)
    assert (rate.keys, rate.needed) == (("rate",), least)
    assert (change.keys, change.name) == (("deadline",), "scan")
    changed = model.with_flow(0, deadline=change.needed)
    assert {way.deadline for way in changed.ways} == {change.needed}
    assert analysis.check(changed, least // 2).schedulable


@pytest.mark.req("F9")
def test_the_single_threaded_broker_expects_the_most_transfers_where_nobody_says_how_many() -> None:
    values: dict[str, Any] = {
        "from_": "alpha",
        "receivers": ("beta",),
        "size": 12288,
        "period": 10**6,
        "deadline": 10**6,
    }
    silent = Flow.model_construct(name="a", port=1, transfers=None, **values)
    told = Flow.model_construct(name="b", port=2, transfers=3, **values)
    model = FlowModel((silent, told), COSTS.on_path("single-thread"), 4096)
    assert [row[3] for row in model.declared()] == [4, 1, 1, 3, 1, 1]
    assert "3732 B" in model.transfers_from
    pieces = FlowModel((silent,), COSTS.on_path("single-thread"), 4096, run_bytes=4096)
    assert pieces.transfers_of(0) > 4
    assert "pieces of 4 KiB" in pieces.transfers_from
    assert FlowModel((silent,), COSTS, 4096).transfers_of(0) == 3


@pytest.mark.req("F4", "F6")
@EASY
@given(models())
def test_the_smallest_bandwidth_is_what_a_binary_search_over_the_test_finds(model: FlowModel) -> None:
    found = analysis.smallest_bandwidth(model)
    low, high = 0, 1 << 40
    assume(found is not None)
    assert analysis.check(model, high).schedulable
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if analysis.check(model, middle).schedulable else (middle, high)
    assert found == high


@pytest.mark.req("F4")
@EASY
@given(models(), st.integers(1, 10**9), st.integers(1, 10**9))
def test_more_bandwidth_does_no_harm(model: FlowModel, less: int, more: int) -> None:
    if analysis.schedulable(model, less):
        assert analysis.schedulable(model, less + more)


@pytest.mark.req("F4")
@EASY
@given(models(late=True), st.integers(10**6, 10**9), st.data())
def test_a_longer_deadline_within_the_period_does_no_harm(
    model: FlowModel, b: int, data: st.DataObject
) -> None:
    number = data.draw(st.integers(0, len(model.flows) - 1))
    flow = model.flows[number]
    longer = data.draw(st.integers(flow.deadline, flow.period))
    if analysis.schedulable(model, b):
        assert analysis.schedulable(model.with_flow(number, deadline=longer), b)


@pytest.mark.req("F6")
@EASY
@given(models(), st.integers(10**6, 10**9))
def test_slack_is_the_largest_reduction_of_a_deadline(model: FlowModel, b: int) -> None:
    assume(analysis.schedulable(model, b))
    checked = analysis.check(model, b)
    for number, (slack, exact) in enumerate(zip(checked.slack_ns, checked.slack_exact, strict=True)):
        shortest = model.flows[number].deadline - int(slack)
        assert analysis.schedulable(model.with_flow(number, deadline=shortest), b)
        assert not exact or not analysis.schedulable(model.with_flow(number, deadline=shortest - 1), b)


@pytest.mark.req("F6")
@EASY
@given(models(late=True), st.integers(10**5, 10**8))
def test_each_proposed_change_alone_is_enough_and_no_smaller_one_is(model: FlowModel, b: int) -> None:
    assume(not analysis.schedulable(model, b))
    for change in analysis.changes(model, b):
        for value, expected in ((change.needed, True), (change.needed - 1, False)):
            if change.flow is None:
                assert analysis.schedulable(model, value) == expected
                continue
            changed = model.with_flow(change.flow, **dict.fromkeys(change.keys, value))
            assert analysis.schedulable(changed, b) == expected or value > model.flows[change.flow].period


@pytest.mark.req("F6")
def test_a_deadline_is_looked_for_beyond_the_period() -> None:
    """The deadline is found even if it is very short: 64 times as long would still be too short here."""
    ends: dict[str, Any] = {"from_": "alpha", "receivers": ("beta",)}
    values: dict[str, Any] = {"name": "f0", "port": 0, "size": 15734, **ends}
    flow = Flow.model_construct(**values, period=2_560_114, deadline=40_000)
    (change,) = [one for one in analysis.changes(FlowModel((flow,), COSTS, 1024), 6_447_625) if one.flow == 0]
    assert change.keys == ("deadline",)
    assert change.needed > 64 * 40_000


@pytest.mark.req("F6")
def test_where_no_single_value_is_enough_period_and_deadline_go_together() -> None:
    """16 transfers take 100 us besides their bytes: neither a longer period nor a longer deadline alone would
    suffice."""
    values: dict[str, Any] = {"name": "f", "from_": "alpha", "receivers": ("beta",), "port": 1, "size": 65536}
    flow = Flow.model_construct(**values, period=100_000, deadline=100_000)
    model, b = FlowModel((flow,), COSTS, 4096), 1 << 40
    (change,) = analysis.changes(model, b)
    assert change.keys == ("period", "deadline")
    assert change.text().startswith(f"period and deadline of f: {change.needed} ns")
    for value, expected in ((change.needed, True), (change.needed - 1, False)):
        assert analysis.schedulable(model.with_flow(0, period=value, deadline=value), b) == expected


@pytest.mark.req("F6")
@EASY
@given(models(late=True), st.integers(10**6, 10**8))
def test_the_violated_point_is_one(model: FlowModel, b: int) -> None:
    try:
        checked = analysis.check(model, b)
    except ValueError:
        assume(False)
        return
    assume(checked.violation is not None)
    violation = checked.violation
    assert violation is not None
    assert violation.demand_ns > violation.at_ns
    parts = sum(one.ns for one in violation.asked) + violation.blocking_ns
    assert parts == pytest.approx(violation.demand_ns, rel=1e-6)
    assert (violation.blocked_by is None) == (violation.blocking_ns == 0)


@pytest.mark.req("F4")
def test_a_set_whose_load_is_too_near_to_1_is_refused_and_the_search_stays_away() -> None:
    """Flows have deadlines equal to their periods, which have a large common multiple: the load decides."""
    flows = []
    for number in range(5):
        period = 1_000_003 + 210_011 * number
        values: dict[str, Any] = {"name": f"f{number}", "port": number, "size": 10_000 + 1000 * number}
        ends: dict[str, Any] = {"from_": "alpha", "receivers": ("beta",)}
        flows.append(Flow.model_construct(**values, **ends, period=period, deadline=period))
    model = FlowModel(tuple(flows), COSTS, 4096)
    found = analysis.smallest_bandwidth(model)
    assert found is not None
    assert analysis.check(model, found).schedulable
    assert analysis.check(model, found - 1).verdict == "undecided"
    assert 1 - 1 / 65536 < analysis.load(model, found) < 1, "no more than that is lost"
    assert not all(analysis.check(model, found).slack_exact)
