# SPDX-License-Identifier: Apache-2.0
"""Experiment files whose keys are each valid, but not together: they are refused before anything is run."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from bulkhead.config.locate import platform_path
from bulkhead.experiments.columns import OVER_TIME, taken_names
from bulkhead.experiments.model import BadExperiment, Experiment, load_experiment, points_of
from bulkhead.experiments.output import drawing_of
from bulkhead.experiments.override import with_settings
from bulkhead.experiments.run import rows_of_seeds
from bulkhead.experiments.said import Plot
from bulkhead.experiments.sensitivity import asked, sensitivity
from bulkhead.experiments.series import table_of
from bulkhead.machine.point import run_point
from bulkhead.report.style import svg
from tests.command_line import invoked, run_json

ROOT = Path(__file__).parents[2]
FILE = """\
experiment: 1
name: mine
title: t
platform: zcu102
seeds: 1
sweep: { k: [1, 2] }
fixed: { other: 3 }
parts:
  - { name: first, measured: true, core: 0, memory: 64 KiB, kind: read, walks: 4 }
  - { name: second, core: 1, memory: 1 MiB, kind: read, walks: 0, bandwidth: { budget: 50 MB/s } }
regulation: [{ policy: static, interval: 10 us }]
result: walk-times
series: [{ where: { k: 1 }, y: mb_s, y_label: y, series: [k] }]
headline: { where: { k: 1 }, y: mean_ns, what: time of a walk }
"""


def loaded(tmp_path: Path, *changes: tuple[str, str]) -> Experiment:
    text = FILE
    for old, new in changes:
        assert text.count(old) == 1
        text = text.replace(old, new)
    file = tmp_path / "mine.yaml"
    file.write_text(text)
    found = load_experiment(str(file))
    assert isinstance(found, Experiment)
    return found


def refusal(tmp_path: Path, *changes: tuple[str, str]) -> str:
    with pytest.raises(BadExperiment) as refused:
        loaded(tmp_path, *changes)
    return str(refused.value)


def run(jobs: Any) -> list[Any]:
    return [run_point(job) for _, job in jobs]


@pytest.mark.parametrize("where", ["sweep", "fixed"])
@pytest.mark.parametrize(
    ("name", "what"),
    [
        *((name, "the time series") for name in OVER_TIME),
        *(
            (name, "the rows")
            for name in ("mean_ns", "mean_ns_low", "longest_ns", "digest", "seeds", "relative")
        ),
    ],
)
def test_a_value_cannot_have_the_name_of_a_column(tmp_path: Path, where: str, name: str, what: str) -> None:
    own, line = ("k: [1, 2]", 6) if where == "sweep" else ("other: 3", 7)
    shown = refusal(tmp_path, (f"{where}: {{ {own}", f"{where}: {{ {own}, {name}: 1"))
    place = f"mine.yaml:{line}:{FILE.splitlines()[line - 1].index(own) + len(own) + 3}"
    assert f"{place}: {where}.{name}: '{name}' is a column of {what} (allowed: another name)" in shown


def test_names_that_nothing_else_has_are_allowed(tmp_path: Path) -> None:
    """Time series need a regulation; a value for the number of walks is the rows' number of walks."""
    unregulated = ("regulation: [{ policy: static, interval: 10 us }]\n", "")
    unlimited = (", bandwidth: { budget: 50 MB/s } }", " }")
    core = ("other: 3", "core: 3, other: 3, walks: 4")
    assert loaded(tmp_path, core, unregulated, unlimited).fixed["core"] == 3
    swept = ("k: [1, 2]", "k: [1, 2], walks: [3, 4]")
    assert loaded(tmp_path, swept).sweep["walks"] == (3, 4)
    left_out = ("seeds: 1", "seeds: 1\nleave_out: 1")
    assert "sweep.walks: 'walks' is a column" in refusal(tmp_path, swept, left_out)
    compared = "published: [{ where: { k: 1 }, y: mean_ns, figure: nothing }]\nresult: walk-times"
    shown = refusal(tmp_path, ("other: 3", "published_mean_ns: 3"), ("result: walk-times", compared))
    assert "fixed.published_mean_ns: 'published_mean_ns' is a column of the rows" in shown


