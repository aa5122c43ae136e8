# SPDX-License-Identifier: Apache-2.0
"""The Linux module on an unmodified kernel (B8, B9): it limits, can be configured, and can be removed
completely.

One boot for all: checks.sh asks, and the tests check the answers. An instruction is an event, and a CPU's
count includes those of the other CPU, which is idle while a loop is measured.
"""

from __future__ import annotations

import re
import subprocess
from itertools import pairwise
from pathlib import Path
from statistics import mean

import pytest
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from bulkhead.env.linux_headers import kernel_release
from bulkhead.package.linux_module import build_linux_module

from .harness import (
    DEVICE,
    HERE,
    INTERVAL_EVENTS,
    OVERSHOOT_EVENTS,
    answers,
    are_within,
    boot,
    dump_tree,
    make_ramdisk,
)
from .samples import busy, samples

pytestmark = [pytest.mark.emulator, pytest.mark.slow, pytest.mark.timeout(900)]

Answers = dict[str, list[str]]

NO_INTERRUPT = """
say load
insmod /bulkhead.ko events=0x08 2>&1
left
say dmesg
dmesg
"""


def values(lines: list[str]) -> dict[str, str]:
    return dict(line.split("=", 1) for line in lines if "=" in line)


@pytest.fixture(scope="module")
def module() -> Path:
    return build_linux_module()


@pytest.fixture(scope="module")
def asked(module: Path, tmp_path_factory: pytest.TempPathFactory) -> Answers:
    ramdisk = make_ramdisk(module, (HERE / "checks.sh").read_text())
    return answers(boot(ramdisk, tmp_path_factory.mktemp("linux"), cpus=2, arguments=DEVICE))


def test_b9_the_module_is_core_and_its_driver_for_the_guests_kernel(module: Path) -> None:
    with module.open("rb") as file:
        elf = ELFFile(file)
        about, table = elf.get_section_by_name(".modinfo"), elf.get_section_by_name(".symtab")
        assert about is not None and isinstance(table, SymbolTableSection)
        info = about.data().decode().split("\0")
        functions = {symbol.name for symbol in table.iter_symbols()}
    assert any(line.startswith(f"vermagic={kernel_release()} ") for line in info)
    assert "license=GPL" in info
    assert {"budget_overflow", "regulated_timer", "regulator_step", "sample_write"} <= functions


def test_b8_bad_parameters_at_load_leave_nothing_behind(asked: Answers) -> None:
    lines = asked["refused-loads"]
    assert len(lines) > 20
    assert [line for line in lines if not line.rstrip().endswith("; no more")] == []
    said = dict(line.split(": ", 1) for line in lines)
    assert said["events=0x08 parameters=policy=dynamic"].startswith("No such device")
    others = [
        text
        for name, text in said.items()
        if name not in ("events=0x17", "events=0x08 parameters=policy=dynamic")
    ]
    assert all(text.startswith("Invalid argument") for text in others)


def test_b1_an_event_that_the_cpu_does_not_count_is_refused(asked: Answers) -> None:
    """Its counter would stay 0, and the budget would never be spent."""
    assert any(line.startswith("events=0x17: ") and "loaded" not in line for line in asked["refused-loads"])
    assert any("CPU 0: no counter supports the event" in line for line in asked["dmesg"])


def test_b8_all_parameters_have_a_file(asked: Answers) -> None:
    parameters = values(asked["parameters"])
    assert set(parameters) | {"parameters", "samples", "status"} == set(asked["load"][0].split())
    assert parameters["policy"] == "none"
    assert parameters["budgets"] == "0:unlimited,1:unlimited"
    assert parameters["threshold_permille"] == "800"
    assert [line.split()[0] for line in asked["threads"]] == ["bulkhead/0", "bulkhead/1"]


def test_b1_counters_without_an_interrupt_are_refused(module: Path, tmp_path: Path) -> None:
    """A budget on them would stop nobody. The PMU has no interrupt in the machine's device tree."""
    tree = tmp_path / "tree.dtb"
    dump_tree(tree, cpus=2)
    subprocess.run(["fdtput", "-d", str(tree), "/pmu", "interrupts"], check=True)
    ramdisk = make_ramdisk(module, NO_INTERRUPT)
    found = answers(boot(ramdisk, tmp_path, cpus=2, arguments=("-dtb", str(tree))))
    assert found["load"] == ["insmod: can't insert '/bulkhead.ko': Operation not supported", "no more"]
    assert any("CPU 0: the event counters have no interrupt" in line for line in found["dmesg"])


def test_b8_bad_values_are_refused_and_change_nothing(asked: Answers) -> None:
    lines = asked["refused"]
    assert len(lines) > 30
    assert [line for line in lines if not line.endswith(": refused: Invalid argument")] == []


def test_b5_dynamic_without_a_source_of_utilization_is_refused_and_says_why(asked: Answers) -> None:
    first, *said = asked["refused-dynamic"]
    assert first == "refused: No such device"
    assert any("policy dynamic needs a source of utilization" in line for line in said)


