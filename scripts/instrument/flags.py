# SPDX-License-Identifier: Apache-2.0
"""Whether the condition flags matter at a place of x86-64 code; if not, code put there may change them.

Called by charge.py. An instruction that is not known to leave or to set the flags counts as a reader, which
is on the safe side.
"""

import re
from collections.abc import Sequence
from enum import Enum, auto

from instrument.assembly import Block, Instruction


class Effect(Enum):
    """An instruction's effect on the flags, which the compiler treats as one register."""

    READS = auto()
    SETS = auto()
    LEAVES = auto()


SETS = re.compile(
    r"(add|sub|and|or|xor|cmp|test|neg|inc|dec|imul|mul|div|idiv)[bwlq]?$"
    r"|(bt|bts|btr|btc|bsf|bsr|tzcnt|lzcnt|popcnt|andn|blsr|blsi|blsmsk)[wlq]?$"
    r"|u?comis[sd]$"
)
SHIFTS = re.compile(r"(sal|shl|sar|shr|rol|ror|shld|shrd)[bwlq]?$")
LEAVES = re.compile(
    r"(mov|movabs|lea|push|pop|not|xchg|nop)[bwlq]?$|mov[sz][bwl][wlq]$|movs[bwl]q$|movsbl$"
    r"|(cltq|cqto|cltd|cwtl|cwtd|cqo|cdq|cbw|cwde|cdqe|cbtw|bswap|leave|nop|endbr64|pause|rdtsc)[lqw]?$"
    r"|prefetch\w+$|[lms]fence$"
)
REPEATED_MOVE = re.compile(r"rep(z|nz|e|ne)?\s+(movs|stos)[bwlq]$")


def effect(instruction: Instruction) -> Effect:
    name, operands = instruction.name, instruction.operands
    if instruction.opaque:
        return Effect.READS
    if instruction.is_call or name in ("ret", "ud2", "hlt") or SETS.match(name):
        return Effect.SETS  # flags are not passed through calls
    if SHIFTS.match(name):
        # A shift by %cl may be by 0, which leaves the flags.
        return Effect.SETS if re.match(r"\$[1-9]", operands[0]) and len(operands) > 1 else Effect.LEAVES
    if LEAVES.match(name) or REPEATED_MOVE.match(instruction.text):
        return Effect.LEAVES
    vector = any("%xmm" in operand for operand in operands)
    return Effect.LEAVES if vector and not name.startswith(("ptest", "pcmp")) else Effect.READS


def flags_matter(blocks: Sequence[Block], labels: dict[str, int], number: int, position: int) -> bool:
    """Whether an instruction reads the flags, as they are before an instruction, before any instruction sets
    them."""
    seen: set[int] = set()
    while number < len(blocks):
        for instruction in blocks[number].instructions[position:]:
            if instruction.is_jump:
                break
            what = effect(instruction)
            if what is not Effect.LEAVES:
                return what is Effect.READS
        last = blocks[number].last
        if last is not None and last.is_jump:
            if last.name != "jmp":
                return True
            if last.leaves_function(labels):
                return False
            if last.target not in labels:
                return True
            number = labels[last.target]
        else:
            number += 1
        if number in seen:
            return False  # a cycle in which no instruction reads them
        seen.add(number)
        position = 0
    return False
