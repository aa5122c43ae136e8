# SPDX-License-Identifier: Apache-2.0
"""Processes that end together with the process that started them."""

from __future__ import annotations

import ctypes
import os
import signal

_PR_SET_PDEATHSIG = 1  # prctl(2)
_LIBC = ctypes.CDLL(None, use_errno=True)


def die_with_parent() -> None:
    """For `preexec_fn` of a child: the kernel kills it when its parent ends."""
    _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def end_with(parent: int) -> None:
    """Makes the kernel kill this process when its parent ends; exits if `parent` has ended already."""
    die_with_parent()
    if os.getppid() != parent:
        os._exit(1)