def test_b8_what_is_read_can_be_written(asked: Answers) -> None:
    assert asked["round-trip"] == ["taken", "the same"]


def test_without_a_policy_all_is_counted_and_nothing_limited(asked: Answers) -> None:
    status = values(asked["free-status"])
    assert int(status["cpu0.events"]) > 100_000_000
    assert status["cpu0.limit_events"] == "unlimited"
    assert status["cpu0.throttled_periods"] == status["cpu0.uncounted"] == "0"


@pytest.mark.parametrize(("name", "budget"), [("static-samples", 100_000), ("twice-samples", 200_000)])
def test_b1_no_period_has_more_than_budget_and_overshoot(asked: Answers, name: str, budget: int) -> None:
    limited = [sample for sample in busy(asked[name]) if sample.limit == budget]
    assert all(sample.periods == 1 for sample in limited)
    assert are_within([sample.events for sample in limited], budget, OVERSHOOT_EVENTS + INTERVAL_EVENTS)
    assert mean(sample.events for sample in limited) >= budget, "it gets what it was promised"


def test_b1_overshoot_is_reported(asked: Answers) -> None:
    status = values(asked["static-status"])
    most = max(sample.events for sample in busy(asked["static-samples"])) - 100_000
    assert int(status["cpu0.overshoot_max_events"]) >= most > 0
    assert int(status["cpu0.throttled_periods"]) >= int(status["cpu0.overshoot_periods"]) > 0
    assert status["cpu1.throttled_periods"] == "0"


def test_b1_twice_the_budget_does_twice_the_work(asked: Answers) -> None:
    """The loop counts its own turns."""
    free = int(asked["free"][-1])
    once, twice = int(asked["static"][-1]), int(asked["twice"][-1])
    assert 1.9 < twice / once < 2.2
    assert 0.17 < once / free < 0.22, "a fifth of what it can do in a period"


def test_b1_periods_do_not_drift(asked: Answers) -> None:
    found = busy(asked["static-samples"])
    first, last = found[0], found[-1]
    assert last.time_ns - first.time_ns == pytest.approx(
        (last.interval - first.interval) * 1_000_000, abs=20_000
    )


def test_b8_a_change_holds_for_all_cpus_from_the_same_interval_on(asked: Answers) -> None:
    found = samples(asked["atomic"])
    for limits in ((600_001, 600_002), (1_200_001, 1_200_002)):
        starts = [
            min(sample.interval for sample in found if (sample.cpu, sample.limit) == (cpu, limit))
            for cpu, limit in enumerate(limits)
        ]
        assert starts[0] == starts[1]
    times = [sample.time_ns for sample in found if sample.limit == 1_200_001]
    assert mean(after - before for before, after in pairwise(times[1:])) == pytest.approx(2_000_000, rel=0.01)


def test_b6_traffic_stays_at_its_threshold(asked: Answers) -> None:
    """CPU 1 sleeps, but each CPU's count is of both, so the traffic is twice what CPU 0 does."""
    found = [sample for sample in samples(asked["bandwidth-samples"]) if sample.cpu == 0]
    begun = next(sample.interval for sample in found if sample.limit == 20_000)
    settled = [sample for sample in found if begun + 100 <= sample.interval < begun + 250]
    assert len(settled) == 150
    assert 2 * mean(sample.events for sample in settled) == pytest.approx(400_000, rel=0.05)
    limits = [sample.limit or 0 for sample in found if begun + 5 <= sample.interval < begun + 25]
    assert limits == sorted(limits), "a throttled CPU's budget grows"
    assert limits[-1] > 1.5 * limits[0]


def test_b11_who_delays_the_others_for_too_long_has_its_floor(asked: Answers) -> None:
    """At first each event of CPU 1 is delayed by more than an interval, later not at all."""
    assert asked["delay"] == ["taken", "taken"]
    found = [sample for sample in samples(asked["delay-samples"]) if sample.cpu == 0]
    limits = [sample.limit for sample in found]
    begun = limits.index(20_000)
    assert set(limits[begun + 5 : begun + 100]) == {16}
    assert limits[-1] == 0x3FFF_FFFF, "the ceiling"
    account = [sample.carried for sample in found]  # 20 intervals of 5 % are one, 1024 parts of it
    assert min(account) < 0
    assert 1000 < account[-1] <= 1024


def test_b11_one_cpu_at_a_time_has_its_turn(asked: Answers) -> None:
    assert asked["turns"] == ["taken", "taken"]
    found = samples(asked["turns-samples"])
    limits = {cpu: {one.interval: one.limit for one in found if one.cpu == cpu} for cpu in (0, 1)}
    begun = next(at for at, limit in limits[0].items() if limit == limits[1].get(at) == 20_000)
    for interval in range(begun + 2, begun + 80):
        assert sorted((limits[0][interval] or 0, limits[1][interval] or 0)) == [16, 0x3FFF_FFFF - 16]
        assert limits[0][interval] == limits[1][interval + 1]


