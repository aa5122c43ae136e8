# SPDX-License-Identifier: Apache-2.0
"""M5: effects of MPAM's controls on the simulated machine, at small sizes; and the points of the files of
experiment `mpam`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from bulkhead.cli import build_app
from bulkhead.commands import experiment as command
from bulkhead.experiments.columns import taken_names
from bulkhead.experiments.model import BadExperiment, Experiment, Sectioned, load_experiment, points_of
from bulkhead.experiments.override import quick, with_seeds, with_settings
from bulkhead.experiments.partition_rows import partition_columns
from bulkhead.experiments.run import count_points, rows_of_seeds
from bulkhead.machine.native import built_machine
from bulkhead.machine.point import run_point
from bulkhead.planning.mpam_native import mpam
from tests.json_results import parsed

PEAK_MB_S = 17064  # of the data bus of mpam4
SECTIONS = ("cache", "bandwidth", "shares", "reservation", "monitors")


@pytest.fixture(scope="module", autouse=True)
def _built() -> None:
    built_machine()
    mpam()


def experiment(name: str, *settings: str) -> Experiment:
    what = with_seeds(with_settings(load_experiment(name), settings), 1)
    assert isinstance(what, Experiment)
    return what


def rows(what: Experiment, *only: str) -> list[dict[str, Any]]:
    found, _ = rows_of_seeds(what, points_of(what, only), lambda jobs: [run_point(job) for _, job in jobs])
    return found


def at(found: list[dict[str, Any]], **values: Any) -> dict[str, Any]:
    (row,) = [row for row in found if all(row[key] == value for key, value in values.items())]
    return row


@pytest.mark.req("M5")
def test_within_its_portions_a_core_runs_as_if_alone_and_without_them_it_loses_a_fifth() -> None:
    """The program updates every word. A program that updates one word of each line uses most of the level's
    one port, which no control divides; without the port's time it runs as if alone, too."""
    what = experiment(
        "mpam-cache", "n_kib=384", "isolation=[none, portions-512k]", "cmax=[null]", "private_l2=[false]",
        "walks=4",
    )  # fmt: skip
    found = rows(what, "hogs") + rows(what, "alone", "none")
    alone = {row["step"]: row["mean_ns"] for row in found if row["corun"] == "alone"}
    for step, port, lost, kept in ((8, "shared", 1.2, 1.02), (64, "free", 2, 1.02), (64, "shared", 2, 1.6)):
        point = {"corun": "hogs", "step": step, "port": port}
        none, portions = at(found, isolation="none", **point), at(found, isolation="portions-512k", **point)
        assert none["mean_ns"] > lost * alone[step]
        assert none["evicted_by_others"] > 1000
        assert portions["mean_ns"] <= kept * alone[step]
        assert portions["evicted_by_others"] == 0
        assert portions["others_kib"] == 512


@pytest.mark.req("M5")
@pytest.mark.parametrize("isolation", ["coloring", "portions", "capacity"])
def test_equal_shares_keep_the_same_working_set(isolation: str) -> None:
    what = experiment(
        "mpam-shares", "n_kib=448", "private_l2=[false]", f"isolation=[none, {isolation}]", "walks=4"
    )
    found = rows(what, "hogs")
    none, own = at(found, isolation="none"), at(found, isolation=isolation)
    assert none["mean_ns"] > 3 * own["mean_ns"]
    assert own["evicted_by_others"] < none["evicted_by_others"] / 10
    assert own["others_kib"] <= 576


@pytest.mark.req("M5")
def test_a_hard_maximum_is_kept_and_a_minimum_preferred() -> None:
    what = experiment(
        "mpam-bandwidth", "kind=[chase]", "control=[none, max-hard, min]", "cache_portions=[false]",
        "n_kib=1536", "walks=3",
    )  # fmt: skip
    found = rows(what, "hogs")
    none, hard, least = (at(found, control=one) for one in ("none", "max-hard", "min"))
    assert none["others_mb_s"] > PEAK_MB_S / 2
    assert hard["others_mb_s"] == pytest.approx(PEAK_MB_S / 4, rel=0.02)
    assert hard["mean_ns"] < 0.8 * none["mean_ns"]
    assert least["mean_ns"] < 0.8 * none["mean_ns"]
    point = points_of(what)[0].point
    assert set(none) - set(point) <= set(taken_names(what)), "new columns, new taken names"
    assert least["others_mb_s"] > PEAK_MB_S / 3, "a minimum leaves the others what nobody wants"


@pytest.mark.req("M5")
def test_hardware_and_software_limit_hogs_to_the_same_bandwidth() -> None:
    what = experiment(
        "mpam-reservation", "refills_mb_s=355.5", "kind=[chase]", "mechanism=[max-hard, reservation]",
        "n_kib=1536", "walks=4", "period=[1 ms, 100 us]",
    )  # fmt: skip
    hard, slow, software = rows(what, "hogs")
    assert hard["others_mb_s"] == pytest.approx(6 * 355.5, rel=0.02)
    written_before = (
        0.75 * 2**20 / software["simulated_ns"] * 1000
    )  # MB/s: lines of theirs that the cache held
    assert 6 * 355.5 * 0.98 < software["others_mb_s"] < 6 * 355.5 * 1.02 + written_before
    assert slow["max_ns"] > software["max_ns"], "a period begins with all that its budget allows"


