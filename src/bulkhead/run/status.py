# SPDX-License-Identifier: Apache-2.0
"""The hypervisor's statistics pages as values, unpacked by the layout that both sides share.

`conclude` reads them after a run, `live` during it. The machine may have failed: any contents must give a
value or a reason, never an exception.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from bulkhead.schema.layout import Layout

LOAD_ONE = 1 << 16  # core/utilization.h


@dataclass(frozen=True)
class DomainStatus:
    state: str
    end: str
    vttbr: int
    vtcr: int
    started_ns: int | None
    ended_ns: int | None
    fault_pc: int
    fault_syndrome: int
    fault_address: int
    restarts: int
    unheard_ns: int = 0  # at the machine's end: time since its first notification not heard by the broker
    socket_failures: int = 0  # how often its socket device asked the driver for a reset
    socket_failure: str = "none"  # why, the latest time


@dataclass(frozen=True)
class LimitStatus:
    """The budgets of a regulated core, in events, at the ends of its intervals."""

    intervals: int
    mean: float
    least: int
    most: int


@dataclass(frozen=True)
class ReclaimStatus:
    """Events that a core gave to others and drew from them, and periods with less than the guaranteed
    budget."""

    given: int
    drawn: int
    violations: int
    shortfall: int


@dataclass(frozen=True)
class RegulationStatus:
    """The regulator's steps: the global budget G in events, the load as a fraction (1.0: full)."""

    samples: int
    missed: int
    given_up: int
    unusable: int
    changes: int
    global_last: int
    global_mean: float
    global_min: int
    global_max: int
    load_mean: float
    load_min: float
    load_max: float


@dataclass(frozen=True)
class DeviceLimitStatus:
    """The budgets of a regulated device, in events, at the regulator's steps."""

    last: int
    sum: int
    least: int
    most: int
    rate: int  # in its registers
    changes: int  # of that rate


@dataclass(frozen=True)
class BudgetStatus:
    """How a VCPU kept its budget."""

    events: int
    periods: int
    late_periods: int
    throttled_periods: int
    throttled_ns: int
    overshoot_periods: int
    overshoot_events: int
    overshoot_max: int
    max_per_period: int
    limit: int  # events, of the latest period
    period_ns: int
    changes: int  # changes of these two by managers
    limits: LimitStatus | None = None  # of a regulated core
    reclaim: ReclaimStatus | None = None  # of a core that gives and draws events
    second_events: int = 0  # of a second budget; included in `events`
    second_max_per_period: int = 0


@dataclass(frozen=True)
class SharedVcpu:
    """A VCPU that shares its core with others."""

    domain: int
    vcpu: int
    state: str
    priority: int
    dispatches: int
    blocks: int
    run_ns: int
    out_of_order: int  # dispatches while a VCPU of a higher priority was ready
    periods_due: int  # periods that have ended by the clock
    budget: BudgetStatus | None
    cpu_periods: int = 0  # of its reservation of CPU time
    cpu_throttled_periods: int = 0
    cpu_max_ns: int = 0  # most in a period
    releases: int = 0  # delays from becoming the most urgent one of its core to its first instruction
    release_mean_ns: int = 0
    release_max_ns: int = 0


@dataclass(frozen=True)
class CoreStatus:
    core: int
    domain: int
    vcpu: int
    idle: bool
    exits: dict[str, int]  # those that occurred
    injected: int
    list_register_full: int
    budget: BudgetStatus | None = None  # None: no budget, or nothing counted yet
    samples_pa: int = 0  # where its ring of samples begins
    samples_bytes: int = 0  # 0: it has none
    switches: int = 0  # between VCPUs
    paths_frame: int = 0  # pool frame with the measured parts of packets' paths; 0: not measured
    shared: tuple[SharedVcpu, ...] = ()  # if not empty, `domain`, `vcpu` and `budget` are not used
    attributed: bool = True  # exits and interrupts belong to one VCPU

    def vcpu_of(self, domain: int) -> CoreStatus | None:
        """The domain's VCPU on this core; None: there is none. On a shared core, exits and interrupts are not
        known for each VCPU."""
        if self.domain == domain:
            return self
        one = next((one for one in self.shared if one.domain == domain), None)
        if one is None:
            return None
        return CoreStatus(
            self.core, domain, one.vcpu, one.state == "reset", {}, 0, 0, one.budget, attributed=False
        )


