# SPDX-License-Identifier: Apache-2.0
"""Multicast flows in a plan (F7): what the hypervisor's manifest and the programs get."""

from __future__ import annotations

from pathlib import Path

import pytest

from bulkhead.admission.load import load_system
from bulkhead.check.files import check_file
from bulkhead.config.locate import limits
from bulkhead.config.system import MOST_RECEIVERS
from bulkhead.package.manifest import flow_rows
from bulkhead.planning.broker import cids_of, parameters_of
from bulkhead.planning.plan import plan_memory
from bulkhead.planning.resolve import resolved_text

EXAMPLE = Path(__file__).parents[2] / "examples" / "multicast.yaml"


@pytest.mark.req("F7")
def test_the_manifest_has_an_entry_for_each_receiver() -> None:
    loaded = load_system(str(EXAMPLE), ())
    assert loaded.system is not None
    assert loaded.platform is not None
    rows = flow_rows(plan_memory(loaded.system, loaded.platform))
    assert [
        (row["source"], row["destination"], row["port"], row["group"], row["connections"]) for row in rows
    ] == [
        (0, 1, 5000, 1, 1),
        (0, 2, 5000, 1, 1),
        (1, 2, 5001, 0, 16),
    ]


@pytest.mark.req("F7")
def test_a_sender_connects_to_the_group_and_a_receiver_sees_the_sender() -> None:
    loaded = load_system(str(EXAMPLE), ())
    assert loaded.system is not None
    assert loaded.platform is not None
    cids = cids_of(loaded.system)
    given = {name: parameters_of(loaded.system, name, cids) for name in cids}
    group = limits()["first_group_cid"]
    assert group not in cids.values()
    assert given["sensor"]["out0_cid"] == given["sensor"]["scan_cid"] == given["sensor"]["send_cid"] == group
    for name in ("control", "monitor"):
        assert given[name]["scan_cid"] == cids["sensor"]
        assert given[name]["in0_port"] == 5000
    assert given["control"]["out0_cid"] == cids["monitor"]
    assert (given["sensor"]["flows_out"], given["sensor"]["flows_in"]) == (1, 0)
    assert given["monitor"]["flows_in"] == 2


def test_the_resolved_file_names_the_receivers_as_the_file_does(tmp_path: Path) -> None:
    loaded = load_system(str(EXAMPLE), ())
    assert loaded.system is not None
    assert loaded.platform is not None
    resolved = tmp_path / "resolved.yaml"
    plan = plan_memory(loaded.system, loaded.platform)
    resolved.write_text(resolved_text(plan, beside=EXAMPLE.parent, target=tmp_path))
    again = load_system(str(resolved), ())
    assert again.system is not None, again.problems
    assert again.system.flows == loaded.system.flows


def test_a_flow_has_as_many_receivers_as_there_can_be_other_domains() -> None:
    assert limits()["max_domains"] - 2 == MOST_RECEIVERS


@pytest.mark.req("F7")
def test_a_rate_that_is_enough_for_one_receiver_is_refused_for_two(tmp_path: Path) -> None:
    """The refusal says what to change."""
    text = EXAMPLE.read_text().replace("rate: auto", "rate: 4 MB/s")
    both, one = tmp_path / "both.yaml", tmp_path / "one.yaml"
    both.write_text(text)
    one.write_text(text.replace("[control, monitor]", "control"))
    assert not [found for found in check_file(str(one)).problems if found.code.startswith("flows-")]
    (problem,) = [found for found in check_file(str(both)).problems if found.code.startswith("flows-")]
    assert problem.allowed is not None
    assert "rate: " in problem.allowed
