# SPDX-License-Identifier: Apache-2.0
"""Promises that a system file may make already but that this version does not keep.

They are validated like everything else; `check` and `run` show these notices, so that nobody takes
them for enforced.
"""

from __future__ import annotations

from collections.abc import Callable

from bulkhead.config.problem import Finding, KeyPath
from bulkhead.config.system import Domain, System


def not_enforced(system: System) -> list[Finding]:
    """One notice for each key that has no effect yet."""
    notices: list[Finding] = []

    def note(path: KeyPath, what: str) -> None:
        notices.append(Finding(path, "not-enforced", f"{what}: not enforced by this version"))

    if system.regulation is not None and system.regulation.policy != "none":
        note(("regulation",), f"regulation policy '{system.regulation.policy}'")
    for index, domain in enumerate(system.domains):
        _note_domain(note, ("domains", index), domain)
    if system.broker is not None:
        note(("broker",), "the broker")
    if system.flows:
        note(("flows",), f"{len(system.flows)} flow{'s' if len(system.flows) > 1 else ''}")
    return notices


def _note_domain(note: Callable[[KeyPath, str], None], at: KeyPath, domain: Domain) -> None:
    if not domain.bandwidth.unlimited:
        note((*at, "bandwidth"), f"the bandwidth budget of '{domain.name}'")
    if domain.priority != 0:
        note((*at, "priority"), f"the priority of '{domain.name}' (no core is shared)")
    if domain.table_placement != "best-effort":
        note((*at, "table_placement"), f"the table placement of '{domain.name}'")
