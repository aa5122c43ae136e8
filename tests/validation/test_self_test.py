# SPDX-License-Identifier: Apache-2.0
"""`bulkhead self-test`: reads a board's figures from a console log, or says what is wrong with it. Relates
them to the platform file."""

from __future__ import annotations

from pathlib import Path

import pytest

from bulkhead.config.load import load_named, load_platform
from bulkhead.config.locate import platform_path
from bulkhead.config.platform import Platform
from bulkhead.config.source import read_file
from bulkhead.validation.self_test import BlockRead, FlowSelfTest, SelfTest, read_log
from bulkhead.validation.self_test_figures import MeasuredFigure, figures_of, levels_of
from bulkhead.validation.self_test_flow_figures import flow_figures_of
from bulkhead.validation.self_test_levels import rate_within, three_levels_of
from bulkhead.validation.self_test_lines import NotForThisFile, lines_for
from tests.command_line import invoked, run_json

from .self_test_text import (
    BUDGETS,
    FIRST,
    FLOWS,
    KIB,
    LAST,
    LAST_NS,
    MEMORY_NS,
    SIZES,
    TEXT,
    UTILIZATION,
    console,
    curve,
)

BOARD = "zcu102"


def write(directory: Path, text: str) -> Path:
    path = directory / "console.log"
    path.write_text(text, newline="")
    return path


def read(directory: Path, text: str) -> SelfTest:
    test, problems = read_log(write(directory, text))
    assert isinstance(test, SelfTest), problems
    return test


def platform() -> tuple[Path, Platform]:
    path, found, _ = load_named(BOARD)
    assert path is not None and found is not None
    return path, found


def figures(directory: Path, text: str = TEXT) -> list[MeasuredFigure]:
    return figures_of(read(directory, console(text)), platform()[1])


def test_a_log_with_tags_and_other_output_is_read(tmp_path: Path) -> None:
    test = read(tmp_path, console())
    assert test.cores.frequency == 1_199_976_000
    assert [one.mb_s for one in test.rates] == [2000.5, 1000.0]
    assert test.rate("same-bank writes", 4) == 955.7
    assert test.paths.hypervisor_call.max == 2400


def test_a_log_without_tags_is_read(tmp_path: Path) -> None:
    plain = f"# self-test: begin\n{TEXT}# self-test: end\n"
    assert read(tmp_path, f"login:\n{plain}\n") == read(tmp_path, console())


def test_the_last_self_test_of_a_log_counts(tmp_path: Path) -> None:
    other = TEXT.replace("count: 4\n", "count: 5\n")
    assert read(tmp_path, console() + console(other)).cores.count == 5


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("", "no line is '# self-test: begin'"),
        (TEXT, "no line is '# self-test: begin'"),
        (console(end=False), "no line after '# self-test: begin' is '# self-test: end'"),
        (console() + console(end=False), "no line after '# self-test: begin' is '# self-test: end'"),
    ],
)
def test_a_log_without_a_complete_self_test_is_refused(tmp_path: Path, text: str, cause: str) -> None:
    test, problems = read_log(write(tmp_path, text))
    assert test is None
    assert cause in problems[0].text()


DAMAGED = [
    ("self_test: 1", "self_test: 2", "self_test"),
    ("count: 4\n", "count: 0\n", "cores.count"),
    ("count: 4\n", "count: 1\n", "a pattern has more busy cores than there are"),
    ("count: 4\n", "count: four\n", "cores.count"),
    ("  count: 4\n", "", "cores.count"),
    ("100000000 Hz", "100000000", "timers.frequency"),
    ("100000000 Hz", "-1 Hz", "timers.frequency"),
    ("100000000 Hz", "1e400 Hz", "timers.frequency"),
    ("size: 8 KiB", "size: 4 KiB", "sizes are not in ascending order"),
    ("ns: 2.5", "ns: .nan", "hit.ns"),
    ("ns: 2.5", "ns: 9999999999", "hit.ns"),
    ("pattern: same-bank reads, cores: 4", "pattern: same-bank writes, cores: 4", "occurs twice"),
    ("same-bank reads", "some-bank reads", "pattern"),
    ("min: 900 ns", "min: 995 ns", "not between min and max"),
    ("counted: 1000", "counted: -1", "counted"),
    ("lines: 1000", "lines: 0", "lines"),
    ("rates:", "rates: &all", "rates"),
    ("rates:", "rates:\n  - [", "rates[0]"),
    ("delays:", "\x1b[2Jdelays:", "console.log"),
    ("delays:", "late:", "late"),
]


