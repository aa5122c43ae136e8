# SPDX-License-Identifier: Apache-2.0
"""How many instructions after a load its value is first read, in the AArch64 build of the workloads.

`PYTHONPATH=src build/venv/bin/python scripts/load_to_use.py [NAME ...]`. An in-order core executes no further
than this after a missed load: the platforms' `cores.pipeline.window` is determined by this script. The
emulator reports the order of executed blocks, objdump their instructions. Loads from the stack are left out,
because they hit.
"""

import re
import subprocess
import sys
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from bulkhead.env.native import ensure_built
from bulkhead.env.paths import build_dir
from bulkhead.env.qemu_user import qemu_user

NAMES = ("corners", "disparity", "edges", "euclidean_cluster", "matmul", "mser", "qsort", "tracking")
FOLLOWED = 4  # blocks that are searched after a load's own
FAR = 64  # a load whose value is not read earlier counts as this
REGISTER = re.compile(r"\b(?:[xw](\d+)|[bhsdqv](\d+))\b")
DISASSEMBLED = re.compile(r"\s*([0-9a-f]+):\t(\S+)(?:\s+([^/]*))?")
EXECUTED = re.compile(r"Trace \d+: 0x[0-9a-f]+ \[[0-9a-f]+/([0-9a-f]+)/")
TRANSLATED = re.compile(r"0x([0-9a-f]+):")
NO_RESULT = ("st", "cmp", "cmn", "tst", "b.", "cb", "tb", "br", "blr", "ret", "ccm", "fcmp", "fccmp", "prfm")
READS_RESULT = ("movk", "bfi", "bfxil", "ins", "mla", "mls", "fmla", "fmls")


@dataclass(frozen=True)
class Instruction:
    reads: frozenset[str]
    writes: frozenset[str]
    loads: frozenset[str] = (
        frozenset()
    )  # registers that it writes, if it loads from memory other than the stack


def registers(text: str) -> frozenset[str]:
    return frozenset(f"x{x}" if x else f"v{v}" for x, v in REGISTER.findall(text))


def decoded(mnemonic: str, operands: str) -> Instruction:
    parts = re.split(r",(?![^\[]*\])", operands)
    if mnemonic.startswith("ld"):
        into = registers(",".join(parts[: 2 if mnemonic.startswith(("ldp", "ldnp")) else 1]))
        address = operands[operands.find("[") :] if "[" in operands else ""
        stack = "sp" in address or "x29" in address
        return Instruction(registers(address), into, frozenset() if stack else into)
    if mnemonic.startswith(NO_RESULT):
        return Instruction(registers(operands), frozenset())
    result = registers(parts[0])
    read = registers(",".join(parts[1:]))
    return Instruction(read | result if mnemonic.startswith(READS_RESULT) else read, result)


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
    command = ["aarch64-linux-gnu-objdump", "-d", "--no-show-raw-insn", str(program)]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    found = (DISASSEMBLED.match(line) for line in text.splitlines())
    return {int(one[1], 16): decoded(one[2], one[3] or "") for one in found if one}


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
