# SPDX-License-Identifier: Apache-2.0
"""Makes compiled x86-64 code count its instructions: each basic block subtracts their number from the
machine's budget (machine/budget.h) and calls the machine when the budget is spent, or when the block must be
fetched (fetches.py). Loads that the program waits for (dependence.py) get a separate callback.

    python -m instrument.charge IN.s OUT.s

Called by cmake/instrumented.cmake between compiler and assembler. It changes nothing else, and must not
change what the program computes: registers r10 and r11 are its own (-ffixed), there is no red zone, and the
flags are overwritten only where they are not read any more (flags.py).
"""

import re
import sys

from instrument.assembly import Block, Function, Instruction, functions_of
from instrument.dependence import is_waited_for
from instrument.fetches import Fetches
from instrument.flags import flags_matter

CALLEE_SAVED = {"%rbx", "%rbp", "%r12", "%r13", "%r14", "%r15"}
ARGUMENTS = {"%rdi", "%rsi", "%rdx", "%rcx", "%r8", "%r9", "%edi", "%esi", "%edx", "%ecx", "%r8d", "%r9d"}
# Registers that only the callback needs: the address, a size, a memory order.
SET_UP = (
    (re.compile(r"__tsan_\w*_?range"), (("%rdi", "%edi"), ("%rsi", "%esi"))),
    (re.compile(r"__tsan_atomic\d+_load"), (("%rdi", "%edi"), ("%rsi", "%esi"))),
    (re.compile(r"__tsan_atomic\d+_compare"), (("%rdi", "%edi"), ("%rcx", "%ecx"), ("%r8", "%r8d"))),
    (re.compile(r"__tsan_atomic\d+_"), (("%rdi", "%edi"), ("%rdx", "%edx"))),
    (re.compile(r"__tsan_"), (("%rdi", "%edi"),)),
)
BUDGET = "machine_running@GOTPCREL(%rip)"
SPENT = "machine_program_spent@GOTPCREL(%rip)"


class Refusal(Exception):
    """Code that cannot be instrumented; the text gives the reason."""


def is_callback(instruction: Instruction) -> bool:
    return (instruction.is_call or instruction.name == "jmp") and instruction.target.startswith("__tsan_")


def discount_set_up(block: Block, position: int) -> None:
    """Of the call at `position`: the last move to each register that only the call reads is not the
    program's."""
    target = block.instructions[position].target
    wanted = next(registers for pattern, registers in SET_UP if pattern.match(target))
    for names in wanted:
        for instruction in reversed(block.instructions[:position]):
            if instruction.is_call:
                break
            if instruction.operands[-1] in names:
                if re.match(r"(mov|lea|xor)", instruction.name):
                    instruction.counted = False
                break


def is_spill(instruction: Instruction) -> bool:
    """A plain move to or from the stack's own slots: the target has enough registers to avoid it."""
    return bool(re.fullmatch(r"mov[lqb]|movs[sd]|mova[p][sd]", instruction.name)) and any(
        re.fullmatch(r"-?\d*\(%rsp\)", operand) for operand in instruction.operands
    )


def discount(function: Function) -> None:
    """Marks instructions that exist only because of the callbacks.

    These are the calls (an atomic is one instruction of the target, so it stays), their set-up, and, in a
    function without other calls, saving registers that only need to be saved because of a call.
    """
    calls = False
    for block in function.blocks:
        for position, instruction in enumerate(block.instructions):
            if is_callback(instruction):
                discount_set_up(block, position)
                instruction.counted = "_atomic" in instruction.target
            elif is_spill(instruction):
                instruction.counted = False
            elif instruction.is_call or (
                instruction.is_jump and instruction.leaves_function(function.labels)
            ):
                calls = True
    if calls:
        return
    for instruction in function.instructions():
        operands = instruction.operands
        saves = instruction.name in ("pushq", "popq") and operands[0] in CALLEE_SAVED
        aligns = instruction.name in ("subq", "addq") and operands == ["$8", "%rsp"]
        if saves or aligns:
            instruction.counted = False
    for instruction in function.blocks[0].instructions if function.blocks else ():
        operands = instruction.operands
        if instruction.name == "movq" and operands[0] in ARGUMENTS and operands[-1] in CALLEE_SAVED:
            instruction.counted = False