@pytest.mark.usefixtures("machine_built")
def test_every_column_that_is_made_is_a_taken_name(tmp_path: Path) -> None:
    what = loaded(tmp_path)
    points = points_of(what)
    (row, _), results = rows_of_seeds(what, points, run)
    assert set(row) - set(points[0].point) <= set(taken_names(what))
    table = table_of(points, results)
    assert table is not None
    assert set(table.columns) - set(points[0].point) == set(OVER_TIME)


LINES = "plots: [{ x: k, y: mean_ns, x_label: x, y_label: y, where: { k: %s } }]\nseries: [{"


@pytest.mark.parametrize("values", ["[1, a]", "[1, null]", "[a, null]", "[1, true, a]"])
def test_lines_are_over_numbers_or_over_words(tmp_path: Path, values: str) -> None:
    given = ("sweep: { k: [1, 2] }", f"sweep: {{ k: {values} }}")
    shown = refusal(tmp_path, given, ("series: [{", LINES % values))
    assert "mine.yaml:13:14: plots[0].x: the values of 'k' are not all numbers or all words" in shown
    bars = (LINES % values).replace("x: k,", "kind: bars, x: k,")
    headline = ("headline: { where: { k: 1 }", "headline: { where: { other: 3 }")
    assert loaded(tmp_path, given, headline, ("series: [{", bars)).plots


def test_lines_may_select_the_values_that_have_an_order(tmp_path: Path) -> None:
    for values, where in (("[1, a]", "1"), ("[1, a, b]", "[a, b]"), ("[1, 2.5, true]", "[1, 2.5]")):
        given = ("sweep: { k: [1, 2] }", f"sweep: {{ k: {values} }}")
        assert loaded(tmp_path, given, ("series: [{", LINES % where)).plots


def test_a_figure_shows_its_texts_as_they_are() -> None:
    """Nothing in them is a formula, also if it looks like one."""
    label = "$\\frac{$ of $x$"
    rows: list[Any] = [{"k": n, "price": label, "y": 1} for n in (2, 1, None)]
    for kind in ("lines", "bars"):
        x = "k" if kind == "lines" else "price"
        plot = Plot.model_validate(
            {"kind": kind, "x": x, "y": "y", "x_label": label, "y_label": label, "series": ("price",)}
        )
        drawn = svg(drawing_of(plot, rows), (6, 4))
        assert drawn.count("$\\frac{$ of $x$") == (3 if kind == "lines" else 4)


def test_a_line_over_time_is_named_by_values_of_points(tmp_path: Path) -> None:
    shown = refusal(tmp_path, ("series: [k] }", "series: [nosuch] }"))
    assert "mine.yaml:13:59: series[0].series[0]: there is no value 'nosuch' (allowed: k, other)" in shown


@pytest.mark.usefixtures("workloads_built")
def test_a_headline_that_counts_has_no_interval(tmp_path: Path) -> None:
    what = loaded(tmp_path, ("y: mean_ns", "y: walks"))
    rows = sensitivity(asked(what, Fraction(1, 4), ("interconnect.request",), run), run)
    assert [row["headline"] for row in rows] == [4, 4, 4]
    assert [row["headline_low"] for row in rows] == [None] * 3


@pytest.mark.parametrize(
    "changes",
    [
        (),
        (("kind: read, walks: 4", "workload: latency"),),
        (("result: walk-times", "iterations: 1\nresult: slowdown"), ("y: mean_ns", "y: rt_slowdown")),
    ],
)
def test_a_search_needs_slowdowns_of_a_workload(tmp_path: Path, changes: Any) -> None:
    search = "search: { guaranteed: 1 GB/s, slowdown: 5 %, step: 50 MB/s }\nseries:"
    shown = refusal(tmp_path, ("series: [{", f"{search} [{{"), *changes)
    place = 13 + len(changes) // 2
    assert f"mine.yaml:{place}:9: search: needs `result: slowdown`, and a `workload`" in shown


