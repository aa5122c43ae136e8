# SPDX-License-Identifier: Apache-2.0
"""The console of a running system: which control sequences reach the terminal."""

from __future__ import annotations

from pathlib import Path

import pytest

from .harness import Run, attached, domain, write_system

pytestmark = pytest.mark.emulator

RED_ABOVE = "\x1b[2A\x1b[31mred"  # two rows up


def answered(directory: Path, console: object, shown: str) -> Run:
    """A domain that echoes its input gets a control sequence; then an empty line ends it."""
    system = write_system(directory, domain("echo", "echo", 0, console=console), expect={"echo": "stopped"})
    with attached(system, directory / "run") as terminal:
        terminal.child.expect_exact("bulkhead: ready")
        terminal.type(RED_ABOVE)
        terminal.child.expect_exact(shown)
        terminal.type("")
        return terminal.wait_for_end()


def test_who_has_the_terminal_for_itself_draws_on_it(tmp_path: Path) -> None:
    """Its bytes pass unchanged and without tags; lines of the hypervisor have theirs."""
    run = answered(tmp_path, {"raw": True}, f"echo: {RED_ABOVE}")
    assert run.exit_code == 0, run.result["verdict"]
    lines = run.console.splitlines()
    assert f"echo: {RED_ABOVE}".encode() in lines
    assert not any(line.startswith(b"[echo") for line in lines)
    assert any(line.startswith(b"[bulkhead") for line in lines)


def test_all_others_move_no_cursor_and_leave_no_color(tmp_path: Path) -> None:
    run = answered(tmp_path, True, "echo: ^[[2Ared")
    assert run.exit_code == 0, run.result["verdict"]
    assert b"\x1b" not in run.console
    assert any(
        line.startswith(b"[echo") and line.endswith(b"echo: ^[[2Ared") for line in run.console.splitlines()
    )
