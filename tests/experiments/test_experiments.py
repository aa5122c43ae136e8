# SPDX-License-Identifier: Apache-2.0
"""Experiments: the points of a file, kept results, output files, and the form of results."""

from __future__ import annotations

import hashlib
import io
import os
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import polars
import pytest
from matplotlib.figure import Figure
from rich.console import Console
from typer.testing import CliRunner

from bulkhead.campaign import worker
from bulkhead.campaign.engine import Engine
from bulkhead.campaign.points import PointFailed, input_hash, run_jobs
from bulkhead.cli import build_app
from bulkhead.commands import experiment as command
from bulkhead.env.paths import repository
from bulkhead.experiments.budgets import find_budgets
from bulkhead.experiments.columns import taken_names
from bulkhead.experiments.model import (
    BadExperiment,
    Experiment,
    Sectioned,
    alone_jobs,
    experiment_names,
    load_experiment,
    points_of,
)
from bulkhead.experiments.output import drawing_of, series_of, write_output
from bulkhead.experiments.override import with_settings
from bulkhead.experiments.regulated import Series
from bulkhead.experiments.rows import rows_of
from bulkhead.experiments.run import count_points
from bulkhead.experiments.said import Plot
from bulkhead.experiments.sweep import BadRange, key_of, values_of
from bulkhead.experiments.traces import with_traces
from bulkhead.machine.budget_search import MB, smallest_budgets
from tests.command_line import run_json
from tests.json_results import parsed

from ..machine.handmade_trace import READ, Record, write_trace

pytestmark = pytest.mark.usefixtures("workloads_built")


def unsectioned(what: Experiment | Sectioned) -> Experiment:
    assert isinstance(what, Experiment)
    return what


def coloring(*settings: str, only: tuple[str, ...] = ()) -> tuple[Any, Any]:
    experiment = unsectioned(with_settings(load_experiment("coloring"), settings))
    return experiment, points_of(experiment, only)


def test_every_experiment_can_be_read_and_makes_points() -> None:
    assert "coloring" in experiment_names()
    for name in experiment_names():
        assert count_points(load_experiment(name))


def test_a_range_has_both_ends_and_nonsense_is_refused() -> None:
    assert values_of("n", "8..32..8") == [8, 16, 24, 32]
    assert values_of("n", "3..5") == [3, 4, 5]
    assert values_of("n", "word") == ["word"]
    for wrong in ("5..3", "1..9..0", "0..99999999"):
        with pytest.raises(BadRange, match="range"):
            values_of("n", wrong)


def test_coloring_has_all_its_points_and_a_walker_only_where_it_is_asked_for() -> None:
    _, points = coloring()
    assert len(points) == 64 * 2 * 2
    assert len({point.key for point in points}) == len(points)
    for point in points:
        names = [part["name"] for part in point.job["parts"]]
        assert names == (["reader", "walker"] if point.point["corun"] == "walker" else ["reader"])
        assert all(("colors" in part) == point.point["coloring"] for part in point.job["parts"])
        assert point.job["parts"][0]["memory_bytes"] == point.point["n_kib"] * 1024


def test_only_and_set_choose_points_and_their_mistakes_are_named() -> None:
    _, points = coloring("n_kib=[8, 16]", only=("walker", "yes"))
    assert [point.key for point in points] == ["8-yes-walker", "16-yes-walker"]
    with pytest.raises(BadExperiment, match="did you mean 'n_kib'"):
        coloring("n_kb=8")
    with pytest.raises(BadExperiment, match="--only hog"):
        coloring(only=("hog",))
    with pytest.raises(BadExperiment, match="did you mean 'coloring'"):
        load_experiment("colouring")


def test_a_wrong_file_is_refused_with_line_and_key(tmp_path: Path) -> None:
    file = tmp_path / "wrong.yaml"
    file.write_text("experiment: 1\nname: wrong\ntitle: t\nplatfrom: rpi2\n")
    with pytest.raises(BadExperiment, match=r"wrong\.yaml:4:1: platfrom: .*'platform'"):
        load_experiment(str(file))


