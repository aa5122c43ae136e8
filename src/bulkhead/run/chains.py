# SPDX-License-Identifier: Apache-2.0
"""The longest times of chains that clients have measured, beside their bounds.

Called by `result`. A client measures from the moment before it sends a request to the moment at which it has
the answer as a whole, and reports the longest time of its n-th flow as `longest<n>_ns`, the number of answers
as `answered<n>` (guests/programs/client.c). The age of a request without an answer counts as a time. Times
count on the simulated machine only: those of the emulator follow the host.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bulkhead.results.run import ChainResult
from bulkhead.run.target import MACHINE, ChainTarget
from bulkhead.units import time_text

START_NS = 25 * 10**6  # a client that is ready connects, and its first requests are answered and reported


def chains_json(
    targets: Sequence[ChainTarget], reports: Mapping[str, Mapping[str, object] | None]
) -> list[ChainResult]:
    """One object for each chain. `reports`: the last report of each domain."""
    return [_one(target, reports.get(target.client)) for target in targets]


def chain_reasons(chains: Sequence[ChainResult], on: str, ran_ns: Mapping[str, int]) -> list[str]:
    """Chains whose longest time is beyond the bound, and chains without an answer. `ran_ns`: for how long
    each domain ran after it was ready."""
    if on != MACHINE:
        return []
    late = [
        f"chain {chain['name']}: the longest time from a request to its answer was "
        f"{time_text(chain['longest_ns'])}, and the bound is {time_text(chain['bound_ns'])}"
        for chain in chains
        if chain["longest_ns"] is not None and chain["longest_ns"] > chain["bound_ns"]
    ]
    silent = [
        f"chain {chain['name']}: '{chain['client']}' reported no answer, although it ran for "
        f"{time_text(ran_ns[chain['client']])}"
        for chain in chains
        if chain["longest_ns"] is None and ran_ns.get(chain["client"], 0) > chain["deadline_ns"] + START_NS
    ]
    return late + silent


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
        "longest_ns": longest if answered or longest else None,
        "bound_ns": target.bound_ns,
        "deadline_ns": target.deadline_ns,
    }


def _number(report: Mapping[str, object] | None, key: str) -> int | None:
    value = report.get(key) if report is not None else None
    return value if type(value) is int else None
