# SPDX-License-Identifier: Apache-2.0
"""Budgets and regulators of a job: their effect on the machine, and refusals."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bulkhead.machine.native import load_machine
from bulkhead.machine.point import run_point
from bulkhead.machine.regulation import BadRegulation, described, problems_of, unenforceable
from bulkhead.machine.settings import settings_of

from ..platforms import platform

pytestmark = pytest.mark.usefixtures("machine_built")

ROOT = Path(__file__).parents[2]
MS = 10**9  # in ps


def walker(core: int, **more: Any) -> dict[str, Any]:
    return {
        "name": f"walker-{core}",
        "core": core,
        "memory_bytes": 4 << 20,
        "kind": "read",
        "instructions": 2,
        "walks": 0,
    } | more


def job(*parts: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"platform": "s32v234", "parts": list(parts), "until_ps": 40 * MS} | more


def test_a_part_reads_as_many_lines_as_its_budget_allows() -> None:
    limited = walker(0, bandwidth={"budget": "64 MB/s", "period": "2 ms"})
    found = run_point(job(limited, walker(2)))
    events = [core["events"]["l2d_refill"] for core in found["cores"]]
    assert events[0] == pytest.approx(20 * 2000, rel=0.02)  # 64 MB/s are 2000 lines in 2 ms
    assert events[2] > 5 * events[0]
    (budget,) = found["regulation"]["budgets"]
    assert budget["core"] == 0
    assert budget["throttled_periods"] == 20
    assert budget["overshoot_max_events"] <= 32
    assert run_point(job(limited, walker(2))) == found


def test_events_are_what_is_counted() -> None:
    """Four beats are a line. EL2's own reads in its interrupts are additional: some lines a period."""
    for event, counted, limit in (("BUS_ACCESS", "beats", 20_000), ("MEM_ACCESS", "memory_access", 5000)):
        limited = walker(0, kind="write", bandwidth={"events": limit, "event": event})
        found = run_point(job(limited))
        assert found["cores"][0]["events"][counted] == pytest.approx(40 * limit, rel=0.02)


def test_a_rate_in_beats_is_the_rate_in_lines() -> None:
    """It counts each line that comes, and the one that L1 evicts for it: L2 gets lines when L1 evicts
    them."""
    rates = [
        run_point(job(walker(0, bandwidth={"budget": "64 MB/s", "event": event})))
        for event in ("BUS_ACCESS", "L2D_CACHE_REFILL")
    ]
    beats, refills = (found["cores"][0]["events"]["l2d_refill"] for found in rates)
    assert 2 * beats == pytest.approx(refills, rel=0.05)


def test_a_sum_counts_refills_and_write_backs() -> None:
    limited = walker(0, kind="update", bandwidth={"events": 5000, "counts": "sum"})
    events = run_point(job(limited))["cores"][0]["events"]
    assert events["l2d_refill"] + events["l2d_write_back"] == pytest.approx(40 * 5000, rel=0.02)
    assert events["l2d_write_back"] > 40 * 1500


def test_what_is_spent_stops_nothing_if_it_shall_not() -> None:
    free = run_point(job(walker(0)))
    measured = run_point(job(walker(0, bandwidth={"events": 10, "suspend": False})))
    (budget,) = measured["regulation"]["budgets"]
    assert budget["throttled_ps"] == 0
    assert budget["interrupts"]["overflows"] == 40
    lost = 1 - measured["cores"][0]["events"]["l2d_refill"] / free["cores"][0]["events"]["l2d_refill"]
    assert 0 < lost < 0.02


def test_the_regulator_keeps_the_memory_as_busy_as_it_may_be() -> None:
    """Both walkers together would keep it busier; the real-time one is never stopped."""
    parts = [walker(0, criticality="rt", instructions=400), walker(2)]
    busy = {
        share: run_point(
            job(*parts, regulation={"policy": "dynamic", "threshold": f"{share} %"}, until_ps=120 * MS)
        )
        for share in (60, 80)
    }
    for share, found in busy.items():
        intervals = found["regulation"]["intervals"]
        late = slice(80, 120)
        utilization = sum(intervals["busy_cycles"][late]) / sum(intervals["cycles"][late])
        assert utilization == pytest.approx(share / 100, abs=0.03)
        assert [one["core"] for one in found["regulation"]["budgets"]] == [2]
        assert found["regulation"]["regulator"]["missed"] == 0
    lines = [found["cores"][2]["events"]["bus_access"] for found in busy.values()]
    assert lines[0] < lines[1]


