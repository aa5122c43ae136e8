# SPDX-License-Identifier: Apache-2.0
"""M3: the test hooks of MPAM's witnesses change only what they name; EL2 gets the wrong plan, the promise
does not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bulkhead.admission.load import load_system
from bulkhead.package.mpam import mpam_of_domain, mpam_tables
from bulkhead.planning.model import Hooks, Plan
from bulkhead.planning.mpam import MpamPlan
from bulkhead.planning.plan import PlanningError, plan_memory
from bulkhead.run.partitions import mpam_promise, portion_promise
from bulkhead.schema.layout import load_layout

from .mpam_board import platform_file, system_file

pytestmark = pytest.mark.req("M3")


def planned(directory: Path, hooks: Hooks | None = None, **keys: Any) -> Plan:
    platform_file(directory)
    loaded = load_system(system_file(directory, **keys))
    assert loaded.system is not None and loaded.platform is not None, loaded.problems
    return plan_memory(loaded.system, loaded.platform, hooks)


def wrong_of(plan: Plan) -> MpamPlan:
    assert plan.wrong_mpam is not None
    return plan.wrong_mpam


@pytest.mark.parametrize("target", ["other", "control"])
def test_a_mislabelled_domain_has_its_neighbours_partid(tmp_path: Path, target: str) -> None:
    right, wrong = planned(tmp_path), planned(tmp_path, Hooks(mislabel=target))
    assert right.wrong_mpam is None
    first, second = right.mpam.partition("control"), right.mpam.partition("other")  # type: ignore[union-attr]
    assert first is not None and second is not None
    for plan, partids in ((right, (first.partid, second.partid)), (wrong, (second.partid, first.partid))):
        found = tuple(mpam_of_domain(plan, name)["mpam_partid"] for name in ("control", "other"))
        assert found == partids
    assert wrong_of(wrong).settings == right.mpam.settings  # type: ignore[union-attr]
    assert (mpam_promise(wrong), portion_promise(wrong)) == (mpam_promise(right), portion_promise(right))


def test_a_misprogrammed_domain_has_its_neighbours_settings(tmp_path: Path) -> None:
    right, wrong = planned(tmp_path), planned(tmp_path, Hooks(misprogram="hog"))
    assert wrong_of(wrong).partitions == right.mpam.partitions  # type: ignore[union-attr]
    control, hog = right.mpam.partition("control"), right.mpam.partition("hog")  # type: ignore[union-attr]
    assert control is not None and hog is not None
    by_place = {(one.component, one.ris, one.partid): one.settings for one in wrong_of(wrong).settings}
    for one in right.mpam.settings:  # type: ignore[union-attr]
        changed = (one.component, one.ris, control.partid if one.partid == hog.partid else one.partid)
        assert by_place[one.component, one.ris, one.partid] == by_place[changed]
    assert mpam_tables(wrong, load_layout()) != mpam_tables(right, load_layout())
    assert (mpam_promise(wrong), portion_promise(wrong)) == (mpam_promise(right), portion_promise(right))


@pytest.mark.parametrize(
    ("hooks", "code"),
    [
        (Hooks(mislabel="nobody"), "bad-mislabel"),
        (Hooks(misprogram="nobody"), "bad-misprogram"),
        (Hooks(mislabel="hog"), "bad-mislabel"),  # no other domain has four PARTIDs
    ],
)
def test_the_hooks_refuse_what_is_not_there(tmp_path: Path, hooks: Hooks, code: str) -> None:
    with pytest.raises(PlanningError) as refused:
        planned(tmp_path, hooks, hog={"virtual_partids": 4})
    assert [finding.code for finding in refused.value.findings] == [code]


def test_without_mpam_there_is_no_label_to_put_wrong(tmp_path: Path) -> None:
    loaded = load_system(system_file(tmp_path, "zcu102"))
    assert loaded.system is not None and loaded.platform is not None
    for hooks in (Hooks(mislabel="hog"), Hooks(misprogram="hog")):
        with pytest.raises(PlanningError, match="the platform has no MPAM"):
            plan_memory(loaded.system, loaded.platform, hooks)


def test_where_domains_go_in_the_cache_is_their_own_and_the_hypervisors(tmp_path: Path) -> None:
    promise = portion_promise(planned(tmp_path))
    assert promise is not None
    control, other, hog = (promise.domains[name] for name in ("control", "other", "hog"))
    assert control & other == control & hog == other & hog == promise.own["hypervisor"] != 0
    assert set(promise.own) == {"hypervisor", "control", "other", "hog"}
    assert portion_promise(planned(tmp_path, isolation={"llc": "none"})) is None
