# SPDX-License-Identifier: Apache-2.0
"""The computed bound of a refill (X8, T6): compared with the platform file, and with the longest refills that
a component can cause itself on the simulated machine."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from bulkhead.bench.refill import MeasuredRefill
from bulkhead.bench.refill import measure as bench
from bulkhead.bounds.refill import NotBounded, RefillBound, refill_bound
from bulkhead.bounds.thumb import functions_of
from bulkhead.config.locate import platform_path
from bulkhead.env.native import ensure_built
from bulkhead.env.paths import build_dir
from bulkhead.mxu.costs import refill_cycles, refill_figures
from tests.command_line import invoked
from tests.mxu.components import Json, run, written
from tests.mxu.systems import board

pytestmark = [pytest.mark.emulator, pytest.mark.req("X8", "T6")]
PLATFORM = "stm32f767"


def kernel() -> Path:
    ensure_built(["target"], ["microkernel"])
    return build_dir() / "target/microkernel/board" / PLATFORM / "kernel.elf"


@cache
def bound() -> RefillBound:
    return refill_bound(board(PLATFORM), kernel())


def test_the_platform_file_has_the_bound_of_the_kernel_as_it_is_linked() -> None:
    """If the kernel has changed, `bulkhead bench refill-bound` prints the new value for the file."""
    mpu = board(PLATFORM).cores.mpu
    assert mpu is not None and mpu.bound == bound().cycles
    assert bound().cycles == sum(cycles for _, cycles in bound().rows())


def test_each_line_costs_what_the_memory_needs_at_worst() -> None:
    """SDRAM at 108 MHz: precharge 2, activation 2, CL 3, 8 beats, turnaround 1, an edge 1; and both ways
    through the bus matrix, 46.3 ns. For a write: recovery 2 in place of the latency."""
    clocks_ns, core_ns = 1000 / 108, 1000 / 216
    assert bound().read == -(-(17 * clocks_ns + 46.296) // core_ns)
    assert bound().write_back == -(-16 * clocks_ns // core_ns)


def test_what_others_could_disturb_has_no_bound() -> None:
    platform = board(PLATFORM)
    two = platform.model_copy(update={"cores": platform.cores.model_copy(update={"count": 2})})
    with pytest.raises(NotBounded, match="only for a single core"):
        refill_bound(two, kernel())


def test_an_access_through_an_unknown_pointer_is_an_error() -> None:
    from bulkhead.bounds import refill

    code: Any = None
    listing = "00000000 <f>:\n   0:\tldr\tr3, [r0, #128]\n   2:\tldr\tr2, [r3, #0]\n   4:\tbx\tlr\n"
    with pytest.raises(NotBounded, match="the target of the pointer is not known"):
        refill._accesses(functions_of(listing)["f"], refill.ARGUMENTS, code)


def test_check_says_which_figure_is_which() -> None:
    platform = board(PLATFORM)
    assert refill_cycles(platform) == bound().cycles
    text = refill_figures(platform)
    assert f"{bound().cycles} the computed bound, 358 published, 162 measured" in text
    assert text.endswith(f"jobs are admitted with {bound().cycles}")
    assert "99 assumed" in refill_figures(board("mps2-an500"))


def test_bench_compares_and_fails() -> None:
    found = bench(PLATFORM)
    assert isinstance(found, MeasuredRefill) and found.reasons == []
    assert found.refills > 1000 and 300 < found.seen < found.bound.cycles
    [low] = replace(found, in_file=found.bound.cycles - 1).reasons
    assert low.startswith("`cores.mpu.bound` of 'stm32f767' is ")
    [wrong] = replace(found, seen=found.bound.cycles + 1).reasons
    assert "more than the bound" in wrong
    assert invoked("bench", "refill-bound", "--platform", "zcu102").exit_code == 1


# Makes its own refills as slow as possible: dirty lines everywhere in the data cache, other code in the
# instruction cache, stores in flight to another row of the same bank.
SLOW = """
#define WORDS 2048u
#define LINE  8u

static unsigned turn;

void component_main(void)
{
    volatile unsigned *own = rt_memory("own", 0);
    volatile unsigned *const piece[] = {rt_memory("a", 0), rt_memory("b", 0), rt_memory("c", 0)};

    for (;;) {
        rt_end_job();
        for (unsigned round = 0; round < 8u; round++) {
            for (unsigned i = 0; i < 4u * WORDS; i += LINE) {
                own[i] = ++turn;
            }
            for (unsigned i = 0; i < 40u; i++) {
                own[(i * 1031u) % (4u * WORDS)] = turn;
            }
            (void)piece[round % 3u][round * 64u];
        }
    }
}
"""


def attacked(directory: Path, platform: str) -> tuple[int, Json]:
    memory = [
        {"name": "own", "size": "32 KiB", "spec": "deterministic"},
        *({"name": name, "size": "4 KiB"} for name in "abc"),
    ]
    slow = {"name": "slow", "code": SLOW, "period": "10 ms", "memory": memory}
    phases = [{"ranges": ["own", "a", "b", "c"], "changes": 8}]
    path = written(directory, platform, {**slow, "phases": phases}, hardware={"system_regions": 4})
    return run(path, "--on", "machine", "--for", "60 ms")


def test_no_refill_of_an_attacker_exceeds_the_bound(tmp_path: Path) -> None:
    code, result = attacked(tmp_path, PLATFORM)
    assert code == 0, result["reasons"]
    assert result["mpu"]["misses"] > 40
    assert 400 < result["mpu"]["longest_miss_cycles"] <= bound().cycles
    assert result["admitted"]["refill"] == {"file": 358, "bound": bound().cycles, "admitted": bound().cycles}


def test_a_refill_beyond_the_bound_breaks_a_promise(tmp_path: Path) -> None:
    ours = platform_path(PLATFORM)
    assert ours is not None
    text, file = ours.read_text(), tmp_path / "low.yaml"
    lowered = re.sub(r"bound: \d+", "bound: 300", text)
    assert lowered != text
    file.write_text(lowered.replace(f"name: {PLATFORM}", "name: low"))
    code, result = attacked(tmp_path, str(file))
    assert code == 1
    [reason] = result["reasons"]
    assert reason.startswith("promise broken: a refill took ")
    assert reason.endswith("jobs were admitted with the bound 300 (`cores.mpu.bound`)")
