# SPDX-License-Identifier: Apache-2.0
"""Published figures: one checked file, each figure with its source and how it was measured, and ours for
comparison."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars
import pytest
from typer.testing import CliRunner

from bulkhead.campaign.points import PointFailed
from bulkhead.cli import build_app
from bulkhead.env.paths import published_file
from bulkhead.experiments.model import Experiment, experiment_names, load_experiment, points_of
from bulkhead.experiments.published import FigurePlaces, batches_of, kept, measured
from bulkhead.experiments.regulated import is_at
from bulkhead.machine.native import built_machine
from bulkhead.machine.point import run_point
from bulkhead.published import figures as library
from bulkhead.published.figures import BadFigures, figures
from bulkhead.validation.compare import LEAST_NS, Compared
from bulkhead.validation.measure import points
from bulkhead.validation.model import boards_of
from bulkhead.validation.page import write_page
from tests.json_results import parsed

from ..platforms import platform


@pytest.fixture
def own_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The file with one text replaced by another."""

    def replaced(old: str, new: str) -> None:
        text = published_file().read_text()
        assert old in text
        path = tmp_path / "figures.yaml"
        path.write_text(text.replace(old, new, 1))
        monkeypatch.setattr(library, "published_file", lambda: path)
        figures.cache_clear()

    yield replaced
    monkeypatch.undo()
    figures.cache_clear()


def test_every_figure_has_a_source_a_value_and_how_it_was_measured() -> None:
    found = figures()
    assert len(found) > 80
    for one in found.values():
        assert one.source.strip("- ") and one.measured.by
        assert (one.value is None) != (one.low is None and one.high is None)
        assert one.text()
    path = [one for one in found if one.startswith("zcu102-path-")]
    assert len(path) == 12 * 4, "each statistic of each part of F5's table"
    assert found["zcu102-path-hypervisor_call-min"].value == 939
    assert found["s32v234-membomb-bandwidth"].value == 2321, "of the platform's calibration"


def test_every_published_fact_of_a_platform_is_a_figure() -> None:
    """Otherwise the command would miss one."""
    known = {(one.board, one.ours.fact) for one in figures().values()}
    for name in ("s32v234", "zcu102", "zynq7020", "stm32f767"):
        assert {(name, fact.fact) for fact in platform(name).calibration} <= known


def test_what_a_fact_is_used_for_is_what_the_platforms_file_says() -> None:
    """One fact in two units is no second confirmation; figures that are no facts say their use themselves."""
    used = {name: one.used for name, one in figures().items()}
    assert used["zcu102-ustress-saturation"] == "fitted"
    assert (used["zcu102-ustress-refills"], used["s32v234-membomb-ipc"]) == ("follows", "follows")
    assert used["stm32f767-load-region-miss"] == used["zynq7020-load-tlb-miss"] == "compared"
    assert (used["zcu102-dma-4k"], used["zcu102-smallest-budget"]) == ("fitted", "admission")
    assert used["s32v234-disparity-busy"] == "compared"


def test_figures_that_platforms_admit_by_are_the_same_there() -> None:
    budget, found = platform("zcu102").memory_budget, figures()
    assert budget is not None
    for row in budget.dma:
        assert row.rate == found[f"zcu102-dma-{row.chunk >> 10}k"].value * 1e6  # type: ignore[operator]
    assert budget.shortest_period == found["zcu102-shortest-period"].value * 1e3  # type: ignore[operator]
    assert budget.smallest_budget == found["zcu102-smallest-budget"].value


def test_what_stands_beside_a_figure_is_a_row_that_the_experiment_makes() -> None:
    for one in figures().values():
        wanted = one.ours.experiment
        if wanted is None:
            continue
        what = load_experiment(wanted.name)
        if isinstance(what, Experiment):
            meant = [point for point in points_of(what) if is_at(wanted.where, point.point)]
            assert meant, one.id
        else:
            assert wanted.section in what.sections


def test_experiments_name_figures_that_there_are() -> None:
    named = [
        one.figure
        for name in experiment_names()
        if isinstance(what := load_experiment(name), Experiment)
        for one in what.published
    ]
    assert len(named) == 13
    assert set(named) <= set(figures())


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("used: fitted", "usde: fitted", "unknown key 'usde'; did you mean 'used'"),
        ("statistic: mean", "statistic: average", "statistic"),
        ("ours: { fact: membomb-ipc", "ours: { fact: membomb-icp", "did you mean 'membomb-ipc'"),
        ("ours: { fact: disparity-ipc,", "ours: { missing: no, fact: disparity-ipc,", "exactly one of"),
        ("id: s32v234-membomb-ipc", "id: s32v234-membomb-bandwidth", "the id of two figures"),
        ("unit: us, ", "", "a unit and a source"),
        (
            "ours: { fact: membomb-ipc",
            "used: compared, ours: { fact: membomb-ipc",
            "the fact 'membomb-ipc' is marked as",
        ),
        ("board: stm32f767", "board: stm32f768", "no platform 'stm32f768'"),
    ],
)
def test_a_wrong_file_is_refused(own_file: Any, old: str, new: str, reason: str) -> None:
    own_file(old, new)
    with pytest.raises(BadFigures) as refused:
        figures()
    assert reason in str(refused.value)


