# SPDX-License-Identifier: Apache-2.0
"""Running: every way in which a run can end is distinguished, and none leaves a process behind."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bulkhead.run import emulator, session
from bulkhead.run.console import ConsoleLine, ConsoleParser
from bulkhead.run.emulator import EmulatedMachine, RunningEmulator
from bulkhead.run.session import RunOutcome, SessionPlan, run_session

FAKE = Path(__file__).with_name("fake_qemu.py")
READY = "[control      0.500000] bulkhead: ready\r\n"


class Silent:
    def line(self, line: ConsoleLine) -> None: ...

    def raw(self, data: bytes) -> None: ...

    def tick(self, parser: ConsoleParser) -> None: ...


def machine(directory: Path, steps: list[object], **more: object) -> EmulatedMachine:
    scenario = directory / "scenario.json"
    scenario.write_text(json.dumps({"steps": steps, **more}))
    return EmulatedMachine(FAKE, "virt", "cortex-a53", 4, 1 << 30, scenario)


def run(
    directory: Path,
    steps: list[object],
    timeout_s: float | None = 20,
    gicv2: bool = False,
    registers: tuple[int, ...] = (),
    **more: object,
) -> RunOutcome:
    one = replace(machine(directory, steps, **more), gicv2=gicv2)
    plan = replace(plan_of(one, directory), timeout_s=timeout_s, registers=registers)
    return run_session(plan, Silent())


def plan_of(one: EmulatedMachine, directory: Path) -> SessionPlan:
    return SessionPlan(
        machine=one,
        directory=directory,
        domain_names=("control", "linux", "hog"),
        frames=(0x4000_0000, 0x4000_2000, 0x4100_0000),
        timeout_s=20,
        attach=False,
    )


def children() -> list[int]:
    text = Path(f"/proc/self/task/{threading.get_native_id()}/children").read_text()
    return [int(pid) for pid in text.split()]


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Most stand-ins have no hypervisor that could tell the time."""
    monkeypatch.setattr(session, "_ASK_LIMIT_S", 0.2)


@pytest.fixture(autouse=True)
def no_process_left() -> object:
    before = set(children())
    yield
    assert set(children()) <= before


def test_orderly_shutdown_reads_memory_and_console(tmp_path: Path) -> None:
    memory = {"0x40002000": "1122334455667788"}
    outcome = run(tmp_path, [["print", READY], ["shutdown", 0]], memory=memory)
    assert (outcome.how, outcome.qemu_version) == ("shutdown", "10.0.2")
    assert outcome.console is not None and outcome.console.domains["control"].ready_ns == 500_000_000
    assert outcome.image is not None
    frame = outcome.image.read_frame(0x4000_2000)
    assert frame is not None and int(frame[0]) == 0x8877_6655_4433_2211
    assert outcome.image.read_frame(0x4000_1000) is None  # between the frames, but not requested
    assert (tmp_path / "console.log").read_bytes() == READY.encode()
    assert not (tmp_path / "memory.tmp").exists()


def test_registers_are_read_at_the_end(tmp_path: Path) -> None:
    registers = {"9050020": "0d000000", "9050088": "cf010100"}
    outcome = run(tmp_path, [["shutdown", 0]], memory=registers, registers=(0x905_0020, 0x905_0088))
    assert outcome.registers == {0x905_0020: 0xD, 0x905_0088: 0x1_01CF}


def test_output_just_before_the_end_is_not_lost(tmp_path: Path) -> None:
    outcome = run(tmp_path, [["shutdown", 0], ["wait", 0.05], ["print", READY]])
    assert outcome.console is not None and outcome.console.domains["control"].ready_ns is not None


def test_bad_arguments_give_the_emulators_words(tmp_path: Path) -> None:
    outcome = run(tmp_path, [["bad-start", "qemu: unsupported machine type"]])
    assert outcome.how == "failed"
    assert "(code 1): qemu: unsupported machine type" in outcome.detail


def test_emulator_that_is_killed_at_its_start_is_said_to_be(tmp_path: Path) -> None:
    outcome = run(tmp_path, [["killed-at-start", 0]])
    assert outcome.how == "failed" and outcome.detail.endswith("(killed by signal 9)")


def test_missing_program_is_an_outcome(tmp_path: Path) -> None:
    plan = SessionPlan(
        EmulatedMachine(tmp_path / "none", "virt", None, 1, 1 << 30, tmp_path),
        tmp_path,
        (),
        (),
        5,
        attach=False,
    )
    outcome = run_session(plan, Silent())
    assert outcome.how == "failed" and "cannot start" in outcome.detail


@pytest.mark.parametrize(("step", "words"), [(["exit", 3], "code 3"), (["kill", 0], "killed by signal 9")])
def test_emulator_that_dies_is_an_outcome(tmp_path: Path, step: list[object], words: str) -> None:
    outcome = run(tmp_path, [["print", READY], ["wait", 0.1], step])
    assert outcome.how == "died" and words in outcome.detail
    assert outcome.console is not None and outcome.console.domains["control"].ready_ns is not None


