# SPDX-License-Identifier: Apache-2.0
"""`bench flows --write` (F5): a later measurement does not shorten what a platform file promises."""

from __future__ import annotations

from pathlib import Path

import pytest

from bulkhead.bench.flow_costs_file import contain, write_costs
from bulkhead.bench.flows import FlowsNotMeasured, MeasuredFlows, least_with_margin, most_with_margin
from bulkhead.config.flow_costs import ISOLATED, LOCKED, PLAIN, FlowCosts
from bulkhead.config.load import load_platform
from bulkhead.results.run import PathPartResult as Part
from tests.command_line import invoked

from ..platforms import platform

BOARD = Path(__file__).parents[2] / "platforms" / "zcu102.yaml"


def costs_of(path: Path) -> FlowCosts:
    found, _, problems = load_platform(path)
    assert found is not None and found.flow_costs is not None, problems
    return found.flow_costs


def measured_as(costs: FlowCosts, longer: dict[str, int]) -> MeasuredFlows:
    """Half of the file's largest values, and twice its smallest; `longer`: other largest values."""
    parts: dict[str, Part] = {}
    for name, kept in costs.parts().items():
        if name in LOCKED:
            continue
        most, least = longer.get(name, kept.max // 2), 2 * (kept.min or 0)
        least = min(least, most)
        parts[name] = {"count": 100, "min": least, "avg": most, "max": most, "median": most}
    return MeasuredFlows(parts, "ns")


@pytest.fixture
def board(tmp_path: Path) -> Path:
    """The platform without its shorter costs, which must not exceed those that are written."""
    path = tmp_path / "zcu102.yaml"
    before, found, rest = BOARD.read_text().partition(f"\n{ISOLATED}:")
    assert found
    path.write_text(before + "\n" + rest[rest.index("\nmemory_budget:") + 1 :])
    return path


def test_f5_values_that_are_further_out_stay(board: Path) -> None:
    before = costs_of(board)
    longer = {"parse": 3 * before.parse.max}
    write_costs(str(board), PLAIN, measured_as(before, longer), before)
    after = costs_of(board)
    assert after.parse.max == most_with_margin(3 * before.parse.max)
    for name, kept in before.parts().items():
        part = after.parts()[name]
        measured = least_with_margin(min(2 * (kept.min or 0), kept.max // 2))
        assert part.min == min(kept.min or 0, measured), name
        if name != "parse":
            assert part.max == kept.max, name
            assert part.median == kept.max // 2, "averages and medians are those of the last measurement"


def test_f5_anew_replaces_them(board: Path) -> None:
    before = costs_of(board)
    write_costs(str(board), PLAIN, measured_as(before, {}), None)
    after = costs_of(board)
    for name, kept in before.parts().items():
        assert after.parts()[name].max == most_with_margin(kept.max // 2), name
        assert after.parts()[name].min == least_with_margin(min(2 * (kept.min or 0), kept.max // 2)), name


def test_only_its_own_section_is_written(board: Path) -> None:
    before = costs_of(board)
    text = board.read_text()
    write_costs(str(board), PLAIN, measured_as(before, {}), None)
    changed = [
        old for old, new in zip(text.split("\n"), board.read_text().split("\n"), strict=True) if old != new
    ]
    assert changed
    assert {line.strip().partition(":")[0] for line in changed} <= set(before.parts())


def test_a_file_without_the_section_is_refused(board: Path) -> None:
    costs = platform("zcu102").flow_costs
    assert costs is not None
    with pytest.raises(FlowsNotMeasured, match="has no `other_costs`"):
        write_costs(str(board), "other_costs", measured_as(costs, {}), None)


def test_f5_costs_of_any_system_contain_those_of_isolated_ones() -> None:
    kept = platform("zcu102")
    assert kept.flow_costs is not None and kept.flow_costs_isolated is not None
    plain = kept.flow_costs.parts()
    assert all(part.max <= plain[name].max for name, part in kept.flow_costs_isolated.parts().items())


def test_f5_an_isolated_system_that_shows_more_raises_the_costs_of_any(tmp_path: Path) -> None:
    board = tmp_path / "zcu102.yaml"
    board.write_text(BOARD.read_text())
    before, isolated = costs_of(board), platform("zcu102").flow_costs_isolated
    assert isolated is not None
    write_costs(str(board), ISOLATED, measured_as(isolated, {"notify": 2 * before.notify.max}), None)
    contain(str(board))
    after = costs_of(board)
    assert after.notify.max == most_with_margin(2 * before.notify.max)
    assert after.notify.median == before.notify.median
    for name, part in before.parts().items():
        assert name == "notify" or after.parts()[name].max == part.max, name


def test_f5_costs_of_any_system_stay_wide_when_they_are_measured_anew(tmp_path: Path) -> None:
    board = tmp_path / "zcu102.yaml"
    board.write_text(BOARD.read_text())
    isolated = platform("zcu102").flow_costs_isolated
    assert isolated is not None
    write_costs(str(board), PLAIN, measured_as(costs_of(board), {}), None)
    contain(str(board))
    after = costs_of(board).parts()
    for name, part in isolated.parts().items():
        assert after[name].max >= part.max and (after[name].min or 0) <= (part.min or 0), name


def test_anew_belongs_to_write() -> None:
    found = invoked("bench", "flows", "--anew")
    assert found.exit_code == 2
    assert "needs --write" in found.output