@dataclass(frozen=True)
class FlowStatus:
    """Packets of a flow that were delivered, and their latency."""

    packets: int
    bytes: int
    control_packets: int
    misses: int
    latency_min_ns: int  # from release to notification
    latency_max_ns: int
    latency_sum_ns: int
    lost: int
    refused: int
    unread: int | None = None  # bytes that a multicast flow's receiver has not taken; None: not connected
    state: str = "open"  # closed: a manager ended it; none: there was no flow with this number
    source: int = 0  # domains
    destination: int = 0
    port: int = 0
    packet_bytes: int = 0
    period_ns: int = 0
    deadline_ns: int = 0
    replaced_misses: int = 0  # of closed flows whose place this flow has taken


@dataclass(frozen=True)
class SystemStatus:
    phase: str
    end_reason: str
    refusal: int
    refusal_name: str | None
    refusal_offset: int
    guest_ns: int | None  # from start to end, if both are known
    ttbr0_el2: int
    pool_frames: int
    pool_used: int
    counter_hz: int = 0
    started_at: int = 0  # counter value; 0: not yet
    domains: list[DomainStatus] = field(default_factory=list)
    cores: list[CoreStatus] = field(default_factory=list)
    regulation: RegulationStatus | None = None  # None: nothing was regulated
    # by number of the interconnect's regulator: regulated devices, or zeros
    device_limits: list[DeviceLimitStatus] = field(default_factory=list)
    flows: list[FlowStatus] = field(default_factory=list)  # all places for flows, in order
    mpam_frame: int = 0  # pool frame with MPAM's data (status_mpam.py); 0: none
    smmu_frame: int = 0  # pool frame with the SMMU's data (status_smmu.py); 0: none
    # By broker, at the machine's end: time since the start of its engine's current transfer.
    transfer_ns: tuple[int, ...] = ()


