# SPDX-License-Identifier: Apache-2.0
"""Instructions of a switch and of a refill, counted on the emulator (X8).

Under -icount each instruction takes the same virtual time, and programs read a clock of it. What is counted
runs from the instruction behind the first reading to the second reading. On the Cortex-M7 a switch has all
eight regions to load. Ticks are far apart, so that none is counted.
"""

import pytest

from tests.microkernel.harness import BOARDS, MPS2, Board, Output, instructions, run

pytestmark = pytest.mark.emulator

SWITCH_LIMIT = 150
REFILL_LIMIT = 100
REFILLS = 64  # in each measurement, of as many ranges
SMALLEST = 20  # instructions: less cannot be a switch or a refill


on_each_board = pytest.mark.parametrize("board", BOARDS, ids=str)


def measured(board: Board, output: Output, component: str, what: str) -> float:
    return instructions(board, output.value(component, what))


@on_each_board
@pytest.mark.req("X8")
@pytest.mark.parametrize("way", ["call", "reply"])
def test_an_invocation_is_one_switch_within_the_limit(board: Board, way: str) -> None:
    taken = measured(board, run(board, "calls", "clean the cache"), "client", f"clock of a {way}")
    assert SMALLEST < taken <= SWITCH_LIMIT


@on_each_board
@pytest.mark.req("X8")
@pytest.mark.parametrize("way", ["dispatch", "yield"])
def test_the_scheduler_s_switch_is_within_the_limit(board: Board, way: str) -> None:
    taken = measured(board, run(board, "turns", "dispatch of itself"), "turns", f"clock of a {way}")
    assert SMALLEST < taken <= SWITCH_LIMIT


@pytest.mark.req("X8")
@pytest.mark.parametrize("bound", ["most", "least"])
def test_a_refill_among_64_ranges_is_within_the_limit(bound: str) -> None:
    output = run(MPS2, "ranges", "many killed")
    taken = measured(MPS2, output, "many", f"clock of 64 refills at {bound}") / REFILLS
    assert SMALLEST < taken <= REFILL_LIMIT
