# SPDX-License-Identifier: Apache-2.0
"""Results of the interpreter of Armv7 instructions (A5), compared with qemu-arm.

The same ELF file runs on both, and both write the same bytes: registers and flags after each of some thousand
random instructions, the memory that they wrote, and the results of a C program with branches and calls.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from bulkhead.env.native import ensure_built
from bulkhead.env.paths import build_dir
from bulkhead.env.qemu_user import qemu_arm

HERE = Path(__file__).parent
SETS = {"t32": "-mthumb", "a32": "-marm"}
CASES_OF_ROW = 12  # of each row of the decoder's tables
RECORD_BYTES = 120  # of a case: 15 words before and 15 after it
CPU = "cortex-a15"  # v7-A with all that is optional in the interpreter: division in both sets


def tool(name: str) -> str:
    return str(build_dir() / "host/tests/machine/armv7" / name)


@pytest.fixture(scope="module", autouse=True)
def built() -> None:
    ensure_built(["host"], ["armv7_random_streams", "armv7_linux_program"])


def linked(directory: Path, *arguments: str) -> Path:
    """A static program at an address where both have memory."""
    program = directory / "program.elf"
    place = ["-nostdlib", "-static", "-Wl,-z,max-page-size=0x1000", "-Wl,-Ttext=0x12000"]
    subprocess.run(
        ["arm-none-eabi-gcc", "-march=armv7ve", "-mfloat-abi=soft", *place, *arguments, "-o", str(program)],
        check=True,
    )
    return program


def outputs(program: Path) -> tuple[bytes, bytes]:
    emulated = subprocess.run([*qemu_arm(), "-cpu", CPU, str(program)], capture_output=True, check=True)
    own = subprocess.run([tool("armv7_linux_program"), str(program)], capture_output=True, check=False)
    assert own.returncode == 0, own.stderr.decode()
    return emulated.stdout, own.stdout


def cases_of(assembly: str) -> list[str]:
    """The instructions of each case of a stream."""
    cases = []
    for case in assembly.split("begin_case\n")[1:]:
        body, _, _ = case.partition("end_case")
        cases.append("; ".join(line.strip() for line in body.splitlines()))
    return cases


@pytest.mark.req("A5")
@pytest.mark.parametrize("instructions", SETS)
def test_random_instructions_do_what_they_do_on_the_emulator(tmp_path: Path, instructions: str) -> None:
    stream = subprocess.run(
        [tool("armv7_random_streams"), instructions, "1", str(CASES_OF_ROW)],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    (tmp_path / "cases.S").write_text(stream)
    flags = ["-Wa,--defsym,in_t32=1"] if instructions == "t32" else []
    program = linked(tmp_path, *flags, f"-I{tmp_path}", f"-Wa,-I{tmp_path}", str(HERE / "streams.S"))
    emulated, own = outputs(program)
    cases = cases_of(stream)
    assert len(cases) > 100 * CASES_OF_ROW
    assert len(emulated) > len(cases) * RECORD_BYTES
    different = [
        case
        for number, case in enumerate(cases)
        if emulated[(at := number * RECORD_BYTES) : at + RECORD_BYTES] != own[at : at + RECORD_BYTES]
    ]
    assert different == []
    assert emulated == own, "registers are equal, what was stored is not"


@pytest.mark.req("A5")
@pytest.mark.parametrize("instructions", SETS)
def test_a_program_computes_what_it_computes_on_the_emulator(tmp_path: Path, instructions: str) -> None:
    program = linked(tmp_path, SETS[instructions], "-O2", "-ffreestanding", str(HERE / "program.c"), "-lgcc")
    emulated, own = outputs(program)
    assert len(emulated) > 4096
    assert emulated == own