EXPERIMENT = """\
experiment: 1
name: mine
title: t
platform: rpi2
sweep: { n_kib: 8..24..8, corun: [alone, walker] }
fixed: { stride: 64 }
differ: [n_kib, corun]
parts:
  - { name: reader, measured: true, core: 0, memory: $n_kib KiB, kind: read, stride_bytes: $stride, walks: 3 }
  - { name: walker, when: { corun: walker }, core: 1, memory: 1 MiB, kind: read, walks: 0 }
result: walk-times
plots: [{ x: n_kib, y: mean_ns, x_label: x, y_label: y, series: [corun] }]
"""


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("platform: rpi2", "platform: rpi3", "mine.yaml:4:11: platform: there is no platform 'rpi3'"),
        ("8..24..8", "24..8..8", "sweep.n_kib: n_kib: '24..8..8' is not a range"),
        ("8..24..8", "8..24..x", "sweep.n_kib: n_kib: '8..24..x' is not a range"),
        ("[alone, walker]", "[]", "sweep.corun: has no values"),
        ("[alone, walker]", "[{ a: 1 }]", "sweep.corun: has a value that is a mapping"),
        ("stride: 64", "corun: 64", "fixed.corun: is swept, too"),
        ("differ: [n_kib", "differ: [n_kb", "differ[0]: there is no value 'n_kb'; did you mean 'n_kib'?"),
        ("$n_kib KiB", "$n_kb KiB", "mine.yaml:9:54: parts[0].memory: there is no value '$n_kb'"),
        ("when: { corun", "when: { coruns", "parts[1].when.coruns: there is no value 'coruns'"),
        ("walks: 0", "wakls: 0", "parts[1].wakls: unknown key 'wakls'; did you mean 'walks'?"),
        ("walks: 0", "walks:", "parts[1].walks: has no value"),
        ("name: walker, ", "name: reader, ", "parts[1].name: 'reader' is the name of another part"),
        ("measured: true, ", "", "parts: no parts with `measured: true`"),
        ("y: mean_ns", "y: mean", "plots[0].y: there is no result 'mean'; did you mean 'mean_ns'?"),
        ("series: [corun]", "series: [corunner]", "plots[0].series[0]: there is no value 'corunner'"),
        ("result: walk-times", "result: walk-times\nleave_out: -1", "leave_out"),
    ],
)
def test_nonsense_in_a_file_is_refused_at_its_place(tmp_path: Path, old: str, new: str, reason: str) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(EXPERIMENT)
    assert len(points_of(unsectioned(load_experiment(str(file))))) == 6
    assert EXPERIMENT.count(old) == 1
    file.write_text(EXPERIMENT.replace(old, new))
    with pytest.raises(BadExperiment) as refused:
        load_experiment(str(file))
    assert reason in str(refused.value)


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("$n_kib KiB", "$n_kib Kit", "point 8-alone, part 'reader', memory: unknown unit"),
        ("$n_kib KiB", "$corun", "point 8-alone, part 'reader', memory: 'alone' is not a quantity"),
        ("1 MiB", "0", "point 8-walker, part 'walker', memory_bytes: '0'"),
        ("core: 1", "core: -1", "part 'walker', core"),
        ("core: 1", "core: $corun", "part 'walker', core"),
        ("$stride", "0", "part 'reader', stride_bytes"),
        ("kind: read, stride", "colors: [a], kind: read, stride", "part 'reader', colors"),
        ("kind: read, walks", "workload: membomb, kind: read, walks", "either `workload` or the kind"),
        ("kind: read, walks", "workload: membomb, params: { size_kib: -1 }, walks", "params.size_kib"),
    ],
)
def test_nonsense_of_a_point_is_refused_with_part_and_key(
    tmp_path: Path, old: str, new: str, reason: str
) -> None:
    file = tmp_path / "mine.yaml"
    assert EXPERIMENT.count(old) == 1
    file.write_text(EXPERIMENT.replace(old, new))
    with pytest.raises(BadExperiment) as refused:
        points_of(unsectioned(load_experiment(str(file))))
    assert reason in str(refused.value)


@pytest.mark.parametrize(
    "setting",
    ["n_kib=[8", "n_kib=8..", "n_kib={a: 1}", "leave_out=-1", "leave_out=x", "platform=rpi3", "platform=[1]",
     "iterations=1.5", "corun=2020-01-01", "n_kib=[]", "limit_mb_s=.inf", "n_kib", "=", "parts=[]",
     "corun=nobody", "coloring=maybe", "corun=[alone, {a: 1}]"],
)  # fmt: skip
def test_nonsense_on_the_command_line_is_refused(setting: str) -> None:
    with pytest.raises(BadExperiment, match="--set"):
        coloring(setting)


