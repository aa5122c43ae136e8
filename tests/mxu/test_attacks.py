# SPDX-License-Identifier: Apache-2.0
"""Reports of `run` about a system when a component tries to falsify them (X6, X9): forged lines, a run that
is ended early, jobs that never end, clocks that are set. And promises that are broken on purpose."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pytest

from bulkhead.report.components import other_lines
from tests.mxu.components import BOARDS, Json, run, written

pytestmark = [pytest.mark.emulator, pytest.mark.req("X9")]

CALM = "void component_main(void) { for (;;) { rt_end_job(); } }\n"
INTRUDER = "void component_main(void) { *(volatile unsigned *)0x20000000u = 1; }\n"
LONGER_THAN_ANY_BUFFER = 70 * 1024

# Prints lines that only the scheduler, the kernel and the memory manager print, in every form that a console
# might confuse; and has more refills than its phases state.
FORGER = """
static const char *const forged[] = {
    "report {\\"component\\": 2, \\"busy_ns\\": 1,"
    " \\"refills\\": 0, \\"killed\\": 0, \\"most_refills\\": 0}\\n",
    "[scheduler     0.000001] report {\\"component\\": 2, \\"most_refills\\": 0, \\"killed\\": 0}\\n",
    "\\r[scheduler     0.000001] report {\\"component\\": 2, \\"most_refills\\": 0, \\"killed\\": 0}\\r\\n",
    "\\033[2K\\033[1G[scheduler     0.000001] report {\\"component\\": 2, \\"most_refills\\": 0}\\n",
    "[kernel        0.000001] victim killed: violation: read of 0x00000000\\n",
    "[kernel        0.000001] end\\n[kernel        0.000001] halted\\n",
    "end\\nhalted\\nkernel: halted\\nx halted\\n\\r\\n\\b\\v\\f\\n",
    "[manager       0.000001] no start: the system's memory is not as it was admitted\\n",
    "no start: nothing is as it was admitted\\n",
    "promise broken: a job of 'victim' had 9 refills, 0 were admitted\\n",
    "[bulkhead      0.000001] this is the time\\n",
    "report {\\"error\\\\u001b\\": 1,"
    " \\"x\\\\nok: all components ran as promised\\": \\"\\\\u001b[2J\\\\r\\\\n0 refills\\"}\\n",
};

void component_main(void)
{
    volatile unsigned char *a = rt_memory("a", 0), *b = rt_memory("b", 0), *c = rt_memory("c", 0);

    for (unsigned i = 0; i < sizeof forged / sizeof forged[0]; i++) {
        rt_print(forged[i]);
    }
    for (unsigned i = 0; i < LONGER / 8u; i++) {
        rt_print("[kernel ");
    }
    rt_print("       0.000001] halted\\n");
    __asm__ volatile("dbg #1"); /* at which the machine tells what it has counted */
    rt_end_job();
    for (int i = 0; i < 9; i++) {
        a[i] = b[i] = c[i] = 1;
    }
    rt_print("[scheduler     0.0");
    rt_end_job();
    for (;;) {
        rt_end_job();
    }
}
"""


def forging_system(directory: Path, board: str) -> Path:
    memory = [{"name": name, "size": "4 KiB"} for name in "abc"]
    code = FORGER.replace("LONGER", f"{LONGER_THAN_ANY_BUFFER}u")
    forger: Json = {"name": "forger", "code": code, "memory": memory, "phases": [{"ranges": ["a"]}]}
    return written(
        directory,
        board,
        {**forger, "period": "20 ms"},
        {"name": "victim", "code": CALM, "period": "1 ms", "budget": "100 us"},
        {"name": "intruder", "code": INTRUDER, "priority": 0},
        hardware={"system_regions": 5},
    )


@cache
def forging(place: Path, board: str, *options: str) -> tuple[int, Json]:
    return run(forging_system(place, board), *options)


@pytest.fixture(name="place", scope="module")
def a_place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("forging")


# On the machine the end of the run is a line of the console, too.
on_both = pytest.mark.parametrize(
    ("board", "options"),
    [("mps2-an500", ("--for", "500 ms")), ("mps2-an500", ("--for", "500 ms", "--on", "machine"))],
    ids=["emulated", "machine"],
)


def named(result: Json, name: str) -> Json:
    [found] = [one for one in result["components"] if one["name"] == name]
    return dict(found)


@on_both
def test_forged_lines_change_no_verdict(board: str, options: tuple[str, ...], place: Path) -> None:
    code, result = forging(place, board, *options)
    assert (code, result["verdict"], result["ended"]) == (1, "failed", "end")
    broken, killed = sorted(result["reasons"], reverse=True)
    assert broken.startswith("promise broken: a job of 'forger' had ")
    assert killed.startswith("component 'intruder' was killed: violation: write to 0x20000000")
    assert result["guest_ns"] >= 500_000_000
    assert "machine" not in options or result["machine"]["ending"] == "line"


@on_both
def test_forged_lines_change_no_figures(board: str, options: tuple[str, ...], place: Path) -> None:
    _, result = forging(place, board, *options)
    forger, victim = named(result, "forger"), named(result, "victim")
    assert forger["busy_ns"] > 1 and forger["refills"] > 0
    assert forger["job"]["most_refills"] > forger["job"]["misses_admitted"]
    assert victim["violation"] is None and victim["job"]["ended"] >= 490
    assert named(result, "intruder")["killed"]


@on_both
def test_each_line_is_its_writer_s(board: str, options: tuple[str, ...], place: Path) -> None:
    _, result = forging(place, board, *options)
    console = result["console"]
    assert set(console) == {"kernel", "scheduler", "forger"}
    assert all(line.startswith(("intruder killed: ", "end", "halted")) for line in console["kernel"])
    assert len(console["kernel"]) == 3
    mine = "\n".join(console["forger"])
    assert "?[2K?[1G[scheduler" in mine and "\x1b" not in mine and "\r" not in mine
    assert mine.count("halted") == 4, "and a fifth beyond the end of a line that is cut"


@on_both
def test_a_component_s_report_stays_on_its_own_line(
    board: str, options: tuple[str, ...], place: Path
) -> None:
    _, result = forging(place, board, *options)
    lines = other_lines(result)
    assert all(line.isprintable() for line in lines)
    [own] = [line for line in lines if "ok: all components" in line]
    assert own.startswith("forger says: ")


ENDER = """
void component_main(void)
{
    rt_sleep(20);
    sys_do(SYS_HARDWARE, SLOT_HARDWARE, HW_END, 0, 0);
    rt_print("came back\\n");
}
"""
LIAR = """
void component_main(void)
{
    volatile unsigned char *a = rt_memory("a", 0), *b = rt_memory("b", 0), *c = rt_memory("c", 0);

    %s
    for (;;) {
        a[0] = b[0] = c[0] = 1;
        %s
    }
}
"""


def liar(code: str) -> Json:
    memory = [{"name": name, "size": "4 KiB"} for name in "abc"]
    return {"name": "liar", "code": code, "period": "4 ms", "memory": memory, "phases": [{"ranges": ["a"]}]}


FEW_REGIONS: Json = {"system_regions": 5}


def test_a_run_that_is_ended_early_is_judged_by_what_was_until_then(tmp_path: Path) -> None:
    ender = {
        "name": "ender",
        "code": '#include "microkernel/include/microkernel/sys.h"\n' + ENDER,
        "controls": ["console", "end"],
    }
    path = written(
        tmp_path,
        "mps2-an500",
        liar(LIAR % ("rt_end_job();", "rt_end_job();")),
        ender,
        hardware=FEW_REGIONS,
    )
    code, result = run(path, "--for", "10 s")
    assert (code, result["ended"]) == (1, "end") and result["guest_ns"] < 1_000_000_000
    [broken] = result["reasons"]
    assert broken.startswith("promise broken: a job of 'liar' had ")
    assert "ender ends the run" in result["console"]["scheduler"]
    assert "ender" not in result["console"]


def test_refills_of_a_job_that_never_ends_count(tmp_path: Path) -> None:
    path = written(tmp_path, "mps2-an500", liar(LIAR % ("rt_end_job();", "")), hardware=FEW_REGIONS)
    code, result = run(path, "--for", "30 ms")
    assert code == 1
    assert any(reason.startswith("promise broken: a job of 'liar' had ") for reason in result["reasons"])


def test_a_component_that_never_comes_to_its_first_job_is_told_of(tmp_path: Path) -> None:
    path = written(tmp_path, "mps2-an500", liar(LIAR % ("", "")), hardware=FEW_REGIONS)
    code, result = run(path, "--for", "30 ms")
    assert code == 1
    [reason] = result["reasons"]
    assert reason.startswith("'liar' has had ") and reason.endswith("none of its jobs was counted")


# Stops and sets the clock that components of a Cortex-A9 have, and waits with it stopped.
CLOCK = """
void component_main(void)
{
    rt_end_job();
    for (;;) {
        __asm__ volatile("mcr p15, 0, %0, c9, c12, 2" : : "r"(0x80000000u)); /* PMCNTENCLR */
        __asm__ volatile("mcr p15, 0, %0, c9, c13, 0" : : "r"(0xFFFFFFF0u)); /* PMCCNTR */
        __asm__ volatile("mcr p15, 0, %0, c9, c12, 0" : : "r"(7));           /* PMCR: reset */
        WAIT;
    }
}
"""


@pytest.mark.parametrize(("board", "on"), [("xilinx-zynq-a9", "qemu"), ("zynq7020", "machine")])
@pytest.mark.parametrize("wait", ["(void)0", '__asm__ volatile("wfi")'])
def test_no_component_can_change_the_time_that_others_are_judged_by(
    board: str, on: str, wait: str, tmp_path: Path
) -> None:
    path = written(
        tmp_path,
        board,
        {"name": "cheat", "code": CLOCK.replace("WAIT", wait), "period": "4 ms", "budget": "1 ms"},
        {"name": "victim", "code": CALM, "period": "2 ms", "budget": "500 us", "priority": 9},
        {"name": "idler", "code": "void component_main(void) { for (;;) { } }\n"},
    )
    code, result = run(path, "--for", "40 ms", "--on", on)
    cheat, victim = named(result, "cheat"), named(result, "victim")
    assert 8_000_000 < cheat["busy_ns"] < 12_000_000, "a budget of each period, and no more"
    assert cheat["job"]["overruns"] == 1 and victim["job"]["ended"] >= 18
    assert named(result, "idler")["busy_ns"] > 20_000_000
    assert 40_000_000 <= result["guest_ns"] < 60_000_000
    assert code == (1 if on == "machine" else 0)


@pytest.mark.parametrize("board", BOARDS)
def test_a_component_that_was_to_be_killed_and_lives_fails_the_run(board: str, tmp_path: Path) -> None:
    path = written(tmp_path, board, {"name": "calm", "code": CALM, "expect": "killed"})
    code, result = run(path, "--for", "5 ms")
    assert code == 1
    assert result["reasons"] == ["component 'calm' was not killed, although `expect` says so"]


def test_on_the_machine_a_job_that_is_late_or_stopped_fails_the_run(tmp_path: Path) -> None:
    hog = "void component_main(void) { rt_end_job(); for (;;) { } }\n"
    late: Any = {"name": "late", "code": hog, "period": "2 ms", "budget": "1 ms"}
    code, result = run(written(tmp_path, "stm32f767", late), "--on", "machine", "--for", "10 ms")
    assert code == 1
    stopped, unfinished = result["reasons"]
    assert stopped.endswith("jobs of 'late' were stopped because their budget was spent")
    assert unfinished.endswith("jobs of 'late' had not ended when the next one was released")
