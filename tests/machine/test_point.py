# SPDX-License-Identifier: Apache-2.0
"""One run of the simulated machine from Python: settings in, counters out, refusals with a reason."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bulkhead.campaign.serve import answer
from bulkhead.geometry import color_space
from bulkhead.machine.native import load_machine
from bulkhead.machine.patterns import address_of, field_of, one_bank, rows_below, same_bank
from bulkhead.machine.placement import HALVES, DoesNotFit, Placement
from bulkhead.machine.point import BadJob, job_settings, run_point
from bulkhead.machine.settings import Settings, settings_of
from bulkhead.planning.space import platform_llc_bits

from ..platforms import platform

pytestmark = pytest.mark.usefixtures("machine_built")

ROOT = Path(__file__).parents[2]
KIB = 1024
# Boards of the emulator: one has no memory system that is simulated, the other one has the Zynq-7020's.
EMULATED_ONLY = {"mps2-an500", "rpi4", "xilinx-zynq-a9"}
NAMES = sorted({path.stem for path in (ROOT / "platforms").glob("*.yaml")} - EMULATED_ONLY)


def part(name: str, core: int, kib: int, **more: Any) -> dict[str, Any]:
    return {"name": name, "core": core, "memory_bytes": kib * KIB, "kind": "read", "walks": 1} | more


def job(*parts: dict[str, Any], on: str = "rpi2", **more: Any) -> dict[str, Any]:
    return {"platform": on, "parts": list(parts)} | more


def refused(settings: Settings) -> str:
    with pytest.raises(ValueError) as error:
        load_machine(json.dumps(settings))
    return str(error.value)


@pytest.mark.parametrize("name", NAMES)
def test_every_platform_makes_a_machine(name: str) -> None:
    settings = settings_of(platform(name))
    load_machine(json.dumps(settings))
    assert len(settings["cores"]) == platform(name).cores.count


def test_two_clusters_have_a_second_level_each_and_ports_of_their_own() -> None:
    settings = settings_of(platform("s32v234"))
    assert [core["path"] for core in settings["cores"]] == [["l2-0"], ["l2-0"], ["l2-1"], ["l2-1"]]
    assert [level["name"] for level in settings["levels"]] == ["l2-0", "l2-1"]
    assert len({core["master"] for core in settings["cores"]}) == 2


def test_a_port_of_the_interconnect_bounds_both_directions_of_the_cores() -> None:
    """8 bytes in each clock, which is a third of the cores' clock."""
    settings = settings_of(platform("teres-i"))
    (cores,) = settings["masters"]
    assert cores["reads"] == cores["writes"] == {"peak_bytes_per_s": 8 * 1_056_000_000 // 3}
    none = settings_of(platform("zcu102"))
    assert all("writes" not in master for master in none["masters"])


def test_a_private_second_level_belongs_to_the_core() -> None:
    settings = settings_of(platform("mpam4"))
    assert all(core["l2"]["size_bytes"] == 512 * KIB for core in settings["cores"])
    assert [level["name"] for level in settings["levels"]] == ["l3"]


def test_impossible_settings_are_refused_with_the_key() -> None:
    settings = settings_of(platform("rpi2"))
    settings["levels"][0]["cache"]["ways"] = 7
    assert "levels[0].cache" in refused(settings)
    settings = settings_of(platform("rpi2"))
    settings["cores"][1]["lodas"] = 2
    assert "cores[1].lodas" in refused(settings)
    settings = settings_of(platform("rpi2"))
    settings["dram"]["timings"]["ras"] = 1
    assert "tRAS" in refused(settings)
    settings = settings_of(platform("rpi2"))
    settings["owners"] = "two"
    assert "owners" in refused(settings)


def test_what_cannot_be_put_on_a_core_is_refused() -> None:
    with pytest.raises(ValueError, match="no core 9"):
        run_point(job(part("far", 9, 64)))
    with pytest.raises(ValueError, match="something to do"):
        run_point(job(part("one", 0, 64), part("two", 0, 64)))
    with pytest.raises(ValueError, match="read, write, update, chase"):
        run_point(job(part("one", 0, 64, kind="jump")))
    with pytest.raises(ValueError, match=r"walk\.sride"):
        run_point(job(part("one", 0, 64, sride=4)))
    with pytest.raises(BadJob, match=r"cores\.lodas"):
        run_point(job(part("one", 0, 64), set={"cores.lodas": 1}))
    with pytest.raises(DoesNotFit, match="less is left"):
        run_point(job(part("one", 0, 2_000_000)))


def test_equal_jobs_give_equal_results_in_any_process() -> None:
    """Two runs here and one in another process give the same bytes."""
    both = job(part("one", 0, 300, walks=3), part("two", 1, 2000, walks=0))
    first = run_point(both)
    assert run_point(both) == first
    done = subprocess.run(
        [sys.executable, "-m", "bulkhead.machine.point"],
        input=json.dumps(both),
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
    )
    assert json.loads(done.stdout) == json.loads(json.dumps(first))
    assert run_point({**both, "seed": 2})["digest"] != first["digest"]


def test_a_process_says_why_a_job_is_impossible() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "bulkhead.machine.point"],
        input='{"platform": "rpi3", "parts": []}',
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
    )
    assert done.returncode == 1
    assert "rpi3" in json.loads(done.stdout)["error"]