def test_values_of_one_key_are_alternatives() -> None:
    """A point has one value of a key; conditions on different keys must all hold."""
    _, points = coloring("n_kib=[8, 16, 24]", only=("8", "24", "alone"))
    assert {(point.point["n_kib"], point.point["corun"]) for point in points} == {(8, "alone"), (24, "alone")}


def test_values_that_no_point_has_together_are_refused() -> None:
    """Both `rt` and `nrt` can be a workload: a point cannot have three of them."""
    with pytest.raises(BadExperiment, match="--only disparity --only mser --only tracking: no point has all"):
        regulators(only=("disparity", "mser", "tracking"))


def test_a_value_that_no_point_has_is_shown_as_it_was_typed() -> None:
    with pytest.raises(BadExperiment, match="--only rt=disparity: no point has this value"):
        regulators(only=("rt=disparity",))
    with pytest.raises(BadExperiment, match="did you mean 'disparity'"):
        regulators(only=("disparty",))


def test_keys_of_points_are_names_of_files() -> None:
    assert key_of([8, True, "a/../b", None, 1.5]) == "8-yes-a_.._b-None-1.5"
    long, other = key_of(["x" * 300 + "1"]), key_of(["x" * 300 + "2"])
    assert long != other
    assert len(long) < 200


def test_done_points_are_kept_and_only_others_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Points with the same inputs are not run again; those with another input, or half a file, are."""
    _, points = coloring("n_kib=[8, 16]", only=("alone",))
    jobs = [(point.key, point.job) for point in points]
    ran: list[int] = []
    real = Engine.each

    def counted(self: Engine, tasks: Any) -> Any:
        ran.append(len(tasks))
        return real(self, tasks)

    monkeypatch.setattr(Engine, "each", counted)
    first = run_jobs(jobs[:1], tmp_path, Engine(2), "x")
    both = run_jobs(jobs, tmp_path, Engine(2), "x")
    assert both[0] == first[0]
    changed = [(jobs[0][0], {**jobs[0][1], "seed": 7}), *jobs[1:]]
    run_jobs(changed, tmp_path, Engine(2), "x")
    (tmp_path / f"{jobs[1][0]}.json").write_text('{"input": ')
    assert run_jobs(jobs, tmp_path, Engine(2), "x")[1] == both[1]
    assert ran == [1, len(jobs) - 1, 1, 2]


def test_an_impossible_point_is_named_and_leaves_no_process() -> None:
    _, points = coloring("n_kib=8", only=("alone", "no"))
    job = {**points[0].job, "platform": "none"}
    with pytest.raises(PointFailed, match="point bad: there is no platform 'none'"):
        run_jobs([("bad", job)], None, Engine(2), "x")


def test_coloring_gives_what_it_is_for(tmp_path: Path) -> None:
    """Experiment 1 at three sizes: within its own colors (256 KiB) the reader beside the walker runs as if
    alone; without coloring it does not. The rows have the promised keys, and all files exist. One word of
    each line is read, so that little else takes time."""
    experiment, points = coloring("n_kib=[64, 224, 384]", "step=64")
    results = run_jobs([(point.key, point.job) for point in points], None, Engine(2), "x")
    rows = rows_of(experiment, points, results)
    found = {(row["n_kib"], row["coloring"], row["corun"]): row for row in rows}
    for n_kib in (64, 224):
        alone, beside = found[n_kib, True, "alone"], found[n_kib, True, "walker"]
        assert beside["mean_ns"] < 1.1 * alone["mean_ns"]
        assert beside["evicted_by_others"] == 0
        open_alone, open_beside = found[n_kib, False, "alone"], found[n_kib, False, "walker"]
        assert open_beside["evicted_by_others"] > 100
        assert open_beside["max_ns"] > 1.1 * open_alone["max_ns"]
        assert open_beside["mean_ns"] > open_alone["mean_ns"]
    assert found[384, True, "alone"]["mean_ns"] > 2 * found[384, False, "alone"]["mean_ns"]
    assert all({"n_kib", "coloring", "corun", "limit_mb_s", "max_ns", "mean_ns"} <= set(row) for row in rows)
    files = write_output(experiment, rows, tmp_path, ["./bulkhead", "experiment", "coloring"], {"a": "b"})
    assert {path.suffix for path in files} == {".html", ".parquet", ".csv", ".svg", ".png"}
    assert polars.read_parquet(tmp_path / "rows.parquet")["max_ns"].to_list() == [
        row["max_ns"] for row in rows
    ]
    assert "<svg" in (tmp_path / "report.html").read_text()


def test_who_reads_every_word_loses_a_fraction_of_what_one_word_a_line_loses() -> None:
    """Both walk the same lines; the file reads every word, as programs do."""
    lost = {}
    for step in (8, 64):
        experiment, points = coloring("n_kib=224", f"step={step}", only=("no",))
        assert all(part["access_bytes"] == 8 for one in points for part in one.job["parts"])
        alone, beside = rows_of(
            experiment, points, run_jobs([(p.key, p.job) for p in points], None, Engine(2), "x")
        )
        lost[step] = beside["mean_ns"] / alone["mean_ns"] - 1
    assert unsectioned(load_experiment("coloring")).fixed["step"] == 8
    assert 0 < lost[8] < 0.5 * lost[64]


def test_best_effort_progress_is_counted_by_traffic_too() -> None:
    """A program that ends no iteration beside the other still moves bytes."""
    experiment = unsectioned(
        with_settings(load_experiment("regulators"), ("rt=[latency]", "nrt=[membomb]", "iterations=1"))
    )
    small = tuple(part.model_copy(update={"params": {"size_kib": 512}}) for part in experiment.parts)
    experiment = experiment.model_copy(update={"parts": small})
    points = points_of(experiment, ("unregulated",))
    jobs = [(one.key, one.job) for one in points] + alone_jobs(points)
    results = run_jobs(jobs, None, Engine(2), "x")
    (row,) = rows_of(experiment, points, results)
    lines, alone = (
        results[i]["cores"][2]["events"]["bus_access"] / results[i]["simulated_ps"] for i in (0, 2)
    )
    assert row["nrt_traffic_slowdown"] == pytest.approx(alone / lines)


def test_regulators_has_each_workload_beside_the_others_and_beside_membomb() -> None:
    experiment = unsectioned(load_experiment("regulators"))
    points = points_of(experiment, ("unregulated",))
    pairs = {(one.point["rt"], one.point["nrt"]) for one in points}
    rts = {rt for rt, _ in pairs}
    assert {"disparity", "tracking", "mser", "multi_ncut", "ndt_mapping", "euclidean_cluster"} <= rts
    assert pairs == {(rt, nrt) for rt in rts for nrt in {*rts, "membomb"} if rt != nrt}
    assert {len({part["core"] // 2 for part in one.job["parts"]}) for one in points} == {2}, "clusters"
    with pytest.raises(BadExperiment, match=r"--only memguard: .*known: unregulated, static"):
        points_of(experiment, ("memguard",))


def test_slowdowns_beside_a_generator_need_nothing_of_it_alone() -> None:
    """A generator has no iterations. Its traffic decreases with the work before each store."""
    experiment = unsectioned(
        with_settings(load_experiment("regulator-spacing"), ("rt=[latency]", "instructions=[20, 200]"))
    )
    rt, *others = experiment.parts
    parts = (rt.model_copy(update={"params": {"size_kib": 512}}), *others)
    experiment = experiment.model_copy(update={"parts": parts})
    points = points_of(experiment, ("spaced", "one"))
    alone = alone_jobs(points)
    assert [[part["name"] for part in job["parts"]] for _, job in alone] == [["rt"]]
    results = run_jobs([(one.key, one.job) for one in points] + alone, None, Engine(2), "x")
    often, seldom = rows_of(experiment, points, results)
    assert often["nrt"] == ["write"] and often["nrt_slowdown"] == [None]
    assert often["nrt_traffic_slowdown"] is None
    assert often["nrt_mb_s"] > 3 * seldom["nrt_mb_s"] > 0
    assert often["rt_slowdown"] > seldom["rt_slowdown"] > 1


def test_a_slowdown_needs_iterations_of_all_parts_that_it_waits_for() -> None:
    experiment = unsectioned(load_experiment("regulator-spacing"))
    with pytest.raises(BadExperiment, match="`wait_for: measured`"):
        points_of(experiment.model_copy(update={"wait_for": "all"}), ("spaced",))


def test_slowdowns_are_in_relation_to_the_same_work_alone(tmp_path: Path) -> None:
    """Experiment 7 with small programs: beside a core that writes, a program that waits for memory is slowed
    down."""
    experiment = unsectioned(
        with_settings(
            load_experiment("regulators"),
            ("rt=[latency, membomb]", "nrt=[membomb]", "leave_out=1", "iterations=2"),
        )
    )
    small = tuple(part.model_copy(update={"params": {"size_kib": 512}}) for part in experiment.parts)
    experiment = experiment.model_copy(update={"parts": small})
    points = points_of(experiment, ("unregulated",))
    jobs = [(one.key, one.job) for one in points] + alone_jobs(points)
    assert [len(job["parts"]) for _, job in jobs] == [2, 1, 1]
    results = run_jobs(jobs, None, Engine(2), "x")
    (row,) = rows_of(experiment, points, results)
    assert (row["rt"], row["nrt"], row["policy"]) == ("latency", ["membomb"], "unregulated")
    assert set(row) - set(points[0].point) <= set(taken_names(experiment)), "new columns, new taken names"
    assert 1.3 < row["rt_slowdown"] < 20
    assert len(row["nrt_slowdown"]) == 1
    alone = results[1]["programs"][0]["iterations"][1:]
    dram = results[1]["dram"]
    moved = dram["read_bytes"] + dram["written_bytes"]
    assert row["rt_alone_mb_s"] == pytest.approx(moved * 1e6 / results[1]["simulated_ps"])
    assert row["rt_alone_ns"] == sum(time for _, time in alone) / len(alone) / 1000
    files = write_output(experiment, [row], tmp_path, ["x"], {})
    assert tmp_path / "rt_slowdown.png" in files
    assert polars.read_csv(tmp_path / "rows.csv")["nrt"].to_list() == ["membomb"]


def test_slowdowns_without_iterations_are_refused() -> None:
    with pytest.raises(BadExperiment, match="need `iterations`"):
        points_of(unsectioned(with_settings(load_experiment("regulators"), ("iterations=0",))))


def bulkhead(*arguments: str) -> subprocess.CompletedProcess[str]:
    """The command as users run it."""
    command = [sys.executable, "-m", "bulkhead.cli", *arguments]
    return subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(repository() / "src")},
    )


def small_trace(tmp_path: Path) -> Path:
    records = [Record(READ, 3, 4, 0x10000 + 64 * i) for i in range(5000)]
    about = {"program": "reader", "arguments": ["-n", "5000"], "package": "reading"}
    return write_trace(tmp_path / "small.trace", records, about=about)


def recorded_experiment(tmp_path: Path, trace: str) -> Path:
    file = tmp_path / "mine.yaml"
    file.write_text(
        "experiment: 1\nname: mine\ntitle: t\nplatform: s32v234\n"
        f"sweep: {{ rt: [{trace}, latency] }}\n"
        "parts:\n"
        "  - { name: rt, measured: true, core: 0, memory: 1 MiB, workload: $rt, params: { size_kib: 64 } }\n"
        "  - { name: nrt, core: 2, memory: 1 MiB, workload: membomb, params: { size_kib: 512 } }\n"
        "result: slowdown\nleave_out: 1\niterations: 2\nseeds: 1\n"
        "plots: [{ kind: bars, x: rt, y: rt_slowdown, x_label: x, y_label: y }]\n"
    )
    return file


def test_an_experiment_names_a_trace_where_it_names_a_workload(tmp_path: Path) -> None:
    """S1, S6: rows are as for a workload, the report describes the recording, and another trace is another
    input."""
    file = small_trace(tmp_path)
    experiment = recorded_experiment(tmp_path, str(file))
    command = ["experiment", str(experiment), "--again", "--json"]
    shown = parsed(bulkhead(*command).stdout)
    traced, workload = shown["rows"]
    assert (traced["rt"], workload["rt"]) == (str(file), "latency")
    assert 1 <= traced["rt_slowdown"] < 20
    (trace,) = shown["traces"]
    assert trace["sha256"] == hashlib.sha256(file.read_bytes()).hexdigest()
    assert (trace["records"], trace["instructions"]) == (5000, 20000)
    page = Path(shown["files"][0]).read_text()
    assert "reader -n 5000 of package reading: 20,000 instructions" in page
    again = parsed(bulkhead(*command).stdout)
    assert again["rows"] == shown["rows"]
    points = points_of(unsectioned(load_experiment(str(experiment))))
    before = [input_hash(one.job, "") for one in with_traces(points)[0]]
    write_trace(file, [Record(READ, 3, 4, 0x10000)])
    after = [input_hash(one.job, "") for one in with_traces(points)[0]]
    assert before[0] != after[0]
    assert before[1] == after[1]


def test_a_trace_that_is_not_there_or_damaged_is_said_before_anything_runs(tmp_path: Path) -> None:
    points = points_of(unsectioned(load_experiment(str(recorded_experiment(tmp_path, "sqlyte.trace")))))
    with pytest.raises(BadExperiment, match=r"did you mean 'sqlite\.trace'.*bulkhead record -o"):
        with_traces(points)
    file = small_trace(tmp_path)
    file.write_bytes(file.read_bytes()[:-5])
    code, refused = run_json("experiment", recorded_experiment(tmp_path, str(file)))
    assert code == 1
    assert "it has no end" in refused["reasons"][0]


def test_the_command_lists_and_says_what_is_wrong() -> None:
    listed = CliRunner().invoke(build_app(), ["experiment", "--json"])
    assert "coloring" in {one["name"] for one in parsed(listed.stdout)["experiments"]}
    for setting in ("n_kib", "n_kib=[8", "n_kib=8.."):
        malformed = CliRunner().invoke(build_app(), ["experiment", "coloring", "--set", setting])
        assert malformed.exit_code == 2
        assert "--set" in malformed.stderr
    wrong = CliRunner().invoke(build_app(), ["experiment", "coloring", "--only", "nobody", "--json"])
    assert wrong.exit_code == 1
    assert "nobody" in parsed(wrong.stdout)["reasons"][0]


def regulators(*settings: str, only: tuple[str, ...] = ()) -> list[Any]:
    return points_of(unsectioned(with_settings(load_experiment("regulators"), settings)), only)


def test_images_of_full_size_have_the_memory_that_they_need() -> None:
    """docs/results/regulators.md states that `tracking` needs 85.1 MiB then, more than the file's default."""
    for point in regulators("width=1920", "height=1080", "shifts=32", "rounds=5"):
        assert all(part["memory_bytes"] >= 86 << 20 for part in point.job["parts"])


