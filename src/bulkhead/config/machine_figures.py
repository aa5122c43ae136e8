# SPDX-License-Identifier: Apache-2.0
"""What is admitted by figures that the platform file has from the simulated machine, not from a board.

load.py shows these notices, so that `check`, `plan`, `run` and the report of a run say it. Whatever prints
such a figure asks `machines_own`.
"""

from __future__ import annotations

from collections.abc import Iterator

from bulkhead.config.platform import Platform
from bulkhead.config.problem import Finding
from bulkhead.config.system import System

MACHINES_OWN = "the simulated machine's own, no measurement of a board"


def machines_own(platform: Platform) -> str | None:
    """What is said wherever the memory's table is printed; None: it is measured, or there is none."""
    budget = platform.memory_budget
    if budget is None or not budget.table or not budget.is_from_machine("table"):
        return None
    return f"memory_budget.table of '{platform.name}' is {MACHINES_OWN}"


def admitted_by_machine(system: System, platform: Platform) -> Iterator[Finding]:
    """A notice for a broker whose rate beside budgets is admitted by such a table."""
    own = machines_own(platform)
    if own is not None and system.flows and system.broker is not None and system.broker.engine == "zdma":
        cause = f"the rate beside the cores' budgets is admitted by a table, and {own}"
        yield Finding(("broker", "engine"), "machine-figure", cause)
