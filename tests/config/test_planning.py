# SPDX-License-Identifier: Apache-2.0
"""C2: every frame has one owner and the right color, in as few maps as the formula says."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, assume, example, given, settings
from hypothesis import strategies as st

from bulkhead.admission.load import load_system
from bulkhead.config.load import load_platform
from bulkhead.config.platform import Dram, Platform, Range
from bulkhead.config.shares import Llc
from bulkhead.config.system import Region, System
from bulkhead.geometry import color_space
from bulkhead.planning.allocate import AllocatedMemory
from bulkhead.planning.colors import ColorRequest, assign
from bulkhead.planning.left import usage_of
from bulkhead.planning.model import Hooks, Plan
from bulkhead.planning.plan import PlanningError, plan_memory

ROOT = Path(__file__).parents[2]
MIB, PAGE = 1 << 20, 4096


def of_example(
    *overrides: str, unprotected: bool = False, name: str = "mixed-criticality"
) -> tuple[System, Platform]:
    loaded = load_system(ROOT / "examples" / f"{name}.yaml", overrides, unprotected=unprotected)
    assert loaded.system is not None, loaded.problems
    assert loaded.platform is not None
    return loaded.system, loaded.platform


def pages_of(plan: Plan) -> dict[str, np.ndarray[Any, np.dtype[np.uint64]]]:
    """Physical pages by owner."""
    owners = {"hypervisor": plan.pool.pages(plan.space)}
    for domain in plan.domains:
        owners[domain.name] = np.concatenate([segment.pages(plan.space) for segment in domain.segments])
    return owners


def assert_partitioned(plan: Plan) -> None:
    """Checks that each frame has one owner, in RAM, outside of reserved memory; that colors are as promised,
    and IPAs as requested."""
    owners = pages_of(plan)
    everything = np.concatenate(list(owners.values()))
    assert len(np.unique(everything)) == len(everything), "a frame has two owners"
    inside = np.zeros(len(everything), dtype=bool)
    for ram in plan.platform.memory:
        inside |= (everything >= ram.at) & (everything < ram.end)
    assert inside.all()
    holes = [plan.load_area, *((hole.at, hole.size) for hole in plan.platform.reserved)]
    for pa, nbytes in holes:
        assert not ((everything >= pa) & (everything < pa + nbytes)).any()
    colors = {"hypervisor": plan.pool.colors, **{domain.name: domain.colors for domain in plan.domains}}
    for name, pages in owners.items():
        promised = colors[name]
        if promised is not None:
            assert set(plan.space.colors_of(pages).tolist()) <= promised
    for domain, asked in zip(plan.domains, plan.system.domains, strict=True):
        got = [(s.ipa + offset) for s in domain.segments for offset in range(0, s.bytes, PAGE)]
        want = sorted(region.at + offset for region in asked.memory for offset in range(0, region.size, PAGE))
        assert got == want


@pytest.mark.req("C2")
def test_the_example_is_partitioned() -> None:
    assert_partitioned(plan_memory(*of_example()))


@pytest.mark.req("C2")
def test_maps_are_as_many_as_the_formula_says() -> None:
    """The formula is ceil(s / (x * C)) with x contiguous colors of size C."""
    plan = plan_memory(*of_example())
    for domain, asked in zip(plan.domains, plan.system.domains, strict=True):
        assert domain.colors is not None
        size = len(domain.colors) * plan.space.granule
        assert domain.maps == sum(math.ceil(region.size / size) for region in asked.memory)
        pages = np.concatenate([segment.pages(plan.space) for segment in domain.segments]).astype(np.int64)
        assert domain.maps == 1 + int((np.diff(pages) != PAGE).sum()), "what the pages themselves say"


@pytest.mark.req("C2")
@pytest.mark.parametrize("count", range(1, 9))
def test_the_formula_holds_for_any_number_of_contiguous_colors(count: int) -> None:
    memory = AllocatedMemory(color_space((13, 14, 15)), [(0, 64 * MIB)])
    taken = memory.take_colored(5 * MIB, frozenset(range(count)))
    assert taken is not None
    assert taken.maps == math.ceil(5 * MIB / (count * 8192))


@pytest.mark.req("C2")
def test_the_hypervisor_has_colors_of_its_own() -> None:
    plan = plan_memory(*of_example())
    assert plan.pool.colors == frozenset({7})
    assert not any(plan.pool.colors & (domain.colors or frozenset()) for domain in plan.domains)


@pytest.mark.req("C2")
def test_uncolored_memory_can_be_mapped_by_blocks() -> None:
    plan = plan_memory(*of_example(unprotected=True))
    assert plan.space.bits == 0
    assert_partitioned(plan)
    for domain in plan.domains:
        assert domain.colors is None
        assert [segment.pa % (2 * MIB) for segment in domain.segments] == [0]
        assert domain.maps == 1


@pytest.mark.req("C2")
@pytest.mark.parametrize(
    ("premap", "expected"), [("auto", [True, False, False]), ("all", [True] * 3), ("none", [False] * 3)]
)
def test_premap_is_for_real_time_domains_unless_told(premap: str, expected: list[bool]) -> None:
    plan = plan_memory(*of_example(f"isolation.premap={premap}"))
    assert [domain.premap for domain in plan.domains] == expected


@pytest.mark.req("C2")
def test_too_much_memory_is_refused_with_names_and_numbers() -> None:
    with pytest.raises(PlanningError) as caught:
        plan_memory(*of_example("domains.hog.memory.0.size=241 MiB", "domains.linux.memory.0.size=1 GiB"))
    causes = [finding.cause for finding in caught.value.findings]
    assert causes == [
        "domain 'linux' asks for 1 GiB, but its colors [3, 4, 5] hold 720 MiB, 720 MiB of it free",
        "domain 'hog' asks for 241 MiB, but its colors [6] hold 240 MiB, 240 MiB of it free",
    ]


@pytest.mark.req("C2")
def test_all_that_the_colors_hold_can_be_had() -> None:
    plan = plan_memory(*of_example("domains.hog.memory.0.size=240 MiB"))
    assert_partitioned(plan)
    assert next(row.free_bytes for row in usage_of(plan) if row.owner == "hog") == 0


@pytest.mark.req("C2")
def test_owners_of_the_same_colors_share_what_is_left() -> None:
    """The hypervisor has 8 MiB of the 240 MiB of color 7, the broker 4 MiB."""
    plan = plan_memory(*of_example(name="flows"))
    rows = {row.owner: row for row in usage_of(plan)}
    assert rows["hypervisor"].colors == rows["broker"].colors == frozenset({7})
    assert rows["hypervisor"].free_bytes == rows["broker"].free_bytes == 228 * MIB


def with_more(system: System, owner: str, more: int, plan: Plan) -> System:
    """The system with the planned colors, and one region or the pool enlarged by this amount."""
    hypervisor = system.hypervisor.model_copy(update=decided(plan.pool.colors))
    if owner == "hypervisor":
        hypervisor = hypervisor.model_copy(update={"memory": plan.pool.bytes + more})
    domains = [
        domain.model_copy(update=decided(planned.colors))
        for domain, planned in zip(system.domains, plan.domains, strict=True)
    ]
    for index, domain in enumerate(domains):
        if domain.name == owner:
            memory = (*domain.memory, Region(at=1 << 36, size=more))
            domains[index] = domain.model_copy(update={"memory": memory})
    return system.model_copy(update={"domains": tuple(domains), "hypervisor": hypervisor})


def decided(colors: frozenset[int] | None) -> dict[str, Llc]:
    return {"llc": Llc(colors=tuple(sorted(colors)))} if colors else {}


COLORS = st.frozensets(st.integers(0, 7), min_size=1, max_size=4)
POOLS = st.sampled_from([None, 8 * MIB, 9 * MIB])


@pytest.mark.req("C2")
@settings(derandomize=True, max_examples=10, deadline=None, phases=[Phase.explicit, Phase.generate])
@example(colors=[frozenset(c) for c in ({7}, {0, 2}, {0, 1}, {3})], colored=True, pool=None)
@given(colors=st.lists(COLORS, min_size=4, max_size=4), colored=st.booleans(), pool=POOLS)
def test_what_is_left_can_be_had_and_no_more(
    colors: list[frozenset[int]], colored: bool, pool: int | None
) -> None:
    """One granule more does not fit, whichever colors are shared."""
    system, whole = of_example(unprotected=not colored)
    small = {"memory": (Range(at=0x4000_0000, size=160 * MIB),), "load": Range(at=0x4020_0000, size=16 * MIB)}
    platform = whole.model_copy(update=small)
    own = [Llc(colors=tuple(sorted(chosen))) for chosen in colors]
    hypervisor = system.hypervisor.model_copy(update={"llc": own[0], "memory": pool})
    domains = tuple(
        domain.model_copy(update={"llc": llc, "memory": (Region(at=0x4000_0000, size=size * MIB),)})
        for domain, llc, size in zip(system.domains, own[1:], (4, 7, 1), strict=True)
    )
    system = system.model_copy(update={"domains": domains, "hypervisor": hypervisor})
    try:
        plan = plan_memory(system, platform)
    except PlanningError:
        assume(False)
    unit = plan.space.granule if colored else 2 * MIB
    for row in usage_of(plan):
        if row.owner == "nobody":
            continue
        if row.free_bytes:
            assert_partitioned(plan_memory(with_more(system, row.owner, row.free_bytes, plan), platform))
        with pytest.raises(PlanningError):
            plan_memory(with_more(system, row.owner, row.free_bytes + unit, plan), platform)


@pytest.mark.req("C2")
def test_fragmentation_is_reported() -> None:
    """16 MiB in maps of 24 KiB: the last map is used only for 16 KiB."""
    plan = plan_memory(*of_example())
    assert plan.domains[0].fragmented_bytes == math.ceil(16 * MIB / 24576) * 24576 - 16 * MIB == 8192


@pytest.mark.req("C2")
@pytest.mark.parametrize(("share", "count"), [("37.5 %", 3), ("26 %", 3), ("25 %", 2), ("0.1 %", 1)])
def test_a_share_is_rounded_up_to_whole_colors(share: str, count: int) -> None:
    plan = plan_memory(*of_example(f"domains.control.llc={{ share: {share} }}"))
    assert len(plan.domains[0].colors or ()) == count
    choice = next(choice for choice in plan.choices if choice.key == "domains.control.llc.colors")
    assert f"{count} of 8 LLC colors" in choice.reason


@pytest.mark.req("C2")
def test_auto_deals_out_all_colors_disjoint_real_time_first() -> None:
    system, platform = of_example(
        *(f"domains.{name}.llc=auto" for name in ("control", "linux", "hog")), "hypervisor.llc=auto"
    )
    plan = plan_memory(system, platform)
    sets = [plan.pool.colors, *(domain.colors for domain in plan.domains)]
    assert [len(colors or ()) for colors in sets] == [1, 2, 3, 2]
    assert frozenset[int]().union(*(colors or frozenset() for colors in sets)) == frozenset(range(8))
    assert_partitioned(plan)


@pytest.mark.req("C2")
def test_the_same_files_give_the_same_plan() -> None:
    assert plan_memory(*of_example()).domains == plan_memory(*of_example()).domains


@pytest.mark.req("C3")
def test_banks_split_the_memory_of_one_cache_color_too() -> None:
    system, platform = of_example()
    dram = Dram.model_validate(
        {"standard": "DDR4", "speed": 2133, "banks": 8, "width": 64, "mapping": {"bank": (16, 17, 18)}}
    )
    isolation = system.isolation.model_copy(update={"banks": "coloring"})
    banked = platform.model_copy(update={"dram": dram})
    plan = plan_memory(system.model_copy(update={"isolation": isolation}), banked)
    assert_partitioned(plan)
    owners = (plan.pool.colors, *(domain.colors for domain in plan.domains))
    banks = [{plan.space.bank_color_of(color) for color in owner or ()} for owner in owners]
    assert sum(len(one) for one in banks) == len(set().union(*banks)) == 8, "each bank has one owner"


@pytest.mark.req("C5")
@pytest.mark.parametrize("target", ["linux", "control", "hog:0", "linux:65535", "control:7"])
def test_the_hook_puts_one_granule_into_anothers_color(target: str) -> None:
    right, wrong = plan_memory(*of_example()), plan_memory(*of_example(), Hooks(miscolor=target))
    name, _, page = target.partition(":")
    victim = next(domain for domain in wrong.domains if domain.name == name)
    before, after = pages_of(right)[name], pages_of(wrong)[name]
    changed = np.flatnonzero(before != after)
    assert len(changed) == wrong.space.granule // PAGE
    assert (int(page) if page else victim.bytes // PAGE // 2) in changed
    donor = wrong.domains[0] if name != "control" else wrong.domains[1]
    assert set(wrong.space.colors_of(after[changed]).tolist()) <= (donor.colors or frozenset())
    assert wrong.miscolored_pa == int(after[changed[0]])
    everything = np.concatenate(list(pages_of(wrong).values()))
    assert len(np.unique(everything)) == len(everything)
    assert [d for d in wrong.domains if d.name != name] == [d for d in right.domains if d.name != name]


@pytest.mark.req("C5")
@pytest.mark.parametrize("target", ["nobody", "linux:65536", "linux:-1", "linux:x"])
def test_the_hook_refuses_what_is_not_there(target: str) -> None:
    with pytest.raises(PlanningError):
        plan_memory(*of_example(), Hooks(miscolor=target))


@st.composite
def random_plans(draw: st.DrawFn) -> tuple[System, Platform]:
    """Any shape of LLC, RAM with holes, domains with several regions, some of them `auto`."""
    way = draw(st.sampled_from([16, 32, 64, 128])) * 1024
    ways = draw(st.sampled_from([4, 8, 16]))
    base = draw(st.integers(0, 64)) * 8192
    parts, at = [], base
    for _ in range(draw(st.integers(1, 3))):
        size = draw(st.integers(2048, 6144)) * PAGE
        parts.append({"at": at, "size": size})
        at += size + draw(st.integers(0, 100)) * PAGE
    load_size = draw(st.integers(1, 64)) * PAGE
    load_at = base + draw(st.integers(0, (parts[0]["size"] - load_size) // PAGE)) * PAGE
    platform = Platform.model_validate(
        {
            "platform": 1, "name": "random", "description": "random",
            "cores": {"count": 4, "type": "any"},
            "memory": tuple(parts),
            "load": {"at": load_at, "size": load_size},
            "interrupt_controller": {"type": "gicv3", "distributor": 0x8000000, "redistributors": 0x80A0000},
            "uart": {"type": "pl011", "at": 0x9000000, "interrupt": 33},
            "caches": {
                "l1d": {"size": 32768, "ways": 4, "line": 64, "index": "plain"},
                "l2": {"size": way * ways, "ways": ways, "line": 64, "index": "plain"},
            },
        }
    )  # fmt: skip
    colors = way // 8192
    owners = draw(st.lists(st.integers(-1, 2), min_size=colors, max_size=colors))  # -1: left open
    domains = []
    for number in range(draw(st.integers(1, 3))):
        mine = tuple(color for color in range(colors) if owners[color] == number)
        regions, ipa = [], 0x40000000
        for _ in range(draw(st.integers(1, 3))):
            size = draw(st.integers(1, 700)) * PAGE
            regions.append({"at": ipa, "size": size})
            ipa += size + draw(st.integers(0, 10)) * PAGE
        promise: Any = {"colors": mine} if mine else draw(st.sampled_from(["auto", {"share": "10 %"}]))
        domains.append(
            {
                "name": f"d{number}", "cpus": (number,), "image": {"elf": "a.elf"},
                "memory": tuple(regions), "llc": promise,
                "criticality": draw(st.sampled_from(["rt", "best-effort"])),
            }
        )  # fmt: skip
    isolation = {"llc": draw(st.sampled_from(["coloring", "coloring", "coloring", "none"]))}
    system = System.model_validate(
        {
            "bulkhead": 1,
            "name": "random",
            "platform": "random",
            "domains": tuple(domains),
            "isolation": isolation,
        }
    )
    return system, platform


@pytest.mark.req("C2")
@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much]
)
@given(setting=random_plans())
def test_no_plan_ever_gives_a_frame_to_two(setting: tuple[System, Platform]) -> None:
    try:
        plan = plan_memory(*setting)
    except PlanningError as error:
        assert error.findings
        assume(False)
        return
    assert_partitioned(plan)
    for domain, asked in zip(plan.domains, plan.system.domains, strict=True):
        for segment in domain.segments:
            pages = segment.pages(plan.space).astype(np.int64)
            assert (np.diff(pages) > 0).all(), "the relative order is kept"
        if domain.colors is None:
            continue
        ordered = sorted(domain.colors)
        if ordered == list(range(ordered[0], ordered[-1] + 1)):
            size = len(ordered) * plan.space.granule
            assert domain.maps == sum(math.ceil(region.size / size) for region in asked.memory)
    again = plan_memory(*setting)
    assert replace(again, system=plan.system, platform=plan.platform) == plan


def test_every_platform_file_is_good_and_names_its_sources() -> None:
    for path in sorted((ROOT / "platforms").glob("*.yaml")):
        platform, _, problems = load_platform(path)
        assert problems == []
        assert platform is not None
        sections = [
            platform.cores,
            *platform.memory,
            platform.interrupt_controller,
            platform.uart,
            *platform.caches.values(),
        ]
        optional = [
            platform.emulator,
            platform.load,
            platform.ocm,
            platform.pmu,
            platform.dram,
            *platform.reserved,
            *platform.dma,
        ]
        assert all(section.source for section in (*sections, *optional) if section is not None), path


@pytest.mark.req("C3")
def test_owners_whose_cache_colors_leave_them_few_banks_get_those() -> None:
    """On ZCU102 three address bits select cache colors and banks: an owner with one cache color can have two
    of sixteen banks, however many are free."""
    plan = plan_memory(*of_example("isolation.banks=coloring", name="zcu102"))
    assert_partitioned(plan)
    owners = [plan.pool.colors, *(domain.colors for domain in plan.domains)]
    assert [len(colors or ()) for colors in owners] == [1, 6, 2, 6]


@pytest.mark.req("C3")
def test_what_is_left_over_goes_to_nobody_who_takes_it_from_rivals() -> None:
    """Two owners that may get the same two colors get one each, and the third gets all of its own."""

    def request(owner: int, *candidates: int) -> ColorRequest:
        return ColorRequest(
            owner, str(owner), ("domains", owner), None, None, 1, False, frozenset(candidates)
        )

    found = assign([request(0, 0, 1), request(1, 0, 1), request(2, 2, 3)], 4, "bank")
    assert not found.findings
    assert found.colors[2] == {2, 3}
    assert len(found.colors[0]) == len(found.colors[1]) == 1
    assert found.colors[0] | found.colors[1] == {0, 1}
