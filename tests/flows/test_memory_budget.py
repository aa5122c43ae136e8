# SPDX-License-Identifier: Apache-2.0
"""F3: cores and broker together within the DRAM's capacity, and the regulator's register."""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from bulkhead.admission.load import load_system
from bulkhead.config.flow_costs import MemoryBudget
from bulkhead.config.platform import Platform
from bulkhead.config.system import System
from bulkhead.planning.flows import FlowPlan, plan_flows
from bulkhead.planning.memory_budget import memory_use
from bulkhead.planning.native import memory

ROOT = Path(__file__).parents[2]
TEXT = """
bulkhead: 1
name: budget
platform: zcu102-published
domains:
  - name: one
    cpus: [0]
    image: { elf: guests/hog.elf }
    memory: [{ at: 0x40000000, size: 16 MiB }]
    bandwidth: { budget: 240 MB/s, period: 1 ms }
  - name: two
    cpus: [1]
    image: { elf: guests/hog.elf }
    memory: [{ at: 0x40000000, size: 16 MiB }]
    bandwidth: { budget: 120 MB/s, period: 1 ms, counts: refills }
broker: { engine: zdma }
flows:
  - { name: f, from: one, to: two, port: 1, size: 4 KiB, period: 1 ms, deadline: 500 us }
"""


def loaded(tmp_path: Path, *overrides: str) -> tuple[System, Platform]:
    file = tmp_path / "system.yaml"
    file.write_text(TEXT)
    found = load_system(file, overrides)
    assert found.system is not None, [problem.text() for problem in found.problems]
    assert found.platform is not None
    return found.system, found.platform


def by_sum(tmp_path: Path) -> tuple[System, Platform]:
    """The platform without its measured table, which limits the engine more than the sum does."""
    system, platform = loaded(tmp_path)
    assert platform.memory_budget is not None
    curves = platform.memory_budget.model_copy(update={"table": ()})
    return system, platform.model_copy(update={"memory_budget": curves})


def planned(system: System, platform: Platform) -> FlowPlan:
    plan, findings = plan_flows(system, platform)
    assert plan is not None, findings
    return plan


@pytest.mark.req("F3")
def test_utilizations_add_up(tmp_path: Path) -> None:
    """240 MB/s that count both directions are a quarter of 960; 120 MB/s of refills may write back as much:
    another quarter."""
    use = memory_use(*by_sum(tmp_path), 500_000_000, "zdma", 4096)
    assert use is not None
    parts = {part.name: part.utilization for part in use.parts}
    assert parts["one"] == pytest.approx(1 / 4, rel=1e-3)
    assert parts["two"] == pytest.approx(1 / 4, rel=1e-3)
    assert parts["broker"] == Fraction(500, 2000)
    assert use.fits
    assert use.largest_rate == int((1 - parts["one"] - parts["two"]) * 2_000_000_000)


@pytest.mark.req("F3")
@pytest.mark.parametrize(
    ("engine", "chunk", "full"),
    [
        ("zdma", 4096, 2000),
        ("zdma", 65536, 3190),
        ("zdma", 12288, 2440),
        ("zdma", 1024, 500),
        ("cpu-copy", 4096, 240),
    ],
)
def test_what_the_broker_may_have_depends_on_chunk_and_engine(
    tmp_path: Path, engine: str, chunk: int, full: int
) -> None:
    """A core that copies fetches both buffers: half of the 480 MB/s of refills."""
    use = memory_use(*loaded(tmp_path), 10**6, engine, chunk)
    assert use is not None
    assert 0 <= use.parts[0].utilization - Fraction(1, full) < Fraction(1, 10**14)


@pytest.mark.req("F3")
def test_one_byte_more_than_is_left_does_not_fit(tmp_path: Path) -> None:
    system, platform = by_sum(tmp_path)
    use = memory_use(system, platform, 10**6, "zdma", 4096)
    assert use is not None
    for rate, fits in ((use.largest_rate, True), (use.largest_rate + 1, False)):
        again = memory_use(system, platform, rate, "zdma", 4096)
        assert again is not None
        assert again.fits == fits
        assert (again.utilization <= 1) == fits


