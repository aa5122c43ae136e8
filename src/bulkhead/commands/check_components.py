# SPDX-License-Identifier: Apache-2.0
"""`bulkhead check` for a system of components: the hardware that each component gets, the worst cost of an
access check, the misses of jobs, and what is left. As text; bulkhead.mxu.result makes the JSON object.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from bulkhead.commands.output import console

if TYPE_CHECKING:
    from rich.table import Table

    from bulkhead.mxu.costs import Cost
    from bulkhead.mxu.model import Job, MxuAdmission, Served


def show_components(title: str, found: MxuAdmission) -> None:
    from rich.table import Table

    name = f"{title}: {found.system.name} on {found.platform.name}"
    table = Table(title=name, title_justify="left")
    for heading in ("component", "memory", "at", "size", "spec", "gets", "check at worst", "independent"):
        table.add_column(heading, no_wrap=heading in ("component", "memory", "at", "size"))
    for component in found.system.components:
        for one in found.of(component.name):
            table.add_row(*_row(component.name, one))
    console().print(table)
    if found.jobs:
        console().print(_jobs(found.jobs))
    console().print(_left(found))
    _show_sources(found)


def _row(component: str, one: Served) -> tuple[str, ...]:
    from bulkhead.mxu.result import INDEPENDENCE, hardware_name
    from bulkhead.units import size_text

    hardware = hardware_name(one.mechanism)
    if one.is_static or one.is_dynamic:
        hardware = f"{one.ranges} {hardware}{'s' if one.ranges != 1 else ''}"
    elif one.entries:
        hardware = f"{one.entries} {hardware}" if one.entries == 1 else f"{one.entries} locked TLB entries"
    memory = f"{one.name} ({one.shared})" if one.shared else one.name
    return (
        component,
        memory,
        f"{one.at:#x}",
        size_text(one.nbytes),
        ", ".join(one.spec) or "best effort",
        hardware,
        _cost_text(one.cost),
        INDEPENDENCE[one.independence],
    )


def _cost_text(cost: Cost | None) -> str:
    if cost is None:
        return ""
    if cost.cycles is None:
        return cost.made_of
    time = "" if cost.ns is None else f" ({cost.ns} ns)"
    return f"{cost.cycles} cycles{time}: {cost.made_of}"


def _jobs(jobs: Sequence[Job]) -> Table:
    from rich.table import Table

    from bulkhead.units import duration

    table = Table(title="jobs", title_justify="left")
    for heading in ("component", "period", "budget", "most misses", "cost", "WCET", "with misses", ""):
        table.add_column(heading, no_wrap=heading == "component")
    for job in jobs:
        wcet = "not known" if job.wcet_ns is None else duration(job.wcet_ns)
        if job.misses is None or job.cost_ns is None or job.wcet_with_misses_ns is None:
            note = "the WCET has to have the cost of each check" if not job.slots else "no bound"
            cells = ("-", "-", wcet, "-", note)
        else:
            left = job.budget_ns - job.wcet_with_misses_ns
            note = f"{duration(left)} of the budget left" if left >= 0 else f"{duration(-left)} too much"
            with_misses = "not known" if job.wcet_ns is None else duration(job.wcet_with_misses_ns)
            cells = (str(job.misses), duration(job.cost_ns), wcet, with_misses, note)
        table.add_row(job.component, duration(job.period_ns), duration(job.budget_ns), *cells)
    return table


def _left(found: MxuAdmission) -> Table:
    from rich.table import Table

    from bulkhead.mxu import native
    from bulkhead.units import size_text

    table = Table(title="left", title_justify="left")
    for heading in ("resource", "of", "left", "used by"):
        table.add_column(heading, no_wrap=heading == "resource")
    for one in found.resources:
        in_bytes = one.number in (native.OCM_BYTES, native.WAY_BYTES, native.FRAMES)
        show = size_text if in_bytes else str
        holders = ", ".join(f"{name} {show(amount)}" for name, amount in one.holders)
        table.add_row(one.name, show(one.limit), show(one.left), holders or "nobody")
    total = found.checker.limits[native.REGIONS]
    for name, slots in found.slots.items():
        static = ", ".join(f"{one.name} {one.ranges}" for one in found.of(name) if one.is_static)
        used = f"system {found.checker.system_regions}, {static}; {slots} dynamic, one of them has to stay"
        table.add_row(f"regions of {name}", str(total), str(slots - 1), used)
    return table


def _show_sources(found: MxuAdmission) -> None:
    from bulkhead.mxu.costs import refill_figures

    sources = [source for one in found.served if one.cost is not None for source in one.cost.sources]
    if not found.checker.mmu:
        console().print(f"  {refill_figures(found.platform)}", markup=False)
    for source in dict.fromkeys(sources):
        console().print(f"  {source}", style="dim", markup=False)
