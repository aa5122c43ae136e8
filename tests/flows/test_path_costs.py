# SPDX-License-Identifier: Apache-2.0
"""F5, F8: parts of a path that a platform's file must state, for each analysis."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from bulkhead.config.flow_costs import LOCKED, RECORD_MAX_NS
from bulkhead.config.load import load_platform

from ..platforms import platform

PUBLISHED = Path(__file__).parents[2] / "platforms" / "zcu102-published.yaml"


def written(tmp_path: Path, model: str | None, without: tuple[str, ...]) -> Path:
    content: dict[str, Any] = yaml.safe_load(PUBLISHED.read_text("utf-8"))
    content["name"] = "changed"
    del content["flow_model"]
    if model is not None:
        content["flow_model"] = model
    for part in without:
        del content["flow_costs"][part]
    path = tmp_path / "changed.yaml"
    path.write_text(yaml.safe_dump(content), "utf-8")
    return path


@pytest.mark.req("F8")
def test_a_broker_without_locks_has_no_costs_of_them(tmp_path: Path) -> None:
    found = platform(written(tmp_path, None, LOCKED))
    assert found.flow_model == "single-thread"
    assert found.flow_costs is not None
    named = found.flow_costs.analyzed()
    assert named["model"] == 1
    assert named["parse_max"] == 1161
    assert not set(LOCKED) & set(found.flow_costs.parts())
    kept = platform(written(tmp_path, "single-thread", ())).flow_costs
    assert kept is not None
    assert kept.analyzed() == named, "costs of locks are not looked at"


@pytest.mark.req("F5")
def test_the_published_analysis_needs_all_parts(tmp_path: Path) -> None:
    _, _, problems = load_platform(written(tmp_path, "published", ("find_place",)))
    assert any("find_place" in problem.text() for problem in problems)
    found = platform("zcu102-published").flow_costs
    assert found is not None
    assert found.analyzed()["model"] == 0


@pytest.mark.req("F8")
def test_what_is_not_known_is_no_analysis(tmp_path: Path) -> None:
    _, _, problems = load_platform(written(tmp_path, "threads", ()))
    assert any("flow_model" in problem.text() for problem in problems)


@pytest.mark.req("F5")
def test_a_broker_that_records_packets_is_analyzed_with_the_cost_of_that() -> None:
    costs = platform("zcu102").flow_costs
    assert costs is not None
    plain, recording = (
        costs.of_broker(by_event=True, copies=True, samples=samples).analyzed() for samples in (False, True)
    )
    assert recording == plain | {"finalize_max": plain["finalize_max"] + RECORD_MAX_NS}
