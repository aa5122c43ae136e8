# SPDX-License-Identifier: Apache-2.0
"""An unmodified Linux: two VCPUs, hotplug, reboot, power-off, typed input, a passed-through device.

Each system is booted once, and all commands are typed at its prompt; the tests check its answers.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import pytest

from bulkhead.run.console import HYPERVISOR

from .harness import EXAMPLES, STAYING, Run, Terminal, attached, said

pytestmark = [pytest.mark.emulator, pytest.mark.slow, pytest.mark.timeout(900)]

ONLINE = "/sys/devices/system/cpu/cpu1/online"


@dataclass(frozen=True)
class Session:
    """The shell's answers, by question, and the run."""

    answers: dict[str, str]
    run: Run


def _value(answer: str) -> str:
    """The one word that a command printed on a line of its own, between the kernel's messages."""
    found = re.findall(r"^[\w.:/,-]+$", answer, re.MULTILINE)
    return found[-1] if found else f"nothing in {answer!r}"


@pytest.fixture(scope="module")
def smp(tmp_path_factory: pytest.TempPathFactory) -> Session:
    """examples/linux-smp.yaml through hotplug, reboot and power-off."""
    directory = tmp_path_factory.mktemp("smp") / "run"
    answers: dict[str, str] = {}
    with attached(
        EXAMPLES / "linux-smp.yaml", directory, *STAYING, "--set", "expect.linux=stopped"
    ) as terminal:
        terminal.wait_for_prompt()
        for name, line in (
            ("processors", "nproc"),
            ("file", f"O={ONLINE}"),
            ("off", "echo 0 >$O; cat $O"),
            ("processors off", "nproc"),
            ("on", "echo 1 >$O; cat $O"),
            ("processors on", "nproc"),
            ("second works", "taskset 2 cut -d' ' -f39 /proc/self/stat"),
            ("long line", f"echo {'x' * 200}"),
            ("mark", "touch /mark; ls /mark"),
        ):
            answers[name] = _value(terminal.ask(line))
        terminal.type("reboot -f")
        answers["reboot"] = terminal.wait_for_prompt()
        answers["processors again"] = _value(terminal.ask("nproc"))
        answers["mark again"] = _value(terminal.ask("ls /mark || echo gone"))
        terminal.type("poweroff -f")
        run = terminal.wait_for_end()
    return Session(answers, run)


def test_linux_reaches_its_prompt_and_takes_input(smp: Session) -> None:
    assert smp.run.domain("linux")["prompt_ns"] > smp.run.domain("linux")["ready_ns"] > 0
    assert smp.answers["processors"] == "2"


def test_linux_takes_its_second_vcpu_off_and_on(smp: Session) -> None:
    """Linux uses PSCI CPU_OFF and CPU_ON."""
    answers = smp.answers
    assert (answers["off"], answers["processors off"]) == ("0", "1")
    assert (answers["on"], answers["processors on"]) == ("1", "2")
    assert answers["second works"] == "1"
    assert {vcpu["vcpu"] for vcpu in smp.run.domain("linux")["vcpus"]} == {0, 1}


def test_linux_reboots_into_a_clean_life(smp: Session) -> None:
    """PSCI SYSTEM_RESET: its images are loaded again, and no state of the earlier life is left."""
    assert "linux: restarts" in said(smp.run.console, HYPERVISOR)
    assert smp.answers["reboot"].count("bulkhead: ready") == 1
    assert smp.answers["processors again"] == "2"
    assert smp.answers["mark"] == "/mark"
    assert smp.answers["mark again"] == "gone"
    assert smp.run.domain("linux")["restarts"] == 1


def test_linux_powers_off(smp: Session) -> None:
    linux = smp.run.domain("linux")
    assert (linux["state"], linux["end"]) == ("stopped", "system_off")
    assert smp.run.result["ended"] == "shutdown"
    assert smp.run.exit_code == 0, smp.run.result["reasons"]


def test_c2_linux_is_mapped_lazily_unless_asked(smp: Session, passthrough: Session) -> None:
    assert smp.run.domain("linux")["exit_reasons"]["lazy_map"] > 1000
    assert "lazy_map" not in passthrough.run.domain("linux")["exit_reasons"], "`premap: all`"
    for session in (smp, passthrough):
        assert session.run.result["witnesses"]["tables"]["verdict"] == "held"


RTC_NODE = "/proc/device-tree/rtc@9010000"
WAKE_ALARM = "/sys/class/rtc/rtc0/wakealarm"


def _alarms(terminal: Terminal) -> int:
    """The number of the clock's interrupts in Linux."""
    shown = terminal.ask("grep rtc-pl031 /proc/interrupts")
    counts = re.search(r"\d+:((?: +\d+)+) +GICv3 +34 Level +rtc-pl031", shown)
    assert counts is not None, shown
    return sum(map(int, counts[1].split()))


@pytest.fixture(scope="module")
def passthrough(tmp_path_factory: pytest.TempPathFactory) -> Session:
    """examples/passthrough.yaml, premapped: Linux reads its clock and lets its alarm fire."""
    directory = tmp_path_factory.mktemp("passthrough") / "run"
    answers: dict[str, str] = {}
    with attached(
        EXAMPLES / "passthrough.yaml", directory, *STAYING, "--set", "isolation.premap=all"
    ) as terminal:
        terminal.wait_for_prompt()
        for name, line in (
            ("driver", "cut -d' ' -f1 /sys/class/rtc/rtc0/name"),
            ("compatible", f"tr '\\0' , <{RTC_NODE}/compatible; echo"),
            ("clock", "cat /sys/class/rtc/rtc0/since_epoch"),
            ("again", "sleep 2; cat /sys/class/rtc/rtc0/since_epoch"),
        ):
            answers[name] = _value(terminal.ask(line))
        answers["before"] = str(_alarms(terminal))
        terminal.ask(f"A={WAKE_ALARM}; echo +1 >$A")
        terminal.ask('rung() { [ -z "$(cat $A)" ]; }')  # it clears itself
        terminal.ask("for i in $(seq 30); do rung && break; sleep 1; done")
        answers["after"] = str(_alarms(terminal))
        run = terminal.leave()
    return Session(answers, run)


def test_linux_finds_the_device_that_it_was_given(passthrough: Session) -> None:
    assert passthrough.answers["compatible"] == "arm,pl031,arm,primecell,"
    assert passthrough.answers["driver"] == "rtc-pl031"


def test_linux_reads_the_registers_of_the_real_device(passthrough: Session) -> None:
    """The emulated clock shows the host's time, and advances."""
    first, second = int(passthrough.answers["clock"]), int(passthrough.answers["again"])
    assert first > 1_700_000_000
    assert first + 2 <= second <= first + 300


def test_the_devices_interrupt_reaches_linux(passthrough: Session) -> None:
    assert int(passthrough.answers["after"]) == int(passthrough.answers["before"]) + 1
    assert passthrough.run.domain("linux")["exit_reasons"]["irq_device"] == 1


def test_pass_through_breaks_no_promise(passthrough: Session) -> None:
    assert passthrough.run.exit_code == 0, passthrough.run.result["reasons"]
    assert passthrough.run.domain("control")["state"] == "running"


def test_linux_takes_a_line_that_is_longer_than_any_buffer_on_the_way(smp: Session) -> None:
    """Pasted text is longer than a FIFO, and than one read of the UART."""
    assert smp.answers["long line"] == "x" * 200
