# SPDX-License-Identifier: Apache-2.0
"""What makes instrumented code fetch its instructions: a word for each block, with a bit for each core that
must fetch the block before it executes it, and the lengths of all blocks.

Called by charge.py. The code looks at the word of the block by the bit of the core that it runs on
(machine/budget.h) and calls the machine where that is set. The machine finds the lengths, in instructions of
the target, and the words in sections of the image (machine/program/image.h); the third one is as long as
the text that it would be there, for layouts that give that a place among the data.
"""

INSTRUCTION_BYTES = 4
FETCH = "machine_program_fetch@GOTPCREL(%rip)"
CORE_BIT = "8(%r11)"  # behind the budget, to which %r11 points


class Fetches:
    """Collects the blocks of a file, in their order."""

    def __init__(self) -> None:
        self.lengths: list[int] = []

    def block(self, instructions: int) -> str:
        """One more; the word's name, as an operand."""
        self.lengths.append(instructions)
        return f".Lmissing+{2 * (len(self.lengths) - 1)}(%rip)"

    @staticmethod
    def asked(word: str, number: int) -> str:
        """The question, where the flags are free and %r11 points to the budget, and the call out of line."""
        stub, back = f".Lfetch{number}", f".Lfetched{number}"
        return (
            f"\tmovq\t{CORE_BIT}, %r10\n\ttestw\t%r10w, {word}\n\tjne\t{stub}\n"
            f"\t.subsection 1\n{stub}:\n\tleaq\t{word}, %r10\n\tcall\t*{FETCH}\n\tjmp\t{back}\n"
            f"\t.subsection 0\n{back}:\n"
        )

    def sections(self) -> str:
        """What the file ends with."""
        if not self.lengths:
            return ""
        lengths = "".join(f"\t.long\t{length}\n" for length in self.lengths)
        return (
            f'\t.section\t.machine_blocks,"a",@progbits\n\t.balign 4\n{lengths}'
            f'\t.section\t.machine_missing,"aw",@progbits\n\t.balign 2\n.Lmissing:\n'
            f"\t.fill\t{len(self.lengths)}, 2, -1\n"
            f'\t.section\t.machine_text,"aw",@nobits\n\t.zero\t{INSTRUCTION_BYTES * sum(self.lengths)}\n'
        )