@pytest.mark.parametrize(("old", "new", "named"), DAMAGED, ids=[new[:24] for _, new, _ in DAMAGED])
def test_a_damaged_value_is_refused_at_its_place(tmp_path: Path, old: str, new: str, named: str) -> None:
    assert old in TEXT
    path = write(tmp_path, console(TEXT.replace(old, new, 1)))
    test, problems = read_log(path)
    assert test is None and problems
    assert any(named in problem.text() for problem in problems), [one.text() for one in problems]
    lines = len(path.read_text().splitlines())
    assert all(0 <= problem.line <= lines for problem in problems)


def test_a_problem_has_the_line_of_the_log(tmp_path: Path) -> None:
    path = write(tmp_path, console(TEXT.replace("ns: 2.5", "ns: none")))
    _, problems = read_log(path)
    at = next(number for number, line in enumerate(path.read_text().splitlines(), 1) if "ns: none" in line)
    assert [problem.line for problem in problems] == [at]


@pytest.mark.parametrize("cut", range(0, len(console()), 97))
def test_a_log_that_ends_anywhere_is_refused_or_complete(tmp_path: Path, cut: int) -> None:
    test, problems = read_log(write(tmp_path, console()[:cut]))
    assert (test is None) == bool(problems)
    assert test is None or "# self-test: end" in console()[:cut]


def test_noise_of_the_line_before_and_after_a_self_test_is_no_error(tmp_path: Path) -> None:
    path = tmp_path / "console.log"
    path.write_bytes(b"\xff\x00\xfe boot\n" + console().encode() + b"\n\x80\n")
    test, problems = read_log(path)
    assert test == read(tmp_path, console()), problems


def test_a_byte_within_a_self_test_that_is_no_text_is_refused_at_its_place(tmp_path: Path) -> None:
    path = tmp_path / "console.log"
    path.write_bytes(b"\xff\n" + console().encode().replace(b"count: 4", b"count: \xff4"))
    test, (problem,) = read_log(path)
    assert test is None
    at = next(n for n, line in enumerate(path.read_bytes().split(b"\n"), 1) if b"\xff4" in line)
    assert (problem.line, problem.code, problem.cause) == (at, "encoding", "byte 0xff is not UTF-8 text")


@pytest.mark.parametrize("name", ["", ".", "missing/lines.yaml", "x" * 300])
def test_lines_that_cannot_be_written_are_an_error_with_the_name(tmp_path: Path, name: str) -> None:
    log = write(tmp_path, console())
    to = str(tmp_path / name) if name else ""
    done = invoked("self-test", BOARD, log, "--write", to)
    assert done.exit_code == (1 if name else 2)
    assert (f"{to}: cannot be written: " if name else "names no file") in done.stderr


def test_a_log_that_is_not_text_or_not_there_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "console.log"
    for content in (b"\xff\xfe", b"x" * (300 * 1024)):
        path.write_bytes(content)
        assert read_log(path)[0] is None
    assert read_log(tmp_path / "none")[0] is None
    assert read_log(tmp_path)[0] is None


def test_levels_are_read_from_the_curve(tmp_path: Path) -> None:
    levels = levels_of(read(tmp_path, console()))
    assert (levels.first_size, levels.last_size) == (FIRST, LAST)
    assert levels.last_ns == pytest.approx(LAST_NS, rel=0.01)
    assert levels.memory_ns == pytest.approx(MEMORY_NS, rel=0.01)


def test_a_curve_that_ends_within_the_last_level_does_not_show_memory(tmp_path: Path) -> None:
    short = TEXT.replace(curve(), "\n".join(curve().splitlines()[:7]))
    levels = levels_of(read(tmp_path, console(short)))
    assert levels.first_size == FIRST
    assert levels.last_ns == pytest.approx(LAST_NS, rel=0.01)
    assert (levels.last_size, levels.memory_ns) == (None, None)


def test_a_machine_without_caches_shows_no_levels(tmp_path: Path) -> None:
    flat = "\n".join(f"  - {{ size: {size} KiB, single: 0.3, dual: 0.0 }}" for size in (4, 8, 16, 32))
    levels = levels_of(read(tmp_path, console(TEXT.replace(curve(), flat))))
    assert (levels.first_size, levels.last_size, levels.last_ns) == (None, None, None)


def by_key(found: list[MeasuredFigure]) -> dict[str, MeasuredFigure]:
    return {one.key: one for one in found if one.key is not None}


