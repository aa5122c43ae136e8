# SPDX-License-Identifier: Apache-2.0
"""M4, the witness of portions: it finds lines of a domain in portions of another, by their place in the
cache."""

from __future__ import annotations

from typing import Any

import pytest

from bulkhead.config.mpam import Resource
from bulkhead.evidence.portions import PortionPromise, check_portions

pytestmark = pytest.mark.req("M4")

OWNERS = ["nobody", "hypervisor", "control", "hog"]


def promise(portions: int = 8, **keys: Any) -> PortionPromise:
    own = {"hypervisor": 0x80, "control": 0x0F, "hog": 0x30}
    domains = {name: own[name] | own["hypervisor"] for name in ("control", "hog")}
    resource = Resource.model_validate({"cache": "l3", "portions": portions, **keys})
    return PortionPromise("l3", resource, domains, own)


def placed(**lines: dict[int, int]) -> list[list[list[int]]]:
    """Lines by owner and way, of eight ways."""
    return [[[lines.get(owner, {}).get(way, 0)] for way in range(8)] for owner in OWNERS]


def test_lines_in_portions_of_ones_own_and_of_the_hypervisor_hold() -> None:
    """The hypervisor reads the memory of domains under its own label; tables of a guest are walked under the
    guest's, and lines without a label came in before."""
    where = placed(control={0: 9, 3: 1, 7: 2}, hog={4: 5, 5: 5}, hypervisor={0: 3}, nobody={6: 1})
    found = check_portions(promise(), OWNERS, where)
    assert found.as_json() == {
        "verdict": "held", "lines": 22, "foreign_lines": 0, "findings_total": 0, "findings": [],
    }  # fmt: skip


def test_lines_in_a_neighbours_portions_are_found() -> None:
    found = check_portions(promise(), OWNERS, placed(control={0: 9}, hog={1: 2, 3: 5, 4: 1}))
    assert found.as_json()["verdict"] == "broken"
    assert [one.text for one in found.findings] == ["7 lines of hog went into portions 0xA of control"]
    assert found.foreign == 7


def test_a_portion_of_nobody_is_not_a_domains_either() -> None:
    found = check_portions(promise(), OWNERS, placed(control={6: 1}))
    assert [one.text for one in found.findings] == ["1 lines of control went into portions 0x40 of nobody"]


def test_without_lines_nothing_is_shown() -> None:
    assert check_portions(promise(), OWNERS, placed()).as_json()["verdict"] == "nothing promised"


@pytest.mark.parametrize(
    ("portions", "keys", "ways", "parts", "place", "portion"),
    [
        (4, {}, 8, 1, (5, 0), 2),  # fewer portions than ways: each is several
        (8, {}, 8, 1, (5, 0), 5),
        (32, {}, 8, 4, (5, 3), 23),  # more: parts of a way, by set
        (4, {"portions_are": "sets"}, 8, 4, (5, 3), 3),
    ],
)
def test_portions_are_parts_of_ways_or_of_sets(
    portions: int, keys: dict[str, Any], ways: int, parts: int, place: tuple[int, int], portion: int
) -> None:
    of = promise(portions, **keys)
    where = [[[0] * parts for _ in range(ways)] for _ in OWNERS]
    where[2][place[0]][place[1]] = 1
    wide = PortionPromise("l3", of.resource, {"control": 0}, {"hog": 1 << portion})
    (finding,) = check_portions(wide, OWNERS, where).findings
    assert (finding.portions, finding.owners) == (1 << portion, ("hog",))
