# SPDX-License-Identifier: Apache-2.0
"""The longest path of small functions, counted by hand."""

import pytest

from bulkhead.bounds.longest import NoBoundError, longest_path, loop_heads
from bulkhead.bounds.thumb import NotFollowedError, functions_of

BRANCHES = """
00000000 <branches>:
   0:\tcbz\tr0, 8 <branches+0x8>
   2:\tadds\tr1, #1
   4:\tadds\tr1, #2
   6:\tadds\tr1, #3
   8:\tcmp\tr1, #4
   a:\tit\teq
   c:\tbxeq\tlr
   e:\tldr\tr0, [pc, #4]\t@ (14 <branches+0x14>)
  10:\tldr.w\tpc, [sp], #4
"""
LOOPS = """
00000000 <loops>:
   0:\tpush\t{r4, lr}
   2:\tmovs\tr2, #0
   4:\tmovs\tr3, #0
   6:\tadds\tr3, #1
   8:\tcmp\tr3, r1
   a:\tbne.n\t6 <loops+0x6>
   c:\tadds\tr2, #1
   e:\tcmp\tr2, r0
  10:\tblt.w\t4 <loops+0x4>
  14:\tbl\t40 <other>
  18:\tpop\t{r4, pc}
"""


@pytest.mark.req("T6")
def test_of_branches_the_longer_one_counts() -> None:
    function = functions_of(BRANCHES)["branches"]
    assert longest_path(function, {}) == 9
    assert loop_heads(function) == []


@pytest.mark.req("T6")
def test_loops_count_as_often_as_they_are_entered() -> None:
    function = functions_of(LOOPS)["loops"]
    assert function.calls == ["other"]
    assert loop_heads(function) == [4, 6]
    assert longest_path(function, {4: 1, 6: 1}) == 11
    assert longest_path(function, {4: 3, 6: 5}) == 2 + 3 * (1 + 5 * 3 + 3) + 2


@pytest.mark.req("T6")
def test_paths_can_be_left_out_by_what_they_call() -> None:
    listing = """
00000000 <calls>:
   0:\tcbz\tr0, 8 <calls+0x8>
   2:\tbl\t40 <rare>
   6:\tnop
   8:\tbx\tlr
"""
    function = functions_of(listing)["calls"]
    assert longest_path(function, {}) == 4
    assert longest_path(function.without_calls_of("rare"), {}) == 2


@pytest.mark.req("T6")
def test_a_loop_without_a_bound_is_an_error() -> None:
    function = functions_of(LOOPS)["loops"]
    with pytest.raises(NoBoundError, match="loops: the loop has no bound at 6"):
        longest_path(function, {4: 2})


@pytest.mark.req("T6")
@pytest.mark.parametrize("jump", ["tbb\t[pc, r3]", "bx\tr3", "mov\tpc, r3", "ldr\tpc, [r3]"])
def test_jumps_that_cannot_be_followed_are_errors(jump: str) -> None:
    with pytest.raises(NotFollowedError):
        functions_of(f"00000000 <jumps>:\n   0:\t{jump}\n   2:\tbx\tlr\n")
