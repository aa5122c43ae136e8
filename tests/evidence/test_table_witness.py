# SPDX-License-Identifier: Apache-2.0
"""C5, second witness: each way in which tables can break a promise is found, and nothing else."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bulkhead.evidence.promise import DomainPromise, Promise, PromisedWindow, TablePromise, colors_of
from bulkhead.evidence.tables import TableWitness, check_tables
from bulkhead.evidence.vmsa import root_address, walk

from .table_image import (
    MIB,
    PAGE,
    S1_CODE,
    S1_DATA,
    S1_WRITE_EXEC,
    S2_DEVICE_RW,
    S2_NORMAL_RW,
    TableImage,
    colored_frames,
)

RAM = 0x4000_0000
COLOR_SHIFT, COLORS = 13, 8
COLOR_BITS = (COLORS - 1) << COLOR_SHIFT
UART, GICV, GICD = 0x0900_0000, 0x0804_0000, 0x0800_0000
SRAM = 0x2000_0000  # for EL2's samples
POOL_VA = 0x40_0000_0000


@dataclass
class System:
    """Two domains and a hypervisor, colored, with correct tables; a test then breaks one thing."""

    image: TableImage
    promise: Promise
    roots: dict[str, int]
    el2_root: int
    frames: dict[str, list[int]]

    def check(self) -> TableWitness:
        vttbr = {name: root | (7 << 48) | 1 for name, root in self.roots.items()}
        return check_tables(self.promise, self.image.read_frame, vttbr, self.el2_root | 1)


def array(addresses: list[int]) -> np.ndarray:
    return np.array(sorted(addresses), dtype=np.uint64)


def make_system(pages: int = 600, colored: bool = True) -> System:
    size = 64 * MIB
    pool = colored_frames(RAM + 2 * MIB, 4 * MIB, {7}, COLOR_SHIFT, COLORS)
    frames = {
        "control": colored_frames(RAM + 8 * MIB, size, {0, 1, 2}, COLOR_SHIFT, COLORS)[:pages],
        "linux": colored_frames(RAM + 8 * MIB, size, {3, 4, 6}, COLOR_SHIFT, COLORS)[:pages],
    }
    image = TableImage(pool)
    roots = {}
    for name, own in frames.items():
        roots[name] = image.table()
        for i, pa in enumerate(own):
            image.map(roots[name], 0x4000_0000 + i * PAGE, pa, S2_NORMAL_RW)
    el2_root = image.table()
    for i, pa in enumerate(pool):
        image.map(el2_root, POOL_VA + i * PAGE, pa, S1_CODE if i < 10 else S1_DATA)
    image.map(el2_root, UART, UART, S1_DATA)
    promise = Promise(
        color_bits=COLOR_BITS if colored else 0,
        domains=(
            DomainPromise("control", frozenset({0, 1, 2}), array(frames["control"])),
            DomainPromise(
                "linux", frozenset({3, 4, 6}), array(frames["linux"]), (PromisedWindow(GICV, 0x1_0000),)
            ),
        ),
        hypervisor_colors=frozenset({7}),
        pool_frames=array(pool),
        ram=(PromisedWindow(RAM, 1024 * MIB),),
        load_area=PromisedWindow(RAM, 2 * MIB),
        hypervisor_devices=(
            PromisedWindow(UART, PAGE),
            PromisedWindow(GICD, 0x1_0000),
            PromisedWindow(SRAM, 2 * PAGE),
        ),
    )
    return System(image, promise, roots, el2_root, frames)


@pytest.fixture
def system() -> System:
    return make_system()


def kinds(witness: TableWitness) -> list[str]:
    return [f.kind for f in witness.findings]


def test_c5_correct_tables_hold(system: System) -> None:
    witness = system.check()
    assert witness.ok and witness.findings == []
    assert witness.frames_checked == 600 + 600 + len(system.image.pool)
    assert witness.tables_checked == 2 * (1 + 1 + 2) + (1 + 1 + 1) + 2  # both domains, EL2's pool, its UART
    assert set(witness.frames_by_color["control"]) == {0, 1, 2}


def test_c5_one_miscolored_frame_is_found(system: System) -> None:
    wrong = RAM + 40 * MIB + 5 * 2**COLOR_SHIFT  # color 5 has no owner
    system.image.store(*system.image.leaf_slot(system.roots["linux"], 0x4000_7000), wrong | S2_NORMAL_RW | 3)
    witness = system.check()
    assert kinds(witness) == ["frame_color", "foreign_frame"]
    assert witness.findings[0].address == wrong
    assert witness.findings[0].text == (
        f"domain linux: IPA 0x40007000 -> PA {wrong:#x}: color 5 is not among its colors {{3, 4, 6}}"
    )


def test_c5_miscolored_frame_of_the_plan_itself_is_found(system: System) -> None:
    """The builder's test hook changes plan and tables alike: owners agree, but the color does not."""
    wrong = RAM + 40 * MIB + 2**COLOR_SHIFT
    own = system.frames["linux"]
    system.image.store(*system.image.leaf_slot(system.roots["linux"], 0x4000_0000), wrong | S2_NORMAL_RW | 3)
    control, linux = system.promise.domains
    moved = DomainPromise(linux.name, linux.colors, array([wrong, *own[1:]]))
    system.promise = Promise(**{**vars(system.promise), "domains": (control, moved)})
    assert kinds(system.check()) == ["frame_color"]