def test_every_line_comes_from_memory_once_and_then_from_the_cache() -> None:
    """128 KiB fit the L2 of 512 KiB and not the L1: one miss for each line, however often it is walked."""
    result = run_point(job(part("one", 0, 128, walks=5)))
    owner = result["levels"]["l2"]["owners"][1]
    lines = 128 * KIB // 64
    assert lines <= owner["misses"] <= lines + 8, "and a few of tables"
    assert result["dram"]["read_bytes"] == 64 * owner["misses"]
    cold, *warm = result["walks"][0]["walk_ps"]
    assert max(warm) * 2 < cold


def test_disjoint_colors_leave_each_other_no_room_to_evict() -> None:
    """C5: with the planner's own frames, 0 lines of the measured core are evicted by another; otherwise
    thousands."""
    measured = part("measured", 0, 200, walks=20)
    walker = part("walker", 1, 10 * KIB, walks=0)
    shared = run_point(job(measured, walker))
    apart = run_point(job({**measured, "colors": [0, 1, 2, 3]}, {**walker, "colors": [4, 5, 6, 7]}))
    assert shared["levels"]["l2"]["owners"][1]["evicted_by_others"] > 1000
    assert apart["levels"]["l2"]["owners"][1]["evicted_by_others"] == 0
    assert apart["levels"]["l2"]["owners"][2]["evicted_by_others"] == 0
    assert apart["walks"][0]["walk_ps"][-1] < shared["walks"][0]["walk_ps"][-1]


def test_frames_of_a_part_have_its_colors_and_nobody_gets_one_twice() -> None:
    placement = Placement(platform("rpi2"), colored=True)
    space = color_space(platform_llc_bits(platform("rpi2"), color_l1=False))
    one = placement.pages("one", 512 * KIB, [0, 1, 2, 3])
    two = placement.pages("two", 10 * KIB * KIB, [4, 5, 6, 7])
    assert {space.color_of(page) for page in one} == {0, 1, 2, 3}
    assert {space.color_of(page) for page in two} == {4, 5, 6, 7}
    assert len(set(one + two)) == len(one) + len(two) == (512 + 10 * KIB) // 4
    with pytest.raises(DoesNotFit, match="colors 0 to 7"):
        placement.pages("three", 4096, [8])


