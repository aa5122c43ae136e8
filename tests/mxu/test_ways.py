# SPDX-License-Identifier: Apache-2.0
"""Table nodes in more than one locked way of the outer cache, on the simulated Cortex-A9 (X5)."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.mxu.components import Json, refused, run, written
from tests.mxu.systems import board

pytestmark = [pytest.mark.emulator, pytest.mark.req("X5")]
PLATFORM = "zynq7020"
IDLE = "void component_main(void) { }\n"
# The wait of a walk for pages with and without a place for their nodes, when everything else has left the
# caches.
WALKER = """
#include "microkernel/include/microkernel/sys.h"
#include "microkernel/programs/counters.h"
#define SWEPT (4u << 20)

static volatile unsigned *swept;

static unsigned walk_of(volatile unsigned *page)
{
    unsigned before;

    for (unsigned i = 0; i < 2u * SWEPT; i += 32u) {
        (void)swept[i % SWEPT / sizeof *swept];
    }
    (void)sys_call(SYS_HARDWARE, SLOT_HARDWARE, HW_FLUSH_CHECK, 0, 0);
    before = counters_read(0);
    (void)*page;
    return counters_read(0) - before;
}

void component_main(void)
{
    volatile unsigned *placed = rt_memory("placed", 0), *plain = rt_memory("plain", 0);

    swept = rt_memory("swept", 0);
    counters_count(0, WALK_STALL);
    rt_print("report {\\"placed\\": ");
    rt_print_number(walk_of(placed));
    rt_print(", \\"plain\\": ");
    rt_print_number(walk_of(plain));
    rt_print("}\\n");
}
"""


def placed() -> Json:
    return {"name": "placed", "size": "4 KiB", "spec": "l2"}


def system(directory: Path, ways: int) -> Path:
    """Three components whose nodes fill most of a way, before the one that measures."""
    others = [{"name": name, "code": IDLE, "memory": [placed()]} for name in ("a", "b", "c")]
    # Separate: no walk for anything else reads the same line of the first-level table.
    memory = [
        {**placed(), "at": 0x2000000},
        {"name": "plain", "size": "4 KiB", "at": 0x2800000},
        {"name": "swept", "size": "4 MiB"},
    ]
    walker = {
        "name": "walker",
        "code": WALKER,
        "memory": memory,
        "controls": ["console", "flush-check"],
    }
    return written(
        directory, PLATFORM, *others, walker, hardware={"ocm": "1 KiB", "locked_ways": ways, "page": "4 KiB"}
    )


def test_nodes_in_a_second_locked_way_are_read_at_the_speed_of_the_outer_cache(tmp_path: Path) -> None:
    code, result = run(system(tmp_path, 2), "--on", "machine", "--for", "60 ms")
    assert code == 0, result["reasons"]
    [left] = [one for one in result["admitted"]["left"] if one["resource"] == "bytes in locked ways"]
    assert left["limit"] == 2 << 16 and left["limit"] - left["left"] > 1 << 16
    [walker] = [one for one in result["components"] if one["name"] == "walker"]
    tlb, outer = board(PLATFORM).cores.tlb, board(PLATFORM).caches["l2"]
    assert tlb is not None and outer.latency is not None
    bound = tlb.walk + tlb.levels * outer.latency
    assert walker["report"]["placed"] == bound < walker["report"]["plain"]


def test_one_way_is_too_small_for_these(tmp_path: Path) -> None:
    [reason] = refused(system(tmp_path, 1))
    assert "walker" in reason and "locked ways" in reason


def test_one_way_stays_for_everything_else(tmp_path: Path) -> None:
    [reason] = refused(system(tmp_path, 8))
    assert "hardware.locked_ways" in reason and "because one way must stay for all other data" in reason
