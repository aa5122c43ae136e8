# SPDX-License-Identifier: Apache-2.0
"""Data by which instrumented code fetches its instructions: a word for each block, with a bit for each core
that must fetch the block before executing it, and the lengths of all blocks.

Called by charge.py. The code tests the bit of its core (machine/budget.h) in the word of the block and calls
the machine if the bit is set. The machine finds the lengths, in instructions of the target, and the words in
sections of the image (machine/program/image.h). A third section is as long as the target's text would be, for
layouts that place text among the data.
"""

INSTRUCTION_BYTES = 4
FETCH = "machine_program_fetch@GOTPCREL(%rip)"
CORE_BIT = "8(%r11)"  # after the budget, to which %r11 points


class Fetches:
    """Collects the blocks of a file, in their order."""

    def __init__(self) -> None:
        self.lengths: list[int] = []

    def block(self, instructions: int) -> str:
        """Adds a block; returns the word's name, as an operand."""
        self.lengths.append(instructions)
        return f".Lmissing+{2 * (len(self.lengths) - 1)}(%rip)"

    @staticmethod
    def asked(word: str, number: int) -> str:
        """The test, inserted where the flags are free and %r11 points to the budget, and the out-of-line
        call."""
        stub, back = f".Lfetch{number}", f".Lfetched{number}"
        return (
            f"\tmovq\t{CORE_BIT}, %r10\n\ttestw\t%r10w, {word}\n\tjne\t{stub}\n"
            f"\t.subsection 1\n{stub}:\n\tleaq\t{word}, %r10\n\tcall\t*{FETCH}\n\tjmp\t{back}\n"
            f"\t.subsection 0\n{back}:\n"
        )

    def sections(self) -> str:
        """Sections at the end of the file."""
        if not self.lengths:
            return ""
        lengths = "".join(f"\t.long\t{length}\n" for length in self.lengths)
        return (
            f'\t.section\t.machine_blocks,"a",@progbits\n\t.balign 4\n{lengths}'
            f'\t.section\t.machine_missing,"aw",@progbits\n\t.balign 2\n.Lmissing:\n'
            f"\t.fill\t{len(self.lengths)}, 2, -1\n"
            f'\t.section\t.machine_text,"aw",@nobits\n\t.zero\t{INSTRUCTION_BYTES * sum(self.lengths)}\n'
        )
