# SPDX-License-Identifier: Apache-2.0
"""The bare-metal guests do what their parameters require, on one and more processors, the same in every
run."""

from collections.abc import Callable
from typing import Any

import pytest

pytestmark = [pytest.mark.emulator]

Run = Callable[..., Any]


def test_hello_describes_its_board_and_powers_off(run: Run) -> None:
    output = run("hello", cpus=2)
    assert output.ended
    assert output.lines[0] == "bulkhead: ready"
    assert output.lines[1].startswith("hello: 2 cpus, ")


def test_memory_is_what_image_and_device_tree_leave(run: Run) -> None:
    """Within the RAM of the device tree, both take less than 1 MiB."""
    for ram_mib in (8, 16, 64):
        line = run("hello", ram=f"{ram_mib}M").lines[1]
        kib = int(line.split(", ")[1].split()[0])
        assert (ram_mib - 1) * 1024 < kib < ram_mib * 1024


def test_hello_resets(run: Run) -> None:
    """PSCI SYSTEM_RESET; the emulator ends instead."""
    output = run("hello", {"reset": 1})
    assert output.ended
    assert output.lines.count("bulkhead: ready") == 1


def test_periodic_misses_no_release_and_is_reproducible(run: Run) -> None:
    params = {"period_us": 500, "working_set_kib": 64, "iterations": 300, "report_every": 100}
    first = run("periodic", params)
    assert first.ended
    assert "bulkhead: ready" in first.lines
    last = first.reports[-1]
    assert last["releases"] == 300
    assert last["period_us"] == 500
    assert last["working_set_kib"] == 64
    assert last["missed"] == 0
    assert sum(last["histogram"]) == 300
    assert run("periodic", params).lines == first.lines


def test_periodic_jitter_is_the_handlers_latency(run: Run) -> None:
    """Under fixed icount an instruction takes 2 ns: the path to the handler is short and always the same."""
    jitter = run("periodic", {"working_set_kib": 4, "iterations": 50}).reports[-1]["jitter_ns"]
    assert 0 < jitter["min"] == jitter["max"] < 1000


def test_periodic_deadlines_do_not_drift(run: Run) -> None:
    """A wake-up relative to the previous one would be late by the sum of all jitters."""
    report = run("periodic", {"period_us": 1000, "working_set_kib": 4, "iterations": 500}).reports[-1]
    jitter, late_ns = report["jitter_ns"], report["elapsed_ns"] - 499 * 1_000_000
    assert jitter["min"] <= late_ns <= jitter["max"] < 1000, "not the sum of 499"


def test_periodic_work_grows_with_the_working_set(run: Run) -> None:
    def work_ns(kib: int) -> int:
        return int(run("periodic", {"working_set_kib": kib, "iterations": 20}).reports[-1]["work_ns"]["mean"])

    assert work_ns(256) == pytest.approx(4 * work_ns(64), rel=0.1)


def test_periodic_counts_releases_that_its_work_misses(run: Run) -> None:
    """8 MiB of cache lines take longer than 1 ms, with 2 ns an instruction and 4 instructions a line."""
    params = {"period_us": 1000, "working_set_kib": 8192, "iterations": 20}
    report = run("periodic", params).reports[-1]
    assert report["work_ns"]["min"] > 1_000_000
    assert report["missed"] > 0
    assert report["releases"] >= 20 + report["missed"]


def test_periodic_working_set_is_limited_by_its_ram(run: Run) -> None:
    report = run("periodic", {"period_us": 10_000, "working_set_kib": 1 << 20, "iterations": 10}).reports[-1]
    assert 8 * 1024 < report["working_set_kib"] < 16 * 1024


def test_periodic_without_end_reports_again_and_again(run: Run) -> None:
    output = run("periodic", {"report_every": 100}, reports=3)
    assert not output.ended
    assert [report["releases"] for report in output.reports] == [100, 200, 300]


@pytest.mark.parametrize("cpus", [1, 3])
def test_hog_walks_its_buffer_on_all_its_processors(run: Run, cpus: int) -> None:
    output = run("hog", {"buffer_kib": 1024, "passes": 12}, cpus=cpus)
    assert output.ended
    assert output.lines[0] == "bulkhead: ready"
    last = output.reports[-1]
    assert last["passes"] == 12
    assert last["bytes"] == 12 << 20
    assert last["elapsed_ns"] > 0


def test_hog_takes_all_the_ram_that_is_left(run: Run) -> None:
    report = run("hog", {"passes": 1}).reports[-1]
    assert 15 << 20 < report["bytes"] == report["buffer_bytes"] < 16 << 20


def test_hog_reports_once_a_second(run: Run) -> None:
    seconds = [report["elapsed_ns"] / 1e9 for report in run("hog", reports=2, instruction_ns=16).reports]
    assert seconds == pytest.approx([1, 2], abs=0.05)


@pytest.mark.parametrize(
    ("kind", "cause", "address"),
    [
        (0, "data abort", 0x2000000000),
        (1, "data abort", 0x2000000000),
        (2, "instruction abort", 0x2000000000),
    ],
)
def test_crash_reaches_beyond_its_memory(run: Run, kind: int, cause: str, address: int) -> None:
    """The access passes the guest's own translation; on the bare emulator the bus refuses it."""
    output = run("crash", {"kind": kind})
    external_abort = 0x10
    dump = "\n".join(output.lines)
    assert output.ended
    assert output.lines[0] == "bulkhead: ready"
    assert f"on cpu 0: {cause}" in dump
    assert f"far  {address:016x}" in dump
    syndrome = int(dump.split("esr ")[1].split()[0], 16)
    assert syndrome & 0x3F == external_abort
    assert "survived" not in dump


def test_crash_takes_an_address(run: Run) -> None:
    output = run("crash", {"kind": 0, "address": 0x3000001000})
    assert any("far  0000003000001000" in line for line in output.lines)


def test_crash_by_undefined_instruction_dumps_all_registers(run: Run) -> None:
    output = run("crash", {"kind": 3})
    dump = "\n".join(output.lines)
    assert output.ended
    assert "on cpu 0: undefined instruction" in dump
    assert all(f"  x{number:<2} " in dump for number in range(31))


def test_crash_by_paired_store_works_on_the_real_device(run: Run) -> None:
    """The UART itself accepts it: the program tests only a hypervisor that emulates the UART."""
    output = run("crash", {"kind": 4})
    assert output.lines[-1].endswith("crash: survived")
