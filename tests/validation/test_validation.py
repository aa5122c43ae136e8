# SPDX-License-Identifier: Apache-2.0
"""Published figures of boards: their files, the measurement of a figure on the machine, errors, the
verdict."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from bulkhead.campaign.engine import Engine
from bulkhead.campaign.points import run_jobs
from bulkhead.cli import build_app
from bulkhead.config.load import load_platform
from bulkhead.config.locate import platform_path
from bulkhead.machine.point import run_point
from bulkhead.validation import compare as comparing
from bulkhead.validation.compare import (
    LEAST_NS,
    MEDIAN_LIMIT,
    Compared,
    beyond_limit,
    compare,
    explained,
    of_role,
    summary,
)
from bulkhead.validation.groups import grouped
from bulkhead.validation.measure import BLOCK, DRAWS, ValidationPoint, points
from bulkhead.validation.model import Board, board_names, boards_of, load_board
from bulkhead.validation.page import write_page
from bulkhead.validation.tables import markdown
from tests.command_line import run_json
from tests.json_results import parsed

pytestmark = pytest.mark.usefixtures("machine_built")

ROOT = Path(__file__).parents[2]


def board(name: str) -> Board:
    return boards_of([name])[0]


def point(name: str, kind: str, pages: str, size: int) -> ValidationPoint:
    (found,) = (
        one for one in points(board(name), LEAST_NS) if (one.kind, one.pages, one.size) == (kind, pages, size)
    )
    return found


def run(jobs: Any) -> list[Any]:
    return [run_point(job) for _, job in jobs]


def compared_as(*errors: float, role: str = "validation") -> list[Compared]:
    one = point("teres-i", "single", "small", 1 << 20)
    owner = one.board.model_copy(update={"role": role})
    return [
        Compared(ValidationPoint(owner, one.kind, one.pages, one.size, 100.0, "ns"), 100.0 * (1 + error))
        for error in errors
    ]


@pytest.mark.parametrize("name", board_names())
def test_each_board_is_a_platform_with_figures_and_a_source(name: str) -> None:
    one = board(name)
    assert one.board == name
    assert platform_path(name) is not None
    assert re.search(r"results/|SPRA", one.measured.source)
    assert len(list(points(one, LEAST_NS))) > 5


def test_there_are_boards_of_both_roles_and_five_to_validate_with() -> None:
    roles = [one.role for one in boards_of([])]
    assert roles.count("validation") >= 5
    assert roles.count("calibration") >= 1


def test_no_value_of_a_validation_board_is_fitted_to_it() -> None:
    """Its own file has no fitted value; a fitted value of a part names a calibration board."""
    for one in boards_of([]):
        text = (ROOT / "platforms" / f"{one.board}.yaml").read_text()
        if one.role == "validation":
            assert "fitted:" not in text, one.board
    others = [one.board for one in boards_of([]) if one.role == "validation"]
    for part in sorted((ROOT / "platforms" / "parts").glob("*.yaml")):
        assert not [name for name in others if f"of {name}" in part.read_text()], part.name


@pytest.mark.parametrize(
    ("old", "new", "key", "code"),
    [
        ("role: validation", "role: both", "role", "bad-value"),
        ("single: 6.5", "single: fast", "measured.latency[0].ns[1].single", "wrong-type"),
        ("size: 128 KiB", "size: 64 KiB", "measured.latency[0]", "conflict"),
        ("kind: fill", "kind: fil", "measured.rates[0].kind", "bad-value"),
        ("  cpu:", "  clock:", "measured.clock", "unknown-key"),
    ],
)
def test_what_is_wrong_in_a_file_is_reported_at_its_line(
    old: str, new: str, key: str, code: str, tmp_path: Path
) -> None:
    text = (ROOT / "validation" / "teres-i.yaml").read_text()
    assert old in text
    path = tmp_path / "wrong.yaml"
    path.write_text(text.replace(old, new, 1))
    found, problems = load_board(path)
    assert found is None
    assert (key, code) in [(one.key, one.code) for one in problems]
    assert all(one.line > 1 for one in problems)


def test_what_a_file_explains_are_points_of_its_board() -> None:
    """A misspelt point would explain nothing."""
    for one in boards_of([]):
        named = [point for each in one.explanations for point in each.beyond_limit]
        found = list(points(one, LEAST_NS))
        for point in named:
            assert sum(each.is_named(point) for each in found) == 1, (one.board, point)


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_points_are_within_the_limits_but_for_those_that_the_files_of_the_boards_explain(
    tmp_path: Path,
) -> None:
    """The published figures of three boards, measured on the machine: the board with points beyond the limit,
    the one with several processes at a time, and one with Cortex-A7. `./bulkhead validate` measures all
    thirteen boards: half a minute on two idle cores, three minutes on busy ones, too long for this suite."""
    wanted = [point for one in boards_of(["nanopi-k2", "am62p", "rpi2"]) for point in points(one, LEAST_NS)]
    compared = compare(wanted, lambda jobs: run_jobs(jobs, tmp_path, Engine(2), "validate"))
    assert summary(compared).median <= MEDIAN_LIMIT
    assert beyond_limit(compared) == explained(compared)


def test_a_read_beyond_all_caches_takes_about_as_long_as_on_the_board() -> None:
    """One small point goes through all steps: jobs, subtraction of the time of a hit, the error."""
    wanted = [point("orange-pi-pc2", "single", "huge", 4 << 20)]
    (found,) = compare(wanted, run)
    assert found.predicted == pytest.approx(found.point.published, rel=0.2)
    assert found.error == pytest.approx(found.predicted / found.point.published - 1)


def test_small_pages_are_translated_and_cost_more_than_huge_ones() -> None:
    size = 16 << 20
    small, huge = compare([point("teres-i", "single", pages, size) for pages in ("small", "huge")], run)
    assert small.predicted > huge.predicted + 5


def test_what_a_hit_takes_is_taken_off() -> None:
    one = point("teres-i", "single", "huge", 1 << 20)
    walk: Any = {"walks": [{"walk_ps": [1, 5_000 * DRAWS]}]}
    hit: Any = {"walks": [{"walk_ps": [1, 3_000 * DRAWS]}]}
    assert one.value(walk, hit) == pytest.approx(2.0)


def test_a_rate_counts_the_bytes_of_the_block() -> None:
    one = point("teres-i", "copy", "small", BLOCK)
    assert one.base is None
    result: Any = {"walks": [{"walk_ps": [1, 4 * 10**9]}]}
    assert one.value(result, None) == pytest.approx(BLOCK / 4000)
    assert one.job["parts"][0]["memory_bytes"] > 2 * BLOCK


def test_processes_are_cores_with_memory_of_their_own_whose_rates_are_added() -> None:
    one, four = (
        next(each for each in points(board("am62p"), LEAST_NS) if (each.kind, each.processes) == wanted)
        for wanted in (("bcopy", 1), ("bcopy", 4))
    )
    assert [part["core"] for part in four.job["parts"]] == [0, 1, 2, 3]
    assert one.key != four.key
    result: Any = {"walks": [{"walk_ps": [1, 4 * 10**9, 1]}] * 4}
    assert four.value(result, None) == pytest.approx(4 * BLOCK / 4000)
    alone, together = compare([one, four], run)
    assert alone.predicted < together.predicted < 4 * alone.predicted


@pytest.mark.parametrize(
    ("errors", "middle", "worst", "holds"),
    [
        ([0.1, -0.2, 0.05], 0.1, 0.2, True),
        ([-0.15, 0.15], 0.15, 0.15, True),
        ([0.16, -0.17, 0.1], 0.16, 0.17, False),
        ([0.0, 0.0, -0.36], 0.0, 0.36, False),
        ([], 0.0, 0.0, True),
    ],
)
def test_the_verdict_is_by_the_median_and_the_worst_error(
    errors: list[float], middle: float, worst: float, holds: bool
) -> None:
    found = summary(compared_as(*errors))
    assert found.median == pytest.approx(middle)
    assert found.worst == pytest.approx(worst)
    assert found.holds == holds


def test_calibration_boards_judge_nothing() -> None:
    mixed = [*compared_as(0.1), *compared_as(3.0, role="calibration")]
    assert summary(of_role(mixed, "validation")).holds


def test_the_page_has_curves_points_and_explanations(tmp_path: Path) -> None:
    one = board("teres-i")
    wanted = list(points(one, LEAST_NS))
    compared = [Compared(each, each.published * 1.5) for each in wanted]
    page, *files = write_page(compared, tmp_path, ["./bulkhead", "validate"], {"version": "x"})
    text = page.read_text()
    assert text.count("<svg") == 3
    assert text.count("<strong>+50%</strong>") == len(wanted)
    names = {file.name for file in files}
    assert {
        "points.csv",
        "teres-i-points.csv",
        "teres-i-latency-small.svg",
        "teres-i-latency-huge.png",
        "teres-i-rates.svg",
    } <= names
    assert len((tmp_path / "points.csv").read_text().splitlines()) == len(wanted) + 1
    assert len(grouped(compared)) == 6


def test_the_document_has_the_tables_that_the_command_prints() -> None:
    """The document's tables have the command's form, boards and published figures. What the machine predicts
    changes with the machine and is not compared."""
    text = (ROOT / "docs" / "results" / "validation.md").read_text()
    assert "./bulkhead validate --markdown" in text
    shown = re.search(r"\n(### .*?)\n(?=## )", text, re.DOTALL)
    assert shown is not None
    judged = of_role(
        [Compared(point, point.published) for one in boards_of([]) for point in points(one, LEAST_NS)],
        "validation",
    )
    assert _without_predictions(shown[1]) == _without_predictions(markdown(judged))


def _without_predictions(tables: str) -> str:
    """Markdown tables in which each predicted value is N and each error is E."""
    of_curves = re.sub(r", [0-9.]+ \([+-]\d+ %\)", ", N (E)", tables)
    return re.sub(r"\| \d+ \| [+-]\d+ % \|", "| N | E |", of_curves).strip()


def test_a_board_that_is_not_there_is_named_with_the_nearest() -> None:
    """As an unknown platform, it is an answer and no wrong usage."""
    code, result = run_json("validate", "teres")
    assert (code, result["verdict"]) == (1, "error")
    assert "teres-i" in result["reasons"][0]


def test_the_command_prints_points_and_ends_by_the_verdict(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bulkhead.env.paths.build_dir", lambda: tmp_path)
    monkeypatch.setattr(
        comparing, "compare", lambda wanted, _: [Compared(one, 0.9 * one.published) for one in wanted]
    )
    done = CliRunner().invoke(build_app(), ["validate", "teres-i", "--json"])
    assert done.exit_code == 0, done.output
    found = parsed(done.stdout)
    assert found["verdict"] == "ok"
    assert found["validation"]["median"] == pytest.approx(0.1)
    assert {one["role"] for one in found["points"]} == {"validation"}
    tables = CliRunner().invoke(build_app(), ["validate", "teres-i", "--markdown"])
    assert tables.stdout.startswith("### teres-i\n\n| figure | 64 KiB |")
    assert "(-10 %)" in tables.stdout
    monkeypatch.setattr(
        comparing, "compare", lambda wanted, _: [Compared(one, 2 * one.published) for one in wanted]
    )
    failed = CliRunner().invoke(build_app(), ["validate", "teres-i"])
    assert failed.exit_code == 1
    assert "the limits are 15% and 35%" in failed.output
    assert load_platform(ROOT / "platforms" / "teres-i.yaml")[0] is not None
