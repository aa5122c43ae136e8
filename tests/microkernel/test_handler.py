# SPDX-License-Identifier: Apache-2.0
"""Instructions of the MemManage handler of armv7m/entry.S, in the linked kernel (X8).

Together with the longest path through core/'s refill they are the bound, which tests/bounds computes.
"""

import re
import subprocess

import pytest

from bulkhead.bounds.longest import longest_path, loop_heads
from bulkhead.bounds.thumb import OBJDUMP, disassembled, functions_of
from bulkhead.env.native import ensure_built
from bulkhead.env.paths import build_dir

LEVELS = 4  # of the trie's nodes: the only loop
REFILL = "mxu_regions_refill"
LIMIT = 100


@pytest.mark.req("X8")
def test_handler_and_refill_are_within_the_limit() -> None:
    ensure_built(["target"], ["microkernel"])
    kernel = build_dir() / "target/microkernel/board/mps2-an500/first.elf"
    shown = subprocess.run(
        [OBJDUMP, "-d", "--no-show-raw-insn", "--disassemble=memory_fault", str(kernel)],
        capture_output=True,
        text=True,
        check=True,
    )
    # From the first instruction to the return: no branch is taken on the path that refills.
    body = shown.stdout.partition("<memory_fault>:\n")[2].splitlines()
    last = next(number for number, line in enumerate(body) if re.search(r"\bpop\s+{.*pc}", line))
    called = [line for line in body[:last] if re.search(r"\bbl\s", line)]
    assert len(called) == 1 and f"<{REFILL}>" in called[0]
    refill = functions_of(disassembled(kernel), [REFILL])[REFILL].without_calls_of("is_livelock")
    heads = loop_heads(refill)
    assert len(heads) == 1
    assert last + 1 + longest_path(refill, dict.fromkeys(heads, LEVELS)) <= LIMIT
