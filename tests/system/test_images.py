# SPDX-License-Identifier: Apache-2.0
"""Images in their original form: a boot loader in flash, programs as bytes at an address, files beside
them."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import pytest

from bulkhead.package.elf import read_elf

from .harness import EXAMPLES, MS, ROOT, Run, attached, boot, command, control, domain, write_system

pytestmark = [pytest.mark.emulator, pytest.mark.timeout(600)]

RAM = 0x4000_0000
FLASH = 0x0400_0000
CRASH_KINDS = {"read": 0, "write": 1, "jump": 2}


def hello_as_bytes(directory: Path) -> tuple[int, int]:
    """`hello` without its ELF headers, as `hello.bin`: its link address, and its first instruction."""
    program = read_elf(ROOT / "build" / "target" / "guests" / "hello.elf")
    first = min(segment.physical for segment in program.segments)
    end = max(segment.physical + len(segment.data) for segment in program.segments)
    content = bytearray(end - first)
    for segment in program.segments:
        at = segment.physical - first
        content[at : at + len(segment.data)] = segment.data
    (directory / "hello.bin").write_bytes(bytes(content))
    return first, program.entry


def one(directory: Path, image: dict[str, Any], **keys: Any) -> Run:
    """A run of one domain until it ends."""
    guest = {"name": "guest", "cpus": [1], "image": image, **keys}
    guest.setdefault("memory", [{"at": RAM, "size": "4 MiB"}])
    return boot(write_system(directory, guest), directory / "run", icount=True, for_ns=100 * MS)


def test_d7_u_boot_comes_to_its_prompt_in_flash_of_its_own(tmp_path: Path) -> None:
    run = command(EXAMPLES / "u-boot.yaml", tmp_path / "run")
    assert run.exit_code == 0, run.result["reasons"]
    assert run.result["witnesses"]["tables"]["verdict"] == "held"


def test_d7_what_u_boot_saves_is_there_after_its_reset(tmp_path: Path) -> None:
    with attached(EXAMPLES / "u-boot.yaml", tmp_path / "run", "--for", "120s") as terminal:
        terminal.wait_for("Hit any key", "loader")
        terminal.type("")
        terminal.wait_for("=> ", "loader")
        terminal.type("setenv greeting good morning; saveenv")
        saved = terminal.wait_for(r"^(OK|Failed.*)$", "loader")
        assert "OK" in saved
        terminal.type("reset")
        started = terminal.wait_for("Hit any key", "loader")
        assert "Loading Environment from Flash... OK" in started
        terminal.type("")
        terminal.wait_for("=> ", "loader")
        terminal.type("printenv greeting")
        terminal.wait_for("greeting=good morning", "loader")
        run = terminal.leave()
    assert run.domain("loader")["restarts"] == 1


def test_d7_edk2_comes_to_its_shell_with_variables_in_flash(tmp_path: Path) -> None:
    run = command(EXAMPLES / "edk2.yaml", tmp_path / "run", "--for", "16s")
    assert run.exit_code == 0, run.result["reasons"]
    assert run.result["witnesses"]["tables"]["verdict"] == "held"
    assert run.domain("firmware")["exit_reasons"]["flash_access"] > 500


@pytest.mark.parametrize("colored", [True, False])
@pytest.mark.parametrize("cpus", [[1], [1, 2, 3]])
def test_d7_flash_is_erased_and_programmed_by_commands(
    cpus: list[int], colored: bool, tmp_path: Path
) -> None:
    """Its other VCPUs read it meanwhile: each reads content, or a status."""
    guest = {
        "name": "guest",
        "cpus": cpus,
        "image": {"elf": "guests/flash.elf"},
        "memory": [
            {"at": RAM, "size": "4 MiB"},
            {"at": FLASH, "size": "1 MiB", "flash": "erased", "programmable": True},
        ],
    }
    isolation = {} if colored else {"llc": "none"}
    run = boot(
        write_system(tmp_path, guest, isolation=isolation), tmp_path / "run", icount=True, for_ns=5000 * MS
    )
    report = run.domain("guest")["report"]
    assert (report["bytes"], report["wrong"], report["strange"]) == (1 << 20, 0, 0)
    assert report["reads"] >= 1000 * (len(cpus) - 1)


@pytest.mark.parametrize("faults", ["end", "abort"])
def test_d7_without_its_second_flash_u_boot_reads_what_is_not_there(faults: str, tmp_path: Path) -> None:
    """The domain ends, or U-Boot handles an exception: without a prompt the run fails."""
    memory = "[{at: 0x40000000, size: 128 MiB}, {at: 0, size: 2 MiB, flash: 'u-boot:debian'}]"
    settings = (f"domains.loader.memory={memory}", f"domains.loader.faults={faults}")
    arguments = [argument for setting in settings for argument in ("--set", setting)]
    run = command(EXAMPLES / "u-boot.yaml", tmp_path / "run", *arguments, "--for", "500ms")
    assert run.exit_code == 1
    loader = run.domain("loader")
    assert (loader["state"] == "crashed") == (faults == "end")
    if faults == "end":
        assert (loader["end"], loader["fault"]["address"]) == ("stage2_data_abort", "0x4000004")
    else:
        assert any("no line 'Synchronous Abort', but it came after" in r for r in run.result["reasons"])
    assert any("expected the line '=> ' within 6.000 s, but no line" in r for r in run.result["reasons"])


def test_d7_a_program_can_be_bytes_at_an_address(tmp_path: Path) -> None:
    first, entry = hello_as_bytes(tmp_path)
    run = one(tmp_path, {"raw": "hello.bin", "at": first, "entry": entry})
    assert run.domain("guest")["end"] == "system_off"
    assert "bulkhead: ready" in run.lines("guest")


def test_d7_files_and_a_command_line_of_a_program(tmp_path: Path) -> None:
    """An image that loads another one's bytes: the entry is in the program, the rest is beside it."""
    first, entry = hello_as_bytes(tmp_path)
    (tmp_path / "blob").write_bytes(b"blob" * 100)
    run = one(
        tmp_path,
        {
            "raw": "hello.bin",
            "at": first,
            "entry": entry,
            "cmdline": "one two",
            "device_tree_at": RAM,
            "files": [{"file": "blob", "at": RAM + (3 << 20)}],
        },
    )
    assert run.domain("guest")["end"] == "system_off"


@pytest.mark.parametrize("premap", ["all", "none"])
@pytest.mark.parametrize("kind", CRASH_KINDS)
def test_d7_flash_is_read_and_not_written(kind: str, premap: str, tmp_path: Path) -> None:
    """This also holds after a first write that is not mapped yet; code in it runs."""
    (tmp_path / "flash").write_bytes(struct.pack("<I", 0xD65F03C0))  # RET
    params = {"kind": CRASH_KINDS[kind], "address": FLASH}
    guest = domain("crash", "crash", 1, params=params)
    guest["memory"] = [{"at": RAM, "size": "4 MiB"}, {"at": FLASH, "size": "8 KiB", "flash": "flash"}]
    path = write_system(tmp_path, control(), guest, isolation={"premap": premap})
    run = boot(path, tmp_path / "run", icount=True, for_ns=20 * MS)
    crash = run.domain("crash")
    assert (crash["state"], crash["end"]) == ("stopped", "system_off")
    assert "crash: survived" in run.lines("crash")
    assert crash["exit_reasons"].get("stage2_fault", 0) == (kind == "write")
    assert run.result["witnesses"]["tables"]["verdict"] == "held"
