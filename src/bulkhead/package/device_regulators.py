# SPDX-License-Identifier: Apache-2.0
"""The manifest's record of regulators in front of devices of domains.

package/manifest.py calls this. hypervisor/time/device_regulators.c writes the registers and reads them back.
The emulator's machines have no such registers.
"""

from __future__ import annotations

from collections.abc import Mapping

from bulkhead.planning.device_rates import device_rates
from bulkhead.planning.model import Plan
from bulkhead.schema.layout import Layout, Value

Row = Mapping[str, Value]


def device_regulators_row(plan: Plan, layout: Layout, *, emulated: bool = False) -> Row:
    """The record `manifest_device_regulators`. `emulated`: for the emulator."""
    count = layout.constant("max_device_regulators")
    rates = () if emulated else device_rates(plan.system, plan.platform)
    registers = [one.register for one in rates if one.register is not None]
    values = [one.value for one in registers] + [0] * (count - len(registers))
    pages = [one.page for one in registers] + [0] * (count - len(registers))
    return {
        **{f"page_{number}": page for number, page in enumerate(pages)},
        "reads": values,
        "writes": values,
    }
