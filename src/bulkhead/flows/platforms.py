# SPDX-License-Identifier: Apache-2.0
"""Platforms whose files state the costs of the parts of a packet's path (`flow_costs`)."""

from __future__ import annotations

from bulkhead.config.flow_costs import ISOLATED, PLAIN, FlowCosts
from bulkhead.config.load import load_named
from bulkhead.config.locate import platform_names, platform_path
from bulkhead.config.platform import Platform
from bulkhead.config.problem import no_such
from bulkhead.errors import BulkheadError


class NoFlowCosts(BulkheadError):
    """There is no such platform, or its file has no costs of flows."""


def platform_with_costs(name: str, *, isolated: bool = False) -> tuple[Platform, FlowCosts]:
    """The platform with its `flow_costs`, or with those of isolated systems. Raises NoFlowCosts."""
    if platform_path(name) is None:
        raise NoFlowCosts(no_such("platform", name, _having(isolated=isolated)))
    _, platform, reasons = load_named(name)
    costs = _costs(name, isolated=isolated)
    if platform is not None and costs is None:
        section = ISOLATED if isolated else PLAIN
        cause = f"platform '{name}' does not say what a packet's path costs (`{section}`)"
        reasons = [f"{cause}; those that do: {', '.join(_having(isolated=isolated))}"]
    if reasons or platform is None or costs is None:
        raise NoFlowCosts("; ".join(reasons))
    return platform, costs


def _having(*, isolated: bool) -> list[str]:
    return [name for name in platform_names() if _costs(name, isolated=isolated) is not None]


def _costs(name: str, *, isolated: bool) -> FlowCosts | None:
    _, platform, _ = load_named(name)
    if platform is None:
        return None
    return platform.flow_costs_isolated if isolated else platform.flow_costs
