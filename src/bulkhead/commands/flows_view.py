# SPDX-License-Identifier: Apache-2.0
"""Output of the analysis of flows: the broker's plan with the slack of each flow, and the curve of a sweep.

The commands `flows`, `check` and `plan` call these functions, which only show what was decided elsewhere.
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING

from bulkhead.commands.output import console

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from bulkhead.flows.sweep import Sweep, Swept
    from bulkhead.planning.flows import FlowPlan

PERCENT = 100
SLACK_MEANING = (
    "slack: time by which the deadline could be shorter, or the notification later, if nothing else changes"
)


def show_flows(planned: FlowPlan, title: str) -> None:
    """Print the table of flows, and the broker's settings that it depends on."""
    from rich.table import Table

    from bulkhead.units import size_text, time_text

    table = Table(title=title, title_justify="left")
    for heading in ("flow", "between"):
        table.add_column(heading, overflow="fold")  # in a narrow terminal nothing may be left out
    for heading in ("packet in transfers", "period", "deadline", "slack"):
        table.add_column(heading, justify="right", overflow="fold")
    for number, flow in enumerate(planned.model.ways):
        least = "" if planned.checked.slack_exact[number] else "at least "
        slack = least + time_text(planned.checked.slack_ns[number])
        table.add_row(
            flow.name,
            f"{flow.from_}, {flow.to}",
            f"{size_text(flow.size)} in {planned.model.transfers_of(number)}",
            time_text(flow.period),
            time_text(flow.deadline),
            slack,
        )
    console().print(table)
    console().print(SLACK_MEANING)
    for chain in planned.chains:
        total, deadline = time_text(chain.bound.total), time_text(chain.chain.deadline)
        ends = f"from '{chain.client}' to '{chain.server}' and back"
        console().print(
            f"chain {chain.chain.name}: {ends} in at most {total} ({chain.parts()}), deadline {deadline}"
        )
    core = "no core is free" if planned.cpu is None else f"core {planned.cpu}"
    chosen = "chosen: the smallest that is enough" if planned.broker.rate is None else "as the file says"
    rate = f"{planned.rate / 1e6:.3f} MB/s ({chosen})"
    console().print(
        f"{planned.broker.name}: {core}, {planned.broker.engine}, "
        f"{size_text(planned.broker.chunk)} chunks, {rate}"
    )
    if planned.register is not None:
        console().print(f"regulator: {planned.register.value}, {planned.register.bytes_per_s / 1e6:.3f} MB/s")
    if planned.memory is not None:
        parts = ", ".join(f"{part.name} {float(part.utilization):.1%}" for part in planned.memory.parts)
        most = f"the broker may have up to {planned.memory.largest_rate / 1e6:.1f} MB/s"
        console().print(f"DRAM: {float(planned.memory.utilization):.1%} ({parts}); {most}")
        if planned.memory.limited_by == "table" and planned.memory.table_from is not None:
            console().print(f"that rate is from a table: {planned.memory.table_from}")
    for remark in planned.remarks:
        console().print(f"note: {remark}")


def show_sweep(swept: Swept) -> None:
    from rich.table import Table

    table = Table(title="schedulable sets by utilization", title_justify="left")
    for heading in ("utilization", "schedulable", "95 %", "median, us", "longest, us"):
        table.add_column(heading, justify="right", overflow="fold")
    for point in swept.points:
        table.add_row(
            f"{point.utilization:g}",
            f"{point.ratio:.1%}",
            f"{point.low:.1%} to {point.high:.1%}",
            f"{point.took.median:.1f}",
            f"{point.took.max:.1f}",
        )
    console().print(table)


def write_sweep(what: Sweep, swept: Swept, directory: Path) -> list[str]:
    """Write a table and a plot; returns their paths."""
    from bulkhead.report.style import svg

    directory.mkdir(parents=True, exist_ok=True)
    table, plot = directory / "sweep.csv", directory / "sweep.svg"
    with table.open("w", newline="") as stream:
        flat = [{**point.json(), **point.took.json()} for point in swept.points]
        columns = [key for key in flat[0] if key != "analysis_us"]
        writer = csv.DictWriter(stream, columns, extrasaction="ignore")
        writer.writeheader()
        writer.writerows(flat)

    def draw(figure: Figure) -> None:
        axes = figure.add_subplot()
        places = [point.utilization for point in swept.points]
        low = [PERCENT * point.low for point in swept.points]
        high = [PERCENT * point.high for point in swept.points]
        axes.fill_between(places, low, high, alpha=0.3, linewidth=0)
        axes.plot(places, [PERCENT * point.ratio for point in swept.points], marker=".")
        axes.set_xlabel(f"utilization of {what.bytes_per_s / 1e6:g} MB/s by {what.flows} flows")
        axes.set_ylabel(f"schedulable of {what.sets} sets, %")
        axes.set_ylim(-2, 102)
        axes.grid(axis="y")

    plot.write_text(svg(draw, (6.4, 3.2)), "utf-8")
    return [str(table), str(plot)]