def test_points_are_left_out_by_values_of_the_file(tmp_path: Path) -> None:
    """Those of a search are found later."""
    search = (
        "differ: [budget.rt, k]\nsearch: { guaranteed: 1 GB/s, slowdown: 5 %, step: 50 MB/s }\nseries: [{"
    )
    shown = refusal(tmp_path, ("series: [{", search))
    assert "mine.yaml:13:10: differ[0]: there is no value 'budget.rt' (allowed: k, other)" in shown


def test_a_fixed_value_that_is_swept_by_a_setting_cannot_have_the_name_of_a_column(tmp_path: Path) -> None:
    what = loaded(tmp_path, ("other: 3", "walks: 4"), ("seeds: 1", "seeds: 1\nleave_out: 1"))
    with pytest.raises(BadExperiment, match=r"--set sweep\.walks: 'walks' is a column of the rows"):
        with_settings(what, ("walks=[4, 5]",))


@pytest.mark.parametrize("command", ["experiment", "top", "report", "trace", "check"])
@pytest.mark.parametrize("name", ["x" * 300, f"examples/{'x' * 300}.yaml"])
def test_a_name_that_is_too_long_for_a_file_is_an_answer(command: str, name: str) -> None:
    code, result = run_json(command, name)
    assert (code, result["verdict"]) == (1, "error")
    assert "x" * 50 in result["reasons"][0]


@pytest.mark.parametrize("command", ["experiment", "sensitivity"])
def test_the_command_line_takes_no_more_seeds_than_a_file(command: str) -> None:
    done = invoked(command, "coloring", "--seeds", "100000000")
    assert done.exit_code == 2
    assert "less than or equal to 1000" in done.stderr


def test_a_platform_file_is_beside_the_experiment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "elsewhere").mkdir()
    board = (ROOT / "platforms" / "zcu102.yaml").read_text()
    (tmp_path / "own.yaml").write_text(board)
    (tmp_path / "mine.yaml").write_text(
        FILE.replace("zcu102", "./own.yaml").replace("other: 3", "platform: own.yaml")
    )
    for here, name in ((tmp_path, "mine.yaml"), (tmp_path / "elsewhere", "../mine.yaml")):
        monkeypatch.chdir(here)
        what = load_experiment(name)
        assert isinstance(what, Experiment)
        for reference in (what.platform, points_of(what)[0].job["platform"]):
            path = platform_path(reference)
            assert path is not None and path.samefile(tmp_path / "own.yaml")


@pytest.mark.parametrize(
    ("text", "cause"),
    [(None, "no such file"), ("platform: 1\nname: own\nnonsense: 2\n", "unknown key 'nonsense'")],
)
def test_a_platform_file_that_cannot_be_loaded_is_refused_at_its_key(
    tmp_path: Path, text: str | None, cause: str
) -> None:
    if text is not None:
        (tmp_path / "own.yaml").write_text(text)
    first, *_ = refusal(tmp_path, ("platform: zcu102", "platform: ./own.yaml")).splitlines()
    assert "mine.yaml:4:11: platform: platform file " in first
    shown = refusal(tmp_path, ("other: 3", "platform: ./own.yaml"))
    assert "mine.yaml:7:20: fixed.platform: platform file " in shown
    assert cause in shown


@pytest.mark.parametrize(
    ("part", "cause"),
    [
        (
            "workload: latency, params: { size_kb: 64 }",
            "'latency' reads no parameter 'size_kb'; did you mean 'size_kib'?",
        ),
        (
            "workload: $work, params: { size_kib: 64, shift: 8 }",
            "no workload reads a parameter 'shift'; did you mean 'shifts'?",
        ),
        ("workload: mine.trace, params: { seed: 8 }", "'mine.trace' reads no parameter 'seed'"),
    ],
)
def test_a_parameter_that_no_workload_of_the_part_reads_is_refused(
    tmp_path: Path, part: str, cause: str
) -> None:
    """A workload ignores other parameters, so it would not be what the reader thinks that it is."""
    words = ("sweep: { k: [1, 2] }", "sweep: { k: [1, 2], work: [latency, disparity] }")
    shown = refusal(tmp_path, words, ("kind: read, walks: 4", part))
    assert "mine.yaml:9:" in shown
    assert "parts[0].params." in shown
    assert cause in shown