def test_a_fixed_number_is_swept_by_a_range_and_drawn_over_it() -> None:
    """`--set regulation.threshold=50..100..5`, `.step`, `.interval`, `.bandwidth_threshold`."""
    experiment = unsectioned(
        with_settings(load_experiment("regulators"), ["regulation.threshold=50..100..5"])
    )
    points = points_of(experiment, ("dynamic", "membomb"))
    assert len(points) == 6 * 11
    assert {one.job["regulation"]["threshold"] for one in points} == {f"{n} %" for n in range(50, 101, 5)}
    drawn = [plot for plot in experiment.plots if plot.x == "regulation.threshold"]
    assert [plot.kind for plot in drawn] == ["lines"]
    of_words: list[Plot | Series] = [
        *(plot for plot in experiment.plots if plot.kind == "bars"),
        *experiment.series,
    ]
    assert len(of_words) > 1
    assert all(one.where["regulation.threshold"] == 80 for one in of_words), "the file's own value"
    elsewhere = unsectioned(with_settings(load_experiment("regulators"), ["regulation.threshold=[60, 70]"]))
    assert elsewhere.plots[0].where == {"regulation.threshold": 60}
    for setting, key, values in (
        ("regulation.step=5..15..5", "step", {"5 %", "10 %", "15 %"}),
        ("regulation.interval=[500, 1000]", "interval", {"500 us", "1000 us"}),
    ):
        swept = regulators(setting, only=("dynamic", "membomb"))
        assert {one.job["regulation"][key] for one in swept} == values
    rates = regulators("regulation.bandwidth_threshold=900..1000..50", only=("dynamic-bandwidth", "membomb"))
    assert {one.job["regulation"]["threshold"] for one in rates} == {"900 MB/s", "950 MB/s", "1000 MB/s"}
    with pytest.raises(BadExperiment, match="not a range"):
        regulators("regulation.threshold=50..10")
    with pytest.raises(BadExperiment, match=r"did you mean 'regulation\.threshold'"):
        regulators("regulation.treshold=50")
    with pytest.raises(BadExperiment, match=r"regulation\.threshold: '300 %' is out of range"):
        regulators("regulation.threshold=300")


