# SPDX-License-Identifier: Apache-2.0
"""C5, first witness: loads and stores of known patterns give exactly the expected counts."""

from __future__ import annotations

from pathlib import Path

import pytest

from .bench import KIB, Owned, Setup, observe

pytestmark = [pytest.mark.emulator, pytest.mark.req("C5")]

ALPHA = 0x42000000
BUFFER = (Owned("alpha", ALPHA, 1024 * KIB),)


def alpha_counts(tmp_path: Path, body: str, cpu: str = "cortex-a53") -> dict[str, int]:
    """The observer's counts for alpha's buffer, from the start on."""
    body = f"main:\n    mmu_on\n    start_counting\n{body}\n    b power_off\n"
    result = observe(tmp_path, Setup(body, BUFFER, cpu=cpu))
    assert result["started"] is True
    assert result["unattributed"]["data_unknown"] == 0
    alpha = result["owners"]["alpha"]
    return {
        "l1_accesses": alpha["l1d"]["accesses"],
        "l1_misses": alpha["l1d"]["misses"],
        **{key: alpha[key] for key in ("accesses", "misses", "received", "write_backs")},
    }


def test_sweep_twice_the_l1(tmp_path: Path) -> None:
    """64 KiB of loads, twice: L1 (32 KiB, LRU) never hits, the LLC misses each of the 1024 lines once."""
    assert alpha_counts(tmp_path, f"read {ALPHA}, 0x10000\n read {ALPHA}, 0x10000") == {
        "l1_accesses": 2048,
        "l1_misses": 2048,
        "accesses": 2048,
        "misses": 1024,
        "received": 0,
        "write_backs": 0,
    }


def test_sweep_of_words_within_l1(tmp_path: Path) -> None:
    """16 KiB of 8-byte loads, twice: 4096 accesses, of which one for each line misses L1, once."""
    counts = alpha_counts(tmp_path, f"read {ALPHA}, 0x4000, 8\n read {ALPHA}, 0x4000, 8")
    assert (counts["l1_accesses"], counts["l1_misses"], counts["misses"]) == (4096, 256, 256)


def test_stores_are_written_back(tmp_path: Path) -> None:
    """2 MiB would be needed to evict from the LLC; 64 KiB of stores leave L1 for the LLC only."""
    counts = alpha_counts(tmp_path, f"write {ALPHA}, 0x10000")
    assert (counts["misses"], counts["received"], counts["write_backs"]) == (1024, 512, 0)


def test_pairs_and_vectors_are_one_access_each(tmp_path: Path) -> None:
    """LDP of two X registers, LDR and STR of Q: 16 bytes within a line."""
    body = f"""
    mov x9, #(3 << 20)
    msr cptr_el2, xzr
    isb
    ldr x12, ={ALPHA}
    ldp x10, x11, [x12]
    ldr q0, [x12, #64]
    str q0, [x12, #128]
    """
    counts = alpha_counts(tmp_path, body)
    assert (counts["l1_accesses"], counts["misses"]) == (3, 3)


def test_access_across_lines_counts_twice(tmp_path: Path) -> None:
    """One access crosses lines within a page, one crosses two pages, and one crosses no line."""
    body = f"""
    ldr x12, ={ALPHA + 4096}
    ldur x10, [x12, #60]
    ldur x10, [x12, #-4]
    ldur x10, [x12, #8]
    """
    counts = alpha_counts(tmp_path, body)
    assert (counts["l1_accesses"], counts["l1_misses"]) == (5, 3)  # lines -1, 0 and 1 of the page


def test_exclusives_count_once_each(tmp_path: Path) -> None:
    """100 times LDXR and a successful STXR of the same word."""
    body = f"""
    ldr x12, ={ALPHA}
    mov x13, #100
2:  ldaxr w10, [x12]
    add w10, w10, #1
    stlxr w11, w10, [x12]
    subs x13, x13, #1
    b.ne 2b
    """
    assert alpha_counts(tmp_path, body)["l1_accesses"] == 200


def test_atomics_count_once(tmp_path: Path) -> None:
    """LDADD, SWP and CAS (that fails) are one access each."""
    body = f"""
    ldr x12, ={ALPHA}
    mov x10, #5
    ldadd x10, x11, [x12]
    swp x10, x11, [x12, #0]
    cas x12, x11, [x12]
    """
    assert alpha_counts(tmp_path, body, cpu="cortex-a76")["l1_accesses"] == 3


def test_zeroed_blocks_are_writes(tmp_path: Path) -> None:
    """DC ZVA, which the emulator does not report as a store: 64 KiB, half of them evicted."""
    body = f"main:\n mmu_on\n start_counting\n zero {ALPHA}, 0x10000\n b power_off\n"
    result = observe(tmp_path, Setup(body, BUFFER))
    alpha = result["owners"]["alpha"]
    assert alpha["l1d"] == {"accesses": 1024, "misses": 1024}
    assert (alpha["misses"], alpha["received"]) == (1024, 512)
    assert result["unattributed"]["zeroed_blocks"] == 1024
    assert result["unattributed"]["zeroed_unknown"] == 0