def test_figures_stand_beside_those_of_the_platform_file(tmp_path: Path) -> None:
    found = by_key(figures(tmp_path))
    frequency = found["cores.frequency"]
    assert frequency.measured == pytest.approx(1199.976)
    assert frequency.stated == 1200
    assert frequency.ratio == pytest.approx(1, abs=0.001)
    assert (found["caches.l2.size"].measured, found["caches.l2.size"].stated) == (512, 1024)
    assert found["caches.l2.latency"].measured == pytest.approx(LAST_NS * 1.199976, rel=0.01)
    assert found["cores.pipeline.load_use"].value == "2"  # three cycles, of which one is the instruction
    assert found["dram.guaranteed"].value == "955 MB/s"  # the least of all cores, rounded down
    assert found["dram.delays"].measured == pytest.approx(119.2)
    assert "apart: 120 ns, least: 240 MB/s" in (found["dram.delays"].value or "")
    call = found["flow_costs.hypervisor_call"]
    assert (call.measured, call.value) == (990, None), "its line comes from the self-test of flows"
    assert found["pmu.traffic_event.bytes"].measured == 64
    assert found["pmu.writeback_event.bytes"].measured == 128  # half of the lines were counted


def test_an_event_that_counts_nothing_is_not_seen(tmp_path: Path) -> None:
    silent = TEXT.replace("counted: 1000", "counted: 0")
    assert by_key(figures(tmp_path, silent))["pmu.traffic_event.bytes"].measured is None


def test_delays_of_a_board_with_clusters_are_not_written(tmp_path: Path) -> None:
    """The program does not know which writers share a cache with the reader."""
    _, clusters, _ = load_named("s32v234")
    assert clusters is not None
    found = by_key(figures_of(read(tmp_path, console()), clusters))
    assert found["dram.delays"].value is None


def test_lines_are_a_part_of_a_platform_file(tmp_path: Path) -> None:
    """Written, read again and put into the board's own file, they give the measured platform."""
    path, _ = platform()
    lines = lines_for(path, figures(tmp_path), "self-test")
    written = tmp_path / "lines.yaml"
    written.write_text(lines.text)
    fragment = read_file(written, "lines")
    assert not fragment.problems and fragment.root is not None
    assert set(fragment.root.value) == {"cores", "timers", "caches", "dram"}
    values = [f"{one.key}={one.value}" for one in figures(tmp_path) if one.key and one.value]
    measured, _, problems = load_platform(path, overrides=values)
    assert measured is not None, problems
    assert measured.dram is not None and measured.dram.guaranteed == 955 * 10**6
    assert measured.caches["l2"].size == LAST
    assert measured.timers.frequency == 100_000_000


def test_what_other_keys_then_need_is_told(tmp_path: Path) -> None:
    path = platform_path("qemu-virt")
    _, virt, _ = load_named("qemu-virt")
    assert path is not None and virt is not None
    fast = TEXT.replace("955.7", "1163.0")
    lines = lines_for(path, figures_of(read(tmp_path, console(fast)), virt), "self-test")
    assert any("maintenance.events" in one for one in lines.consequences)
    assert "guaranteed: 1163 MB/s" in lines.text


def test_a_value_that_its_key_does_not_take_is_refused(tmp_path: Path) -> None:
    path, _ = platform()
    wrong = MeasuredFigure("size", "KiB", 0, None, "caches.l1d.size", "0 KiB")
    with pytest.raises(NotForThisFile, match=r"caches\.l1d\.size"):
        lines_for(path, [wrong], "self-test")


def test_the_command_prints_and_writes(tmp_path: Path) -> None:
    log, lines = write(tmp_path, console()), tmp_path / "lines.yaml"
    shown = invoked("self-test", BOARD, log, "--write", lines)
    assert shown.exit_code == 0
    assert "size of the last level" in shown.stdout
    assert "guaranteed: 955 MB/s" in lines.read_text()
    code, result = run_json("self-test", BOARD, log)
    assert code == 0
    row = next(one for one in result["figures"] if one["key"] == "caches.l2.size")
    assert (row["measured"], row["stated"], row["ratio"]) == (512, 1024, 0.5)
    assert result["written"] is None


@pytest.mark.parametrize("arguments", [("nowhere", "console.log"), (BOARD, "none.log")])
def test_the_command_refuses(tmp_path: Path, arguments: tuple[str, str]) -> None:
    write(tmp_path, console())
    name, log = arguments
    lines = tmp_path / "lines.yaml"
    shown = invoked("self-test", name, tmp_path / log, "--write", lines)
    assert shown.exit_code == 1
    assert shown.stderr.startswith("error: ")
    assert not lines.exists()
    code, result = run_json("self-test", name, tmp_path / log)
    assert (code, result["verdict"]) == (1, "error")


