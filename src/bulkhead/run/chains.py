# SPDX-License-Identifier: Apache-2.0
"""The longest times of chains that clients have measured, beside their bounds.

Called by `result`. A client measures from the moment before it sends a request to the moment at which the
answer has come as a whole, and reports the longest time of its n-th flow as `longest<n>_ns`, the number of
answers as `answered<n>` (guests/programs/client.c). Times count on the simulated machine only: those of the
emulator follow the host.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bulkhead.results.run import ChainResult
from bulkhead.run.target import MACHINE, ChainTarget
from bulkhead.units import time_text


def chains_json(
    targets: Sequence[ChainTarget], reports: Mapping[str, Mapping[str, object] | None]
) -> list[ChainResult]:
    """One object for each chain. `reports`: the last report of each domain."""
    return [_one(target, reports.get(target.client)) for target in targets]


def chain_reasons(chains: Sequence[ChainResult], on: str) -> list[str]:
    """Chains whose longest time is beyond the bound."""
    if on != MACHINE:
        return []
    return [
        f"chain {chain['name']}: the longest time from a request to its answer was "
        f"{time_text(chain['longest_ns'])}, and the bound is {time_text(chain['bound_ns'])}"
        for chain in chains
        if chain["longest_ns"] is not None and chain["longest_ns"] > chain["bound_ns"]
    ]


def chains_not_measured(chains: Sequence[ChainResult]) -> list[str]:
    """Remarks on chains whose bound the run did not test."""
    return [
        f"chain {chain['name']}: '{chain['client']}' reported no answer, so its bound was not tested"
        for chain in chains
        if chain["longest_ns"] is None
    ]


def _one(target: ChainTarget, report: Mapping[str, object] | None) -> ChainResult:
    answered = _number(report, f"answered{target.number}")
    longest = _number(report, f"longest{target.number}_ns")
    return {
        "name": target.name,
        "client": target.client,
        "server": target.server,
        "answered": answered,
        "longest_ns": longest if answered else None,
        "bound_ns": target.bound_ns,
        "deadline_ns": target.deadline_ns,
    }


def _number(report: Mapping[str, object] | None, key: str) -> int | None:
    value = report.get(key) if report is not None else None
    return value if type(value) is int else None