def jumps_back(function: Function, number: int) -> bool:
    last = function.blocks[number].last
    return last is not None and last.is_jump and function.labels.get(last.target, number + 1) <= number


class Charger:
    """Collects text to insert, by line."""

    def __init__(self) -> None:
        self.before: dict[int, str] = {}
        self.instead: dict[int, str] = {}
        self.stubs = 0
        self.fetches = Fetches()

    def charge(self, function: Function) -> None:
        discount(function)
        for number, block in enumerate(function.blocks):
            price = sum(instruction.counted for instruction in block.instructions)
            if price or (block.instructions and jumps_back(function, number)):
                self.charge_block(function, number, price)
            self.name_waited_for(function, number)

    def name_waited_for(self, function: Function, number: int) -> None:
        for position, instruction in enumerate(function.blocks[number].instructions):
            size = re.fullmatch(r"__tsan_(?:volatile_)?read([1248])", instruction.target)
            if instruction.is_call and size and is_waited_for(function, number, position):
                self.instead[instruction.line] = f"\tcall\t*machine_read{size[1]}_waited@GOTPCREL(%rip)\n"

    def charge_block(self, function: Function, number: int, price: int) -> None:
        block = function.blocks[number]
        word = self.fetches.block(price)
        for position, instruction in enumerate(block.instructions):
            if position > 0 and instruction.opaque and block.instructions[position - 1].opaque:
                continue  # within an asm statement
            if not flags_matter(function.blocks, function.labels, number, position):
                self.before[instruction.line] = self.checked(price, word)
                return
        first = block.instructions[0].line
        if jumps_back(function, number):
            self.before[first] = f"\tpushfq\n{self.checked(price, word)}\tpopfq\n"
        else:
            # The next block tests whether the budget is spent.
            self.before[first] = (
                f"\tmovq\t{BUDGET}, %r11\n\tmovq\t(%r11), %r10\n\tleaq\t-{price}(%r10), %r10\n"
                "\tmovq\t%r10, (%r11)\n"
            )

    def checked(self, price: int, word: str) -> str:
        self.stubs += 1
        stub = f".Lbudget_spent{self.stubs}"
        back = f".Lbudget_granted{self.stubs}"
        return (
            f"\tmovq\t{BUDGET}, %r11\n\tsubq\t${price}, (%r11)\n\tjs\t{stub}\n"
            f"\t.subsection 1\n{stub}:\n\tcall\t*{SPENT}\n\tjmp\t{back}\n\t.subsection 0\n{back}:\n"
            + self.fetches.asked(word, self.stubs)
        )


def refuse_what_cannot_work(lines: list[str]) -> None:
    for line in lines:
        if re.match(r"\s*\.section\s+\.(init|ctors|fini|dtors)", line) and ".init_array.00099" not in line:
            raise Refusal("it has constructors or destructors, which nobody would call")
        if re.match(r"\s*\.section\s+\.t(data|bss)", line):
            raise Refusal("it has thread-local data")
        if re.search(r"%r1[01][dwb]?\b", line):
            raise Refusal("it uses a register that the build step needs (r10, r11): " + line.strip())


def instrument(text: str) -> str:
    """The same assembly with the counting code."""
    lines = text.splitlines(keepends=True)
    refuse_what_cannot_work(lines)
    charger = Charger()
    for function in functions_of(lines):
        charger.charge(function)
    code = "".join(
        charger.before.get(number, "") + charger.instead.get(number, line)
        for number, line in enumerate(lines)
    )
    return code + charger.fetches.sections()


def main(source: str, destination: str) -> int:
    try:
        with open(source) as file:  # noqa: PTH123 - pathlib takes as long to import as a file to instrument
            code = instrument(file.read())
        with open(destination, "w") as file:  # noqa: PTH123
            file.write(code)
    except Refusal as refusal:
        print(f"{source}: {refusal}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