def test_a_gicv2_is_made_to_look_at_its_inputs(tmp_path: Path) -> None:
    """It is the last shared interrupt of 192: the input after 32 private ones, counted from 0."""
    board = {"/machine": [{"name": "peripheral", "type": "container"}, {"name": "soc", "type": "child<x>"}]}
    board["/machine/soc"] = [{"name": "cpu", "type": "child<y>"}, {"name": "gic", "type": "child<arm_gic>"}]
    told = tmp_path / "told"
    steps = [["print", READY], ["wait", 0.5], ["shutdown", 0]]
    outcome = run(tmp_path, steps, gicv2=True, qom=board, told=str(told))
    assert outcome.how == "shutdown"
    orders = told.read_text().splitlines()
    order = "set_irq_in /machine/soc/gic unnamed-gpio-in 159"
    assert len(orders) >= 2 and set(orders[::2]) == {f"{order} 1"} and set(orders[1::2]) == {f"{order} 0"}


def test_a_board_may_pass_the_inputs_of_its_gicv2_to_another_device(tmp_path: Path) -> None:
    """As hw/arm/bcm2838.c does; an order to the controller itself would end the emulator."""
    board = {"/machine": [{"name": "soc", "type": "child<x>"}]}
    holder = {"name": "peripherals", "type": "child<bcm2838-peripherals>"}
    board["/machine/soc"] = [{"name": "gic", "type": "child<arm_gic>"}, holder]
    told = tmp_path / "told"
    run(
        tmp_path,
        [["print", READY], ["wait", 0.3], ["shutdown", 0]],
        gicv2=True,
        qom=board,
        told=str(told),
    )
    assert set(told.read_text().splitlines()) == {
        f"set_irq_in /machine/soc/peripherals unnamed-gpio-in 159 {level}" for level in (0, 1)
    }


def test_lines_that_the_model_leaves_open_are_connected_before_the_machine_starts(tmp_path: Path) -> None:
    wires = (("/machine/soc/gic/out[8]", "/machine/soc/cpu0/in[2]"), ("/machine/gic/out[9]", "/machine/b"))
    one = replace(
        machine(tmp_path, [["print", READY], ["shutdown", 0]], wired=str(tmp_path / "wired")), wires=wires
    )
    assert run_session(plan_of(one, tmp_path), Silent()).how == "shutdown"
    assert (tmp_path / "wired").read_text().splitlines() == [
        "/machine/soc/gic out[8] /machine/soc/cpu0/in[2] False",
        "/machine/gic out[9] /machine/b False",
    ]


def test_a_board_without_the_gicv2_that_it_should_have_is_said(tmp_path: Path) -> None:
    outcome = run(tmp_path, [["print", READY]], gicv2=True, told=str(tmp_path / "told"))
    assert outcome.how == "failed" and "no GICv2" in outcome.detail


def test_hang_is_ended_by_the_watchdog_and_memory_is_still_read(tmp_path: Path) -> None:
    outcome = run(tmp_path, [["print", READY]], timeout_s=0.5)
    assert outcome.how == "timeout" and outcome.image is not None


def test_deaf_emulator_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(emulator, "ANSWER_TIMEOUT_S", 0.5)
    outcome = run(tmp_path, [["deaf", 0], ["shutdown", 0]])
    assert outcome.how == "failed" and "did not answer `pmemsave`" in outcome.detail


@pytest.mark.parametrize("ticks", range(5))
def test_who_is_cancelled_as_an_answer_comes_ends(ticks: int, tmp_path: Path) -> None:
    """Otherwise a reader of a running machine would continue for ever, and the run would never end."""

    async def scenario() -> None:
        answer: asyncio.Future[object] = asyncio.get_running_loop().create_future()

        class Channel:
            async def execute(self, name: str, arguments: object) -> object:
                return await asyncio.shield(answer)

        nothing: Any = None
        channel: Any = Channel()
        emulator = RunningEmulator(nothing, nothing, nothing, channel, nothing, tmp_path / "log")

        async def look() -> None:
            while True:
                await emulator.command("look")
                await asyncio.sleep(0)

        looking = asyncio.ensure_future(look())
        await asyncio.sleep(0.01)
        answer.set_result(None)
        for _ in range(ticks):
            await asyncio.sleep(0)
        looking.cancel()
        done, _ = await asyncio.wait({looking}, timeout=1)
        assert looking in done
        assert looking.cancelled()

    asyncio.run(scenario())


def test_flood_is_taken_whole(tmp_path: Path) -> None:
    outcome = run(tmp_path, [["flood", 20000], ["shutdown", 0]], timeout_s=60)
    assert outcome.how == "shutdown"
    assert outcome.console is not None and outcome.console.domains["hog"].line_count == 20000
    assert (tmp_path / "console.log").stat().st_size == 20000 * (24 + 1000 + 2)


