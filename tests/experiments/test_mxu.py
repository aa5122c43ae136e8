# SPDX-License-Identifier: Apache-2.0
"""Experiment `mxu` (X7): the evaluation of misses and times, the systems, and three points on the simulated
machine whose misses can be counted by hand."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bulkhead.campaign.engine import Engine
from bulkhead.campaign.points import PointFailed
from bulkhead.experiments import mxu, mxu_systems
from bulkhead.experiments.means import Means
from bulkhead.experiments.model import BadExperiment, Sectioned, load_experiment
from bulkhead.experiments.mxu_rows import (
    ProgramNotMeasured,
    between,
    cost_row,
    measured_row,
    per_access,
)
from bulkhead.experiments.mxu_runs import MxuPoint, report_of, run_points
from bulkhead.experiments.override import full, quick, with_seeds
from bulkhead.mxu.native import spec_flags

GHZ = 10**9


def test_costs_of_single_misses_become_mean_deviation_percentile_and_maximum() -> None:
    costs = {20: 97, 40: 2, 300: 1}
    row = cost_row(costs)
    assert row["mean"] == (97 * 20 + 2 * 40 + 300) / 100
    values = [20] * 97 + [40] * 2 + [300]
    assert math.isclose(row["deviation"], math.sqrt(sum((v - row["mean"]) ** 2 for v in values) / 100))
    assert (row["p99"], row["max"]) == (40, 300)
    assert cost_row({5: 1})["p99"] == 5
    assert cost_row({5: 98, 6: 2})["p99"] == 6
    assert cost_row({}) == {"mean": None, "deviation": None, "p99": None, "max": None}


def counts(
    clock_ps: int, walk_ps: int, instructions: int, costs: list[list[int]], kernel: int = 0
) -> dict[str, Any]:
    """Walks of the benchmark, ten walks of 40 cycles of the scheduler, and some of 35 cycles of the
    kernel."""
    core = {"clock_ps": clock_ps, "stall_ps": {"walk": walk_ps}, "instructions": instructions}
    spaces = [{"asid": 2, "costs": [[40, 10 * (instructions > 1000)]]}, {"asid": 3, "costs": costs}]
    return {"cores": [core], "walk_costs": spaces, "kernel_walk_costs": [[35, kernel]]}


def marks(begin: dict[str, Any], end: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"mark": 1, "counts": begin}, {"mark": 2, "counts": end}]


REPORT = {"program": "stride", "clocks": 500, "clock_hz": GHZ, "disturbed": 5}


def test_a_row_is_what_happened_between_the_marks() -> None:
    begin = counts(1_000_000, 50_000, 1000, [[20, 10], [30, 1]])
    end = counts(2_500_000, 1_050_000, 1400, [[20, 12], [25, 2], [30, 1]], kernel=4)
    assert between(begin, end) == {20: 2, 25: 2}
    row = measured_row(marks(begin, end), REPORT, GHZ)
    assert (row["cycles"], row["check_cycles"], row["check_share"]) == (1500, 1000, 1000 / 1500)
    assert (row["near"], row["of_others"], row["of_kernel"]) == (0.5, 0.4, 0.14)
    assert math.isclose(row["of_hits"], (1000 - 90 - 400 - 140) / 1000)
    assert (row["misses"], row["miss_mean"], row["miss_max"], row["instructions"]) == (4, 22.5, 25, 400)
    assert math.isclose(row["between_us"], 0.1)
    assert per_access(row, 8) == {
        "cycles_an_access": 187.5,
        "check_an_access": 125,
        "misses_an_access": 0.5,
    }


def test_on_an_mpu_the_check_is_the_refills() -> None:
    begin, end = (
        counts(at, 0, 0, []) | {"mpu": {"miss_costs": costs}} for at, costs in ((0, []), (10**6, [[99, 4]]))
    )
    row = measured_row(marks(begin, end), {**REPORT, "disturbed": 0}, GHZ)
    assert (row["check_cycles"], row["misses"], row["between_us"]) == (396, 4, None)


def test_who_did_not_come_to_the_end_is_not_measured() -> None:
    one = counts(0, 0, 0, [])
    with pytest.raises(ProgramNotMeasured, match="did not reach its mark 2"):
        measured_row(marks(one, one)[:1], REPORT, GHZ)
    with pytest.raises(ProgramNotMeasured, match="stride: no memory"):
        measured_row(marks(one, one), {**REPORT, "error": "no memory"}, GHZ)
    with pytest.raises(ProgramNotMeasured, match=r"did not report: .*killed"):
        report_of(["[kernel 0.1] patterns killed"], "patterns")


def test_several_seeds_become_means_with_intervals_and_the_largest_miss(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The runs are invented: the time and the largest miss grow with the seed."""

    def run(_means: Means, _what: str, points: list[MxuPoint]) -> list[dict[str, Any]]:
        return [
            point.values
            | dict.fromkeys(mxu.MEASURED, 1.0)
            | {"cycles": 100.0 + point.seed, "miss_max": 10 * point.seed, "report": {}, "digest": "d"}
            for point in points
        ]

    monkeypatch.setattr(mxu, "run_points", run)
    means = Means("mxu", tmp_path, Engine(1), lambda *_: pytest.fail("runs no system by itself"), seeds=3)
    row = mxu.rows_of("ways", means)[0]
    assert (row["cycles"], row["miss_max"], row["seeds"]) == (102, 30, 3)
    assert row["cycles_low"] < 102 < row["cycles_high"]
    assert "seeds" not in mxu.rows_of("ways", replace(means, seeds=1))[0]