def swept_rows() -> list[dict[str, Any]]:
    """Rows of one pair that a threshold affects, and of one that is the same run at both values."""
    return [
        {"policy": policy, "threshold": threshold, "y": 1.0 + threshold / 100, "digest": digest}
        for policy, digests in (("dynamic", ("a", "b")), ("unregulated", ("c", "c")))
        for threshold, digest in zip((50, 80), digests, strict=True)
    ]


def test_over_a_number_is_drawn_what_it_changes() -> None:
    over = {"x": "threshold", "y": "y", "x_label": "x", "y_label": "y", "series": ("policy",)}
    assert list(series_of(Plot.model_validate(over), swept_rows())) == [("dynamic",)]
    only = [row for row in swept_rows() if row["policy"] == "unregulated"]
    assert list(series_of(Plot.model_validate(over), only)) == [("unregulated",)], "better than nothing"
    bars = Plot.model_validate({**over, "kind": "bars", "x": "policy", "series": ()})
    assert len(series_of(bars, swept_rows())[()]) == 4


def test_many_series_are_named_outside_of_the_axes(tmp_path: Path) -> None:
    """The picture contains the whole name, and the axes keep their size."""
    rows = [{"x": n, "y": n, "name": f"a long name of series {s}", "digest": (s, n)}
            for s in range(30) for n in range(3)]  # fmt: skip
    plot = Plot.model_validate({"x": "x", "y": "y", "x_label": "x", "y_label": "y", "series": ("name",)})
    figure = Figure(figsize=(6.4, 3.6), layout="constrained")
    drawing_of(plot, rows)(figure)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        figure.savefig(tmp_path / "picture.png")
    [axes], [legend] = figure.axes, figure.legends
    whole, own, named = figure.bbox, axes.get_window_extent(), legend.get_window_extent()
    assert own.height > 0.3 * whole.height
    assert named.x0 >= 0 and named.x1 <= whole.x1 and named.y0 >= own.y1


