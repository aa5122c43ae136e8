# SPDX-License-Identifier: Apache-2.0
"""S7: a headline for each assumed parameter: the list of parameters, their variation, rows, table,
refusals."""

from __future__ import annotations

import io
import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from matplotlib.figure import Figure
from rich.console import Console
from typer.testing import CliRunner

from bulkhead.cli import build_app
from bulkhead.commands import sensitivity as command
from bulkhead.config.flow_costs import MemoryBudget
from bulkhead.config.load import load_platform
from bulkhead.config.locate import platform_names, platform_path
from bulkhead.config.parameters import parameters
from bulkhead.config.platform import Pmu
from bulkhead.config.timing import Section, TlbLevel
from bulkhead.experiments.model import BadExperiment, Experiment, experiment_names, load_experiment
from bulkhead.experiments.output import drawing_of
from bulkhead.experiments.override import with_seeds, with_settings
from bulkhead.experiments.sensitivity import AS_IT_IS, asked, sensitivity, sheet_of
from bulkhead.machine.assumed import assumed
from bulkhead.machine.point import run_point
from tests.json_results import parsed

from ..platforms import platform

pytestmark = pytest.mark.usefixtures("workloads_built")

QUARTER = Fraction(1, 4)


def sections(value: Any) -> list[Section]:
    found = [value] if isinstance(value, Section) else []
    inner: list[Any] = []
    if hasattr(type(value), "model_fields"):
        inner = [getattr(value, name) for name in type(value).model_fields]
    elif isinstance(value, dict):
        inner = list(value.values())
    elif isinstance(value, tuple):
        inner = list(value)
    return found + [one for item in inner for one in sections(item)]


def borrowed(source: str) -> list[str]:
    """Platforms that a source names as those whose values it takes: `as ZCU102`, `about as ZCU102`."""
    known = {name.lower(): name for name in platform_names()}
    named = re.findall(r"\bas ([\w-]+)", source)
    return [known[one.lower()] for one in named if one.lower() in known]


@pytest.mark.parametrize("name", platform_names())
def test_what_a_source_calls_assumed_is_marked_and_what_is_marked_is_called_so(name: str) -> None:
    """Marks are for programs, sources for readers: both must agree."""
    for section in sections(platform(name)):
        source = section.source or ""
        inherited = source.startswith("our choice") or borrowed(source)
        if section.assumed:
            assert "assumed" in source or inherited, source
        elif "assumed" in source:
            no_number = isinstance(section, TlbLevel) and re.search("4 KiB|goes first", source)
            assert no_number or isinstance(section, (Pmu, MemoryBudget)), (
                "these tell of what is no number of the machine's"
            )


@pytest.mark.parametrize("name", platform_names())
def test_a_value_that_is_assumed_or_fitted_elsewhere_is_marked_where_it_is_taken_over(name: str) -> None:
    """Another platform's name in place of a source hides nothing: what is `as ZCU102` has its marks, and what
    begins with that has its values."""
    for one in parameters(platform(name)):
        for other in set(borrowed(one.source)) - {name}:
            there = {found.key: found for found in parameters(platform(other))}.get(one.key)
            if there is None:
                continue
            if there.value == one.value and there.origin in ("assumed", "fitted"):
                assert one.origin == there.origin, f"{one.key}: {there.origin} in {other}"
            if one.source.lower().startswith(f"as {other}".lower()):
                assert one.value == there.value, f"{one.key} is not as {other}"


def test_another_platforms_name_in_a_source_is_found() -> None:
    assert borrowed("as ZCU102: the same chip") == ["zcu102"]
    assert borrowed("as long as S32V234; timing as qemu-virt, assumed as Cortex-A53") == [
        "s32v234",
        "qemu-virt",
    ]
    assert borrowed("as is usual") == []


def test_assumed_numbers_are_varied_and_the_machine_takes_what_they_become() -> None:
    found = {one.key: one for one in assumed(platform("zcu102"), QUARTER)}
    assert {"caches.l2.transfer", "interconnect.request", "dram.controller.cap"} <= set(found)
    assert "dram.controller.read_queue" not in found, "the board's initialization code says it"
    assert found["interconnect.request"].high.setting == "interconnect.request=50000 ps"
    misses = found["cores.pipeline.outstanding_misses"]
    assert (misses.low.other, misses.high.other) == ("2", "4"), "a whole number changes by at least one"
    path = platform_path("zcu102")
    assert path is not None
    changed, _, problems = load_platform(path, overrides=(misses.high.setting,))
    assert changed is not None, problems
    assert changed.cores.pipeline is not None and changed.cores.pipeline.outstanding_misses == 4


def test_every_experiment_with_points_says_its_headline() -> None:
    for name in experiment_names():
        what = load_experiment(name)
        if isinstance(what, Experiment):
            assert what.headline is not None, name


def small() -> Experiment:
    what = with_seeds(with_settings(load_experiment("coloring"), ("n_kib=[224]",)), 2)
    assert isinstance(what, Experiment)
    return what


def run(jobs: Any) -> list[Any]:
    return [run_point(job) for _, job in jobs]


