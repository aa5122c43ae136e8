# SPDX-License-Identifier: Apache-2.0
"""The systems of `bench flows --isolated`: those of the benchmark, with colors that keep the hypervisor and
the broker apart from all domains, and otherwise as bad as planning/flow_costs.py allows.

The hypervisor and the broker share one color of the cache, so that they displace their own lines. Each domain
has one color, so that it displaces its own queues and buffers. Domains write without end.
"""

from __future__ import annotations

from collections.abc import Iterable

from bulkhead.config.platform import Platform
from bulkhead.planning.space import color_count


def isolated_settings(platform: Platform, domains: Iterable[str]) -> list[str]:
    """Settings (`--set`) that give a system with these domains such colors. Raises GeometryError if the cache
    has no colors."""
    last = color_count(platform) - 1
    found = ["isolation.llc=coloring", f"hypervisor.llc={{colors: [{last}]}}"]
    return found + [f"domains.{name}.llc={{colors: [{number}]}}" for number, name in enumerate(domains)]
