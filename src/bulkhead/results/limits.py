# SPDX-License-Identifier: Apache-2.0
"""Result of `limits`."""

from __future__ import annotations

from pydantic import with_config
from typing_extensions import TypedDict

from bulkhead.results.envelope import CLOSED, Envelope


@with_config(CLOSED)
class SustainedRateResult(TypedDict):
    """What the memory sustains for one pattern of accesses."""

    pattern: str
    """The pattern."""
    cores: int
    """Number of busy cores."""
    mb_s: float
    """Bandwidth of all cores together."""
    utilization: float
    """Utilization of the DRAM, 0 to 1."""


@with_config(CLOSED)
class EnforcedResult(TypedDict):
    """A budget that all cores have, and the measured bandwidth of each core."""

    events: int
    """Events in each period."""
    period_ns: int
    """Length of a period."""
    nominal_mb_s: float
    """Bandwidth that the budget stands for."""
    measured_mb_s: float
    """Bandwidth that was measured."""
    held: bool
    """The two differ by at most 5 %."""


@with_config(CLOSED)
class DelayResult(TypedDict):
    """How long writes of other cores delay a line that core 0 reads."""

    pattern: str
    """Pattern of the writes."""
    cores: list[int]
    """Cores that write."""
    delay_ns: float
    """Additional time of a line."""
    least_mb_s: float
    """Least rate of a core that writes."""


@with_config(CLOSED)
class TriedBudgetResult(TypedDict):
    """A budget that was tried."""

    budget_mb_s: int
    """The budget of the real-time workload."""
    slowdown: float
    """Its time, by that alone."""


@with_config(CLOSED)
class StaticBudgetResult(TypedDict):
    """The smallest static budget of a real-time workload (`--rt`)."""

    workload: str
    """The workload."""
    slowdown_bound: float
    """Slowdown that is allowed; 1 is none."""
    guaranteed_mb_s: float
    """Guaranteed bandwidth, which is divided."""
    budget_mb_s: int | None
    """The budget; null: none is enough."""
    others_mb_s: float | None
    """What it leaves to others."""
    alone_ns: float
    """Time of the workload alone."""
    tried: list[TriedBudgetResult]
    """Budgets that were tried."""


@with_config(CLOSED)
class LimitsResult(Envelope):
    """What the platform's memory sustains and guarantees, on the simulated machine."""

    peak_mb_s: float
    """Peak rate of the data bus."""
    guaranteed_mb_s: float
    """Lowest bandwidth of a busy memory."""
    guaranteed_pattern: str
    """Pattern of accesses with this bandwidth."""
    guaranteed_cores: int
    """Number of busy cores with this bandwidth."""
    guaranteed_stated_mb_s: float | None
    """What the platform file states (`dram.guaranteed`); null: nothing."""
    rows: list[SustainedRateResult]
    """Bandwidth by pattern and number of cores."""
    event: str
    """Event that budgets count."""
    periods: list[EnforcedResult]
    """The same bandwidth in shorter and shorter periods."""
    smallest_period_ns: int | None
    """Smallest period in which a budget is enforced; null: none."""
    budgets: list[EnforcedResult]
    """Smaller and smaller budgets."""
    smallest_budget_events: int | None
    """Smallest budget that is enforced; null: none."""
    delays: list[DelayResult]
    """Delays of reads by writes of other cores."""
    static_budget: StaticBudgetResult | None
    """The budget of a real-time workload; null without `--rt`."""
    memory_table_from: str | None
    """Remark about the platform's table of utilization if it was not measured on a board."""
