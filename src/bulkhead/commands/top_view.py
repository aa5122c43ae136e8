# SPDX-License-Identifier: Apache-2.0
"""Tables that `bulkhead top` shows. With names and numbers of usual length they fit into 80 columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Group, RenderableType
    from rich.table import Table
    from rich.text import Text

    from bulkhead.results.top import LiveCoreResult, LiveDomainResult, LiveFlowResult, LiveSeen


def stopped(seen: LiveSeen) -> LiveSeen:
    """The last state of a run that has ended: domains that were running have the state `ran`."""
    rows: list[LiveDomainResult] = [
        {**row, "state": "ran"} if row["state"] == "running" else row for row in seen["domains"]
    ]
    return {**seen, "domains": rows}


_STATES = {
    "running": "running",
    "ended": "ended; means of the whole run",
    "killed": "killed: its process ended without a result; these are its last figures",
}


def view_of(seen: LiveSeen) -> Group:
    """Tables of domains, shared cores, flows and MPAM's monitors, where there are any."""
    from rich.console import Group
    from rich.text import Text

    from bulkhead.report.fitting import Fitted
    from bulkhead.report.monitors import errors_text, monitor_rows, monitor_table

    parts: list[RenderableType] = [Fitted(table_of(seen))]
    for table in (cores_table(seen["cores"]), flows_table(seen["flows"])):
        if table is not None:
            parts += [Text(""), Fitted(table)]
    rows = [
        row
        for domain in seen["domains"]
        for row in monitor_rows(domain["domain"], domain.get("mpam") or [], None)
    ]
    if rows:
        parts += [Text(""), Fitted(monitor_table(rows))]
    if errors := errors_text({"errors": seen["mpam_errors"]}):
        parts.append(Text(errors, style="red"))
    return Group(*parts)


def _plain_table(*columns: str, left: int) -> Table:
    """A table whose first `left` columns are left-aligned text and whose other columns are figures."""
    from rich import box
    from rich.table import Table

    table = Table(
        box=box.SIMPLE_HEAD, title_justify="left", padding=(0, 0), pad_edge=False, show_edge=False
    )  # fmt: skip
    for number, name in enumerate(columns):
        table.add_column(name, justify="left" if number < left else "right", overflow="fold")
    return table


def _number(value: float | None) -> str:
    from bulkhead.report.numbers import count

    return "–" if value is None else count(round(value))


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{value:.1%}"


def _against(value_ns: int | None, limit_ns: int | None) -> Text:
    """A time with its limit; red if the time is above the limit."""
    from rich.text import Text

    from bulkhead.units import time_text

    if value_ns is None:
        return Text("–")
    late = limit_ns is not None and value_ns > limit_ns
    limit = f" of {time_text(limit_ns)}" if limit_ns is not None else ""
    return Text(f"{time_text(value_ns)}{limit}", style="red" if late else "")


def cores_table(cores: Sequence[LiveCoreResult]) -> Table | None:
    """The table of shared cores: CPU time and release delays of each VCPU."""
    if not cores:
        return None
    table = _plain_table("core", "VCPU", "state", "priority", "CPU", "reserved", "longest release", left=3)
    captions = []
    for core in cores:
        for number, one in enumerate(core["vcpus"]):
            table.add_row(
                str(core["core"]) if number == 0 else "",
                f"{one['domain']}.{one['vcpu']}",
                one["state"],
                str(one["priority"]),
                _percent(one["share"]),
                _percent(one["reserved"]),
                _against(one["release_max_ns"], core["release_bound_ns"]),
            )
        used = [one["share"] for one in core["vcpus"] if one["share"] is not None]
        captions.append(
            f"core {core['core']}: {core['runnable']} runnable, {_number(core['switches_per_s'])} switches/s,"
            f" {_percent(sum(used) if used else None)} used"
        )
    table.caption, table.caption_justify = "\n".join(captions), "left"
    return table


def flows_table(flows: Sequence[LiveFlowResult]) -> Table | None:
    if not flows:
        return None
    table = _plain_table("flow", "state", "packets/s", "MB/s", "longest latency", "late", left=2)
    for one in flows:
        rate = one["bytes_per_s"]
        table.add_row(
            one["flow"],
            one["state"],
            _number(one["packets_per_s"]),
            "–" if rate is None else f"{rate / 1e6:.2f}",
            _against(one["latency_max_ns"], one["deadline_ns"]),
            _number(one["misses"]),
        )
    return table


def table_of(seen: LiveSeen) -> Table:
    """The table of domains. It fits into 80 columns; a long name is wrapped to more lines."""
    from rich import box
    from rich.table import Table

    from bulkhead.report.numbers import count
    from bulkhead.units import duration

    if seen["state"] != "running":
        seen = stopped(seen)
    clock = f", {seen['guest_s']:.2f} s" if seen["guest_s"] is not None else ""
    table = Table(
        title=f"{seen['system']} on {seen['on']}{clock}: {_STATES[seen['state']]}",
        box=box.SIMPLE_HEAD, title_justify="left", padding=(0, 0), pad_edge=False, show_edge=False,
    )  # fmt: skip
    table.add_column("domain", overflow="fold")
    table.add_column("cores", overflow="fold")
    table.add_column("state", no_wrap=True)
    for name in ("events", "budget", "period", "MB/s", "stopped", "exits/s"):
        table.add_column(name, justify="right", no_wrap=True)
    regulation = seen["regulation"]
    if regulation is not None:
        table.caption_justify = "left"
        devices = "".join(f", {name} {count(limit)}" for name, limit in regulation["devices"].items())
        table.caption = (
            f"regulator: G {count(regulation['global'])} events{devices}, load {regulation['load']:.0%}"
        )

    for row in seen["domains"]:
        throttled = row.get("throttled")
        table.add_row(
            row["domain"],
            ",".join(str(core) for core in row["cores"]),
            row["state"],
            _number(row.get("events_per_period")),
            _number(row.get("budget")),
            duration(row["period_ns"]) if "period_ns" in row else "–",
            _number(row.get("mb_per_s")),
            "–" if throttled is None else f"{100 * throttled:.1f} %",
            _number(row["exits_per_s"]),
        )
    return table
