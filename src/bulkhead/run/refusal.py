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
    "load_area": "the package was loaded where a domain's or the hypervisor's memory is: load it where"
    " the platform file says (`load`)",
    "hardware": "the package was built for another board than the one that it was started on, or its platform"
    " file says of the cores what they are not (`cores.s2fwb`)",
    "core_missing": "a core of the platform file did not start: the firmware's PSCI did not turn it on",
    "device_tree": f"{_BOARD} is damaged, or is none of the format's version 17",
    "board_memory": f"{_BOARD} has less memory than the platform file says (`memory`)",
    "board_reserved": f"{_BOARD} reserves memory for the firmware that the platform file must not give"
    " away (`reserved`)",
    "board_core": f"{_BOARD} does not have all cores of the platform file (`cores`)",
    "counter_missing": "a core has no event counter for a budget, or does not count its event (an emulated"
    " one counts instructions in counted time only: `--icount`)",
    "regulation": "the manifest's regulation and the budgets of its cores do not fit each other",
    "not_in_image": "the package has the hypervisor that isolates space only, and the system asks for a"
    " budget, regulation, performance monitors or a core that domains share",
    "board_psci": f"{_BOARD} has no PSCI of version 0.2 or later that is called by SMC",
}
_LEVEL_SENTENCE = "the firmware or boot loader must enter it at EL2, on a machine with virtualization"


def explained(line: str, layout: Layout) -> str:
    """`line`, with an explanation if there is one."""
    sentence = _LEVEL_SENTENCE if _WRONG_LEVEL.search(line) else ""
    if code := _CODE.search(line):
        sentence = _SENTENCES.get(layout.enum_name("manifest_error", int(code[1])) or "", "")
    return f"{line}: {sentence}" if sentence else line
