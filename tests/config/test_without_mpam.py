# SPDX-License-Identifier: Apache-2.0
"""M7: the same file on a platform without MPAM: coloring and reservations are used, differences are reported,
and requests that they cannot fulfil are refused. examples/mpam.yaml is on the ZCU102, which guarantees 960
MB/s."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bulkhead.check.files import Checked, plan_file
from bulkhead.config.platform import Platform
from bulkhead.planning.budgets import counted_event
from bulkhead.planning.demands import admission_of
from bulkhead.planning.regulation import budget_in, lines_of
from bulkhead.planning.reserved import with_reservations
from bulkhead.planning.resolve import resolved_text
from bulkhead.planning.shares import rows_of
from tests.config.mpam_board import ROOT, planned, refusals, system_file

EXAMPLE = ROOT / "examples" / "mpam.yaml"
LIMITED: dict[str, Any] = {
    "other": {"bandwidth": {"max": "30 %"}},
    "hog": {"bandwidth": {"max": "20 %"}},
}


def on_zcu102(directory: Path, **keys: Any) -> Checked:
    return plan_file(str(system_file(directory, "zcu102", **keys)))


def notices(checked: Checked) -> dict[str, str]:
    return {one.key: one.cause for one in checked.notices if one.code == "differs"}


def test_m7_a_maximum_is_a_budget_of_the_guaranteed_bandwidth(tmp_path: Path) -> None:
    checked = on_zcu102(tmp_path, **LIMITED)
    assert checked.plan is not None
    assert checked.plan.mpam is None
    rates = {
        one.domain: one.bytes_per_s
        for one in admission_of(checked.plan.system, checked.plan.platform).demands
    }
    assert rates == {"control": None, "other": 288_000_000, "hog": 192_000_000}
    said = notices(checked)
    assert set(said) == {"domains[1].bandwidth.max", "domains[2].bandwidth.max"}
    assert "960 MB/s" in said["domains[1].bandwidth.max"]
    assert "also while no other domain uses memory" in said["domains[1].bandwidth.max"], (
        "it was asked to be soft"
    )


def test_m7_a_hard_maximum_is_what_a_budget_is(tmp_path: Path) -> None:
    checked = on_zcu102(tmp_path, other={"bandwidth": {"max": "30 %", "hard": True}})
    assert "no other domain uses memory" not in notices(checked)["domains[1].bandwidth.max"]


def test_m7_what_is_written_back_unseen_is_part_of_a_maximum(tmp_path: Path) -> None:
    """With a budget of refills only half may be fetched: each refill may evict a dirty line."""
    checked = on_zcu102(tmp_path, other={"bandwidth": {"max": "30 %"}})
    assert checked.plan is not None
    system, whole = checked.plan.system, checked.plan.platform
    assert whole.pmu is not None
    blind: Platform = whole.model_copy(update={"pmu": whole.pmu.model_copy(update={"writeback_event": None})})
    for platform, lines in ((whole, 4500), (blind, 2250)):
        reserved = with_reservations(system, platform)
        event = counted_event(platform, emulated=False)
        assert event is not None
        budget = budget_in(reserved, reserved.domains[1], event)
        assert budget is not None
        assert lines_of(budget, event) == lines, "of 64 bytes, in 1 ms"
        demand = next(one for one in admission_of(reserved, platform).demands if one.domain == "other")
        assert demand.bytes_per_s == 288_000_000, "on the memory's side"


def test_m7_a_minimum_is_what_the_limits_of_others_leave(tmp_path: Path) -> None:
    kept = {"bandwidth": {"min": "50 %"}}
    assert refusals(on_zcu102(tmp_path, control=kept, **LIMITED)) == []
    key, code, allowed = refusals(on_zcu102(tmp_path, control={"bandwidth": {"min": "50.1 %"}}, **LIMITED))[0]
    assert (key, code) == ("domains[0].bandwidth.min", "overcommit")
    assert "at most 50 %" in allowed
    one_open = {"other": LIMITED["other"]}
    checked = on_zcu102(tmp_path, control=kept, **one_open)
    assert refusals(checked)[0][:2] == ("domains[0].bandwidth.min", "not-kept")
    assert "'hog' has none" in checked.problems[0].cause
    budget = {"hog": {"bandwidth": {"budget": "100 MB/s"}}}
    assert refusals(on_zcu102(tmp_path, control=kept, **one_open, **budget)) == [], "any limit will do"


def test_m7_maxima_that_are_more_than_all_are_refused_as_budgets_are(tmp_path: Path) -> None:
    asked = {one: {"bandwidth": {"max": "50 %"}} for one in ("control", "other", "hog")}
    assert refusals(on_zcu102(tmp_path, **asked))[0][:2] == ("domains", "overcommit")
    assert refusals(planned(tmp_path, **asked)) == [], "MPAM limits each for itself"


def test_m7_a_priority_has_no_effect_and_that_is_said(tmp_path: Path) -> None:
    checked = on_zcu102(tmp_path, hog={"bandwidth": {"priority": 3}})
    assert checked.plan is not None
    assert set(notices(checked)) == {"domains[2].bandwidth.priority"}
    assert checked.plan.system.domains[2].bandwidth.unlimited


@pytest.mark.parametrize(
    ("keys", "key", "allowed"),
    [
        ({"control": {"llc": {"portions": 0xF0}}}, "domains[0].llc.portions", "share, size, colors"),
        ({"control": {"llc": {"max": "50 %"}}}, "domains[0].llc.max", "share, size, colors"),
        ({"control": {"llc": {"associativity": "50 %"}}}, "domains[0].llc.associativity", "share"),
        ({"hypervisor": {"llc": {"portions": 1}}}, "hypervisor.llc.portions", "share, size, colors"),
        ({"hog": {"bandwidth": {"portions": 0xF}}}, "domains[2].bandwidth.portions", "min, max, budget"),
        ({"hog": {"bandwidth": {"stride": 2}}}, "domains[2].bandwidth.stride", "min, max, budget"),
        ({"hog": {"bandwidth": {"max": "5 %", "window": "5 us"}}}, "domains[2].bandwidth.window", "min, max"),
        ({"hog": {"virtual_partids": 4}}, "domains[2].virtual_partids", "0"),
        ({"isolation": {"llc": "mpam"}}, "isolation.llc", "auto, coloring, none"),
    ],
)
def test_m7_what_only_mpam_can_do_is_refused(
    tmp_path: Path, keys: dict[str, Any], key: str, allowed: str
) -> None:
    found = refusals(on_zcu102(tmp_path, **keys))
    assert [(place, code) for place, code, _ in found] == [(key, "not-on-platform")]
    assert allowed in found[0][2]


def test_m7_a_share_of_what_is_not_known_is_refused(tmp_path: Path) -> None:
    found = refusals(
        plan_file(str(system_file(tmp_path, "qemu-virt-gicv2", hog={"bandwidth": {"max": "5 %"}})))
    )
    assert ("domains[2].bandwidth.max", "not-on-platform", "budget") in found


def test_m7_a_maximum_of_a_regulated_domain_is_none(tmp_path: Path) -> None:
    found = refusals(on_zcu102(tmp_path, regulation={"policy": "dynamic-bandwidth"}, **LIMITED))
    assert [one[:2] for one in found] == [(f"domains[{n}].bandwidth.max", "conflict") for n in (1, 2)]


def test_m7_a_size_is_whole_colors_and_what_they_cost_is_said() -> None:
    checked = plan_file(str(EXAMPLE))
    assert checked.plan is not None
    rows = {(row.owner, row.resource): row for row in rows_of(checked.plan)}
    assert rows["filter", "l2"].got == "2 of 8 colors, 25 %"
    assert "only memory of these colors" in rows["filter", "l2"].note
    assert rows["control", "dram"].control == "limits of others"
    assert rows["hog", "dram"].got == "192.0 MB/s"
    reasons = {choice.key: choice.reason for choice in checked.plan.choices}
    assert reasons["isolation.llc"] == "the platform has no MPAM"


def test_m7_the_resolved_file_has_budgets_and_plans_to_the_same(tmp_path: Path) -> None:
    checked = plan_file(str(EXAMPLE))
    assert checked.plan is not None
    text = resolved_text(checked.plan, beside=EXAMPLE.parent, target=tmp_path)
    again = tmp_path / "again.yaml"
    again.write_text(text)
    planned_again = plan_file(str(again)).plan
    assert planned_again is not None
    assert planned_again.domains == replace(checked.plan).domains
    assert admission_of(planned_again.system, planned_again.platform) == admission_of(
        checked.plan.system, checked.plan.platform
    )
