# SPDX-License-Identifier: Apache-2.0
"""`run --gdb`: the domain that it names, and the script for GDB."""

from __future__ import annotations

from pathlib import Path

import pytest

from bulkhead.run.debug import BadDebugger, Debugger, DebugProgram, gdb_script, parse_debugger


@pytest.mark.parametrize(
    ("text", "domain", "port"), [("linux", "linux", 1234), ("linux:1", "linux", 1), ("a:65535", "a", 65535)]
)
def test_a_domain_and_a_port(text: str, domain: str, port: int) -> None:
    assert parse_debugger(text) == Debugger(domain, port)
    assert parse_debugger(text).stub == f"tcp:127.0.0.1:{port}", "nobody else's"


@pytest.mark.parametrize("text", ["linux:", "linux:0", "linux:65536", "linux:-1", "linux:1:2", "linux:gdb"])
def test_what_is_no_port_is_refused(text: str) -> None:
    with pytest.raises(BadDebugger, match="is not a port"):
        parse_debugger(text)


def test_breakpoints_are_of_the_domains_cores_alone() -> None:
    script = gdb_script(Debugger("rtos", 3333), (2, 0), 0x4008_0000, DebugProgram(Path("/a b/rtos.elf")))
    lines = script.splitlines()
    assert "file '/a b/rtos.elf'" in lines
    assert "target extended-remote 127.0.0.1:3333" in lines
    assert "  break $arg0 if $_thread == 3 || $_thread == 1" in lines
    assert "tbreak *0x40080000 if $_thread == 3" in lines
    assert "thread 3" in lines


def test_a_program_that_was_moved_has_its_symbols_moved() -> None:
    script = gdb_script(Debugger("rtos"), (1,), 0x4020_1000, DebugProgram(Path("rtos.elf"), 0x4020_0000))
    assert "symbol-file rtos.elf -o 0x40200000" in script.splitlines()
    assert "file" not in gdb_script(Debugger("rtos"), (1,), 0, None)
