# SPDX-License-Identifier: Apache-2.0
"""Whether counted instructions are the time: as the command states, else as the system file states if
possible."""

from __future__ import annotations

import pytest

from bulkhead.admission.load import load_system
from bulkhead.env.paths import repository
from bulkhead.run.defaults import counted_time


@pytest.mark.parametrize(
    ("command", "observe", "counted", "plain"),
    [
        (None, False, True, False),
        (None, True, False, False),  # the observer distinguishes cores by their threads
        (False, False, False, False),
        (True, False, True, True),
    ],
)
def test_the_command_goes_before_the_system_file(
    command: bool | None, observe: bool, counted: bool, plain: bool
) -> None:
    examples = repository() / "examples"
    for file, expected in (("breakout.yaml", counted), ("linux-smp.yaml", plain)):
        loaded = load_system(str(examples / file))
        assert counted_time(command, observe, loaded) is expected, file
