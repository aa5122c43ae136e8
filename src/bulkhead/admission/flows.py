# SPDX-License-Identifier: Apache-2.0
"""Schedulability of the flows of a system, and the smallest bandwidth of the broker that is enough.

The commands `flows check` and `flows min-bandwidth` call these functions. The platform need not be bootable.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bulkhead.admission.load import Loaded, load_system
from bulkhead.config.problem import Finding, Problem
from bulkhead.flows import analysis
from bulkhead.flows.model import FlowModel
from bulkhead.planning.flows import FlowPlan, flow_model, plan_flows


@dataclass(frozen=True)
class FlowCheck:
    """The broker's plan, or the problems found."""

    loaded: Loaded
    planned: FlowPlan | None
    problems: tuple[Problem, ...]


@dataclass(frozen=True)
class LeastBandwidth:
    """The smallest bandwidth, or the problems found."""

    loaded: Loaded
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
    planned, findings = plan_flows(loaded.system, loaded.platform)
    return FlowCheck(loaded, planned, tuple(loaded.locate(finding) for finding in findings))


def least_bandwidth(loaded: Loaded) -> LeastBandwidth:
    """The smallest bandwidth with which the flows are schedulable."""
    assert loaded.system is not None
    assert loaded.platform is not None
    model, findings = flow_model(loaded.system, loaded.platform)
    if model is None:
        return LeastBandwidth(loaded, None, None, tuple(loaded.locate(finding) for finding in findings))
    found = analysis.smallest_bandwidth(model)
    return LeastBandwidth(loaded, model, found, _impossible(loaded) if found is None else ())


def _impossible(loaded: Loaded) -> tuple[Problem, ...]:
    """Why no bandwidth is enough, in the words that `check` uses for `rate: auto`."""
    assert loaded.system is not None
    assert loaded.system.broker is not None
    assert loaded.platform is not None
    open_rate = loaded.system.broker.model_copy(update={"rate": None})
    system = loaded.system.model_copy(update={"broker": open_rate})
    return tuple(loaded.locate(finding) for finding in plan_flows(system, loaded.platform)[1])