def test_savings_and_overheads_are_relative_to_the_same_point() -> None:
    rows = [
        {"pattern": "random", "case": case, "period_us": period, "check_cycles": check, "cycles": cycles}
        for case, period, check, cycles in (
            ("plain", 10, 100.0, 1000),
            ("ocm", 10, 32.0, 900),
            ("plain", 100, 50.0, 800),
            ("ocm", 1000, 32.0, 900),
        )
    ]
    saved = mxu.beside(rows, lambda _row: {"case": "plain"}, "saved", lambda own, plain: 1 - own / plain)
    assert [row["saved"] for row in saved] == [0, 0.6799999999999999, 0, None]
    more = mxu.beside(rows, lambda _row: {"case": "plain"}, "overhead", lambda own, other: own / other - 1)
    assert math.isclose(more[1]["overhead"], -0.1)


def test_regions_and_ways_are_divided_as_said() -> None:
    assert mxu_systems.regions(3, 1) == 3  # of eight: three dynamic, one static, the stack's
    assert mxu_systems.ways_mask(0) == 0
    assert [mxu_systems.ways_mask(ways).bit_count() for ways in range(1, 9)] == list(range(1, 9))
    assert all(mxu_systems.ways_mask(ways) & 0x80 for ways in range(1, 9))
    assert mxu_systems.ways_mask(2) == 0xC0


@pytest.mark.parametrize("section", mxu.SECTIONS)
def test_points_have_keys_of_their_own_and_a_quick_form_has_fewer(section: str) -> None:
    usual, small, full = (mxu.SECTIONS[section](of)[0] for of in mxu.SIZES)
    assert len({point.key for point in usual}) == len(usual) == len(full) >= len(small) > 0
    assert not {str(point.system) for point in small} & {str(point.system) for point in usual}
    assert {point.key for point in usual}.isdisjoint(replace(point, seed=2).key for point in usual)


def test_seeds_change_the_machine_and_programs_with_numbers_of_their_own() -> None:
    one = MxuPoint({"case": "x"}, mxu_systems.mmu_pattern("random", "plain", 64))
    two = replace(one, seed=2)
    assert one.seeded() == one.system
    assert two.seeded()["components"][0]["params"]["seed"] == 2
    assert (one.on({})["seed"], two.on({})["seed"]) == (1, 2)
    sqlite = MxuPoint({"case": "x"}, mxu_systems.mmu_app("sqlite", {"rows": 1}, "plain", 0), seed=2)
    assert sqlite.seeded() == sqlite.system


