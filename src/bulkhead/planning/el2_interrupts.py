# SPDX-License-Identifier: Apache-2.0
"""EL2's own interrupts on the cores of a broker and of the ends of its flows, as the analysis takes them.

While EL2 handles an interrupt for its own work, a program on that core stands. A core with a budget has one
at the end of each period, another one if a regulator changes the budget, and overflows if the budget is
shared or a sum with slack. The console core has those of all domains' output, of MPAM's monitors and of the
SMMU. The overflow that stops an end is left out: such an end waits for its next period in any case, and no
bound of a flow contains that (planning/flows.py says so).

A source of cost I that interrupts at most k times, and once more in each T after that, takes at most
k I + I/T t of any time t on its core. An overflow needs the program's own accesses. One may be pending when a
driver notifies, or when its interrupt comes; the driver's few accesses until then are not counted.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from bulkhead.config.flow_costs import MAX_COST_NS, SHARE_ONE, FlowCosts, InterruptCosts
from bulkhead.config.platform import Platform
from bulkhead.config.system import BROKER, System
from bulkhead.planning.broker import core_of, sockets_of
from bulkhead.planning.budgets import Budget, counted_event
from bulkhead.planning.regulation import budget_in
from bulkhead.schema import load_layout


@dataclass(frozen=True)
class InterruptSource:
    """What interrupts a core: `cost` in ns, once in each `every` ns; `every` None: once. `late`: by how much
    one may be late, so that two come closer; `every` at most."""

    cost: int
    every: int | None
    late: int = 0

    @property
    def burst(self) -> Fraction:
        """k I."""
        if self.every is None:
            return Fraction(self.cost)
        return self.cost * (1 + Fraction(min(self.late, self.every), self.every))

    @property
    def share(self) -> Fraction:
        """I/T."""
        return Fraction(0) if self.every is None else Fraction(self.cost, self.every)


class Endless(ValueError):
    """EL2's interrupts may take all of a core's time, or nearly so: there is no bound."""


def longest_ns(sources: Sequence[InterruptSource], work_ns: int) -> int:
    """Most ns that interrupts take beside so much work of the core's program. Raises Endless."""
    share = sum((one.share for one in sources), Fraction(0))
    burst = sum((one.burst for one in sources), Fraction(0))
    if share >= 1 or burst + share * work_ns > MAX_COST_NS * (1 - share):
        raise Endless
    return math.ceil((burst + share * work_ns) / (1 - share))


def interrupt_costs(system: System, platform: Platform, costs: FlowCosts, console: int) -> InterruptCosts:
    """The costs of one broker's flows: the most at each domain with a socket, and on the broker's core. A
    domain may send and receive, as a manager may add flows; a handler's delay is the longer one of both.
    `console`: the console core. Raises Endless with the name of the domain, or of the broker's."""
    ends: dict[str, int] = {}
    for domain in system.domains:
        if domain.name in sockets_of(system):
            cores = [list(sources_on(core, system, platform, costs, console)) for core in domain.cpus]
            try:
                ends[domain.name] = max(longest_ns(sources, costs.notify.max) for sources in cores)
            except Endless:
                raise Endless(domain.name) from None
    core = core_of(system, platform)
    own = [] if core is None else list(sources_on(core, system, platform, costs, console))
    share = math.ceil(sum((one.share for one in own), Fraction(0)) * SHARE_ONE)
    burst = math.ceil(sum((one.burst for one in own), Fraction(0)))
    if share >= SHARE_ONE or burst > MAX_COST_NS:
        raise Endless(BROKER if system.broker is None else system.broker.name)
    return InterruptCosts(
        ends={name: ns for name, ns in ends.items() if ns},
        broker_burst=burst,
        broker_share=share,
    )


def sources_on(
    core: int, system: System, platform: Platform, costs: FlowCosts, console: int
) -> Iterator[InterruptSource]:
    """What interrupts a core, if the costs are known."""
    if costs.budget_interrupt is not None:
        for budget in _budgets_on(core, system, platform):
            yield from _of_budget(budget, platform, costs.budget_interrupt.max)
    if core == console and costs.console_interrupt is not None:
        yield from _console(platform, costs.console_interrupt.max)


def unknown(system: System, platform: Platform, costs: FlowCosts, console: int) -> list[str]:
    """Parts that the costs do not have although the broker, or an end, has such interrupts."""
    cores = {core for one in system.domains if one.name in sockets_of(system) for core in one.cpus}
    own = core_of(system, platform)
    cores |= set() if own is None else {own}
    found = []
    if costs.budget_interrupt is None and any(_budgets_on(core, system, platform) for core in cores):
        found.append("budget_interrupt")
    if costs.console_interrupt is None and console in cores:
        found.append("console_interrupt")
    return found


def _budgets_on(core: int, system: System, platform: Platform) -> list[Budget]:
    """On a core that VCPUs share, budgets end with EL2's decisions between them, which no bound has."""
    if sum(core in domain.cpus for domain in system.domains) > 1:
        return []
    event = counted_event(platform, emulated=False)
    found = [budget_in(system, domain, event) for domain in system.domains if core in domain.cpus]
    return [budget for budget in found if budget is not None]


def _of_budget(budget: Budget, platform: Platform, cost: int) -> Iterator[InterruptSource]:
    every = budget.period_ns
    late = every if platform.release_delay is None else platform.release_delay.bound
    yield InterruptSource(cost, every, late)
    if budget.regulated:
        # The message with the new budget comes after the step of the last core, whenever that is.
        yield InterruptSource(cost, every, every)
    if budget.chunk_events or budget.slack_events:
        yield InterruptSource(cost, None)


def _console(platform: Platform, cost: int) -> Iterator[InterruptSource]:
    """A call that moves characters begins a pause. The call after a pause may find nothing to move, and then
    the next one may come at any time (hypervisor/console/console.c)."""
    layout = load_layout()
    pause = layout.constant("console_pause_ns")
    yield from (InterruptSource(cost, pause), InterruptSource(cost, pause))
    if platform.mpam is not None:
        yield InterruptSource(cost, layout.constant("mpam_read_interval_ns"))
    if platform.driven_iommu is not None:  # devices of nobody may be running, too: an interrupt, and a step
        every = layout.constant("smmu_step_interval_ns")
        yield from (InterruptSource(cost, every), InterruptSource(cost, every))
