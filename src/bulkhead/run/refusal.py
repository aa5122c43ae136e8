# SPDX-License-Identifier: Apache-2.0
"""Explains the hypervisor's refusal to the user: its line of output, with a sentence about what to do.

Called by `result`. Refusals that only a damaged package or an error of the builder can cause have no
sentence.
"""

from __future__ import annotations

import re

from bulkhead.schema.layout import Layout

_CODE = re.compile(r"refused: .*\(error (\d+)\)")
_WRONG_LEVEL = re.compile(r"refused: entered at EL\d")
_BOARD = "the device tree that the board was started with"
_SENTENCES = {
    "load_area": "the package was loaded into memory of a domain or of the hypervisor: load it at the "
    "address in the platform file (`load`)",
    "hardware": "the package was built for another board than this one, or its platform file describes the "
    "cores wrongly (`cores.s2fwb`), or the regulator of a device (`qos`) does not "
    "hold its rate, or a boot loader has enabled message interrupts (LPIs) that cannot be disabled, so that "
    "the interrupt controller may write to memory; the last two are in the line before",
    "core_missing": "a core in the platform file did not start: the firmware's PSCI did not turn it on",
    "device_tree": f"{_BOARD} is damaged, or is not in version 17 of the format",
    "board_memory": f"{_BOARD} has less memory than the platform file says (`memory`)",
    "board_reserved": f"{_BOARD} reserves memory for the firmware, which the platform file must list as "
    "`reserved`",
    "board_core": f"{_BOARD} does not list all cores of the platform file (`cores`)",
    "counter_missing": "a core has no event counter for a budget, or cannot count its event (an emulated "
    "core counts instructions only with `--icount`)",
    "regulation": "the regulation in the manifest does not fit the budgets of the cores",
    "not_in_image": "the package contains the hypervisor without budgets, regulation, performance monitors "
    "and shared cores, or without the driver of an SMMU, and the system needs one of these",
    "iommu": "the SMMU is not as the platform file says (`iommus`), or lacks what the driver needs; the line "
    "before says what",
    "pci": "a PCI function is not as the platform file says (`pci.functions`); the line before says which",
    "its": "the interrupt translation service (`interrupt_controller.its`) or the redistributor of a core "
    "lacks what the driver needs, or does not answer; the line before says what",
    "board_psci": f"{_BOARD} does not describe PSCI of version 0.2 or later that is called by SMC",
}
_LEVEL_SENTENCE = "the firmware or boot loader must enter it at EL2, on a machine with virtualization"


def explained(line: str, layout: Layout) -> str:
    """`line`, with an explanation if there is one."""
    sentence = _LEVEL_SENTENCE if _WRONG_LEVEL.search(line) else ""
    if code := _CODE.search(line):
        sentence = _SENTENCES.get(layout.enum_name("manifest_error", int(code[1])) or "", "")
    return f"{line}: {sentence}" if sentence else line
