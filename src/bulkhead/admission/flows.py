# SPDX-License-Identifier: Apache-2.0
"""Schedulability of the flows of a system, and the smallest bandwidth of each broker that is enough.

The commands `flows check` and `flows min-bandwidth` call these functions. The platform need not be bootable.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bulkhead.admission.load import Loaded, load_system
from bulkhead.config.platform import Platform
from bulkhead.config.problem import Finding, Problem
from bulkhead.flows import analysis
from bulkhead.flows.model import FlowModel
from bulkhead.planning.broker_parts import BrokerPart, parts_of
from bulkhead.planning.console import console_core
from bulkhead.planning.flows import FlowPlan, flow_model, plan_brokers, plan_flows


@dataclass(frozen=True)
class FlowCheck:
    """The brokers' plans, or the problems found."""

    loaded: Loaded
    planned: tuple[FlowPlan, ...]  # none: there are problems
    problems: tuple[Problem, ...]


@dataclass(frozen=True)
class LeastBandwidth:
    """The smallest bandwidth of one broker, or the problems found."""

    broker: str
    model: FlowModel | None
    bytes_per_s: int | None
    problems: tuple[Problem, ...]


def load_flows(file: str, overrides: Sequence[str]) -> tuple[Loaded, tuple[Problem, ...]]:
    """The system with its flows, and its problems; a system without flows has a problem."""
    loaded = load_system(file, overrides)
    problems = list(loaded.problems)
    if loaded.system is not None and not loaded.system.flows:
        problems.append(loaded.locate(Finding((), "no-flows", "has no flows", "the key `flows`")))
    return loaded, tuple(problems)


def check_flows(loaded: Loaded) -> FlowCheck:
    assert loaded.system is not None
    assert loaded.platform is not None
    planned, findings = plan_brokers(loaded.system, loaded.platform)
    return FlowCheck(loaded, planned, tuple(loaded.locate(finding) for finding in findings))


def least_bandwidths(loaded: Loaded) -> tuple[LeastBandwidth, ...]:
    """For each broker, the smallest bandwidth with which its flows are schedulable."""
    assert loaded.system is not None
    assert loaded.platform is not None
    console = console_core(loaded.system, loaded.platform)
    return tuple(_least(loaded, part, console) for part in parts_of(loaded.system))


def _least(loaded: Loaded, part: BrokerPart, console: int) -> LeastBandwidth:
    assert loaded.platform is not None
    model, findings = flow_model(part.system, loaded.platform, console)
    found = None if model is None else analysis.smallest_bandwidth(model)
    if model is not None and found is None:
        findings = _impossible(part, loaded.platform, console)
    problems = tuple(loaded.locate(finding) for finding in part.in_file(findings))
    return LeastBandwidth(part.name, model, found, problems)


def _impossible(part: BrokerPart, platform: Platform, console: int) -> list[Finding]:
    """Why no bandwidth is enough, in the words that `check` uses for `rate: auto`."""
    assert part.system.broker is not None
    open_rate = part.system.broker.model_copy(update={"rate": None})
    alone = part.system.model_copy(update={"broker": open_rate, "brokers": {}})
    return plan_flows(alone, platform, console)[1]
