# SPDX-License-Identifier: Apache-2.0
"""Whether a VCPU kept its budget of events in each period, apart from the stated overshoot.

Used for cores that VCPUs share, and for cores with one VCPU (docs/design/bandwidth.md, "How far beyond").
"""

from __future__ import annotations

from bulkhead.planning.budgets import TWO_BUDGETS, Budget
from bulkhead.run.status import BudgetStatus

# Most events beyond a budget: those of EL2's longest path with interrupts masked, if the overflow comes at
# its start. Of memory events, these are the refills of that path. Of instructions, all are counted; on the
# emulator also those of other cores' turns, for example part of the console's work.
LONGEST_WAY = 3500
LONGEST_WAY_OF_MEMORY = 64
ACCESSES_OF_A_LINE = 8  # bus accesses for a line, one for each 8 bytes
# Loading a page of an image again: each of its 64 lines is fetched twice, at its source and its destination,
# and each fetched line can write a dirty one back.
RELOADED_PAGE = 4 * 64


def counts_instructions(event: str | None) -> bool:
    """Whether the event stands in for memory events, as on the emulator."""
    return event == "INST_RETIRED"


def overshoot_bound(budget: Budget, event: str | None, *, restarted: bool = False) -> int:
    """Most events beyond each of the budgets in a period. `restarted`: EL2 loaded the domain's images again,
    on its budget."""
    own = LONGEST_WAY if counts_instructions(event) else LONGEST_WAY_OF_MEMORY
    own += RELOADED_PAGE if restarted else 0
    own *= ACCESSES_OF_A_LINE if budget.counts == "accesses" else 1
    return own + budget.slack_events


def beyond_budget(
    name: str, budget: Budget, event: str | None, one: BudgetStatus, *, restarted: bool = False
) -> list[str]:
    """Sentences on what a VCPU of domain `name` had beyond its budget and the bound."""
    assert budget.events is not None, "only a regulated core counts without a limit"
    bound = overshoot_bound(budget, event, restarted=restarted)
    if budget.regulated and one.limits is not None:
        # The regulator's step ends while the interval runs: what was used before may be more than a new,
        # lower budget. So the largest budget is the measure.
        return _above(name, one.max_per_period, one.limits.most, bound)
    if one.changes or budget.reclaim:
        # A manager changed it, or it drew what others gave: only the hypervisor knows what it had in a
        # period.
        return _beyond(name, one.overshoot_max, bound)
    found = _above(name, one.max_per_period, budget.events, bound)
    if budget.counts in TWO_BUDGETS:
        found += _above(name, one.second_max_per_period, budget.second_events, bound)
        bound *= 2  # the overshoot is that of both budgets
    return found or _beyond(name, one.overshoot_max, bound)


def _above(name: str, most: int, events: int, bound: int) -> list[str]:
    if most <= events + bound:
        return []
    return [
        f"{name} had {most} events in a period, of a budget of {events} and at most {bound} beyond it",
    ]


def _beyond(name: str, overshoot: int, bound: int) -> list[str]:
    if overshoot <= bound:
        return []
    return [
        f"{name} had {overshoot} events beyond the budget of a period, but at most {bound} can be the "
        "hypervisor's own"
    ]
