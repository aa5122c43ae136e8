# SPDX-License-Identifier: Apache-2.0
"""A Linux boot with and without the hypervisor: both boot the same bytes, and the cost is within its
limit."""

from __future__ import annotations

import os
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from elftools.elf.elffile import ELFFile
from typer.testing import CliRunner

from bulkhead.bench import linux_boot_run
from bulkhead.bench.bare import bare_machine, bare_program, boot_stub
from bulkhead.bench.counted import CountError, Events, parse_count
from bulkhead.bench.linux_boot import BootComparison, exits_of
from bulkhead.bench.not_measured import NotMeasured
from bulkhead.cli import build_app
from bulkhead.env.paths import repository
from bulkhead.package.errors import PackageError
from bulkhead.package.memory import LoadedMemory, LoadPiece
from bulkhead.schema.layout import load_layout
from tests.json_results import parsed

KERNEL, TREE = 0x4000_0000, 0x4200_0000
BLOCK = 2 << 20


def images(tree_bytes: int = 100) -> LoadedMemory:
    tree = bytes(tree_bytes)
    pieces = (
        LoadPiece("kernel", KERNEL, b"kernel" * 10, 0x10000),
        LoadPiece("device tree", TREE, tree, BLOCK),
        LoadPiece("RAM disk", TREE + BLOCK, b"disk", 4),
    )
    return LoadedMemory(pieces, KERNEL, TREE, tree)


def test_the_bare_program_has_the_images_where_the_domain_has_them(tmp_path: Path) -> None:
    path = tmp_path / "bare.elf"
    path.write_bytes(bare_program(images()))
    with path.open("rb") as file:
        elf = ELFFile(file)
        loads = {segment["p_paddr"]: segment.data() for segment in elf.iter_segments("PT_LOAD")}
        entry = elf["e_entry"]
    assert {pa: loads[pa] for pa in (KERNEL, TREE, TREE + BLOCK)} == {
        piece.ipa: piece.data for piece in images().pieces
    }
    assert TREE + 100 <= entry < TREE + BLOCK, "the stub is in nobody's way"
    assert loads[entry] == boot_stub(TREE, KERNEL)
    assert len(loads) == 4


def test_the_stub_gives_the_kernel_its_device_tree() -> None:
    """The two literal loads read the two addresses; then the stub branches."""
    stub = boot_stub(0x1122334455667788, 0x99AABBCCDDEEFF00)
    code = struct.unpack_from("<6I", stub)
    literals = {
        word & 0x1F: struct.unpack_from("<Q", stub, index * 4 + (word >> 5 & 0x7FFFF) * 4)[0]
        for index, word in enumerate(code)
        if word >> 24 == 0x58
    }
    assert literals == {0: 0x1122334455667788, 4: 0x99AABBCCDDEEFF00}
    assert code[-1] == 0xD61F0000 | 4 << 5, "br x4"


def test_a_device_tree_that_leaves_no_room_is_refused() -> None:
    with pytest.raises(PackageError, match="no room"):
        bare_program(images(tree_bytes=BLOCK - 100))


def test_the_bare_board_is_the_platforms_without_el2() -> None:
    assert bare_machine("virt,virtualization=on,gic-version=3") == "virt,gic-version=3"


def test_the_counter_is_asked_for_what_is_wanted() -> None:
    events = Events(from_=0x40000000, match="a, b", uart=0x9000000, start=(0x48001008, 1), read=(0x4000, 16))
    assert events.plugin(Path("/x/libcount.so"), Path("/y/out,1.json")) == (
        "/x/libcount.so,out=/y/out,,1.json,match=a,, b,uart=0x9000000,from=0x40000000,"
        "start=0x48001008:0x1,read=0x4000:0x10"
    )


def test_a_count_is_read() -> None:
    text = (
        '{"instructions": 10, "instructions_within": 3, "memory": "01ff", "started": true, "matched": true}'
    )
    count = parse_count(text)
    assert (count.instructions, count.within, count.memory) == (10, 3, b"\x01\xff")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"instructions": 0, "started": false, "matched": false}', "never entered"),
        ('{"instructions": 9, "started": true, "matched": false}', "did not appear"),
        ('{"instructions": 9, "started": true}', "cannot be read"),
        ('{"instructions": 9, "memory": "0", "started": true, "matched": true}', "cannot be read"),
        ("[1]", "cannot be read"),
        ("", "cannot be read"),
    ],
)
def test_what_is_no_count_says_why(text: str, reason: str) -> None:
    with pytest.raises(CountError, match=reason):
        parse_count(text)


def test_exits_of_all_cores_are_added() -> None:
    layout = load_layout()
    page = layout.constant("page_bytes")
    at = layout.offset("status_core", "exits")
    reasons = layout.enum("exit_reason")
    memory = bytearray(2 * page)
    for core, reason, count in ((0, "hvc", 2), (0, "lazy_map", 5), (1, "hvc", 1)):
        struct.pack_into("<Q", memory, core * page + at + 8 * reasons[reason], count)
    assert exits_of(layout, bytes(memory), 2) == {"lazy_map": 5, "hvc": 3}
    assert exits_of(layout, b"", 2) == {}


def test_the_worst_ratio_decides() -> None:
    at_limit = BootComparison(bare=(1000, 1000), hypervisor=(1010, 1005), at_el2=(9, 9))
    assert at_limit.ratio == 1.01
    assert at_limit.reasons == []
    assert at_limit.spread == {"bare": 0, "hypervisor": 5}
    above = BootComparison(bare=(1001, 1000), hypervisor=(1005, 1011), at_el2=(9, 9))
    assert above.reasons == [
        "Linux takes 1.0110 times the bare emulator's instructions to its prompt; at most 1.01"
    ]