GUEST = 0x44000000
GUEST_PROGRAM = f"""
main:
    mov x9, #(1 << 31)
    msr hcr_el2, x9             // EL1 is AArch64; no stage 2
    ldr x9, =program_table
    msr ttbr0_el1, x9
    ldr x9, =kernel_table
    msr ttbr1_el1, x9
    ldr x9, =0xFF00
    msr mair_el1, x9
    ldr x9, =0x2B5193519        // both halves: 39 bits, 4 KiB granule, inner shareable, write-back
    msr tcr_el1, x9
    ldr x9, =0xFFFFFF8044000000 // kernel: the upper half, which maps all memory
    msr vbar_el1, x9
    ldr x9, =0x30D05805         // MMU, caches; EL0 may use DC ZVA
    msr sctlr_el1, x9
    ldr x9, =program
    msr elr_el2, x9
    mov x9, #0x3C0
    msr spsr_el2, x9            // EL0
    isb
    eret

.section .far, "ax"
    .space 0x400
    mrs x12, esr_el1            // from EL0
    lsr x12, x12, #26
    cmp x12, #0x24
    b.ne 3f
    adr x13, program_table      // a data abort: the kernel maps the memory, and the DC ZVA executes again
    ldr x14, [x13, #8]
    str x14, [x13, #16]
    dsb ish
    eret
3:  mov x0, #(SYSTEM_OFF & 0xFFFF)
    movk x0, #(SYSTEM_OFF >> 16), lsl #16
    smc #0
.balign 4096
program:
    start_counting
    zero {ALPHA + 0x40000000}, 0x4000
    svc #0
.ltorg
.balign 4096
program_table:
    .quad 0, 0x40000000 | 0x745, 0, 0
    .balign 4096
kernel_table:
    .quad 0, 0x40000000 | 0x705, 0, 0
    .balign 4096
.text
"""


def test_zeroed_blocks_after_a_fault_are_known(tmp_path: Path) -> None:
    """A program at EL0 zeroes memory that its kernel maps at the first access. The kernel has then accessed
    memory in its own address space, and not in that of the DC ZVA, which executes again."""
    guest = Owned("beta", GUEST, 0x4000)
    result = observe(tmp_path, Setup(GUEST_PROGRAM, (*BUFFER, guest)))
    assert result["started"] is True
    assert result["owners"]["alpha"]["l1d"] == {"accesses": 256, "misses": 256}
    unattributed = result["unattributed"]
    assert (unattributed["zeroed_blocks"], unattributed["zeroed_unknown"]) == (256, 0)


def test_physical_addresses_count(tmp_path: Path) -> None:
    """The same lines by two virtual addresses are the same lines of the cache."""
    counts = alpha_counts(tmp_path, f"read {ALPHA}, 0x4000\n read {ALPHA + 0x40000000}, 0x4000")
    assert (counts["l1_accesses"], counts["l1_misses"]) == (512, 256)


def test_devices_are_not_cached(tmp_path: Path) -> None:
    """Stores to the UART are no memory traffic, but are reported."""
    body = "main:\n start_counting\n print_char 'a'\n print_char 'b'\n b power_off\n"
    result = observe(tmp_path, Setup(body, BUFFER))
    assert result["unattributed"]["device_accesses"] == 2


def test_without_the_start_store_nothing_started(tmp_path: Path) -> None:
    """`started` is false and the counts are those since reset."""
    result = observe(tmp_path, Setup(f"main:\n read {ALPHA}, 0x1000\n b power_off\n", BUFFER))
    assert result["started"] is False
    assert result["owners"]["alpha"]["misses"] == 64


@pytest.mark.parametrize("store", ["mov w10, #2\n str w10, [x9]", "mov w10, #1\n strb w10, [x9]"])
def test_other_stores_do_not_start(tmp_path: Path, store: str) -> None:
    """Another value, or less than 32 bits."""
    body = f"main:\n ldr x9, =START_WORD\n str wzr, [x9]\n {store}\n b power_off\n"
    assert observe(tmp_path, Setup(body, BUFFER))["started"] is False


def test_start_keeps_contents_and_zeroes_counts(tmp_path: Path) -> None:
    """Lines that were read before the start hit after it."""
    body = f"main:\n read {ALPHA}, 0x1000\n start_counting\n read {ALPHA}, 0x1000\n b power_off\n"
    alpha = observe(tmp_path, Setup(body, BUFFER))["owners"]["alpha"]
    assert alpha["l1d"] == {"accesses": 64, "misses": 0}
    assert alpha["accesses"] == 0
