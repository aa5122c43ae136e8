# SPDX-License-Identifier: Apache-2.0
"""Systems of components on both emulated boards: budgets, jobs, and admitted values compared with the run
(X4, X9)."""

from __future__ import annotations

import struct
import zlib
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from bulkhead.microkernel.description import BYTES
from bulkhead.microkernel.elf32 import Elf32Chunk, read_program, write_image
from tests.command_line import invoked
from tests.mxu.components import BOARDS, boot, built, run, written

pytestmark = [pytest.mark.emulator, pytest.mark.req("X9")]
on_each_board = pytest.mark.parametrize("board", BOARDS)

RUN_NS = 40_000_000
RUN = ("--for", f"{RUN_NS} ns")
WORKER = """
static unsigned jobs;
void component_main(void)
{
    size_t bytes = 0;
    volatile unsigned char *samples = rt_memory("samples", &bytes);
    volatile unsigned char *kept = malloc(100);

    if (samples == 0 || kept == 0 || bytes != 16384 || rt_memory("nothing", 0) != 0) {
        rt_print("memory is not as described\\n");
        return;
    }
    for (;;) {
        rt_end_job();
        samples[jobs % 100u] = kept[jobs % 100u] = (unsigned char)jobs;
        if (++jobs == 5) {
            rt_print("report {\\"jobs\\": 5}\\n");
        }
    }
}
"""
HOG = "void component_main(void) { rt_end_job(); for (;;) { } }\n"
IDLER = "void component_main(void) { for (;;) { } }\n"
INTRUDER = 'void component_main(void) { *(volatile unsigned *)%#xu = 1; rt_print("came back\\n"); }\n'
SLOW, BUDGET_NS = "4 ms", 1_000_000


def system_of(directory: Path, board: str) -> Path:
    """A worker, one component that never ends its job, one that breaks out, and one that uses the remaining
    time."""
    places = {"mps2-an500": 0x20000000, "xilinx-zynq-a9": 0x00100000}  # the kernel's
    return written(
        directory,
        board,
        {
            "name": "worker",
            "code": WORKER,
            "period": "2 ms",
            "budget": "1 ms",
            "heap": "4 KiB",
            "memory": [{"name": "samples", "size": "16 KiB", "spec": ["deterministic", "independent"]}],
        },
        {"name": "hog", "code": HOG, "period": SLOW, "budget": f"{BUDGET_NS} ns"},
        {"name": "intruder", "code": INTRUDER % places[board], "expect": "killed"},
        {"name": "idler", "code": IDLER},
    )


@cache
def result_of(board: str, directory: Path) -> tuple[int, dict[str, Any]]:
    return run(system_of(directory, board), *RUN)


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return {board: tmp_path_factory.mktemp(board) for board in BOARDS}


@pytest.fixture(scope="module")
def results(places: dict[str, Path]) -> Any:
    return lambda board: result_of(board, places[board])


def named(result: dict[str, Any], name: str) -> dict[str, Any]:
    [found] = [one for one in result["components"] if one["name"] == name]
    return dict(found)


@on_each_board
def test_x9_a_system_runs_and_holds_what_was_admitted(board: str, results: Any) -> None:
    code, result = results(board)
    assert (code, result["verdict"], result["ended"], result["reasons"]) == (0, "ok", "end", [])
    worker = named(result, "worker")
    job = worker["job"]
    assert worker["report"] == {"jobs": 5}
    assert job["ended"] >= 15 and job["late"] == job["overruns"] == 0
    assert 0 < job["execution_most_ns"] <= job["response_most_ns"] < 1_000_000
    if board == "mps2-an500":
        assert job["most_refills"] <= job["misses_admitted"]
    else:
        assert job["misses_admitted"] is None and worker["refills"] == 0


@on_each_board
def test_x9_a_job_is_stopped_when_its_budget_is_spent(board: str, results: Any) -> None:
    _, result = results(board)
    hog, idler = named(result, "hog"), named(result, "idler")
    periods = RUN_NS // 4_000_000
    assert hog["job"]["overruns"] == 1 and hog["job"]["late"] >= 5
    # A budget in each period, with the time of a switch, and no more; the rest belongs to another component.
    assert 0.8 * BUDGET_NS < hog["busy_ns"] / periods < 1.2 * BUDGET_NS
    assert idler["busy_ns"] > RUN_NS // 3
    assert any("hog" in note and "budget" in note for note in result["notes"])
    assert "hog is stopped until its next release: the budget is spent" in result["console"]["scheduler"]


@on_each_board
def test_x9_a_violation_is_reported_and_can_be_what_is_expected(board: str, results: Any) -> None:
    _, result = results(board)
    intruder = named(result, "intruder")
    assert "violation: write to 0x" in intruder["violation"]
    assert "intruder" not in result["console"] or "came back" not in result["console"]["intruder"]


@on_each_board
def test_x9_the_console_says_who_and_when(board: str, results: Any) -> None:
    _, result = results(board)
    assert any(line.startswith("intruder killed: ") for line in result["console"]["kernel"])
    assert result["guest_ns"] >= RUN_NS