def test_a_swept_workload_uses_the_parameters_that_it_has(tmp_path: Path) -> None:
    words = ("sweep: { k: [1, 2] }", "sweep: { k: [1, 2], work: [latency, disparity] }")
    part = "workload: $work, params: { size_kib: 64, shifts: 8, seed: 3 }"
    found = loaded(tmp_path, words, ("kind: read, walks: 4", part))
    assert points_of(found)
    narrower = with_settings(found, ("work=latency",))
    assert isinstance(narrower, Experiment)
    assert points_of(narrower)


def test_a_workload_that_does_not_exist_is_refused_before_anything_runs(tmp_path: Path) -> None:
    found = loaded(tmp_path, ("kind: read, walks: 4", "workload: latncy"))
    with pytest.raises(BadExperiment, match=r"'first', workload: there is no workload 'latncy'; .*'latency'"):
        points_of(found)


@pytest.mark.parametrize(
    ("bandwidth", "cause"),
    [
        ("{ budget: 50 MB/s, period: 1 ns }", "bandwidth.period: a period of 1 ns cannot be enforced"),
        ("{ budget: 50 MB/s, period: 29 us }", "(allowed: 30000 ns to 100000000000 ns, the longest run)"),
        ("{ budget: 50 MB/s, period: 3600 s }", "a period of 3600000000000 ns cannot be enforced"),
        ("{ budget: 1 B/s }", "bandwidth.budget: 1 B/s are 0 events of 64 bytes in a period of 1000000 ns"),
        ("{ budget: 3 MB/s }", "and 50 is the least that can be enforced (allowed: 3200000 B/s or more"),
        ("{ budget: 50 MB/s, write: 1 B/s, counts: each }", "bandwidth.write: 1 B/s are 0 events"),
    ],
)
def test_a_budget_that_would_not_be_what_runs_is_refused(tmp_path: Path, bandwidth: str, cause: str) -> None:
    """Limits of `memory_budget` of zcu102, as `check` has them for a system."""
    found = loaded(tmp_path, ("{ budget: 50 MB/s }", bandwidth))
    with pytest.raises(BadExperiment) as refused:
        points_of(found)
    assert "point 1, part 'second', bandwidth." in str(refused.value)
    assert cause in str(refused.value)


def test_an_interval_that_no_regulator_has_is_refused(tmp_path: Path) -> None:
    regulation = "[{ policy: dynamic, threshold: 50 %, interval: 1 ns }]"
    found = loaded(tmp_path, ("[{ policy: static, interval: 10 us }]", regulation))
    with pytest.raises(BadExperiment, match=r"regulation\.interval: is 1 ns \(allowed: 10000 ns to"):
        points_of(found)


@pytest.mark.parametrize(
    ("changes", "shown"),
    [
        (
            (("headline: { where: { k: 1 }", "headline: { where: { k: 3 }"),),
            "mine.yaml:14:25: headline.where.k: no point has this value of 'k' (allowed: 1, 2) [not-one]",
        ),
        (
            (("headline: { where: { k: 1 }", "headline: { where: { k: 2, other: 4 }"),),
            "headline.where.other: no point has this value of 'other' (allowed: 3)",
        ),
        (
            (("fixed: { other: 3 }", "fixed: { other: 3 }\nwithout: [{ k: 1 }]"),),
            "headline.where: the points with these values are left out by `differ` or `without`",
        ),
    ],
)
def test_a_headline_that_no_point_has_is_refused_before_anything_runs(
    tmp_path: Path, changes: Any, shown: str
) -> None:
    assert shown in refusal(tmp_path, *changes)


def test_a_setting_may_leave_out_the_headline(tmp_path: Path) -> None:
    narrower = with_settings(loaded(tmp_path), ("k=2",))
    assert isinstance(narrower, Experiment)
    assert [one.point["k"] for one in points_of(narrower)] == [2]
