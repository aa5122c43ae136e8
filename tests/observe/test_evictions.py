# SPDX-License-Identifier: Apache-2.0
"""C5, first witness: two owners in different colors evict exactly no lines of each other; in the same colors
they evict the predicted number; one frame of the wrong color is detected."""

from __future__ import annotations

from pathlib import Path

import pytest

from .bench import COLORED, KIB, PAGE_BYTES, Caches, Owned, Result, Setup, observe

pytestmark = [pytest.mark.emulator, pytest.mark.req("C5")]

COLORS = 8
ALPHA, BETA = 0x42000000, 0x43000000
ROWS = 4  # as many as the LLC has ways
LINES_PER_PAGE = PAGE_BYTES // 64


def pages(base: int, colors: tuple[int, ...], rows: int = ROWS) -> list[int]:
    return [base + (row * COLORS + color) * PAGE_BYTES for row in range(rows) for color in colors]


def take_turns(
    tmp_path: Path,
    alpha: list[int],
    beta: list[int],
    caches: Caches = COLORED,
    config: dict[str, object] | None = None,
) -> Result:
    """alpha, beta and alpha again read all of their pages."""
    owned = [Owned("alpha", pa, PAGE_BYTES) for pa in alpha] + [Owned("beta", pa, PAGE_BYTES) for pa in beta]
    body = """
main:
    start_counting
    bl alpha
    bl beta
    bl alpha
    b power_off
"""
    for name, frames in (("alpha", alpha), ("beta", beta)):
        reads = "".join(f"    .quad {pa:#x}\n" for pa in frames)
        # The list of pages is beside the code: the hypervisor's, color 7.
        body += f"""
{name}:
    ldr x12, ={name}_pages
    mov x13, #{len(frames)}
2:  ldr x9, [x12], #8
    add x10, x9, #{PAGE_BYTES}
1:  ldr x11, [x9]
    add x9, x9, #64
    cmp x9, x10
    b.lo 1b
    subs x13, x13, #1
    b.ne 2b
    ret
.balign 8
{name}_pages:
{reads}
"""
    return observe(tmp_path, Setup(body, tuple(owned), caches, config=config or {}))


@pytest.mark.parametrize("replacement", ["lru", "plru", "random"])
def test_disjoint_colors_evict_nothing(tmp_path: Path, replacement: str) -> None:
    """Under every policy each sweeps far more than fits, alone in its colors: 0 evictions by others, many by
    itself."""
    caches = Caches(COLORED.l1, COLORED.llc, replacement)
    alpha, beta = pages(ALPHA, (0, 1, 2), 3 * ROWS), pages(BETA, (3, 4, 5), 3 * ROWS)
    owners = take_turns(tmp_path, alpha, beta, caches)["owners"]
    for name in ("hypervisor", "alpha", "beta"):
        assert owners[name]["evicted_by_others"] == 0
        assert owners[name]["evicted_by_hypervisor"] == 0
    assert owners["alpha"]["evicted_by"]["alpha"] > 1000


def test_shared_colors_evict_what_is_predicted(tmp_path: Path) -> None:
    """The pages of each fill their sets exactly: beta evicts all of alpha's lines, then alpha all of
    beta's."""
    alpha, beta = pages(ALPHA, (0, 1, 2)), pages(BETA, (0, 1, 2))
    lines = len(alpha) * LINES_PER_PAGE
    owners = take_turns(tmp_path, alpha, beta)["owners"]
    assert owners["alpha"]["evicted_by"] == {"nobody": 0, "hypervisor": 0, "alpha": 0, "beta": lines}
    assert owners["beta"]["evicted_by"] == {"nobody": 0, "hypervisor": 0, "alpha": lines, "beta": 0}
    assert owners["alpha"]["evicted_by_others"] == owners["beta"]["evicted_by_others"] == lines
    assert (owners["alpha"]["misses"], owners["beta"]["misses"]) == (2 * lines, lines)


