# SPDX-License-Identifier: Apache-2.0
"""The attached terminal: raw mode, and the commands after Ctrl-A.

The session uses it when standard input is a terminal. All other keys go to the guest.
"""

from __future__ import annotations

import contextlib
import termios
import tty
from collections.abc import Iterator
from dataclasses import dataclass

PREFIX = 0x01  # Ctrl-A
FOCUS = b"\x1d"  # Ctrl-]: the hypervisor's escape, see docs/design/architecture.md
ASK_TIME = FOCUS + b"t"  # the hypervisor answers with a line
HELP = "Ctrl-A x leaves, Ctrl-A n next domain, Ctrl-A 0..9 that domain, Ctrl-A Ctrl-A sends Ctrl-A"


@dataclass(frozen=True)
class Typed:
    """Meaning of a piece of input: bytes for the serial line, and whether the user leaves."""

    to_guest: bytes
    leave: bool = False


class KeyFilter:
    """Keeps its state between pieces of input: the prefix may arrive alone."""

    def __init__(self) -> None:
        self._after_prefix = False

    def feed(self, data: bytes) -> Typed:
        out = bytearray()
        for byte in data:
            if not self._after_prefix:
                if byte == PREFIX:
                    self._after_prefix = True
                else:
                    # A typed Ctrl-] is for the guest: doubled, it is the byte itself.
                    out += FOCUS * 2 if byte == FOCUS[0] else bytes((byte,))
                continue
            self._after_prefix = False
            if byte in b"xX":
                return Typed(bytes(out), leave=True)
            if byte in b"nN":
                out += FOCUS + b"n"
            elif byte in b"0123456789":
                out += FOCUS + bytes((byte,))
            elif byte == PREFIX:
                out.append(PREFIX)
        return Typed(bytes(out))


@contextlib.contextmanager
def raw_mode(fd: int) -> Iterator[None]:
    """Sets the terminal to raw mode within the block and always restores it."""
    before = termios.tcgetattr(fd)
    tty.setraw(fd, termios.TCSADRAIN)
    try:
        yield
    finally:
        # Drop unread input: the shell must not take a terminal's answer to a guest as a command.
        termios.tcsetattr(fd, termios.TCSAFLUSH, before)
