# SPDX-License-Identifier: Apache-2.0
"""Calibration and limits: facts are measured, the fit finds the values that produced them, and values go into
the file."""

from __future__ import annotations

import json
import shutil
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from bulkhead.campaign.points import PointFailed
from bulkhead.cli import build_app
from bulkhead.envelope import platform_sha256
from bulkhead.machine.calibrate import FREE, check, fit, settings_for, write
from bulkhead.machine.delays import measured_delays, stated
from bulkhead.machine.facts import KERNELS, measurement
from bulkhead.machine.independence import perturb
from bulkhead.machine.job import on_platform
from bulkhead.machine.limits import SustainedRate, guaranteed, peak_mb_per_s, sustained
from bulkhead.machine.native import built_machine
from bulkhead.machine.point import run_point
from bulkhead.machine.settings import settings_of
from tests.json_results import parsed, validated

from ..platforms import platform

pytestmark = pytest.mark.usefixtures("machine_built")

ROOT = Path(__file__).parents[2]


def run(jobs: Any) -> list[Any]:
    return [run_point(job) for job in jobs]


@pytest.mark.parametrize(("name", "cycles"), [("zynq7020", 6), ("stm32f767", 2)])
def test_the_fit_finds_the_published_cost_of_a_load(name: str, cycles: int, tmp_path: Path) -> None:
    """From a wrong value the fit brings the machine to the fact, and writes the value into the file."""
    path = tmp_path / f"{name}.yaml"
    text = (ROOT / "platforms" / f"{name}.yaml").read_text()
    path.write_text(text.replace(f"load_use: {cycles - 1}", "load_use: 11"))
    one = platform(path)
    values = fit(one, run)
    checked = check(one, run, values)
    assert checked[0].measured == pytest.approx(cycles, rel=0.001)
    assert all(found.fact.compared or found.measured is None for found in checked[1:])
    write(path, values, checked)
    assert path.read_text() == text


def test_a_tlb_miss_costs_about_what_was_published() -> None:
    """Nothing was fitted to it."""
    hit, miss = check(platform("zynq7020"), run)
    assert (hit.fact.fact, miss.fact.fact) == ("load-hit", "load-tlb-miss")
    assert miss.measured == pytest.approx(434, rel=0.1)


def test_free_parameters_are_marked_in_their_platform_and_reach_the_settings() -> None:
    for name, free in FREE.items():
        one = platform(name)
        named = {key for fact in one.calibration for key in fact.parameters}
        assert named == {parameter.key for parameter in free}
        for parameter in free:
            changed = settings_for(one, {parameter: parameter.high})
            for path, value in changed.items():
                where: Any = settings_of(one)
                for part in path.split("."):
                    where = (where[0] if isinstance(where, list) else where)[part]
                assert where != value or parameter.high == parameter.low


def test_facts_that_were_fitted_are_as_the_files_say() -> None:
    """The machine built from a file gives the file's values (to the stated digits)."""
    for name in ("s32v234", "zynq7020", "stm32f767"):
        one = platform(name)
        for found in check(one, run, all_facts=False):
            if found.measured is not None and found.fact.measured is not None:
                assert found.measured == pytest.approx(float(found.fact.measured), rel=0.02), found.fact.fact


def test_workloads_are_measured_as_the_file_says_and_nothing_is_fitted_to_them() -> None:
    """S4: rows of the published programs are compared with our kernels: all ten, and one of them is measured
    again."""
    built_machine(workloads=True)
    one = platform("s32v234")
    facts = {fact.fact: fact for fact in one.calibration if fact.compared}
    assert set(facts) == {f"{name}-{what}" for name in KERNELS for what in ("bandwidth", "ipc")}
    fitted: list[str] = []

    def recorded(jobs: Any) -> list[Any]:
        fitted.extend(part["name"] for job in jobs for part in job["parts"])
        return run(jobs)

    check(one, recorded, all_facts=False)
    assert not set(fitted) & set(KERNELS)
    for fact in ("points2image-bandwidth", "points2image-ipc"):
        how = measurement(one, fact)
        assert how is not None
        assert how.value(run_point(how.job(one))) == pytest.approx(float(facts[fact].measured or 0), rel=0.02)


def test_a_write_that_finds_the_file_otherwise_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "zynq7020.yaml"
    shutil.copy(ROOT / "platforms" / "zynq7020.yaml", path)
    path.write_text(path.read_text().replace("load_use: 5", "load_use: 0x5"))
    with pytest.raises(AssertionError, match="is not there"):
        write(path, {FREE["zynq7020"][0]: 4}, ())


def test_limits_stay_below_the_peak_and_the_worst_pattern_is_the_guarantee() -> None:
    """B10 on a chip with one core: streams use most of the bus, accesses to changing rows use little."""
    one = platform("stm32f767")
    found = sustained(one, run)
    by_name = {row.pattern: row.mb_per_s for row in found}
    assert peak_mb_per_s(one) == 432
    assert all(0 < row.mb_per_s <= peak_mb_per_s(one) for row in found)
    assert guaranteed(found, 1).mb_per_s == min(by_name.values())
    assert by_name["same-bank writes"] < by_name["sequential writes"]


def test_the_guarantee_is_the_least_of_a_busy_dram_however_many_cores_ask() -> None:
    rows = [
        SustainedRate("light", 1, 10.0, 0.3),  # it requests no more
        SustainedRate("hard", 1, 900.0, 1.0),
        SustainedRate("hard", 2, 950.0, 1.0),
        SustainedRate("light", 2, 20.0, 0.6),
    ]
    assert guaranteed(rows, 2) == rows[1]
    assert guaranteed([rows[0], rows[3]], 2) == rows[3]


def test_what_is_sustained_is_counted_with_full_caches() -> None:
    """One core writes far more than its caches hold: lines written equal lines fetched, except streamed
    ones."""
    part = {"name": "one", "core": 0, "memory_bytes": 2 << 20, "kind": "write", "walks": 0, "shuffled": True}
    job = {"platform": "stm32f767", "parts": [part], "from_ps": 100_000_000, "until_ps": 300_000_000}
    result, cold = run([job, {**job, "from_ps": 0}])
    window, whole = result["dram"], cold["dram"]
    assert result["simulated_ps"] == pytest.approx(200_000_000, rel=0.01)
    assert window["read_bytes"] == pytest.approx(window["written_bytes"], rel=0.02)
    assert window["read_bytes"] > 0
    assert whole["written_bytes"] < 0.98 * whole["read_bytes"], "at first nothing is written back"


def test_the_commands_answer_in_json_and_name_an_unknown_platform(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bulkhead.machine.native.built_machine", lambda **_: None)  # the fixture has built
    shown = CliRunner().invoke(build_app(), ["calibrate", "stm32f767", "--check", "--json"]).output
    answer, _ = json.JSONDecoder().raw_decode(shown[shown.index("{") :])  # progress may stand around it
    validated(answer)
    facts = {fact["fact"]: fact for fact in answer["facts"]}
    assert facts["load-hit"]["target"] == 2
    assert facts["load-region-miss"]["measured"] is None
    both = CliRunner().invoke(build_app(), ["calibrate", "stm32f767", "--check", "--write"])
    assert both.exit_code == 2, "one that only looks must not write"
    for command in ("calibrate", "limits"):
        wrong = CliRunner().invoke(build_app(), [command, "zcu12", "--json"])
        assert wrong.exit_code == 1
        assert "zcu102" in parsed(wrong.stdout)["reasons"][0]


@pytest.mark.parametrize("name", ["stm32f767", "own"])
def test_a_platform_file_is_measured_itself_and_not_the_platform_of_its_name(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bulkhead.machine.native.built_machine", lambda **_: None)  # the fixture has built
    text = (ROOT / "platforms" / "stm32f767.yaml").read_text()
    path = tmp_path / "mine.yaml"
    path.write_text(text.replace("load_use: 1", "load_use: 11").replace("name: stm32f767", f"name: {name}"))
    shown = CliRunner().invoke(build_app(), ["calibrate", str(path), "--check", "--json"]).output
    answer, _ = json.JSONDecoder().raw_decode(shown[shown.index("{") :])  # progress may stand around it
    validated(answer)
    facts = {fact["fact"]: fact for fact in answer["facts"]}
    assert facts["load-hit"]["measured"] == pytest.approx(12, rel=0.01)
    assert answer["platform"] == name
    assert answer["platform_sha256"] == platform_sha256(str(path)) != platform_sha256("stm32f767")


def test_limits_measures_the_platform_of_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bulkhead.machine.native.built_machine", lambda **_: None)  # the fixture has built
    asked: list[str] = []

    def ended(jobs: Any, *_: Any) -> list[Any]:
        asked.extend(job["platform"] for _, job in jobs)
        raise PointFailed("as the test wants")

    monkeypatch.setattr("bulkhead.campaign.points.run_jobs", ended)
    path = tmp_path / "mine.yaml"
    shutil.copy(ROOT / "platforms" / "stm32f767.yaml", path)
    assert CliRunner().invoke(build_app(), ["limits", str(path)]).exit_code == 1
    assert set(asked) == {str(path)}


def test_parameters_are_changed_within_the_limits_of_the_file(tmp_path: Path) -> None:
    """`--perturb` of a file whose name no platform has."""
    path = tmp_path / "mine.yaml"
    text = (ROOT / "platforms" / "stm32f767.yaml").read_text()
    path.write_text(text.replace("name: stm32f767", "name: own"))
    one = platform(path)
    found = perturb(path, one, lambda jobs: run(on_platform(jobs, str(path))), Fraction(1, 4))
    assert len(found.settings) > 1


def test_b11_a_core_of_the_same_cluster_delays_reads_by_more_than_one_of_another() -> None:
    found = measured_delays(platform("s32v234"), run)
    assert len(found) == 9
    for pattern in {one.pattern for one in found}:
        own = [one for one in found if one.pattern == pattern]
        assert [(one.cores, one.cluster) for one in own] == [
            ((2,), False),
            ((2, 3), False),
            ((1, 2, 3), True),
        ]
        assert 0 < own[0].delay_ns < own[1].delay_ns < own[2].delay_ns
    board = platform("s32v234").dram
    assert board is not None and board.delays is not None
    given = board.delays
    in_file = f"apart: {given.apart} ns, cluster: {given.cluster} ns, least: {given.least // 10**6} MB/s"
    assert stated(found) == in_file
