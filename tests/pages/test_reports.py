# SPDX-License-Identifier: Apache-2.0
"""The pages that commands write, in a browser: pages of runs, experiments and validations fit a narrow screen
and can be read by everybody, in light and dark. The check finds faults that are planted."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from matplotlib.figure import Figure
from playwright.sync_api import Browser

from bulkhead.experiments.output import write_output
from bulkhead.experiments.said import Plot, Sheet
from bulkhead.report.components import write_components_page
from bulkhead.report.html import write_html
from bulkhead.report.load import load_run
from bulkhead.report.picture import pictures
from bulkhead.report.style import HEAT, PALETTE, svg
from bulkhead.run.target import RunOptions
from bulkhead.validation.compare import Compared
from bulkhead.validation.measure import points
from bulkhead.validation.model import boards_of
from bulkhead.validation.page import write_page

from ..run.made_up import UNPROTECTED_EVICTIONS, MadeUp
from .browser import SCREENS, Reader, Screen, chromium

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as started:
        yield started


def compared_runs(directory: Path) -> Path:
    options = RunOptions(observe=True, unprotected=True, for_ns=20 * 10**9, repeat=("run", "a.yaml"))
    MadeUp(directory / "open", colored=False, options=options, evicted=UNPROTECTED_EVICTIONS).result()
    MadeUp(directory / "isolated", options=RunOptions(observe=True, icount=True, for_ns=20 * 10**9)).result()
    page = directory / "compared.html"
    write_html([load_run(directory / "open"), load_run(directory / "isolated")], page)
    return page


def broken_run(directory: Path) -> Path:
    """With a frame of a wrong color: text and cells in the colors of what is bad."""
    MadeUp(directory / "broken", miscolored=True).result()
    page = directory / "broken.html"
    write_html([load_run(directory / "broken")], page)
    return page


def components(directory: Path) -> Path:
    memory = {
        "name": "samples",
        "size": 16384,
        "spec": ["deterministic"],
        "hardware": "locked TLB entry",
        "check": {"cycles": 120},
        "independent": "yes",
    }
    job = {
        "period_ns": 10**6,
        "budget_ns": 2 * 10**5,
        "ended": 1000,
        "response_most_ns": 190_000,
        "response_mean_ns": 150_000,
        "execution_most_ns": 180_000,
        "late": 0,
        "overruns": 0,
        "most_refills": 4,
        "misses_admitted": 6,
    }
    ran = {"busy_ns": 10**7, "refills": 20, "violation": None, "report": {"sum": 3}}
    result: dict[str, Any] = {
        "system": "made-up",
        "platform": "stm32f767",
        "verdict": "violated",
        "reasons": ["intruder: killed"],
        "notes": ["counts of another board"],
        "options": {"unprotected": False},
        "components": [
            {"name": "worker", "job": job, **ran},
            {"name": "intruder", "job": None, **ran, "violation": "write to 0x20000000"},
        ],
        "admitted": {"components": [{"name": "worker", "memory": [memory]}]},
    }
    page = directory / "components.html"
    write_components_page([(directory, result, {})], page)
    return page


def experiment(directory: Path) -> Path:
    plots = tuple(
        Plot(kind=kind, x="n_kib", y="mean_ns", x_label="block, KiB", y_label="mean, ns", series=("corun",))
        for kind in ("lines", "bars")
    )
    rows = [
        {"n_kib": n, "corun": corun, "mean_ns": float(n * factor), "digest": f"{n}{corun}", "coloring": True}
        for n in (64, 128, 256)
        for factor, corun in enumerate(("alone", "walker", "writer"), start=1)
    ]
    sheet = Sheet(title="Coloring", name="coloring", platform="zcu102", plots=plots)
    return write_output(sheet, rows, directory, ["./bulkhead", "experiment", "coloring"], {"version": "x"})[0]


def validation(directory: Path) -> Path:
    (board,) = boards_of(["teres-i"])
    compared = [Compared(one, one.published * 1.5) for one in points(board, least_ns=1.0)]
    return write_page(compared, directory, ["./bulkhead", "validate"], {"version": "x"})[0]


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    makers: tuple[Callable[[Path], Path], ...] = (
        compared_runs,
        broken_run,
        components,
        experiment,
        validation,
    )
    return [make(tmp_path_factory.mktemp(make.__name__)) for make in makers]


@pytest.mark.parametrize("screen", SCREENS, ids=str)
def test_pages_can_be_read_by_everybody(written: list[Path], browser: Browser, screen: Screen) -> None:
    reader = Reader(browser, screen)
    assert {page.name: found for page in written if (found := reader.problems_of(page))} == {}


def faint_labels(figure: Figure) -> None:
    """A label on a bar and one in a cell of a heat map, each in a color near to that below it."""
    left, right = figure.subplots(1, 2)
    left.bar([0], [1], color=PALETTE[0])
    left.text(0, 0.5, "on a bar", color="#2f9b9d", ha="center")
    right.imshow([[0.0, 1.0], [1.0, 1.0]], cmap=HEAT)
    right.text(0, 0, "in a cell", color="#ffffff", ha="center", va="center")
    right.text(1, 0, "readable", color="#ffffff", ha="center", va="center")


def test_the_check_finds_what_is_planted(browser: Browser, tmp_path: Path) -> None:
    page = tmp_path / "faults.html"
    page.write_text(
        "<!doctype html><html lang=en><title>Faults</title><main><h1>Faults</h1>"
        '<p style="color: #bbb">faint</p><p style="width: 600px">wide</p><button></button>'
        '<img src="gone.png" alt="gone"><script>missing()</script>'
        + str(pictures()(svg(faint_labels, (6.4, 3)), "faint labels"))
        + "</main></html>"
    )
    found = Reader(browser, SCREENS[0]).problems_of(page)
    wanted = (
        "not loaded: ",
        "no picture: ",
        "script: ",
        "px wider than the screen",
        "color-contrast: ",
        "button-name: ",
        "on a bar",
        "in a cell",
    )
    assert [words for words in wanted if not any(words in problem for problem in found)] == []
    assert not any("readable" in problem for problem in found)
