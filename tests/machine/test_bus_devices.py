# SPDX-License-Identifier: Apache-2.0
"""Devices that master memory behind an SMMU, as parts of jobs (D5), and the platform's key for its timing."""

from __future__ import annotations

from typing import Any

import pytest

from bulkhead.experiments.device_rows import beside, row_of
from bulkhead.machine.bus_devices import BadDevice, smmu_of
from bulkhead.machine.point import job_platform, run_point

JOB: dict[str, Any] = {"platform": "zcu102", "parts": []}
UNTIL_PS = 200_000_000
DISK = {"kind": "disk", "port": "adma", "memory_bytes": 8 << 20, "rate_bytes_per_s": 10**9}


def run(**more: Any) -> Any:
    return run_point({**JOB, "until_ps": UNTIL_PS, **more})


def test_the_platform_states_the_smmu_of_its_engine() -> None:
    platform = job_platform(JOB)
    timing = smmu_of(platform, platform.dma[0])
    assert timing is not None
    assert "entries" in timing.tlb.assumed


@pytest.mark.usefixtures("machine_built")
def test_pages_miss_once_each_and_blocks_hardly() -> None:
    [blocks] = run(devices=[{**DISK, "translation": "blocks"}])["devices"]
    [pages] = run(devices=[{**DISK, "translation": "pages"}])["devices"]
    assert blocks["misses"] <= 4 + 1
    assert pages["misses"] == pytest.approx(pages["bytes"] / 4096, rel=0.2)
    assert pages["faults"] == blocks["faults"] == 0


@pytest.mark.req("D5")
@pytest.mark.usefixtures("machine_built")
@pytest.mark.parametrize("way", ["own", "of a part"])
def test_colored_memory_is_mapped_by_pages_behind_the_smmu(way: str) -> None:
    part = {"name": "domain", "core": 1, "colors": [7], "memory_bytes": 8 << 20, "kind": "read", "walks": 1}
    where = {"colors": [7]} if way == "own" else {"memory_of": "domain"}
    parts = [] if way == "own" else [part]
    [colored] = run(parts=parts, devices=[{**DISK, **where, "translation": "blocks"}])["devices"]
    assert colored["misses"] == pytest.approx(colored["bytes"] / 4096, rel=0.2)
    assert colored["faults"] == 0


@pytest.mark.usefixtures("machine_built")
def test_the_regulator_limits_the_device() -> None:
    [found] = run(devices=[{**DISK, "translation": "none"}], qos={"adma": {"rate": 20}})["devices"]
    assert found["bytes"] * 10**12 / UNTIL_PS == pytest.approx(20 * 15_625_000, rel=0.02)


@pytest.mark.usefixtures("machine_built")
def test_equal_runs_have_equal_digests() -> None:
    devices = [{**DISK, "translation": "pages"}]
    assert run(devices=devices)["digest"] == run(devices=devices)["digest"]


@pytest.mark.usefixtures("machine_built")
@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"kind": "tape"}, "not one of disk, network"),
        ({"translation": "sections"}, "not one of none, blocks, pages"),
        ({"port": "nothing"}, "no port"),
        ({"packet_bytes": 64}, "not a key of a disk"),
        ({"colors": [7]}, "in [0-9]+ pieces, so it needs a translation"),
        ({"memory_of": "nobody"}, "no part 'nobody'"),
        ({"memory_of": "domain", "colors": [7]}, "has the colors of that part"),
    ],
)
def test_impossible_devices_are_refused(wrong: dict[str, Any], why: str) -> None:
    with pytest.raises(BadDevice, match=why):
        run(devices=[DISK | wrong])


@pytest.mark.usefixtures("machine_built")
def test_a_smaller_tlb_misses_more() -> None:
    """A row of the experiment: a network's 256 buffers are in random order."""

    def misses(entries: int) -> Any:
        point = {"device": "network", "tlb_entries": entries, "main_entries": 512}
        job = {**beside(point, 1), "parts": [], "until_ps": 2 * 10**9}
        result = run_point(job)
        return result["devices"][0]["misses"] / result["devices"][0]["bytes"]

    assert misses(8) > 2 * misses(512)


def test_a_row_has_the_mean_time_of_a_walk() -> None:
    result: Any = {
        "walks": [{"walk_ps": [9, 4, 4]}],
        "devices": [{"bytes": 2048, "misses": 6, "walks": 2, "walk_ps": 500_000, "dropped": 0}],
        "simulated_ps": 10**6,
        "dram": {"utilization": 0.5},
        "digest": 1,
    }
    alone: Any = result | {"walks": [{"walk_ps": [7, 2, 2]}]}
    row = row_of({"device": "disk", "register": 0}, result, alone)
    assert (row["slowdown"], row["misses_per_kib"], row["walk_ns"]) == (2, 3, 250)
