# SPDX-License-Identifier: Apache-2.0
"""Programs of the hypervisor contain no sequences of instructions that trigger errata of a core."""

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from bulkhead.env.native import ensure_built
from bulkhead.env.paths import build_dir

OBJDUMP = "aarch64-linux-gnu-objdump"
_INSTRUCTION = re.compile(r"^\s*(?P<at>[0-9a-f]+):\s+[0-9a-f]{8}\s+(?P<name>\S+)\s*(?P<operands>[^/]*)")
_MEMORY = re.compile(r"(ld|st|prfm)")
_REGISTER = re.compile(r"\b[wx](\d+)\b")
_ACCUMULATES = {"madd", "msub", "smaddl", "smsubl", "umaddl", "umsubl"}


def loaded(name: str, operands: str) -> set[str]:
    """Numbers of the general registers that a load writes."""
    targets = operands.partition("[")[0]
    return set(_REGISTER.findall(targets)) if name.startswith("ld") else set()


def sequences_of_835769(listing: str) -> Iterator[str]:
    """Cortex-A53: an access to memory, directly followed by a 64-bit multiplication that adds or subtracts,
    unless that needs the loaded value."""
    before, written = "", set[str]()
    for line in listing.splitlines():
        found = _INSTRUCTION.match(line)
        if not found:
            continue
        name, operands = found["name"], found["operands"]
        if name in _ACCUMULATES and operands.startswith("x") and _MEMORY.match(before):
            sources = set(_REGISTER.findall(operands.partition(",")[2]))
            if not sources & written:
                yield found["at"]
        before, written = name, loaded(name, operands)


def test_the_sequence_is_found() -> None:
    listing = """
  40000000:\tf9400004 \tldr\tx4, [x1]
  40000004:\t9b020c20 \tmadd\tx0, x1, x2, x3
  40000008:\tf9400004 \tldr\tx4, [x1]
  4000000c:\td503201f \tnop
  40000010:\t9b020c20 \tmadd\tx0, x1, x2, x3
  40000014:\tb9400004 \tldr\tw4, [x1]
  40000018:\t1b020c20 \tmadd\tw0, w1, w2, w3
  4000001c:\tf9000001 \tstr\tx1, [x0]
  40000020:\t9ba10c01 \tumaddl\tx1, w0, w1, x3
  40000024:\ta9400821 \tldp\tx1, x2, [x1]
  40000028:\t9b020c20 \tmadd\tx0, x4, x2, x3
"""
    assert list(sequences_of_835769(listing)) == ["40000004", "40000020"]


@pytest.mark.req("T5")
def test_no_program_has_the_sequence_of_erratum_835769() -> None:
    ensure_built(["target"])
    programs = sorted((build_dir() / "target" / "hypervisor").glob("*/bulkhead*.elf"))
    assert len(programs) >= 6
    for program in programs:
        assert list(sequences_of_835769(disassembly(program))) == [], program


def disassembly(program: Path) -> str:
    return subprocess.run([OBJDUMP, "-d", program], capture_output=True, text=True, check=True).stdout