@pytest.mark.req("F3", "F6")
@pytest.mark.parametrize(
    ("engine", "overrides"),
    [
        ("zdma", ("broker.rate=1100 MB/s",)),
        ("cpu-copy", ("broker.rate=130 MB/s",)),
        ("cpu-copy", ("domains.one.bandwidth.budget=710 MB/s",)),
        ("zdma", ("broker.rate=1100 MB/s", "domains.one.bandwidth={ events: 3750, period: 1 ms }")),
    ],
)
def test_each_proposed_change_makes_it_fit_and_nothing_nearer_does(
    tmp_path: Path, engine: str, overrides: tuple[str, ...]
) -> None:
    given = (f"broker.engine={engine}", *overrides)
    plan, findings = plan_flows(*loaded(tmp_path, *given))
    assert plan is None
    assert [finding.code for finding in findings] == ["memory-budget"]
    proposed = re.findall(r"(rate|budget|events)(?: of (\w+))?: (\d+)( B/s)?", findings[0].allowed or "")
    assert proposed
    for key, domain, value, unit in proposed:
        path = f"domains.{domain}.bandwidth.{key}" if domain else "broker.rate"
        for number, fits in ((int(value), True), (int(value) + 1, False)):
            plan, _ = plan_flows(*loaded(tmp_path, *given, f"{path}={number}{unit}"))
            assert (plan is not None) == fits, path


@pytest.mark.req("F3")
def test_a_measured_table_goes_before_the_sum(tmp_path: Path) -> None:
    """Both budgets are 120 MB/s in each direction: 56.25 refills of 64 bytes in 30 us."""
    system, platform = loaded(tmp_path)
    rows: Any = [{"refills": 56, "rate": "900 MB/s"}, {"refills": 57, "rate": "700 MB/s"}]
    curves = platform.memory_budget
    assert curves is not None
    made = type(curves).model_validate(
        {**curves.model_dump(exclude={"table", "cores", "dma"}), "shortest_period": "30 us",
         "cores": ({"rate": "480 MB/s", "utilization": "100 %"},),
         "dma": ({"chunk": 4096, "rate": "2000 MB/s"},), "table": tuple(rows)}
    )  # fmt: skip
    use = memory_use(system, platform.model_copy(update={"memory_budget": made}), 10**6, "zdma", 4096)
    assert use is not None
    assert (use.largest_rate, use.limited_by) == (700_000_000, "table")


@pytest.mark.req("F3")
@pytest.mark.parametrize(
    ("refills", "rate"),
    [
        ((60,), 900),
        ((60, 60), 700),
        ((60, 60, 60), 0),
        ((61,), 600),
        ((40, 20), 900),
        ((30, 30, 30), 600),
        ((90, 1), 0),
    ],
)
def test_rows_of_a_table_are_of_so_many_cores_or_of_their_sum(refills: tuple[int, ...], rate: int) -> None:
    """With the same sum, fewer cores are worse: a row of one core therefore applies to the sum of any
    number."""
    rows = ((1, 60, 900 * 10**6), (1, 90, 600 * 10**6), (2, 60, 700 * 10**6))
    capacity = memory().Capacity(
        curve=((10**13, 1),),  # nothing is used: the table alone decides
        table=rows,
        shortest_period_ns=30_000,
        event_bytes=64,
        broker=1,
        broker_full=10**13,
    )
    parts = [(memory().rate(one, 128, 1, 30_000), 1) for one in refills]
    assert capacity.broker_room(parts) == (rate * 10**6, True)


@pytest.mark.req("F3")
def test_rows_of_a_table_are_in_the_order_of_cores_and_refills() -> None:
    for rows in (((1, 90, 600), (1, 60, 900)), ((2, 60, 700), (1, 60, 900)), ((1, 60, 900), (1, 60, 900))):
        with pytest.raises(
            ValidationError, match="rows of table are not in the order of their cores and refills"
        ):
            with_table(*rows)


@pytest.mark.req("F3", "T4")
def test_a_curve_that_falls_is_refused() -> None:
    """With such a curve, a change that lowers a budget could make the memory busier."""
    falling = ({"rate": "200 MB/s", "utilization": "90 %"}, {"rate": "480 MB/s", "utilization": "80 %"})
    with pytest.raises(ValidationError, match="utilization decreases"):
        MemoryBudget.model_validate(
            {"shortest_period": "30 us", "smallest_budget": 1, "cores": falling,
             "dma": ({"chunk": 4096, "rate": "2000 MB/s"},)}
        )  # fmt: skip


def with_table(*rows: tuple[int, int, int]) -> MemoryBudget:
    """A table with cores, refills and MB/s."""
    table = [{"cores": cores, "refills": refills, "rate": f"{rate} MB/s"} for cores, refills, rate in rows]
    return MemoryBudget.model_validate(
        {"shortest_period": "30 us", "smallest_budget": 1,
         "cores": ({"rate": "480 MB/s", "utilization": "100 %"},),
         "dma": ({"chunk": 4096, "rate": "2000 MB/s"},), "table": tuple(table)}
    )  # fmt: skip


