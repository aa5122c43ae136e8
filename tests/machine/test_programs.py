# SPDX-License-Identifier: Apache-2.0
"""Workloads as parts of a job: their own memory, times of their iterations, failures with a reason."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from bulkhead.machine.answer import PointAnswer, ProgramAnswer
from bulkhead.machine.point import run_point
from bulkhead.machine.programs import ProgramFailed, counted, iterations_in

pytestmark = [pytest.mark.usefixtures("workloads_built"), pytest.mark.req("S5")]

KIB = 1024


def part(workload: str, core: int, **more: Any) -> dict[str, Any]:
    return {"name": workload, "workload": workload, "core": core, "memory_bytes": 20 * KIB * KIB} | more


def job(*parts: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"platform": "s32v234", "parts": list(parts)} | more


def mean_ps(result: PointAnswer, leave_out: int = 1) -> list[float]:
    found = counted(result["programs"], leave_out)
    return [sum(one.time_ps for one in own) / len(own) for own in found]


def program(first_ps: int | None, iterations: Sequence[Sequence[int]]) -> ProgramAnswer:
    return {
        "name": "program",
        "core": 0,
        "ended": True,
        "status": 0,
        "output": "",
        "trouble": None,
        "first_ps": first_ps,
        "iterations": iterations,
    }


def test_iterations_count_from_when_all_iterate() -> None:
    """Marks of other programs and an iteration without its end are no iterations; the longest preparation
    decides."""
    one = iterations_in([[1, 10], [7, 12], [2, 20], [1, 20], [2, 33], [1, 40], [2, 50], [1, 50]])
    assert one == [(10, 10), (20, 13), (40, 10)]
    early = program(10, one)
    late = program(30, [(30, 5), (35, 6)])
    assert counted([early, late], 0) == [[(40, 10)], [(30, 5), (35, 6)]]
    assert counted([early, late], 1) == [[(40, 10)], [(35, 6)]]
    assert counted([early, program(None, [])], 0) == [[], []]


def test_a_workload_runs_to_its_end_and_its_marks_are_the_times_that_it_reports() -> None:
    result = run_point(job(part("corners", 1, params={"small": 1, "iterations": 3, "seed": 7})))
    program = result["programs"][0]
    assert result["ending"] in ("stopped", "idle")
    assert program["ended"]
    line = program["output"].splitlines()[-1]
    report = json.loads(line.removeprefix("report "))
    assert report["correct_permille"] > 900
    # The program reads its clock just outside of the marks.
    times = [time / 1000 for _, time in program["iterations"]]
    assert len(times) == report["iterations"] == 3
    assert max(times) == pytest.approx(report["iteration_ns"]["max"], rel=1e-4)
    assert min(times) == pytest.approx(report["iteration_ns"]["min"], rel=1e-4)


def test_an_endless_part_runs_as_long_as_another_has_work() -> None:
    first = part("matmul", 0, params={"small": 1, "iterations": 2})
    result = run_point(job(first, part("membomb", 2, endless=True, params={"size_kib": 64})))
    assert [program["ended"] for program in result["programs"]] == [True, False]
    assert len(result["programs"][1]["iterations"]) > 5


def test_counts_from_the_iterations_on_leave_out_what_was_prepared() -> None:
    """Drawing an image does not count for the workload: instructions and time begin with the iterations."""
    corners = job(part("corners", 0, params={"width": 320, "height": 240}), iterations=2)
    whole, counted_only = run_point(corners), run_point({**corners, "from_iterations": True})
    assert counted_only["programs"] == whole["programs"]
    prepared_ps = whole["simulated_ps"] - counted_only["simulated_ps"]
    first_ps = whole["programs"][0]["first_ps"]
    assert first_ps is not None
    assert first_ps <= prepared_ps <= first_ps + 1_000_000_000, "seen a millisecond later at most"
    core = counted_only["cores"][0]
    assert core["cycles"] == pytest.approx(counted_only["simulated_ps"] / 1000, rel=0.01)
    assert core["instructions"] < 0.95 * whole["cores"][0]["instructions"]


def test_each_program_gets_its_iterations_beside_the_other_and_the_same_ones_again() -> None:
    both = job(
        part("latency", 0, params={"size_kib": 512}),
        part("membomb", 2, params={"size_kib": 64}),
        iterations=3,
        leave_out=1,
    )
    result = run_point(both)
    assert result["ending"] == "iterated"
    assert all(len(own) >= 3 for own in counted(result["programs"], 1))
    assert run_point(both) == result


def test_memory_of_a_program_has_its_colors() -> None:
    """C5 for programs: with disjoint colors neither evicts a line of the other; otherwise both do."""
    reader = part("bandwidth", 0, memory_bytes=KIB * KIB, params={"size_kib": 200})
    other = part("stride", 1, memory_bytes=2 * KIB * KIB, params={"size_kib": 1024})
    more = {"platform": "rpi2", "iterations": 3}
    shared = run_point(job(reader, other, **more))
    apart = run_point(job({**reader, "colors": [0, 1, 2, 3]}, {**other, "colors": [4, 5, 6, 7]}, **more))
    lost = [
        [owner["evicted_by_others"] for owner in result["levels"]["l2"]["owners"][1:]]
        for result in (shared, apart)
    ]
    assert min(lost[0]) > 100
    assert lost[1] == [0, 0]


def test_memory_beside_a_core_that_writes_is_slower_and_computing_is_not() -> None:
    """The core is in another cluster, so only the DRAM is shared: chasing pointers beyond the L2 is slowed
    down, a product in the L1 is not."""
    bomb = part("membomb", 2, params={"size_kib": 1024})
    for victim, low, high in (
        (part("latency", 0, params={"size_kib": 512}), 1.3, 20.0),
        (part("matmul", 0, params={"small": 1}), 0.99, 1.02),
    ):
        alone = run_point(job(victim, iterations=2, leave_out=1))
        beside = run_point(job(victim, bomb, iterations=2, leave_out=1))
        assert low < mean_ps(beside)[0] / mean_ps(alone)[0] < high, victim["name"]


def test_what_fails_is_said_with_its_name() -> None:
    with pytest.raises(ProgramFailed, match="'nothing' failed: usage"):
        run_point(job(part("nothing", 0)))
    with pytest.raises(ProgramFailed, match="'nothing' ended: usage"):
        run_point(job(part("nothing", 0), iterations=1))
    with pytest.raises(ProgramFailed, match=r"'disparity' failed: .*too little memory"):
        run_point(job(part("disparity", 0, memory_bytes=400 * KIB)))
    with pytest.raises(ValueError, match="no core 4"):
        run_point(job(part("matmul", 4)))
    with pytest.raises(ValueError, match="something to do"):
        run_point(job(part("matmul", 0), part("matmul", 0)))