def test_a_terminal_shows_the_columns_that_fit_and_tell_rows_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [
        {
            "same": 7,
            "some": 3 if n == 0 else None,
            "n": n,
            **{f"c{m}": n * m for m in range(1, 40)},
            "digest": n,
        }
        for n in range(40)
    ]
    out = io.StringIO()
    monkeypatch.setattr(command, "console", lambda: Console(file=out, width=80))
    command.show_rows(rows)
    text = out.getvalue()
    assert max(map(len, text.splitlines())) <= 80
    heading = text.splitlines()[1]
    assert " n " in heading and " c1 " in heading and "c39" not in heading
    assert "same" not in heading and "some" not in heading
    assert "40 rows" in text


def test_what_a_swept_value_does_not_change_is_the_same_job() -> None:
    """Its runs are made once."""
    points = regulators("regulation.threshold=[60, 80]", only=("unregulated", "tracking", "membomb"))
    assert len(points) == 2
    assert points[0].job == points[1].job


def test_each_policy_has_membomb_and_pairs_and_all_pairs_if_asked_for() -> None:
    for policy in ("static", "dynamic-bandwidth", "dynamic"):
        points = regulators(only=(policy,))
        pairs = [(one.point["rt"], one.point["nrt"]) for one in points]
        real = [(rt, nrt) for rt, nrt in pairs if nrt != "membomb"]
        assert len(pairs) == 12
        assert len({rt for rt, _ in real}) == len({nrt for _, nrt in real}) == 6
        assert len(regulators("pairs=all", only=(policy,))) == 36