def read_status(layout: Layout, pages: Sequence[bytes | None]) -> SystemStatus | str:
    """Reads the system's page and one page per core. A string says why there is nothing to read."""
    if not pages or pages[0] is None:
        return "the statistics pages could not be read"
    raw = _record(layout, "status_system", pages[0])
    if raw["magic"] != layout.constant("status_magic"):
        return "the hypervisor ended before it wrote its statistics page"
    if raw["version"] != layout.version:
        return f"the statistics page has version {raw['version']}, but this tool reads {layout.version}"
    hz, start = int(raw["counter_hz"]), int(raw["started_at"])

    def since_start(counter: int) -> int | None:
        return (counter - start) * 10**9 // hz if hz and counter >= start > 0 else None

    count = min(int(raw["domain_count"]), layout.constant("max_domains"))
    return SystemStatus(
        phase=_name(layout, "phase", raw["phase"]),
        end_reason=_name(layout, "end_reason", raw["end_reason"]),
        refusal=int(raw["refusal"]),
        refusal_name=_refusal(layout, int(raw["refusal"])),
        refusal_offset=int(raw["refusal_offset"]),
        guest_ns=since_start(int(raw["ended_at"])),
        ttbr0_el2=int(raw["ttbr0_el2"]),
        pool_frames=int(raw["pool_frames"]),
        pool_used=int(raw["pool_used"]),
        counter_hz=hz,
        started_at=start,
        domains=[
            DomainStatus(
                state=_name(layout, "domain_state", d["state"]),
                end=_name(layout, "domain_end", d["end"]),
                vttbr=int(d["vttbr"]),
                vtcr=int(d["vtcr"]),
                started_ns=since_start(int(d["started_at"])),
                ended_ns=since_start(int(d["ended_at"])),
                fault_pc=int(d["fault_pc"]),
                fault_syndrome=int(d["fault_syndrome"]),
                fault_address=int(d["fault_address"]),
                restarts=int(d["restarts"]),
                unheard_ns=int(d["unheard_ticks"]) * 10**9 // hz if hz else 0,
                socket_failures=int(d["socket_failures"]),
                socket_failure=_name(layout, "socket_failure", d["socket_failure"]),
            )
            for d in raw["domains"][:count]
        ],
        cores=[
            core
            for page in pages[1:]
            if page is not None and (core := _core(layout, page, hz, int(raw["ended_at"])))
        ],
        regulation=_regulation(raw["regulation"]),
        device_limits=_device_limits(layout, pages[1] if len(pages) > 1 else None),
        flows=[_flow(layout, one, hz) for one in raw["flows"]],
        mpam_frame=int(raw["mpam_frame"]),
        smmu_frame=int(raw["smmu_frame"]),
        transfer_ns=tuple(int(ticks) * 10**9 // hz if hz else 0 for ticks in raw["transfer_ticks"]),
    )


def _flow(layout: Layout, raw: Mapping[str, Any], hz: int) -> FlowStatus:
    return FlowStatus(
        packets=int(raw["packets"]),
        bytes=int(raw["bytes"]),
        control_packets=int(raw["control_packets"]),
        misses=int(raw["misses"]),
        latency_min_ns=int(raw["latency_min_ticks"]) * 10**9 // hz if hz else 0,
        latency_max_ns=int(raw["latency_max_ticks"]) * 10**9 // hz if hz else 0,
        latency_sum_ns=int(raw["latency_sum_ticks"]) * 10**9 // hz if hz else 0,
        lost=int(raw["lost"]),
        refused=int(raw["refused"]),
        unread=int(raw["unread"]) - 1 if raw["unread"] else None,
        state=_name(layout, "flow_state", raw["state"]),
        source=int(raw["source"]),
        destination=int(raw["destination"]),
        port=int(raw["port"]),
        packet_bytes=int(raw["packet_bytes"]),
        period_ns=int(raw["period_ns"]),
        deadline_ns=int(raw["deadline_ns"]),
        replaced_misses=int(raw["replaced_misses"]),
    )


def _regulation(raw: Mapping[str, Any]) -> RegulationStatus | None:
    steps = int(raw["samples"])
    if steps == 0:
        return None
    return RegulationStatus(
        samples=steps,
        missed=int(raw["missed"]),
        given_up=int(raw["given_up"]),
        unusable=int(raw["unusable"]),
        changes=int(raw["changes"]),
        global_last=int(raw["global_events"]),
        global_mean=int(raw["global_sum_events"]) / steps,
        global_min=int(raw["global_min_events"]),
        global_max=int(raw["global_max_events"]),
        load_mean=int(raw["load_sum"]) / steps / LOAD_ONE,
        load_min=int(raw["load_min"]) / LOAD_ONE,
        load_max=int(raw["load_max"]) / LOAD_ONE,
    )


def _device_limits(layout: Layout, first_core: bytes | None) -> list[DeviceLimitStatus]:
    """They are in the page of core 0."""
    if first_core is None:
        return []
    return [
        DeviceLimitStatus(
            last=int(one["limit_events"]),
            sum=int(one["limit_sum_events"]),
            least=int(one["limit_min_events"]),
            most=int(one["limit_max_events"]),
            rate=int(one["rate"]),
            changes=int(one["changes"]),
        )
        for one in _record(layout, "status_core", first_core)["devices"]
    ]


def _core(layout: Layout, page: bytes, hz: int, ended_at: int) -> CoreStatus | None:
    raw = _record(layout, "status_core", page)
    if raw["magic"] != layout.constant("status_magic"):
        return None
    names = {value: name for name, value in layout.enum("exit_reason").items()}
    return CoreStatus(
        core=int(raw["core"]),
        domain=int(raw["domain"]),
        vcpu=int(raw["vcpu"]),
        idle=bool(raw["idle"]),
        exits={names.get(i, f"reason_{i}"): int(n) for i, n in enumerate(raw["exits"]) if n},
        injected=int(raw["injected"]),
        list_register_full=int(raw["list_register_full"]),
        budget=_budget(raw["budget"], hz),
        samples_pa=int(raw["samples_pa"]),
        samples_bytes=int(raw["samples_bytes"]),
        switches=int(raw["switches"]),
        paths_frame=int(raw["paths_frame"]),
        shared=tuple(
            SharedVcpu(
                domain=int(one["domain"]),
                vcpu=int(one["vcpu"]),
                state=_name(layout, "vcpu_state", one["state"]),
                priority=int(one["priority"]),
                dispatches=int(one["dispatches"]),
                blocks=int(one["blocks"]),
                run_ns=_ns(int(one["run_ticks"]) + _since(int(one["entered_at"]), ended_at), hz),
                out_of_order=int(one["out_of_order"]),
                periods_due=int(one["periods_due"]),
                budget=_budget(one["budget"], hz),
                cpu_periods=int(one["cpu_periods"]),
                cpu_throttled_periods=int(one["cpu_throttled_periods"]),
                cpu_max_ns=_ns(int(one["cpu_max_ticks"]), hz),
                releases=int(one["releases"]),
                release_mean_ns=_ns(int(one["release_sum_ticks"]) // max(1, int(one["releases"])), hz),
                release_max_ns=_ns(int(one["release_max_ticks"]), hz),
            )
            for one in raw["shared"][: int(raw["shared_count"])]
        ),
    )


def _since(entered_at: int, ended_at: int) -> int:
    """Ticks that a running VCPU had run when the machine ended; 0 if it does not run, or the machine still
    runs."""
    return max(0, ended_at - entered_at) if entered_at else 0


def _ns(ticks: int, hz: int) -> int:
    return ticks * 10**9 // hz if hz else 0


def _budget(raw: Mapping[str, Any], hz: int) -> BudgetStatus | None:
    if not (raw["periods"] or raw["events"]) or not hz:
        return None
    return BudgetStatus(
        events=int(raw["events"]),
        periods=int(raw["periods"]),
        late_periods=int(raw["late_periods"]),
        throttled_periods=int(raw["throttled_periods"]),
        throttled_ns=int(raw["throttled_ticks"]) * 10**9 // hz,
        overshoot_periods=int(raw["overshoot_periods"]),
        overshoot_events=int(raw["overshoot_events"]),
        overshoot_max=int(raw["overshoot_max_events"]),
        max_per_period=int(raw["period_max_events"]),
        second_events=int(raw["second_events"]),
        second_max_per_period=int(raw["second_max_events"]),
        limit=int(raw["limit_events"]),
        period_ns=-(-int(raw["period_ticks"]) * 10**9 // hz),
        changes=int(raw["changes"]),
        limits=_limits(raw),
        reclaim=_reclaim(raw),
    )


def _limits(raw: Mapping[str, Any]) -> LimitStatus | None:
    intervals = int(raw["limit_intervals"])
    if intervals == 0:
        return None
    least, most = int(raw["limit_min_events"]), int(raw["limit_max_events"])
    return LimitStatus(intervals, int(raw["limit_sum_events"]) / intervals, least, most)


def _reclaim(raw: Mapping[str, Any]) -> ReclaimStatus | None:
    found = (raw["given_events"], raw["drawn_events"], raw["violations"], raw["shortfall_events"])
    return ReclaimStatus(*(int(one) for one in found)) if any(found) else None


def _record(layout: Layout, name: str, page: bytes) -> Mapping[str, Any]:
    return layout.unpack(name, page)


def _name(layout: Layout, enum: str, value: object) -> str:
    return layout.enum_name(enum, int(str(value))) or f"{enum} {value}"


def _refusal(layout: Layout, code: int) -> str | None:
    return layout.enum_name("manifest_error", code) if "manifest_error" in layout.schema.enums else None
