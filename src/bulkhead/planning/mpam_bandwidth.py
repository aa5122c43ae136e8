# SPDX-License-Identifier: Apache-2.0
"""A domain's request for memory bandwidth as MPAM settings of one memory instance.

mpam_planner.py calls this for each instance. Each instance gives the same share of its own maximum, so
together they give that share of the whole.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from bulkhead.config.mpam import Resource
from bulkhead.config.problem import Finding
from bulkhead.config.shares import US, Bandwidth
from bulkhead.config.system import System
from bulkhead.planning.mechanism import Instance
from bulkhead.planning.mpam import Settings
from bulkhead.planning.mpam_native import mpam, pair_of
from bulkhead.units import percent_text


def bandwidth_of(bandwidth: Bandwidth, resource: Resource) -> Settings:
    internal, downstream = _priorities(bandwidth, resource)
    return Settings(
        mbw_min=bandwidth.min,
        mbw_max=bandwidth.max,
        mbw_max_hard=bandwidth.hard,
        bandwidth_portions=bandwidth.portions,
        stride=bandwidth.stride,
        internal_priority=internal,
        downstream_priority=downstream,
        window_us=None if bandwidth.window is None else bandwidth.window // US,
    )


def priority_bits(resource: Resource) -> int:
    """Bits of the priority by which requests are served: the memory's own, or else the one that it passes
    on."""
    controls = resource.priority
    return 0 if controls is None else controls.internal or controls.downstream or 0


def _priorities(bandwidth: Bandwidth, resource: Resource) -> tuple[int | None, int | None]:
    """Internal and downstream priority. In the file 0 is the most urgent, in core/ the least. A value beyond
    the file's range is mapped to one that core/ refuses."""
    if bandwidth.priority is None:
        return None, None
    largest = (1 << priority_bits(resource)) - 1
    urgency = largest - bandwidth.priority if bandwidth.priority <= largest else largest + 1
    downstream = resource.priority is not None and resource.priority.internal is None
    return (None, urgency) if downstream else (urgency, None)


def guarantees_fit(
    system: System, instance: Instance, guarantees: Mapping[int, Sequence[Fraction]]
) -> list[Finding]:
    """Findings if minimum bandwidths add up to more than the whole. `guarantees`: by owner, one for each
    PARTID."""
    controls = instance.resource.bandwidth
    if not guarantees or controls is None or controls.bits is None:
        return []
    if system.regulation is not None and system.regulation.overcommit:
        return []
    shares = [pair_of(share) for owner in guarantees.values() for share in owner]
    steps = mpam().guarantees_sum(controls.bits, shares)
    whole = 1 << controls.bits
    if steps <= whole:
        return []
    parts = ", ".join(
        f"{system.domains[owner].name} {percent_text(sum(each, Fraction()))}"
        for owner, each in guarantees.items()
    )
    cause = (
        f"minima of {percent_text(Fraction(steps, whole))} ({parts}; each rounded up to 1/{whole}) are "
        f"more than 100 % of '{instance.name}'"
    )
    path = ("domains", max(guarantees), "bandwidth", "min")
    return [Finding(path, "overcommit", cause, "lower minima, or `regulation: { overcommit: true }`")]
