# SPDX-License-Identifier: Apache-2.0
"""Notice of `check` and `run`: under `dynamic-delay` (B11) a regulated core shares a cluster with a core that
the regulator protects, and the system file does not state how long a line waits there.

The platform's delays are of a core that reads line by line. A program that waits for each line waits longer
beside a core of its own cluster, also for lines that are in their common L2.
"""

from __future__ import annotations

from collections.abc import Iterator

from bulkhead.config.platform import Platform
from bulkhead.config.problem import Finding, KeyPath
from bulkhead.config.system import System
from bulkhead.planning.delays import POLICY, PS_PER_NS, delays_of, share_a_cluster
from bulkhead.planning.regulation import is_regulated

_POLICY: KeyPath = ("regulation", "policy")
_ALLOWED = "`regulation.cluster_delay`: how long such a line was measured to wait (docs/design/bandwidth.md)"


def cluster_delay_assumed(system: System, platform: Platform) -> Iterator[Finding]:
    """One notice if a regulated core shares a cluster with a core that the regulator protects."""
    regulation = system.regulation
    if regulation is None or regulation.policy != POLICY or regulation.cluster_delay is not None:
        return
    regulated = [domain for domain in system.domains if is_regulated(system, domain)]
    beside = next(
        (
            (core, domain, protected)
            for domain in regulated
            for core in domain.cpus
            for protected in system.domains
            if protected not in regulated
            if any(share_a_cluster(platform, core, other) for other in protected.cpus)
        ),
        None,
    )
    if beside is None:
        return
    core, domain, protected = beside
    delays = delays_of(regulation, platform, (core,), protected.cpus)
    if delays is None:  # reported as a missing key
        return
    ns = delays.event_ps[core] // PS_PER_NS
    cause = (
        f"counts {ns} ns for each line that '{protected.name}' waits for beside core {core} of "
        f"'{domain.name}', which is of the same cluster: the promise may not hold if '{protected.name}' "
        "waits for one line before it asks for the next"
    )
    yield Finding(_POLICY, "cluster-delay", cause, _ALLOWED)
