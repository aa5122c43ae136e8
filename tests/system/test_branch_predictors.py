# SPDX-License-Identifier: Apache-2.0
"""EL2's measures on cores whose predictions a guest can influence: on the emulator's Cortex-A72, above
firmware that has the workarounds and counts its calls, and without; and that a Cortex-A53 makes no calls."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from bulkhead.run.emulator import EmulatedMachine

from .harness import EXAMPLES, MS, STAYING, Run, attached, boot
from .test_maintenance import board_with

pytestmark = [pytest.mark.emulator, pytest.mark.timeout(600)]

STEERED = "guests can train its predictors, and its firmware has no workaround"
CORES = 4


def calls(run: Run) -> tuple[int, int, int]:
    """Numbers of calls of firmware's workarounds 1, 2 and 3, as it reports them at the end."""
    found = re.search(rb"firmware: workarounds (\d+) (\d+) (\d+)", run.console)
    assert found is not None, run.console[-500:]
    first, second, third = (int(number) for number in found.groups())
    return first, second, third


def shared(directory: Path, cpu: str, way: str) -> Run:
    """Three domains on one core: examples/shared-core.yaml."""

    def alter(machine: EmulatedMachine) -> EmulatedMachine:
        return replace(machine, cpu=cpu)

    run = boot(EXAMPLES / "shared-core.yaml", directory, alter=alter, boot=way, icount=True, for_ns=200 * MS)
    assert run.result["verdict"] == "ok", run.result["reasons"]
    return run


def test_predictions_are_forgotten_at_each_entry_so_between_any_two_domains(tmp_path: Path) -> None:
    run = shared(tmp_path, "cortex-a72", "firmware")
    first, second, third = calls(run)
    assert first == 0, "the third does what the first one does"
    assert second == CORES, "once and for all"
    reasons = run.result["hypervisor"]["exit_reasons"]
    # Exits from a guest; interrupts while EL2 waited are not counted.
    from_guests = sum(reasons[name] for name in ("hvc", "wfx", "uart_access", "irq_overflow"))
    assert from_guests <= third <= sum(reasons.values())
    assert run.status is not None
    assert third > sum(core.switches for core in run.status.cores) > 200
    assert not any(STEERED in line for line in run.lines())


def test_a_core_that_needs_nothing_calls_nobody(tmp_path: Path) -> None:
    run = shared(tmp_path, "cortex-a53", "firmware")
    assert calls(run) == (0, 0, 0)
    assert not any(STEERED in line for line in run.lines())


def test_cores_that_nothing_helps_are_named(tmp_path: Path) -> None:
    run = shared(tmp_path, "cortex-a72", "elf")
    named = [line for line in run.lines() if STEERED in line]
    assert [line.split(":")[0] for line in named] == [f"core {core}" for core in range(CORES)]


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    ("cpu", "way", "branches", "loads"),
    [
        ("cortex-a53", "elf", "Not affected", "Not affected"),
        ("cortex-a72", "firmware", "Mitigation: Branch predictor hardening, BHB", "Not affected"),
        ("cortex-a72", "elf", "Vulnerable", "Vulnerable"),
    ],
)
def test_linux_finds_what_its_cores_need(
    tmp_path: Path, cpu: str, way: str, branches: str, loads: str
) -> None:
    """It uses the calling convention only: it sees neither EL3 nor EL2's measures."""
    board = f"platform={board_with(cpu, tmp_path)}"
    arguments = ("--set", board, "--set", "expect.linux=stopped", "--boot", way)
    with attached(EXAMPLES / "linux-smp.yaml", tmp_path / "run", *STAYING, *arguments) as terminal:
        terminal.wait_for_prompt()
        terminal.ask("V=/sys/devices/system/cpu/vulnerabilities")
        answers = [terminal.ask(f"cat $V/{name}") for name in ("spectre_v2", "spec_store_bypass")]
        log = terminal.ask("dmesg | grep -c 'CPU features: detected: Spectre'")
        terminal.type("poweroff -f")
        run = terminal.wait_for_end()
    assert answers == [branches, loads]
    assert (log != "0") == (cpu != "cortex-a53")
    assert run.exit_code == 0, run.result["reasons"]
    if way == "firmware":
        first, second, third = calls(run)
        assert (first, second) == (0, CORES)
        assert third > 5000
