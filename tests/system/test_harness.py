# SPDX-License-Identifier: Apache-2.0
"""What tests read from a terminal: text that other domains' lines interrupt."""

from __future__ import annotations

import re

import pytest

from tests.system.harness import PROMPT, mended

OTHERS = "\r\n[control    8.050556] report {}\r\n[bulkhead   8.050557] a line\r\n"


@pytest.mark.parametrize("at", range(1, 4))
def test_a_prompt_is_found_wherever_it_was_torn(at: int) -> None:
    prompt = "~ # "
    torn = f"[linux      8.212924] {prompt[:at]}{OTHERS}[linux+     8.212999] {prompt[at:]}"
    assert re.search(PROMPT, torn)
    assert not re.search(PROMPT, torn[:-1])


def test_a_line_that_was_torn_is_one_again() -> None:
    assert mended(f"[linux      8.212924] 53 Lev{OTHERS}[linux+     8.212999] el").endswith("] 53 Level")
    two_lines = f"one line{OTHERS}[linux      8.3] the next"
    assert mended(two_lines) == two_lines