def trapping(maintenance: str, hypervisor: int) -> BootComparison:
    exits = {
        "tlb_maintenance": 20,
        "tlb_broadcast": 5,
        "cache_maintenance": 10,
        "cache_broadcast": 5,
        "hvc": 9,
    }
    return BootComparison(
        bare=(100_000,), hypervisor=(hypervisor,), at_el2=(9,), exits=exits, maintenance=maintenance
    )


def test_maintenance_that_the_file_has_trapped_may_take_what_each_trap_may() -> None:
    """The limit is 25 of 120 instructions and 15 of 240, besides the hundredth for everything else."""
    most = 101_000 + 25 * 120 + 15 * 240
    for asked in ("trapped", "translations"):
        comparison = trapping(asked, most)
        assert (comparison.traps, comparison.allowed_for_traps) == (40, 6_600)
        assert comparison.reasons == []
        assert trapping(asked, most + 1).reasons == [
            "Linux takes 1.0760 times the bare emulator's instructions to its prompt; at most 1.0760: 1.01,"
            f" and 6,600 instructions for 40 traps of `maintenance: {asked}`"
        ]


@pytest.mark.parametrize("asked", ["auto", "direct"])
def test_what_is_trapped_by_default_is_within_the_limit(asked: str) -> None:
    comparison = trapping(asked, 101_000)
    assert (comparison.limit, comparison.reasons) == (1.01, [])
    assert len(trapping(asked, 101_001).reasons) == 1


@pytest.fixture
def invoke(
    monkeypatch: pytest.MonkeyPatch,
) -> Callable[[BootComparison | list[str]], tuple[int, dict[str, Any]]]:
    """Calls the command with an invented measurement."""

    def call(measured: BootComparison | list[str]) -> tuple[int, dict[str, Any]]:
        def measure(*_: object) -> BootComparison:
            if isinstance(measured, list):
                raise NotMeasured(measured)
            return measured

        monkeypatch.setattr(linux_boot_run, "measure_linux_boot", measure)
        done = CliRunner().invoke(build_app(), ["bench", "linux-boot", "--json"])
        return done.exit_code, parsed(done.stdout)

    return call


def test_the_command_answers_with_its_exit_code(
    invoke: Callable[[BootComparison | list[str]], tuple[int, dict[str, Any]]],
) -> None:
    code, result = invoke(BootComparison(bare=(1000,), hypervisor=(1004,), at_el2=(3,), exits={"hvc": 2}))
    assert (code, result["verdict"], result["reasons"]) == (0, "ok", [])
    assert result["instructions"] == {"bare": 1000, "hypervisor": 1004, "at_el2": 3}
    assert (result["ratio"], result["limit"], result["exits"]) == (1.004, 1.01, {"hvc": 2})
    code, result = invoke(trapping("trapped", 107_000))
    assert (code, result["verdict"], result["limit"]) == (0, "ok", 1.076)
    assert result["maintenance"] == {"asked_for": "trapped", "traps": 40, "instructions_allowed": 6_600}
    code, result = invoke(BootComparison(bare=(1000,), hypervisor=(1020,), at_el2=(3,)))
    assert (code, result["verdict"], result["ratio"]) == (1, "failed", 1.02)
    code, result = invoke(["no prompt within 300 s"])
    assert (code, result["verdict"], result["reasons"]) == (1, "error", ["no prompt within 300 s"])


def measured(*arguments: str) -> tuple[int, dict[str, Any]]:
    """Exit code and result of the command itself."""
    command = [sys.executable, "-c", "from bulkhead.cli import main; main()", "bench", "linux-boot", "--json"]
    environment = {**os.environ, "PYTHONPATH": str(repository() / "src")}
    done = subprocess.run(
        [*command, *arguments], env=environment, cwd=repository(), capture_output=True, text=True, check=False
    )
    assert done.stdout, done.stderr
    return done.returncode, parsed(done.stdout)


@pytest.mark.emulator
def test_linux_takes_at_most_a_hundredth_more_instructions_than_bare() -> None:
    """It counts from the kernel's entry to the prompt, including all of EL2."""
    code, result = measured()
    assert code == 0, result["reasons"]
    assert result["instructions"]["bare"] > 100_000_000, "Linux really booted"
    assert result["instructions"]["at_el2"] > 100_000, "with the hypervisor beneath it"
    assert result["exits"]["uart_access"] > 100
    assert 1 < result["ratio"] <= result["limit"] == 1.01


@pytest.mark.emulator
def test_trapped_maintenance_is_within_its_price() -> None:
    """The kernel's self-tests are left out."""
    quick = "domains.linux.image.cmdline=console=ttyAMA0 quiet cryptomgr.notests"
    code, result = measured("--set", quick, "--set", "domains.linux.maintenance=trapped")
    assert code == 0, result["reasons"]
    assert result["maintenance"]["traps"] > 50_000
    assert 1.01 < result["ratio"] <= result["limit"]


@pytest.mark.emulator
def test_two_runs_are_equal_to_the_instruction() -> None:
    """The kernel's self-tests, which are two thirds of its boot, are left out."""
    quick = "domains.linux.image.cmdline=console=ttyAMA0 quiet cryptomgr.notests"
    _, result = measured("--runs", "2", "--set", quick)
    assert len(result["runs"]) == 2, result["reasons"]
    assert result["spread"] == {"bare": 0, "hypervisor": 0}
