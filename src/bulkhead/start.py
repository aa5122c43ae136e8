# SPDX-License-Identifier: Apache-2.0
"""Entry point of the script `bulkhead`: an interrupt while the command's modules are loaded ends it.

`bulkhead.cli` handles interrupts once it runs. Before, nothing of the tool can print the result's object, so
standard output has none. Only the standard library is imported here, and as little of it as possible.
"""

from __future__ import annotations

import os
import signal
from types import FrameType
from typing import NoReturn

_STDERR, _EXIT_INTERRUPTED = 2, 130


def main() -> None:
    loading = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if loading:
        signal.signal(signal.SIGINT, _end)
    from bulkhead.cli import main as command

    if loading:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    command()


def _end(_number: int, _frame: FrameType | None) -> NoReturn:
    os.write(_STDERR, b"interrupted\n")
    os._exit(_EXIT_INTERRUPTED)


if __name__ == "__main__":
    main()
