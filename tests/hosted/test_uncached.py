# SPDX-License-Identifier: Apache-2.0
"""Memory that a guest maps Non-cacheable (T5): its accesses cause no refills but reach the memory; stage 2
makes them cacheable if cores can force that; a budget of accesses limits them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from bulkhead.machine.hosted import HostedRun, run_hosted
from bulkhead.package.build import Build
from bulkhead.run.status import BudgetStatus, SystemStatus, read_status

from .systems import MS, built_from, domain

pytestmark = [pytest.mark.req("T5"), pytest.mark.usefixtures("hosted_built")]

ROOT = Path(__file__).parents[2]
FOR_MS = 6
LINE_BYTES = 64
FEW = 2000  # lines and accesses of a start, including EL2's part
# EL2's own accesses between an overflow and the counter's stop: on the bus, a line is four. 16 lines of data,
# and 2 KiB of code if L1I no longer has it from the previous overflow.
SLACK = 4 * (16 + 2048 // LINE_BYTES)
# Accesses to memory, and loads and stores as such: EL2 executes a hundred until the stop.
SLACK_OF_LOADS = 400


def bypass(cpus: tuple[int, ...] = (1,), **keys: Any) -> dict[str, Any]:
    """On core 1: bypasses the caches as fast as it can."""
    params = {"report_every_us": 1000, "stride": LINE_BYTES, **keys.pop("params", {})}
    memory = [{"at": 0x4000_0000, "size": "8 MiB"}]
    return domain("bypass", "bypass", list(cpus), **keys) | {"memory": memory, "params": params}


def counted(done: HostedRun, core: int = 1) -> dict[str, int]:
    events: dict[str, int] = done.answer["cores"][core]["events"]
    return events


def run(build: Build) -> HostedRun:
    done = run_hosted(build, frames=build.status_pages)
    assert done.answer["ending"] == "off", done.answer["trouble"]
    return done


def budget_of(build: Build, done: HostedRun, core: int = 1) -> BudgetStatus:
    status = read_status(build.layout, [done.frames[pa] for pa in build.status_pages])
    assert isinstance(status, SystemStatus), status
    found = next(one.budget for one in status.cores if one.core == core)
    assert found is not None
    return found


@pytest.mark.parametrize("device", [0, 1])
@pytest.mark.parametrize("stores", [0, 1])
def test_t5_what_goes_past_the_caches_is_no_refill_and_the_memory_moves_a_line_for_it(
    tmp_path: Path, stores: int, device: int
) -> None:
    params = {"stores": stores, "device": device}
    done = run(built_from(tmp_path, bypass(params=params), for_ns=FOR_MS * MS))
    seen = counted(done)
    moved = done.answer["dram"]["written_bytes" if stores else "read_bytes"]
    assert seen["uncached"] > 20_000
    assert seen["l2d_refill"] + seen["l2d_write_back"] < FEW
    assert moved >= (seen["uncached"] - FEW) * LINE_BYTES
    assert seen["beats"] >= seen["uncached"], "the bus sees each of them"


def test_t5_the_same_program_with_its_memory_mapped_as_usual_is_seen(tmp_path: Path) -> None:
    done = run(built_from(tmp_path, bypass(params={"cached": 1}), for_ns=FOR_MS * MS))
    assert counted(done)["l2d_refill"] > 20_000
    assert counted(done)["uncached"] < FEW


def test_t5_where_cores_can_force_it_nothing_goes_past_the_caches(tmp_path: Path) -> None:
    """HCR_EL2.FWB and stage 2 are the hypervisor's; the machine combines their types with the guest's."""
    done = run(built_from(tmp_path, bypass(), platform="qemu-virt-max", for_ns=FOR_MS * MS))
    assert counted(done)["l2d_refill"] > 20_000
    assert counted(done)["uncached"] < FEW


def test_t5_but_for_who_shares_memory_with_a_device_that_sees_no_caches(tmp_path: Path) -> None:
    given = bypass(devices=["fw-cfg"], dma="trusted")
    done = run(built_from(tmp_path, given, platform="qemu-virt-max", for_ns=FOR_MS * MS))
    assert counted(done)["uncached"] > 20_000


def platform_that_counts(directory: Path, event: str) -> str:
    """Like qemu-virt, with another event of accesses."""
    base = yaml.safe_load((ROOT / "platforms" / "qemu-virt.yaml").read_text())
    access = {"name": event, "bytes": LINE_BYTES, "counted_at": "a test"}
    own = {key: base[key] for key in ("platform", "description")}
    own |= {"name": "counting", "extends": "qemu-virt", "pmu": base["pmu"] | {"access_event": access}}
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "counting.yaml").write_text(yaml.safe_dump(own))
    return "./counting.yaml"


@pytest.mark.parametrize("event", ["BUS_ACCESS", "EXT_MEM_REQ_NC", "MEM_ACCESS"])
@pytest.mark.parametrize("stores", [0, 1])
def test_t5_a_budget_of_accesses_holds_who_goes_past_the_caches(
    tmp_path: Path, stores: int, event: str
) -> None:
    """Its budget of refills stays unspent; it gets all of its budget of accesses."""
    limit = 3000
    bandwidth = {"events": 5000, "accesses": limit, "period": "1 ms"}
    given = bypass(bandwidth=bandwidth, params={"stores": stores})
    platform = platform_that_counts(tmp_path, event)
    build = built_from(tmp_path, given, platform=platform, for_ns=FOR_MS * MS)
    done = run(build)
    seen = budget_of(build, done)
    slack = SLACK_OF_LOADS if event == "MEM_ACCESS" else SLACK
    assert seen.second_max_per_period <= limit + slack
    assert seen.second_events >= (seen.periods - 1) * limit
    assert seen.throttled_periods >= seen.periods - 1
    assert seen.max_per_period < FEW
    assert counted(done)["uncached"] <= seen.periods * (limit + slack) + FEW


@pytest.mark.parametrize(("event", "share"), [("BUS_ACCESS", 0.01), ("EXT_MEM_REQ_NC", 1.01)])
def test_t5_what_it_costs_who_stays_in_its_caches_is_a_matter_of_the_event(
    tmp_path: Path, event: str, share: float
) -> None:
    """256 KiB fit in L2. On the bus between the core and L2 each line is four accesses."""
    moved: list[int] = []
    for accesses in ({}, {"accesses": 2000}):
        bandwidth = {"events": 2000, "period": "1 ms", "counts": "refills", **accesses}
        hog = domain("hog", "hog", [1], bandwidth=bandwidth, params={"buffer_kib": 256})
        directory = tmp_path / str(len(moved))
        platform = platform_that_counts(directory, event)
        done = run(built_from(directory, hog, platform=platform, for_ns=FOR_MS * MS))
        moved.append(counted(done)["l1d_refill"])
    assert moved[1] <= share * moved[0]
    assert moved[1] >= 0.99 * moved[0] or share < 1


def test_t5_without_it_a_budget_of_refills_holds_nothing(tmp_path: Path) -> None:
    build = built_from(
        tmp_path,
        bypass(bandwidth={"events": 1000, "period": "1 ms"}, params={"stores": 1}),
        for_ns=FOR_MS * MS,
    )
    done = run(build)
    seen = budget_of(build, done)
    assert seen.throttled_periods == 0 and seen.max_per_period < 1000
    assert counted(done)["uncached"] > 20 * 1000 * FOR_MS, "although the budget holds"


def test_t5_each_core_has_its_own_budget_of_accesses(tmp_path: Path) -> None:
    bandwidth = {"events": 5000, "accesses": 2000, "period": "1 ms", "per": "vcpu"}
    build = built_from(tmp_path, bypass((1, 2, 3), bandwidth=bandwidth), for_ns=FOR_MS * MS)
    done = run(build)
    for core in (1, 2, 3):
        seen = budget_of(build, done, core)
        assert seen.second_max_per_period <= 2000 + SLACK
        assert seen.throttled_periods >= seen.periods - 1


def test_t5_two_domains_of_one_core_have_a_budget_of_accesses_each(tmp_path: Path) -> None:
    """The domain that bypasses the caches is stopped, and the other, with a budget of refills only, has the
    core."""
    bandwidth = {"events": 5000, "accesses": 1000, "period": "1 ms"}
    hog = domain("hog", "hog", [1], bandwidth={"events": 4000, "period": "1 ms", "counts": "refills"})
    hog |= {"priority": 1, "params": {"buffer_kib": 2048}}
    build = built_from(tmp_path, bypass(bandwidth=bandwidth), hog, for_ns=FOR_MS * MS)
    done = run(build)
    status = read_status(build.layout, [done.frames[pa] for pa in build.status_pages])
    assert isinstance(status, SystemStatus)
    shared = {one.domain: one for one in next(core for core in status.cores if core.core == 1).shared}
    first, second = shared[0].budget, shared[1].budget
    assert first is not None and second is not None
    assert first.second_max_per_period <= 1000 + 8 * SLACK, "with what EL2 does for the switch"
    assert first.throttled_periods >= first.periods - 1
    assert second.events > 1000 * (FOR_MS - 1) and second.second_events == 0
