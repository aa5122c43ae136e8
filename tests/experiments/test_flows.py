# SPDX-License-Identifier: Apache-2.0
"""Experiment `flows` (S6, F3, F4): its jobs, the evaluation of results, and its continuation after an
interruption."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from bulkhead.campaign.engine import Engine
from bulkhead.env.paths import repository
from bulkhead.experiments import flow_memory, flow_rates, flow_schedules
from bulkhead.experiments.means import Means
from bulkhead.experiments.model import BadExperiment, load_experiment
from bulkhead.experiments.sections import WAYS, costs_of
from bulkhead.experiments.sensitivity import asked, sensitivity
from bulkhead.flows import analysis
from bulkhead.machine.facts import LINE_REFILL
from bulkhead.machine.point import job_platform, run_point
from tests.command_line import run_json
from tests.json_results import parsed

pytestmark = pytest.mark.usefixtures("machine_built")


def ustress(cores: int, refills: int) -> dict[str, Any]:
    points = flow_memory.ustress_jobs((cores,), (refills,))
    return flow_memory.ustress_rows(points, [run_point(one["job"]) for one in points])[0]


def test_f3_budgets_are_what_stressing_cores_get() -> None:
    """Each core has its own budget, on all of them; its refills include those until its interrupt stops
    it."""
    for cores in (1, 4):
        row = ustress(cores, 40)
        assert 40 * cores <= row["refills_got"] <= 44 * cores
        assert row["dram_utilization"] < 0.75


def test_f3_the_published_saturation_is_reached_at_the_published_budgets() -> None:
    row = ustress(3, 90)
    assert row["mb_s"] == pytest.approx(960, rel=0.02)
    assert row["refills_got"] == pytest.approx(225, rel=0.02)


def counted_by(rate: int, most: int, begin: int) -> dict[str, Any]:
    """Result of a model in place of the machine: at `most` no core loses refills; above it one core loses
    some in one period. Beside the engine all take longer for them than alone. Periods that end after `begin`
    count."""
    stopped = (10 if rate == 0 else 5) * 10**6
    core = {"used": [10, 50, 50], "throttled_ps": [0, stopped, stopped]}
    lost = {**core, "used": [10, 50, 50 if rate <= most else 49]}
    return {
        "cores": [{"events": {LINE_REFILL: 3000}}],
        "engines": [{"bytes": 1000}] if rate else [],
        "simulated_ps": flow_rates.WINDOW_PS,
        "regulation": {
            "budgets": [{"core": 0}, {"core": 1}],
            "intervals": {"end_ps": [begin + late for late in (0, 1, 2)], "cores": [core, lost]},
        },
    }


def test_s7_seeds_start_cores_and_the_engine_at_other_times_and_are_measured_when_all_have_started() -> None:
    point = flow_rates.RatePoint("same-bank", 3, 40)
    first, second = (replace(point, seed=seed).beside(51) for seed in (1, 2))
    for job in (first, second):
        starts = [part["start_ps"] for part in job["parts"]] + [job["engines"][0]["start_at_ps"]]
        assert len(set(starts)) == 4
        assert max(starts) <= flow_memory.STARTED_PS
        assert job["from_ps"] == flow_memory.WARM_PS + flow_memory.STARTED_PS
        assert job["until_ps"] - job["from_ps"] == flow_rates.WINDOW_PS
    assert [part["start_ps"] for part in first["parts"]] != [part["start_ps"] for part in second["parts"]]
    assert replace(point, seed=1).key(51) != replace(point, seed=2).key(51)


def test_s7_rates_are_means_over_the_seeds_beside_the_least_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a model in place of the machine: 24 with the first seed, 20 with the others, 18 if all start at
    0."""
    monkeypatch.setattr(flow_rates, "POINTS", (flow_rates.RatePoint("same-bank", 2, 50),))

    def result(job: dict[str, Any]) -> Any:
        rate = job.get("qos", {}).get("adma", {}).get("rate", 0)
        return counted_by(rate, {None: 18, 1: 24}.get(job.get("seed"), 20), job["from_ps"])

    [row] = flow_rates.rate_rows_of_seeds(lambda jobs: [result(job) for _, job in jobs], 3)
    assert (row["rate_mb_s"], row["least_rate_mb_s"]) == (pytest.approx(64 / 3 * 15.625), 18 * 15.625)
    assert row["rate_mb_s_low"] < row["rate_mb_s"] < row["rate_mb_s_high"]
    assert row["seeds"] == 3


def test_f3_the_largest_rate_is_one_beside_which_no_core_loses_refills_in_a_period() -> None:
    """The search's result with a model in place of the machine: at 24 no core loses refills; at 25 one core
    loses some in one period, and all take longer for them than alone."""

    def run(jobs: Any) -> list[Any]:
        rates = (job.get("qos", {}).get("adma", {}).get("rate", 0) for _, job in jobs)
        return [counted_by(rate, 24, flow_memory.WARM_PS) for rate in rates]

    points = [flow_rates.RatePoint(placement, 2, 50) for placement in ("pages", "same-bank")]
    rows = flow_rates.rate_rows(run, points)
    assert [row["register"] for row in rows] == [24, 24]
    assert rows[0]["rate_mb_s"] == 24 * 15.625
    assert (rows[0]["us_alone"], rows[0]["us_beside"], rows[0]["slowdown"]) == (20, 25, 1.25)
    assert set(WAYS["rates"].columns) <= {*rows[0], "least_rate_mb_s"}


