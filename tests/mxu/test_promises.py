# SPDX-License-Identifier: Apache-2.0
"""The other promises that `run` reports as kept (docs/design/mxu.md, Promises of a run), broken on purpose:
admissions that are not kept, a system that does not start, a run without an end, missing reports (X9)."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from bulkhead.admission.load_components import load_components
from bulkhead.microkernel import description
from bulkhead.microkernel.result import ComponentFacts, run_result
from bulkhead.microkernel.session import Ending
from bulkhead.mxu.layout import SYSTEM_COMPONENTS
from bulkhead.results.components_run import ComponentOptionsResult
from bulkhead.run.console import ConsoleParser
from tests.mxu.components import Json, built, run, written

pytestmark = [pytest.mark.emulator, pytest.mark.req("X9")]

CALM = "void component_main(void) { for (;;) { rt_end_job(); } }\n"
INTRUDER = "void component_main(void) { *(volatile unsigned *)0x20000000u = 1; }\n"
MEMORY_AT = 80 + description.MOST_COMPONENTS * 48
FIRST_OF_MEMORY = MEMORY_AT + description.MEMORY_NAME_BYTES


def system(directory: Path) -> Path:
    samples: Json = {"name": "samples", "size": "4 KiB", "spec": ["deterministic", "independent"]}
    return written(
        directory,
        "mps2-an500",
        {"name": "calm", "code": CALM, "period": "1 ms", "memory": [samples]},
        {"name": "intruder", "code": INTRUDER, "expect": "killed", "priority": 0},
    )


def damaging(
    change: Callable[[bytearray], None], *, sealed: bool
) -> Callable[[description.Description], bytes]:
    whole = description.packed

    def packed(wanted: description.Description) -> bytes:
        content = bytearray(whole(wanted))
        change(content)
        if sealed:
            struct.pack_into("<I", content, 12, zlib.crc32(content[16:]))
        return bytes(content)

    return packed


def test_memory_that_is_not_where_it_was_admitted_fails_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def move(content: bytearray) -> None:
        struct.pack_into("<I", content, FIRST_OF_MEMORY, 0x20123400)

    monkeypatch.setattr(description, "packed", damaging(move, sealed=True))
    code, result = run(system(tmp_path), "--for", "5 ms")
    assert (code, result["verdict"]) == (1, "failed")
    refused, difference = result["reasons"]
    assert refused == (
        "the memory manager did not start the system: the system's memory is not as it was admitted"
    )
    assert difference.startswith("calm.samples gets 0x") and "admitted was 0x20123400" in difference


def test_a_system_that_the_kernel_does_not_start_fails_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def damage(content: bytearray) -> None:
        content[FIRST_OF_MEMORY] ^= 1

    monkeypatch.setattr(description, "packed", damaging(damage, sealed=False))
    monkeypatch.setattr("bulkhead.microkernel.build._check_description", lambda content: None)
    code, result = run(system(tmp_path), "--for", "5 ms")
    assert code == 1
    [reason] = result["reasons"]
    assert reason.startswith("the kernel halted: ") and "its CRC is wrong" in reason


def test_a_run_that_does_not_end_fails(tmp_path: Path) -> None:
    code, result = run(system(tmp_path), "--for", "1000 s", "--timeout", "2")
    assert code == 1
    assert result["reasons"][0] == "timeout: the kernel did not end the run in time"


def test_what_kernel_and_scheduler_do_not_say_is_missed(tmp_path: Path) -> None:
    """The lines of a run, and the same ones without one of them."""
    path = system(tmp_path)
    code, _ = run(path, "--for", "5 ms")
    assert code == 0
    lines = (tmp_path / "run" / "console.log").read_bytes().splitlines(keepends=True)
    image = built(path, 5_000_000)

    def reasons(without: bytes) -> list[str]:
        parser = ConsoleParser(["kernel", *SYSTEM_COMPONENTS, "calm", "intruder"])
        kept = [line for line in lines if not without or without not in line]
        assert len(lines) - len(kept) == (1 if without else 0)
        parser.feed(b"".join(kept))
        parser.finish()
        options: ComponentOptionsResult = {"for_ns": 5_000_000, "unprotected": False, "set": []}
        facts = ComponentFacts(image, parser, Ending("end"), "qemu", False, 5_000_000, options, (), None)
        return run_result(facts)[1]

    assert load_components(path).problems == ()
    assert reasons(b"") == []
    [missing] = reasons(b'report {"component": 2,')
    assert missing == "the scheduler has not reported on 'calm', so its promises could not be checked"
    unseen, disagree = reasons(b"intruder killed: ")
    assert unseen == "kernel and scheduler do not agree on whether 'intruder' was killed"
    assert disagree == "component 'intruder' was not killed, although `expect` says so"
