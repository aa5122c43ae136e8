# SPDX-License-Identifier: Apache-2.0
"""Cost of the Linux module for a program that it does not stop (B5): turns of a loop in the same time,
without and with the module. `pytest -s` shows the figures.

Time is counted instructions, so the cost is instructions of the module and of the kernel's work for it; cache
misses that they cause are not included.
"""

from __future__ import annotations

import sys

import pytest

from bulkhead.package.linux_module import build_linux_module

from .harness import HERE, answers, boot, make_ramdisk

pytestmark = [pytest.mark.emulator, pytest.mark.slow, pytest.mark.timeout(900)]

INTERVAL_INSTRUCTIONS = {1000: 500_000, 500: 250_000}  # by us: the emulator's clock, 2 ns each
INTERVALS = {1000: 2000, 500: 4000}  # while the loop runs


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    ramdisk = make_ramdisk(build_linux_module(), (HERE / "overhead.sh").read_text())
    return answers(boot(ramdisk, tmp_path_factory.mktemp("linux"), cpus=2))


def cost(asked: dict[str, list[str]], name: str) -> float:
    """Share of the loop's time."""
    return 1 - int(asked[name][-1]) / int(asked["without"][-1])


def status(asked: dict[str, list[str]], name: str) -> dict[str, str]:
    return dict(line.split("=", 1) for line in asked[f"{name}-status"] if "=" in line)


@pytest.mark.parametrize("interval_us", [1000, 500])
def test_b5_the_timer_and_an_overflow_in_each_interval(asked: dict[str, list[str]], interval_us: int) -> None:
    timer, overflow = (cost(asked, f"{what}-{interval_us}") for what in ("timer", "overflow"))
    room = INTERVAL_INSTRUCTIONS[interval_us]
    for what, share in (("timer", timer), ("timer and overflow", overflow)):
        sys.stdout.write(
            f"\n{interval_us} us, {what}: {share:.2%} ({share * room:.0f} instructions an interval)\n"
        )
    assert 1_000 < timer * room < 8_000
    assert 500 < (overflow - timer) * room < 6_000
    for name, spent in (("timer", 0), ("overflow", INTERVALS[interval_us])):
        seen = status(asked, f"{name}-{interval_us}")
        assert int(seen["cpu0.overshoot_periods"]) >= 0.99 * spent, "spent in each"
        assert (int(seen["cpu0.overshoot_periods"]) > 0) == (spent > 0)
        assert seen["cpu0.throttled_ns"] == "0", "and it went on"
        assert int(seen["cpu0.periods"]) >= INTERVALS[interval_us]


def test_a_kernel_that_is_measured_does_not_complain(asked: dict[str, list[str]]) -> None:
    assert asked["complaints"] == []
