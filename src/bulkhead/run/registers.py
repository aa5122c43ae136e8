# SPDX-License-Identifier: Apache-2.0
"""Device registers of the emulated machine, read by its monitor.

`memory.py` cannot read them: `pmemsave` reads 64 bits at a time, and most registers have 32 bits. A read must
have no effect on the device.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from bulkhead.run.emulator import EmulatorError, RunningEmulator

_ANSWER = re.compile(r"\s*[0-9a-fA-F]+: 0x([0-9a-fA-F]{8})\s*")


async def read_registers(emulator: RunningEmulator, addresses: Iterable[int]) -> dict[int, int]:
    """The registers of 32 bits at these physical addresses. Raises EmulatorError."""
    found = {}
    for address in addresses:
        text = await emulator.command("human-monitor-command", {"command-line": f"xp /1wx {address:#x}"})
        value = _ANSWER.fullmatch(str(text))
        if value is None:
            raise EmulatorError(f"the emulator did not read the register at {address:#x}: {text!r}")
        found[address] = int(value.group(1), 16)
    return found
