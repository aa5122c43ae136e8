# SPDX-License-Identifier: Apache-2.0
"""Finds the loads that the program waits for: those whose value soon becomes the address of an access.

Called by charge.py, which makes them tell the machine (core.h: dependent_read). Without it, a walk along
pointers would look like loads that can be in flight at the same time. Values are followed through registers,
over a few instructions and around a loop; values that come back from memory or a call are not followed.
"""

import re

from instrument.assembly import Function, Instruction

REACH = 24  # instructions for which a value is followed
FULL = {name: f"%r{x}x" for x in "abcd" for name in (f"%r{x}x", f"%e{x}x", f"%{x}x", f"%{x}l")}
FULL |= {name: f"%r{x}" for x in ("si", "di", "bp", "sp") for name in (f"%r{x}", f"%e{x}", f"%{x}", f"%{x}l")}
FULL |= {f"%r{n}{part}": f"%r{n}" for n in range(8, 16) for part in ("", "d", "w", "b")}
KEPT_BY_CALLS = {"%rbx", "%rbp", "%r12", "%r13", "%r14", "%r15"}


def registers(operand: str) -> set[str]:
    return {FULL[name] for name in re.findall(r"%\w+", operand) if name in FULL}


def is_memory(operand: str) -> bool:
    return "(" in operand


def step(instruction: Instruction, values: set[str]) -> bool:
    """Follow the value over one instruction; true: it is used as an address."""
    name, operands = instruction.name, instruction.operands
    sources, last = operands[:-1], operands[-1]
    if name.startswith("lea"):
        if registers(sources[0]) & values:
            values.update(registers(last))
        else:
            values.difference_update(registers(last))
        return False
    if any(is_memory(operand) and registers(operand) & values for operand in operands):
        return True
    if is_memory(last) or name.startswith(("cmp", "test", "push")):
        return False
    fed = any(registers(operand) & values for operand in sources)
    if fed:
        values.update(registers(last))
    elif name.startswith(("mov", "pop", "set", "xor")) and sources:
        values.difference_update(registers(last))
    return False


def becomes_address(
    function: Function, block: int, position: int, values: set[str], reach: int = REACH
) -> bool:
    """Whether one of `values` is the address of an access before it is lost."""
    values = set(values)
    while block < len(function.blocks) and reach > 0:
        for instruction in function.blocks[block].instructions[position:]:
            reach -= 1
            if reach == 0 or not values:
                return False
            if instruction.is_jump:
                break
            if instruction.is_call:
                if not instruction.target.startswith("__tsan_"):
                    return False
                if "%rdi" in values:
                    return True
                values &= KEPT_BY_CALLS
            elif instruction.name == "ret" or step(instruction, values):
                return instruction.name != "ret"
        last = function.blocks[block].last
        if last is not None and last.is_jump:
            target = function.labels.get(last.target)
            if target is not None and becomes_address(function, target, 0, values, reach // 2):
                return True
            if last.name == "jmp":
                return False
        block, position = block + 1, 0
    return False


def is_waited_for(function: Function, block: int, position: int) -> bool:
    """Whether the program waits for the load after the callback at a place in a function."""
    instructions = function.blocks[block].instructions
    for after in range(position + 1, len(instructions)):
        instruction = instructions[after]
        if instruction.is_call or instruction.ends_block:
            return False
        operands = instruction.operands
        if any(is_memory(operand) and "%rsp" not in operand for operand in operands):
            loads = instruction.name.startswith("mov") and is_memory(operands[0]) and operands[-1] in FULL
            return loads and becomes_address(function, block, after + 1, registers(operands[-1]))
    return False
