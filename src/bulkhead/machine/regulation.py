# SPDX-License-Identifier: Apache-2.0
"""Budgets of parts and their regulator: converts a job's keys, named as in system files, for the machine's
driver (machine/regulation/settings.h).

`point` calls it before it runs a job. Errors are ValueErrors that name the key.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BeforeValidator, Field, ValidationError

from bulkhead.admission.crosscheck_budgets import SHORTEST_PERIOD_NS
from bulkhead.config.base import Model, Text
from bulkhead.config.platform import Platform
from bulkhead.config.problem import key_text
from bulkhead.config.quantity import BytesPerS
from bulkhead.config.shares import Bandwidth
from bulkhead.config.system import Regulation
from bulkhead.errors import InvalidInput
from bulkhead.machine.interrupt_cost import cost_of
from bulkhead.machine.job import LONGEST_PS, Job, JobPart
from bulkhead.planning.budgets import events_in, lines_per_event
from bulkhead.planning.delays import POLICY as DELAY
from bulkhead.planning.delays import delays_of, missing_key
from bulkhead.planning.regulation import (
    DYNAMIC,
    LONGEST_INTERVAL_NS,
    PHASES,
    SHORTEST_INTERVAL_NS,
    highest_phase,
    share_threshold,
)

_Model = TypeVar("_Model", bound=Model)

PS_PER_NS = 1000
NS_PER_S = 10**9
ONE = 1 << 16  # 1.0 of shares in core/regulator.h
BEAT_BYTES = 16  # Cortex-A53: bytes of a beat between a core and the shared part of its cluster
MOST_EVENTS = (1 << 30) - 1  # REGULATOR_MAX_EVENTS
MOST_CORES = 8  # REGULATOR_MAX_CORES
DEFAULT_BUDGET = 50_000_000  # initial budget of a regulated core, in bytes per s
DEFAULT_SLACK = 16  # events

# The machine's count for each event of the architecture: lines, except for BUS_ACCESS.
EVENTS = {
    "BUS_ACCESS": "beats",
    "MEM_ACCESS": "memory_access",
    "L1D_CACHE_REFILL": "l1d_refill",
    "L2D_CACHE": "l2d_access",
    "L2D_CACHE_REFILL": "l2d_refill",
    "L2D_CACHE_WB": "l2d_write_back",
    "L3D_CACHE_REFILL": "l3d_refill",
}


class BadRegulation(InvalidInput):
    """A budget or a regulator that is not possible."""


def _unlimited(value: object) -> object:
    return None if value == "unlimited" else value


class PartBandwidth(Bandwidth):
    """Bandwidth of a part, which is one VCPU."""

    budget: Annotated[BytesPerS | None, BeforeValidator(_unlimited)] = None
    events: Annotated[Annotated[int, Field(ge=0, le=1 << 62)] | None, BeforeValidator(_unlimited)] = None
    write: BytesPerS | None = None  # of `each`: for write-backs; `budget` is then for refills
    counts: Literal["refills", "writebacks", "each", "sum"] = "refills"
    event: Text | None = None  # counted instead of refills
    slack: Annotated[int, Field(ge=0, le=1 << 20)] = DEFAULT_SLACK
    suspend: bool = True  # false: a spent budget stops nothing (to measure the cost)


class JobRegulation(Regulation):
    """The policy that sets budgets."""

    hold: Literal["keep", "decrease"] = "keep"
    floor: BytesPerS = 1_000_000
    ceiling: BytesPerS | None = None
    saturation: BytesPerS | None = None
    samples: bool = True  # record the time series

    @property
    def dynamic(self) -> bool:
        return self.policy in DYNAMIC


def is_limited(job: Job) -> bool:
    return "regulation" in job or any("bandwidth" in part for part in job["parts"])


def problems_of(job: Job) -> list[str]:
    """Errors in the keys of a job, as far as they do not depend on a platform."""
    found = []
    try:
        _regulation(job)
    except BadRegulation as error:
        found.append(str(error))
    for part in job["parts"]:
        try:
            _bandwidth(part)
        except BadRegulation as error:
            found.append(str(error))
    return found


def unenforceable(job: Job, platform: Platform) -> list[str]:
    """Budgets and intervals of a valid job that would not be those of its keys: what `check` refuses for a
    system on this platform, and rates of less than one event in a period."""
    regulation = _regulation(job)
    found = []
    if regulation.dynamic and not SHORTEST_INTERVAL_NS <= regulation.interval <= LONGEST_INTERVAL_NS:
        allowed = f"{SHORTEST_INTERVAL_NS} ns to {LONGEST_INTERVAL_NS} ns"
        found.append(f"regulation.interval: is {regulation.interval} ns (allowed: {allowed})")
    for part in job["parts"]:
        wanted = _bandwidth(part)
        if wanted is not None and not wanted.unlimited:
            regulated = regulation.dynamic and part.get("criticality", "best-effort") == "best-effort"
            where = f"part '{part['name']}', bandwidth"
            found += _unenforceable(wanted, regulation.interval if regulated else None, platform, where)
    return found


def _unenforceable(
    wanted: PartBandwidth, interval_ns: int | None, platform: Platform, where: str
) -> list[str]:
    """`interval_ns`: of a part that a policy regulates, to which the platform's limits of budgets do not
    apply."""
    curves = platform.memory_budget if interval_ns is None else None
    period_ns = wanted.period if interval_ns is None else interval_ns
    shortest = SHORTEST_PERIOD_NS if curves is None else max(SHORTEST_PERIOD_NS, curves.shortest_period)
    if interval_ns is None and not shortest <= period_ns <= LONGEST_PS // PS_PER_NS:
        allowed = f"{shortest} ns to {LONGEST_PS // PS_PER_NS} ns, the longest run"
        return [f"{where}.period: a period of {period_ns} ns cannot be enforced (allowed: {allowed})"]
    found = []
    for key, rate, size in (
        ("budget", wanted.budget, counted_as(platform, wanted.event, where)[1]),
        ("write", wanted.write, line_bytes(platform)),
    ):
        events = _events_of(rate, None, period_ns, size)
        # The platform states it in refills, and a line has several beats.
        least = 1 if curves is None else curves.smallest_budget * line_bytes(platform) // size
        if events is not None and events < least:
            rate_least = -(-least * size * NS_PER_S // period_ns)
            cause = f"{rate} B/s are {events} events of {size} bytes in a period of {period_ns} ns"
            found.append(
                f"{where}.{key}: {cause}, and {least} is the least that can be enforced "
                f"(allowed: {rate_least} B/s or more, or a longer period)"
            )
    return found


def without_no_budget(part: Job) -> Job:
    """Removes a part's `bandwidth` if it names no amount, so that equivalent jobs are equal."""
    given = part.get("bandwidth")
    amounts = (
        [given.get(key) for key in ("budget", "events", "write")] if isinstance(given, dict) else [given]
    )
    if any(amount not in (None, "unlimited") for amount in amounts):
        return part
    return {key: value for key, value in part.items() if key != "bandwidth"}


