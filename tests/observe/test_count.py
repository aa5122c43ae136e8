# SPDX-License-Identifier: Apache-2.0
"""Instructions between two events, counted exactly under -icount: the comparison of a guest's boot with and
without the hypervisor depends on it."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from .bench import START_WORD_PA, UART_PA, Setup, build, command, plugin, run, running, wait_for

pytestmark = pytest.mark.emulator

# From the instruction after the start store to the store of the last character, both included:
# 2 to set up, 3 for each of 1000 turns, and 3 for each character.
COUNTED = 2 + 3 * 1000 + 3 * 3
BODY = """
main:
    nop
    start_counting
begin:
    mov x13, #1000
    nop
1:  ldr x11, [x9]
    subs x13, x13, #1
    b.ne 1b
    print_char 'a'
    print_char 'b'
    print_char 'c'
    print_char 'd'
    b {end}
"""


def count_command(directory: Path, end: str, cores: int, *arguments: str) -> list[str]:
    setup = Setup(BODY.format(end=end), cores=cores)
    program = build(directory, setup.body)
    given = ",".join(
        [f"{plugin('count')}", f"out={directory / 'out.json'}", f"uart={UART_PA:#x}", *arguments]
    )
    return command(setup, program, given, "-icount", "shift=1,sleep=off")


def count(directory: Path, *arguments: str, cores: int = 1) -> dict[str, object]:
    line = count_command(directory, "power_off", cores, *arguments)
    done = run(line)
    assert done.returncode == 0, done.stderr
    result: dict[str, object] = json.loads((directory / "out.json").read_text())
    return result


@pytest.mark.parametrize("cores", [1, 4])
def test_from_a_store_to_a_text(tmp_path: Path, cores: int) -> None:
    """The store itself does not count, the last character does; cores that are off add nothing."""
    result = count(tmp_path, f"start={START_WORD_PA:#x}:1", "match=abc", cores=cores)
    assert result == {"instructions": COUNTED, "started": True, "matched": True}


def test_from_an_address(tmp_path: Path) -> None:
    """The first instruction is that of `main`: a nop and the three of start_counting are additional."""
    program = build(tmp_path, BODY.format(end="power_off"))
    listing = subprocess.check_output(["aarch64-linux-gnu-nm", str(program)], text=True)
    symbols = {name: int(at, 16) for at, _, name in map(str.split, listing.splitlines())}
    result = count(tmp_path, f"from={symbols['main']:#x}", "match=abc")
    assert result["instructions"] == COUNTED + 4
    armed = count(tmp_path, f"start={START_WORD_PA:#x}:1", f"from={symbols['begin']:#x}", "match=abc")
    assert armed["instructions"] == COUNTED
    never = count(tmp_path, f"start={START_WORD_PA:#x}:1", f"from={symbols['main']:#x}", "match=abc")
    assert never == {"instructions": 0, "started": False, "matched": False}


def test_instructions_of_an_address_range_are_counted_by_themselves(tmp_path: Path) -> None:
    """The range is `begin` up to its loop: two instructions; the loop's three and the rest are outside."""
    program = build(tmp_path, BODY.format(end="power_off"))
    listing = subprocess.check_output(["aarch64-linux-gnu-nm", str(program)], text=True)
    symbols = {name: int(at, 16) for at, _, name in map(str.split, listing.splitlines())}
    start = f"start={START_WORD_PA:#x}:1"
    first = count(tmp_path, start, f"within={symbols['begin']:#x}:8", "match=abc")
    assert (first["instructions"], first["instructions_within"]) == (COUNTED, 2)
    loop = count(tmp_path, start, f"within={symbols['begin'] + 8:#x}:12", "match=abc")
    assert (loop["instructions"], loop["instructions_within"]) == (COUNTED, 3 * 1000)


def test_memory_is_read_when_the_text_is_complete(tmp_path: Path) -> None:
    """The start word is 1 then."""
    result = count(tmp_path, f"read={START_WORD_PA:#x}:4", "match=abc")
    assert result["memory"] == "01000000"


