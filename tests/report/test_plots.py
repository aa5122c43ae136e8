# SPDX-License-Identifier: Apache-2.0
"""The plots of a run's page show their data: bars with the length of the numbers, lines of owners, cells of
pairs."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bulkhead.report import plots
from bulkhead.report.html import render
from bulkhead.report.load import LoadedRun, load_run
from bulkhead.report.style import PALETTE, WRONG, owner_color, power_of_ten
from bulkhead.run.target import RunOptions

from ..run.made_up import NAMES, UNPROTECTED_EVICTIONS, MadeUp
from .marks import Mark, cells, marks, pictures

COLORS = [owner_color(NAMES, name) for name in NAMES]
GREY = owner_color(NAMES, "hypervisor")
RED = WRONG
COUNTED = RunOptions(icount=True, for_ns=20 * 10**9)


@pytest.fixture(scope="module")
def isolated(tmp_path_factory: pytest.TempPathFactory) -> LoadedRun:
    directory = tmp_path_factory.mktemp("isolated")
    MadeUp(directory).result()
    return load_run(directory)


@pytest.fixture(scope="module")
def unprotected(tmp_path_factory: pytest.TempPathFactory) -> LoadedRun:
    directory = tmp_path_factory.mktemp("open")
    options = RunOptions(observe=True, unprotected=True, for_ns=20 * 10**9)
    MadeUp(directory, colored=False, options=options, evicted=UNPROTECTED_EVICTIONS).result()
    return load_run(directory)


@pytest.fixture(scope="module")
def counted(tmp_path_factory: pytest.TempPathFactory) -> LoadedRun:
    """A run in counted time, for which alone lateness is shown."""
    directory = tmp_path_factory.mktemp("counted")
    MadeUp(directory, options=COUNTED).result()
    return load_run(directory)


def evicted(victim: str) -> int:
    return sum(n for (one, _), n in UNPROTECTED_EVICTIONS.items() if one == victim)


def labels(svg: str) -> list[str]:
    return re.findall(r"<text[^>]*>([^<]*)</text>", svg)


def order(values: Sequence[float]) -> list[int]:
    return sorted(range(len(values)), key=lambda index: values[index])


def colors(found: Sequence[Mark]) -> list[str]:
    return [mark.color for mark in found]


def test_every_plot_of_a_page_shows_something(
    isolated: LoadedRun, unprotected: LoadedRun, counted: LoadedRun
) -> None:
    own = {
        "Over time",
        "Exits to the hypervisor",
        "Lines that others evicted",
        "Who evicted whom",
    }
    shown = pictures(render([unprotected]))
    assert set(shown) == own
    assert [title for title, svg in shown.items() if not marks(svg) and "<image" not in svg] == []
    shown = pictures(render([isolated]))
    assert set(shown) == own | {"Colors of all mapped frames"}
    assert [title for title, svg in shown.items() if not marks(svg) and "<image" not in svg] == []
    assert marks(pictures(render([counted]))["Release jitter"])


def test_evictions_have_a_bar_for_each_domain_of_each_run(
    isolated: LoadedRun, unprotected: LoadedRun
) -> None:
    found = marks(plots.evictions([unprotected, isolated]) or "")
    assert colors(found) == COLORS * 2
    assert order([bar.height for bar in found[:3]]) == order([evicted(name) for name in NAMES])
    assert min(bar.height for bar in found[:3]) > 100
    assert [bar.height for bar in found[3:]] == [0, 0, 0], "nothing was evicted when isolated"
    both = zip(found[:3], found[3:], strict=True)
    assert all(first.right < second.left for first, second in both), "beside each other"


def test_evictions_are_on_one_logarithmic_scale(unprotected: LoadedRun) -> None:
    found = marks(plots.evictions([unprotected]) or "")
    logs = [math.log10(evicted(name)) for name in NAMES]
    per_decade = (found[1].height - found[0].height) / (logs[1] - logs[0])
    assert found[2].height - found[0].height == pytest.approx(per_decade * (logs[2] - logs[0]), abs=0.1)


def test_logarithmic_axes_are_labelled_with_powers_of_ten(unprotected: LoadedRun, counted: LoadedRun) -> None:
    assert {"0", "10¹", "10²", "10³"} <= set(labels(plots.evictions([unprotected]) or ""))
    assert {"0", "10⁰"} <= set(labels(plots.exits(unprotected) or ""))
    assert {"0", "10⁻⁴", "10⁻¹", "10⁰"} <= set(labels(plots.jitter([counted]) or ""))


@pytest.mark.parametrize(
    ("value", "label"), [(0, "0"), (1e-3, "10⁻³"), (1e15, "10¹⁵"), (-100, "\N{MINUS SIGN}10²"), (20, "20")]
)
def test_a_label_is_a_power_of_ten_or_the_number_itself(value: float, label: str) -> None:
    assert power_of_ten(value) == label


def test_the_map_of_evictions_colors_those_who_took_from_others(
    isolated: LoadedRun, unprotected: LoadedRun
) -> None:
    owners = ["hypervisor", *NAMES]
    taken = [[(victim, by) in UNPROTECTED_EVICTIONS for by in owners] for victim in owners]
    assert cells(plots.who_evicted_whom(unprotected) or "", 4, 4) == taken
    assert not any(map(any, cells(plots.who_evicted_whom(isolated) or "", 4, 4)))


def test_over_time_has_two_lines_for_each_owner(unprotected: LoadedRun) -> None:
    """There are forty windows, so eighty corners and the two ends on the axis."""
    found = marks(plots.over_time(unprotected) or "")
    owners = [GREY, *COLORS]
    assert colors(found) == owners * 2
    assert {mark.points for mark in found} == {82}
    upper, lower = found[:4], found[4:]
    assert max(mark.bottom for mark in upper) < min(mark.top for mark in lower)
    assert order([-line.top for line in upper]) == order([evicted(name) for name in ("hypervisor", *NAMES)])
    assert [line.height > 0 for line in lower] == [True] * 4, "misses change from window to window"
    assert order([line.height for line in lower]) == [0, 1, 2, 3]


def test_over_time_has_one_scale_for_all_runs_of_a_page(isolated: LoadedRun, unprotected: LoadedRun) -> None:
    """A quiet run must not look as busy as the other one."""
    both = [unprotected, isolated]
    drawn = [plots.over_time(run, both) or "" for run in both]
    assert labels(drawn[0]) == labels(drawn[1])
    assert labels(plots.over_time(isolated) or "") != labels(drawn[1])


def test_a_domain_keeps_its_color_where_others_have_nothing_to_show(isolated: LoadedRun) -> None:
    first, *others = isolated.domains
    quiet = {key: value for key, value in first.items() if key != "exit_reasons"}
    run = replace(isolated, report=isolated.report | {"domains": [quiet, *others]})
    assert list(dict.fromkeys(colors(marks(plots.exits(run) or "")))) == COLORS[1:]


def test_exits_have_a_bar_for_each_reason_of_each_domain(isolated: LoadedRun) -> None:
    found = marks(plots.exits(isolated) or "")
    counts = [domain["exit_reasons"] for domain in isolated.domains]
    total = {reason: sum(own.get(reason, 0) for own in counts) for own in counts for reason in own}
    most = sorted(total, key=lambda reason: -total[reason])
    assert len(most) == 4
    assert colors(found) == [color for color in COLORS for _ in most]
    for index, own in enumerate(counts):
        bars = found[index * 4 : index * 4 + 4]
        assert order([bar.width for bar in bars]) == order([own.get(reason, 0) for reason in most])
        assert [bar.width > 0 for bar in bars] == [own.get(reason, 0) > 0 for reason in most]
    assert [bar.top for bar in found[:4]] == sorted(bar.top for bar in found[:4]), "the most first"


def report(histogram: list[int]) -> bytes:
    return f'[control     19.000000] report {{"histogram": {histogram}}}\r\n'.encode()


def test_jitter_has_a_histogram_for_each_run(tmp_path: Path, counted: LoadedRun) -> None:
    """From the first non-empty bucket on there is a line at the height of the share, and for the last run an
    area below it. The color is the domain's."""
    MadeUp(tmp_path, console=report([0] * 9 + [50, 0, 50]), options=COUNTED).result()
    other = load_run(tmp_path)
    found = marks(plots.jitter([counted, other]) or "")
    assert colors(found) == [PALETTE[0]] * 3
    histogram: list[int] = counted.domains[0]["report"]["histogram"]
    buckets = len(histogram) - histogram.index(400)
    assert [mark.points for mark in found] == [2 * buckets + 2] * 3
    assert found[0].top < found[2].top, "two thirds in one bucket, and half"