def test_c5_miscolored_frame_is_found_before_it_is_mapped(system: System) -> None:
    """With lazy mapping, the frame would be mapped at the first access."""
    wrong = RAM + 40 * MIB + 2**COLOR_SHIFT
    control, linux = system.promise.domains
    later = DomainPromise(linux.name, linux.colors, array([wrong, *system.frames["linux"]]))
    system.promise = Promise(**{**vars(system.promise), "domains": (control, later)})
    witness = system.check()
    assert kinds(witness) == ["planned_frame_color"] and witness.frames_planned == 1
    assert "not mapped yet: color 1 is not among its colors {3, 4, 6}" in witness.findings[0].text


def test_c5_frame_of_another_domain_is_found(system: System) -> None:
    stolen = system.frames["control"][3]
    system.image.store(*system.image.leaf_slot(system.roots["linux"], 0x4000_0000), stolen | S2_NORMAL_RW | 3)
    witness = system.check()
    assert kinds(witness) == ["frame_color", "foreign_frame", "frame_of_two_domains"]
    assert "a frame of domain control" in witness.findings[1].text


@pytest.mark.parametrize(
    ("pa", "owner"),
    [
        (RAM + 2 * MIB + (7 << COLOR_SHIFT), "a frame of the hypervisor's pool"),
        (RAM + MIB, "in the load area"),
        (RAM + 512 * MIB, "a frame without an owner"),
    ],
)
def test_c5_frame_that_is_not_a_domains_is_found(system: System, pa: int, owner: str) -> None:
    system.image.store(*system.image.leaf_slot(system.roots["control"], 0x4000_0000), pa | S2_NORMAL_RW | 3)
    texts = [f.text for f in system.check().findings if f.kind == "foreign_frame"]
    assert len(texts) == 1 and owner in texts[0]


def test_c5_b8_on_chip_memory_is_the_hypervisors_alone(system: System) -> None:
    for page in range(2):
        system.image.map(system.el2_root, POOL_VA + (1 << 36) + page * PAGE, SRAM + page * PAGE, S1_DATA)
    assert system.check().ok
    system.image.map(system.roots["linux"], 0x5000_0000, SRAM + PAGE, S2_DEVICE_RW)
    [finding] = system.check().findings
    assert (finding.kind, finding.where, finding.address) == ("device", "domain linux", SRAM + PAGE)


def test_c5_device_that_is_not_allowed_is_found(system: System) -> None:
    system.image.map(system.roots["linux"], 0x0801_0000, GICV, S2_DEVICE_RW)
    assert system.check().ok
    system.image.map(system.roots["linux"], 0x0900_0000, UART, S2_DEVICE_RW)
    assert kinds(system.check()) == ["device"]


def test_c5_table_in_a_wrong_color_is_found(system: System) -> None:
    pool = [*system.image.pool]
    stray = RAM + 2 * MIB  # color 0
    system.image.pool.append(stray)
    table, index = system.image.leaf_slot(system.roots["linux"], 0x4000_0000)
    system.image.frames[stray] = system.image.frames[table].copy()
    level2 = int(system.image.frames[system.roots["linux"]][1]) & 0xFFFFFFFFF000
    system.image.store(level2, 0, stray | 3)
    system.promise = Promise(**{**vars(system.promise), "pool_frames": array([*pool, stray])})
    assert kinds(system.check()) == ["table_color"]
    assert index == 0