@pytest.mark.req("M5")
def test_monitors_say_what_the_machine_counts() -> None:
    """Storage is equal to the byte; bandwidth differs by traffic in flight between the level and memory."""
    what = experiment(
        "mpam-monitors", "kind=[update]", "isolation=[portions]", "private_l2=[false]", "walks=3"
    )
    running, ended = rows(what)
    assert running["held_monitor_kib"] == [512, 512]
    for row in (running, ended):
        assert row["held_off_bytes"] == 0
        assert min(row["read_monitor_mb"] + row["written_monitor_mb"]) > 1
        for way in ("read", "written"):
            assert abs(row[f"{way}_off_bytes"]) <= 64 * 64, "outstanding misses of the level, a line each"
    assert (ended["read_off_bytes"], ended["written_off_bytes"]) == (0, 0)


@pytest.mark.req("M5")
def test_a_monitor_that_counts_another_partition_too_would_be_seen() -> None:
    what = experiment(
        "mpam-monitors", "kind=[update]", "isolation=[portions]", "private_l2=[false]", "walks=3"
    )
    (job,) = [one.job for one in points_of(what, ("0",))]
    result = run_point(job)
    first, second = result["partitions"]
    first["moved"]["read"] += second["moved"]["read"]
    first["held"] += 64
    columns = partition_columns(result, 1, "l3")
    assert columns["read_off_bytes"] > 64 * 64
    assert columns["held_off_bytes"] == 64


@pytest.mark.req("M5")
def test_points_have_the_bitmaps_and_a_domain_of_three_cores() -> None:
    what = load_experiment("mpam-cache")
    assert isinstance(what, Experiment)
    seen = set()
    for one in points_of(what):
        wanted = {part["name"]: part.get("llc", {}) for part in one.job.get("partitions", ())}
        labels = {part["name"]: part.get("partition") for part in one.job["parts"]}
        if one.point["isolation"] == "none":
            assert not wanted
            assert set(labels.values()) == {None}
            continue
        assert set(labels.values()) <= {"vm0", "vm1"}
        assert all(labels[name] == "vm1" for name in labels if name.startswith("hog"))
        assert all(llc.get("max") == one.point["cmax"] for llc in wanted.values())
        seen.add(tuple(llc["portions"] for llc in wanted.values()))
        assert one.job["from_part"] == "measured"
    assert seen == {(0xF0F0, 0x0F0F), (0xF0F0F0, 0x0F0F0F), (0xF0F0F0F0, 0x0F0F0F0F)}


@pytest.mark.req("M5")
def test_one_command_has_all_sections_and_a_quick_form(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = load_experiment("mpam")
    assert isinstance(whole, Sectioned)
    assert tuple(whole.sections) == SECTIONS
    small = quick(whole)
    assert 0 < count_points(small) < count_points(whole) / 4
    monkeypatch.setattr("bulkhead.env.paths.build_dir", lambda: tmp_path)
    monkeypatch.setattr(command, "_show", lambda *_: None)
    done = CliRunner().invoke(
        build_app(), ["experiment", "mpam", "--quick", "--only", "monitors", "--seeds", "2", "--json"]
    )
    assert done.exit_code == 0, done.output
    found = parsed(done.stdout)
    assert {row["section"] for row in found["rows"]} == {"monitors"}
    assert {row["seeds"] for row in found["rows"]} == {2}
    assert (tmp_path / "run" / "experiments" / "mpam-monitors" / "report.html").is_file()
    with pytest.raises(BadExperiment, match="'coloring' has no `quick` values"):
        quick(load_experiment("coloring"))
    with pytest.raises(BadExperiment, match="'flows' has sections without `quick`"):
        quick(load_experiment("flows"))


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("partition: vm0", "partition: vm2", "parts[0].partition: there is no partition 'vm2'; did you mean"),
        ("when: { isolation", "when: { isolatoin", "partitions[0].when: there is no value 'isolatoin'"),
        ("max: $cmax", "max: $cmaxx", "partitions[0].llc: there is no value 'cmaxx'"),
        ("{ private_l2: false }, set", "{ private: false }, set", "changes[0].when: there is no value"),
    ],
)  # fmt: skip
def test_names_that_nothing_has_are_refused(tmp_path: Path, old: str, new: str, reason: str) -> None:
    text = Path("experiments/mpam-cache.yaml").read_text(encoding="utf-8")
    assert old in text
    file = tmp_path / "mine.yaml"
    file.write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(BadExperiment) as refused:
        load_experiment(str(file))
    assert reason in str(refused.value)


def test_a_section_is_an_experiment_that_there_is(tmp_path: Path) -> None:
    text = Path("experiments/mpam.yaml").read_text(encoding="utf-8")
    file = tmp_path / "mine.yaml"
    file.write_text(text.replace("mpam-shares", "mpam-sharse"), encoding="utf-8")
    with pytest.raises(BadExperiment, match="there is no experiment 'mpam-sharse'; did you mean"):
        load_experiment(str(file))
