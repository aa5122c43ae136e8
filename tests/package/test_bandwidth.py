# SPDX-License-Identifier: Apache-2.0
"""The manifest's data about the memory's bandwidth (T4), and that the hypervisor's check of it has the same
result as the check of the file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bulkhead.admission.bandwidth import check_admission
from bulkhead.admission.load import load_system
from bulkhead.config.devices import Device
from bulkhead.config.platform import Platform
from bulkhead.config.shares import UNLIMITED, Bandwidth
from bulkhead.config.system import BROKER, Regulation, System
from bulkhead.env.paths import repository
from bulkhead.package.bandwidth import bandwidth_row, bandwidth_tables
from bulkhead.package.manifest import pack_manifest
from bulkhead.package.memory import LoadedMemory
from bulkhead.package.verdict import manifest_check
from bulkhead.planning.budgets import CountedEvent, counted_event
from bulkhead.planning.memory_budget import below_workable, memory_use
from bulkhead.planning.model import Plan
from bulkhead.planning.plan import plan_memory
from bulkhead.schema import Layout, load_layout

EXAMPLE = repository() / "examples" / "budget-refused.yaml"
MB = 10**6
NONE = dict.fromkeys(
    (
        "event_bytes",
        "smallest_events",
        "access_bytes",
        "accesses_are_all",
        "limit_bytes_per_s",
        "shortest_period_ns",
        "broker_bytes_per_s",
        "broker_full_bytes_per_s",
    ),
    0,
)
ACCESSES = {"access_bytes": 64, "accesses_are_all": 1}
LIMIT_ALONE = {**NONE, "event_bytes": 64, **ACCESSES, "limit_bytes_per_s": 960 * MB}


def planned(*overrides: str) -> tuple[Plan, CountedEvent | None]:
    loaded = load_system(EXAMPLE, overrides)
    assert loaded.system is not None and loaded.platform is not None, loaded.problems
    return plan_memory(loaded.system, loaded.platform), counted_event(loaded.platform, emulated=False)


@pytest.mark.req("T4", "F3", "B10")
def test_it_says_what_the_file_was_held_against(layout: Layout) -> None:
    plan, event = planned()
    assert bandwidth_row(plan, event) == {
        "event_bytes": 64,
        "smallest_events": 50,
        **ACCESSES,
        "limit_bytes_per_s": 960 * MB,
        "shortest_period_ns": 30_000,
        "broker_bytes_per_s": 500 * MB,
        "broker_full_bytes_per_s": 2000 * MB,
    }
    tables = bandwidth_tables(plan, event)
    one = layout.constant("memory_utilization_one")
    assert tables["bandwidth_curve"] == [{"bytes_per_s": 480 * MB, "utilization": one}]
    rows = plan.platform.memory_budget.table if plan.platform.memory_budget is not None else ()
    assert len(tables["bandwidth_table"]) == len(rows) == 18
    assert tables["bandwidth_table"][0] == {"cores": 1, "refills": 120, "bytes_per_s": 781_250_000}
    assert tables["bandwidth_table"] == [
        {"cores": row.cores, "refills": row.refills, "bytes_per_s": row.rate} for row in rows
    ]


def without_flows(system: System, **update: object) -> System:
    domains = tuple(one.model_copy(update=update) for one in system.domains if one.name != BROKER)
    return system.model_copy(update={"flows": (), "broker": None, "domains": domains})


@pytest.mark.req("T4")
@pytest.mark.parametrize(
    ("change", "row"),
    [
        (
            lambda one: one.model_copy(
                update={"regulation": Regulation.model_validate({"overcommit": True})}
            ),
            NONE,
        ),
        (without_flows, LIMIT_ALONE),
        (lambda one: without_flows(one, bandwidth=UNLIMITED), NONE),
    ],
)
def test_it_says_no_more_than_the_file_was_held_against(
    change: Callable[[System], System], row: dict[str, int]
) -> None:
    plan, event = planned()
    changed = plan_memory(change(plan.system), plan.platform)
    assert bandwidth_row(changed, event) == row
    assert bandwidth_tables(changed, event) == {"bandwidth_curve": [], "bandwidth_table": []}


@pytest.mark.req("T4")
def test_instructions_are_none_of_the_memorys() -> None:
    """The emulator counts them."""
    plan, _ = planned()
    for event in (None, CountedEvent("INST_RETIRED", 8, None)):
        assert bandwidth_row(plan, event) == NONE
        assert bandwidth_tables(plan, event) == {"bandwidth_curve": [], "bandwidth_table": []}


@pytest.mark.req("F3")
def test_a_core_that_copies_is_not_the_engine_that_was_measured() -> None:
    plan, event = planned("broker.engine=cpu-copy", "broker.rate=100 MB/s")
    assert bandwidth_tables(plan, event)["bandwidth_table"] == []
    row: Any = bandwidth_row(plan, event)
    assert (row["broker_bytes_per_s"], row["broker_full_bytes_per_s"]) == (100 * MB, 240 * MB)


@cache
def base() -> tuple[Plan, CountedEvent]:
    plan, event = planned("domains.hog.cpus=[1, 2]")
    assert event is not None
    return plan, event


def manifest_of(plan: Plan, event: CountedEvent, layout: Layout) -> bytes:
    """The manifest without images, which are not used here."""
    loaded = [LoadedMemory((), 0x4000_0000, 0, b"") for _ in plan.domains]
    return pack_manifest(plan, loaded, [[] for _ in plan.domains], layout, event=event)


def error_of(manifest: bytes, layout: Layout) -> str | None:
    error, _ = manifest_check("full").verdict_on(manifest, 1 << 24)
    return layout.enum_name("manifest_error", error)


def with_budgets(plan: Plan, budgets: tuple[Bandwidth, Bandwidth], regulation: Regulation | None) -> System:
    hog, governor, *others = plan.system.domains
    domains = (
        hog.model_copy(update={"bandwidth": budgets[0]}),
        governor.model_copy(update={"bandwidth": budgets[1]}),
        *others,
    )
    return plan.system.model_copy(update={"domains": domains, "regulation": regulation})


def with_disk(system: System, platform: Platform, rate: int | None) -> tuple[System, Platform]:
    """The first domain also has a device that moves so many bytes per s; None: it has none."""
    if rate is None:
        return system, platform
    disk = Device(name="disk", at=0xFD0C_0000, size=4096, dma=True).model_copy(update={"rate": rate})
    first, *others = system.domains
    domains = (first.model_copy(update={"devices": ("disk",), "dma": "trusted"}), *others)
    return (
        system.model_copy(update={"domains": domains}),
        platform.model_copy(update={"devices": (*platform.devices, disk)}),
    )


@pytest.mark.req("D5", "F3", "T4")
def test_a_device_takes_from_what_budgets_and_the_broker_may_have() -> None:
    """The curve is one straight line: a core that moves 960 MB/s in all uses the memory fully. A disk of 96
    MB/s uses a tenth of it, like an engine of 200 MB/s."""
    plan, event = planned()
    assert plan.flows is not None and plan.flows.memory is not None
    system, platform = with_disk(plan.system, plan.platform, 96 * MB)
    use = memory_use(system, platform, 500 * MB, "zdma", 4096)
    assert use is not None
    changed = replace(plan, system=system, platform=platform, brokers=(replace(plan.flows, memory=use),))
    row = bandwidth_row(changed, event)
    assert (row["limit_bytes_per_s"], row["broker_bytes_per_s"]) == (864 * MB, 700 * MB)
    assert use.largest_rate == plan.flows.memory.largest_rate - 200 * MB
    assert [(part.name, float(part.utilization)) for part in use.parts][-1] == ("disk", 0.1)
    assert use.rate == 500 * MB, "the broker's own"


def file_admits(system: System, platform: Platform, rate: int) -> bool:
    use = memory_use(system, platform, rate, "zdma", 4096)
    assert use is not None
    refused = [*check_admission(system, platform), *below_workable(system, platform)]
    return use.fits and not refused


budgets = st.builds(
    lambda events, period, counts, per: Bandwidth.model_validate(
        {"events": events, "period": f"{period} ns", "counts": counts, "per": per}
    ),
    st.integers(1, 12_000),
    st.one_of(st.integers(25_000, 10**6), st.sampled_from([30_000, 10**6])),
    st.sampled_from(["auto", "refills", "sum", "writebacks"]),
    st.sampled_from(["domain", "vcpu"]),
)


disks = st.one_of(st.none(), st.integers(1, 1200 * MB))


@pytest.mark.req("T4", "F3", "B10", "D5")
@given(budgets, budgets, st.integers(1, 1600 * MB), st.booleans(), disks)
def test_the_hypervisor_admits_what_the_check_of_a_file_admits(
    hog: Bandwidth, governor: Bandwidth, rate: int, slow: bool, disk: int | None
) -> None:
    """The exception is a budget that is too small to work: EL2 counts it as the smallest that does."""
    plan, event = base()
    assert plan.flows is not None
    layout = load_layout()
    small = Bandwidth.model_validate({"events": 60, "period": "1 ms"})
    budgeted = with_budgets(plan, (hog, small if slow else governor), None)
    system, platform = with_disk(budgeted, plan.platform, disk)
    use = memory_use(system, platform, rate, "zdma", 4096)
    changed = replace(plan, system=system, platform=platform, brokers=(replace(plan.flows, memory=use),))
    error = error_of(manifest_of(changed, event, layout), layout)
    if file_admits(system, platform, rate):
        assert error == "none"
    elif all(one.events is None or one.events >= 50 for one in (hog, governor)):
        assert error == "bandwidth"
    else:
        assert error in ("none", "bandwidth")


@pytest.mark.req("T4", "F3", "B7")
@given(
    st.integers(60, 12_000),
    st.integers(60, 8_000),
    st.integers(10 * MB, 900 * MB),
    st.integers(10**5, 10**7),
    st.sampled_from(["sum", "refills"]),
)
def test_it_does_for_regulated_domains_too(
    first: int, limit: int, ceiling: int, interval: int, counts: str
) -> None:
    plan, event = base()
    assert plan.flows is not None
    layout = load_layout()
    period = {"period": f"{interval} ns"}
    regulation = Regulation.model_validate(
        {
            "policy": "dynamic-bandwidth",
            "threshold": "900 MB/s",
            "interval": f"{interval} ns",
            "ceiling": f"{ceiling} B/s",
            "floor": "64 kB/s",
        }
    )
    bandwidths = (
        Bandwidth.model_validate({"events": 2 * first, "counts": counts, **period}),
        Bandwidth.model_validate({"events": limit, **period}),
    )
    system = with_budgets(plan, bandwidths, regulation)
    use = memory_use(system, plan.platform, 500 * MB, "zdma", 4096)
    changed = replace(plan, system=system, brokers=(replace(plan.flows, memory=use),))
    error = error_of(manifest_of(changed, event, layout), layout)
    if error != "regulation":  # initial budgets below the floor, or above the ceiling
        assert (error == "none") == file_admits(system, plan.platform, 500 * MB)


Golden = Callable[[str, bytes], None]


def test_the_fuzz_target_also_begins_with_one_that_says_it(golden: Golden) -> None:
    plan, event = base()
    layout = load_layout()
    manifest = manifest_of(plan, event, layout)
    assert error_of(manifest, layout) == "none"
    golden("../fuzz/seeds/manifest/admitted", bytes((n * 13) % 256 for n in range(17)) + manifest)