def test_intervals_add_up_to_what_was_counted() -> None:
    found = run_point(job(walker(0), walker(2), regulation={"policy": "none", "interval": "4 ms"}))
    intervals = found["regulation"]["intervals"]
    assert intervals["end_ps"] == [4 * MS * number for number in range(1, 10)]
    for core in (0, 2):
        counted = sum(intervals["cores"][core]["lines"])
        assert counted == pytest.approx(found["cores"][core]["events"]["bus_access"] * 9 / 10, rel=0.02)
    assert run_point(job(walker(0), walker(2)))["digest"] == found["digest"], "looking changes nothing"


@pytest.mark.parametrize(
    ("part", "regulation", "reason"),
    [
        ({"bandwidth": {"budget": "5 MB"}}, {}, "part 'walker-0', bandwidth.budget: unknown unit 'MB'"),
        ({"bandwidth": {"budget": "5 MB/s", "events": 5}}, {}, "has both budget and events"),
        ({"bandwidth": {"events": -5}}, {}, "bandwidth.events"),
        ({"bandwidth": {"budget": "5 MB/s", "period": "0 ms"}}, {}, "bandwidth.period"),
        ({"bandwidth": {"budget": "5 MB/s", "count": "sum"}}, {}, "bandwidth.count"),
        ({"bandwidth": {"budget": "5 MB/s", "event": "CYCLES"}}, {}, "'CYCLES' is not one of BUS_ACCESS"),
        ({"bandwidth": {"budget": "5 MB/s", "write": "5 MB/s"}}, {}, "needs `counts: each`"),
        ({}, {"policy": "dynamik"}, "regulation.policy"),
        ({}, {"policy": "dynamic", "threshold": "950 MB/s"}, "regulation.threshold: `dynamic` needs a share"),
        ({}, {"policy": "dynamic-bandwidth"}, "`dynamic-bandwidth` a rate"),
        ({}, {"policy": "dynamic", "step": "0 %"}, "regulation.step"),
        ({"criticality": "rt"}, {"policy": "dynamic"}, "no core is regulated"),
        ({}, {"policy": "dynamic", "floor": "60 MB/s"}, "above an initial budget"),
        ({}, {"policy": "dynamic", "ceiling": "10 MB/s"}, "the ceiling is"),
    ],
)
def test_what_cannot_be_is_refused(part: dict[str, Any], regulation: dict[str, Any], reason: str) -> None:
    with pytest.raises(ValueError) as refused:
        run_point(job(walker(0, **part), regulation=regulation))
    assert reason in str(refused.value)


@pytest.mark.req("B7")
@pytest.mark.parametrize(
    ("of_rt", "counts", "of_all", "of_regulated"),
    [
        ("sum", "sum", 1, 1),
        ("sum", "refills", 2, 2),
        ("refills", "sum", 2, 1),  # the regulated part's own lines are all counted
        ("writebacks", "writebacks", 1, 1),
    ],
)
def test_saturation_and_ceiling_hold_with_the_lines_written_back(
    of_rt: str, counts: str, of_all: int, of_regulated: int
) -> None:
    """As for EL2 (tests/config/test_regulated_traffic.py). What the machine measures at the memory has all
    lines."""
    budget = {"budget": "64 MB/s", "period": "1 ms"}
    parts = (
        walker(0, criticality="rt", bandwidth={**budget, "counts": of_rt}),
        walker(2, bandwidth={**budget, "counts": counts}),
    )
    bounds = {"ceiling": "256 MB/s", "saturation": "512 MB/s", "floor": "6.4 MB/s"}
    found = [
        described(job(*parts, regulation={**bounds, **policy}), platform("s32v234"), [0] * 4)["regulator"]
        for policy in ({"policy": "dynamic"}, {"policy": "dynamic-bandwidth", "threshold": "384 MB/s"})
    ]
    for one in found:
        assert one["saturation_events"] == 8000 // of_all
        assert one["ceiling_events"] == 4000 // of_regulated
        assert one["floor_events"] == 100
    assert found[1]["bandwidth_threshold_events"] == 6000


