# SPDX-License-Identifier: Apache-2.0
"""Functions of an Armv7-M object file as graphs of basic blocks.

Reads the disassembly of binutils. A call counts as its one instruction, and is reported: the callee has a
bound of its own. Code that cannot be followed (jumps by table or register) is an error and is never left out.
"""

import re
import subprocess
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path

from bulkhead.errors import BulkheadError

OBJDUMP = "arm-none-eabi-objdump"
_FUNCTION = re.compile(r"^[0-9a-f]+ <(?P<name>[^>]+)>:$")
_INSTRUCTION = re.compile(r"^\s*(?P<at>[0-9a-f]+):\s+(?P<name>\S+)\s*(?P<operands>[^@;]*)")
_CONDITIONS = "eq|ne|cs|cc|hs|lo|mi|pl|vs|vc|hi|ls|ge|lt|gt|le"
_BRANCH = re.compile(rf"^b(?P<condition>{_CONDITIONS})?(\.[nw])?$")
_RETURNS = re.compile(rf"^(?P<name>bx|pop|ldmia|ldr)(?P<condition>{_CONDITIONS})?(\.[nw])?$")
_TARGET = re.compile(r"(?P<at>[0-9a-f]+) <(?P<name>[^>+]+)(\+0x[0-9a-f]+)?>")

RETURN = -1  # in the place of a following instruction's address


class NotFollowedError(BulkheadError):
    """An instruction whose targets are not known."""


@dataclass(frozen=True)
class Instruction:
    """One instruction, as disassembled."""

    at: int
    name: str
    operands: str


@dataclass
class Block:
    """Instructions that are executed one after the other; and the blocks that can follow, or RETURN."""

    first: int
    instructions: int = 0
    next: set[int] = field(default_factory=set)
    calls: list[str] = field(default_factory=list)
    code: list[Instruction] = field(default_factory=list)


@dataclass(frozen=True)
class Function:
    """The blocks of a function by the address of their first instruction."""

    name: str
    entry: int
    blocks: dict[int, Block]

    @property
    def calls(self) -> list[str]:
        """The functions that it calls, in the order of addresses."""
        return [name for block in self.blocks.values() for name in block.calls]

    def without_calls_of(self, name: str) -> "Function":
        """The function as if no block that calls `name` were ever reached."""
        gone = {at for at, block in self.blocks.items() if name in block.calls}
        blocks = {
            at: Block(at, block.instructions, block.next - gone, block.calls, block.code)
            for at, block in self.blocks.items()
            if at not in gone
        }
        return Function(self.name, self.entry, blocks)


def _listed(listing: str) -> dict[str, list[Instruction]]:
    functions: dict[str, list[Instruction]] = {}
    current: list[Instruction] = []
    for line in listing.splitlines():
        if begin := _FUNCTION.match(line):
            current = functions.setdefault(begin["name"], [])
        elif one := _INSTRUCTION.match(line):
            current.append(Instruction(int(one["at"], 16), one["name"], one["operands"].strip()))
    return functions


def _returns(one: Instruction) -> re.Match[str] | None:
    found = _RETURNS.match(one.name)
    if not found:
        return None
    back = {"bx": one.operands == "lr", "ldr": one.operands.startswith("pc, [sp], #")}
    return found if back.get(found["name"], re.search(r"\bpc\b", one.operands) is not None) else None


def _follows(one: Instruction, after: int, inside: range) -> tuple[set[int], str]:
    """The addresses where an instruction can go, and the function that it calls."""
    target = _TARGET.search(one.operands)
    branch = _BRANCH.match(one.name)
    if back := _returns(one):
        return {RETURN, after} if back["condition"] else {RETURN}, ""
    if one.name in ("bl", "blx") and target:
        return {after}, target["name"]
    if branch and target:
        to = int(target["at"], 16)
        beyond = to not in inside  # the last call, which returns to the caller
        go = {RETURN if beyond else to}
        return go | ({after} if branch["condition"] else set()), target["name"] if beyond else ""
    if one.name in ("cbz", "cbnz") and target:
        to = int(target["at"], 16)
        beyond = to not in inside
        return {RETURN if beyond else to, after}, target["name"] if beyond else ""
    written = one.operands.partition(",")[0]
    if one.name.startswith(("tb", "bx", "blx")) or re.search(r"\bpc\b", written):
        raise NotFollowedError(f"{one.at:x}: {one.name} {one.operands}")
    return {after}, ""


def _blocks(code: list[Instruction]) -> dict[int, Block]:
    inside = range(code[0].at, code[-1].at + 1)
    follows: dict[int, set[int]] = {}
    calls: dict[int, str] = {}
    for number, one in enumerate(code):
        after = code[number + 1].at if number + 1 < len(code) else RETURN
        follows[one.at], calls[one.at] = _follows(one, after, inside)
    starts = {code[0].at, *(follows[code[-1].at] - {RETURN})}
    for number, one in enumerate(code[:-1]):
        after = code[number + 1].at
        if follows[one.at] != {after}:
            starts |= (follows[one.at] | {after}) - {RETURN}
    blocks: dict[int, Block] = {}
    current = Block(code[0].at)
    for one in code:
        if one.at in starts:
            current = blocks.setdefault(one.at, Block(one.at))
        current.instructions += 1
        current.code.append(one)
        current.next = follows[one.at]
        current.calls += [calls[one.at]] if calls[one.at] else []
    return blocks


def functions_of(listing: str, names: Collection[str] = ()) -> dict[str, Function]:
    """The named functions of a disassembly; all, if none is named."""
    return {
        name: Function(name, code[0].at, _blocks(code))
        for name, code in _listed(listing).items()
        if code and (not names or name in names)
    }


def disassembled(object_file: Path) -> str:
    """The listing of an object file."""
    command = [OBJDUMP, "--no-show-raw-insn", "-d", str(object_file)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout
