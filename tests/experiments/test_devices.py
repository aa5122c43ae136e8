# SPDX-License-Identifier: Apache-2.0
"""Experiment `devices` (D5) with short runs: rows of the sections, and the headline that `sensitivity`
varies."""

from __future__ import annotations

from fractions import Fraction
from types import SimpleNamespace
from typing import Any, cast

import pytest

from bulkhead.experiments import device_colors, device_rows
from bulkhead.experiments.check import findings_of_sections
from bulkhead.experiments.means import Means
from bulkhead.experiments.model import BadExperiment, Sectioned, load_experiment
from bulkhead.experiments.said import Headline
from bulkhead.experiments.sensitivity import asked, sensitivity
from bulkhead.machine.facts import MIB
from bulkhead.machine.point import run_point

QUARTER = Fraction(1, 4)
SHORT = {"memory_bytes": 2 * MIB, "walks": 2}  # the cache has 1 MiB; the first walk is not counted


def run(jobs: Any, _: str = "") -> list[Any]:
    return [run_point({**job, "parts": [part | SHORT for part in job["parts"]]}) for _, job in jobs]


def means(seeds: int = 1) -> Means:
    return cast("Means", SimpleNamespace(seeds=seeds, jobs=run))


@pytest.mark.req("D5")
@pytest.mark.usefixtures("machine_built")
def test_what_devices_and_misses_of_their_smmu_cost() -> None:
    points: list[dict[str, Any]] = [
        {"device": "disk", "translation": "none", "register": 0},
        {"device": "disk-unpaced", "translation": "none", "register": 0},
        {"device": "disk-unpaced", "translation": "none", "register": 20},
        {"device": "disk-unpaced", "translation": "pages", "register": 0},
    ]
    assert all(point in device_rows.points_of(device_rows.CONTENTION) for point in points)
    paced, unpaced, regulated, pages = device_rows.rows(points, means(), "contention")
    assert 1 < paced["slowdown"] < 1.2
    assert unpaced["slowdown"] > paced["slowdown"] + 0.2, "nothing limits it"
    assert regulated["slowdown"] < paced["slowdown"]
    assert regulated["mb_s"] == pytest.approx(regulated["allowed_mb_s"], rel=0.02)
    assert unpaced["misses_per_kib"] == 0
    assert pages["misses_per_kib"] == pytest.approx(0.25, rel=0.02), "one for each page of 4 KiB"
    assert pages["mb_s"] < 0.95 * unpaced["mb_s"], "misses cost the device"
    assert pages["slowdown"] < unpaced["slowdown"], "and not the core"


@pytest.mark.req("D5")
@pytest.mark.usefixtures("machine_built")
def test_what_colored_memory_of_a_device_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device_colors, "CORE_KIB", {256: 40})
    points: list[dict[str, Any]] = [
        {"device": "disk-unpaced", "memory": memory, "reader": reader, "core_kib": 256}
        for reader, memory in ((True, "contiguous"), (True, "half"), (True, "one"), (False, "contiguous"))
    ]
    assert all(point in device_colors.points() for point in points)
    few = cast("Means", SimpleNamespace(seeds=1, jobs=lambda jobs, _: [run_point(job) for _, job in jobs]))
    contiguous, half, one, unread = device_colors.rows(points, few)
    assert contiguous["evicted_per_1000_reads"] > 1, "by the core that reads what the disk has written"
    assert half["evicted_per_1000_reads"] == one["evicted_per_1000_reads"] == 0
    assert unread["evicted_per_1000_reads"] == 0, "lines of a device are allocated in no cache"
    assert {row["evicted_by_device"] for row in (contiguous, half, one, unread)} == {0}
    assert half["slowdown"] < contiguous["slowdown"]
    assert half["misses_per_kib"] == pytest.approx(0.25, rel=0.02), "one for each page of 4 KiB"
    assert contiguous["misses_per_kib"] < 0.01
    assert half["mb_s"] < contiguous["mb_s"]


@pytest.mark.req("D5", "S7")
@pytest.mark.usefixtures("machine_built")
def test_the_headline_moves_with_parameters_of_the_platform_and_of_the_device() -> None:
    only = ("device.line_ps", "iommus[0].timing.request", "iommus[0].timing.main.entries")
    what = asked(load_experiment("devices"), QUARTER, only, run)
    rows = {(row["parameter"], row["side"]): row for row in sensitivity(what, run)}
    headline = rows["(as the file has it)", ""]["headline"]
    assert headline is not None and headline > 1.2
    for name in only[:2]:
        change = rows[name, "more"]["change_percent"]
        assert change is not None and change < 0, f"{name}: a slower device takes less from the core"
    assert "cannot be divided" in str(rows[only[2], "more"]["refused"])


def test_a_value_of_a_device_is_set_where_there_is_one() -> None:
    point = {"device": "network", "translation": "pages", "register": 0}
    changed = device_rows.changed(device_rows.beside(point, 1), "device.outstanding_lines=12")
    assert changed["devices"][0]["outstanding_lines"] == 12
    assert "platform_set" not in changed
    alone = device_rows.alone(1)
    assert device_rows.changed(alone, "device.outstanding_lines=12") == alone
    setting = "iommus[0].timing.request=30 ns"
    assert device_rows.changed(alone, setting)["platform_set"] == [setting]


def test_a_headline_of_a_section_is_one_point_of_one_section() -> None:
    what = load_experiment("devices")
    assert isinstance(what, Sectioned)

    def codes(**headlines: Headline | None) -> list[str]:
        sections = {
            name: one.model_copy(update={"headline": headlines.get(name)})
            for name, one in what.sections.items()
        }
        return [one.code for one in findings_of_sections(what.model_copy(update={"sections": sections}))]

    good = what.sections["contention"].headline
    assert good is not None
    assert codes(contention=good) == []
    assert codes(contention=good.model_copy(update={"y": "slowness"})) == ["unknown-name"]
    assert codes(contention=good.model_copy(update={"where": {"register": 0}})) == ["not-one"]
    assert codes(tlb=good) == ["not-supported"]
    assert codes(contention=good, tlb=good) == ["not-supported", "conflict"]
    with pytest.raises(BadExperiment, match="no section of 'mxu' states a headline"):
        asked(load_experiment("mxu"), QUARTER, (), run)
