# SPDX-License-Identifier: Apache-2.0
"""Output of a domain as tests read it: its own text, although other domains' lines interrupt it."""

from __future__ import annotations

import pytest

from tests.system.harness import said

OTHERS = b"\r\n[control    8.050556] report {\r\n[bulkhead   8.050557] a line\r\n[control+   8.050570] }\r\n"
PROMPT = b"~ # "


@pytest.mark.parametrize("at", range(1, len(PROMPT)))
def test_a_prompt_is_found_wherever_it_was_torn(at: int) -> None:
    torn = b"[linux      8.212924] " + PROMPT[:at] + OTHERS + b"[linux+     8.212999] " + PROMPT[at:]
    assert said(torn, "linux") == PROMPT.decode()
    assert said(torn[:-1], "linux") == PROMPT[:-1].decode()


def test_a_line_that_was_torn_is_one_again() -> None:
    torn = b"[linux      8.212924] 53 Lev" + OTHERS + b"[linux+     8.212999] el"
    assert said(torn, "linux") == "53 Level"


def test_a_line_between_the_pieces_of_anothers_is_kept() -> None:
    console = (
        b"[control    8.000001] [114, \r\n[linux      8.000002] the answer\r\n"
        b"[control+   8.000003] 115, 20]\r\n[linux      8.000004] ~ # "
    )
    assert said(console, "linux") == "the answer\n~ # "
