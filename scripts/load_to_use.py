# SPDX-License-Identifier: Apache-2.0
"""How many instructions after a load its value is first read, in the AArch64 build of the workloads.

`PYTHONPATH=src build/venv/bin/python scripts/load_to_use.py [NAME ...]`. An in-order core executes no further
than this after a missed load: the platforms' `cores.pipeline.window` is determined by this script. The
emulator reports the order of executed blocks, Capstone the registers that their instructions access. Loads
from the stack are left out, because they hit.
"""

import re
import subprocess
import sys
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from capstone import CS_ARCH_ARM64, CS_MODE_ARM, Cs, CsInsn
from capstone.arm64 import ARM64_OP_MEM
from elftools.elf.constants import SH_FLAGS
from elftools.elf.elffile import ELFFile

from bulkhead.env.native import ensure_built
from bulkhead.env.paths import build_dir
from bulkhead.env.qemu_user import qemu_user

NAMES = ("corners", "disparity", "edges", "euclidean_cluster", "matmul", "mser", "qsort", "tracking")
FOLLOWED = 4  # blocks that are looked through after a load's own
FAR = 64  # a load whose value is read no earlier counts as this
EXECUTED = re.compile(r"Trace \d+: 0x[0-9a-f]+ \[[0-9a-f]+/([0-9a-f]+)/")
TRANSLATED = re.compile(r"0x([0-9a-f]+):")
NUMBERED = re.compile(r"([a-z])(\d+)")
NAMED = {"fp": "x29", "lr": "x30"}
STACK = ("sp", "fp")
# Capstone 5 says of these that they write their first operand.
COMPARISONS = ("cmp", "cmn", "tst", "ccmp", "ccmn", "fcmp", "fcmpe", "fccmp", "fccmpe")


@dataclass(frozen=True)
class Instruction:
    reads: frozenset[str]
    writes: frozenset[str]
    loads: frozenset[str] = frozenset()  # those that it writes with values from memory, except from the stack


def decoder() -> Cs:
    made = Cs(CS_ARCH_ARM64, CS_MODE_ARM)
    made.detail = True  # registers and operands
    made.skipdata = True  # constants between functions
    return made


def accessed(one: CsInsn) -> Instruction:
    """The registers that an instruction reads and writes."""
    read, written = (_registers(one, numbers) for numbers in one.regs_access())
    if one.mnemonic in COMPARISONS:
        return Instruction(read | written, frozenset())
    if not one.mnemonic.startswith("ld"):
        return Instruction(read, written)
    bases = [operand.mem.base for operand in one.operands if operand.type == ARM64_OP_MEM]
    loaded = written - _registers(one, bases)
    stack = any(one.reg_name(base) in STACK for base in bases)
    return Instruction(read - loaded, written, frozenset() if stack else loaded)


def _registers(one: CsInsn, numbers: Iterable[int]) -> frozenset[str]:
    """General registers as x0 to x30, those of vectors as v0 to v31, whatever their width; no others."""
    found = (NUMBERED.fullmatch(NAMED.get(name, name)) for name in map(one.reg_name, numbers) if name)
    return frozenset(("x" if one[1] in "xw" else "v") + one[2] for one in found if one)


def distance(follow: Iterable[Instruction], loaded: frozenset[str]) -> int | None:
    """Instructions until one reads the loaded value; None if none ever does."""
    waiting = loaded
    for number, one in enumerate(follow, 1):
        if waiting & one.reads:
            return number
        waiting -= one.writes
        if not waiting:
            return None
    return FAR


def disassembled(program: Path) -> dict[int, Instruction]:
    """The program's instructions by address."""
    with program.open("rb") as file:
        sections = [one for one in ELFFile(file).iter_sections() if one["sh_flags"] & SH_FLAGS.SHF_EXECINSTR]
        code = [(one["sh_addr"], one.data()) for one in sections]
    made = decoder()
    return {one.address: accessed(one) for at, content in code for one in made.disasm(content, at) if one.id}


def executed(
    program: Path, arguments: Sequence[str]
) -> tuple[dict[int, list[int]], Counter[tuple[int, ...]]]:
    """Addresses of each block's instructions, and how often each pair of blocks was executed in sequence."""
    command = [str(qemu_user()), "-d", "in_asm,exec,nochain", "-D", "/dev/stderr", str(program), *arguments]
    blocks: dict[int, list[int]] = {}
    runs: Counter[tuple[int, ...]] = Counter()
    latest: deque[int] = deque(maxlen=FOLLOWED + 1)
    block: list[int] | None = None
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True) as emulator:
        assert emulator.stderr is not None
        for line in emulator.stderr:
            if one := EXECUTED.match(line):
                block = None
                latest.append(int(one[1], 16))
                runs[tuple(latest)] += len(latest) == FOLLOWED + 1
            elif one := TRANSLATED.match(line):
                at = int(one[1], 16)
                block = blocks.setdefault(at, []) if block is None else block
                block.append(at)
            elif line.startswith("IN:"):
                block = None
    return blocks, runs


def distances(program: Path, arguments: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Numbers of loads by distance."""
    code = disassembled(program)
    blocks, runs = executed(program, arguments)
    for run, times in runs.items():
        own = [at for at in blocks.get(run[0], ()) if at in code]
        after = [code[at] for block in run for at in blocks.get(block, ()) if at in code]
        for number, at in enumerate(own):
            found = distance(after[number + 1 :], code[at].loads) if code[at].loads else None
            if found is not None:
                yield found, times


def main(names: Sequence[str]) -> int:
    ensure_built(["target"], ["workload"])
    program = build_dir() / "target" / "workloads" / "workload"
    means: list[float] = []
    for name in names:
        seen: Counter[int] = Counter()
        for found, times in distances(program, [name, "small=1", "iterations=1", "warmup=0"]):
            seen[found] += times
        loads = sum(seen.values())
        means.append(sum(found * times for found, times in seen.items()) / loads)
        median = sorted(seen.elements())[loads // 2]
        print(f"{name:18} {loads:9} loads, mean {means[-1]:.2f}, median {median}")
    print(f"mean of the means {sum(means) / len(means):.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or NAMES))