@pytest.mark.parametrize("name", ["utilization", "phases"])
def test_b5_b11_budgets_follow_the_memorys_utilization(asked: Answers, name: str) -> None:
    taken, high, low = asked[name]
    assert taken == "taken"
    load, events = map(int, high.split()[1:3])
    assert load == pytest.approx(900, abs=2)
    assert events < 450_000, "above the threshold they shrink"
    load_after, events_after = map(int, low.split()[1:3])
    assert load_after == pytest.approx(300, abs=2)
    assert events_after > 2 * events, "below it, and throttled, they grow"


def test_b8_the_ring_drops_the_oldest_and_says_how_many(asked: Answers) -> None:
    lines = asked["drops"]
    dropped = {int(line.split()[2]): int(line.split()[4]) for line in lines if "dropped" in line}
    assert set(dropped) == {0, 1}
    assert all(count > 400 for count in dropped.values())
    intervals = [sample.interval for sample in samples(lines[1:]) if sample.cpu == 0]
    gaps = [after - before for before, after in pairwise(intervals)]
    assert gaps.count(1) == len(gaps) or sorted(gaps)[-2] == 1, "one gap at most, where they were dropped"


def test_b8_samples_are_stored_only_while_they_are_wanted(asked: Answers) -> None:
    assert asked["not-stored"] == ["taken"]
    assert asked["stored"][0] == "taken"
    assert int(asked["stored"][1]) > 90


def test_a_cpu_goes_and_comes_while_it_is_throttled(asked: Answers) -> None:
    lines = asked["hotplug"]
    assert lines[0] == "taken"
    assert lines[1:7] == [f"{turn}: {state}" for turn in (1, 2, 3) for state in ("0 1", "1 0-1")]
    assert int(lines[-1].removeprefix("throttled: ")) > 150


def test_removal_ends_throttling_and_leaves_nothing(asked: Answers) -> None:
    left, turns = asked["removed"]
    assert left == "no more"
    assert int(turns) > 0.9 * int(asked["free"][-1])
    assert asked["again"] == ["no more"] * 5


def test_removal_frees_a_cpu_that_could_run_no_thread(asked: Answers) -> None:
    periods, left = asked["stuck"]
    assert int(periods) > 150
    assert left == "no more"


def test_what_runs_on_a_throttled_cpu_is_counted(asked: Answers) -> None:
    """The kernel takes the CPU from real-time threads for a twentieth of each second."""
    status = values(asked["rt-limit"])
    assert any("RT throttling activated" in line for line in asked["dmesg"])
    assert int(status["cpu0.gave_way"]) >= 10
    assert int(status["cpu0.overshoot_max_events"]) > 400_000


def test_b1_what_interrupts_and_deferred_work_do_on_a_throttled_cpu_is_overshoot(asked: Answers) -> None:
    """CPU 0 is throttled nearly all the time, and delivers packets meanwhile. The emulator counts the sender
    on CPU 1, too."""
    seen = values(asked["deferred"])
    assert any("50 packets received" in line for line in asked["deferred"])
    assert int(seen["softirqs"]) >= 50
    assert int(seen["throttled_ns"]) > 0.8 * 1_000_000 * int(seen["periods"])
    assert int(seen["held_events"]) > 1000 * int(seen["softirqs"]), "some thousand instructions a packet"
    assert int(seen["overshoot_events"]) >= int(seen["held_events"])


def test_b3_a_slack_beyond_a_part_of_the_budget_is_refused_and_says_what_is_allowed(asked: Answers) -> None:
    """What EL2 refuses of a system file: it would raise the budget that was admitted."""
    said = "\n".join(asked["dmesg"])
    assert "slack_events: only the sum of two events has a slack, and events is '0x08'" in said
    assert "slack_events: -2 is negative (allowed: 0 or more, or -1 for 1/32 of each budget)" in said
    assert "slack_events: 12501 is more than 1/32 of CPU 1's budget" in said
    assert "at most 400000 events (allowed: 12500)" in said
    assert "at most 1073741823 events (allowed: 33554431)" in said


def test_b3_a_budget_of_a_sum_is_kept(asked: Answers) -> None:
    limited = busy(asked["sum-samples"])
    assert {sample.limit for sample in limited} == {400_000}
    assert are_within([sample.events for sample in limited], 400_000, 4 * OVERSHOOT_EVENTS)
    assert mean(sample.events for sample in limited) >= 400_000


def test_measuring_stops_nothing(asked: Answers) -> None:
    status = values(asked["measured"])
    assert int(status["cpu0.overshoot_periods"]) > 100
    assert status["cpu0.throttled_periods"] == "0"


def test_the_kernel_has_nothing_to_complain_of(asked: Answers) -> None:
    bad = re.compile(r"WARNING|BUG|Call trace|Oops|stall|lockup|scheduling while|inconsistent")
    assert [line for line in asked["dmesg"] if bad.search(line)] == []
