# SPDX-License-Identifier: Apache-2.0
"""Options of a run for which the system file has a value too, and the budgets that depend on counted time."""

from __future__ import annotations

from bulkhead.admission.load import Loaded
from bulkhead.planning.budgets import counted_event
from bulkhead.planning.regulation import budget_in


def counted_time(wanted: bool | None, observe: bool, loaded: Loaded) -> bool:
    """--icount of the command line, else `run.icount` of the system file where that is possible."""
    if wanted is not None:
        return wanted
    return loaded.system is not None and loaded.system.run.icount and not observe


def duration_ns(wanted: int | None, loaded: Loaded, *, simulated: bool) -> int | None:
    """--for of the command line, else the duration in the system file."""
    if wanted is not None:
        return wanted
    return loaded.system.run.duration(simulated=simulated) if loaded.system is not None else None


def budgets_on_emulator(loaded: Loaded) -> list[str]:
    """Domains with a budget in the emulator. The emulator counts the instructions that budgets need only in
    counted time, and counted time runs all cores in one thread."""
    if loaded.system is None or loaded.platform is None:
        return []
    event = counted_event(loaded.platform, emulated=True)
    return [one.name for one in loaded.system.domains if budget_in(loaded.system, one, event) is not None]