def test_ours_are_what_experiments_have_left_or_a_command_that_makes_them(tmp_path: Path) -> None:
    meant = [figures()["s32v234-overhead-1ms"], figures()["s32v234-static-disparity"]]
    before = kept(meant, FigurePlaces(tmp_path, tmp_path))
    assert [one.ours for one in before] == [None, None]
    assert before[0].origin == "not measured yet: ./bulkhead experiment regulation-overhead"
    rows: dict[str, list[dict[str, Any]]] = {
        "regulation-overhead": [
            {"workload": "bandwidth", "budget": "20 GB/s", "interval": "1 ms", "rt_slowdown": 1.001},
            {
                "workload": "bandwidth",
                "budget": "1 MB/s",
                "interval": "1 ms",
                "rt_slowdown": 1.006,
                "rt_slowdown_low": 1.005,
                "rt_slowdown_high": 1.007,
            },
        ],
        "regulators": [{"policy": "static", "rt": "disparity", "nrt": "membomb", "budget.rt": "800 MB/s"}],
    }
    for name, own in rows.items():
        (tmp_path / name).mkdir()
        polars.DataFrame(own, infer_schema_length=None).write_parquet(tmp_path / name / "rows.parquet")
    overhead, budget = kept(meant, FigurePlaces(tmp_path, tmp_path))
    assert (overhead.ours, overhead.low, overhead.high) == (1.006, 1.005, 1.007)
    assert overhead.error == pytest.approx(1.006 / 1.026 - 1)
    assert budget.ours == 800
    assert budget.error == pytest.approx(800 / 750 - 1)


def test_ours_are_measured_with_the_machine_as_it_is() -> None:
    """Facts are measured, whatever the platform's file has kept."""
    built_machine()
    (hit,), failures = measured(
        [figures()["zynq7020-load-hit"]],
        lambda jobs, _: [run_point(job) for _, job in jobs],
        lambda *_: [],
        FigurePlaces(Path(), Path()),
    )
    assert failures == []
    assert hit.ours == pytest.approx(6, rel=0.01)
    assert hit.origin == "measured now"


def test_what_is_measured_stays_and_one_that_fails_keeps_no_other_from_it(tmp_path: Path) -> None:
    """A measured value is kept until an experiment has a newer row, or the figure's definition changes."""
    names = ["s32v234-overhead-1ms", "s32v234-static-disparity", "s32v234-overhead-500us"]
    meant = [figures()[name] for name in names]
    places = FigurePlaces(tmp_path / "experiments", tmp_path / "figures")
    asked = []

    def rows(what: Any, only: Sequence[str], title: str) -> list[dict[str, Any]]:
        asked.append(title)
        if what.name == "regulators":
            raise PointFailed("point 7: no room")
        return [{"workload": "bandwidth", "budget": "1 MB/s", "interval": only[-1], "rt_slowdown": 1.25}]

    found, failures = measured(meant, lambda *_: [], rows, places)
    assert [one.ours for one in found] == [1.25, None, 1.25]
    assert failures == [f"{batches_of(meant)[1].title}: point 7: no room"]
    assert found[1].origin == "not measured: point 7: no room"
    assert [title.split(":")[0] for title in asked] == [f"published, {n} of 3" for n in (1, 2, 3)]

    later = kept(meant, places)
    assert [one.ours for one in later] == [1.25, None, 1.25]
    assert later[0].origin == "last --measure"
    other = meant[0].ours.model_copy(update={"experiment": meant[2].ours.experiment})
    assert kept([meant[0].model_copy(update={"ours": other})], places)[0].ours is None

    own = tmp_path / "experiments" / "regulation-overhead" / "rows.parquet"
    own.parent.mkdir(parents=True)
    row = {"workload": "bandwidth", "budget": "1 MB/s", "interval": "1 ms", "rt_slowdown": 1.5}
    polars.DataFrame([row]).write_parquet(own)
    newer = (places.measured / f"{names[0]}.json").stat().st_mtime + 1
    os.utime(own, (newer, newer))
    assert [one.ours for one in kept(meant, places)] == [1.5, None, 1.25]