def flow_values(directory: Path, text: str = FLOWS, board: str = BOARD) -> dict[str, str]:
    test, problems = read_log(write(directory, console(text)))
    assert isinstance(test, FlowSelfTest), problems
    found = flow_figures_of(test, load_board(board))
    return {one.key: one.value for one in found if one.key is not None and one.value is not None}


def load_board(name: str) -> Platform:
    _, board, _ = load_named(name)
    assert board is not None
    return board


def test_parts_of_the_path_become_costs_of_flows(tmp_path: Path) -> None:
    found = flow_values(tmp_path)
    # A margin, as that of `bench flows`: a run does not show the largest value.
    call = "{ min: 788 ns, avg: 1000 ns, max: 2700 ns, median: 990 ns }"
    assert found["flow_costs.hypervisor_call"] == call
    assert found["flow_costs.parse"] == "{ min: 1400 ns, avg: 2000 ns, max: 9000 ns, median: 1900 ns }"
    # Without the call, which the analysis counts beside it.
    engine = "{ min: 3001 ns, avg: 5000 ns, max: 16988 ns, median: 5010 ns }"
    assert found["flow_costs.dma_interrupt"] == engine
    assert {"flow_costs.wake", "flow_costs.notify"} < set(found)


@pytest.mark.parametrize(
    ("board", "engine", "wait", "names"),
    [
        ("zcu102", "cpu-copy", "event", {"between_copies", "wake"}),
        ("zcu102", "zdma", "interrupt", {"dma_interrupt", "wake_by_interrupt"}),
        ("qemu-virt", "cpu-copy", "interrupt", {"dma_interrupt", "wake_by_interrupt"}),
    ],
)
def test_parts_have_the_names_of_their_broker(
    tmp_path: Path, board: str, engine: str, wait: str, names: set[str]
) -> None:
    text = FLOWS.replace("engine: zdma, wait: event", f"engine: {engine}, wait: {wait}")
    differ = {"between_copies", "dma_interrupt", "wake", "wake_by_interrupt"}
    found = {key.removeprefix("flow_costs.") for key in flow_values(tmp_path, text, board)}
    assert found & differ == names


def test_costs_of_an_isolated_broker_have_a_section_of_their_own(tmp_path: Path) -> None:
    text = FLOWS.replace("wait: event", "wait: event, isolated: true")
    plain, isolated = flow_values(tmp_path), flow_values(tmp_path, text)
    assert plain == {key.replace("flow_costs_isolated", "flow_costs"): one for key, one in isolated.items()}
    assert all(key.startswith("flow_costs_isolated.") for key in isolated)


@pytest.mark.parametrize(
    ("old", "new", "named"),
    [
        ("self_test_flows: 1", "self_test_flows: 2", "self_test_flows"),
        ("engine: zdma", "engine: dma", "broker.engine"),
        ("  parse:", "  purse:", "parts.purse"),
        ("max: 8000 ns", "max: 1 ns", "not between min and max"),
    ],
)
def test_a_damaged_log_of_parts_is_refused(tmp_path: Path, old: str, new: str, named: str) -> None:
    assert old in FLOWS
    test, problems = read_log(write(tmp_path, console(FLOWS.replace(old, new, 1))))
    assert test is None
    assert any(named in problem.text() for problem in problems), [one.text() for one in problems]


def test_the_command_writes_costs_of_flows(tmp_path: Path) -> None:
    log, lines = write(tmp_path, console(FLOWS)), tmp_path / "lines.yaml"
    shown = invoked("self-test", BOARD, log, "--write", lines)
    assert shown.exit_code == 0
    assert "finalize, longest" in shown.stdout
    assert lines.read_text().count("\n  ") == 9, "each part that an engine's broker has"


def test_the_smallest_budget_is_the_last_that_holds(tmp_path: Path) -> None:
    log, lines = write(tmp_path, console(BUDGETS)), tmp_path / "lines.yaml"
    code, result = run_json("self-test", BOARD, log, "--write", lines)
    assert code == 0, result["reasons"]
    found = {one["key"]: one for one in result["figures"] if one["key"]}
    assert found["memory_budget.shortest_period"]["measured"] == 50
    assert found["memory_budget.smallest_budget"]["measured"] == 200, "100 events were exceeded by 5.01 %"
    assert "shortest_period: 50000 ns" in lines.read_text()
    assert "smallest_budget: 200" in lines.read_text()
    shown = {one["figure"]: one["measured"] for one in result["figures"]}
    assert (shown["interrupt of a period, longest"], shown["interrupt of an overflow, median"]) == (
        4200,
        1600,
    )


