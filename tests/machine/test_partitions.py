# SPDX-License-Identifier: Apache-2.0
"""M4, M5: partitions of a job: the resulting registers, the labels of requests, and refusals."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bulkhead.machine.native import built_machine, load_machine
from bulkhead.machine.partition_monitors import PartitionMonitors
from bulkhead.machine.partitions import BadPartition, divide, partitions_of
from bulkhead.machine.point import BadJob, job_platform, job_settings, run_point
from bulkhead.planning.mpam_native import mpam

PART_SEL, CMAX, MBW_MIN, MBW_MAX, PRI, CPBM = 0x100, 0x108, 0x200, 0x208, 0x400, 0x1000
MEMORY = 1 << 24  # MPAMCFG_PART_SEL.RIS
LINE = 64
READY_PS = 2_000_000  # monitors are, after a change


@pytest.fixture(scope="module", autouse=True)
def _built() -> None:
    built_machine()
    mpam()


def job(*partitions: dict[str, Any], **more: Any) -> dict[str, Any]:
    names = [one["name"] for one in partitions]
    parts = [
        {
            "name": f"part-{core}",
            "core": core,
            "memory_bytes": 1 << 20,
            "kind": "read",
            "partition": name,
            "start_ps": READY_PS,
        }
        for core, name in enumerate(names)
    ]
    return {"platform": "mpam4", "parts": parts, "partitions": list(partitions), **more}


@pytest.mark.req("M4", "M5")
def test_registers_hold_what_core_encodes_for_the_partitions_that_ask() -> None:
    wanted = job(
        {"name": "vm0", "llc": {"portions": 0xF0F0, "max": "50 %"}, "bandwidth": {"min": "50 %"}},
        {"name": "vm1", "bandwidth": {"max": "25 %", "hard": True, "priority": 7}},
    )
    machine = load_machine(json.dumps(job_settings(wanted)))
    partitions = partitions_of(wanted)
    divide(wanted, partitions, job_platform(wanted), machine)

    def register(selected: int, offset: int) -> int:
        machine.component_write(0, PART_SEL, selected)
        return machine.component_read(0, offset)

    assert [one.partid for one in partitions] == [3, 4]
    assert [register(partid, CPBM) for partid in (3, 4)] == [0xF0F0, 0xFFFFFFFF]
    assert [register(partid, CMAX) & 0xFFFF for partid in (3, 4)] == [0x7F00, 0xFF00]
    assert register(MEMORY | 3, MBW_MIN) == 0x8000
    assert register(MEMORY, MBW_MIN) == 0x0100, "who has no partition is not preferred, as after a reset"
    assert register(MEMORY | 4, MBW_MAX) == 1 << 31 | 0x3F00
    assert register(MEMORY | 4, PRI) & 7 == 0, "7 is the least urgent one of a file, and 0 is low here"


@pytest.mark.req("M4", "M5")
def test_all_that_a_part_asks_for_has_the_label_of_its_partition() -> None:
    found = run_point(job({"name": "vm0"}, {"name": "vm1"}))
    assert [one["owners"] for one in found["partitions"]] == [[1], [2]]
    for one in found["partitions"]:
        (owner,) = one["owners"]
        assert one["held"] == found["held"]["l3"][owner] * LINE > 0
        assert one["moved"]["read"] == found["levels"]["l3"]["owners"][owner]["misses"] * LINE > 1 << 20
    plain = {
        **job(),
        "parts": [{k: v for k, v in p.items() if k != "partition"} for p in job({"name": "a"})["parts"]],
    }
    assert run_point(plain)["partitions"] == []


@pytest.mark.req("M5")
def test_traffic_is_counted_from_when_a_part_begins() -> None:
    wanted = job({"name": "vm0"}, {"name": "vm1"}, from_part="part-1")
    wanted["parts"][1]["start_ps"] = 10**9
    first, second = run_point(wanted)["partitions"]
    assert first["moved"]["read"] == 0, "it was done by then"
    assert second["moved"]["read"] > 1 << 20
    assert first["held"] + second["held"] <= 1 << 20


@pytest.mark.parametrize(
    ("partition", "reason"),
    [
        (
            {"llc": {"portions": 1 << 32}},
            "partition 'vm0', llc.portions: names portions that 'l3.0' does not",
        ),
        ({"llc": {"max": "0.1 %"}}, "partition 'vm0', llc.max: .*smallest"),
        ({"llc": {"share": "50 %"}}, "partition 'vm0', llc: only named `portions`"),
        ({"bandwidth": {"budget": "1 MB/s"}}, "partition 'vm0', bandwidth: budgets belong to parts"),
        ({"bandwidth": {"priority": 8}}, "partition 'vm0', bandwidth.priority"),
        ({"lcc": {}}, "partitions.lcc"),
    ],
)
def test_what_the_platform_cannot_do_is_refused_with_its_key(partition: dict[str, Any], reason: str) -> None:
    with pytest.raises(BadPartition, match=reason):
        run_point(job({"name": "vm0", **partition}))


def test_partitions_that_there_are_not_are_refused() -> None:
    wanted = job({"name": "vm0"})
    wanted["parts"][0]["partition"] = "vm9"
    with pytest.raises(BadPartition, match=r"part 'part-0': 'vm9' is not a partition \(vm0\)"):
        run_point(wanted)
    with pytest.raises(BadPartition, match="two of vm0, vm0 have the same name"):
        run_point(job({"name": "vm0"}, {"name": "vm0"}))
    with pytest.raises(BadPartition, match="'zcu102' has no MPAM"):
        run_point({**job({"name": "vm0"}), "platform": "zcu102"})


def test_more_partitions_than_monitors_are_refused() -> None:
    wanted = job(*({"name": f"vm{n}"} for n in range(4)))
    machine = load_machine(json.dumps(job_settings(wanted)))
    PartitionMonitors(partitions_of(wanted), job_platform(wanted), machine)
    wanted["partitions"].append({"name": "vm4"})
    with pytest.raises(ValueError, match=r"'l3\.1' has 8 monitors, too few"):
        PartitionMonitors(partitions_of(wanted), job_platform(wanted), machine)


def test_a_setting_that_is_null_is_left_out() -> None:
    one = {"name": "part", "core": 0, "memory_bytes": 256 << 10, "kind": "read", "walks": 2}
    plain, without = (
        run_point({"platform": "mpam4", "parts": [one], **more}) for more in ({}, {"set": {"cores.l2": None}})
    )
    assert (
        plain["levels"]["l3"]["owners"][1]["accesses"]
        < without["levels"]["l3"]["owners"][1]["accesses"] / 1.5
    )
    with pytest.raises(BadJob, match=r"cores\.l9"):
        run_point({"platform": "mpam4", "parts": [one], "set": {"cores.l9": None}})
