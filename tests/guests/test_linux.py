# SPDX-License-Identifier: Apache-2.0
"""Debian's kernel with the project's initrd reaches a usable shell on the bare emulator."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pexpect
import pytest

from bulkhead.env import linux
from bulkhead.images.initrd import make_initrd

pytestmark = [pytest.mark.emulator]

PROMPT = "~ # "
LONGEST_BOOT_S = 60
Boot = Callable[[int], "pexpect.spawn[str]"]


def _file(variable: str, fetch: Callable[[], Path]) -> Path:
    given = os.environ.get(variable)
    return Path(given) if given else fetch()


@pytest.fixture
def boot(emulator: str, tmp_path: Path) -> Iterator[Boot]:
    """`boot(cpus)`: the console of a Linux guest that was just started.

    `BULKHEAD_LINUX_KERNEL` and `BULKHEAD_BUSYBOX` name files to use instead of the cached downloads.
    """
    consoles: list[pexpect.spawn[str]] = []

    def start(cpus: int) -> "pexpect.spawn[str]":
        kernel = _file("BULKHEAD_LINUX_KERNEL", linux.linux_kernel)
        busybox = _file("BULKHEAD_BUSYBOX", linux.busybox)
        init = Path(__file__).parents[2] / "guests" / "linux" / "init"
        initrd = tmp_path / "initrd"
        initrd.write_bytes(
            make_initrd(busybox.read_bytes(), init.read_text(), {"/etc/motd": b"from extra\n"})
        )
        machine = ["-M", "virt,gic-version=3", "-cpu", "cortex-a53", "-m", "256M", "-smp", str(cpus)]
        machine += ["-nographic", "-nic", "none", "-no-reboot"]
        image = ["-kernel", str(kernel), "-initrd", str(initrd), "-append", "console=ttyAMA0 quiet"]
        console = pexpect.spawn(emulator, [*machine, *image], timeout=LONGEST_BOOT_S, encoding="utf-8")
        console.delaybeforesend = 0.3  # a shell that has just printed its prompt does not read keys yet
        consoles.append(console)
        return console

    yield start
    for console in consoles:
        console.close(force=True)


def _ask(console: "pexpect.spawn[str]", command: str) -> str:
    console.sendline(command)
    console.expect_exact(PROMPT)
    answer: str = console.before or ""
    return answer


@pytest.mark.parametrize("cpus", [1, 2])
def test_linux_reaches_its_prompt_and_powers_off(boot: Boot, cpus: int) -> None:
    console = boot(cpus)
    console.expect_exact("bulkhead: ready")
    console.expect_exact(PROMPT)
    assert f"\n{cpus}\r" in _ask(console, "nproc")
    assert "from extra" in _ask(console, "cat /etc/motd")
    console.sendline("poweroff")
    console.expect(pexpect.EOF)


def test_linux_shell_has_job_control_and_comes_back(boot: Boot) -> None:
    console = boot(1)
    console.expect_exact(PROMPT)
    for key, outcome in (("\x1a", "Stopped"), ("\x03", "no job")):  # Ctrl-Z, Ctrl-C
        console.sendline("(echo be''gun; sleep 1000)")
        console.expect_exact("begun")  # of its output, not of the echoed line: the job now has the terminal
        console.send(key)
        console.expect_exact(PROMPT)
        assert outcome in _ask(console, "jobs | grep Stopped || echo no job")
        _ask(console, "kill -9 %1")
    _ask(console, "exit")
    assert "again" in _ask(console, "echo again")
    console.sendline("reboot")
    console.expect(pexpect.EOF)
