# SPDX-License-Identifier: Apache-2.0
"""S1: recorded programs as parts of a job; and crafted traces, which end with a reason."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from bulkhead.env.native import ensure_built
from bulkhead.machine.native import built_machine
from bulkhead.machine.point import run_point
from bulkhead.machine.programs import ProgramFailed, counted
from bulkhead.recording.record import RecordingError, trace_info

from . import handmade_trace as made
from .handmade_trace import READ, WRITE, Block, Record

KIB = 1024
RECORDS = 1000
GAP = 4


@pytest.fixture(scope="module", autouse=True)
def _built() -> None:
    built_machine(workloads=True)
    ensure_built(["host"], ["trace_info"])


def records(count: int = RECORDS, *, stride: int = 64, base: int = 0x5555_0000) -> list[Record]:
    """Reads, and every fourth access is a write, one for each line."""
    return [Record(WRITE if i % 4 == 3 else READ, 3, GAP, base + i * stride) for i in range(count)]


def part(file: Path, core: int = 0, **more: Any) -> dict[str, Any]:
    trace = {"file": str(file), "sha256": ""}
    name = f"core-{core}"
    return {
        "name": name,
        "workload": file.name,
        "trace": trace,
        "core": core,
        "memory_bytes": 256 * KIB,
    } | more


def job(*parts: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"platform": "s32v234", "parts": list(parts)} | more


def test_a_core_executes_what_the_trace_says(tmp_path: Path) -> None:
    """It executes every instruction and every access; its memory comes from DRAM once."""
    file = made.write_trace(tmp_path / "one.trace", records(), more=17)
    result = run_point(job(part(file, 1)))
    core = result["cores"][1]
    assert core["instructions"] == RECORDS * GAP + 17
    assert core["events"]["l1d_refill"] == RECORDS
    assert result["levels"]["l2-0"]["owners"][1]["misses"] in range(RECORDS, RECORDS + 16), "fetched ahead"
    (program,) = result["programs"]
    assert program["ended"]
    assert len(program["iterations"]) == 1
    assert program["iterations"][0][1] == core["clock_ps"]


def test_the_same_trace_gives_the_same_digest_and_another_trace_another(tmp_path: Path) -> None:
    file = made.write_trace(tmp_path / "one.trace", records())
    other = made.write_trace(tmp_path / "two.trace", [*records(RECORDS - 1), Record(READ, 3, GAP, 8)])
    bomb = {"name": "bomb", "workload": "membomb", "core": 2, "memory_bytes": 512 * KIB}
    bomb |= {"params": {"size_kib": 64}, "endless": True}
    first = run_point(job(part(file), bomb))
    assert run_point(job(part(file), bomb)) == first
    assert run_point(job(part(other), bomb))["digest"] != first["digest"]


def test_iterations_of_a_trace_count_as_those_of_a_workload(tmp_path: Path) -> None:
    file = made.write_trace(tmp_path / "one.trace", records())
    result = run_point(job(part(file, 0), part(file, 2), iterations=3, leave_out=1))
    assert result["ending"] == "iterated"
    assert all(len(own) >= 3 for own in counted(result["programs"], 1))
    cold, *warm = (time for _, time in result["programs"][0]["iterations"])
    assert max(warm) < cold, "its 64 KiB stay in the L2"
    thrice = run_point(job(part(file, params={"iterations": 3})))
    assert len(thrice["programs"][0]["iterations"]) == 3


def test_a_trace_gets_no_more_memory_than_its_own(tmp_path: Path) -> None:
    file = made.write_trace(tmp_path / "one.trace", records(stride=4096))
    with pytest.raises(ProgramFailed, match=r"'core-0' failed: .*more than the 64 pages that it was given"):
        run_point(job(part(file)))


def refused(file: Path) -> str:
    """The reason why a trace is refused, on a core and when it is inspected: both are the same."""
    with pytest.raises(ValueError) as on_core:
        run_point(job(part(file, params={"iterations": 1}), until_ps=10**9))
    with pytest.raises(RecordingError) as looked_at:
        trace_info(file)
    assert str(looked_at.value) in str(on_core.value)
    return str(looked_at.value)


def test_what_is_no_whole_trace_is_refused_on_a_core(tmp_path: Path) -> None:
    file = made.write_trace(tmp_path / "one.trace", records())
    whole = file.read_bytes()
    file.write_bytes(whole[:-1])
    assert "it has no end" in refused(file)
    file.write_bytes(b"\x7fELF" + whole)
    assert "not a trace of this project" in refused(file)
    within = len(whole) - 50  # the end has 44 bytes
    file.write_bytes(whole[:within] + bytes([whole[within] ^ 1]) + whole[within + 1 :])
    assert "block 0 is damaged" in refused(file)
    os.mkfifo(tmp_path / "pipe")
    assert "not a file" in refused(tmp_path / "pipe")
    assert "not a file" in refused(tmp_path)
    assert "No such file" in refused(tmp_path / "none")


def crafted(file: Path, blocks: list[Block], totals: tuple[int, int, int, int], about: bytes = b"{}") -> Path:
    file.write_bytes(
        made.header(about) + b"".join(made.block(one) for one in blocks) + made.end(len(blocks), *totals)
    )
    return file


def test_sizes_and_counts_of_a_crafted_trace_are_not_believed(tmp_path: Path) -> None:
    """All have valid checksums."""
    file = tmp_path / "crafted"
    raw = made.encoded(records(10))
    few = (10, 40, 8, 2)
    for wrong in (Block(raw, 0), Block(raw, 65537), Block(raw, 10, raw_size=1 << 31)):
        assert "impossible sizes" in refused(crafted(file, [wrong], few))
    # Thousands of times the announced size: never unpacked.
    bomb = Block(bytes(1 << 26), 10, raw_size=len(raw))
    assert "not compressed as it should be" in refused(crafted(file, [bomb], few))
    assert "a block holds more than its records" in refused(crafted(file, [Block(raw, 9)], few))
    assert "a record is none" in refused(crafted(file, [Block(raw, 11)], few))
    assert "more than its end tells" in refused(crafted(file, [Block(raw, 10)], (10, 39, 8, 2)))
    assert "more than its end tells" in refused(crafted(file, [Block(raw, 10)] * 2, few))
    assert "blocks are missing or too many" in refused(crafted(file, [Block(raw, 10)], (11, 40, 9, 2)))


def test_a_trace_whose_accesses_take_no_time_is_refused(tmp_path: Path) -> None:
    """It would occupy a core for ever."""
    file = tmp_path / "crafted"
    made.write_trace(file, [])
    with pytest.raises(ValueError, match="it has no instructions"):
        run_point(job(part(file)))
    still = [Record(READ, 3, 0, 64)] * 1000
    block = Block(made.encoded(still), 1000)
    assert "more accesses than its instructions" in refused(crafted(file, [block], (1000, 1, 1000, 0)))


def test_gaps_of_years_do_not_keep_a_run_from_its_end(tmp_path: Path) -> None:
    """Their sums do not wrap around to a small number either."""
    years = [Record(READ, 3, (1 << 62) + 1, 64)] * 3
    file = made.write_trace(tmp_path / "years", years)
    result = run_point(job(part(file), until_ps=10**9))
    assert (result["ending"], result["programs"][0]["ended"]) == ("reached", False)
    assert result["simulated_ps"] < 2 * 10**9
    file = made.write_trace(tmp_path / "years", [*years, years[0]])
    assert "more than its end tells" in refused(file)


def test_a_small_file_that_names_much_memory_does_not_take_it(tmp_path: Path) -> None:
    """64 blocks each have 65,536 pages: inspection is bounded, and a core has its own pages only."""
    step = [Record(READ, 0, 1, 0x1000 * i) for i in range(1 << 16)]
    rest = made.encoded(step)[len(made.encoded(step[:1])) :]  # distances: the same in each block
    blocks = [Block(made.encoded([step[0]._replace(address=n << 28)]) + rest, 1 << 16) for n in range(65)]
    count = 65 << 16
    file = crafted(tmp_path / "wide", blocks, (count, count, count, 0))
    assert file.stat().st_size < 16 << 20
    with pytest.raises(RecordingError, match="more than 16 GiB of memory"):
        trace_info(file)
    with pytest.raises(ProgramFailed, match="more than the 64 pages"):
        run_point(job(part(file)))


@pytest.mark.parametrize("about", [b"{", b'"\xff"', b"[" * 60000 + b"]" * 60000, b"program", b"1 2"])
def test_descriptions_that_are_none_are_refused(tmp_path: Path, about: bytes) -> None:
    raw = made.encoded(records(10))
    file = crafted(tmp_path / "crafted", [Block(raw, 10)], (10, 40, 8, 2), about)
    with pytest.raises(RecordingError, match=r"header is damaged|no JSON|too deeply"):
        trace_info(file)
