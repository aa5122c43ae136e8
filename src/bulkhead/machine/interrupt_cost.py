# SPDX-License-Identifier: Apache-2.0
"""What an interrupt of a budget costs where no hypervisor runs on the machine: as it would at EL2.

Entry and exit are the platform's constants; the rest is instructions and lines of EL2's data, with their
source. How late an interrupt comes is the machine's (settings.py). regulation.py puts all into what the
machine's driver takes.
"""

from __future__ import annotations

from typing import Any

from bulkhead.config.platform import Platform

# Rows `overflow` and `period` of `bulkhead bench hypervisor`, as they were when platforms' tables of rates
# (experiment `flows`) were made: today's differ by less than 2 %.
OVERFLOW_INSTRUCTIONS = 449
PERIOD_INSTRUCTIONS = 822
# Assumed: no emulator has a memory controller whose utilization a bench could regulate by.
STEP_INSTRUCTIONS = 1500  # the regulator's arithmetic, of one core in an interval
MESSAGE_INSTRUCTIONS = 500

# `struct bandwidth` and the statistics that it publishes (hypervisor/), the saved registers, stack: 16 lines
# of 64 bytes.
LINES = 16


def cost_of(platform: Platform) -> dict[str, Any]:
    costs = platform.costs
    return {
        "entry_ps": costs.entry or 0,
        "exit_ps": costs.exit or 0,
        "overflow_instructions": OVERFLOW_INSTRUCTIONS,
        "period_instructions": PERIOD_INSTRUCTIONS,
        "step_instructions": STEP_INSTRUCTIONS,
        "message_instructions": MESSAGE_INSTRUCTIONS,
        "lines": LINES,
    }