def test_figures_of_the_same_points_are_measured_together() -> None:
    batches = batches_of(list(figures().values()))
    assert len({one.title for one in batches}) == len(batches)
    measurable = [one for one in figures().values() if one.ours.experiment is not None]
    together = [one for batch in batches if batch.what is not None for one in batch.figures]
    assert sorted(one.id for one in together) == sorted(one.id for one in measurable)
    (dma,) = [one for one in batches if one.title == "flows (dma)"]
    assert len(dma.figures) == 5
    assert [one.title for one in batches if one.what is None] == [
        f"facts of {board}" for board in ("s32v234", "zcu102", "zynq7020", "stm32f767")
    ]


def test_the_command_measures_keeps_and_says_what_it_could_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from bulkhead.experiments import published_run

    monkeypatch.setattr(
        published_run, "places", lambda: FigurePlaces(tmp_path / "experiments", tmp_path / "figures")
    )

    def shown(*words: str) -> tuple[int, dict[str, Any]]:
        done = CliRunner().invoke(build_app(), ["published", "zcu102-dma-64k", "--json", *words])
        return done.exit_code, parsed(done.stdout)

    assert shown()[1]["figures"][0]["ours"] is None
    code, answer = shown("--measure")
    assert (code, answer["verdict"]) == (0, "ok")
    (dma,) = answer["figures"]
    assert abs(dma["error"]) < 0.1
    assert shown()[1]["figures"][0]["ours"] == dma["ours"]

    def none(*_: Any, **__: Any) -> Any:
        raise PointFailed("its process ended")

    monkeypatch.setattr("bulkhead.experiments.run.tables_of", none)
    code, answer = shown("--measure")
    assert (code, answer["verdict"]) == (1, "failed")
    assert answer["reasons"] == ["flows (dma): its process ended"]


def test_the_command_shows_all_or_a_board_and_what_differs_in_the_measuring() -> None:
    done = CliRunner().invoke(build_app(), ["published", "--json"])
    shown = {one["id"]: one for one in parsed(done.stdout)["figures"]}
    assert set(figures()) < set(shown)
    assert shown["zcu102-ustress-refills"]["measured_alike"] is False
    assert shown["zcu102-ustress-refills"]["differences"] == ["statistic"]
    assert shown["zcu102-dma-64k"]["differences"] == ["input"], "one bank, and all banks"
    assert shown["s32v234-static-mser"]["differences"] == ["input"], "images of another size"
    assert shown["zynq7020-load-hit"]["measured_alike"] is True
    assert shown["zynq7020-load-hit"]["error"] == 0
    text = CliRunner().invoke(build_app(), ["published", "stm32f767"]).stdout
    assert "360" in text and "cycles" in text and "zcu102" not in text
    text = " ".join(CliRunner().invoke(build_app(), ["published", "zcu102-dma-64k"]).stdout.split())
    assert "memory in one" in text
    wrong = CliRunner().invoke(build_app(), ["published", "zcu12", "--json"])
    assert wrong.exit_code == 1
    assert "did you mean 'zcu102'" in parsed(wrong.stdout)["reasons"][0]


def test_points_of_validation_are_shown_with_what_the_last_run_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each point of each board, and ours only for the board that was run."""
    monkeypatch.setattr("bulkhead.env.paths.build_dir", lambda: tmp_path)

    def shown(*names: str) -> list[dict[str, Any]]:
        done = CliRunner().invoke(build_app(), ["published", *names, "--json"])
        found: list[dict[str, Any]] = parsed(done.stdout)["figures"]
        return found

    wanted = [point for board in boards_of(["teres-i"]) for point in points(board, LEAST_NS)]
    before = shown("teres-i")
    assert [one["id"] for one in before] == [point.key for point in wanted]
    assert {one["ours_from"] for one in before} == {"not measured yet: ./bulkhead validate teres-i"}
    command = ["./bulkhead", "validate"]
    write_page(
        [Compared(one, 1.25 * one.published) for one in wanted], tmp_path / "run/validate", command, {}
    )
    after = shown("teres-i")
    assert {one["ours_from"] for one in after} == {"last run of ./bulkhead validate teres-i"}
    assert all(one["error"] == pytest.approx(0.25, abs=0.01) for one in after)
    assert [one["used"] for one in shown("orange-pi-pc2-fill-small-4096KiB-1")] == ["fitted"]
    everything = CliRunner().invoke(build_app(), ["published"]).stdout
    assert "25.0%" in next(line for line in everything.splitlines() if "teres-i" in line)
