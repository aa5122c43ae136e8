# SPDX-License-Identifier: Apache-2.0
"""Costs of a budget's interrupt on a machine without hypervisor, equal to those at EL2.

Entry and exit are constants of the platform; the rest are instructions and lines of EL2's data, with their
source. The machine models the interrupt's latency (settings.py). regulation.py passes all of them to the
machine's driver.
"""

from __future__ import annotations

from typing import Any

from bulkhead.config.platform import Platform

# Rows `overflow` and `period` of `bulkhead bench hypervisor`, at the time when platforms' tables of rates
# (experiment `flows`) were made: today's differ by less than 2 %.
OVERFLOW_INSTRUCTIONS = 449
PERIOD_INSTRUCTIONS = 822
# Of `bulkhead bench regulators`, for three regulated cores. A step is what the last core of an interval does
# in addition: the regulator's arithmetic, and messages to the cores whose budget has changed. A policy that
# was not measured takes the most of these.
STEP_INSTRUCTIONS = {
    "dynamic": 1450,
    "dynamic-bandwidth": 1675,
    "dynamic-delay": 1680,
    "dynamic-turns": 1240,
    "dynamic-phases": 1580,
}
MESSAGE_INSTRUCTIONS = 830

# `struct bandwidth` and its published statistics (hypervisor/), saved registers, stack: 16 lines of 64 bytes.
LINES = 16


def cost_of(platform: Platform, policy: str) -> dict[str, Any]:
    costs = platform.costs
    return {
        "entry_ps": costs.entry or 0,
        "exit_ps": costs.exit or 0,
        "overflow_instructions": OVERFLOW_INSTRUCTIONS,
        "period_instructions": PERIOD_INSTRUCTIONS,
        "step_instructions": STEP_INSTRUCTIONS.get(policy, max(STEP_INSTRUCTIONS.values())),
        "message_instructions": MESSAGE_INSTRUCTIONS,
        "lines": LINES,
    }
