# SPDX-License-Identifier: Apache-2.0
"""The parts of the path of packets that a board's self-test measured, beside the costs of the platform file.

The program `self_test_flows` measures on a board what `bulkhead bench flows` measures on the simulated
machine. The lines for the platform file therefore have the same names and the same margins.
"""

from __future__ import annotations

from collections.abc import Iterator

from bulkhead.bench.flows import beyond_call, named_by_broker, statistics_of, with_margin
from bulkhead.config.flow_costs import ISOLATED, PLAIN, part_names
from bulkhead.config.platform import Platform
from bulkhead.planning.broker import engine_on
from bulkhead.results.run import PathPartResult
from bulkhead.validation.self_test import FlowSelfTest, PathTime
from bulkhead.validation.self_test_figures import MeasuredFigure


def flow_figures_of(test: FlowSelfTest, platform: Platform) -> Iterator[MeasuredFigure]:
    """Median and largest value of each part. The line for the file goes with the median."""
    isolated = test.broker.isolated
    costs = platform.flow_costs_isolated if isolated else platform.flow_costs
    stated = {} if costs is None else costs.parts()
    for name, part in _costs_of(test, platform).items():
        kept = stated.get(name)
        values = ", ".join(f"{key}: {ns} ns" for key, ns in statistics_of(with_margin(part)).items())
        median = None if kept is None or kept.median is None else float(kept.median)
        key = f"{ISOLATED if isolated else PLAIN}.{name}"
        yield MeasuredFigure(f"{name}, median", "ns", part["median"], median, key, f"{{ {values} }}")
        longest = None if kept is None else float(kept.max)
        yield MeasuredFigure(f"{name}, longest", "ns", part["max"], longest)


def _costs_of(test: FlowSelfTest, platform: Platform) -> dict[str, PathPartResult]:
    """The parts under the names of the platform file."""
    seen = {name: _part(time) for name, time in test.parts.by_name().items()}
    seen["dma_interrupt"] = beyond_call(seen["engine"], seen["hypervisor_call"])
    return named_by_broker(
        {name: seen[name] for name in part_names() if name in seen},
        copies=test.broker.engine == "cpu-copy",
        by_interrupt=test.broker.wait == "interrupt",
        engines=engine_on(platform) is not None,
    )


def _part(time: PathTime) -> PathPartResult:
    return {
        "count": time.count,
        "min": time.min,
        "avg": time.avg,
        "max": time.max,
        "median": time.median,
    }
