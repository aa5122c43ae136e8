# SPDX-License-Identifier: Apache-2.0
"""C1 and C3: the address bits that select a color."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bulkhead.geometry import (
    CacheShape,
    GeometryError,
    bank_color_bits,
    color_space,
    llc_color_bits,
    runs,
)
from bulkhead.planning.space import platform_llc_bits

from ..platforms import platform

KIB, MIB = 1 << 10, 1 << 20
PLATFORMS = Path(__file__).parents[2] / "platforms"
A53_L2, A53_L1D = CacheShape(MIB, 16, 64), CacheShape(32 * KIB, 4, 64)


@pytest.mark.req("C1")
def test_cortex_a7_has_eight_colors_of_8_kib() -> None:
    space = color_space(llc_color_bits(CacheShape(512 * KIB, 8, 64), CacheShape(32 * KIB, 4, 64)))
    assert space.llc_bits == (13, 14, 15)
    assert (space.count, space.granule) == (8, 8 * KIB)


@pytest.mark.req("C1")
def test_cortex_a53_drops_the_bit_that_the_l1_uses() -> None:
    space = color_space(llc_color_bits(A53_L2, A53_L1D))
    assert space.llc_bits == (13, 14, 15)
    assert (space.count, space.granule) == (8, 8 * KIB)


@pytest.mark.req("C1")
def test_color_l1_keeps_it_and_has_sixteen() -> None:
    space = color_space(llc_color_bits(A53_L2, A53_L1D, color_l1=True))
    assert space.llc_bits == (12, 13, 14, 15)
    assert (space.count, space.granule) == (16, 4 * KIB)


@pytest.mark.req("C1")
@pytest.mark.parametrize(
    ("name", "bits"), [("rpi2", (13, 14, 15)), ("zcu102", (13, 14, 15)), ("qemu-virt", (13, 14, 15))]
)
def test_platform_files_give_the_known_bits(name: str, bits: tuple[int, ...]) -> None:
    assert platform_llc_bits(platform(name), color_l1=False) == bits


@pytest.mark.req("C1")
@pytest.mark.parametrize("index", ["hashed", "unknown"])
def test_an_index_that_is_not_plain_is_an_error_not_a_guess(index: str) -> None:
    with pytest.raises(GeometryError, match=index):
        llc_color_bits(CacheShape(MIB, 16, 64, index), A53_L1D)


@pytest.mark.req("C1")
@pytest.mark.parametrize(
    "shape", [CacheShape(MIB, 15, 64), CacheShape(3 * MIB, 16, 64), CacheShape(MIB, 16, 48)]
)
def test_a_shape_without_power_of_two_sets_is_an_error(shape: CacheShape) -> None:
    with pytest.raises(GeometryError):
        llc_color_bits(shape, A53_L1D)


@pytest.mark.req("C3")
def test_bank_bits_join_the_combined_color_in_ascending_order() -> None:
    space = color_space((13, 14, 15), (17, 16))
    assert space.bits == 0x3E000
    assert space.color_of(0x3E000) == 31
    assert space.color_of(1 << 17) == 16
    assert (space.llc_color_of(0b01101), space.bank_color_of(0b01101)) == (0b101, 0b01)


@pytest.mark.req("C3")
def test_bits_that_cache_and_banks_share_are_one_bit() -> None:
    space = color_space((13, 14, 15), (15, 16))
    assert space.count == 16
    assert space.combine({4}, {0, 2}) == frozenset()  # LLC color 4 has bit 15 set, these banks do not
    assert space.combine({4}, {1}) == frozenset({0b0100})


@pytest.mark.req("C3")
@pytest.mark.parametrize("mapping", [[(13, 17)], [14, (6, 13)], [True], [99]])
def test_hashed_or_impossible_bank_bits_are_errors(mapping: list[object]) -> None:
    with pytest.raises(GeometryError):
        bank_color_bits(mapping)


@pytest.mark.req("C3")
def test_bank_bits_inside_a_page_cannot_be_chosen_and_are_left_out() -> None:
    assert bank_color_bits([6, 14, 13]) == (13, 14)


@pytest.mark.req("C1")
def test_more_than_eight_color_bits_are_refused() -> None:
    with pytest.raises(GeometryError, match="at most 8"):
        color_space(range(13, 20), (20, 21))


color_bits = st.sets(st.integers(12, 24), min_size=1, max_size=5)


@given(bits=color_bits, pa=st.integers(0, (1 << 33) - 1))
def test_a_color_is_the_extracted_bits(bits: set[int], pa: int) -> None:
    space = color_space(bits)
    digits = "".join(str(pa >> bit & 1) for bit in sorted(bits, reverse=True))
    assert space.color_of(pa) == int(digits, 2)
    assert int(space.colors_of(np.array([pa], dtype=np.uint64))[0]) == int(digits, 2)


@given(bits=color_bits, start=st.integers(0, 1 << 16), count=st.integers(1, 80), data=st.data())
def test_frames_are_those_that_a_search_would_find(
    bits: set[int], start: int, count: int, data: st.DataObject
) -> None:
    space = color_space(bits)
    colors = data.draw(st.frozensets(st.integers(0, space.count - 1), min_size=1))
    granule = start
    while space.color_of(granule * space.granule) not in colors:
        granule += 1
    first = granule * space.granule
    found: list[int] = []
    while len(found) < count:
        if space.color_of(granule * space.granule) in colors:
            found += [granule * space.granule + page for page in range(0, space.granule, 4096)]
        granule += 1
    assert [int(pa) for pa in space.frames(first, count * 4096, colors)] == found[:count]


def test_runs_are_contiguous_colors() -> None:
    assert runs([7, 0, 1, 2, 5]) == [range(3), range(5, 6), range(7, 8)]
