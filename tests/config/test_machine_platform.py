# SPDX-License-Identifier: Apache-2.0
"""Platform files for the simulated machine: existing files are complete, and impossible ones are refused with
file, line, key and reason."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from bulkhead.admission.load import load_system
from bulkhead.config import dram as drams
from bulkhead.config.load import load_platform
from bulkhead.config.timing import dram_clocks
from bulkhead.machine.settings import settings_of
from bulkhead.planning.plan import PlanningError, plan_memory

from ..platforms import platform

ROOT = Path(__file__).parents[2]
EMULATED_ONLY = {"mps2-an500", "rpi4"}  # boards of the emulator whose memory system is not simulated
NAMES = sorted({path.stem for path in (ROOT / "platforms").glob("*.yaml")} - EMULATED_ONLY)
CPI = "cores.pipeline.cycles_per_instruction"
DESCRIBED_ONLY = ["mps2-an500", "rpi2", "stm32f767", "xilinx-zynq-a9", "zcu104", "zynq7020"]


def wrong(tmp_path: Path, name: str, old: str, new: str) -> list[tuple[str, str, bool]]:
    """Key and code of the errors of a changed file, and whether they are at the line of the change."""
    text = (ROOT / "platforms" / f"{name}.yaml").read_text()
    assert len(re.findall(re.escape(old), text)) == 1, f"{old!r} is not in the file once"
    path = tmp_path / "changed.yaml"
    path.write_text(text.replace(old, new))
    line = text[: text.index(old)].count("\n") + 1 + new[: len(new) - len(new.lstrip("\n"))].count("\n")
    loaded, _, problems = load_platform(path)
    assert loaded is None or not problems
    assert all(problem.file == str(path) and problem.cause for problem in problems)
    return [(problem.key, problem.code, abs(problem.line - line) <= new.count("\n")) for problem in problems]


@pytest.mark.parametrize("name", NAMES)
def test_every_platform_describes_a_whole_memory_system(name: str) -> None:
    one = platform(name)
    assert one.cores.frequency is not None
    assert one.cores.pipeline is not None
    assert one.cores.prefetcher is not None
    assert (one.cores.tlb is None) != (one.cores.mpu is None)
    assert one.interconnect is not None
    assert one.dram is not None
    assert one.dram.timing is not None
    assert drams.size_bytes(one.dram) is not None
    assert drams.masks(one.dram) is not None


@pytest.mark.parametrize("name", NAMES)
def test_every_section_with_numbers_has_a_source(name: str) -> None:
    sourceless: list[str] = []

    def look(where: str, value: object, covered: bool) -> None:
        if isinstance(value, dict):
            covered = covered or bool(value.get("source"))
            numbers = [k for k, v in value.items() if isinstance(v, (int, float)) and not isinstance(v, bool)]
            if numbers and not covered and where not in ("", "sources"):
                sourceless.append(where)
            for key, below in value.items():
                look(f"{where}.{key}" if where else key, below, covered)
        elif isinstance(value, (list, tuple)):
            for number, below in enumerate(value):
                look(f"{where}[{number}]", below, covered)

    look("", platform(name).model_dump(exclude_none=True, exclude_defaults=True), False)
    assert not sourceless


@pytest.mark.parametrize("name", NAMES)
def test_what_calibration_set_is_named_by_a_fact_and_marked_where_it_stands(name: str) -> None:
    one = platform(name)
    for fact in one.calibration:
        for parameter in fact.parameters:
            section: object = one
            *way, key = parameter.split(".")
            for part in way:
                section = section[part] if isinstance(section, dict) else getattr(section, part)
            assert key in section.fitted, parameter  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", DESCRIBED_ONLY)
def test_a_platform_without_a_place_for_the_hypervisor_says_why_and_plans_nothing(name: str) -> None:
    loaded = load_system(ROOT / "examples" / "linux-smp.yaml", ["platform=qemu-virt"])
    assert loaded.system is not None
    one = platform(name)
    assert one.not_bootable
    with pytest.raises(PlanningError) as refused:
        plan_memory(loaded.system, one)
    assert one.not_bootable in str(refused.value)


def test_a_controller_goes_by_score_by_stores_or_by_watermarks() -> None:
    by_score = settings_of(platform("s32v234"))["dram"]["how"]
    assert by_score["arbitration"] == {"row_hit": 4, "direction": 2, "age": 1, "most": 15, "guard": 15}
    by_stores = settings_of(platform("zcu102"))["dram"]["how"]
    assert by_stores["stores"] == {"starve": 128, "run": 8, "rest": 0, "idle": 2}
    by_turns = settings_of(platform("rpi2"))["dram"]["how"]
    assert set(by_stores) - set(by_score) == {"stores", "cap", "age_limit"}
    assert set(by_turns) - set(by_score) == {"write_high", "write_low", "cap", "age_limit"}


def test_times_of_data_sheets_become_whole_clocks_rounded_up() -> None:
    period = drams.period_ps(platform("zynq7020").dram)  # type: ignore[arg-type]
    assert round(float(period)) == 1876
    assert dram_clocks("13.125 ns", period) == 7
    assert dram_clocks((4, "7.5 ns"), period) == 4
    assert dram_clocks((4, "15 ns"), period) == 8
    assert dram_clocks(6, period) == 6


@pytest.mark.parametrize(
    ("name", "old", "new", "key", "code"),
    [
        ("rpi2", "    ways: 8\n", "    ways: 7\n", "caches.l2", "geometry"),
        ("zynq7020", "    latency: 25\n", "    latency: 0\n", "", ""),
        ("mpam4", "    latency: 35\n", "    latency: 12\n", "caches.l3.latency", "conflict"),
        ("mpam4", "    portions: 32\n    so", "    portions: 24\n    so", "caches.l3.portions", "geometry"),
        ("rpi2", "    tras: [3, 42 ns]", "    tras: 10 ns", "dram.timing.tras", "timing"),
        ("rpi2", "    trefi: 3.9 us", "    trefi: 200 ns", "dram.timing.trefi", "timing"),
        ("mpam4", "    tfaw: [20, 21 ns]", "    tfaw: 2", "dram.timing.tfaw", "timing"),
        ("mpam4", "    twtr_l: [4, 7.5 ns]", "    twtr_l: 1", "dram.timing.twtr_l", "timing"),
        ("mpam4", "    trcd: 14.06 ns", "    trcd: 0", "dram.timing.trcd", "timing"),
        ("mpam4", "    trcd: 14.06 ns", "    trcd: 14.06", "dram.timing.trcd", "wrong-type"),
        ("stm32f767", "bank: [10, 11]", "bank: [10, 12]", "dram.mapping.row", "geometry"),
        ("stm32f767", "bank: [10, 11]", "bank: [10]", "dram.mapping.bank", "geometry"),
        ("stm32f767", "bank: [10, 11]", "bank: [10, 24]", "dram.mapping.bank", "geometry"),
        ("stm32f767", "bank: [10, 11]", "bank: [10, [11, 4]]", "dram.mapping.bank", "geometry"),
        (
            "s32v234",
            "clusters: [[0, 1], [2, 3]]",
            "clusters: [[0, 1], [2]]",
            "caches.l2.clusters",
            "conflict",
        ),
        ("zynq7020", "entries: 128, ways: 2", "entries: 128, ways: 3", "cores.tlb.l2.ways", "geometry"),
        ("mpam4", "    write_high: 24", "    write_high: 8", "dram.controller.write_high", "conflict"),
        ("zcu102", "    cap: 16", "    cap: 16\n    write_low: 8", "dram.controller.write_low", "conflict"),
        ("zcu102", "starve: 128,", "starve: 0,", "dram.controller.stores.starve", "out-of-range"),
        (
            "s32v234",
            "    spacing: 3\n",
            "    spacing: 3\n    stores: { starve: 64, run: 8 }\n",
            "dram.controller.stores",
            "conflict",
        ),
        ("s32v234", "    spacing: 3\n", "    spacing: 3\n    cap: 4\n", "dram.controller.cap", "conflict"),
        ("s32v234", "age: 1,", "age: 0,", "dram.controller.arbitration.age", "out-of-range"),
        ("s32v234", "most: 15,", "most: 16,", "dram.controller.arbitration.most", "out-of-range"),
        ("zcu102", "shared_by: [0, 1, 2, 3]", "shared_by: [0, 1, 2]", "caches.l2.shared_by", "conflict"),
        (
            "zcu102",
            "shared_by: [0, 1, 2, 3]",
            "shared_by: [0, 1, 2, 3, 3]",
            "caches.l2.shared_by[4]",
            "duplicate-name",
        ),
        (
            "zcu102",
            "shared_by: [0, 1, 2, 3]",
            "shared_by: [0, 1, 2, 4]",
            "caches.l2.shared_by[3]",
            "out-of-range",
        ),
        (
            "zcu102",
            "  l2: { size: 1 MiB,",
            "  l1d: { shared_by: [0, 1, 2, 3] }\n  l2: { size: 1 MiB,",
            "caches.l1d.shared_by",
            "conflict",
        ),
        (
            "s32v234",
            "  l2: { size: 256 KiB, clusters:",
            "  l3: { size: 1 MiB, ways: 16, line: 64, clusters: [[0, 2], [1, 3]] }\n"
            "  l2: { size: 256 KiB, clusters:",
            "caches.l3.clusters",
            "conflict",
        ),
        ("zcu102", "  frequency: 1.2 GHz", "  frequency: 1 Hz", "cores.frequency", "out-of-range"),
        ("zcu102", "  frequency: 1.2 GHz", "  frequency: 11 GHz", "cores.frequency", "out-of-range"),
        ("rpi4", "frequency: 54 MHz", "frequency: 1 Hz", "timers.frequency", "out-of-range"),
        ("rpi4", "frequency: 54 MHz", "frequency: 2 GHz", "timers.frequency", "out-of-range"),
        ("mpam4", "instruction: 1\n", "instruction: 1e-9\n", CPI, "out-of-range"),
        ("mpam4", "instruction: 1\n", "instruction: 0.49\n", CPI, "out-of-range"),
        ("mpam4", "instruction: 1\n", "instruction: 100.1\n", CPI, "out-of-range"),
        ("zcu102", "l2: { size: 1 MiB,", "l2: { size: 1 MiB, line: 128,", "caches.l2.line", "geometry"),
        ("zcu102", "l2: { size: 1 MiB,", "l2: { size: 1 MiB, ways: 128,", "caches.l2.ways", "limit"),
        ("zcu102", "  width: 64\n", "  width: 1\n", "dram.width", "out-of-range"),
        ("zcu102", "  width: 64\n", "  width: 512\n", "dram.width", "out-of-range"),
        ("zcu102", "  width: 64\n", "  width: 8\n  burst: 4\n", "dram.width", "out-of-range"),
        ("zcu102", "  speed: 2133\n", "  speed: 1\n", "dram.speed", "out-of-range"),
        ("zcu102", "  channels: 1\n", "  channels: 32\n", "dram.channels", "limit"),
        ("zcu102", "    trfc: 278\n", "    trfc: 1 ms\n", "dram.timing.trfc", "timing"),
        ("zcu102", "    trefi: 7.8 us\n", "    trefi: 100 ms\n", "dram.timing.trefi", "timing"),
        ("zcu102", "  rows: 32768", "  rows: 8192", "dram.rows", "conflict"),
        ("zcu102", "  rows: 32768", "  rows: 32767", "dram.rows", "geometry"),
        ("zcu102", "  standard: DDR4", "  standard: DDR9", "dram.standard", "bad-value"),
        ("mpam4", "    trfc: 260 ns", "    trfcc: 260 ns", "dram.timing.trfcc", "unknown-key"),
    ],
)
def test_an_impossible_platform_is_refused_at_its_place(
    tmp_path: Path, name: str, old: str, new: str, key: str, code: str
) -> None:
    found = wrong(tmp_path, name, old, new)
    if key:
        assert (key, code) in [(k, c) for k, c, _ in found]
        assert all(near for k, _, near in found if k == key)
    else:
        assert found == []  # no latency is known for its first level


def test_memory_that_is_too_high_is_refused_by_its_key(tmp_path: Path) -> None:
    memory = "memory: [{ at: 0x0, size: 2 GiB,"
    loads = "load: { at: 0x200000,"
    text = (ROOT / "platforms" / "zcu102.yaml").read_text()
    assert memory in text and loads in text
    for at, key in ((0x4000000000, "memory"), (0xFFFFC0000000, "memory[0]")):
        path = tmp_path / "high.yaml"
        high = text.replace(memory, f"memory: [{{ at: {at:#x}, size: 2 GiB,")
        path.write_text(high.replace(loads, f"load: {{ at: {at + 0x200000:#x},"))
        _, _, problems = load_platform(path)
        assert (key, "out-of-range") in [(problem.key, problem.code) for problem in problems]


def test_a_core_that_shares_no_cache_is_one_error(tmp_path: Path) -> None:
    for given in ("[0, 1, 2]", "[0, 1, 2, 3, 3]", "[0, 1, 2, 4]"):
        assert len(wrong(tmp_path, "zcu102", "shared_by: [0, 1, 2, 3]", f"shared_by: {given}")) == 1


def test_a_mapping_that_hashes_bits_is_a_bijection_only_if_no_bit_is_lost(tmp_path: Path) -> None:
    hashed = "bank: [[10, 12], [11, 13]]"
    assert wrong(tmp_path, "stm32f767", "bank: [10, 11]", hashed) == []
    assert wrong(tmp_path, "stm32f767", "bank: [10, 11]", "bank: [[10, 12], [10, 13]]") != []


def test_a_board_that_boots_has_an_interrupt_controller_and_a_console(tmp_path: Path) -> None:
    text = (ROOT / "platforms" / "zcu104.yaml").read_text()
    path = tmp_path / "changed.yaml"
    path.write_text("".join(line for line in text.splitlines(True) if not line.startswith("not_bootable")))
    loaded, _, problems = load_platform(path)
    assert loaded is None
    assert [(problem.key, problem.code) for problem in problems] == [
        ("interrupt_controller", "missing-key"),
        ("uart", "missing-key"),
    ]


def test_the_interrupt_latency_of_zcu102_is_what_its_parts_leave_room_for() -> None:
    """The lower bound is the time of a GIC-400 to find the interrupt, 9 of its clocks (Arm knowledge article
    KA16786), at no more than half of the cores' clock. The upper bound is published for this board: a
    notification by an IPI and an interrupt at its receiver, with entry to a hypervisor and exit, takes at
    least 1370 ns."""
    one, published = platform("zcu102"), platform("zcu102-published")
    latency = one.costs.interrupt_latency
    assert latency is not None
    assert one.cores.frequency is not None
    assert published.flow_costs is not None
    whole, call = published.flow_costs.notify, published.flow_costs.hypervisor_call
    assert whole.min is not None
    assert call.min is not None
    assert latency >= 9 * 10**12 / (one.cores.frequency / 2)
    assert latency <= (whole.min - call.min) * 1000


@pytest.mark.parametrize("name", NAMES)
def test_cores_run_ahead_by_the_least_that_anything_takes_between_them(name: str) -> None:
    one = platform(name)
    signals = settings_of(one)["signals"]
    if one.costs.interrupt_latency is not None:
        assert signals["interrupt_ps"] == one.costs.interrupt_latency
    if one.maintenance is not None:
        assert 2 * signals["maintenance_ps"] == one.maintenance.wait
    assert all(signals.values())


@pytest.mark.parametrize("name", ["zcu102", "zcu104", "s32v234"])
def test_a_cluster_of_cortex_a53_answers_as_its_manual_says(name: str) -> None:
    """Cortex-A53 TRM (DDI 0500D), table 7-9: 13 cycles if L2 hits, 16 if L1 does, 6 if none."""
    one = platform(name)
    took = one.caches["l2"].snooped
    assert took is not None
    assert (took.hit, took.above, took.miss) == (13, 16, 6)
    level = settings_of(one)["levels"][0]
    assert one.cores.frequency is not None
    assert level["snooped_above_ps"] == pytest.approx(16e12 / one.cores.frequency, abs=1)
