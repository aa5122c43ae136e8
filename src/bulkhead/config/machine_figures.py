# SPDX-License-Identifier: Apache-2.0
"""Notices about figures of a platform file that come from the simulated machine, not from a measured board.

admission/load.py shows these notices in `check`, `plan`, `run` and the report of a run. Code that prints such
a figure calls `machines_own`.
"""

from __future__ import annotations

from collections.abc import Iterator

from bulkhead.config.platform import Platform
from bulkhead.config.problem import Finding, KeyPath
from bulkhead.config.system import Broker, System

MACHINES_OWN = "measured on the simulated machine, not on a board"


def machines_own(platform: Platform) -> str | None:
    """The remark to print with the memory budget's table; None if the table is measured on a board, or
    absent."""
    budget = platform.memory_budget
    if budget is None or not budget.table or not budget.is_from_machine("table"):
        return None
    return f"memory_budget.table of '{platform.name}' is {MACHINES_OWN}"


def admitted_by_machine(system: System, platform: Platform) -> Iterator[Finding]:
    """A notice for a broker that is admitted by a table from the simulated machine."""
    own = machines_own(platform)
    brokers: list[tuple[KeyPath, Broker | None]] = [(("broker",), system.broker)]
    brokers += [(("brokers", name), broker) for name, broker in system.brokers.items()]
    for key, broker in brokers:
        if own is not None and system.flows and broker is not None and not broker.copies:
            cause = f"admission of the broker's rate uses a table, and {own}"
            yield Finding((*key, "engine"), "machine-figure", cause)