def test_x9_a_page_compares_runs(places: dict[str, Path], results: Any, tmp_path: Path) -> None:
    for board in BOARDS:
        results(board)
    page = tmp_path / "page.html"
    done = invoked("report", *(places[board] / "run" for board in BOARDS), "-o", page)
    assert done.exit_code == 0, done.output
    text = page.read_text()
    assert "samples" in text and "static region" in text and "locked TLB entry" in text
    assert "intruder: " in text and "killed: violation" in text
    assert "no job had more refills than were admitted" in done.output


def test_x9_on_the_machine_the_same_code_has_times_and_every_run_is_the_same(tmp_path: Path) -> None:
    memory = [{"name": "samples", "size": "16 KiB", "spec": "deterministic"}]
    worker = {"name": "worker", "code": WORKER, "period": "1 ms", "budget": "200 us", "heap": "4 KiB"}
    path = written(tmp_path, "stm32f767", {**worker, "memory": memory}, {"name": "idler", "code": IDLER})
    runs = [run(path, "--on", "machine", "--for", "10 ms") for _ in range(2)]
    assert [code for code, _ in runs] == [0, 0], [result["reasons"] for _, result in runs]
    first, second = (result for _, result in runs)
    assert first["digest"] == second["digest"] and first["simulated_ns"] > 10_000_000
    job = named(first, "worker")["job"]
    assert job == named(second, "worker")["job"]
    assert 0 < job["execution_most_ns"] <= job["response_most_ns"] < 200_000
    assert job["most_refills"] <= job["misses_admitted"]
    assert first["mpu"]["misses"] >= named(first, "worker")["refills"] > 0


LIAR = """
void component_main(void)
{
    volatile unsigned char *a = rt_memory("a", 0), *b = rt_memory("b", 0), *c = rt_memory("c", 0);

    for (;;) {
        rt_end_job();
        for (int i = 0; i < 9; i++) {
            a[i] = b[i] = c[i] = 1;
        }
    }
}
"""


def test_x9_more_refills_than_were_admitted_break_a_promise(tmp_path: Path) -> None:
    memory = [{"name": name, "size": "4 KiB"} for name in "abc"]
    liar = {"name": "liar", "code": LIAR, "period": "4 ms", "memory": memory}
    path = written(
        tmp_path,
        "mps2-an500",
        {**liar, "phases": [{"ranges": ["a"]}]},
        {"name": "victim", "code": INTRUDER % 0x20000000},
        hardware={"system_regions": 5},
    )
    code, result = run(path, "--for", "20 ms")
    assert code == 1 and result["verdict"] == "failed"
    broken, killed = sorted(result["reasons"], reverse=True)
    admitted = named(result, "liar")["job"]["misses_admitted"]
    assert broken.startswith("promise broken: a job of 'liar' had ") and broken.endswith(
        f", but only {admitted} were admitted"
    )
    assert killed.startswith("component 'victim' was killed: violation: ")


def changed(directory: Path, offset: int, value: bytes, *, sealed: bool) -> Any:
    """Boots a valid image with bytes of its description changed."""
    image = built(system_of(directory, "mps2-an500"), run_ns=10_000_000)
    program = read_program(image.elf)
    [description] = [one for one in program.chunks if len(one.data) == BYTES]
    content = bytearray(description.data)
    content[offset : offset + len(value)] = value
    if sealed:
        struct.pack_into("<I", content, 12, zlib.crc32(content[16:]))
    others = [one for one in program.chunks if one is not description]
    return boot(
        image, directory, write_image(program.entry, [*others, Elf32Chunk(description.at, bytes(content))])
    )


COMPONENT_AT, MEMORY_AT = 80, 80 + 10 * 48


def test_x9_a_damaged_image_does_not_start(tmp_path: Path) -> None:
    found = changed(tmp_path, COMPONENT_AT + 2 * 48, b"X", sealed=False)
    assert found.ending.how == "halted"
    assert "kernel: the system's description is damaged: its CRC is wrong" in found.untagged


def test_x9_a_difference_from_what_was_admitted_is_reported_and_ends_the_boot(tmp_path: Path) -> None:
    found = changed(tmp_path, MEMORY_AT + 32, struct.pack("<I", 0x20123400), sealed=True)
    said = found.lines["manager"]
    assert any(
        line.startswith("worker.samples gets 0x") and "admitted was 0x20123400" in line for line in said
    )
    assert "no start: the system's memory is not as it was admitted" in said
    assert found.lines["kernel"][-1] == "halted"


@pytest.mark.parametrize("option", ["--observe", "--solo", "--miscolor=x"])
def test_x9_options_of_domains_are_wrong_usage(option: str, tmp_path: Path) -> None:
    more = ("--on", "machine") if option == "--solo" else ()
    assert invoked("run", system_of(tmp_path, "mps2-an500"), option, *more).exit_code == 2
