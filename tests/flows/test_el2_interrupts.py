# SPDX-License-Identifier: Apache-2.0
"""F9: EL2's own interrupts on the cores of a broker and of ends are in the costs of the flows."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from random import Random

import pytest

from bulkhead.admission.load import load_system
from bulkhead.config.flow_costs import SHARE_ONE, InterruptCosts
from bulkhead.planning.el2_interrupts import Endless, InterruptSource, longest_ns
from bulkhead.planning.flows import FlowPlan, plan_flows
from bulkhead.schema import load_layout

from ..platforms import platform

SYSTEM = """
bulkhead: 1
name: interrupted
platform: zcu102
isolation: { llc: none }
regulation: { overcommit: true }
domains:
  - name: one
    criticality: rt
    cpus: [0]
    image: { elf: guests/traffic.elf }
    memory: [{ at: 0x40000000, size: 4 MiB }]
  - name: two
    criticality: rt
    cpus: [1]
    image: { elf: guests/traffic.elf }
    memory: [{ at: 0x40000000, size: 4 MiB }]
broker: { cpu: 3, rate: 200 MB/s }
flows:
  - { name: f, from: one, to: two, port: 1, size: 4 KiB, period: 5 ms, deadline: 5 ms }
"""
BUDGET = "domains.one.bandwidth={ budget: 100 MB/s, period: 1 ms }"
THIRD = """
  - name: three
    criticality: rt
    cpus: [2]
    image: { elf: guests/traffic.elf }
    memory: [{ at: 0x40000000, size: 4 MiB }]
