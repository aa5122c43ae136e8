# SPDX-License-Identifier: Apache-2.0
"""Platforms whose files state the costs of the parts of a packet's path (`flow_costs`)."""

from __future__ import annotations

from bulkhead.config.load import load_named
from bulkhead.config.locate import platform_names, platform_path
from bulkhead.config.platform import Platform
from bulkhead.config.problem import no_such
from bulkhead.errors import BulkheadError


class NoFlowCosts(BulkheadError):
    """There is no such platform, or its file has no costs of flows."""


def platform_with_costs(name: str) -> Platform:
    """The platform with its `flow_costs`. Raises NoFlowCosts."""
    if platform_path(name) is None:
        raise NoFlowCosts(no_such("platform", name, filter(_has_costs, platform_names())))
    _, platform, reasons = load_named(name)
    if platform is not None and platform.flow_costs is None:
        allowed = ", ".join(filter(_has_costs, platform_names()))
        cause = f"platform '{name}' does not say what a packet's path costs (`flow_costs`)"
        reasons = [f"{cause}; those that do: {allowed}"]
    if reasons or platform is None:
        raise NoFlowCosts("; ".join(reasons))
    return platform


def _has_costs(name: str) -> bool:
    _, platform, _ = load_named(name)
    return platform is not None and platform.flow_costs is not None