def test_a_headline_moves_with_what_it_hangs_on() -> None:
    """For reads of 224 KiB that another core evicts, the time of a hit alone matters, but not snoops, which
    do not occur."""
    what = asked(small(), QUARTER, ("caches.l2.snoop", "caches.l2.latency"), run)
    rows: list[Any] = list(sensitivity(what, run))
    by_name = {(row["parameter"], row["side"]): row for row in rows}
    base = rows[0]
    assert base["change_percent"] == 0
    assert base["headline"] > 1
    more, less = by_name["caches.l2.latency", "more"], by_name["caches.l2.latency", "less"]
    assert more["change_percent"] * less["change_percent"] < 0, "to both sides"
    assert abs(by_name["caches.l2.snoop", "more"]["change_percent"]) < abs(more["change_percent"])
    assert rows[1]["parameter"] == "caches.l2.latency", "what moves it most comes first"
    figure = Figure(figsize=(6.4, 3.6))
    plot = sheet_of(what, QUARTER).plots[0]
    drawing_of(plot, rows)(figure)
    assert figure.axes[0].get_yticklabels()[0].get_text() == "caches.l2.latency"


def test_the_headline_of_a_slowdown_is_that_of_its_point() -> None:
    """A row has a list of the other workloads, where its point has the swept one."""
    small_images = ("width=160", "height=120", "memory_mib=64")
    what = with_settings(load_experiment("regulators"), small_images)
    assert isinstance(what, Experiment)
    what = what.model_copy(update={"seeds": 1, "iterations": 1})
    what_varies = asked(what, QUARTER, ("cores.pipeline.store_buffer",), run)
    rows: list[Any] = list(sensitivity(what_varies, run))
    assert len(rows) == 3
    assert all(row["headline"] > 0.9 for row in rows)


def test_a_value_that_cannot_be_is_said_and_not_run() -> None:
    what = asked(small_on("s32v234"), QUARTER, ("dram.controller.arbitration.most",), run)
    less, more = sensitivity(what, run)[1:]
    assert less["refused"] is None
    assert more["refused"] is not None and more["headline"] is None


def small_on(name: str) -> Experiment:
    what = with_settings(load_experiment("coloring"), (f"platform={name}", "n_kib=[224]"))
    assert isinstance(what, Experiment)
    parts = tuple(part.model_copy(update={"colors": None}) for part in what.parts)
    return what.model_copy(update={"seeds": 1, "parts": parts, "sweep": {**what.sweep, "coloring": [False]}})


def made_up(parameters: int) -> list[Any]:
    """With the longest name and values that a platform's file has."""
    name = "interconnect.masters[12].regulator.burst"
    both = [
        {
            "parameter": f"{name}_{n:02}",
            "value": "100 ns",
            "to": "75000 ps",
            "headline": 1.388472,
            "headline_low": 1.385751,
            "headline_high": 1.391194,
            "change_percent": 25.5 - n,
            "refused": None,
        }
        for n in range(parameters)
    ]
    base = both[0] | {"parameter": AS_IT_IS, "value": "", "to": "", "change_percent": 0.0}
    refused = both[-1] | {"headline": None, "headline_low": None, "headline_high": None}
    refused |= {"change_percent": None, "refused": "it must be a power of two"}
    return [base, both[0], refused, *both[1:]]


@pytest.mark.parametrize("width", [72, 80, 100])
def test_the_table_has_room_for_the_change_at_any_width(monkeypatch: pytest.MonkeyPatch, width: int) -> None:
    """Figures are never cut; names are wrapped if there is no room."""
    out = io.StringIO()
    monkeypatch.setattr(command, "console", lambda: Console(file=out, width=width))
    command._show(made_up(40))
    text = out.getvalue()
    assert max(map(len, text.splitlines())) <= width
    for figure in ("+25.5 %", "+24.5 %", "1.388 ±0.0027", "100 ns → 75000 ps", "cannot be"):
        assert figure in text
    assert "…" not in text
    assert "+12.5 %" in text and "+10.5 %" not in text, "what moves it most comes first"
    assert "16 of 42 rows" in text


def test_the_command_names_what_is_wrong(tmp_path: Path) -> None:
    def reasons(*arguments: str) -> str:
        done = CliRunner().invoke(build_app(), ["sensitivity", *arguments, "--json"])
        assert done.exit_code == 1, done.output
        return str(parsed(done.stdout)["reasons"][0])

    assert "mxu" in reasons("mxu")
    assert "did you mean" in reasons("coloring", "--only", "caches.l2.latncy")
    assert "coloring" in reasons("colouring")
    file = tmp_path / "mine.yaml"
    file.write_text(
        "experiment: 1\nname: mine\ntitle: t\nplatform: rpi2\nsweep: { n: [8, 16] }\n"
        "parts: [{ name: one, measured: true, core: 0, memory: $n KiB, kind: read, walks: 2 }]\n"
        "result: walk-times\n"
    )
    assert "headline" in reasons(str(file))
    file.write_text(file.read_text() + "headline: { y: mean_ns, what: a mean }\n")
    assert "2 points" in reasons(str(file))


def test_a_headline_that_is_in_relation_needs_the_other_point() -> None:
    what = small().model_copy(update={"sweep": {"n_kib": [224], "coloring": [False], "corun": ["walker"]}})
    with pytest.raises(BadExperiment, match=r"relative\.to"):
        asked(what, QUARTER, (), run)


def test_parameters_say_where_they_are_from() -> None:
    origin = {one.key: one.origin for one in parameters(platform("zcu102"))}
    assert origin["dram.controller.guard"] == "fitted"
    assert origin["caches.l2.transfer"] == "assumed"
    assert origin["memory_budget.table[0].rate"] == "machine"
    assert origin["memory_budget.dma[0].rate"] == ""
    assert origin["flow_costs.parse.max"] == "machine"