def test_static_budgets_come_from_the_search_and_only_there() -> None:
    experiment = unsectioned(load_experiment("regulators"))
    plain = points_of(experiment, ("static", "tracking", "membomb"))
    (before,) = plain
    assert before.job["parts"][0]["bandwidth"]["counts"] == "sum"

    def slowdown(rate: int) -> float:
        return 1.01 if rate >= 650 * MB else 1.2

    def run(jobs: Any) -> list[Any]:
        found = []
        for key, job in jobs:
            (part,) = job["parts"]
            alone = key.startswith("alone-")
            assert ("bandwidth" in part) != alone
            rate = 0 if alone else int(part["bandwidth"]["budget"].split()[0])
            time = round(10**9 * (1 if alone else slowdown(rate)))
            found.append({"programs": [{"first_ps": 0, "iterations": [(0, time)]}]})
        return found

    budgets = find_budgets(experiment, plain, run)
    assert budgets is not None
    (point,) = points_of(experiment, ("static", "tracking", "membomb"), budgets)
    assert [part["bandwidth"]["budget"] for part in point.job["parts"]] == ["650 MB/s", "300 MB/s"]
    assert (point.point["budget.rt"], point.point["budget.nrt"]) == ("650 MB/s", "300 MB/s")
    assert find_budgets(experiment, regulators(only=("dynamic", "membomb")), run) is None