def test_what_is_assumed_is_changed_where_the_machine_has_it() -> None:
    settings = {
        "cores": [{"mmu": {"walk_cycles": 10}}, {"mmu": {"walk_cycles": 10}}],
        "levels": [{"latency_ps": 1}],
        "regions": [{"latency_ps": 1}],
    }
    point = MxuPoint({"case": "x"}, {}, changes=tuple(mxu_systems.assumed("walk", 5)))
    assert [core["mmu"]["walk_cycles"] for core in point.on(settings)["cores"]] == [5, 5]
    point = MxuPoint({"case": "x"}, {}, changes=tuple(mxu_systems.assumed("latency", 767)))
    assert point.on(settings)["levels"] == point.on(settings)["regions"] == [{"latency_ps": 10**6}]
    assert settings["levels"] == [{"latency_ps": 1}]


def test_the_file_has_all_sections_and_a_quick_form() -> None:
    whole = load_experiment("mxu")
    assert isinstance(whole, Sectioned)
    assert set(whole.sections) == set(mxu.SECTIONS)
    small = quick(whole)
    assert isinstance(small, Sectioned)
    assert small.size == "quick"
    assert with_seeds(whole, 3).seeds == 3
    large = full(whole)
    assert isinstance(large, Sectioned)
    assert large.size == "full"
    with pytest.raises(BadExperiment, match="--full: 'coloring' has no larger set"):
        full(load_experiment("coloring"))
    flows = load_experiment("flows")
    assert with_seeds(flows, 5).seeds == 5, "some of its sections have seeds"
    assert isinstance(flows, Sectioned)
    unseeded = flows.model_copy(update={"sections": {"dma": flows.sections["dma"]}})
    with pytest.raises(BadExperiment, match="--seeds 3: 'flows' has no section with seeds"):
        with_seeds(unseeded, 3)


@pytest.mark.req("X7", "X4")
def test_misses_on_the_machine_are_those_that_can_be_counted(tmp_path: Path) -> None:
    """Three of eight regions are loaded, so five of eight random accesses miss. A stride over more pages than
    the TLB has entries misses once in sixteen accesses, and never if the entries are locked."""
    accesses = 16384
    points = [
        MxuPoint({"case": "mpu"}, mxu_systems.mpu_pattern("random", "dynamic", accesses)),
        MxuPoint({"case": "plain"}, mxu_systems.mmu_pattern("stride", "plain", accesses)),
        MxuPoint({"case": "locked"}, mxu_systems.mmu_pattern("stride", "locked", accesses)),
    ]
    means = Means("mxu", tmp_path, Engine(2), lambda *_: pytest.fail("runs no system by itself"))
    mpu, plain, locked = run_points(means, "test", points)
    assert mpu["misses"] == pytest.approx(accesses * 5 / 8, rel=0.02)
    assert mpu["misses"] == pytest.approx(mpu["report"]["refills"], abs=1)
    assert plain["misses"] == pytest.approx(accesses / 16, rel=0.01)
    assert (locked["misses"], locked["check_cycles"]) == (0, 0)
    assert plain["cycles"] - locked["cycles"] == pytest.approx(plain["check_cycles"], rel=0.2)
    again = run_points(means, "test", points)  # number of kept results
    assert [row["digest"] for row in again] == [mpu["digest"], plain["digest"], locked["digest"]]
    refused = mxu_systems.mmu_pattern("stride", "locked", accesses)
    refused["components"][0]["params"]["spec"] = spec_flags(("deterministic", "independent"))
    refused["components"][0]["params"]["bytes"] = 80 * mxu_systems.MIB
    with pytest.raises(PointFailed, match="no memory with this specification"):
        run_points(means, "test", [MxuPoint({"case": "refused"}, refused)])
    one_region = MxuPoint({"case": "1"}, mxu_systems.mpu_app("cnn", {}, "1"), may_be_refused=True)
    assert "can need 2 dynamic regions at once" in run_points(means, "test", [one_region])[0]["refused"]