def described(job: Job, platform: Platform, data: Sequence[int]) -> dict[str, Any]:
    """The argument of Machine.regulate(). `data`: address of a page of EL2's data for each core. Raises
    BadRegulation."""
    regulation = _regulation(job)
    budgets = []
    for part in job["parts"]:
        wanted = _bandwidth(part)
        regulated = regulation.dynamic and part.get("criticality", "best-effort") == "best-effort"
        if regulated and (wanted is None or wanted.unlimited):
            given = wanted.model_dump() if wanted is not None else {}
            wanted = PartBandwidth.model_construct(**{**given, "budget": DEFAULT_BUDGET})
        if wanted is not None and (regulated or not wanted.unlimited):
            budgets.append(_budget(part, wanted, regulation if regulated else None, platform))
    made: dict[str, Any] = {
        "budgets": budgets,
        "cost": {**cost_of(platform, regulation.policy), "data": list(data)},
        "sample_ps": regulation.interval * PS_PER_NS if regulation.samples else 0,
    }
    if regulation.dynamic:
        made["regulator"] = _regulator(regulation, platform, _counted(job["parts"]))
    if regulation.policy == DELAY:
        made["regulator"].update(_delays(regulation, platform, job["parts"]))
    return made


def _budget(
    part: Job, wanted: PartBandwidth, regulation: JobRegulation | None, platform: Platform
) -> dict[str, Any]:
    where = f"part '{part['name']}', bandwidth"
    period = wanted.period if regulation is None else regulation.interval
    refill, size = counted_as(platform, wanted.event, where)
    kinds = {"refills": [refill], "writebacks": ["l2d_write_back"]}
    events = kinds.get(wanted.counts, [refill, "l2d_write_back"])
    if wanted.apart:
        raise BadRegulation(f"{where}: the keys for reads are `budget` and `events`, with `counts: each`")
    limits = [_events_of(wanted.budget, wanted.events, period, size)]
    if wanted.counts == "each":
        limits.append(_events_of(wanted.write, wanted.write_events, period, line_bytes(platform)))
    elif wanted.write is not None or wanted.write_events is not None:
        raise BadRegulation(f"{where}.write: needs `counts: each`")
    return {
        "core": part["core"],
        "kind": {"each": "each", "sum": "sum"}.get(wanted.counts, "one"),
        "events": events,
        "limits": limits,
        "slack_events": wanted.slack if wanted.counts == "sum" else 0,
        "period_ps": period * PS_PER_NS,
        "regulated": regulation is not None,
        "keep_running": not wanted.suspend,
    }


@dataclass(frozen=True)
class _Counted:
    """What limited parts count: the kinds of their budgets."""

    all: tuple[str, ...]
    regulated: tuple[str, ...]


def _kind_of(wanted: PartBandwidth) -> str:
    """BUS_ACCESS counts lines that are written back, too, as a sum does."""
    return "sum" if wanted.event == "BUS_ACCESS" else wanted.counts


