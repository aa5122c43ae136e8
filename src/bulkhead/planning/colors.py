# SPDX-License-Identifier: Apache-2.0
"""Chooses colors where the system file leaves them open (`auto`, `share`).

plan.py calls this once per mechanism (LLC, DRAM banks). Colors that the file names are kept. The rest is
distributed: first the colors that each owner's memory needs, then the remaining ones, to real-time domains
first.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from bulkhead.config.problem import Finding, KeyPath
from bulkhead.geometry import runs
from bulkhead.planning.model import Choice

HYPERVISOR = -1  # the hypervisor's index among owners
TABLES = -2  # index of the memory for stage-2 tables with a specification
_EL2 = (HYPERVISOR, TABLES)


@dataclass(frozen=True)
class ColorRequest:
    """One owner's request to one mechanism."""

    owner: int
    name: str
    path: KeyPath  # key of the request in the system file
    colors: tuple[int, ...] | None
    share: Fraction | None
    least: int  # colors that its memory needs at least
    realtime: bool
    candidates: frozenset[int]  # allowed colors; fewer if the other mechanism uses some of the same bits


@dataclass
class Assignment:
    """Colors of each owner, the reasons, and findings about requests that could not be met."""

    colors: dict[int, frozenset[int]] = field(default_factory=dict)
    choices: list[Choice] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)


def colors_of_share(share: Fraction, count: int) -> int:
    """The smallest number of whole colors that is at least this share of the cache."""
    return math.ceil(share * count)


def assign(requests: Sequence[ColorRequest], count: int, what: str) -> Assignment:
    """Assign colors to each request, disjoint where this function chooses them. `what`: the mechanism's name
    in reasons."""
    result = Assignment()
    free = set(range(count))
    for request in requests:
        if request.colors is not None:
            result.colors[request.owner] = frozenset(request.colors)
            free -= result.colors[request.owner]
    open_requests = [request for request in requests if request.colors is None]
    amounts = _amounts(open_requests, free, count)
    wanted = sum(amounts.values())
    if wanted > len(free):
        for request in open_requests:
            result.findings.append(_exhausted(request, amounts[request.owner], len(free), what))
        return result
    # The hypervisor gets the highest colors and domains the lowest, so that its colors stay when domains
    # grow.
    order = sorted(open_requests, key=lambda r: (r.owner in _EL2, len(r.candidates)))
    for request in order:
        amount = amounts[request.owner]
        picked = _pick(free & request.candidates, amount, high=request.owner in _EL2)
        if len(picked) < max(amount, 1):
            result.findings.append(_exhausted(request, max(amount, 1), len(picked), what))
            continue
        free -= picked
        result.colors[request.owner] = picked
        result.choices.append(_choice(request, picked, count, what))
    return result


def _amounts(requests: Sequence[ColorRequest], free: set[int], count: int) -> dict[int, int]:
    """Number of colors of each open request."""
    amounts = {
        request.owner: colors_of_share(request.share, count) if request.share is not None else request.least
        for request in requests
    }
    left = len(free) - sum(amounts.values())
    takers = [request for request in requests if request.share is None and request.owner not in _EL2]
    takers.sort(key=lambda request: not request.realtime)  # stable: real-time first, then the file's order
    while left > 0:
        given = 0
        for request in takers:
            if given < left and _has_room(request, requests, amounts, free):
                amounts[request.owner] += 1
                given += 1
        if given == 0:
            break  # the remaining colors are candidates of no domain
        left -= given
    return amounts


def _has_room(
    request: ColorRequest, requests: Sequence[ColorRequest], amounts: dict[int, int], free: set[int]
) -> bool:
    """Whether the request can get one more color and all requests with the same candidates still get
    theirs."""
    if amounts[request.owner] >= len(free & request.candidates):
        return False
    rivals, within = {request.owner}, set(request.candidates)
    grown = True
    while grown:  # adds each request that shares a candidate with one of them
        found = [one for one in requests if one.owner not in rivals and within & one.candidates]
        for one in found:
            rivals.add(one.owner)
            within |= one.candidates
        grown = bool(found)
    return sum(amounts[owner] for owner in rivals) < len(free & within)


def _pick(free: set[int], amount: int, *, high: bool) -> frozenset[int]:
    """`amount` free colors, consecutive if possible, so that a domain has few maps."""
    found = [run for run in runs(free) if len(run) >= amount]
    if found:
        run = found[-1] if high else found[0]
        return frozenset(run[-amount:] if high else run[:amount])
    return frozenset(sorted(free, reverse=high)[:amount])


def _exhausted(request: ColorRequest, wanted: int, left: int, what: str) -> Finding:
    return Finding(
        request.path,
        "colors-exhausted",
        f"{request.name} needs {wanted} {what} color{'s' if wanted != 1 else ''}, and {left} "
        "are left for all owners whose colors the file does not name",
        "fewer colors for others, or less memory",
    )


def _choice(request: ColorRequest, picked: frozenset[int], count: int, what: str) -> Choice:
    value = "[" + ", ".join(str(color) for color in sorted(picked)) + "]"
    if request.owner == TABLES:
        return Choice("hypervisor.tables.colors", value, f"{request.least} for stage-2 tables with a `spec`")
    key = (
        "hypervisor" if request.owner == HYPERVISOR else f"domains.{request.name}"
    ) + f".{request.path[-1]}.colors"
    if request.share is not None:
        percent = f"{float(request.share * 100):g} %"
        got = f"{float(Fraction(len(picked), count) * 100):g} %"
        return Choice(
            key, value, f"a share of {percent} is {len(picked)} of {count} {what} colors, rounded up: {got}"
        )
    if request.owner == HYPERVISOR:
        return Choice(key, value, f"the highest free {what} colors, {request.least} for its memory")
    reason = f"{request.least} for its memory"
    if len(picked) > request.least:
        reason += f", {len(picked) - request.least} from the rest"
    return Choice(key, value, reason + (" (real-time domains first)" if request.realtime else ""))
