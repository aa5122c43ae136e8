# SPDX-License-Identifier: Apache-2.0
"""`bulkhead check FILES...`: check that each system fits its platform, and show what it leaves free.

Validates, cross-checks and plans each file, and builds its package in memory. Nothing is written or run.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from bulkhead.commands.options import AsJson, Overrides, Unprotected
from bulkhead.commands.output import complain, console, print_json, print_problems

if TYPE_CHECKING:
    from bulkhead.check.files import Checked
    from bulkhead.planning.demands import Admission, Demand
    from bulkhead.planning.model import Plan, Usage


def register(app: typer.Typer) -> None:
    app.command("check")(check)


def check(
    files: Annotated[
        list[str], typer.Argument(metavar="SYSTEM.yaml...", help="System files to check.", show_default=False)
    ],
    overrides: Overrides = None,
    unprotected: Unprotected = False,
    as_json: AsJson = False,
) -> None:
    """Check system files; show what they promise and which resources are left."""
    from bulkhead.check.files import check_file
    from bulkhead.check.result import check_json

    checked = [check_file(file, overrides or (), unprotected=unprotected) for file in files]
    bad = [one for one in checked if one.problems]
    if as_json:
        print_json(check_json(checked))
    else:
        for one in checked:
            _show(one)
        errors = sum(len(one.problems) for one in checked)
        fine = len(checked) - len(bad)
        console().print(
            f"{fine} of {len(checked)} file{'s' if len(checked) != 1 else ''} ok, "
            f"{errors} error{'s' if errors != 1 else ''}"
            + (", not checked in full" if any(one.unchecked for one in checked) else ""),
            style="red" if bad else "green",
        )
    if bad:
        raise typer.Exit(1)


def _show(one: Checked) -> None:
    print_problems(one.problems)
    print_problems(one.notices, kind="notice")
    for what in one.unchecked:
        complain(f"{one.loaded.file}: not checked: {what}")
    if one.plan is not None:
        show_usage(one.loaded.file, one.plan)
    if one.components is not None:
        from bulkhead.commands.check_components import show_components

        show_components(one.loaded.file, one.components)


def show_usage(title: str, plan: Plan) -> None:
    """Print the tables of what each domain is promised and of what is left."""
    from rich.table import Table

    from bulkhead.check.result import unconfined_names
    from bulkhead.commands.flows_view import show_flows
    from bulkhead.planning.demands import admission_of
    from bulkhead.planning.left import usage_of
    from bulkhead.units import colors_text, size_text

    table = Table(title=f"{title}: {plan.system.name} on {plan.platform.name}", title_justify="left")
    for heading, justify in (
        ("owner", "left"),
        ("cores", "left"),
        ("colors", "left"),
        ("memory", "right"),
        ("of", "right"),
        ("left", "right"),
        ("maps", "right"),
        ("unused", "right"),
    ):
        table.add_column(
            heading, justify="right" if justify == "right" else "left", no_wrap=heading == "owner"
        )
    domains = {domain.name: domain for domain in plan.domains}
    usage = usage_of(plan)
    for row in usage:
        domain = domains.get(row.owner)
        table.add_row(
            row.owner,
            ", ".join(str(core) for core in domain.cpus) if domain else "",
            colors_text(row.colors),
            size_text(row.used_bytes),
            size_text(row.capacity_bytes),
            size_text(row.free_bytes),
            str(domain.maps) if domain else "",
            size_text(domain.fragmented_bytes) if domain else "",
        )
    used = {core for domain in plan.domains for core in domain.cpus}
    left = [str(core) for core in range(plan.platform.cores.count) if core not in used]
    table.add_row("left", ", ".join(left) or "none", _colors_left(plan, usage), "", "", "", "", "")
    console().print(table)
    _show_shares(plan)
    _show_tables(plan)
    for name, devices in unconfined_names(plan).items():
        if devices:
            text = f"trusted: {name} reaches all memory with the DMA of {', '.join(devices)}"
            console().print(text, style="yellow")
    found = admission_of(plan.system, plan.platform)
    if found.budgets or found.devices:
        _show_bandwidth(found, plan)
    for broker in plan.brokers:
        show_flows(broker, "flows" if len(plan.brokers) == 1 else f"flows of broker '{broker.broker.name}'")
    if plan.brokers:
        _show_reach(plan)


def _show_reach(plan: Plan) -> None:
    """Print how much memory each broker reaches of each domain with a socket device."""
    from bulkhead.planning.broker import sockets_of
    from bulkhead.planning.broker_parts import parts_of
    from bulkhead.planning.socket_pool import reach_of
    from bulkhead.units import size_text

    pools = {domain.name for domain in plan.system.domains if domain.socket_pool is not None}
    reach = reach_of(plan)
    parts = parts_of(plan.system)
    for part in parts:
        who = "the broker" if len(parts) == 1 else f"broker '{part.name}'"
        texts = [
            f"{name} {size_text(reach[name])} ({'its pool' if name in pools else 'all'})"
            for name in sockets_of(part.system)
        ]
        console().print(f"{who} reaches memory of: {', '.join(texts)}")


def _show_shares(plan: Plan) -> None:
    """Print the shares that the file asks for, the values that hardware rounds them to, and the controls."""
    from rich.table import Table
    from rich.text import Text

    from bulkhead.planning.shares import rows_of

    rows = rows_of(plan)
    if not rows:
        return
    table = Table(title="shares", title_justify="left")
    for heading in ("owner", "of", "asked", "control", "has", ""):
        table.add_column(heading, no_wrap=heading == "owner")
    for row in rows:
        cells = (row.owner, row.resource, row.asked, row.control, row.got, row.note)
        table.add_row(*(Text(cell) for cell in cells))
    console().print(table)


def _show_tables(plan: Plan) -> None:
    """Print which memory holds the stage-2 tables of regions with a `spec`, and how much of it is left."""
    from rich.table import Table

    from bulkhead.planning.table_memory import INDEPENDENCE, WHERE
    from bulkhead.units import size_text

    if plan.tables is None:
        return
    table = Table(title="stage-2 tables", title_justify="left")
    for heading in ("domain", "memory", "spec", "tables in", "take", "other domains"):
        table.add_column(heading, no_wrap=heading == "domain")
    tables = plan.tables.plan
    for row in tables.regions:
        table.add_row(
            row.domain,
            f"{size_text(row.bytes)} at {row.at:#x}",
            ", ".join(row.spec),
            WHERE[row.where] + (", past the caches" if tables.past_caches(row) else ""),
            size_text(row.node_bytes),
            INDEPENDENCE[row.independence],
        )
    console().print(table)
    for resource in tables.resources:
        held = ", ".join(f"{name} {size_text(nbytes)}" for name, nbytes in resource.holders)
        text = f"{resource.name}: {size_text(resource.left)} of {size_text(resource.limit)} left"
        console().print(text + (f"; {held}" if held else ""))


def _demand_note(one: Demand) -> str:
    from bulkhead.report.numbers import count
    from bulkhead.units import duration

    if one.accesses is not None:
        period = duration(one.accesses.period_ns)
        return f"at most {count(one.accesses.events)} {one.accesses.event} of a core in each {period}"
    return "at the start: regulated" if one.regulated else ""


def _engine_row(plan: Plan, name: str) -> tuple[str, str, str] | None:
    """The DMA engine of the broker with this name, reads and writes together; None: it is no broker, or it
    has no engine with a register for its rate."""
    from bulkhead.planning.broker import engine_of, own_engine_of
    from bulkhead.planning.broker_parts import part_of

    part = part_of(plan.system, name)
    planned = next((one for one in plan.brokers if one.broker.name == name), None)
    if part is None or planned is None or planned.register is None:
        return None
    engine = engine_of(part.system, plan.platform) or own_engine_of(part.system, plan.platform)
    if engine is None:
        return None
    held = "regulated by QoS-400" if engine.qos is not None else "unregulated"
    rate = 2 * planned.register.bytes_per_s / 1e6
    return f"  {engine.name}", f"{rate:.1f}", f"{held}: admitted with the flows, not in this sum"


def _show_bandwidth(found: Admission, plan: Plan) -> None:
    """Print the bandwidth that each domain and each device may use, and the bandwidth that memory
    sustains."""
    from rich.table import Table

    table = Table(title="bandwidth of memory", title_justify="left")
    table.add_column("domain", no_wrap=True)
    table.add_column("MB/s", justify="right")
    table.add_column("")
    for one in found.demands:
        rate = "unlimited" if one.bytes_per_s is None else f"{one.bytes_per_s / 1e6:.1f}"
        table.add_row(one.domain, rate, _demand_note(one))
        for device in found.devices:
            if device.domain == one.domain:
                rate = "unlimited" if device.charged is None else f"{device.charged / 1e6:.1f}"
                table.add_row(f"  {device.device}", rate, device.note)
        if (engine := _engine_row(plan, one.domain)) is not None:
            table.add_row(*engine)
    note = "" if found.budgets else "nothing is promised: no domain has a budget"
    if found.exceeded:
        note = "more than is guaranteed: overcommit"
    table.add_row("limits together", f"{found.bounded / 1e6:.1f}", note)
    if found.guaranteed is None:
        table.add_row("guaranteed", "not known", "budgets are not checked: no `dram.guaranteed`")
    else:
        source = f"`dram.guaranteed` of {found.platform}" + (f": {found.source}" if found.source else "")
        table.add_row("guaranteed", f"{found.guaranteed / 1e6:.1f}", source)
    if found.simulated is not None:
        what = f"not used: the simulated machine's, of `calibrate {found.platform}`"
        table.add_row("  simulated", f"{found.simulated / 1e6:.1f}", what)
    console().print(table)


def _colors_left(plan: Plan, usage: Sequence[Usage]) -> str:
    from bulkhead.units import colors_text

    if not plan.space.bits:
        return ""
    rest = next((row.colors for row in usage if row.owner == "nobody"), None)
    return colors_text(rest) if rest else "none"