def send_to_run(tmp_path: Path, number: signal.Signals, *delays: float) -> None:
    """Sends the signal this long after the run began: earlier it would end the tests."""

    def send() -> None:
        end = time.monotonic() + 60
        while not (tmp_path / "console.log").exists() and time.monotonic() < end:
            time.sleep(0.02)
        for delay in delays:
            time.sleep(delay)
            os.kill(os.getpid(), number)

    threading.Thread(target=send, daemon=True).start()


def test_first_signal_ends_in_order(tmp_path: Path) -> None:
    send_to_run(tmp_path, signal.SIGTERM, 1.0)
    outcome = run(tmp_path, [["print", READY]])
    assert (outcome.how, outcome.detail) == ("interrupted", "by SIGTERM")
    assert outcome.image is not None


def test_the_time_at_the_end_is_the_hypervisors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The newest line does not matter: a system can be silent for long. A lost question is asked again."""
    monkeypatch.setattr(session, "_ASK_LIMIT_S", 20)
    monkeypatch.setattr(session, "_ASK_AGAIN_S", 0.1)
    send_to_run(tmp_path, signal.SIGTERM, 0.2)
    outcome = run(tmp_path, [["print", READY]], clock="45.250000", unheard=1)
    assert (outcome.how, outcome.told_ns) == ("interrupted", 45_250_000_000)
    outcome = run(tmp_path, [["print", READY]], timeout_s=0.5, clock="46.000001")
    assert (outcome.how, outcome.told_ns) == ("timeout", 46_000_001_000)


@pytest.mark.parametrize("last", [["kill", 0], ["wait", 60]], ids=["crash", "no hypervisor answers"])
def test_without_an_answer_the_hosts_clock_goes_on_from_the_last_line(
    tmp_path: Path, last: list[object]
) -> None:
    steps = [["print", READY], ["wait", 0.6], last]
    started = time.monotonic()
    outcome = run(tmp_path, steps, timeout_s=1.5)
    assert outcome.told_ns is None and outcome.host_ns is not None
    assert 500_000_000 + 550_000_000 < outcome.host_ns < 500_000_000 + (time.monotonic() - started) * 1e9


def test_counted_time_does_not_follow_the_host(tmp_path: Path) -> None:
    plan = SessionPlan(
        machine=replace(machine(tmp_path, [["print", READY], ["wait", 0.3], ["kill", 0]]), icount=True),
        directory=tmp_path,
        domain_names=("control",),
        frames=(),
        timeout_s=20,
        attach=False,
    )
    assert run_session(plan, Silent()).host_ns is None


def test_second_signal_ends_at_once(tmp_path: Path) -> None:
    send_to_run(tmp_path, signal.SIGINT, 1.0, 0.3)
    started = time.monotonic()
    outcome = run(tmp_path, [["deaf", 0]])
    assert outcome.how in ("failed", "interrupted") and time.monotonic() - started < 15


def test_emulator_dies_with_its_parent(tmp_path: Path) -> None:
    """A killed program cannot do this itself, so the kernel must."""
    machine(tmp_path, [["print", READY]])
    program = (
        "import sys; from pathlib import Path; sys.path.insert(0, sys.argv[2])\n"
        "from tests.run.test_session import run\n"
        "run(Path(sys.argv[1]), [['print', 'x'], ['wait', 60]], 60)\n"
    )
    root = Path(__file__).parents[2]
    parent = subprocess.Popen(
        [sys.executable, "-c", program, str(tmp_path), str(root)],
        env={**os.environ, "PYTHONPATH": str(root / "src")},
    )
    try:
        emulators: list[int] = []
        end = time.monotonic() + 20
        while not emulators and time.monotonic() < end:
            time.sleep(0.1)
            listing = Path(f"/proc/{parent.pid}/task/{parent.pid}/children").read_text().split()
            emulators = [int(p) for p in listing if b"fake_qemu" in Path(f"/proc/{p}/cmdline").read_bytes()]
        assert emulators
    finally:
        parent.kill()
        parent.wait()
    end = time.monotonic() + 5
    while _alive(emulators[0]) and time.monotonic() < end:
        time.sleep(0.05)
    assert not _alive(emulators[0])


def _alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().split(")")[1].split()[0] != "Z"
    except OSError:
        return False


def test_two_runs_at_once(tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; sys.path.insert(0, sys.argv[2])\n"
        "from tests.run.test_session import run, READY\n"
        "o = run(Path(sys.argv[1]), [['print', READY], ['wait', 0.5], ['shutdown', 0]])\n"
        "sys.exit(0 if o.how == 'shutdown' and o.image else 1)\n"
    )
    root = Path(__file__).parents[2]
    running = []
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        command = [sys.executable, "-c", program, str(tmp_path / name), str(root)]
        running.append(subprocess.Popen(command, env={**os.environ, "PYTHONPATH": str(root / "src")}))
    assert [process.wait(timeout=60) for process in running] == [0, 0]
