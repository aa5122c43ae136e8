# SPDX-License-Identifier: Apache-2.0
"""Worker processes never see an interrupt: it is for the command, which ends them."""

from __future__ import annotations

import re
import signal
import subprocess

from bulkhead.campaign.engine import _uninterrupted_start

SIGINT_BIT = 1 << (signal.SIGINT - 1)


def is_blocked_in_a_child() -> bool:
    status = subprocess.run(["cat", "/proc/self/status"], capture_output=True, text=True, check=True).stdout
    found = re.search(r"^SigBlk:\s*([0-9a-f]+)$", status, re.MULTILINE)
    assert found is not None
    return bool(int(found[1], 16) & SIGINT_BIT)


def test_interrupts_are_blocked_in_workers_from_their_start() -> None:
    """Also if joblib's process that tracks resources was not running before."""
    assert not is_blocked_in_a_child()
    with _uninterrupted_start():
        assert is_blocked_in_a_child()
    assert not is_blocked_in_a_child()
