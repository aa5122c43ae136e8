# SPDX-License-Identifier: Apache-2.0
"""A test hook: stage-2 tables of one segment of a domain are placed against their specification (X5).

`bulkhead run --misplace` uses it to show that the table witness detects this. plan.py applies it last: EL2
gets the wrong plan, the witness the right one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from bulkhead.config.problem import Finding, nearest_of, quoted
from bulkhead.planning.model import DomainPlan


def misplace(target: str, domains: Sequence[DomainPlan]) -> tuple[DomainPlan, ...] | Finding:
    """In colored memory: misplaces the tables that only the last marked segment needs. On the chip: all
    tables of the domain, since its walks have one type of memory."""
    victim = next((domain for domain in domains if domain.name == target), None)
    if victim is None:
        names = [domain.name for domain in domains]
        cause = f"there is no domain {quoted(target)}"
        return Finding(("misplace",), "bad-misplace", cause, ", ".join(names), nearest_of(target, names))
    marked = [segment for segment in victim.segments if segment.tables_placed]
    if not marked:
        cause = f"the stage-2 tables of {quoted(target)} have no `spec`, so there is no wrong place"
        return Finding(("misplace",), "bad-misplace", cause, "a domain with `spec` or `table_placement`")
    segments = tuple(
        replace(segment, tables_placed=False) if segment is marked[-1] else segment
        for segment in victim.segments
    )
    where = "pool" if victim.tables == "on_chip" else victim.tables
    changed = replace(victim, segments=segments, tables=where)
    return tuple(changed if domain is victim else domain for domain in domains)
