# SPDX-License-Identifier: Apache-2.0
"""C5, first witness: instruction fetches are seen by physical address, one access for each line that
execution enters."""

from __future__ import annotations

from pathlib import Path

import pytest

from .bench import Owned, Result, Setup, observe

pytestmark = [pytest.mark.emulator, pytest.mark.req("C5")]

FAR = 0x44000000
LINES = 2048
STRAIGHT_LINE = f"""
.section .far, "ax"
.balign 4096
far:
    .rept {LINES * 16 - 1}
    nop
    .endr
    ret
.text
"""


def run(tmp_path: Path, body: str) -> Result:
    result = observe(tmp_path, Setup(STRAIGHT_LINE + body, (Owned("alpha", FAR, LINES * 64),)))
    assert result["unattributed"]["fetches_unknown"] == 0
    addresses = result["fetch_addresses"]
    assert addresses["verified"] is True
    assert addresses["stores_agreed"] == addresses["stores_checked"] > 0
    return result


def test_straight_line_code_misses_once_a_line(tmp_path: Path) -> None:
    """128 KiB of code, run once: every line is entered once and misses everywhere."""
    result = run(tmp_path, "main:\n mmu_on\n start_counting\n ldr x12, =far\n blr x12\n b power_off\n")
    alpha = result["owners"]["alpha"]
    assert alpha["l1i"] == {"accesses": LINES, "misses": LINES}
    assert alpha["l1d"] == {"accesses": 0, "misses": 0}
    assert (alpha["accesses"], alpha["misses"]) == (LINES, LINES)


def test_second_run_hits_the_llc(tmp_path: Path) -> None:
    """The same code twice: it does not fit L1I (32 KiB), but the LLC (1 MiB)."""
    body = (
        "main:\n mmu_on\n start_counting\n ldr x12, =far\n blr x12\n ldr x12, =far\n blr x12\n b power_off\n"
    )
    alpha = run(tmp_path, body)["owners"]["alpha"]
    assert (alpha["l1i"]["misses"], alpha["accesses"], alpha["misses"]) == (2 * LINES, 2 * LINES, LINES)


def test_code_at_another_virtual_address(tmp_path: Path) -> None:
    """The same frames at another virtual address: the second run hits the LLC."""
    body = """
main:
    mmu_on
    start_counting
    ldr x12, =far
    blr x12
    ldr x12, =(far + 0x40000000)
    blr x12
    b power_off
"""
    alpha = run(tmp_path, body)["owners"]["alpha"]
    assert (alpha["l1i"]["accesses"], alpha["misses"]) == (2 * LINES, LINES)


def test_loop_in_one_line(tmp_path: Path) -> None:
    """A loop of two instructions enters its line once a turn; only the first time misses."""
    body = """
main:
    mmu_on
    start_counting
    ldr x12, =loop
    blr x12
    b power_off
.section .far, "ax"
.balign 64
loop:
    mov x13, #1000
1:  subs x13, x13, #1
    b.ne 1b
    ret
.text
"""
    result = observe(tmp_path, Setup(body, (Owned("alpha", FAR, 4096),)))
    # Blocks: the entry with the first turn, 999 more turns, and the return.
    assert result["owners"]["alpha"]["l1i"] == {"accesses": 1 + 999 + 1, "misses": 1}
