# SPDX-License-Identifier: Apache-2.0
"""The manifest's data about MPAM (M2, M3), and that the hypervisor's own check accepts the plan."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.config.mpam_board import MEMORY as CONTROLLED

from bulkhead.config.mpam import Mpam
from bulkhead.config.platform import Platform
from bulkhead.config.regions import own_regions
from bulkhead.package.errors import PackageError
from bulkhead.package.manifest import pack_manifest
from bulkhead.package.memory import LoadedMemory
from bulkhead.package.mpam import mpam_of_domain, mpam_row, mpam_tables
from bulkhead.package.program import smallest_program
from bulkhead.package.verdict import manifest_check
from bulkhead.planning.model import Plan
from bulkhead.planning.mpam import ComponentSettings, MpamPlan, Partition, Settings
from bulkhead.schema import Layout

PAGE = 0x2C00_0000
CACHE = {
    "cache": "l2",
    "portions": 40,
    "capacity": {"bits": 8, "maximum": True, "minimum": True, "soft": True},
    "associativity": {"bits": 5},
    "storage_monitors": {"count": 8, "capture": True},
}
MEMORY = {**CONTROLLED, "bandwidth_monitors": {"count": 8, "bits": 44, "by_direction": True}}
COMPONENTS = (
    {
        "name": "both",
        "at": PAGE,
        "version": "1.1",
        "error_interrupt": 90,
        "overflow_interrupt": 91,
        "not_ready": "1 us",
        "resources": (CACHE, MEMORY),
    },
    {
        "name": "old",
        "at": PAGE + (1 << 20),
        "version": "1.0",
        "resources": ({"cache": "l2", "portions": 16},),
        "internal_partids": 8,
    },
)
PARTITIONS = (
    Partition("hypervisor", 1),
    Partition("control", 2, pmg=1),
    Partition("linux", 3, count=4),
)
SETTINGS = (
    ComponentSettings("both", 0, 1, Settings(cache_portions=0xFF)),
    ComponentSettings("both", 0, 2, Settings(cache_portions=0xFF << 30, cmax=Fraction(1, 4))),
    ComponentSettings("both", 1, 2, Settings(mbw_min=Fraction(1, 5), internal_priority=7)),
    ComponentSettings("both", 1, 3, Settings(mbw_max=Fraction(1, 2), mbw_max_hard=True, stride=3)),
    ComponentSettings("both", 1, 4, Settings()),
    ComponentSettings("old", 0, 1, Settings(cache_portions=0xF)),
)


def with_mpam(plan: Plan, mpam: MpamPlan, components: tuple[object, ...] = COMPONENTS) -> Plan:
    described = Mpam.model_validate(
        {
            "partids": 16,
            "monitor_groups": 4,
            "virtual_partids": 8,
            "firmware": "allows",
            "components": components,
        }
    )
    return replace(plan, platform=plan.platform.model_copy(update={"mpam": described}), mpam=mpam)


@pytest.fixture
def partitioned(uncolored: Plan) -> Plan:
    return with_mpam(uncolored, MpamPlan(PARTITIONS, SETTINGS))


def manifest_of(plan: Plan, layout: Layout) -> bytes:
    """The manifest without images, which are not used here."""
    loaded = [LoadedMemory((), 0x4000_0000, 0, b"") for _ in plan.domains]
    return pack_manifest(plan, loaded, [[] for _ in plan.domains], layout)


def error_of(manifest: bytes, layout: Layout) -> str | None:
    error, _ = manifest_check("full").verdict_on(manifest, 1 << 24)
    return layout.enum_name("manifest_error", error)


@pytest.mark.req("M2", "M3")
def test_the_hypervisor_accepts_what_is_planned(partitioned: Plan, layout: Layout) -> None:
    assert error_of(manifest_of(partitioned, layout), layout) == "none"


@pytest.mark.req("M2")
def test_each_owner_has_its_partids(partitioned: Plan) -> None:
    row = mpam_row(partitioned)
    assert (row["page_0"], row["page_1"], row["page_2"]) == (PAGE, PAGE + (1 << 20), 0)
    assert (row["partid"], row["partid_max"], row["pmg_max"], row["virtual_partids"]) == (1, 15, 3, 8)
    assert row["firmware_allows"] == 1
    assert mpam_of_domain(partitioned, "control") == {"mpam_partid": 2, "mpam_virtual": 0, "mpam_pmg": 1}
    assert mpam_of_domain(partitioned, "linux") == {"mpam_partid": 3, "mpam_virtual": 4, "mpam_pmg": 0}


@pytest.mark.req("M3")
def test_settings_and_bitmaps_are_as_planned(partitioned: Plan, layout: Layout) -> None:
    tables = mpam_tables(partitioned, layout)
    rows = tables["mpam_settings"]
    assert [(row["component"], row["instance"], row["partid"]) for row in rows] == [
        (0, 0, 1),
        (0, 0, 2),
        (0, 1, 2),
        (0, 1, 3),
        (1, 0, 1),
    ], "who asks for nothing has no row"
    assert [word["bits"] for word in tables["mpam_words"]] == [0xFF, 0xC000_0000, 0x3F, 0xF]
    assert (rows[1]["cmax_part"], rows[1]["cmax_of"], rows[1]["first_word"]) == (1, 4, 1)
    assert (rows[3]["stride"], rows[3]["mbw_max_of"]) == (3, 2)
    assert rows[3]["asked"] == 1 << 6 | 1 << 7 | 1 << 9


@pytest.mark.req("M3")
def test_instances_are_as_the_platform_file_has_them(partitioned: Plan, layout: Layout) -> None:
    tables = mpam_tables(partitioned, layout)
    assert [row["version"] for row in tables["mpam_components"]] == [0x11, 0x10]
    assert [row["not_ready_ns"] for row in tables["mpam_components"]] == [1000, 0]
    assert [row["intpartid_max"] for row in tables["mpam_components"]] == [0, 7]
    cache, memory, old = tables["mpam_instances"]
    offer = layout.enum("mpam_offer")
    assert cache["offers"] == sum(offer[name] for name in ("cmax", "cmin", "cmax_soft", "storage_capture"))
    assert (cache["cache_portions"], cache["capacity_bits"], cache["storage_monitors"]) == (40, 8, 8)
    assert (memory["bandwidth_bits"], memory["bandwidth_portions"], memory["internal_bits"]) == (8, 32, 3)
    assert memory["bandwidth_value_bits"] == 44
    assert old["offers"] == offer["narrowing"]


def test_without_a_plan_there_is_nothing(uncolored: Plan, layout: Layout) -> None:
    assert set(mpam_row(uncolored).values()) == {0}
    assert mpam_tables(uncolored, layout) == {
        "mpam_components": [],
        "mpam_instances": [],
        "mpam_settings": [],
        "mpam_words": [],
    }
    assert smallest_program(uncolored, None) == "space"


@pytest.mark.req("M2")
def test_the_smaller_program_has_no_driver(partitioned: Plan, layout: Layout) -> None:
    assert smallest_program(partitioned, None) == "full"
    error, _ = manifest_check("space").verdict_on(manifest_of(partitioned, layout), 1 << 24)
    assert layout.enum_name("manifest_error", error) == "not_in_image"


@pytest.mark.req("M2")
def test_who_has_no_partid_is_not_forgotten(uncolored: Plan) -> None:
    plan = with_mpam(uncolored, MpamPlan(PARTITIONS[:2], ()))
    with pytest.raises(PackageError, match="domain 'linux' has no PARTID"):
        mpam_of_domain(plan, "linux")
    with pytest.raises(PackageError, match="the hypervisor has no PARTID of its own"):
        mpam_row(with_mpam(uncolored, MpamPlan(PARTITIONS[1:], ())))


@pytest.mark.req("M3")
def test_more_components_than_the_hypervisor_maps_are_refused(uncolored: Plan, layout: Layout) -> None:
    many = [dict(COMPONENTS[1], name=f"c{n}", at=PAGE + (n << 20)) for n in range(5)]
    plan = with_mpam(uncolored, MpamPlan(PARTITIONS, ()), tuple(many))
    with pytest.raises(PackageError, match="5 MPAM components, at most 4 are possible"):
        manifest_of(plan, layout)


@pytest.mark.req("M3")
def test_feature_pages_are_the_hypervisors(partitioned: Plan, platform: Platform) -> None:
    kept = {region.name: region for region in own_regions(partitioned.platform)}
    first = kept["mpam component 0"]
    assert (first.at, first.bytes, first.mapped, first.guest_bytes) == (PAGE, 1 << 16, True, 0)
    assert first.key == ("mpam", "components", 0, "at")
    assert not any(name.startswith("mpam") for name in {r.name for r in own_regions(platform)})


shares = st.fractions(Fraction(1, 256), Fraction(255, 256), max_denominator=1000)


@pytest.mark.req("M3")
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])  # a value that nothing changes
@given(st.integers(1, (1 << 40) - 1), shares, shares, st.integers(1, 256), st.integers(0, 7))
def test_whatever_settings_are_possible_are_accepted(
    partitioned: Plan,
    layout: Layout,
    portions: int,
    cmax: Fraction,
    low: Fraction,
    stride: int,
    priority: int,
) -> None:
    asked = (
        ComponentSettings("both", 0, 2, Settings(cache_portions=portions, cmax=cmax)),
        ComponentSettings("both", 1, 2, Settings(mbw_min=low, stride=stride, internal_priority=priority)),
    )
    manifest = manifest_of(replace(partitioned, mpam=MpamPlan(PARTITIONS, asked)), layout)
    assert error_of(manifest, layout) == "none"


def test_the_fuzz_target_also_begins_with_one_that_says_it(
    partitioned: Plan, layout: Layout, golden: Callable[[str, bytes], None]
) -> None:
    manifest = manifest_of(partitioned, layout)
    golden("../fuzz/seeds/manifest/partitioned", bytes((n * 13) % 256 for n in range(17)) + manifest)