def test_frames_have_a_cell_for_each_color(tmp_path: Path, isolated: LoadedRun) -> None:
    found = marks(plots.color_map(isolated) or "")
    assert len(found) == 4 * 8
    filled = {
        (index // 8, index % 8): mark.color
        for index, mark in enumerate(found)
        if mark.color != "currentColor"
    }
    own = [{0, 1, 2}, {3, 4, 5}, {6}, {7}]
    owners = zip(own, [*COLORS, GREY], strict=True)
    assert filled == {(row, one): color for row, (held, color) in enumerate(owners) for one in held}

    MadeUp(tmp_path, miscolored=True).result()
    wrong = marks(plots.color_map(load_run(tmp_path)) or "")
    assert [index for index, mark in enumerate(wrong) if mark.color == RED] == [8], "linux, color 0"


@pytest.mark.parametrize("without", ["evictions", "who_evicted_whom", "over_time", "exits", "color_map"])
def test_a_run_that_did_not_measure_has_no_plot(tmp_path: Path, without: str) -> None:
    """An empty plot would mean `nothing happened`."""
    MadeUp(tmp_path, system={"magic": 0}, options=RunOptions(), console=b"", observer=False).result()
    run: Any = load_run(tmp_path)
    assert getattr(plots, without)([run] if without == "evictions" else run) is None
