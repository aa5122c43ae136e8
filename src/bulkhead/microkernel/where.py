# SPDX-License-Identifier: Apache-2.0
"""Selects the board that a system of components is built for, by where it will run.

The emulator lacks some boards; a platform file names another board that the emulator uses instead
(`microkernel.emulated_by`). Memory addresses are then those of that board; everything else, including
promises, follows the file's platform. Commands that build or run a system show a notice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from bulkhead.admission.crosscheck_components import check_components
from bulkhead.admission.load_components import LoadedComponents, load_components
from bulkhead.config.load import load_platform
from bulkhead.config.locate import platform_path
from bulkhead.config.platform import Platform
from bulkhead.config.problem import Finding

QEMU, MACHINE, BOARD = "qemu", "machine", "board"


def load_for(
    file: str, overrides: Sequence[str], *, on: str, unprotected: bool
) -> tuple[LoadedComponents, str | None]:
    """The system on the board where it will run, and a notice if that is not the file's own board."""
    loaded = load_components(file, overrides, unprotected=unprotected)
    platform = loaded.platform
    if loaded.system is None or platform is None or platform.microkernel is None:
        return loaded, None
    if on != QEMU or platform.emulator is not None:
        return loaded, None
    other = _emulated(platform.microkernel.emulated_by)
    if other is None or other.microkernel is None or other.emulator is None:
        cause = f"the emulator has no board for '{platform.name}', and `microkernel.emulated_by` names none"
        found = loaded.locate(Finding(("platform",), "not-on-platform", cause))
        return replace(loaded, system=None, problems=(*loaded.problems, found)), None
    moved = platform.model_copy(update={"microkernel": other.microkernel, "emulator": other.emulator})
    problems = tuple(loaded.locate(finding) for finding in check_components(loaded.system, moved))
    system = None if problems else loaded.system
    note = (
        f"the emulator has no {platform.name}: it emulates {other.name} instead, with the memory of "
        "that board"
    )
    return replace(loaded, platform=moved, system=system, problems=problems), note


def _emulated(name: str | None) -> Platform | None:
    path = platform_path(name) if name is not None else None
    return load_platform(path)[0] if path is not None else None
