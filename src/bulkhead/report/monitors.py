# SPDX-License-Identifier: Apache-2.0
"""Values of MPAM's monitors for each domain, as rows for the terminal's report, the page and `top`.

Decides nothing. If a monitor has a flag, the row shows it with the value.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.table import Table

from bulkhead.report.numbers import count
from bulkhead.units import size_text

Json = Mapping[str, Any]  # of a report.json, which any version may have written

FLAGS = {"never_read": "never read", "not_ready": "not ready", "wrapped": "wrapped"}
HEADINGS = ("resource", "stored", "at most", "moved", "MB/s", "monitor")


@dataclass(frozen=True)
class MonitorRow:
    """One domain and one resource. A dash: not counted by this monitor, or there is none."""

    owner: str
    resource: str
    stored: str
    most: str
    moved: str
    mb_per_s: str
    flags: str

    @property
    def cells(self) -> tuple[str, ...]:
        return (self.owner, self.resource, self.stored, self.most, self.moved, self.mb_per_s, self.flags)


def monitor_rows(owner: str, monitors: Sequence[Json], seconds: float | None) -> list[MonitorRow]:
    """Rows from `mpam` of a domain. Bandwidth is `per_s` if given, else the bytes divided by `seconds`."""
    return [_row(owner, one, seconds) for one in monitors]


def run_rows(report: Json, ns: int | None) -> list[MonitorRow]:
    """All domains of a run's result, and the hypervisor."""
    seconds = ns / 1e9 if ns else None
    rows: list[MonitorRow] = []
    for domain in report.get("domains", []):
        rows += monitor_rows(domain["name"], domain.get("mpam") or [], seconds)
    own = (report.get("hypervisor") or {}).get("mpam") or []
    return rows + monitor_rows("hypervisor", own, seconds)


def monitor_table(rows: Sequence[MonitorRow], owner: str = "domain") -> Table:
    """A table at most 80 columns wide with ordinary names; a long name takes more lines."""
    table = Table(header_style="dim", box=SIMPLE_HEAD, padding=(0, 0), show_edge=False, pad_edge=False)
    table.add_column(owner, overflow="fold")
    table.add_column(HEADINGS[0], no_wrap=True)
    for name in HEADINGS[1:-1]:
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column(HEADINGS[-1], overflow="fold")
    last = ""
    for row in rows:
        table.add_row("" if row.owner == last else row.owner, *row.cells[1:])
        last = row.owner
    return table


def errors_text(mpam: Json) -> str | None:
    """Errors that components reported; None: there were none."""
    errors = mpam.get("errors") or {}
    if not errors:
        return None
    each = ", ".join(f"{count(times)} {name}" for name, times in errors.items())
    return f"MPAM components reported errors: {each} ({count(mpam.get('error_interrupts'))} interrupts)"


def _row(owner: str, one: Json, seconds: float | None) -> MonitorRow:
    flags = ", ".join(FLAGS.get(flag, flag) for flag in one.get("flags", []))
    known = "never_read" not in one.get("flags", [])
    stored = most = moved = per_s = "–"
    if known and one.get("kind") == "storage":
        stored, most = size_text(one["bytes"]), size_text(one["most_bytes"])
    elif known:
        moved = size_text(one["bytes"])
        rate = one["per_s"] if "per_s" in one else one["bytes"] / seconds if seconds else None
        per_s = f"{rate / 1e6:,.1f}".replace(",", "\u202f") if rate is not None else "–"
    return MonitorRow(owner, str(one.get("resource")), stored, most, moved, per_s, flags)
