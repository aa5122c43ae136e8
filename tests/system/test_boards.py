# SPDX-License-Identifier: Apache-2.0
"""The boards besides the one that all other tests use: GICv2 on the emulator's `virt`, the ZCU102, the
i.MX 8M Plus and the Raspberry Pi 4.

A guest needs the same of its interrupt controller on each board: timers, interrupts between VCPUs, a device's
own line. Each is tested by a guest that cannot work without it.
"""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import pytest

from bulkhead.run.samples import read_samples

from .harness import EXAMPLES, MS, ROOT, STAYING, Run, attached, boot, command, control, domain, write_system

pytestmark = pytest.mark.emulator


@pytest.mark.parametrize("platform", ["qemu-virt-gicv2", "zcu102", "imx8mp", "rpi4"])
def test_bare_metal_domains_run_with_their_timers_and_cores(platform: str, tmp_path: Path) -> None:
    """The task reports only if its timer interrupts; the hog's second core must start; hello ends."""
    hog = domain("hog", "hog", 2, params={"rest_us": 1000}) | {"cpus": [2, 3]}
    hello = domain("hello", "hello", 1)
    expect = {"hello": "stopped"}
    system = write_system(tmp_path, control(), hello, hog, platform=platform, expect=expect)
    run = boot(system, tmp_path / "run", icount=True, for_ns=200 * MS)
    assert run.result["verdict"] == "ok", run.result["reasons"]
    assert [line for line in run.lines("control") if "period" in line or "jitter" in line], run.lines(
        "control"
    )
    assert any("hello: 1 cpus" in line for line in run.lines("hello"))
    assert run.domain("hello")["state"] == "stopped"
    assert run.result["hypervisor"]["exit_reasons"]["irq_timer"] > 100
    assert run.result["witnesses"]["tables"]["verdict"] == "held"
    if platform != "imx8mp":
        checked = run.result["witnesses"]["tables"]["device_frames_checked"]
        assert checked >= 3 * 2, "GICV, two pages a domain"


@pytest.mark.parametrize("platform", ["qemu-virt", "qemu-virt-gicv2", "zcu102", "rpi4"])
def test_a_timer_that_expires_before_its_interrupt_has_ended_interrupts_again(
    platform: str, tmp_path: Path
) -> None:
    """The machine does nothing else. QEMU's GICv2 loses such a timer, and is made to check again
    (run/nudge.py)."""
    system = write_system(
        tmp_path, domain("again", "again", 1), platform=platform, expect={"again": "stopped"}
    )
    run = boot(system, tmp_path / "run", timeout_s=60)
    assert run.result["verdict"] == "ok", run.result["reasons"]
    assert run.result["hypervisor"]["exit_reasons"]["irq_timer"] >= 10
    assert any(line.startswith("report ") for line in run.lines("again"))


def test_the_zcu102_example_keeps_every_promise_with_both_witnesses(tmp_path: Path) -> None:
    run = command(EXAMPLES / "zcu102.yaml", tmp_path / "run", "--for", "2s", "--observe")
    assert run.exit_code == 0, run.result["reasons"]
    verdicts = {name: witness["verdict"] for name, witness in run.result["witnesses"].items()}
    assert verdicts == {"observer": "held", "tables": "held"}


def test_b8_samples_are_in_on_chip_memory_of_the_zcu102(tmp_path: Path) -> None:
    """The emulator limits this test: instructions stand in for memory events, and it does not connect the
    overflow's interrupt, so periods end by the timer alone and the budget is larger than a period."""
    text = (ROOT / "platforms" / "zcu102.yaml").read_text()
    counted = text.replace('emulator: { machine: "', 'emulator: { event: { name: INST_RETIRED }, machine: "')
    assert counted != text
    (tmp_path / "zcu102.yaml").write_text(counted)
    system = write_system(
        tmp_path,
        domain("hog", "hog", 1, bandwidth={"events": 10**8, "period": "1 ms"}),
        platform="./zcu102.yaml",
        run={"icount": True},
        isolation={"llc": "none", "banks": "none"},
        regulation={"overcommit": True},
    )
    run = command(system, tmp_path / "run", "--for", "300ms")
    assert run.exit_code == 0, run.result["reasons"]
    assert run.result["hypervisor"]["samples_in"] == "on-chip memory"
    assert run.result["witnesses"]["tables"]["verdict"] == "held"
    recorded = read_samples(tmp_path / "run")
    assert len(recorded["samples"]) + recorded["dropped"].get("1", 0) >= 298
    assert all(sample.events > 10_000 for sample in recorded["samples"][1:])
    gaps = [b.time - a.time for a, b in pairwise(recorded["samples"])]
    assert sorted(gaps)[len(gaps) // 2] == pytest.approx(62_500, rel=0.001), "1 ms of the emulator's counter"


def _linux(example: str, directory: Path) -> tuple[list[str], Run]:
    """Answers at Linux's prompt, where input comes by its UART's interrupt, and the run."""
    with attached(EXAMPLES / example, directory, *STAYING) as terminal:
        terminal.wait_for_prompt()
        questions = (
            "nproc",
            "grep -c -e GIC-0 -e GICv3 /proc/interrupts",
            "grep uart-pl011 /proc/interrupts",
            "grep Rescheduling /proc/interrupts",
        )
        answers = [terminal.ask(question) for question in questions]
        return answers, terminal.leave()


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    ("example", "uart"),
    [
        ("zcu102-linux.yaml", 53),
        ("imx8mp-linux.yaml", 59),
        ("rpi4-linux.yaml", 153),  # the same devices as qemu-virt-gicv2, at other addresses
    ],
)
def test_linux_boots_on_two_cores_and_is_typed_to(example: str, uart: int, tmp_path: Path) -> None:
    (processors, controller, console, between), run = _linux(example, tmp_path / "run")
    assert processors == "2"
    assert controller != "0", "Linux calls a GICv2 beneath EL1 so, and a GICv3"
    assert f" {uart} Level" in console, "the virtual PL011 has the interrupt of the board's UART"
    assert "IPI0" in between
    assert run.exit_code == 0, run.result["reasons"]
    assert run.domain("linux")["state"] == "running"


def test_first_light_is_as_the_page_of_bringing_up_a_board_shows_it(tmp_path: Path) -> None:
    """The first lines of the console without their times, and the refusals that the page explains."""
    page = (ROOT / "docs" / "guide" / "bring-up.md").read_text()
    shown = re.findall(r"^\[(\w+) +[\d.]+\] (.*)$", page.split("```")[1], re.MULTILINE)
    run = command(EXAMPLES / "imx8mp.yaml", tmp_path / "run", "--for", "1s")
    assert run.result["verdict"] == "ok", run.result["reasons"]
    printed = re.findall(r"^\[(\w+) +[\d.]+\] (.*?)\r?$", run.console.decode(), re.MULTILINE)
    assert len(shown) == 5 and shown == printed[:5]
    said = (ROOT / "hypervisor" / "boot" / "refuse.c").read_text()
    reasons = re.findall(r'^    "([a-z ]+)",$', said, re.MULTILINE)
    refused = set(re.findall(r"`refused: ([a-z ]+?)(?: \(error|`)", page))
    assert {"board memory", "core missing", "counter missing", "hardware"} == refused <= set(reasons)
    assert f"board memory (error {reasons.index('board memory')})" in page
