# SPDX-License-Identifier: Apache-2.0
"""Chooses the costs of a packet's path for a system: the platform's `flow_costs_isolated`, if the system
keeps to everything under which these were measured, else its `flow_costs`.

planning/flows.py analyzes with the chosen costs and the manifest carries them, so that check, plan, build and
the broker's own admission use the same ones. The choice looks at the system file alone: no plan is needed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from bulkhead.config.flow_costs import ISOLATED, PLAIN, CostLimits, FlowCosts
from bulkhead.config.platform import Platform
from bulkhead.config.system import CPU_COPY, HYPERVISORS_ENGINE, Domain, System
from bulkhead.config.ways import ways_of
from bulkhead.planning.broker import core_of, is_broker, names_of, shares_core_with, sockets_of
from bulkhead.planning.space import banks_colored, llc_colored
from bulkhead.units import size_text


@dataclass(frozen=True)
class ChosenCosts:
    """The costs for a system, and which section of the platform file they are from."""

    costs: FlowCosts
    section: str
    reason: str  # a sentence for reports


def chosen_costs(system: System, platform: Platform) -> ChosenCosts | None:
    """The costs of the path that hold for this system; None: the platform has none."""
    plain, isolated = platform.flow_costs, platform.flow_costs_isolated
    if plain is None:
        return None
    whose = f"of '{platform.name}'"
    if isolated is None:
        return ChosenCosts(plain, PLAIN, f"`{PLAIN}` {whose}, which has no shorter ones")
    lost = next(_not_kept(system, platform, isolated.within), None)
    if lost is not None:
        return ChosenCosts(plain, PLAIN, f"`{PLAIN}` {whose}, not the shorter `{ISOLATED}`: {lost}")
    return ChosenCosts(isolated, ISOLATED, f"`{ISOLATED}` {whose}: the system keeps to their limits")


def _not_kept(system: System, platform: Platform, within: CostLimits) -> Iterator[str]:
    """Each condition of the shorter costs that the system does not keep, as the cause."""
    yield from _broker(system, platform)
    yield from _colors(system, platform)
    yield from _size(system, within)


def _domains(system: System) -> list[Domain]:
    return [domain for domain in system.domains if not is_broker(system, domain.name)]


def _broker(system: System, platform: Platform) -> Iterator[str]:
    broker = system.broker
    if len(names_of(system)) > 1:
        yield "the system has two brokers, and one was measured"
    if broker is not None and broker.engine not in (CPU_COPY, HYPERVISORS_ENGINE):
        yield f"the engine '{broker.engine}' of the broker's own was not measured for them"
    core = core_of(system, platform)
    if core is None or shares_core_with(system, core):
        yield "the broker has no core of its own"
    for domain in _domains(system):
        if domain.manager:
            yield f"'{domain.name}' is a manager, which can add flows"


def _colors(system: System, platform: Platform) -> Iterator[str]:
    """With colors, EL2, the broker and each domain have colors of their own: the planner chooses them so, and
    admission/crosscheck_colors.py refuses a file that gives two owners the same. Only broker and EL2 may
    share."""
    if not llc_colored(system, platform):
        yield "colors do not divide the last-level cache"
    if system.isolation.color_l1:
        yield "`color_l1` makes the colors smaller than those that were measured"
    if banks_colored(system):
        yield "colors of DRAM banks were not measured"


def _size(system: System, within: CostLimits) -> Iterator[str]:
    """More flows and domains need more lines in the same colors."""
    for found, most, what in (
        (len(sockets_of(system)), within.domains, "domains with a socket"),
        (len(ways_of(system.flows)), within.flows, "flows, each direction and receiver counted"),
    ):
        if found > most:
            yield f"there are {found} {what}, and at most {most} were measured"
    memory = sum(region.size for domain in _domains(system) for region in domain.memory)
    if memory > within.memory:
        yield (
            f"the domains have {size_text(memory)} of memory, and walks of tables for at most "
            f"{size_text(within.memory)} were measured beside the hypervisor's lines"
        )