"""  # then each core has a real-time domain, and the console core is an end's
LATE = 50_000  # `release_delay.bound` of zcu102
WITH_THIRD = "  - { name: g, from: three, to: two, port: 2, size: 64 B, period: 5 ms, deadline: 5 ms }\n"


def planned(directory: Path, *settings: str, text: str = SYSTEM) -> FlowPlan:
    file = directory / "interrupted.yaml"
    file.write_text(text)
    loaded = load_system(file, settings)
    assert loaded.ok and loaded.system is not None and loaded.platform is not None, loaded.problems
    found, findings = plan_flows(loaded.system, loaded.platform)
    assert found is not None, findings
    return found


def part(name: str) -> int:
    costs = platform("zcu102").flow_costs
    assert costs is not None
    return int(getattr(costs, name).max)


def about(plan: FlowPlan) -> list[str]:
    return [remark for remark in plan.remarks if "interrupts" in remark or "budget left" in remark]


@pytest.mark.req("F9")
def test_what_interrupts_take_is_the_least_time_that_holds_for_them() -> None:
    random = Random(1)
    for _ in range(500):
        sources = [
            InterruptSource(
                random.randint(1, 90_000), random.choice((None, random.randint(125_000, 10**6))), late
            )
            for late in random.sample((0, 50_000, 10**9), random.randint(1, 3))
        ]
        work = random.randrange(100_000)
        share = sum((one.share for one in sources), Fraction(0))
        if share >= Fraction(9, 10):
            continue
        burst = sum((one.burst for one in sources), Fraction(0))
        taken = Fraction(0)
        for _ in range(2000):  # the iteration that the fixed point stands for
            taken = Fraction(round((burst + share * (work + taken)) * 1000), 1000)
        assert abs(longest_ns(sources, work) - taken) <= 2
        assert longest_ns(sources, work + 1000) >= longest_ns(sources, work)
    assert longest_ns([], 10**6) == 0
    for cost in (
        100_000,
        99_999,
    ):  # all of the time, and so much that a part would be longer than core/ allows
        with pytest.raises(Endless):
            longest_ns([InterruptSource(cost, 100_000)], 10**6)


@pytest.mark.req("F9")
def test_interrupts_that_leave_no_time_refuse_the_flows(tmp_path: Path) -> None:
    file = tmp_path / "interrupted.yaml"
    file.write_text(SYSTEM)
    for period, code in (("30 us", "interrupts-endless"), ("1 ms", None)):
        loaded = load_system(
            file, [f"domains.one.bandwidth={{ events: 500, counts: refills, period: {period} }}"]
        )
        assert loaded.system is not None and loaded.platform is not None, loaded.problems
        _, findings = plan_flows(loaded.system, loaded.platform)
        assert [one.code for one in findings] == ([] if code is None else [code])


@pytest.mark.req("F9")
def test_cores_without_such_work_have_no_such_costs(tmp_path: Path) -> None:
    """The console is on core 2, which no domain has."""
    plan = planned(tmp_path)
    assert plan.model.costs.interrupts == InterruptCosts()
    assert about(plan) == []


@pytest.mark.req("F9")
def test_the_budget_of_an_end_interrupts_it(tmp_path: Path) -> None:
    """At the end of each period. The budget is a sum, whose counters overflow before it is spent, too."""
    plan = planned(tmp_path, BUDGET)
    seen, cost = plan.model.costs.interrupts, part("budget_interrupt")
    sources = [InterruptSource(cost, 1_000_000, LATE), InterruptSource(cost, None)]
    assert seen.ends == {"one": longest_ns(sources, part("notify"))}
    assert 2 * cost < seen.ends["one"] < 3 * cost
    assert (seen.broker_burst, seen.broker_share) == (0, 0)
    assert about(plan)[-1].startswith("bounds hold while one has budget left")
    refills = planned(tmp_path, "domains.one.bandwidth={ events: 1000, counts: refills, period: 1 ms }")
    assert refills.model.costs.interrupts.ends == {"one": longest_ns(sources[:1], part("notify"))}
    own, alone = refills.model.make().tasks()[0], planned(tmp_path).model.make().tasks()[0]
    assert alone[1] - own[1] == 2 * refills.model.costs.interrupts.ends["one"], "of D', in half ns"
    assert alone[0] == own[0], "P' is as before"


@pytest.mark.req("F9")
def test_a_regulator_by_traffic_interrupts_all_cores(tmp_path: Path) -> None:
    given = [
        "regulation={ policy: dynamic-bandwidth, threshold: 1 GB/s, interval: 200 us, overcommit: true }",
        "domains.two.criticality=best-effort",
    ]
    plan = planned(tmp_path, *given)
    seen, cost = plan.model.costs.interrupts, part("budget_interrupt")
    end, message = InterruptSource(cost, 200_000, LATE), InterruptSource(cost, 200_000, 200_000)
    assert seen.broker_burst == -(-cost * 5 // 4), "an interrupt may be 50 us late once"
    assert seen.broker_share == -(-cost * SHARE_ONE // 200_000)
    assert seen.ends["one"] == longest_ns([end], part("notify"))
    assert seen.ends["two"] > longest_ns([end, message], 0), "the message with its new budget"
    assert any("while two has budget left" in remark for remark in about(plan)), "a regulated one, too"
    assert any("on the broker's core" in remark for remark in about(plan))
    other = planned(tmp_path, given[1])
    assert other.model.costs.interrupts.broker_burst == 0
    assert plan.checked.slack_ns[0] < other.checked.slack_ns[0]


@pytest.mark.req("F9")
def test_the_console_is_in_the_costs_if_it_is_on_an_end_s_core(tmp_path: Path) -> None:
    text = SYSTEM.replace("broker:", THIRD.lstrip("\n") + "broker:") + WITH_THIRD
    plan = planned(tmp_path, text=text)
    layout = load_layout()
    call = InterruptSource(part("console_interrupt"), layout.constant("console_pause_ns"))
    console = longest_ns([call, call], part("notify"))
    assert list(plan.model.costs.interrupts.ends.values()) == [console], "of one of the three"
    assert plan.model.costs.interrupts.broker_burst == 0


@pytest.mark.req("F9")
def test_a_platform_without_the_figures_says_so(tmp_path: Path) -> None:
    file = tmp_path / "interrupted.yaml"
    file.write_text(SYSTEM)
    loaded = load_system(file, [BUDGET])
    assert loaded.system is not None and loaded.platform is not None
    costs = loaded.platform.flow_costs
    assert costs is not None
    unmeasured = costs.model_copy(update={"budget_interrupt": None})
    board = loaded.platform.model_copy(update={"flow_costs": unmeasured})
    plan, findings = plan_flows(loaded.system, board)
    assert plan is not None, findings
    assert plan.model.costs.interrupts == InterruptCosts()
    assert about(plan)[0] == "bounds without EL2's own interrupts: 'zcu102' has no budget_interrupt"


@pytest.mark.req("F9")
def test_the_published_analysis_has_no_such_terms(tmp_path: Path) -> None:
    plan = planned(tmp_path, "platform=zcu102-published", BUDGET)
    assert plan.model.costs.interrupts == InterruptCosts()
    assert about(plan) == []