@pytest.mark.req("F3")
def test_near_saturation_the_measured_table_holds_the_engine_and_not_the_sum(tmp_path: Path) -> None:
    """Both have 97 refills of 64 bytes in 30 us, both counted: by the sum, 14 % of 2000 MB/s would be
    left."""
    budget = f"{97 * 64 * 2 * 10**6 // 30} B/s"
    system, platform = loaded(
        tmp_path,
        f"domains.one.bandwidth.budget={budget}",
        f"domains.two.bandwidth={{ budget: {budget}, period: 1 ms }}",
    )
    assert platform.memory_budget is not None
    [row] = [row for row in platform.memory_budget.table if (row.cores, row.refills) == (2, 97)]
    use = memory_use(system, platform, row.rate, "zdma", 4096)
    assert use is not None
    assert (use.largest_rate, use.limited_by, use.fits) == (row.rate, "table", True)
    sums = {part.name: part.utilization for part in use.parts}
    assert (1 - sums["one"] - sums["two"]) * 2000 > 250
    beyond = memory_use(system, platform, row.rate + 1, "zdma", 4096)
    assert beyond is not None
    assert not beyond.fits
    copied = memory_use(system, platform, 1, "cpu-copy", 4096)
    assert copied is not None
    assert copied.limited_by == "utilization", "measured of the engine alone"


@pytest.mark.req("F2", "F3")
def test_the_register_is_the_smallest_that_is_enough(tmp_path: Path) -> None:
    """A step is 128 bytes * 0.5 GHz / 2^12 = 15.625 MB/s."""
    plan = planned(*loaded(tmp_path))
    assert plan.register is not None
    assert plan.register.bytes_per_s == plan.register.value * 15_625_000
    assert plan.register.bytes_per_s >= plan.rate > (plan.register.value - 1) * 15_625_000
    assert plan.memory is not None
    assert plan.memory.rate == plan.register.bytes_per_s, "what the regulator lets through is what counts"
    for rate, value in (("15625 kB/s", 1), ("15625001 B/s", 2), ("500 MB/s", 32)):
        register = planned(*loaded(tmp_path, f"broker.rate={rate}")).register
        assert register is not None
        assert register.value == value


@pytest.mark.req("F4")
@pytest.mark.parametrize(("count", "fits"), [(64, True), (65, False)])
def test_as_many_flows_as_the_analysis_takes(tmp_path: Path, count: int, fits: bool) -> None:
    system, platform = loaded(tmp_path)
    values = {"size": 64, "period": 10**9, "deadline": 10**9}
    flows = [system.flows[0].model_copy(update={**values, "name": f"f{n}", "port": n}) for n in range(count)]
    plan, findings = plan_flows(system.model_copy(update={"flows": tuple(flows)}), platform)
    assert (plan is not None) == fits
    assert [(one.path, one.code, one.allowed) for one in findings] == (
        [] if fits else [(("flows",), "limit", "at most 64")]
    )


@pytest.mark.req("F4")
def test_an_open_rate_is_the_smallest_and_is_said(tmp_path: Path) -> None:
    system, platform = loaded(tmp_path)
    plan = planned(system, platform)
    assert [choice.value for choice in plan.choices if choice.key == "broker.rate"] == [f"{plan.rate} B/s"]
    assert planned(*loaded(tmp_path, f"broker.rate={plan.rate} B/s")).checked.schedulable
    found, findings = plan_flows(*loaded(tmp_path, f"broker.rate={plan.rate - 1} B/s"))
    assert found is None
    assert findings[0].allowed is not None
    assert f"{plan.rate} B/s" in findings[0].allowed


@pytest.mark.req("F3")
def test_overcommit_is_said(tmp_path: Path) -> None:
    system, platform = loaded(tmp_path, "regulation={overcommit: true}", "domains.0.bandwidth=unlimited")
    plan = planned(system, platform)
    assert any("overcommit" in remark for remark in plan.remarks)
    assert plan.memory is not None
    assert plan.memory.unbounded == ("one",)


@pytest.mark.req("F3")
def test_without_isolation_budgets_are_not_asked_for(tmp_path: Path) -> None:
    """`--unprotected` removes all budgets, which alone is no reason to refuse."""
    file = tmp_path / "system.yaml"
    file.write_text(TEXT)
    found = load_system(file, unprotected=True)
    assert found.system is not None
    assert found.platform is not None
    assert any("isolation is off" in remark for remark in planned(found.system, found.platform).remarks)
    open_ended = loaded(tmp_path, "domains.0.bandwidth=unlimited", "domains.1.bandwidth=unlimited")
    plan, findings = plan_flows(*open_ended)
    assert plan is None
    assert {finding.code for finding in findings} == {"memory-unbounded"}


@pytest.mark.req("F5")
def test_assumed_costs_are_said(tmp_path: Path) -> None:
    system, platform = loaded(tmp_path)
    assert platform.flow_costs is not None
    assert not any("assumed" in remark for remark in planned(system, platform).remarks)
    costs = platform.flow_costs.model_copy(update={"assumed": "seen elsewhere"})
    plan = planned(system, platform.model_copy(update={"flow_costs": costs}))
    assert any("seen elsewhere" in remark for remark in plan.remarks)