def test_a_board_whose_file_has_no_budgets_of_memory_gets_no_lines_for_them(tmp_path: Path) -> None:
    _, result = run_json("self-test", "qemu-virt", write(tmp_path, console(BUDGETS)))
    assert all(one["value"] is None for one in result["figures"])


def test_an_overflow_that_stops_the_core_is_not_seen(tmp_path: Path) -> None:
    text = "".join(line for line in BUDGETS.splitlines(True) if "overflow:" not in line)
    _, result = run_json("self-test", BOARD, write(tmp_path, console(text)))
    shown = {one["figure"]: one["measured"] for one in result["figures"]}
    assert shown["interrupt of an overflow, median"] is None


def test_utilization_is_shown(tmp_path: Path) -> None:
    shown = invoked("self-test", "s32v234", write(tmp_path, console(UTILIZATION)))
    assert shown.exit_code == 0
    assert "41.2 %" in shown.stdout and "one core: random reads, memory busy" in shown.stdout


@pytest.mark.parametrize(
    ("text", "old", "new", "named"),
    [
        (BUDGETS, "self_test_budgets: 1", "self_test_budgets: 2", "self_test_budgets"),
        (BUDGETS, "period: 50000 ns", "period: 0 ns", "period"),
        (BUDGETS, "events: 94,", "events: 0,", "events"),
        (BUDGETS, "counted: 70000", "counted: -1", "counted"),
        (BUDGETS, "max: 4200 ns", "max: 1 ns", "not between min and max"),
        (UTILIZATION, "busy_percent: 41.2", "busy_percent: 101", "busy_percent"),
        (UTILIZATION, "busy_percent: 41.2", "busy_percent: .nan", "busy_percent"),
        (UTILIZATION, "count: 4 ", "count: 1 ", "a pattern has more busy cores than there are"),
        (UTILIZATION, "random reads, cores: 1", "same-bank writes, cores: 4", "occurs twice"),
    ],
)
def test_a_damaged_log_of_budgets_is_refused(
    tmp_path: Path, text: str, old: str, new: str, named: str
) -> None:
    assert old in text
    test, problems = read_log(write(tmp_path, console(text.replace(old, new, 1))))
    assert test is None
    assert any(named in problem.text() for problem in problems), [one.text() for one in problems]


def curve_of(caches: tuple[int, ...], times: tuple[float, ...]) -> str:
    """Random reads of a board with these caches, and these times of the levels behind the first."""

    def mean(size: int) -> float:
        held = [min(1.0, cache / size) for cache in (*caches, size)]
        return sum((later - one) * ns for one, later, ns in zip(held, held[1:], times, strict=False))

    rows = (f"  - {{ size: {size // KIB} KiB, single: {mean(size):.1f}, dual: 0.0 }}" for size in SIZES)
    return "\n".join(rows)


def test_two_levels_behind_the_first_are_told_apart(tmp_path: Path) -> None:
    text = curve_of((32 * KIB, 256 * KIB, 2048 * KIB), (8.0, 30.0, 110.0))
    found = three_levels_of(read(tmp_path, console(TEXT.replace(curve(), text))))
    assert found is not None
    assert (found.first_size, found.second.size, found.third.size) == (32 * KIB, 256 * KIB, 2048 * KIB)
    assert found.second.ns == pytest.approx(8, rel=0.05)
    assert found.third.ns == pytest.approx(30, rel=0.05)
    assert found.memory_ns == pytest.approx(110, rel=0.02)


def test_two_caches_are_not_taken_for_three(tmp_path: Path) -> None:
    assert three_levels_of(read(tmp_path, console())) is None


def test_rates_within_a_level_are_those_of_a_block_that_fits() -> None:
    rates = ((16, 9000.0), (64, 4000.0), (256, 3000.0), (512, 2500.0), (4096, 1000.0))
    reads = tuple(BlockRead.model_construct(size=size * KIB, mb_s=rate) for size, rate in rates)
    assert rate_within(reads, 32 * KIB, 512 * KIB) == 3000
    assert rate_within(reads, 256 * KIB, 512 * KIB) == 2500
    assert rate_within(reads, 512 * KIB, None) == 1000
    assert rate_within(reads, 4096 * KIB, None) is None