@pytest.mark.req("B10")
def test_the_smallest_budget_is_one_of_lines_also_where_beats_are_counted() -> None:
    board = platform("zcu102")
    assert board.memory_budget is not None and board.memory_budget.smallest_budget == 50
    for event, events in (("L2D_CACHE_REFILL", 50), ("BUS_ACCESS", 200)):
        refused = [
            unenforceable(job(walker(0, bandwidth={"budget": f"{rate} B/s", "event": event})), board)
            for rate in (50 * 64 * 1000, 50 * 64 * 1000 - 1)
        ]
        assert refused[0] == []
        assert f"{events} is the least that can be enforced" in refused[1][0]


def test_keys_are_checked_without_a_platform() -> None:
    (problem,) = problems_of(job(walker(0, bandwidth={"budget": "x"})))
    assert "walker-0" in problem
    assert problems_of(job(walker(0, bandwidth="unlimited"))) == []


def test_a_platform_without_an_event_is_refused_by_name() -> None:
    board = platform("s32v234").model_copy(update={"pmu": None})
    with pytest.raises(BadRegulation, match="has no event"):
        described(job(walker(0, bandwidth={"budget": "5 MB/s"})), board, [])


def test_the_machine_says_which_key_is_wrong_and_is_regulated_once() -> None:
    machine = load_machine(json.dumps(settings_of(platform("s32v234"))))
    with pytest.raises(ValueError, match=r"budgets\[0\]\.corr: no budget has this"):
        machine.regulate(json.dumps({"budgets": [{"corr": 1}]}))
    with pytest.raises(ValueError, match=r"budgets\[0\]\.events: 'x' is not known"):
        machine.regulate(json.dumps({"budgets": [{"events": ["x"]}]}))
    machine.regulate(json.dumps({}))
    with pytest.raises(ValueError, match="already"):
        machine.regulate(json.dumps({}))


def test_b11_the_policy_that_the_docs_show_is_the_one_that_is_built() -> None:
    page = (ROOT / "docs" / "guide" / "own-policy.md").read_text()
    assert (ROOT / "core" / "regulator_turns.c").read_text() in page


READ_EVERY = 100 * MS
HORIZON_MS, THRESHOLD, INTERVAL_MS = 100, 0.05, 1


def burst_times_ms(attack: dict[str, Any] | None, **regulation: Any) -> list[float]:
    """How long a real-time core takes for 32 MiB that it reads every 100 ms, beside three cores that
    begin to write when it begins to read."""
    reader = walker(0, memory_bytes=32 << 20, walks=2, period_ps=READ_EVERY, criticality="rt")
    budget = {"budget": "50 MB/s", "counts": "sum"}
    writers: list[dict[str, Any]] = []
    more: dict[str, Any] = {}
    if attack is not None:
        writer = {"memory_bytes": 16 << 20, "kind": "write", "period_ps": READ_EVERY, "bandwidth": budget}
        writers = [walker(core, **(writer | attack)) for core in (1, 2, 3)]
        more = {"policy": "dynamic-delay", "threshold": "5 %", "horizon": f"{HORIZON_MS} ms"} | regulation
        more = {"regulation": more}
    found = run_point(job(reader, *writers, until_ps=READ_EVERY + 90 * MS, **more))
    times: list[int] = found["walks"][0]["walk_ps"]
    assert len(times) == 2, "a read has not ended within 90 ms"
    return [time / MS for time in times]


@pytest.mark.slow
@pytest.mark.req("B11")
@pytest.mark.parametrize(
    "attack", [{"stride_bytes": 32, "access_bytes": 32}, {"pattern": "one-bank"}], ids=["whole", "bank"]
)
def test_b11_attackers_who_know_when_others_read_stay_within_the_promise(attack: dict[str, Any]) -> None:
    """docs/design/bandwidth.md, The promise. The interval in which a read begins is unforeseen. A regulator
    that is configured with too short delays does not stop attackers in time."""

    def promised_ms(time_ms: float) -> float:
        return THRESHOLD * (time_ms + HORIZON_MS) + 2 * INTERVAL_MS  # floors delay by less than an interval

    alone = burst_times_ms(None)
    held = burst_times_ms(attack)
    told_too_little = burst_times_ms(attack, delay="1 ns", cluster_delay="1 ns")
    assert all(time - before < promised_ms(time) for time, before in zip(held, alone, strict=True))
    assert held[1] > 1.01 * alone[1], "nobody attacks"
    assert told_too_little[1] - alone[1] > promised_ms(told_too_little[1])