def test_c5_table_outside_of_the_pool_is_found(system: System) -> None:
    level2 = int(system.image.frames[system.roots["control"]][1]) & 0xFFFFFFFFF000
    system.image.store(level2, 5, system.frames["control"][0] | 3)  # a guest's own frame as its table
    witness = system.check()
    assert kinds(witness) == ["table_outside_pool"]
    assert "level-3 table for input address 0x40a00000" in witness.findings[0].text


def test_c5_table_shared_by_two_domains_is_found(system: System) -> None:
    table, _ = system.image.leaf_slot(system.roots["control"], 0x4000_0000)
    level2 = int(system.image.frames[system.roots["linux"]][1]) & 0xFFFFFFFFF000
    system.image.store(level2, 100, table | 3)
    assert "table_of_two_trees" in kinds(system.check())


def test_c5_guest_memory_mapped_at_el2_is_found(system: System) -> None:
    system.image.map(system.el2_root, 0x7000_0000, system.frames["linux"][0], S1_DATA)
    witness = system.check()
    assert kinds(witness) == ["frame_color", "el2_maps_foreign_frame"]
    assert "a frame of domain linux" in witness.findings[1].text


def test_c5_writable_and_executable_page_at_el2_is_found(system: System) -> None:
    system.image.map(system.el2_root, POOL_VA + 0x10_0000, system.image.pool[20], S1_WRITE_EXEC)
    assert kinds(system.check()) == ["writable_and_executable"]


def test_c5_permissions_of_upper_tables_count(system: System) -> None:
    """XNTable or APTable of a table above makes the page below harmless."""
    for bit in (60, 62):
        fresh = make_system()
        fresh.image.map(fresh.el2_root, 0x10_0000_0000, fresh.image.pool[20], S1_WRITE_EXEC)
        slot = 0x10_0000_0000 >> 30
        fresh.image.store(fresh.el2_root, slot, int(fresh.image.frames[fresh.el2_root][slot]) | 1 << bit)
        assert fresh.check().ok


def test_c5_uncolored_system_checks_ownership_only() -> None:
    system = make_system(colored=False)
    assert system.check().ok
    stolen = system.frames["control"][0]
    system.image.store(*system.image.leaf_slot(system.roots["linux"], 0x4000_0000), stolen | S2_NORMAL_RW | 3)
    assert kinds(system.check()) == ["foreign_frame", "frame_of_two_domains"]


def test_c5_blocks_are_taken_apart(system: System) -> None:
    image = TableImage([RAM + i * PAGE for i in range(4)])
    root = image.table()
    image.map(root, 0x4000_0000, RAM + 64 * MIB, S2_NORMAL_RW, 2 * MIB)
    image.map(root, 0x8000_0000, 0x8000_0000, S2_NORMAL_RW, 1024 * MIB)
    tree = walk(image.read_frame, root)
    ipa, pa, _ = tree.frames()
    assert len(pa) == 512 + 262144
    assert set(pa[ipa < 0x8000_0000].tolist()) == set(range(RAM + 64 * MIB, RAM + 66 * MIB, PAGE))
    assert np.array_equal(pa[ipa >= 0x8000_0000], ipa[ipa >= 0x8000_0000])


def test_c5_a_run_without_tables_proves_nothing(system: System) -> None:
    empty = check_tables(system.promise, lambda _: None, {}, 0)
    assert not empty.ok


def test_c5_many_findings_are_counted_not_listed(system: System) -> None:
    for i in range(100):
        system.image.store(
            *system.image.leaf_slot(system.roots["linux"], 0x4000_0000 + i * PAGE),
            (RAM + 40 * MIB + i * 2 ** (COLOR_SHIFT + 3)) | S2_NORMAL_RW | 3,
        )  # all of color 0
    witness = system.check()
    assert witness.findings_total == 200 and len(witness.findings) == 16


def test_c5_walk_of_256_mib_is_fast() -> None:
    system = make_system(pages=2)
    pool = [RAM + 2 * MIB + i * PAGE for i in range(400)]
    image = TableImage(pool)
    root = image.table()
    own = [RAM + 256 * MIB + i * PAGE for i in range(65536)]
    for i, pa in enumerate(own):
        image.map(root, 0x4000_0000 + i * PAGE, pa, S2_NORMAL_RW)
    promise = Promise(
        **{
            **vars(system.promise),
            "color_bits": 0,
            "pool_frames": array(pool),
            "domains": (DomainPromise("linux", frozenset(), array(own)),),
        }
    )
    started = time.process_time()
    witness = check_tables(promise, image.read_frame, {"linux": root}, image.table())
    assert witness.ok and witness.frames_checked == 65536
    assert time.process_time() - started < 0.5