# Three visits of core 0 to the function `visited`, the second one past `marked`; between them one of core 1.
VISITS = """
.macro visit_until label
    adr x14, \\label
    msr elr_el2, x14
    b visited
.endm

main:
    mov x9, #5
    msr tpidr_el2, x9
    mov x9, #0x3c9              // back to EL2, with interrupts masked
    msr spsr_el2, x9
    start_counting
    mov x13, #0
    visit_until 1f
1:  cpu_on 1, other
    wait_word 0x40210000
    mov x13, #1
    visit_until 2f
2:  mov x13, #0
    visit_until 3f
3:  print_char 'a'
    b {end}

other:
    mov x9, #9
    msr tpidr_el2, x9
    mov x9, #0x3c9
    msr spsr_el2, x9
    mov x13, #0
    visit_until 4f
4:  signal_word 0x40210000
    b park

visited:
    nop
    cbz x13, 5f
marked:
    nop
5:  eret
visited_end:
"""


def test_visits_are_counted_core_by_core_up_to_their_returns(tmp_path: Path) -> None:
    program = build(tmp_path, VISITS.format(end="power_off"))
    listing = subprocess.check_output(["aarch64-linux-gnu-nm", str(program)], text=True)
    symbols = {name: int(at, 16) for at, _, name in map(str.split, listing.splitlines())}
    size = symbols["visited_end"] - symbols["visited"]
    setup = Setup(VISITS.format(end="power_off"), cores=2)
    given = [
        *(f"{plugin('count')}", f"out={tmp_path / 'out.json'}", f"uart={UART_PA:#x}", "match=a"),
        f"start={START_WORD_PA:#x}:1",
        f"visits={symbols['visited']:#x}:{size}",
        f"marks={symbols['marked']:#x}:{symbols['main']:#x}",
    ]
    done = run(command(setup, program, ",".join(given), "-icount", "shift=1,sleep=off"))
    assert done.returncode == 0, done.stderr
    result = json.loads((tmp_path / "out.json").read_text())
    assert result["visits"] == [[0, 0, 3], [1, 0, 3], [0, 1, 4], [0, 0, 3]]


def test_longer_text_takes_longer(tmp_path: Path) -> None:
    """There are three instructions a character, device accesses included: none is counted twice."""
    first = count(tmp_path, "match=a")["instructions"]
    last = count(tmp_path, "match=abcd")["instructions"]
    assert isinstance(first, int)
    assert isinstance(last, int)
    assert last - first == 9


def test_without_the_text_it_says_so(tmp_path: Path) -> None:
    """It reports that at the end of the run."""
    assert count(tmp_path, "match=xyz")["matched"] is False


def test_written_at_once_when_the_text_appears(tmp_path: Path) -> None:
    """The machine continues to run."""
    with running(count_command(tmp_path, "park", 1, "match=abc")):
        wait_for(tmp_path / "out.json")
        assert json.loads((tmp_path / "out.json").read_text())["matched"] is True


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("match=a", "strat=first"), "argument 'strat=first': known are"),
        ((), "match=TEXT are needed"),
        (("match=a", "start=1"), "neither `first` nor"),
        (("match=a", "from=main"), "from=main is no address"),
        (("match=a", "within=0x4000"), "within=0x4000 is not ADDRESS:BYTES"),
        (("match=a", "visits=0x4000"), "visits=0x4000 is not ADDRESS:BYTES"),
        (("match=a", "marks=0x4000"), "visits= is not ADDRESS:BYTES"),
        (("match=a", "visits=0x4000:8", "marks=here"), "marks=here is not a list of at most 32 addresses"),
        (("match=a", "read=0x4000:0"), "read=0x4000:0 is not ADDRESS:BYTES"),
    ],
)
def test_bad_arguments_refuse_to_run(tmp_path: Path, arguments: tuple[str, ...], reason: str) -> None:
    """The message has the reason."""
    line = count_command(tmp_path, "power_off", 1, *arguments)
    done = run(line)
    assert done.returncode != 0
    assert reason in done.stderr
