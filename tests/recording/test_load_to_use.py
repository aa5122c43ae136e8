# SPDX-License-Identifier: Apache-2.0
"""The measurement behind the in-order window: the first reader of a loaded value, by disassembly."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from load_to_use import FAR, Instruction, accessed, decoder, distance


def instructions(directory: Path, *lines: str) -> list[Instruction]:
    source, code, content = (directory / name for name in ("a.s", "a.o", "a.bin"))
    source.write_text("\n".join(lines) + "\n")
    subprocess.run(["aarch64-linux-gnu-as", str(source), "-o", str(code)], check=True)
    subprocess.run(["aarch64-linux-gnu-objcopy", "-O", "binary", str(code), str(content)], check=True)
    return [accessed(one) for one in decoder().disasm(content.read_bytes(), 0)]


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (("ldr w1, [x0]", "add w2, w1, w3"), 1),  # w1 and x1 are one register
        (
            ("ldr x1, [x0], #8", "add x2, x3, x4", "str x1, [x5]"),
            2,
        ),  # a store reads all registers that it names
        (("ldr x1, [x0]", "mov x1, x2", "add x3, x1, x1"), None),  # never read
        (("ldp x1, x2, [x0]", "mov x1, x3", "cmp x2, #1"), 2),  # the second is read
        (("ldr x1, [x0]", "ldr x2, [x1, x4]"), 1),  # an address is read
        (("ldr d1, [x0]", "fmla v1.2d, v2.2d, v3.2d"), 1),  # reads what it changes
        (("ldr x1, [x0]", "add x2, x3, x4"), FAR),
    ],
)
def test_the_first_reader_of_a_loaded_value_is_found(
    tmp_path: Path, lines: tuple[str, ...], expected: int | None
) -> None:
    load, *rest = instructions(tmp_path, *lines)
    assert distance(rest, load.loads) == expected


def test_loads_from_the_stack_do_not_count(tmp_path: Path) -> None:
    own, saved, other = instructions(
        tmp_path, "ldr x1, [sp, #16]", "ldp x1, x2, [x29, #-16]", "ldr x1, [x2], #8"
    )
    assert not own.loads
    assert not saved.loads
    assert other.loads == {"x1"}
    assert other.writes == {"x1", "x2"}