def test_one_miscolored_frame_is_caught(tmp_path: Path) -> None:
    """One page of beta in a color of alpha: it evicts as many lines of alpha as it displaces, one in each
    set."""
    alpha, beta = pages(ALPHA, (0, 1, 2)), pages(BETA, (3, 4, 5))
    beta[0] = BETA  # color 0
    owners = take_turns(tmp_path, alpha, beta)["owners"]
    assert owners["alpha"]["evicted_by"]["beta"] == LINES_PER_PAGE
    assert owners["alpha"]["evicted_by_others"] == LINES_PER_PAGE


def test_the_hypervisor_counts_as_another(tmp_path: Path) -> None:
    """alpha has pages in the color of the hypervisor's code: the hypervisor evicts lines of alpha, and is
    distinguished."""
    alpha = pages(ALPHA, (7,), ROWS)
    owners = take_turns(tmp_path, alpha, pages(BETA, (3,)))["owners"]
    assert owners["alpha"]["evicted_by_hypervisor"] == owners["alpha"]["evicted_by_others"] > 0
    assert owners["alpha"]["evicted_by_hypervisor"] == owners["alpha"]["evicted_by"]["hypervisor"]
    assert owners["hypervisor"]["evicted_by_hypervisor"] == 0


def test_windows_add_up_to_the_totals(tmp_path: Path) -> None:
    """The time series is the totals, cut at every 100 accesses of the LLC."""
    body = f"main:\n start_counting\n read {ALPHA}, 0x40000\n b power_off\n"
    owned = (Owned("alpha", ALPHA, 256 * KIB),)
    result = observe(tmp_path, Setup(body, owned, COLORED, config={"window_accesses": 100}))
    windows = result["windows"]
    assert [window["accesses"] for window in windows[:-1]] == [100] * (len(windows) - 1)
    assert len(windows) > 40
    for name, owner in result["owners"].items():
        assert sum(window["owners"][name]["misses"] for window in windows) == owner["misses"]
        evicted = sum(window["owners"][name]["evicted_by_others"] for window in windows)
        assert evicted == owner["evicted_by_others"]
    ends = [window["end_ms"] for window in windows]
    assert ends == sorted(ends)


def test_cores_have_their_own_l1_and_share_the_llc(tmp_path: Path) -> None:
    """Two cores at once, one thread each, sweep different colors ten times: no count is torn or lost."""
    body = f"""
main:
    cpu_on 1, other
    wait_word 0x4020F040
    start_counting
    signal_word 0x4020F080
    mov x14, #10
2:  read {ALPHA}, 0x10000
    subs x14, x14, #1
    b.ne 2b
    wait_word 0x4020F0C0
    b power_off
other:
    signal_word 0x4020F040
    wait_word 0x4020F080
    mov x14, #10
2:  read {BETA}, 0x20000
    subs x14, x14, #1
    b.ne 2b
    signal_word 0x4020F0C0
    b park
"""
    owned = (Owned("alpha", ALPHA, 64 * KIB), Owned("beta", BETA, 128 * KIB))
    result = observe(tmp_path, Setup(body, owned, cores=2))
    alpha, beta = result["owners"]["alpha"], result["owners"]["beta"]
    assert alpha["l1d"] == {"accesses": 10240, "misses": 10240}
    assert beta["l1d"] == {"accesses": 20480, "misses": 20480}
    assert (alpha["accesses"], alpha["misses"]) == (10240, 1024)
    assert (beta["accesses"], beta["misses"]) == (20480, 2048)
    assert result["cores"][0]["l1d"]["misses"] - 10240 < 100 > result["cores"][1]["l1d"]["misses"] - 20480


def test_memory_that_is_not_cached_evicts_nothing(tmp_path: Path) -> None:
    """The same pages evict lines if the configuration does not say that."""
    alpha, beta = pages(ALPHA, (0,)), pages(BETA, (0,))
    assert take_turns(tmp_path, alpha, beta)["owners"]["alpha"]["evicted_by"]["beta"] > 0
    uncached: dict[str, object] = {"uncached": {"pa": BETA, "bytes": ROWS * COLORS * PAGE_BYTES}}
    result = take_turns(tmp_path, alpha, beta, config=uncached)
    assert result["owners"]["alpha"]["evicted_by_others"] == 0
    assert result["owners"]["beta"]["accesses"] == 0
    assert result["unattributed"]["uncached"] == len(beta) * LINES_PER_PAGE
