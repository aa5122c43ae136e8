# SPDX-License-Identifier: Apache-2.0
"""S7: a fact used for calibration is not algebraically the same as another: facts that always change together
are one, and the platform files mark the other as following it."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from bulkhead.campaign.engine import Engine
from bulkhead.campaign.points import run_jobs
from bulkhead.config.load import load_platform
from bulkhead.machine.calibrate import FREE, check
from bulkhead.machine.independence import perturb, same_facts

from ..platforms import platform

pytestmark = pytest.mark.usefixtures("machine_built")

ROOT = Path(__file__).parents[2]
QUICK = ("interconnect.request", "dram.controller.cap", "dram.controller.write_queue")


def run(jobs: Any) -> list[Any]:
    return run_jobs([(str(number), job) for number, job in enumerate(jobs)], None, Engine(2), "facts")


@pytest.mark.parametrize("name", ["s32v234", "zcu102"])
def test_facts_that_always_move_together_are_marked_and_no_others(name: str) -> None:
    one = platform(name)
    found = perturb(ROOT / "platforms" / f"{name}.yaml", one, run, Fraction(1, 4), QUICK)
    marked = {frozenset({fact.fact, fact.follows}) for fact in one.calibration if fact.follows}
    assert {frozenset(pair) for pair in found.same()} == marked
    assert marked, "both files have such a pair"


def test_facts_are_one_if_their_ratio_never_changes_while_they_do() -> None:
    first = (100.0, 110.0, 90.0)
    values = {
        "first": first,
        "half": tuple(value / 2 for value in first),
        "other": (100.0, 90.0, 110.0),
        "still": (7.0, 7.0, 7.0),
    }
    assert same_facts(values) == [("first", "half")]
    assert same_facts({"still": values["still"], "too": (3.0, 3.0, 3.0)}) == [], "nothing was told apart"


def test_nothing_is_fitted_to_a_fact_that_follows() -> None:
    """Otherwise the other fact would count twice."""
    for name in FREE:
        one = platform(name)
        measured = {found.fact.fact for found in check(one, run, all_facts=False)}
        assert measured == {fact.fact for fact in one.calibration if not fact.compared and not fact.follows}
        assert not any(fact.parameters for fact in one.calibration if fact.follows)


def test_a_fact_can_only_follow_one_that_stands_for_itself(tmp_path: Path) -> None:
    text = (ROOT / "platforms" / "zcu102.yaml").read_text()
    path = tmp_path / "zcu102.yaml"
    path.write_text(text.replace("follows: ustress-saturation", "follows: ustress-saturations"))
    loaded, _, problems = load_platform(path)
    assert loaded is None
    assert "'ustress-saturations' is not another fact" in problems[0].text()