@pytest.mark.req("C3")
@pytest.mark.parametrize("name", ["zcu102", "zynq7020", "s32v234"])
def test_halves_of_colors_and_banks_are_apart_by_the_mapping_itself(name: str) -> None:
    """`low` and `high` on any platform have no bank and no set of the cache in common."""
    settings = settings_of(platform(name))
    base = settings["dram"]["base"]
    for colors, banks in (("cache", None), (None, "banks"), ("cache", "banks")):
        placement = Placement(platform(name), colored=colors is not None, banked=banks is not None)
        own = [
            placement.pages(half, 512 * KIB, half if colors else None, half if banks else None)
            for half in HALVES
        ]
        assert all(len(set(pages)) == 512 // 4 for pages in own)
        places = [np.array(pages, dtype=np.uint64) for pages in own]
        if banks:
            both = [banks_of(settings, pages - np.uint64(base)) for pages in places]
            assert not both[0] & both[1]
        if colors:
            bits = platform_llc_bits(platform(name), color_l1=False)
            sets = [{tuple(page >> bit & 1 for bit in bits) for page in pages} for pages in own]
            assert not sets[0] & sets[1]
    with pytest.raises(DoesNotFit, match="'middle'"):
        Placement(platform(name), colored=True).pages("one", 4096, "middle")


def banks_of(settings: Any, offsets: Any) -> set[tuple[int, ...]]:
    fields = [field_of(settings, offsets, field) for field in ("group", "bank")]
    return {tuple(int(one) for one in place) for place in zip(*fields, strict=True)}


@pytest.mark.req("C3")
@pytest.mark.parametrize("name", ["zcu102", "zynq7020", "s32v234"])
def test_an_attacker_on_one_bank_stays_in_its_pages_and_opens_another_row_each_time(name: str) -> None:
    settings = settings_of(platform(name))
    line = int(settings["cores"][0]["l1d"]["line_bytes"])
    pages = Placement(platform(name), colored=True).pages("one", 16 * KIB * KIB, "high")
    lines = one_bank(settings, pages, line)
    assert {address // 4096 * 4096 for address in lines} <= set(pages)
    offsets = np.array(lines, dtype=np.uint64) - np.uint64(settings["dram"]["base"])
    assert len(banks_of(settings, offsets)) == 1
    rows = field_of(settings, offsets, "row")
    assert np.mean(rows[1:] != rows[:-1]) > 0.99
    assert len(set(lines)) == len(lines) > 1000


@pytest.mark.parametrize("name", ["zcu102", "stm32f767", "s32v234"])
def test_the_same_bank_pattern_is_what_its_name_says(name: str) -> None:
    """By the mapping's masks there is one bank, and another row each time."""
    settings = settings_of(platform(name))

    def field(address: int, which: str) -> int:
        offset = address - settings["dram"]["base"]
        masks = settings["dram"]["map"].get(which, [])
        return sum(((offset & mask).bit_count() & 1) << bit for bit, mask in enumerate(masks))

    lines = same_bank(settings, 64, bank=2)
    assert {field(line, "bank") for line in lines} == {2}
    assert {field(line, "group") for line in lines} == {0}
    assert [field(line, "row") for line in lines] == list(range(64))
    assert len(set(lines)) == 64


def test_the_same_bank_pattern_stays_in_the_board_s_memory() -> None:
    """The controller of zcu102 could address twice as much as the low DDR has: each core has rows there."""
    settings = settings_of(platform("zcu102"))
    end = max(region.at + region.size for region in platform("zcu102").memory)
    rows = rows_below(settings, end)
    assert rows == int(settings["dram"]["shape"]["rows"]) // 2
    own = rows // 4
    lines = [same_bank(settings, 2 * own, first_row=core * own, rows=own) for core in range(4)]
    assert max(max(one) for one in lines) < end
    assert len({line for one in lines for line in one}) == 8 * own


def test_a_place_is_found_through_hashed_bits() -> None:
    settings = settings_of(platform("stm32f767"))
    settings["dram"]["map"]["bank"] = [1 << 10 | 1 << 13, 1 << 11 | 1 << 14]
    address = address_of(settings, {"bank": 3, "row": 0b1010, "column": 7}) - settings["dram"]["base"]
    assert (address & (1 << 10 | 1 << 13)).bit_count() % 2 == 1
    assert (address & (1 << 11 | 1 << 14)).bit_count() % 2 == 1
    assert (address >> 12) & 0xFFF == 0b1010


def test_a_job_changes_settings_of_all_cores_by_path() -> None:
    settings = job_settings(job(part("one", 0, 64), set={"cores.loads": 1, "dram.timings.rcd": 20}))
    assert {core["loads"] for core in settings["cores"]} == {1}
    assert settings["dram"]["timings"]["rcd"] == 20


@pytest.mark.parametrize(
    "text",
    ["", "5", "[]", "{}", '{"platform": 5, "parts": []}', '{"platform": "rpi2", "parts": [5]}', "[" * 100_000,
     '{"platform": "rpi2", "parts": [{"name": "a", "core": "x", "memory_bytes": 4096, "kind": "read"}]}',
     '{"platform": "rpi2", "parts": [{"name": "a", "core": -1, "memory_bytes": 4096, "kind": "read"}]}',
     '{"platform": "rpi2", "parts": [{"name": "a", "core": 0, "memory_bytes": -4096, "kind": "read"}]}',
     '{"platform": "rpi2", "parts": [], "until_ps": -1}', '{"platform": "rpi2", "parts": [], "set": 5}'],
)  # fmt: skip
def test_whoever_waits_for_a_job_gets_a_line(text: str) -> None:
    """This also holds for an invalid job: otherwise an experiment would wait for ever."""
    assert json.loads(answer(f'{{"point": {text}}}'))["error"]
    assert json.loads(answer(text))["error"]


def test_what_was_counted_before_is_left_out_of_a_part_of_a_run() -> None:
    """Two parts of a run add up to the whole, and caches that were filled before are full."""
    walks = part("one", 0, 64 * KIB, walks=0, kind="write")
    half, end = 100_000_000, 200_000_000
    first = run_point({**job(walks), "until_ps": half})
    second = run_point({**job(walks), "from_ps": half, "until_ps": end})
    whole = run_point({**job(walks), "until_ps": end})
    for key in ("busy_cycles", "read_bytes", "written_bytes"):
        assert first["dram"][key] + second["dram"][key] == whole["dram"][key]
    assert first["simulated_ps"] + second["simulated_ps"] == whole["simulated_ps"]
    assert second["digest"] == whole["digest"]
    assert first["cores"][0]["events"]["l1d_refill"] > 0
    assert second["dram"]["utilization"] == second["dram"]["busy_cycles"] / second["dram"]["cycles"]


def test_loads_after_a_flush_of_the_tlb_wait_for_the_walks_of_data_and_instructions() -> None:
    def mean_ps(**more: Any) -> float:
        walk = run_point(job(part("chase", 0, 4, kind="chase", walks=10, **more), on="zynq7020"))["walks"][0]
        return float(walk["walk_ps"][-1] / walk["places"])

    tables = {"translation": "pages", "tables": "uncached"}
    without, with_tlb = mean_ps(translation="none"), mean_ps(**tables)
    flushed = mean_ps(**tables, flush_tlb=True)
    assert with_tlb == pytest.approx(without, rel=0.01), "translations stay in the TLB"
    assert (flushed - with_tlb) / 4 > 100_000, "each read of two tables, twice, goes to DRAM"
    cached = mean_ps(translation="pages", flush_tlb=True)
    assert with_tlb < cached < flushed / 1.5, "tables in the L2 are nearer"
