# SPDX-License-Identifier: Apache-2.0
"""Functions, basic blocks and instructions of the compiler's x86-64 assembly (AT&T syntax).

Read by charge.py. It knows the forms that GCC writes, but not the semantics of instructions. The build starts
charge.py for each object, so nothing is imported that takes long (`dataclasses` takes a third of its time).
"""

import re
from collections.abc import Iterable, Iterator
from functools import cached_property

LABEL = re.compile(r"^([.\w$]+):")
SECTION = re.compile(r"^\s*\.(text|data|bss|section|previous|pushsection|popsection)\b\s*([^,\s]*)")
FUNCTION = re.compile(r"^\s*\.type\s+([.\w$]+),\s*@function")
OPERAND = re.compile(r"(?:\([^()]*\)|[^,()])+")


class Instruction:
    """One instruction; `line` is its place in the file. `opaque`: it is of an asm statement."""

    def __init__(self, line: int, text: str, opaque: bool = False) -> None:
        self.line, self.text, self.opaque = line, text, opaque
        self.counted = True

    @cached_property
    def name(self) -> str:
        words = self.text.split(None, 2)
        prefixed = words[0] in ("rep", "repz", "repnz", "lock", "notrack") and len(words) > 1
        return words[1] if prefixed else words[0]

    @cached_property
    def operands(self) -> list[str]:
        tail = self.text.partition(self.name)[2]
        return [match.strip() for match in OPERAND.findall(tail)] or [""]

    @property
    def is_call(self) -> bool:
        return self.name in ("call", "callq")

    @property
    def is_jump(self) -> bool:
        return self.name.startswith("j")

    @property
    def ends_block(self) -> bool:
        return self.is_jump or self.name in ("ret", "ud2", "hlt")

    @property
    def target(self) -> str:
        """The function called or label jumped to; empty if it is not in the text."""
        match = re.fullmatch(r"\*?([.\w$]+)(@PLT|@GOTPCREL\(%rip\))?", self.operands[0])
        return match[1] if match else ""

    def leaves_function(self, labels: dict[str, int]) -> bool:
        """Whether a jump is a call that does not return (a tail call by name)."""
        return self.target != "" and not self.target.startswith(".L") and self.target not in labels


class Block:
    """Instructions that are executed one after the other, or none of them."""

    def __init__(self, labels: Iterable[str] = ()) -> None:
        self.labels = list(labels)
        self.instructions: list[Instruction] = []

    @property
    def last(self) -> Instruction | None:
        return self.instructions[-1] if self.instructions else None


class Function:
    def __init__(self, name: str, blocks: list[Block]) -> None:
        self.name, self.blocks = name, blocks

    @cached_property
    def labels(self) -> dict[str, int]:
        return {label: number for number, block in enumerate(self.blocks) for label in block.labels}

    def instructions(self) -> Iterator[Instruction]:
        for block in self.blocks:
            yield from block.instructions


def is_text(directive: str, section: str) -> bool:
    return directive == "text" or (directive == "section" and section.startswith(".text"))


def functions_of(lines: list[str]) -> list[Function]:
    """All functions in their order; text between them and in other sections is left unchanged."""
    functions: list[Function] = []
    names: set[str] = set()
    in_text, opaque = True, False
    for number, line in enumerate(lines):
        if match := SECTION.match(line):
            in_text = is_text(match[1], match[2])
        elif match := FUNCTION.match(line):
            names.add(match[1])
        elif line.startswith("#"):
            opaque = line.startswith("#APP")
        elif not in_text:
            continue
        elif match := LABEL.match(line):
            if match[1] in names:
                functions.append(Function(match[1], [Block([match[1]])]))
            elif functions:
                begin_block(functions[-1]).labels.append(match[1])
        elif functions and line.startswith("\t") and not line.startswith("\t.") and line.strip():
            text = line.strip()
            if text.startswith("#"):
                continue
            last = functions[-1].blocks[-1].last
            block = begin_block(functions[-1]) if last and last.ends_block else functions[-1].blocks[-1]
            block.instructions.append(Instruction(number, text, opaque))
    return functions


def begin_block(function: Function) -> Block:
    if function.blocks[-1].instructions:
        function.blocks.append(Block())
    return function.blocks[-1]