def test_c5_vmid_and_cnp_are_not_part_of_the_root() -> None:
    assert root_address(0x00FF_0000_4567_8001) == 0x4567_8000


@settings(max_examples=40, deadline=None)
@given(
    pages=st.dictionaries(st.integers(0, 2**27 - 1), st.integers(0, 2**36 - 1), min_size=1, max_size=60),
    blocks=st.dictionaries(st.integers(0, 2**9 - 1), st.integers(0, 2**18 - 1), max_size=5),
)
def test_c5_walk_finds_exactly_what_was_mapped(pages: dict[int, int], blocks: dict[int, int]) -> None:
    image = TableImage([RAM + i * PAGE for i in range(200)])
    root = image.table()
    expected = {}
    for index, frame in blocks.items():
        image.map(root, index << 30, frame << 30, S2_NORMAL_RW, 1024 * MIB)
        expected[index << 30] = (frame << 30, 1024 * MIB)
    for index, frame in pages.items():
        if index >> 18 not in blocks:
            image.map(root, index * PAGE, frame * PAGE, S2_NORMAL_RW)
            expected[index * PAGE] = (frame * PAGE, PAGE)
    tree = walk(image.read_frame, root)
    columns = (tree.input_address, tree.output_address, tree.leaf_bytes)
    found = zip(*(column.tolist() for column in columns), strict=True)
    assert {source: (pa, size) for source, pa, size in found} == expected
    assert tree.bad_tables == []


@given(st.integers(0, 2**48 - 1), st.sets(st.integers(12, 40), max_size=8))
def test_c5_color_is_the_packed_color_bits(pa: int, bits: set[int]) -> None:
    packed = sum((pa >> bit & 1) << i for i, bit in enumerate(sorted(bits)))
    assert colors_of(np.array([pa], dtype=np.uint64), sum(1 << b for b in bits))[0] == packed


WRITE_BACK, FORCED, AS_STAGE_1, NON_CACHEABLE = 0b1111, 0b0110, 0b0111, 0b0101  # MemAttr, by the manual


def map_as(system: System, name: str, memory_type: int, pages: int | None = None) -> None:
    """Maps frames of a domain, all or the first ones, with another memory type."""
    own = system.frames[name][:pages]
    for i, pa in enumerate(own):
        slot = system.image.leaf_slot(system.roots[name], 0x4000_0000 + i * PAGE)
        system.image.store(*slot, pa | (S2_NORMAL_RW & ~(0b1111 << 2)) | memory_type << 2 | 3)


def promised(system: System, *, s2fwb: bool, own: str | None = None) -> None:
    domains = tuple(replace(one, own_attributes=one.name == own) for one in system.promise.domains)
    system.promise = replace(system.promise, s2fwb=s2fwb, domains=domains)


@pytest.mark.parametrize("memory_type", [NON_CACHEABLE, FORCED, AS_STAGE_1, 0b0001, 0b1010])
def test_t5_without_s2fwb_memory_that_is_not_write_back_is_found(system: System, memory_type: int) -> None:
    """This includes types that would be right with it, since the bits then have another meaning."""
    map_as(system, "linux", memory_type, pages=1)
    [finding] = system.check().findings
    assert (finding.kind, finding.where) == ("memory_type", "domain linux")
    assert finding.address == system.frames["linux"][0]
    assert f"memory type 0b{memory_type:04b}, not 0b1111" in finding.text


def test_t5_with_s2fwb_every_page_must_be_forced(system: System) -> None:
    promised(system, s2fwb=True)
    assert set(kinds(system.check())) == {"memory_type"}
    assert system.check().findings_total == 2 * 600
    map_as(system, "linux", FORCED)
    map_as(system, "control", FORCED)
    assert system.check().ok
    map_as(system, "linux", AS_STAGE_1, pages=3)
    assert system.check().findings_total == 3


def test_t5_who_shares_memory_with_a_device_that_sees_no_caches_keeps_its_own(system: System) -> None:
    promised(system, s2fwb=True, own="linux")
    map_as(system, "control", FORCED)
    map_as(system, "linux", AS_STAGE_1)
    assert system.check().ok
    map_as(system, "linux", FORCED, pages=1)
    [finding] = system.check().findings
    assert finding.text.endswith("memory type 0b0110, not 0b0111")


def test_t5_a_device_that_is_mapped_as_memory_is_found(system: System) -> None:
    system.image.map(system.roots["linux"], 0x0801_0000, GICV, S2_NORMAL_RW)
    [finding] = system.check().findings
    assert finding.kind == "memory_type" and finding.text.endswith("not RAM, and mapped as Normal memory")


# Stage-2 tables with a specification (X5): `control` has them in color 5, which is used for nothing else.


def with_placed_tables(on_chip: bool = False) -> System:
    system = make_system()
    chip = [0xFFFC_0000 + i * PAGE for i in range(8)]
    own = chip if on_chip else colored_frames(RAM + 2 * MIB, 4 * MIB, {5}, COLOR_SHIFT, COLORS)[:8]
    image, free = system.image, system.image._free
    image.pool += own
    image._free = list(own)
    root = image.table()
    for i, pa in enumerate(system.frames["control"]):
        image.map(root, 0x4000_0000 + i * PAGE, pa, S2_NORMAL_RW)
    image._free = free
    system.roots["control"] = root
    tables = TablePromise(
        array(own), (range(0x4000_0000, 0x4000_0000 + 600 * PAGE),), on_chip, cached=not on_chip
    )
    control = replace(system.promise.domains[0], tables=tables)
    system.promise = replace(
        system.promise,
        domains=(control, system.promise.domains[1]),
        table_frames=array([] if on_chip else own),
        table_colors=frozenset() if on_chip else frozenset({5}),
    )
    return system


def table_of(system: System, level: int) -> int:
    table = system.roots["control"]
    for above in range(1, level):
        table = int(system.image.frames[table][0x4000_0000 >> (39 - 9 * above) & 511]) & 0xFFFFFFFFF000
    return table


@pytest.mark.parametrize("on_chip", [False, True])
def test_x5_tables_that_are_where_their_specification_says_hold(on_chip: bool) -> None:
    witness = with_placed_tables(on_chip).check()
    assert witness.ok and witness.findings == []
    assert witness.tables_placed == 1 + 1 + 2


@pytest.mark.parametrize("level", [2, 3])
def test_x5_one_table_elsewhere_is_found(level: int) -> None:
    system = with_placed_tables()
    right, above = table_of(system, level), table_of(system, level - 1)
    wrong = system.image.table()  # in the pool
    system.image.frames[wrong] = system.image.frames[right]
    system.image.store(above, 0x4000_0000 >> (39 - 9 * (level - 1)) & 511, wrong | 3)
    witness = system.check()
    assert kinds(witness) == ["table_misplaced", "table_color"]
    assert f"table at PA {wrong:#x}" in witness.findings[0].text


def test_x5_who_asks_for_nothing_has_none_of_that_memory() -> None:
    system = with_placed_tables()
    system.promise = replace(
        system.promise, domains=(replace(system.promise.domains[0], tables=None), system.promise.domains[1])
    )
    assert set(kinds(system.check())) == {"table_color"}
    unmarked = replace(with_placed_tables().promise.domains[0].tables, marked=())  # type: ignore[type-var]
    system.promise = replace(
        system.promise,
        domains=(replace(system.promise.domains[0], tables=unmarked), system.promise.domains[1]),
    )
    assert "table_misplaced" in kinds(system.check())


def test_x5_walks_past_the_caches_are_told_from_others() -> None:
    cached, uncached = (1 << 8) | (1 << 10) | (3 << 12), 0
    for on_chip, vtcr in ((False, cached), (True, uncached)):
        system = with_placed_tables(on_chip)
        vttbr = {name: root | 1 for name, root in system.roots.items()}
        for told, found in ((vtcr, []), (cached + uncached - vtcr, ["walk_type"]), (1 << 8, ["walk_type"])):
            registers = {"control": told, "linux": cached}
            read = system.image.read_frame
            witness = check_tables(system.promise, read, vttbr, system.el2_root | 1, registers)
            assert kinds(witness) == found


def test_d7_flash_that_the_guest_can_write_is_found(system: System) -> None:
    flash = range(0x4000_0000, 0x4000_0000 + 2 * PAGE)
    domains = tuple(
        replace(one, flash=(flash,) if one.name == "linux" else ()) for one in system.promise.domains
    )
    system.promise = replace(system.promise, domains=domains)
    found = system.check().findings
    assert [finding.kind for finding in found] == ["writable_flash"] * 2
    assert [finding.address for finding in found] == list(system.frames["linux"][:2])
    for i, pa in enumerate(system.frames["linux"][:2]):
        slot = system.image.leaf_slot(system.roots["linux"], 0x4000_0000 + i * PAGE)
        system.image.store(*slot, pa | (S2_NORMAL_RW & ~(1 << 7)) | 3)
    assert system.check().ok
