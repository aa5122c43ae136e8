# SPDX-License-Identifier: Apache-2.0
"""Processes that end with the one that started them, however that ends."""

from __future__ import annotations

import ctypes
import os
import signal

_PR_SET_PDEATHSIG = 1  # prctl(2)
_LIBC = ctypes.CDLL(None, use_errno=True)


def die_with_parent() -> None:
    """As `preexec_fn` of a child: the kernel kills it when its parent ends."""
    _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def end_with(parent: int) -> None:
    """Have this process, a child of `parent`, killed when its parent ends, also if that was just before."""
    die_with_parent()
    if os.getppid() != parent:
        os._exit(1)