def _counted(parts: Sequence[JobPart]) -> _Counted:
    """Of a job under a dynamic policy. A part without a key `bandwidth` counts the default."""
    kinds = []
    for part in parts:
        wanted = _bandwidth(part)
        regulated = part.get("criticality", "best-effort") == "best-effort"
        if regulated or (wanted is not None and not wanted.unlimited):
            kinds.append((regulated, "refills" if wanted is None else _kind_of(wanted)))
    return _Counted(tuple(kind for _, kind in kinds), tuple(kind for regulated, kind in kinds if regulated))


def _regulator(wanted: JobRegulation, platform: Platform, counted: _Counted) -> dict[str, Any]:
    """Ceiling and saturation are traffic of the memory, and the events that they limit may not count the
    lines written back. The machine measures B_T and phases at the memory, where all lines are counted."""
    line = line_bytes(platform)

    def of_traffic(rate: int, counts: Iterable[str]) -> int:
        return events_in(rate, wanted.interval, line, lines=lines_per_event(counts))

    made: dict[str, Any] = {
        "policy": wanted.policy,
        "hold": wanted.hold,
        "step": 0 if wanted.step is None else round(wanted.step * ONE),
        "interval_ps": wanted.interval * PS_PER_NS,
        "floor_events": max(1, events_in(wanted.floor, wanted.interval, line)),
        "ceiling_events": MOST_EVENTS,
    }
    if wanted.ceiling is not None:
        made["ceiling_events"] = of_traffic(wanted.ceiling, counted.regulated)
    if wanted.saturation is not None:
        made["saturation_events"] = of_traffic(wanted.saturation, counted.all)
    if (wanted.policy == "dynamic-bandwidth") == isinstance(wanted.threshold, Fraction):
        raise BadRegulation(
            "regulation.threshold: `dynamic` needs a share of utilization, as `80 %`;"
            " `dynamic-bandwidth` a rate, as `950 MB/s`; `dynamic-delay` a share of time, as `5 %`"
        )
    if wanted.policy == PHASES:
        made["bandwidth_threshold_events"] = events_in(highest_phase(platform), wanted.interval, line)
    if isinstance(wanted.threshold, Fraction):
        made["threshold"] = round(share_threshold(wanted) * ONE)
    else:
        made["bandwidth_threshold_events"] = events_in(wanted.threshold, wanted.interval, line)
    return made


def _delays(wanted: JobRegulation, platform: Platform, parts: Sequence[JobPart]) -> dict[str, Any]:
    regulated = {part["core"] for part in parts if part.get("criticality", "best-effort") == "best-effort"}
    others = {part["core"] for part in parts} - regulated
    found = delays_of(wanted, platform, regulated, others)
    if found is None:
        key = missing_key(wanted, platform)
        raise BadRegulation(
            f"regulation.{key}: the key is needed, because '{platform.name}' has no `dram.delays`"
        )
    line, lines = line_bytes(platform), lines_per_event(_counted(parts).all)
    return {
        "horizon_intervals": found.horizon_intervals,
        "event_delays_ps": [found.event_ps.get(core, 0) for core in range(MOST_CORES)],
        "bandwidth_threshold_events": events_in(found.least, wanted.interval, line, lines=lines),
    }


def counted_as(platform: Platform, name: str | None, where: str) -> tuple[str, int]:
    """The machine's count for an event, and the bytes that one event stands for. Raises BadRegulation."""
    traffic = platform.pmu.traffic_event if platform.pmu is not None else None
    if name is None and traffic is None:
        raise BadRegulation(f"{where}: platform '{platform.name}' has no event for memory traffic")
    wanted = name if name is not None else str(traffic.name) if traffic is not None else ""
    if wanted not in EVENTS:
        raise BadRegulation(f"{where}.event: '{wanted}' is not one of {', '.join(EVENTS)}")
    return EVENTS[wanted], BEAT_BYTES if EVENTS[wanted] == "beats" else line_bytes(platform)


def line_bytes(platform: Platform) -> int:
    return platform.l1d.line if platform.l1d is not None else 64


def _events_of(rate: int | None, events: int | None, period_ns: int, event_bytes: int) -> int | None:
    return events if rate is None else events_in(rate, period_ns, event_bytes)


def _bandwidth(part: Job) -> PartBandwidth | None:
    given = part.get("bandwidth")
    if given is None or given == "unlimited":
        return None
    return _validated(PartBandwidth, given, f"part '{part['name']}', bandwidth")


def _regulation(job: Job) -> JobRegulation:
    return _validated(JobRegulation, job.get("regulation", {}), "regulation")


def _validated(model: type[_Model], given: Any, where: str) -> _Model:
    try:
        return model.model_validate(given)
    except ValidationError as error:
        wrong = [f"{key_text((where, *one['loc']))}: {one['msg']}" for one in error.errors(include_url=False)]
        raise BadRegulation("; ".join(wrong)) from error
