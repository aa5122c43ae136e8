# SPDX-License-Identifier: Apache-2.0
"""Experiment `flows`, the analysis (F4): the share of random sets that is schedulable, and the smallest
period of one flow, compared with a run of the simulated machine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from bulkhead.config.flow_costs import ISOLATED, PLAIN, FlowCosts
from bulkhead.config.system import Flow
from bulkhead.experiments.mxu_systems import Json
from bulkhead.experiments.row import Row
from bulkhead.flows import analysis, sweep
from bulkhead.flows.model import FlowModel

KIB, MB = 1024, 10**6
DOMAINS = 4
CHUNK = 4 * KIB
FLOWS = (3, 12, 48)
SIZES_KIB = (4, 12)
RATES_MB_S = (150, 500, 1000)
SETS = 1000
STEP = 0.05
RUN_RATES_MB_S = (148, 485)
SENDERS = 2  # both ends of a flow have a queue
MOST_NS = 1 << 32


def ratio_points() -> list[Row]:
    return [
        {"costs": costs, "flows": flows, "size_kib": size, "rate_mb_s": rate}
        for costs in ("published", "ours")
        for rate in RATES_MB_S
        for size in SIZES_KIB
        for flows in FLOWS
    ]


def ratio_rows(point: Row, costs: FlowCosts, sets: int, workers: int) -> list[Row]:
    """Rows of one point, one for each utilization."""
    utilizations = tuple(round(STEP * number, 6) for number in range(1, round(1 / STEP) + 1))
    what = sweep.Sweep(
        costs,
        DOMAINS,
        point["flows"],
        point["size_kib"] * KIB,
        point["rate_mb_s"] * MB,
        sets,
        CHUNK,
        utilizations,
        1,
    )
    swept = sweep.run(what, workers, lambda _share, _step: None)
    return [
        {
            **point,
            "utilization": one.utilization,
            "ratio": one.ratio,
            "ratio_low": one.low,
            "ratio_high": one.high,
            "undecided": one.undecided,
        }
        for one in swept.points
    ]


def half_ratio(rows: list[Row]) -> float:
    """The utilization at which half of the sets are schedulable, interpolated."""
    before = (0.0, 1.0)
    for row in rows:
        if row["ratio"] < 0.5:
            share = (before[1] - 0.5) / (before[1] - row["ratio"])
            return float(before[0] + share * (row["utilization"] - before[0]))
        before = row["utilization"], row["ratio"]
    return before[0]


def latency_points() -> list[Row]:
    return [
        {"costs": section, "rate_mb_s": rate, "size_kib": size}
        for section in (PLAIN, ISOLATED)
        for rate in RUN_RATES_MB_S
        for size in SIZES_KIB
    ]


def smallest_system_period(costs: FlowCosts, size: int, bytes_per_s: int) -> int | None:
    """Like analysis.smallest_period, but for a flow of a system, with its reserved control packets."""

    def fits(period: int) -> bool:
        flow = Flow.model_validate(
            {
                "name": "one",
                "from": "sender",
                "to": "receiver",
                "port": 5000,
                "size": f"{size} B",
                "period": f"{period} ns",
                "deadline": f"{period} ns",
            }
        )
        try:
            return FlowModel((flow,), costs, CHUNK).make().check(bytes_per_s).verdict == "schedulable"
        except ValueError:
            return False

    return analysis.smallest_above(0, MOST_NS, fits)


def latency_system(point: Row, period_ns: int, packets: int) -> Json:
    """A system with a single flow, which sends in each period; with colors if its costs are those of isolated
    systems."""
    memory = [{"at": 0x4000_0000, "size": "4 MiB"}]
    image = {"elf": "guests/traffic.elf"}
    domains = [
        {"name": name, "cpus": [core], "image": image.copy(), "memory": [one.copy() for one in memory]}
        for core, name in enumerate(("sender", "receiver"))
    ]
    domains[0]["params"] = {"packets": packets}
    domains[1]["params"] = {"packets": 1}
    flow = {"name": "one", "from": "sender", "to": "receiver", "port": 5000}
    size = f"{point['size_kib']} KiB"
    apart = point["costs"] == ISOLATED
    return {
        "bulkhead": 1,
        "name": f"latency-{point['rate_mb_s']}-{point['size_kib']}{'-isolated' if apart else ''}",
        "platform": "zcu102",
        "isolation": {"llc": "coloring" if apart else "none"},
        "regulation": {"overcommit": True},
        "domains": domains,
        "broker": {"cpu": 3, "chunk": "4 KiB", "rate": f"{point['rate_mb_s']} MB/s"},
        "flows": [{**flow, "size": size, "period": f"{period_ns} ns", "deadline": f"{period_ns} ns"}],
        "expect": {"sender": "stopped", "receiver": "stopped"},
    }


def latency_row(
    point: Row, published: FlowCosts, costs: FlowCosts, run: Callable[[Json], Mapping[str, Any]]
) -> Row:
    """The smallest periods by the analysis, and the results of a run at that of a system. Raises
    ValueError."""
    size, rate = point["size_kib"] * KIB, point["rate_mb_s"] * MB
    period = smallest_system_period(costs, size, rate)
    if period is None:
        raise ValueError(f"{point}: no period is long enough")
    result = run(latency_system(point, period, 1000))
    if result["verdict"] != "ok":
        raise ValueError(f"{point}: {'; '.join(result['reasons'])}")
    flow = result["flows"][0]
    return {
        **point,
        "period_published_ns": analysis.smallest_period(published, size, rate),
        "period_ns": analysis.smallest_period(costs, size, rate, senders=SENDERS),
        "period_system_ns": period,
        "bound_ns": flow["bound_ns"],
        "packets": flow["packets"],
        "latency_mean_ns": flow["latency_ns"]["mean"],
        "latency_max_ns": flow["latency_ns"]["max"],
        "observed_of_period": flow["latency_ns"]["max"] / period,
        "misses": flow["misses"],
        "digest": result["digest"],
    }
