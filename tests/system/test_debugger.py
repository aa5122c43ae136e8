# SPDX-License-Identifier: Apache-2.0
"""`run --gdb`: the machine waits for a debugger, which sees the domain at its first instruction."""

from __future__ import annotations

import socket
import subprocess
import time
from pathlib import Path

import pytest

from .debugger import Debugger
from .harness import COMMAND, ENVIRONMENT, ROOT, domain, write_system

pytestmark = [pytest.mark.emulator, pytest.mark.timeout(600)]

FIRST_INSTRUCTION = 0x4008_0000
PATIENCE_S = 120.0


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def connected(port: int) -> socket.socket:
    """A connection to the stub, as soon as there is one."""
    end = time.monotonic() + PATIENCE_S
    while True:
        try:
            return socket.create_connection(("127.0.0.1", port), 5)
        except OSError:
            assert time.monotonic() < end, "nobody listens"
            time.sleep(0.1)


def test_d7_a_debugger_stops_at_the_first_instruction_of_its_domain(tmp_path: Path) -> None:
    port = free_port()
    one, other = domain("one", "hello", 1), domain("other", "hello", 2)
    path = write_system(tmp_path, one, other, expect={"one": "stopped", "other": "stopped"})
    place = tmp_path / "run"
    arguments = ["run", str(path), "--gdb", f"other:{port}", "--directory", str(place), "--no-page"]
    with subprocess.Popen(
        [*COMMAND, *arguments],
        cwd=ROOT,
        env=ENVIRONMENT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as run:
        try:
            with connected(port) as connection:
                debugger = Debugger(connection)
                assert debugger.stop_at(FIRST_INSTRUCTION, 3) == 3, "its core is the third thread"
                debugger.ask("D")
            said, _ = run.communicate(timeout=PATIENCE_S)
        finally:
            run.kill()
    assert run.returncode == 0, said
    assert f"the machine waits for a debugger: gdb-multiarch -x {place}/other.gdb" in said
    script = (place / "other.gdb").read_text()
    assert f"tbreak *{FIRST_INSTRUCTION:#x} if $_thread == 3" in script
    assert "guests/hello.elf" in script


@pytest.mark.parametrize(
    ("arguments", "code", "reason"),
    [
        (["--gdb", "nobody"], 1, "there is no domain 'nobody' (there are: one)"),
        (["--gdb", "one:none"], 2, "is not a port"),
        (["--gdb", "one", "--on", "machine"], 2, "only the emulator (--on qemu) can wait"),
    ],
)
def test_a_debugger_of_nobody_is_refused(
    arguments: list[str], code: int, reason: str, tmp_path: Path
) -> None:
    path = write_system(tmp_path, domain("one", "hello", 1))
    command = [*COMMAND, "run", str(path), "--directory", str(tmp_path / "run"), *arguments]
    done = subprocess.run(command, cwd=ROOT, env=ENVIRONMENT, capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stderr
    assert reason in " ".join((done.stdout + done.stderr).replace("│", " ").split())
