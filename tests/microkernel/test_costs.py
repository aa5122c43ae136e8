# SPDX-License-Identifier: Apache-2.0
"""Instructions of a switch and of a refill, counted on the emulator and on the simulated machine (X8).

Under -icount, and on the machine without a memory system, each instruction takes the same time, and programs
read a clock with this unit. The count is from the instruction after the first reading to the second reading.
On the Cortex-M7 a switch loads all eight regions. Ticks are far apart, so that none is counted.
"""

import pytest

from tests.microkernel.harness import MPS2, MPS2_MACHINE, ZYNQ, ZYNQ_UNTIMED, Board, Output, instructions, run

pytestmark = pytest.mark.emulator

SWITCH_LIMIT = 150
REFILL_LIMIT = 100
REFILLS = 64  # in each measurement, of as many ranges
SMALLEST = 20  # instructions: less cannot be a switch or a refill


on_each_board = pytest.mark.parametrize("board", (MPS2, MPS2_MACHINE, ZYNQ, ZYNQ_UNTIMED), ids=str)


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
@pytest.mark.parametrize("board", (MPS2, MPS2_MACHINE), ids=str)
@pytest.mark.parametrize("bound", ["most", "least"])
def test_a_refill_among_64_ranges_is_within_the_limit(board: Board, bound: str) -> None:
    output = run(board, "ranges", "many killed")
    taken = measured(board, output, "many", f"clock of 64 refills at {bound}") / REFILLS
    assert SMALLEST < taken <= REFILL_LIMIT


@pytest.mark.req("X8")
@pytest.mark.parametrize(
    ("system", "last", "component", "what"),
    [
        ("calls", "clean the cache", "client", "clock of a call"),
        ("calls", "clean the cache", "client", "clock of a reply"),
        ("turns", "dispatch of itself", "turns", "clock of a dispatch"),
        ("turns", "dispatch of itself", "turns", "clock of a yield"),
        ("ranges", "many killed", "many", "clock of 64 refills at most"),
        ("ranges", "many killed", "many", "clock of 64 refills at least"),
    ],
)
@pytest.mark.parametrize(("emulator", "machine"), [(MPS2, MPS2_MACHINE), (ZYNQ, ZYNQ_UNTIMED)], ids=str)
def test_the_machine_executes_as_many_instructions_as_the_emulator(
    emulator: Board, machine: Board, system: str, last: str, component: str, what: str
) -> None:
    """The clock of an emulated MPS2 has 1.6 ticks in an instruction, so that its count is right to one."""
    emulated = measured(emulator, run(emulator, system, last), component, what)
    assert abs(measured(machine, run(machine, system, last), component, what) - emulated) < 1