def test_s7_the_headline_is_a_row_of_the_table_and_moves_with_what_is_assumed() -> None:
    """Three cores beside the engine at the table's rate take longer for their refills; a longer way to memory
    changes that."""

    def run(jobs: Any) -> list[Any]:
        return [run_point(job) for _, job in jobs]

    what = asked(load_experiment("flows"), Fraction(1, 4), ("interconnect.answer",), run)
    rows = list(sensitivity(what, run))
    [as_it_is] = [row for row in rows if not row["side"]]
    assert as_it_is["headline"] is not None and as_it_is["headline"] > 1.2
    assert {row["side"] for row in rows} == {"", "less", "more"}
    assert any(row["change_percent"] for row in rows)


def test_f3_the_platform_s_table_is_what_the_machine_bears() -> None:
    """Rows are of one, two and three cores: at the rate no core loses refills, whenever cores and engine
    start; one step above it, one does with some start."""
    budget = job_platform({"platform": flow_memory.PLATFORM}).memory_budget
    assert budget is not None
    for cores, refills in ((1, 180), (2, 90), (3, 40)):
        [row] = [row for row in budget.table if (row.cores, row.refills) == (cores, refills)]
        register = int(row.rate / flow_memory.allowed_mb_s(1) / 10**6)
        starts = [flow_rates.RatePoint("same-bank", cores, refills, seed) for seed in (None, 1, 2, 3)]
        least = [
            min(flow_rates.least_used(point, run_point(point.beside(rate))) for point in starts)
            for rate in (register, register + 1)
        ]
        assert least[0] >= flow_rates.UNAFFECTED * refills > least[1]


def test_f2_the_engine_keeps_to_its_regulator() -> None:
    points = flow_memory.dma_jobs((64,), (10,))
    row = flow_memory.dma_rows(points, [run_point(points[0]["job"])])[0]
    assert row["mb_s"] == pytest.approx(row["allowed_mb_s"], rel=0.02)


def test_f4_half_of_the_sets() -> None:
    rows = [{"utilization": 0.1 * n, "ratio": ratio} for n, ratio in enumerate((1, 1, 0.75, 0.25, 0))]
    assert flow_schedules.half_ratio(rows) == pytest.approx(0.25)


def test_f4_a_system_s_flow_needs_more_than_a_plain_one() -> None:
    """Its control packets are reserved. One ns less is refused."""
    costs = costs_of("zcu102")
    plain = analysis.smallest_period(costs, 4096, 148_000_000, senders=2)
    period = flow_schedules.smallest_system_period(costs, 4096, 148_000_000)
    assert plain is not None and period is not None
    assert period > plain


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("  ustress:", "  ustres:"), "sections.ustres: there is no section"),
        (("y: rate_mb_s", "y: rate_mbs"), "sections.rates.plots[0].y: there is no result"),
        (
            ("where: { regulated:", "where: { regulate:"),
            "dma.plots[0].where.regulate: there is no value",
        ),
        (("platform: zcu102", "platform: zynq7020"), "platform: "),
    ],
)
def test_s6_names_in_the_file_that_nothing_has_are_refused(
    tmp_path: Path, change: tuple[str, str], said: str
) -> None:
    text = (repository() / "experiments" / "flows.yaml").read_text()
    file = tmp_path / "mine.yaml"
    file.write_text(text.replace(*change, 1))
    with pytest.raises(BadExperiment) as refused:
        load_experiment(str(file))
    assert said in str(refused.value)


def test_s6_columns_that_plots_can_have_are_in_the_rows() -> None:
    row = ustress(1, 40)
    assert set(WAYS["ustress"].columns) <= set(row)
    points = flow_memory.dma_jobs((64,), (10,))
    assert set(WAYS["dma"].columns) <= set(flow_memory.dma_rows(points, [run_point(points[0]["job"])])[0])


def schedulable(directory: Path) -> list[dict[str, Any]]:
    means = Means("flows", directory, Engine(1), run_system=no_system)
    return WAYS["schedulable"].rows(means)


def no_system(*_: Any) -> Any:
    raise AssertionError("no packet is needed to know what is schedulable")


def test_s6_a_section_is_the_same_again_and_goes_on_where_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A section is measured twice, in two places; then with all results kept, and with one of them
    deleted."""
    monkeypatch.setattr(flow_schedules, "SETS", 10)
    measured: list[dict[str, Any]] = []
    real = flow_schedules.ratio_rows

    def counted(point: dict[str, Any], *rest: Any) -> list[dict[str, Any]]:
        measured.append(point)
        return real(point, *rest)

    monkeypatch.setattr(flow_schedules, "ratio_rows", counted)
    points = flow_schedules.ratio_points()
    rows = schedulable(tmp_path / "a")
    assert rows == schedulable(tmp_path / "b")
    assert measured == points * 2
    assert len(rows) == len(points) * 20
    assert {row["ratio"] for row in rows} > {0.0, 1.0}

    measured.clear()
    assert schedulable(tmp_path / "a") == rows
    assert measured == []
    gone = sorted((tmp_path / "a" / "points").iterdir())[0]
    gone.unlink()
    assert schedulable(tmp_path / "a") == rows
    assert len(measured) == 1
    assert gone.is_file()


@pytest.mark.slow
def test_s6_the_command_leaves_a_table_and_a_page_of_each_section() -> None:
    command = [sys.executable, "-m", "bulkhead.cli", "experiment", "flows", "--only", "schedulable", "--json"]
    answer = parsed(subprocess.run(command, capture_output=True, check=True).stdout)
    rows = answer["rows"]
    assert {row["section"] for row in rows} == {"schedulable"}
    assert len(rows) == len(flow_schedules.ratio_points()) * 20
    for name in ("rows.csv", "rows.parquet", "report.html"):
        assert any(file.endswith(f"schedulable/{name}") and Path(file).is_file() for file in answer["files"])


def test_s6_sections_that_are_none_are_refused() -> None:
    code, refused = run_json("experiment", "flows", "--only", "ustres")
    assert code == 1
    assert "ustress" in refused["reasons"][0]
