# SPDX-License-Identifier: Apache-2.0
"""Only the component that writes on the console waits for the UART: on the simulated STM32F767 with a line
that is as slow as a real one, 115200 baud (X6)."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from bulkhead.config.locate import platform_path
from tests.mxu.components import Json, run, written

pytestmark = [pytest.mark.emulator, pytest.mark.req("X6")]
CALM = """
void component_main(void)
{
    volatile unsigned work = 0;

    for (;;) {
        rt_end_job();
        for (unsigned i = 0; i < 100u; i++) {
            work += i;
        }
    }
}
"""
FLOOD = """
static void flood(unsigned turn)
{
    rt_print("a line of the flood, which is long enough to keep the line busy: ");
    rt_print_number(turn);
    rt_print("\\n\\n\\n\\n");
}
"""
FLOODS = FLOOD + "void component_main(void) { for (unsigned i = 0;; i++) { flood(i); } }\n"
FLOODS_IN_JOBS = (
    FLOOD + "void component_main(void) { rt_end_job(); for (unsigned i = 0;; i++) { flood(i); } }\n"
)
INTRUDER = "void component_main(void) { rt_sleep(SLEEP); *(volatile unsigned *)0x20000000u = 1; }\n"
CHARACTER_US = 87


def slow_line(directory: Path) -> str:
    """The platform with the clock of its USART1 (APB2, 108 MHz), whose BRR the board sets for 115200 baud."""
    ours = platform_path("stm32f767")
    assert ours is not None
    text = ours.read_text()
    slow = text.replace(
        "type: stm32-usart, at: 0x40011000,", "type: stm32-usart, at: 0x40011000, clock: 108 MHz,"
    )
    assert slow != text
    file = directory / "slow.yaml"
    file.write_text(slow.replace("name: stm32f767", "name: slow"))
    return str(file)


def response_us(result: Json, name: str) -> float:
    [one] = [one for one in result["components"] if one["name"] == name]
    assert one["job"]["ended"] >= 90 and one["job"]["late"] == one["job"]["overruns"] == 0, result["reasons"]
    return float(one["job"]["response_most_ns"]) / 1000


def measured(directory: Path, *others: Json) -> Json:
    calm = {"name": "calm", "code": CALM, "period": "1 ms", "budget": "200 us"}
    path = written(directory, slow_line(directory), calm, *others)
    _, result = run(path, "--on", "machine", "--for", "100 ms")
    assert result["ended"] == "end", result["reasons"]
    return result


@pytest.fixture(name="alone_us", scope="module")
def what_it_takes_alone(tmp_path_factory: pytest.TempPathFactory) -> float:
    return response_us(measured(tmp_path_factory.mktemp("alone")), "calm")


@pytest.mark.parametrize(
    "flood",
    [
        {"name": "flood", "code": FLOODS},
        {"name": "flood", "code": FLOODS_IN_JOBS, "period": "5 ms", "budget": "4 ms"},
    ],
    ids=["all that is left", "in a budget"],
)
def test_a_flood_delays_no_other_component(flood: Json, alone_us: float, tmp_path: Path) -> None:
    result = measured(tmp_path, flood)
    assert response_us(result, "calm") < alone_us + CHARACTER_US, "not even by a character"


def test_lines_of_the_kernel_and_the_scheduler_delay_nobody(alone_us: float, tmp_path: Path) -> None:
    hogs = [
        {"name": f"hog-{n}", "code": FLOODS_IN_JOBS, "period": "20 ms", "budget": "1 ms"} for n in range(2)
    ]
    killed = [
        {"name": f"bad-{n}", "code": INTRUDER.replace("SLEEP", str(20 + 7 * n)), "expect": "killed"}
        for n in range(3)
    ]
    result = measured(tmp_path, *hogs, *killed)
    assert response_us(result, "calm") < alone_us + CHARACTER_US, "where these lines take some 40 ms"
    assert sum(" killed: " in line for line in result["console"]["kernel"]) == 3
    assert sum(" is stopped until " in line for line in result["console"]["scheduler"]) == 2


def test_a_flood_is_as_fast_as_the_line_and_loses_nothing(tmp_path: Path) -> None:
    result = measured(tmp_path, {"name": "flood", "code": FLOODS})
    lines = [line for line in result["console"]["flood"] if line]
    numbers = [int(found[1]) for line in lines[:-1] if (found := re.fullmatch(r"a line of .*: (\d+)", line))]
    assert numbers == list(range(len(lines) - 1)) and len(numbers) > 3
