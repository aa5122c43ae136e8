# SPDX-License-Identifier: Apache-2.0
"""Places of code, stack and data: none overlap, each can be protected, and below a stack is no other memory
of its component (X9)."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bulkhead.config.microkernel import Microkernel
from bulkhead.microkernel.priorities import priorities_of
from bulkhead.mxu import native
from bulkhead.mxu.layout import MxuLayout, Sizes, Span, layout_of
from tests.mxu.systems import board, component, memory, parsed, system

OWN = (Sizes(17000, 200_000), Sizes(5000, 1400))
MOST_REGION_BITS = 32


def kernel_of(name: str) -> Microkernel:
    found = board(name).microkernel
    assert found is not None
    return found


def spans(layout: MxuLayout) -> list[Span]:
    return [span for one in layout.places for span in (one.stack, one.data, one.code) if span is not None]


def overlapping(found: list[Span]) -> list[tuple[Span, Span]]:
    ordered = sorted(found, key=lambda one: one.at)
    return [(a, b) for a, b in pairwise(ordered) if a.end > b.at]


@pytest.mark.req("X9")
@settings(max_examples=60, deadline=None)
@given(
    sizes=st.lists(st.tuples(st.integers(40, 900_000), st.integers(0, 300_000)), min_size=1, max_size=5),
    stack=st.integers(1, 40),
    mmu=st.booleans(),
)
def test_x9_places_are_apart_and_can_be_protected(
    sizes: list[tuple[int, int]], stack: int, mmu: bool
) -> None:
    name = "xilinx-zynq-a9" if mmu else "mps2-an500"
    kernel = kernel_of(name)
    components = [component(f"c{i}", stack=stack * kernel.frame) for i in range(len(sizes))]
    layout = layout_of(
        parsed(system(name, *components)), kernel, mmu, [*OWN, *(Sizes(*one) for one in sizes)]
    )
    if layout.no_room:
        return
    assert not overlapping(spans(layout))
    for places, (code, data) in zip(layout.places[len(OWN) :], sizes, strict=True):
        assert places.code is not None and places.code.size >= code and places.data.size >= data
        if mmu:
            assert all(one.at % 4096 == 0 and one.size % 4096 == 0 for one in (places.code, places.data))
        else:
            for one in (places.code, places.data, places.stack):
                assert len(native.mxu().regions(one.at, one.end - 1, MOST_REGION_BITS)) == 1
    stacks = sorted((one.stack for one in layout.places), key=lambda one: one.at)
    assert all(a.end == b.at for a, b in pairwise(stacks))


@pytest.mark.req("X9")
def test_x9_nothing_is_placed_where_the_file_says_that_memory_is() -> None:
    kernel = kernel_of("mps2-an500")
    at = kernel.frames.at
    tree = system("mps2-an500", component("one", memory("first", "64 KiB", at=at)))
    layout = layout_of(parsed(tree), kernel, False, OWN)
    assert all(one.at >= at + 64 * 1024 for one in spans(layout) if one.at >= at)


@pytest.mark.req("X9")
def test_x9_what_has_no_room_is_named() -> None:
    kernel = kernel_of("mps2-an500")
    tree = parsed(system("mps2-an500", component("small"), component("large")))
    sizes = [*OWN, Sizes(2 << 20, 0), Sizes(2 << 20, kernel.frames.size)]
    layout = layout_of(tree, kernel, False, sizes)
    assert (3, "code") in layout.no_room and (3, "data") in layout.no_room


@pytest.mark.req("X9")
def test_x9_priorities_are_rate_monotonic_and_callees_go_before_their_callers() -> None:
    tree = system(
        "mps2-an500",
        component("slow", period="10 ms", budget="1 ms"),
        component("fast", period="1 ms", budget="100 us", channels=["server"]),
        component("server"),
        component("idle"),
        component("first", priority=0),
    )
    found = priorities_of(parsed(tree))
    assert found["first"] == 0 and found["idle"] == 255
    assert found["first"] < found["server"] < found["fast"] < found["slow"] < found["idle"]