def test_the_search_asks_for_few_budgets_and_says_when_none_is_enough() -> None:
    asked: list[str] = []

    def run(jobs: Any) -> list[Any]:
        asked.extend(key for key, _ in jobs)
        times = [1000 if key.startswith("alone-") else 1000 + int("never" in key) * 500 for key, _ in jobs]
        return [{"programs": [{"first_ps": 0, "iterations": [(0, time * 1000)]}]} for time in times]

    job = {"platform": "s32v234", "parts": [{"name": "rt"}]}
    found = smallest_budgets({"easy": job, "never": job}, run, bound=0.05, step=50 * MB, below=900 * MB)
    assert found["easy"].budget == 50 * MB
    assert found["never"].budget is None
    assert len(asked) <= 2 + 2 * 5


def test_equal_jobs_run_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    job = {"platform": "rpi2", "parts": [small_part()]}
    made: list[int] = []
    real = worker.run

    def counted(task: str) -> str:
        made.append(1)
        return real(task)

    monkeypatch.setattr(worker, "run", counted)
    first, second, other = run_jobs(
        [("a", job), ("b", job), ("c", {**job, "seed": 2})], tmp_path, Engine(1), "t"
    )
    assert first == second
    assert other["digest"] != first["digest"] or other == first
    assert len(made) == 2
    assert run_jobs([("a", job), ("b", job)], tmp_path, Engine(1), "t") == [first, first]
    assert len(made) == 2


def small_part() -> dict[str, Any]:
    return {"name": "one", "core": 0, "memory_bytes": 65536, "kind": "read", "walks": 2, "instructions": 2}


def test_time_series_are_tables_and_plots(tmp_path: Path) -> None:
    experiment = unsectioned(with_settings(load_experiment("reservation"), ["n_kib=512", "walks=20"]))
    experiment = experiment.model_copy(
        update={"series": tuple(one.model_copy(update={"where": {}}) for one in experiment.series)}
    )
    points = points_of(experiment, ("4 MB/s",))
    results = run_jobs([(one.key, one.job) for one in points], None, Engine(1), "t")
    rows = rows_of(experiment, points, results)
    files = write_output(experiment, rows, tmp_path, ["x"], {}, (points, results))
    names = {file.name for file in files}
    assert {"series.parquet", "series.csv", "series-1-lines_mb_s.svg"} <= names
    table = polars.read_parquet(tmp_path / "series.parquet")
    walker = table.filter(polars.col("part") == "walker")
    assert walker.height >= 3
    assert walker["limit_events"].to_list() == [62] * walker.height  # 4 MB/s in 1 ms
    assert max(walker["lines_mb_s"].to_list()) < 8
    assert min(walker["throttled"].to_list()) > 0.5


def test_too_many_parts_are_told_how_many_there_may_be(tmp_path: Path) -> None:
    file = tmp_path / "many.yaml"
    part = "{ name: a, core: 0, memory: 64 KiB, kind: read }"
    file.write_text(
        "experiment: 1\nname: many\ntitle: t\nplatform: rpi2\nresult: walk-times\nsweep: { core: [0] }\n"
        f"parts: [{', '.join([part] * 65)}]\n"
    )
    with pytest.raises(BadExperiment, match=r"parts: has 65 elements.*allowed: at most 64"):
        load_experiment(str(file))
